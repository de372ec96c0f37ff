// The kernels of traversals, compiled once a level.
#include "traversal/family.h"

using lagbc::LAGBC_LEVEL::Traversal, lagbc::LAGBC_LEVEL::Level;

template <>
const Traversal::Table& lagbc::table_of<Level, Traversal::Table>() {
    static constexpr auto table = Traversal::table();
    return table;
}
