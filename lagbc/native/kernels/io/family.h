// The kernels of readers of files: one line each.
#pragma once

#include "../family.h"

namespace lagbc::LAGBC_LEVEL {

using Io = Family<Level, "io">;

}  // namespace lagbc::LAGBC_LEVEL
