// The kernels of sums within bounds, compiled once a level.
#include "within/family.h"

using lagbc::LAGBC_LEVEL::Within, lagbc::LAGBC_LEVEL::Level;

template <>
lagbc::Table lagbc::table_of<Level, Within::name>() {
    return Within::table();
}
