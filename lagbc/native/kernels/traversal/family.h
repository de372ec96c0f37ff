// The kernels of traversals: one line each.
#pragma once

#include "../family.h"

namespace lagbc::LAGBC_LEVEL {

using Traversal = Family<Level, "traversal">;

}  // namespace lagbc::LAGBC_LEVEL
