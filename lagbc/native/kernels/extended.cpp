// The kernels of single roots with numbers of any size, compiled once a level.
#include "extended/family.h"

using lagbc::LAGBC_LEVEL::Roots, lagbc::LAGBC_LEVEL::Level;

template <>
lagbc::Table lagbc::table_of<Level, Roots::name>() {
    return Roots::table();
}
