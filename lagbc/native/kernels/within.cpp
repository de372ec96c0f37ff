// The kernels of sums within bounds, compiled once a level.
#include "within/family.h"

using lagbc::LAGBC_LEVEL::Within, lagbc::LAGBC_LEVEL::Level;

template <>
const Within::Table& lagbc::table_of<Level, Within::Table>() {
    static constexpr auto table = Within::table();
    return table;
}
