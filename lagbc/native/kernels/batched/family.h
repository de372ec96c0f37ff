// The kernels of the batched method: one line each.
#pragma once

#include "../family.h"

namespace lagbc::LAGBC_LEVEL {

using Batched = Family<Level, "batched">;

}  // namespace lagbc::LAGBC_LEVEL
