// The kernels of graphs and their orders, compiled once a level.
#include "graph/family.h"

using lagbc::LAGBC_LEVEL::Graphs, lagbc::LAGBC_LEVEL::Level;

template <>
const Graphs::Table& lagbc::table_of<Level, Graphs::Table>() {
    static constexpr auto table = Graphs::table();
    return table;
}
