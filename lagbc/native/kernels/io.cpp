// The kernels of readers of files, compiled once a level.
#include "io/family.h"

using lagbc::LAGBC_LEVEL::Io, lagbc::LAGBC_LEVEL::Level;

template <>
const Io::Table& lagbc::table_of<Level, Io::Table>() {
    static constexpr auto table = Io::table();
    return table;
}
