// Sums over small bicomponents: lagbc/reduce/blocks.py.
#pragma once

#include "sweep.h"

namespace lagbc {

// Add the sums of roots to scores; false if some root has overflowed.
//
// `graph` is block-diagonal, with a bicomponent of at most `vertices` and `edges` for each block. A search touches only
// the bicomponent of its root: so threads share `places`, all n before and after, and `dist`, all infinite, None in
// hops.
template <class Index>
bool sum_small_blocks(const Csr<Index>& graph, Span<const int64_t> roots, Span<const double> targets,
                      Span<const double> sources, Span<Index> places, Optional<Span<double>> dist, int64_t vertices,
                      int64_t edges, Span<double> scores, Optional<Span<double>> edge_scores) {
    // Path counts are far below: with 600 vertices they are at most 3**200.
    constexpr double limit = 0x1p1022;
    const uint32_t sums = edge_scores.is_there ? 0b101 : 0b001;  // bits of dependency and edges
    Traversal<Index> s({.n = vertices, .most = edges, .buckets = dist.is_there ? 0 : -1, .sums = sums});
    s.graph = &graph;
    s.root_weights = {sources, true};
    s.search.places = places;
    s.search.dist = dist;
    s.asked.limit = limit;
    Totals totals;
    totals.dependency = {scores, true};
    totals.edges = edge_scores;
    Found found(roots.size);
    sum_roots(s, {roots, 0, roots.size, {{targets.data, 1, targets.size}, true}, {}}, totals, found);
    for (int64_t k = 0; k < roots.size; ++k)
        if (found.overflowed[k]) return false;
    return true;
}

}  // namespace lagbc
