// The proximity order, by landmarks and bisection along principal axes: lagbc/graph/host.py.
//
// Its sums are of integers, so that the GPU makes the same bits.
#pragma once

#include <algorithm>
#include <cmath>

#include "../buffer.h"
#include "search.h"

namespace lagbc {

// Write the hop distances of each vertex to a landmark of its component for each column of `points`. `piece` has the
// number of a vertex's component, and `nearest` its distance to the component's first vertex, to begin with. The next
// landmark is the vertex farthest from the landmarks so far, among equally far ones the last by `vertex`, the numbers
// in the graph.
template <class Index>
void measure_landmarks(Span<const int64_t> indptr, Span<const Index> indices, Span<const int64_t> piece,
                       Span<const Index> vertex, Span<const Index> nearest, int64_t pieces, Matrix<int32_t> points,
                       Stop stop) {
    const int64_t n = points.size;
    Buffer<Index> distances(n), queue(n + 1), least(n);
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

// Points whose coordinates are read at once: they fit into a core's cache.
inline constexpr int64_t points_at_once = 512;

// Write the axis along which the points listed by `order` differ most, by power iteration on their covariances
//
//     C[a][b] = sum of x_a x_b - (sum of x_a) (sum of x_b) / size
//
// Coordinates are coarsened to 15 bits, so that a product of two fits into 32.
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
    // The first axis is no eigenvector of any symmetric piece.
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

struct Keyed {
    double key;
    int64_t vertex;
};

// Sort by keys; equal keys stay in order.
inline void sort_few(Span<Keyed> items) {
    for (int64_t i = 1; i < items.size; ++i) {
        const Keyed item = items[i];
        int64_t place = i;
        for (; place > 0 && items[place - 1].key > item.key; --place) items[place] = items[place - 1];
        items[place] = item;
    }
}

// The same of many items: they are put under as many equal intervals as there are items, then each interval is sorted.
// `spare` is room for as many.
inline void sort_many(Span<Keyed> items, Span<Keyed> spare) {
    constexpr int64_t few = 16;
    const auto is_less = [](const Keyed& one, const Keyed& other) { return one.key < other.key; };
    const auto [low, high] = std::minmax_element(items.begin(), items.end(), is_less);
    const double least = low->key, scale = static_cast<double>(items.size) / (high->key - least);
    if (!(scale < 1e300)) {  // all are equal, or nearly so
        std::stable_sort(items.begin(), items.end(), is_less);
        return;
    }
    const auto interval = [&](const Keyed& item) {
        return std::min(static_cast<int64_t>((item.key - least) * scale), items.size - 1);
    };
    Buffer<int64_t> places(items.size + 1, 0);  // where each interval begins, and once it is full where it ends
    for (const Keyed& item : items) ++places[interval(item) + 1];
    for (int64_t k = 0; k < items.size; ++k) places[k + 1] += places[k];
    for (const Keyed& item : items) spare[places[interval(item)]++] = item;
    int64_t begin = 0;
    for (int64_t k = 0; begin < items.size; ++k) {
        const Span<Keyed> alike{&items[begin], places[k] - begin};
        std::copy_n(&spare[begin], alike.size, alike.data);
        if (alike.size <= few)
            sort_few(alike);
        else
            std::stable_sort(alike.begin(), alike.end(), is_less);
        begin += alike.size;
    }
}

// Bisect the piece first to last of `order`, in place, until no part is larger than `leaf`, or once; return the place
// of the last cut.
//
// A piece is sorted along its principal axis, and cut in the middle, at a multiple of `leaf` from its start.
inline int64_t bisect(Matrix<const int32_t> points, int64_t shift, Span<int64_t> order, int64_t first, int64_t last,
                      int64_t leaf, bool once, int64_t steps) {
    Buffer<Keyed> keyed(last - first), spare(last - first);
    Buffer<double> axis(points.width);
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
            keyed[i] = {key, piece[i]};
        }
        sort_many({keyed.data(), size}, spare.span());
        for (int64_t i = 0; i < size; ++i) piece[i] = keyed[i].vertex;
        middle = first + leaf * (((size + leaf - 1) / leaf + 1) / 2);
        if (once) break;
        ends[waiting++] = middle;
    }
    return middle;
}

}  // namespace lagbc
