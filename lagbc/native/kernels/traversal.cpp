// The kernels of traversals, compiled once a level.
#include "traversal/family.h"

using lagbc::LAGBC_LEVEL::Traversal, lagbc::LAGBC_LEVEL::Level;

template <>
lagbc::Table lagbc::table_of<Level, Traversal::name>() {
    return Traversal::table();
}
