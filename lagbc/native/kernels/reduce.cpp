// The kernels of reductions, compiled once a level.
#include "reduce/family.h"

using lagbc::LAGBC_LEVEL::Reduce, lagbc::LAGBC_LEVEL::Level;

template <>
const Reduce::Table& lagbc::table_of<Level, Reduce::Table>() {
    static constexpr auto table = Reduce::table();
    return table;
}
