// The kernels of graphs and their orders, compiled once a level.
#include "graph/family.h"

using lagbc::LAGBC_LEVEL::Graphs, lagbc::LAGBC_LEVEL::Level;

template <>
lagbc::Table lagbc::table_of<Level, Graphs::name>() {
    return Graphs::table();
}
