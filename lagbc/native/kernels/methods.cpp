// Kernels that several methods need, compiled once a level.
#include "methods/family.h"

using lagbc::LAGBC_LEVEL::Methods, lagbc::LAGBC_LEVEL::Level;

template <>
const Methods::Table& lagbc::table_of<Level, Methods::Table>() {
    static constexpr auto table = Methods::table();
    return table;
}
