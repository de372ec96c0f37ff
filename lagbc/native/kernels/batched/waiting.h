// Hops where the diameter is high: rows wait until they can be counted in most of their columns at once.
//
// All levels are found first, in bits alone: an edge costs a word, however many columns are live.
//
//     levels    F<!visited, replace> = A^T any.pair F
//     tight     T[v, w] = the columns in which v is on the frontier of a level and w on that of the next
//
// Along T paths are counted and dependencies summed; see counting.h. Bits are pushed at all levels, as frontiers are
// small. Where sums of distances are asked for, too, the levels are kept in a queue of their own.
#pragma once

#include "counting.h"

namespace lagbc {

template <class Index>
LAGBC_INLINE TightEdges<Index> tight_edges(const WaitingSweep<Index>& s) {
    return {s.out->indptr, s.out->indices, s.tight_masks};
}

// Find all levels, and the tight edges; return the deepest level.
//
// Invariant at the top of the loop: lists[level % 2] holds the `count` rows of the frontier, and frontier[level % 2]
// their bits, which are visited; frontier[(level + 1) % 2] is zero. An edge is tight in the columns in which its tail
// is on the frontier and its head is not visited yet.
template <class Index>
int64_t find_waiting_levels(WaitingSweep<Index>& s, Span<const int64_t> positions) {
    const Csr<Index>& out = *s.out;
    const Span<uint64_t> visited = s.waiting;
    visited.fill(0);
    s.pushed.fill(0);
    s.tight_masks.fill(0);
    int64_t level = 0, count = 0;
    for (int64_t k = 0; k < positions.size; ++k) {
        const int64_t v = positions[k];
        if (v < 0) continue;
        visited[v] = s.frontier[0][v] = uint64_t{1} << k;
        s.nearest[v] = 0.0;
        s.lists[0][count++] = static_cast<Index>(v);
    }
    while (!s.stop.is_set()) {
        const Span<Index> rows = s.lists[level % 2], following = s.lists[(level + 1) % 2];
        const Span<int64_t> heads = s.in_starts;  // of use later; there is room for one more than all rows
        const Span<uint64_t> here = s.frontier[level % 2], after = s.frontier[(level + 1) % 2];
        if (s.levels != nullptr) {
            const int64_t first = s.level_starts[level];
            s.levels->require(first + count);
            for (int64_t i = 0; i < count; ++i) s.levels->put(first + i, rows[i], here[rows[i]]);
            s.level_starts[level + 1] = first + count;
        }
        int64_t found = 0;
        for (int64_t i = 0; i < count; ++i) {
            const Index v = rows[i];
            const uint64_t mask = here[v];
            here[v] = 0;
            for (int64_t e = out.indptr[v]; e < out.indptr[v + 1]; ++e) {
                // Without a branch, as no processor foretells which heads are new: the next one writes over others.
                const Index w = out.indices[e];
                const uint64_t fresh = mask & ~visited[w], before = after[w];
                heads[found] = w;
                found += static_cast<int64_t>(before == 0) & static_cast<int64_t>(fresh != 0);
                after[w] = before | fresh;
                s.tight_masks[e] |= fresh;
            }
        }
        for (int64_t i = 0; i < found; ++i) {
            const Index w = following[i] = static_cast<Index>(heads[i]);
            if (visited[w] == 0) s.nearest[w] = static_cast<double>(level + 1);
            visited[w] |= after[w];
        }
        if (found == 0) break;
        ++level;
        count = found;
    }
    return level;
}

// Find the levels of up to 64 roots, at these rows or absent (-1), the tight edges, and an order for counting; count
// the paths. Where the flag is set, the frontiers are left as they are: the state is not used again.
template <class Index>
void search(WaitingSweep<Index>& s, Span<const int64_t> positions) {
    s.depth = find_waiting_levels(s, positions);
    if (!s.stop.is_set()) count_paths(s, tight_edges(s), positions);
}

template <class Index>
bool sum_paths(const WaitingSweep<Index>& s, Optional<Rows<const double>> omega, Span<const double> times,
               Optional<Span<const int64_t>> edge_order, const BatchSums& totals) {
    auto add_edges = [&](Span<double> total, Span<const double> sums) { add_parts(total, sums, edge_order); };
    return sum_counted(s, tight_edges(s), {omega, times.data}, totals, add_edges);
}

// Add the sums over the distances of a batch.
template <class Index>
void sum_distances(const WaitingSweep<Index>& s, const BatchSums& totals) {
    add_level_sums(s.levels->vertices(), s.levels->masks(), s.level_starts, s.depth, ~s.overflowed, s.order, totals);
}

// Write the distances by the sets of tight edges, a row a vertex: a head is one farther than a tail. `dist` is infinite
// before.
template <class Index>
void write_levels(const WaitingSweep<Index>& s, Matrix<double> dist) {
    const TightEdges<Index> out = tight_edges(s);
    for (int64_t i = 0; i < s.entries; ++i) {
        const int64_t v = s.queue->vertices()[i];
        for (int64_t k = 0; k < dist.width; ++k) {
            if (!(s.queue->masks()[i] >> k & 1)) continue;
            if (i < s.roots) dist[v][k] = 0.0;
            for (int64_t e = out.starts[v]; e < out.starts[v + 1]; ++e)
                if (out.masks[e] >> k & 1) dist[out.ends[e]][k] = dist[v][k] + 1.0;
        }
    }
}

}  // namespace lagbc
