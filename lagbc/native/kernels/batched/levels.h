// Hops by levels: a row is counted as it is found, at each level at which it is live in some column.
//
// State is a row of 64 numbers a vertex, and rows of 64 bits, one for each column where the vertex is on the frontier,
// or visited:
//
//     forward    F<!struct(P), replace> = A^T plus.second F;   P += F;   the pattern of F is kept a level
//     backward   c at level l = omega / sigma + (A plus.second c)<L_l> on L_{l+1};   delta = sigma * (that product)
//     stress     t at level l = omega + (A plus.second t)<L_l> on L_{l+1};   stress = sigma * (that product)
//     edges      of v -> w from level l to level l + 1: the dot product of the rows sigma[v] and c[w]
//     classes    a row of F, and a row of c, is multiplied by how many vertices v stands for when it is finished
//
// The two products are pulls: a row gathers from its neighbours in row order, and only the owner of a row writes it. So
// the sums do not depend on the direction taken, on threads or on memory. Bits alone are pushed, on levels whose
// frontier is a small part of the graph (Beamer et al. 2012 switch in the same way); on the others every unvisited row
// pulls.
//
// The queue of (vertex, bit row) entries is the level structure: entry i of level l is live in the columns masks[i].
// Sums of distances are sums over the entries, by counting bits; where no other sum is asked for, the sweep is of bits
// alone.
#pragma once

#include "sums.h"

namespace lagbc {

// The columns that `gather` meets.
template <class Index>
LAGBC_INLINE uint64_t meet(const Csr<Index>& edges, const uint64_t* by_end, int64_t v, uint64_t wanted) {
    uint64_t met = 0;
    for (int64_t e = edges.indptr[v]; e < edges.indptr[v + 1] && met != wanted; ++e)
        met |= by_end[edges.indices[e]] & wanted;
    return met;
}

// Put the roots on the frontier of level 0, and clear all else; return the columns with a root.
template <class Index>
uint64_t begin_levels(LevelSweep<Index>& s, Span<const int64_t> positions) {
    std::fill_n(s.bits.data, s.bits.size * s.bits.width, uint64_t{0});
    s.visited.fill(0);
    enqueue_roots(s, positions);
    s.starts[0] = 0;
    s.starts[1] = s.roots;
    uint64_t everything = 0;
    for (int64_t i = 0; i < s.roots; ++i) {
        const int64_t v = s.queue->vertices()[i];
        const uint64_t mask = s.queue->masks()[i];
        s.bits[0][v] = s.visited[v] = mask;
        everything |= mask;
    }
    return everything;
}

// Find the levels of up to 64 roots, and count their paths where `counts`.
//
// Level l + 1 is found from level l either by a pull, which counts its paths at once, or by a push of bits; then the
// visits of level l + 1 count before they push on. `counted` tells which of both. Invariant at the top of the loop:
// bits[l % 3] is the frontier, bits[(l + 1) % 3] is zero, and bits[(l - 1) % 3] is the last frontier.
template <bool counts, class Index>
void run_levels(LevelSweep<Index>& s, uint64_t everything) {
    const Csr<Index>&out = *s.out, &into = *s.into;
    Queue<Index>& queue = *s.queue;
    bool counted = true;
    while (!s.stop.is_set()) {
        const int64_t first = s.starts[s.depth], last = s.starts[s.depth + 1];
        uint64_t* before = s.bits[(s.depth + 2) % 3].data;
        uint64_t* here = s.bits[s.depth % 3].data;
        uint64_t* after = s.bits[(s.depth + 1) % 3].data;
        int64_t edges = 0;
        for (int64_t i = first; i < last; ++i) {
            const int64_t v = queue.vertices()[i];
            edges += out.indptr[v + 1] - out.indptr[v];
        }
        queue.require(last + std::min(edges, s.active));
        Index* vertices = queue.vertices();
        uint64_t* masks = queue.masks();
        const bool pull = static_cast<double>(edges) > s.pull_share * static_cast<double>(out.indptr[s.active]);
        int64_t end = last;
        if (!pull || !counted) {
            for (int64_t i = first; i < last; ++i) {
                const int64_t v = vertices[i];
                const uint64_t mask = masks[i];
                if constexpr (counts) {
                    if (!counted) {
                        Row total = zero_row();
                        gather(into.indptr, into.indices, ByEnd{before}, v, mask, s.values, total);
                        put_paths(s, v, mask, total, s.overflowed);
                    }
                }
                if (pull) continue;
                for (int64_t e = out.indptr[v]; e < out.indptr[v + 1]; ++e) {
                    const Index w = out.indices[e];
                    if (const uint64_t fresh = mask & ~s.visited[w]) {
                        if (after[w] == 0) vertices[end++] = w;
                        after[w] |= fresh;
                        s.visited[w] |= fresh;
                    }
                }
            }
        }
        if (pull) {
            for (int64_t v = 0; v < s.active; ++v) {
                const uint64_t wanted = everything & ~s.visited[v];
                if (wanted == 0) continue;
                uint64_t fresh;
                if constexpr (counts) {
                    Row total = zero_row();
                    fresh = gather(into.indptr, into.indices, ByEnd{here}, v, wanted, s.values, total);
                    if (fresh != 0) put_paths(s, v, fresh, total, s.overflowed);
                } else {
                    fresh = meet(into, here, v, wanted);
                }
                if (fresh == 0) continue;
                after[v] = fresh;
                s.visited[v] |= fresh;
                vertices[end++] = static_cast<Index>(v);
            }
        }
        for (int64_t i = last; i < end; ++i) masks[i] = after[vertices[i]];
        if (s.depth > 0)
            for (int64_t i = s.starts[s.depth - 1]; i < first; ++i) before[vertices[i]] = 0;
        if (end == last) break;
        counted = pull || !counts;
        s.starts[++s.depth + 1] = end;
    }
}

// Find the levels of up to 64 roots, at these rows or absent (-1), and count their paths.
template <class Index>
void search(LevelSweep<Index>& s, Span<const int64_t> positions) {
    s.depth = 0;
    s.overflowed = 0;
    const uint64_t everything = begin_levels(s, positions);
    if (s.values.is_there)
        run_levels<true>(s, everything);
    else
        run_levels<false>(s, everything);
    s.entries = s.starts[s.depth + 1];
}

// Turn sigma into c level by level from the deepest, and add up.
//
// Invariant: at level l, bits[(l + 1) % 3] is the frontier of level l + 1 and bits[l % 3] is being set. Bits of level
// l + 4 that remain in the first do no harm: no edge leads from level l there.
template <class Index>
bool sum_paths(LevelSweep<Index>& s, Optional<Rows<const double>> omega, Span<const double> times,
               Optional<Span<const int64_t>> edge_order, const BatchSums& totals) {
    const Index* vertices = s.queue->vertices();
    const uint64_t* masks = s.queue->masks();
    auto sweep_back = [&](const auto& backward) {
        for (int64_t level = s.depth; level >= (backward.visits_roots ? 0 : 1); --level) {
            if (s.stop.is_set()) return false;
            uint64_t* here = s.bits[level % 3].data;
            const ByEnd beyond{s.bits[(level + 1) % 3].data};
            for (int64_t i = s.starts[level]; i < s.starts[level + 1]; ++i) {
                const int64_t v = vertices[i];
                const uint64_t mask = here[v] = masks[i] & backward.keep;
                Row total = zero_row(), paths_total = zero_row();
                if (level < s.depth) backward.gather_onward(beyond, v, mask, total, paths_total);
                if (level > 0) backward.finish(v, mask, total, paths_total, static_cast<double>(level));
            }
        }
        return true;
    };
    auto add_edges = [&](Span<double> total, Span<const double> sums) { add_parts(total, sums, edge_order); };
    return add_path_sums(s, s.out->indptr, s.out->indices, {omega, times.data}, totals, sweep_back, add_edges);
}

// Add the sums over the distances of a batch.
template <class Index>
void sum_distances(const LevelSweep<Index>& s, const BatchSums& totals) {
    add_level_sums(s.queue->vertices(), s.queue->masks(), s.starts, s.depth, ~s.overflowed, s.order, totals);
}

// Write the distances of the entries of all levels, a row a vertex; `dist` is infinite before.
template <class Index>
void write_levels(const LevelSweep<Index>& s, Matrix<double> dist) {
    for (int64_t level = 0; level <= s.depth; ++level)
        for (int64_t i = s.starts[level]; i < s.starts[level + 1]; ++i)
            for (int64_t k = 0; k < dist.width; ++k)
                if (s.queue->masks()[i] >> k & 1) dist[s.queue->vertices()[i]][k] = static_cast<double>(level);
}

}  // namespace lagbc
