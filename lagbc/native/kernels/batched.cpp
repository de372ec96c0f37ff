// The kernels of the batched method, compiled once a level.
#include "batched/family.h"

using lagbc::LAGBC_LEVEL::Batched, lagbc::LAGBC_LEVEL::Level;

template <>
lagbc::Table lagbc::table_of<Level, Batched::name>() {
    return Batched::table();
}
