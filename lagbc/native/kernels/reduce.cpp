// The kernels of reductions, compiled once a level.
#include "reduce/family.h"

using lagbc::LAGBC_LEVEL::Reduce, lagbc::LAGBC_LEVEL::Level;

template <>
lagbc::Table lagbc::table_of<Level, Reduce::name>() {
    return Reduce::table();
}
