// The sums of a batch, as `Sums.row` of lagbc/methods/sums.py hands them over.
#pragma once

#include "../kernels/batch_sums.h"
#include "numpy.h"

namespace lagbc {

inline auto items(BatchSums& sums) {
    return std::tuple(Item("dependency", sums.dependency), Item("stress", sums.stress), Item("edges", sums.edges),
                      Item("reached", sums.reached), Item("distance", sums.distance), Item("inverse", sums.inverse),
                      Item("dependency_squares", sums.dependency_squares), Item("edges_squares", sums.edges_squares),
                      Item("distance_squares", sums.distance_squares), Item("inverse_squares", sums.inverse_squares),
                      Item("depth", sums.depth));
}

// Raise the ValueError of a sum whose size is not that of n vertices or nnz edges.
inline void require_sizes(BatchSums& sums, int64_t n, int64_t nnz) {
    const auto require = [&](const auto& item) {
        const bool of_edges = &item.place == &sums.edges || &item.place == &sums.edges_squares;
        if (&item.place != &sums.depth) sized(item.place, item.name, of_edges ? nnz : n);
    };
    std::apply([&](const auto&... item) { (require(item), ...); }, items(sums));
}

// Raise the ValueError of a sum over paths that was not asked for, so that the sweep has no rows for it.
inline void require_asked(const BatchSums& sums, const Asks& asks) {
    if ((sums.stress.is_there && !asks.stress) || (sums.dependency.is_there && !asks.paths()))
        raise_value("sums has one that was not asked for");
}

// Raise the ValueError of an order that is not of nnz edges, or of none where edges are summed.
inline void require_edge_order(Optional<Span<const int64_t>> edge_order, int64_t nnz, bool sums_edges) {
    sized(edge_order, "edge_order", nnz);
    if (sums_edges && !edge_order.is_there) raise_value("edge_order has to be there, as edges are summed");
}

}  // namespace lagbc
