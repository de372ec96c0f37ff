// The kernels of single roots with numbers of any size, compiled once a level.
#include "extended/family.h"

using lagbc::LAGBC_LEVEL::Roots, lagbc::LAGBC_LEVEL::Level;

template <>
const Roots::Table& lagbc::table_of<Level, Roots::Table>() {
    static constexpr auto table = Roots::table();
    return table;
}
