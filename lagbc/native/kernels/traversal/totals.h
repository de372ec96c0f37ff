// Totals of a block of roots: kept as entries, taken into a batch's sums, or cleared.
#pragma once

#include "near.h"

namespace lagbc::LAGBC_LEVEL {

// Call visit(v) for each vertex whose totals may be other than 0, for some of them more than once.
template <class Visit>
LAGBC_INLINE void each_touched(const Totals& totals, int64_t n, const Visit& visit) {
    if (totals.count < 0)
        for (int64_t v = 0; v < n; ++v) visit(v);
    else
        for (int64_t i = 0; i < totals.count; ++i) visit(totals.touched[i]);
}

// The totals of vertices, and of edges.
inline constexpr Optional<Span<double>> BatchSums::* of_vertices[] = {
    &BatchSums::dependency,       &BatchSums::stress,         &BatchSums::reached,
    &BatchSums::distance,         &BatchSums::inverse,        &BatchSums::dependency_squares,
    &BatchSums::distance_squares, &BatchSums::inverse_squares};
inline constexpr Optional<Span<double>> BatchSums::* of_edges[] = {&BatchSums::edges, &BatchSums::edges_squares};

// Add totals that are there to sums, entry i to entry order[i], and clear them; a vertex listed twice is 0 by then.
inline void take_totals(Totals& totals, Span<const int64_t> order, Optional<Span<const int64_t>> edge_order,
                        const BatchSums& sums) {
    for (const auto field : of_vertices) {
        const auto &total = totals.*field, &sum = sums.*field;
        if (!total.is_there) continue;
        each_touched(totals, total.size, [&](int64_t v) LAGBC_INLINED {
            if (total[v] == 0.0) return;
            if (sum.is_there) sum[order[v]] += total[v];
            total[v] = 0.0;
        });
    }
    for (const auto field : of_edges) {
        const auto &total = totals.*field, &sum = sums.*field;
        if (!total.is_there || totals.count == 0) continue;
        for (int64_t e = 0; e < total.size; ++e)
            if (total[e] != 0.0) sum[edge_order[e]] += total[e];
        total.fill(0.0);
    }
    totals.count = 0;
}

// A block is kept if its roots have reached at most one vertex in so many, all roots counted: to add entries takes
// about as many times as long as to add rows.
inline constexpr int64_t sparsity = 8;

// Keep the totals of a whole block as entries, and clear them; false if they are of too many vertices, or of edges.
inline bool keep_block(Totals& totals) {
    if (totals.count < 0 || !totals.kept_ends.is_there) return false;
    int64_t entry = totals.kept > 0 ? totals.kept_ends[totals.kept - 1] : 0;
    if (sparsity * totals.count > totals.touched.size || entry + totals.count > totals.kept_vertices.size) return false;
    for (int64_t i = 0; i < totals.count; ++i) {
        const int64_t v = totals.touched[i];
        bool is_new = false;  // a vertex listed twice is 0 by then
        int64_t row = 0;
        for (const auto field : of_vertices) {
            const auto& total = totals.*field;
            if (!total.is_there) continue;
            is_new |= total[v] != 0.0;
            totals.kept_sums[row++][entry] = total[v];
            total[v] = 0.0;
        }
        totals.kept_vertices[entry] = v;
        entry += is_new;
    }
    totals.kept_ends[totals.kept++] = entry;
    totals.count = 0;
    return true;
}

// Begin root k of some, after the block before it is kept; false if that has to be taken first.
inline bool begin_root(Totals& totals, int64_t k) {
    return totals.block == 0 || k == 0 || k % totals.block != 0 || keep_block(totals);
}

template <class Index>
bool begin_root(Near<Index>&, int64_t) {
    return true;
}

// Lay out the trips of a root as its targets, scaled; returns how often the root counts therefore.
template <class Index>
double lay_out_trips(const Trips<Index>& trips, int64_t root) {
    const int64_t s = trips.order[root];
    const auto shift = static_cast<int>(trips.shifts[s]);
    for (int64_t e = trips.first[s]; e < trips.first[s + 1]; ++e)
        trips.targets[trips.position[trips.ends[e]]] = std::ldexp(trips.numbers[e], -shift);
    return std::ldexp(1.0, shift);
}

template <class Index>
void clear_trips(const Trips<Index>& trips, int64_t root) {
    const int64_t s = trips.order[root];
    for (int64_t e = trips.first[s]; e < trips.first[s + 1]; ++e) trips.targets[trips.position[trips.ends[e]]] = 0.0;
}

// Add root k of some to the sums, by trips of its own where there are any.
template <class Index, class Sums>
void add_searched(const Trail<Index>& trail, Reached found, const Optional<Matrix<const double>>& omega,
                  const Asked& asked, double times, Sums& sums, int64_t k) {
    if (!trail.trips) return add_root(trail, found, omega_of(omega, k), asked, times, sums, k);
    const Trips<Index>& trips = *trail.trips;
    times *= lay_out_trips(trips, trail.order[0]);
    add_root(trail, found, {{trips.targets.data, trips.targets.size}, true}, asked, times, sums, k);
    clear_trips(trips, trail.order[0]);
}

// End all roots: keep the last block, if that can be.
inline void end_roots(Totals& totals) {
    if (totals.block != 0) keep_block(totals);
}

template <class Index>
void end_roots(Near<Index>&) {}

// Make totals zero, and forget kept blocks.
inline void clear_totals(Totals& totals) {
    for (const auto field : of_vertices)
        if (const auto& total = totals.*field; total.is_there)
            each_touched(totals, total.size, [&](int64_t v) LAGBC_INLINED { total[v] = 0.0; });
    for (const auto field : of_edges)
        if (const auto& total = totals.*field; total.is_there && totals.count != 0) total.fill(0.0);
    totals.count = totals.kept = 0;
}

}  // namespace lagbc::LAGBC_LEVEL
