// Orders by counting keys that are small integers: lagbc/graph/host.py.
#pragma once

#include <algorithm>

#include "../buffer.h"

namespace lagbc {

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

// Order rows by falling length, ties by number.
inline Buffer<int64_t> order_by_length(Span<const int64_t> indptr) {
    const int64_t n = indptr.size - 1;
    Buffer<int64_t> shorter(n), rows(n);
    for (int64_t i = 0; i < n; ++i) {
        shorter[i] = indptr[i] - indptr[i + 1];
        rows[i] = i;
    }
    return sort_by_key(Span<const int64_t>(shorter.view()), rows.view());
}

// The place of each item in an order.
inline Buffer<int64_t> places_in(Span<const int64_t> order) {
    Buffer<int64_t> places(order.size);
    for (int64_t i = 0; i < order.size; ++i) places[order[i]] = i;
    return places;
}

// Write the places of distinct rows, ascending, without empty rows; return how many they are. `found` has room for all.
inline int64_t line_up(Span<const int64_t> lengths, Span<const int64_t> places, Span<const int64_t> rows,
                       Span<int64_t> found) {
    Buffer<bool> is_there(places.size, false);
    for (const int64_t i : rows) is_there[places[i]] = lengths[i] > 0;
    int64_t count = 0;
    for (int64_t place = 0; place < places.size; ++place)
        if (is_there[place]) found[count++] = place;
    return count;
}

}  // namespace lagbc
