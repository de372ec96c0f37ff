// Masked products on bit rows, a row at a time: a row gathers from the other ends of its edges, in row order.
//
// An edge leads on in some of the 64 columns, by a word of bits: its own (`ByEdge`), or the one of the vertex at its
// other end (`ByEnd`).
#pragma once

#include "../row.h"
#include "sweep.h"

namespace lagbc {

struct ByEdge {
    const uint64_t* masks;
    LAGBC_INLINE uint64_t operator()(int64_t e, int64_t) const { return masks[e]; }
};

struct ByEnd {
    const uint64_t* masks;
    LAGBC_INLINE uint64_t operator()(int64_t, int64_t w) const { return masks[w]; }
};

// Add the row of the other end of an edge. A graph with wide indices has 2^31 vertices: each row is fetched from
// memory, beside which a call is nothing, and inlined sums were a sixth of the batched kernels.
template <class Index>
LAGBC_INLINE void add_edge_row(Row& total, const double* values, uint64_t mask) {
    if constexpr (std::is_same_v<Index, Wide>)
        add_row_apart(total, values, mask);
    else
        add_row(total, values, mask);
}

// Return the columns met, and add to `total` the sum of where(meet, values[w], 0) over the edges v -> w, or w -> v.
template <class Index, class By>
LAGBC_INLINE uint64_t gather(Span<const int64_t> starts, Span<const Index> ends, By by, int64_t v, uint64_t wanted,
                             Rows<double> values, Row& total) {
    uint64_t met = 0;
    for (int64_t e = starts[v]; e < starts[v + 1]; ++e) {
        const int64_t w = ends[e];
        if (const uint64_t meet = wanted & by(e, w)) {
            met |= meet;
            add_edge_row<Index>(total, values[w], meet);
        }
    }
    return met;
}

// Write the paths to all members of v, `total` of them to each; note the columns in which they are too many.
template <class Index>
LAGBC_INLINE void put_paths(const Sweep<Index>& s, int64_t v, uint64_t wanted, Row& total, uint64_t& overflowed) {
    if (s.class_sizes.is_there) scale_row(total, s.class_sizes[v]);
    overflowed |= put_row(s.values[v], wanted, total, s.sigma_limit);
}

// The sums over paths of a batch in sweep order, while it is swept backward; a sum that is not asked for is empty.
struct PathSums {
    Span<double> dependency, stress, edges, dependency_squares, edges_squares;
};

// The target weights of a batch: the sweep's, or rows of them, and how often each column counts.
struct ColumnWeights {
    Optional<Rows<const double>> omega;
    const double* times;
};

// The backward sweep, a vertex after its successors: c = omega / sigma + A plus.second c along the edges that `by` lets
// through, and sigma * (that product) is added to the dependencies. With `has_stress`, t = omega + A plus.second t, and
// sigma * (that product) is added to stress; with `has_edges`, sigma[v] * c[w] to the edges v -> w. With `has_squares`,
// the squares of single columns are added up, too, and targets may count linearly: omega / d in place of omega, and 2 d
// times the product, d being the distance of v.
template <bool has_stress, bool has_edges, bool has_squares, class Index>
struct Backward {
    static constexpr bool visits_roots = has_edges;  // a root has no dependency on itself, but its edges have
    const Sweep<Index>& s;
    Span<const int64_t> starts;
    Span<const Index> ends;
    ColumnWeights weights;
    uint64_t keep;  // the columns that are summed
    const PathSums& sums;

    // Sum over the successors of v, and add to its edges.
    template <class By>
    LAGBC_INLINE void gather_onward(By by, int64_t v, uint64_t wanted, Row& total, Row& paths_total) const {
        for (int64_t e = starts[v]; e < starts[v + 1]; ++e) {
            const int64_t w = ends[e];
            if (const uint64_t meet = wanted & by(e, w)) {
                add_edge_row<Index>(total, s.values[w], meet);
                if constexpr (has_stress) add_edge_row<Index>(paths_total, s.paths[w], meet);
                if constexpr (has_edges && has_squares) {
                    const Moments edge = dot_rows_moments(s.values[v], s.values[w], meet, weights.times);
                    sums.edges[e] += edge.sum;
                    sums.edges_squares[e] += edge.squares;
                } else if constexpr (has_edges) {
                    sums.edges[e] += dot_rows(s.values[v], s.values[w], meet, weights.times);
                }
            }
        }
    }

    // Close a vertex; all columns of the mask are at one distance, or none of them is linear.
    LAGBC_INLINE void finish(int64_t v, uint64_t mask, const Row& total, const Row& paths_total,
                             double distance = 1.0) const {
        const bool is_linear = has_squares && s.linear;
        const double share = is_linear ? 1.0 / distance : 1.0, counted = is_linear ? 2.0 * distance : 1.0;
        const Row omega = weights.omega.is_there ? scaled_row(weights.omega[v], share) : splat_row(s.omega[v] * share);
        if constexpr (has_stress)
            sums.stress[v] += finish_paths_row(s.paths[v], s.values[v], mask, paths_total, omega, weights.times);
        if constexpr (has_squares) {
            const Moments of_v = finish_row_moments(s.values[v], mask, total, omega, weights.times);
            sums.dependency[v] += counted * of_v.sum;
            sums.dependency_squares[v] += counted * counted * of_v.squares;
        } else {
            sums.dependency[v] += finish_row(s.values[v], mask, total, omega, weights.times);
        }
        if (s.class_sizes.is_there) {
            Row own = load_row(s.values[v]);
            scale_row(own, s.class_sizes[v]);
            put_row(s.values[v], mask, own, infinity);
        }
    }
};

}  // namespace lagbc
