// The share of shortest paths that pass through groups of vertices, from the roots of a batch that is searched.
//
//     t[v] = 1 where v is in the group, else the sum of sigma[u] / sigma[v] * t[u] over the tight predecessors u of v
//
// Bits tell which rows some path passes, in all columns at once. Then one column is summed after the other, over these
// rows alone: they come by their distances, and equal ones, like the predecessors of a row, in matrix order, as where a
// root is summed by itself (lagbc/native/kernels/methods/groups.h).
#pragma once

#include "../graph/proximity.h"
#include "lengths.h"
#include "waiting.h"

namespace lagbc {

// Groups of vertices, and room for their sums.
struct Groups {
    Memory memory;
    Matrix<const bool> in_group;       // (n, groups) in matrix order
    Span<const bool> is_member;        // (n,) of any group, in sweep order
    bool endpoints = false;            // whether pairs with an end in a group count wholly, or else not at all
    Matrix<double> shares;             // (n, groups) t of a column, a row a vertex
    Optional<Rows<double>> distances;  // (n, 64) None where a sweep has them

    Groups(int64_t n, int64_t groups, bool has_distances, bool only_counts = false)
        : memory(only_counts),
          shares(memory.matrix<double>("shares", n, groups)),
          distances(maybe(has_distances, [&] { return memory.rows<double>("distances", n); })) {}
};

// Return the columns in which paths to each row pass a group, or end in it. No path passes the group at its root.
template <class Index>
Buffer<uint64_t> find_passed(const CountingSweep<Index>& s, Span<const bool> is_member) {
    Buffer<uint64_t> passed(s.order.size, 0);
    for (int64_t i = s.roots; i < s.entries; ++i) {
        const int64_t v = s.queue->vertices()[i];
        uint64_t through = is_member[v] ? ~uint64_t{0} : 0;
        for (int64_t e = s.in_starts[v]; e < s.in_starts[v + 1] && ~through != 0; ++e)
            through |= s.in_masks[e] & passed[s.in_ends[e]];
        passed[v] |= s.queue->masks()[i] & through;
    }
    return passed;
}

// The distances of rows in the columns in which they are passed.
template <class Index>
Rows<double> passed_distances(const WaitingSweep<Index>& s, Span<const uint64_t> passed, const Groups& groups) {
    const Rows<double> dist = groups.distances;
    for (int64_t level = 1; level <= s.depth; ++level)
        for (int64_t i = s.level_starts[level]; i < s.level_starts[level + 1]; ++i) {
            const int64_t v = s.levels->vertices()[i];
            for (uint64_t left = s.levels->masks()[i] & passed[v]; left != 0; left &= left - 1)
                dist[v][__builtin_ctzll(left)] = static_cast<double>(level);
        }
    return dist;
}

template <class Index>
Rows<double> passed_distances(const LengthSweep<Index>& s, Span<const uint64_t>, const Groups&) {
    return s.distances;
}

// Add one to the totals of the groups that a root is in, for each vertex that it reaches.
template <class Index>
void add_pairs_of_member(const CountingSweep<Index>& s, uint64_t column, Span<const bool> in_group,
                         Span<double> totals) {
    int64_t reached = 0;
    for (int64_t i = s.roots; i < s.entries; ++i) reached += (s.queue->masks()[i] & column) != 0;
    for (int64_t g = 0; g < totals.size; ++g)
        for (int64_t i = 0; in_group[g] && i < reached; ++i) totals[g] += 1.0;
}

// Add the shares of one column, over rows by their distances.
template <class Index>
void add_column(const CountingSweep<Index>& s, int64_t k, Span<const int64_t> rows, Span<const uint64_t> passed,
                const Groups& groups, Span<double> totals) {
    const uint64_t column = uint64_t{1} << k;
    const Span<const bool> of_root = groups.in_group[s.order[s.queue->vertices()[k]]];
    if (groups.endpoints) add_pairs_of_member(s, column, of_root, totals);
    for (const int64_t v : rows) {
        const Span<double> share = groups.shares[v];
        const Span<const bool> in_group = groups.in_group[s.order[v]];
        share.fill(0.0);
        for (int64_t e = s.in_starts[v]; e < s.in_starts[v + 1]; ++e) {
            const int64_t u = s.in_ends[e];
            if ((s.in_masks[e] & passed[u] & column) == 0) continue;
            const double part = s.values[u][k] / s.values[v][k];
            const Span<double> before = groups.shares[u];
            for (int64_t g = 0; g < totals.size; ++g) share[g] += part * before[g];
        }
        for (int64_t g = 0; g < totals.size; ++g) {
            if (in_group[g]) share[g] = 1.0;
            if (!of_root[g]) totals[g] += in_group[g] ? static_cast<double>(groups.endpoints) : share[g];
        }
    }
}

// Add the shares of the columns from the first to before the last, each to its panel, and panels one after the other.
template <template <class> class SweepOf, class Index>
void add_batch_shares(SweepOf<Index>& s, const Groups& groups, int64_t first, int64_t last, int64_t panel,
                      Matrix<double> totals) {
    transpose_tight(tight_edges(s), s.in_starts, s.in_ends, s.in_masks, {s.position, true});
    const Buffer<uint64_t> passed = find_passed(s, groups.is_member);
    const Rows<double> dist = passed_distances(s, passed.view(), groups);
    Buffer<int64_t> rows(passed.size());
    int64_t count = 0;
    for (const int64_t v : s.position)
        if (passed[v] != 0) rows[count++] = v;
    Buffer<Keyed> keyed(count), spare(count);
    Buffer<int64_t> order(count);
    for (int64_t k = first; k < last && !s.stop.is_set(); ++k) {
        int64_t size = 0;
        for (int64_t i = 0; i < count; ++i) {
            if ((passed[rows[i]] >> k & 1) != 0) keyed[size++] = {dist[rows[i]][k], rows[i]};
        }
        if (size > 0) sort_many({keyed.data(), size}, spare.span());
        for (int64_t i = 0; i < size; ++i) order[i] = keyed[i].vertex;
        add_column(s, k, {order.data(), size}, passed.view(), groups, totals[k / panel]);
    }
}

}  // namespace lagbc
