// Totals of a block of roots, taken into a batch's sums, or cleared.
#pragma once

#include "dependencies.h"

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

// Make totals zero.
inline void clear_totals(Totals& totals) {
    for (const auto field : of_vertices)
        if (const auto& total = totals.*field; total.is_there)
            each_touched(totals, total.size, [&](int64_t v) LAGBC_INLINED { total[v] = 0.0; });
    for (const auto field : of_edges)
        if (const auto& total = totals.*field; total.is_there && totals.count != 0) total.fill(0.0);
    totals.count = 0;
}

}  // namespace lagbc::LAGBC_LEVEL
