// Betweenness with lengths by min-plus and masked matrix products on bit rows.
//
// As in hops, 64 roots are the 64 columns of one batch, and every vertex has a row of 64 numbers: its distances D,
// later its path counts sigma, later its path dependencies c, all in the same place.
//
//     distances  D = min(D, A^T min.plus D) until nothing changes
//     tight      T[v, w] = the columns in which D[v] + A[v, w] = D[w] and D[v] < D[w], a word of 64 bits an edge
//
// Along T paths are counted and dependencies summed; see counting.h.
//
// Distances are found by Delta-stepping (Meyer and Sanders 2003) with a row of 64 columns in the place of a vertex. A
// row is *fresh* in the columns in which it came nearer since its edges were last relaxed. A phase relaxes the rows
// whose nearest fresh column is at most the width of a bucket beyond the nearest of all, in all of their fresh columns:
// an edge costs the same for one column as for 64, so a row that is near in one column takes its other fresh columns
// along. Every number is the sum, in float64, along a path from the root, and only ever falls. Rounding is monotone, so
// that the final distances depend neither on the order nor on the width. Lengths that are small integers are summed as
// uint16 by rows of their own, the same sums in a quarter of the bytes; where these turn out not to fit, they are
// summed in float64 again.
//
// T is a list of the edges that are tight in some column, a fifth to a third of all. A length that rounding absorbs can
// leave a reached vertex without a tight predecessor. It and all vertices behind it wait for ever. Such columns are
// marked, like columns whose counts leave the range of float64.
//
// Sums of distances are sums over the rows of D; where no other sum is asked for, nothing is counted.
//
// A row that no root reaches costs a word: `nearest` is finite at the rows that the last search reached, and all other
// rows of D are infinite in all columns.
#pragma once

#include "counting.h"

namespace lagbc {

// Relax edges until dist[w] <= dist[v] + length for every edge v -> w.
//
// Invariant: `now` and `later` together hold the rows with fresh columns, each once; edges out of the others hold. Rows
// that are finite in `nearest` may hold anything before.
template <class Index, class Distance>
void find_distances(const LengthSweep<Index>& s, Rows<Distance> dist, Span<const int64_t> positions) {
    const Csr<Index>& out = *s.out;
    const Span<uint64_t> fresh = s.waiting;
    for (int64_t v = 0; v < dist.size; ++v) {
        if (s.nearest[v] == infinity) continue;
        std::fill_n(dist[v], columns, infinite_distance(dist.data));
        s.nearest[v] = infinity;
    }
    fresh.fill(0);
    s.pushed.fill(0);
    Span<Index> now = s.lists[0], later = s.lists[1];
    int64_t count = 0;
    for (int64_t k = 0; k < positions.size; ++k) {
        const int64_t v = positions[k];
        if (v < 0) continue;
        dist[v][k] = 0;
        fresh[v] = uint64_t{1} << k;
        now[count++] = static_cast<Index>(v);
    }
    while (count > 0 && !s.stop.is_set()) {
        double reach = infinity;
        for (int64_t i = 0; i < count; ++i) {
            const Index v = now[i];
            s.nearest[v] = minimum_of_row(dist[v], fresh[v]);
            reach = std::min(reach, s.nearest[v] + s.width);
        }
        int64_t kept = 0;
        for (int64_t i = 0; i < count; ++i) {
            const Index v = now[i];
            if (s.nearest[v] > reach) {
                later[kept++] = v;
                continue;
            }
            fresh[v] = 0;
            for (int64_t e = out.indptr[v]; e < out.indptr[v + 1]; ++e) {
                const Index w = out.indices[e];
                if (const uint64_t nearer = relax_row(dist[v], dist[w], length_of(out.lengths[e], dist[v]))) {
                    if (fresh[w] == 0) later[kept++] = w;
                    fresh[w] |= nearer;
                }
            }
        }
        std::swap(now, later);
        count = kept;
    }
}

// List the edges that are tight in some column, in row order; note the columns that reach each row, and how near it is.
template <class Index, class Distance>
void find_tight(const LengthSweep<Index>& s, Rows<Distance> dist) {
    const Csr<Index>& out = *s.out;
    int64_t end = 0;
    for (int64_t v = 0; v < dist.size; ++v) {
        if (s.stop.is_set()) return;
        s.tight_starts[v] = end;
        if (s.nearest[v] == infinity) continue;
        s.waiting[v] = finite_in_row(dist[v]);
        s.nearest[v] = minimum_of_row(dist[v], s.waiting[v]);
        for (int64_t e = out.indptr[v]; e < out.indptr[v + 1]; ++e) {
            const Index w = out.indices[e];
            if (const uint64_t mask = tight_in_row(dist[v], dist[w], out.lengths[e], s.rtol)) {
                s.tight_ends[end] = w;
                s.tight_masks[end++] = mask;
            }
        }
    }
    s.tight_starts[dist.size] = end;
}

template <class Index>
LAGBC_INLINE TightEdges<Index> tight_edges(const LengthSweep<Index>& s) {
    return {s.tight_starts, s.tight_ends, s.tight_masks};
}

// Whether a sum of lengths may have ended at infinity: from any other distance an edge leads no farther than to a
// number.
LAGBC_INLINE bool may_be_beyond(Rows<uint16_t> dist, Span<const double> nearest, double longest) {
    uint16_t farthest = 0;  // of distance + 1, as infinity is 0 then
    for (int64_t v = 0; v < dist.size; ++v) {
        if (nearest[v] == infinity) continue;
        for (int k = 0; k < columns; ++k) farthest = std::max(farthest, static_cast<uint16_t>(dist[v][k] + 1));
    }
    return std::max(farthest - 1, 0) + longest >= short_infinity;
}

// Find the distances from up to 64 roots, at these rows or absent (-1), the tight edges, and an order for counting;
// count the paths where they are asked for.
template <class Index>
void search(LengthSweep<Index>& s, Span<const int64_t> positions) {
    s.roots = s.entries = s.depth = 0;
    s.overflowed = 0;
    if (s.is_short) {
        find_distances<Index, uint16_t>(s, s.short_distances, positions);
        if (!s.stop.is_set() && may_be_beyond(s.short_distances, s.nearest, s.longest)) {
            s.is_short = false;
            s.nearest.fill(0.0);  // counts lie where distances are found now
        }
    }
    if (!s.is_short) find_distances(s, s.distances, positions);
    if (!s.counts() || s.stop.is_set()) return;
    if (s.is_short)
        find_tight<Index, uint16_t>(s, s.short_distances);
    else
        find_tight(s, s.distances);
    if (!s.stop.is_set()) s.depth = count_paths(s, tight_edges(s), positions);
}

// Write the distances from some roots once more, where path counts have taken their place.
template <class Index, class Distance>
void write_distances(const LengthSweep<Index>& s, Span<const int64_t> positions, Rows<Distance> dist) {
    s.nearest.fill(0.0);
    find_distances(s, dist, positions);
}

template <class Index>
bool sum_paths(const LengthSweep<Index>& s, Optional<Rows<const double>> omega, Span<const double> times,
               Optional<Span<const int64_t>> edge_order, const BatchSums& totals) {
    const TightEdges<Index> tight = tight_edges(s);
    auto add_edges = [&](Span<double> total, Span<const double> sums) {
        for (int64_t v = 0; v < s.order.size; ++v) {
            int64_t e = s.out->indptr[v];
            for (int64_t t = tight.starts[v]; t < tight.starts[v + 1]; ++t) {
                while (s.out->indices[e] != tight.ends[t]) ++e;
                total[edge_order[e]] += sums[t];
            }
        }
    };
    return sum_counted(s, tight, {omega, times.data}, totals, add_edges);
}

// Sum 1, d and 1 / d over the columns with 0 < d < infinity, and find the largest such d of each column.
template <class Index>
void sum_distances(const LengthSweep<Index>& s, const BatchSums& totals) {
    DistanceSums sums(s.order.size, totals);
    Row largest = zero_row();
    for (int64_t v = 0; v < s.order.size; ++v) {
        if (s.nearest[v] == infinity) continue;
        const double* dist = s.distances[v];
        const uint64_t mask = positive_in_row(dist) & finite_in_row(dist) & ~s.overflowed;
        sums.reached[v] = __builtin_popcountll(mask);
        sums.distance[v] = sum_row(dist, mask);
        sums.inverse[v] = sum_inverse_row(dist, mask);
        if (totals.distance_squares.is_there) sums.distance_squares[v] = sum_squares_row(dist, mask);
        if (totals.inverse_squares.is_there) sums.inverse_squares[v] = sum_inverse_squares_row(dist, mask);
        raise_row(largest, dist, mask);
    }
    store_row(sums.deepest, largest);
    sums.add_to(totals, s.order);
}

}  // namespace lagbc
