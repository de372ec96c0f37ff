// Passes over matrices with a row a vertex and a column a root; each reads them once.
#pragma once

#include <algorithm>
#include <limits>

#include "../arrays.h"

namespace lagbc {

// A two-dimensional array of any strides: a part of a matrix, or a transpose.
template <class T>
struct Strided {
    T* data = nullptr;
    int64_t size = 0;  // count of rows
    int64_t width = 0;
    int64_t to_row = 0, to_column = 0;  // steps to the next row, and to the next column

    LAGBC_INLINE T& operator()(int64_t i, int64_t k) const { return data[to_row * i + to_column * k]; }
};

// Lower `smallest` to the smallest number > 0 of each column, and raise `largest` to the largest.
inline void find_extremes(Strided<const double> weights, Span<double> smallest, Span<double> largest) {
    for (int64_t v = 0; v < weights.size; ++v) {
        for (int64_t k = 0; k < weights.width; ++k) {
            const double weight = weights(v, k);
            largest[k] = std::max(largest[k], weight);
            smallest[k] = std::min(smallest[k], weight > 0.0 ? weight : infinity);
        }
    }
}

// Set sigma to 0 where dist is inf.
template <class Distance>
void clear_unreached(Strided<const Distance> dist, Strided<double> sigma) {
    for (int64_t v = 0; v < dist.size; ++v)
        for (int64_t k = 0; k < dist.width; ++k)
            if (dist(v, k) == std::numeric_limits<Distance>::infinity()) sigma(v, k) = 0.0;
}

// Write rows, the transpose of `columns`, a row a root there, 128 at a time: both are met in whole cache lines.
inline void turn(Strided<const double> columns, Strided<double> rows) {
    for (int64_t first = 0; first < rows.size; first += 128)
        for (int64_t k = 0; k < columns.size; ++k)
            for (int64_t v = first; v < std::min(first + 128, rows.size); ++v) rows(v, k) = columns(k, v);
}

// Write columns, the transpose of `rows`, a row a vertex there, in parts of 1024 rows and 16 columns.
template <class From, class To>
void turn_back(Strided<const From> rows, Strided<To> columns) {
    for (int64_t first = 0; first < rows.size; first += 1024) {
        const int64_t last = std::min<int64_t>(first + 1024, rows.size);
        for (int64_t begin = 0; begin < columns.size; begin += 16) {
            const int64_t end = std::min<int64_t>(begin + 16, columns.size);
            for (int64_t v = first; v < last; ++v)
                for (int64_t k = begin; k < end; ++k) columns(k, v) = static_cast<To>(rows(v, k));
        }
    }
}

}  // namespace lagbc
