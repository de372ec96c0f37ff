// The kernels of reductions: one line each.
#pragma once

#include "../family.h"
#include "biconnected.h"

namespace lagbc::LAGBC_LEVEL {

using Reduce = Family<Level, "reduce",  //
                      Kernel<"find_blocks(graph)", find_blocks<Narrow>, find_blocks<Wide>>>;

}  // namespace lagbc::LAGBC_LEVEL
