// Kernels that several methods need, compiled once a level.
#include "methods/family.h"

using lagbc::LAGBC_LEVEL::Methods, lagbc::LAGBC_LEVEL::Level;

template <>
lagbc::Table lagbc::table_of<Level, Methods::name>() {
    return Methods::table();
}
