// Orders by counting, of keys that are small integers: lagbc/graph/host/order.py.
#pragma once

#include <algorithm>

#include "../buffer.h"
#include "../level.h"

namespace lagbc::LAGBC_LEVEL {

// Sort `order` by the keys of its items; items with equal keys stay in order. O(entries + range of keys).
template <class Key>
Buffer<int64_t> sort_by_key(Span<const Key> keys, Span<const int64_t> order) {
    int64_t least = 0, most = 0;
    for (const int64_t key : keys) {
        least = std::min(least, key);
        most = std::max(most, key);
    }
    Buffer<int64_t> places(most - least + 2, 0), ordered(order.size);
    for (const int64_t i : order) ++places[keys[i] - least + 1];
    for (int64_t key = 0; key < most - least; ++key) places[key + 1] += places[key];
    for (const int64_t i : order) ordered[places[keys[i] - least]++] = i;
    return ordered;
}

}  // namespace lagbc::LAGBC_LEVEL
