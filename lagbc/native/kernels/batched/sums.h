// The sums of a batch, brought into matrix order.
#pragma once

#include "../batch_sums.h"
#include "../flags.h"
#include "products.h"

namespace lagbc {

// Add a part to a total, entry i to entry order[i]; zeros are skipped, as roots may have reached little.
LAGBC_INLINE void add_parts(Span<double> total, Span<const double> part, Span<const int64_t> order) {
    for (int64_t i = 0; i < part.size; ++i)
        if (part[i] != 0.0) total[order[i]] += part[i];
}

// Make an entry for each root, which has one path to itself; a root at -1 is absent.
template <class Index>
void enqueue_roots(Sweep<Index>& s, Span<const int64_t> positions) {
    s.roots = 0;
    s.queue->require(positions.size);
    for (int64_t k = 0; k < positions.size; ++k) {
        const int64_t v = positions[k];
        if (v < 0) continue;
        if (s.values.is_there) s.values[v][k] = 1.0;
        s.queue->put(s.roots++, v, uint64_t{1} << k);
    }
    s.entries = s.roots;
}

// Add one to both ends of every (root, reached vertex) pair; the first entries are the roots'.
template <class Index>
void add_ends(const Sweep<Index>& s, Span<double> scores) {
    const int64_t roots = s.roots, entries = s.entries;
    const uint64_t keep = ~s.overflowed;
    const Index* vertices = s.queue->vertices();
    const uint64_t* masks = s.queue->masks();
    for (int64_t i = roots; i < entries; ++i) scores[vertices[i]] += __builtin_popcountll(masks[i] & keep);
    for (int64_t i = 0; i < roots; ++i) {
        const uint64_t column = masks[i] & keep;
        if (column == 0) continue;
        int64_t reached = 0;
        for (int64_t j = roots; j < entries; ++j) reached += (masks[j] & column) != 0;
        scores[vertices[i]] += static_cast<double>(reached);
    }
}

// The sums over distances of a batch, in sweep order, and the largest distance of each column.
struct DistanceSums {
    bool has_squares;
    Buffer<double> reached, distance, inverse, distance_squares, inverse_squares;
    double deepest[columns] = {};

    LAGBC_INLINE DistanceSums(int64_t n, const BatchSums& asked)
        : has_squares(asked.distance_squares.is_there || asked.inverse_squares.is_there),
          reached(n, 0.0),
          distance(n, 0.0),
          inverse(n, 0.0),
          distance_squares(has_squares ? n : 0, 0.0),
          inverse_squares(has_squares ? n : 0, 0.0) {}

    LAGBC_INLINE void add_to(const BatchSums& totals, Span<const int64_t> order) const {
        if (totals.reached.is_there) add_parts(totals.reached, reached.view(), order);
        if (totals.distance.is_there) add_parts(totals.distance, distance.view(), order);
        if (totals.inverse.is_there) add_parts(totals.inverse, inverse.view(), order);
        if (totals.distance_squares.is_there) add_parts(totals.distance_squares, distance_squares.view(), order);
        if (totals.inverse_squares.is_there) add_parts(totals.inverse_squares, inverse_squares.view(), order);
        if (totals.depth.is_there)
            for (int64_t k = 0; k < totals.depth.size; ++k) totals.depth[k] += deepest[k];
    }
};

// Add the sums of 1, d and 1 / d over the entries of all levels d of a queue, and the deepest level of each column.
template <class Index>
void add_level_sums(const Index* vertices, const uint64_t* masks, Span<const int64_t> starts, int64_t depth,
                    uint64_t keep, Span<const int64_t> order, const BatchSums& totals) {
    DistanceSums sums(order.size, totals);
    for (int64_t level = 1; level <= depth; ++level) {
        uint64_t live = 0;
        for (int64_t i = starts[level]; i < starts[level + 1]; ++i) {
            const uint64_t mask = masks[i] & keep;
            const int64_t v = vertices[i], found = __builtin_popcountll(mask);
            live |= mask;
            sums.reached[v] += static_cast<double>(found);
            sums.distance[v] += static_cast<double>(found * level);
            sums.inverse[v] += static_cast<double>(found) / static_cast<double>(level);
            if (sums.has_squares) {
                sums.distance_squares[v] += static_cast<double>(found * level * level);
                sums.inverse_squares[v] += static_cast<double>(found) / static_cast<double>(level * level);
            }
        }
        for (int k = 0; k < columns; ++k)
            if (live >> k & 1) sums.deepest[k] = static_cast<double>(level);
    }
    sums.add_to(totals, order);
}

// Sweep a batch backward, and add its sums; returns whether that was finished before the flag was set. Nothing is added
// where it was not. `backward` is called with a `Backward`, and `add_edges` with the sums of the edges of the list.
template <class Index, class SweepBack, class AddEdges>
LAGBC_INLINE bool add_path_sums(const Sweep<Index>& s, Span<const int64_t> starts, Span<const Index> ends,
                                const ColumnWeights& weights, const BatchSums& totals, const SweepBack& sweep_back,
                                const AddEdges& add_edges) {
    const bool has_stress = totals.stress.is_there;
    const bool has_edges = totals.edges.is_there || totals.edges_squares.is_there;
    const bool has_squares = totals.dependency_squares.is_there || totals.edges_squares.is_there;
    const int64_t n = s.order.size, nnz = has_edges ? starts[n] : 0;
    const Buffer<double> of_vertices(n, 0.0), of_stress(has_stress ? n : 0, 0.0), of_edges(nnz, 0.0);
    const Buffer<double> squares_of_vertices(has_squares ? n : 0, 0.0), squares_of_edges(has_squares ? nnz : 0, 0.0);
    const PathSums sums{of_vertices.span(), of_stress.span(), of_edges.span(), squares_of_vertices.span(),
                        squares_of_edges.span()};
    const bool finished = with(
        [&](auto stress, auto edges, auto squares) {
            using Back = Backward<decltype(stress)::value, decltype(edges)::value, decltype(squares)::value, Index>;
            return sweep_back(Back{s, starts, ends, weights, ~s.overflowed, sums});
        },
        has_stress, has_edges, has_squares);
    if (!finished) return false;
    if (s.endpoints) add_ends(s, sums.dependency);
    if (totals.dependency.is_there) add_parts(totals.dependency, sums.dependency, s.order);
    if (has_stress) add_parts(totals.stress, sums.stress, s.order);
    if (totals.edges.is_there) add_edges(totals.edges, sums.edges);
    if (totals.dependency_squares.is_there) add_parts(totals.dependency_squares, sums.dependency_squares, s.order);
    if (totals.edges_squares.is_there) add_edges(totals.edges_squares, sums.edges_squares);
    return true;
}

}  // namespace lagbc
