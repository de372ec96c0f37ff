// Sums in sweep order, added to those in matrix order.
#pragma once

#include "../arrays.h"
#include "../level.h"

namespace lagbc::LAGBC_LEVEL {

// Add a part to a total, entry i to entry order[i]; zeros are skipped, as roots may have reached little.
inline void add_in_order(Span<double> total, Span<const double> part, Span<const int64_t> order) {
    for (int64_t i = 0; i < part.size; ++i)
        if (part[i] != 0.0) total[order[i]] += part[i];
}

}  // namespace lagbc::LAGBC_LEVEL
