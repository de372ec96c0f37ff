// The kernels of readers of files, compiled once a level.
#include "io/family.h"

using lagbc::LAGBC_LEVEL::Io, lagbc::LAGBC_LEVEL::Level;

template <>
lagbc::Table lagbc::table_of<Level, Io::name>() {
    return Io::table();
}
