// The kernels of the batched method, compiled once a level.
#include "batched/family.h"

using lagbc::LAGBC_LEVEL::Batched, lagbc::LAGBC_LEVEL::Level;

template <>
const Batched::Table& lagbc::table_of<Level, Batched::Table>() {
    static constexpr auto table = Batched::table();
    return table;
}
