// The kernels of sums within bounds: one line each.
#pragma once

#include "../family.h"

namespace lagbc::LAGBC_LEVEL {

using Within = Family<Level, "within">;

}  // namespace lagbc::LAGBC_LEVEL
