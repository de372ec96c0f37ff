// The kernels of graphs and their orders: one line each.
#pragma once

#include "../family.h"

namespace lagbc::LAGBC_LEVEL {

using Graphs = Family<Level, "graph">;

}  // namespace lagbc::LAGBC_LEVEL
