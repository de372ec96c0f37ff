// The proximity order, by landmarks and bisection along principal axes: lagbc/graph/host.py.
//
// Its sums are of integers, so that the GPU makes the same bits.
#pragma once

#include <algorithm>
#include <cmath>

#include "../buffer.h"
#include "search.h"

namespace lagbc {

// Hop distances to as many landmarks as `points` has columns, a row a vertex. `nearest` holds the distances to the
// first vertex of each component. The next landmark of a component, whose number is `piece`, is the vertex farthest
// from the landmarks so far; among equally far vertices the last by `vertex`, their number in the graph.
template <class Index>
void measure_landmarks(Span<const int64_t> indptr, Span<const Index> indices, Span<const int64_t> piece,
                       Span<const Index> vertex, Span<const Index> nearest, int64_t pieces, Matrix<int32_t> points,
                       Stop stop) {
    const int64_t n = points.size;
    Buffer<Index> distances(n), queue(n), least(n);
    Buffer<int64_t> farthest(pieces);
    for (int64_t v = 0; v < n; ++v) least[v] = nearest[v];
    for (int64_t i = 0; i < points.width && !stop.is_set(); ++i) {
        farthest.span().fill(-1);
        for (int64_t v = 0; v < n; ++v) {
            const int64_t best = farthest[piece[v]];
            if (best < 0 || least[v] > least[best] || (least[v] == least[best] && vertex[v] > vertex[best]))
                farthest[piece[v]] = v;
        }
        search(indptr, indices, {farthest.data(), pieces}, distances.span(), queue.span());
        for (int64_t v = 0; v < n; ++v) {
            points[v][i] = static_cast<int32_t>(distances[v]);
            least[v] = i == 0 ? distances[v] : std::min(least[v], distances[v]);
        }
    }
}

// Points whose coordinates are read at once, from a core's cache.
inline constexpr int64_t points_at_once = 512;

// The direction in which the points listed by `order` differ most, by power iteration on their covariances
//
//     C[a][b] = sum of x_a x_b - (sum of x_a) (sum of x_b) / size
//
// The sums are of integers: coordinates are coarsened to 15 bits, so that a product of two fits into 32.
inline void find_axis(Matrix<const int32_t> points, int64_t shift, Span<const int64_t> order, int64_t steps,
                      Span<double> axis) {
    const int64_t dimensions = points.width, size = order.size;
    Buffer<int64_t> sums(dimensions, 0), moments(dimensions * dimensions, 0);
    Buffer<int32_t> coarse(dimensions * points_at_once);
    for (int64_t begin = 0; begin < size; begin += points_at_once) {
        const int64_t count = std::min(points_at_once, size - begin);
        for (int64_t i = 0; i < count; ++i) {
            const Span<const int32_t> point = points[order[begin + i]];
            for (int64_t a = 0; a < dimensions; ++a) coarse[a * points_at_once + i] = point[a] >> shift;
        }
        for (int64_t a = 0; a < dimensions; ++a) {
            const int32_t* const of_a = &coarse[a * points_at_once];
            for (int64_t i = 0; i < count; ++i) sums[a] += of_a[i];
            for (int64_t b = a; b < dimensions; ++b) {
                const int32_t* const of_b = &coarse[b * points_at_once];
                int64_t moment = 0;
                for (int64_t i = 0; i < count; ++i) moment += of_a[i] * of_b[i];
                moments[a * dimensions + b] += moment;
            }
        }
    }
    // An axis that is an eigenvector of no symmetric piece.
    for (int64_t a = 0; a < dimensions; ++a)
        axis[a] = 1.0 + static_cast<double>(a) / static_cast<double>(dimensions - 1);
    Buffer<double> image(dimensions);
    for (int64_t step = 0; step < steps; ++step) {
        double longest = 0.0;
        for (int64_t a = 0; a < dimensions; ++a) {
            image[a] = 0.0;
            for (int64_t b = 0; b < dimensions; ++b) {
                const int64_t moment = moments[std::min(a, b) * dimensions + std::max(a, b)];
                const double of_means = static_cast<double>(sums[a]) * static_cast<double>(sums[b]);
                image[a] += (static_cast<double>(moment) - of_means / static_cast<double>(size)) * axis[b];
            }
            longest += std::fabs(image[a]);
        }
        for (int64_t a = 0; a < dimensions; ++a) axis[a] = image[a] / std::max(longest, 1e-30);
    }
}

// Vertices and their keys, and equal room to move them to.
struct Keyed {
    Span<double> keys;
    Span<int64_t> order;
    Span<double> spare_keys;
    Span<int64_t> spare_order;
};

// Most keys that are sorted by insertion.
inline constexpr int64_t few = 16;

// Sort keys first to last, and their vertices: runs of a few by insertion, then neighbours are merged. Equal keys stay
// in order.
inline void sort_by_merging(const Keyed& keyed, int64_t first, int64_t last) {
    const auto& [keys, order, spare_keys, spare_order] = keyed;
    for (int64_t begin = first; begin < last; begin += few) {
        for (int64_t i = begin + 1; i < std::min(begin + few, last); ++i) {
            const double key = keys[i];
            const int64_t vertex = order[i];
            int64_t place = i;
            for (; place > begin && keys[place - 1] > key; --place) {
                keys[place] = keys[place - 1];
                order[place] = order[place - 1];
            }
            keys[place] = key;
            order[place] = vertex;
        }
    }
    for (int64_t width = few; width < last - first; width *= 2) {
        for (int64_t begin = first; begin < last; begin += 2 * width) {
            int64_t a = begin, b = std::min(begin + width, last);
            const int64_t a_end = b, b_end = std::min(begin + 2 * width, last);
            for (int64_t place = begin; place < b_end; ++place) {
                const int64_t next = b == b_end || (a < a_end && keys[a] <= keys[b]) ? a++ : b++;
                spare_keys[place] = keys[next];
                spare_order[place] = order[next];
            }
        }
        for (int64_t i = first; i < last; ++i) {
            keys[i] = spare_keys[i];
            order[i] = spare_order[i];
        }
    }
}

// Sort keys and their vertices; equal keys stay in order. Keys are put under as many equal intervals as there are keys,
// then the keys of each interval are sorted.
inline void sort_keys(const Keyed& keyed) {
    const auto& [keys, order, spare_keys, spare_order] = keyed;
    const int64_t size = keys.size;
    double low = keys[0], high = keys[0];
    for (int64_t i = 0; i < size; ++i) {
        low = std::min(low, keys[i]);
        high = std::max(high, keys[i]);
    }
    const double scale = static_cast<double>(size) / (high - low);
    if (!(scale < 1e300)) {  // all are equal, or nearly so
        sort_by_merging(keyed, 0, size);
        return;
    }
    const auto interval = [&](double key) { return std::min(static_cast<int64_t>((key - low) * scale), size - 1); };
    Buffer<int64_t> places(size, 0);
    for (int64_t i = 0; i < size; ++i) ++places[interval(keys[i])];
    int64_t total = 0;
    for (int64_t k = 0; k < size; ++k) {
        const int64_t count = places[k];
        places[k] = total;
        total += count;
    }
    for (int64_t i = 0; i < size; ++i) {
        const int64_t place = places[interval(keys[i])]++;
        spare_keys[place] = keys[i];
        spare_order[place] = order[i];
    }
    int64_t begin = 0;
    for (int64_t k = 0; k < size; ++k) {
        const int64_t end = places[k];  // where the next interval begins
        for (int64_t i = begin; i < end; ++i) {
            keys[i] = spare_keys[i];
            order[i] = spare_order[i];
        }
        if (end - begin > 1) sort_by_merging(keyed, begin, end);
        begin = end;
    }
}

// `sort_keys` with room of its own.
inline void sort_by_keys(Span<double> keys, Span<int64_t> order) {
    Buffer<double> spare_keys(keys.size);
    Buffer<int64_t> spare_order(keys.size);
    if (keys.size > 0) sort_keys({keys, order, spare_keys.span(), spare_order.span()});
}

// Bisect the piece first to last of `order`, in place, until none is larger than `leaf`, or once; returns the place of
// the last cut.
//
// A piece is sorted along its principal axis, and cut in the middle, at a multiple of `leaf` from its start.
inline int64_t bisect(Matrix<const int32_t> points, int64_t shift, Span<int64_t> order, int64_t first, int64_t last,
                      int64_t leaf, bool once, int64_t steps) {
    const int64_t whole = last - first;
    Buffer<double> keys(whole), spare_keys(whole), axis(points.width);
    Buffer<int64_t> spare_order(whole);
    int64_t ends[64];  // of the pieces still to be bisected, the next one last
    int64_t waiting = 1, middle = first;
    ends[0] = last;
    while (waiting > 0) {
        last = ends[waiting - 1];
        const int64_t size = last - first;
        if (size <= leaf) {
            first = last;
            --waiting;
            continue;
        }
        const Span<int64_t> piece{&order[first], size};
        find_axis(points, shift, {piece.data, size}, steps, axis.span());
        for (int64_t i = 0; i < size; ++i) {
            const Span<const int32_t> point = points[piece[i]];
            double key = axis[0] * point[0];
            for (int64_t a = 1; a < points.width; ++a) key += axis[a] * point[a];
            keys[i] = key;
        }
        sort_keys({{keys.data(), size}, piece, {spare_keys.data(), size}, {spare_order.data(), size}});
        middle = first + leaf * (((size + leaf - 1) / leaf + 1) / 2);
        if (once) break;
        ends[waiting++] = middle;
    }
    return middle;
}

}  // namespace lagbc
