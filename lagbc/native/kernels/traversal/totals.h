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

// Add totals that are there to sums, entry i to entry order[i], and clear them; a vertex listed twice is 0 by then.
inline void take_totals(Totals& totals, Span<const int64_t> order, Optional<Span<const int64_t>> edge_order,
                        Optional<Span<double>> dependency, Optional<Span<double>> stress, Optional<Span<double>> edges,
                        Optional<Span<double>> reached, Optional<Span<double>> distance, Optional<Span<double>> inverse,
                        Optional<Span<double>> dependency_squares, Optional<Span<double>> edges_squares,
                        Optional<Span<double>> distance_squares, Optional<Span<double>> inverse_squares) {
    auto take = [&](const Optional<Span<double>>& total, const Optional<Span<double>>& sum) {
        if (!total.is_there) return;
        each_touched(totals, total.size, [&](int64_t v) LAGBC_INLINED {
            if (total[v] == 0.0) return;
            if (sum.is_there) sum[order[v]] += total[v];
            total[v] = 0.0;
        });
    };
    take(totals.dependency, dependency);
    take(totals.stress, stress);
    take(totals.reached, reached);
    take(totals.distance, distance);
    take(totals.inverse, inverse);
    take(totals.dependency_squares, dependency_squares);
    take(totals.distance_squares, distance_squares);
    take(totals.inverse_squares, inverse_squares);
    auto take_edges = [&](const Optional<Span<double>>& total, const Optional<Span<double>>& sum) {
        if (!total.is_there || totals.count == 0) return;
        for (int64_t e = 0; e < total.size; ++e)
            if (total[e] != 0.0) sum[edge_order[e]] += total[e];
        total.fill(0.0);
    };
    take_edges(totals.edges, edges);
    take_edges(totals.edges_squares, edges_squares);
    totals.count = 0;
}

// Make totals zero.
inline void clear_totals(Totals& totals) {
    for (const auto& total : {totals.dependency, totals.stress, totals.reached, totals.distance, totals.inverse,
                              totals.dependency_squares, totals.distance_squares, totals.inverse_squares})
        if (total.is_there) each_touched(totals, total.size, [&](int64_t v) LAGBC_INLINED { total[v] = 0.0; });
    for (const auto& total : {totals.edges, totals.edges_squares})
        if (total.is_there && totals.count != 0) total.fill(0.0);
    totals.count = 0;
}

}  // namespace lagbc::LAGBC_LEVEL
