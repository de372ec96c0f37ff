// The graph of merged twins, and the pairs inside their classes: lagbc/reduce/twins.py.
#pragma once

#include <algorithm>
#include <tuple>

#include "../buffer.h"

namespace lagbc {

// Count the kept entries of the kept ones of rows first to last: of row v at counts[position[v] + 1].
template <class Index>
void count_kept(const Csr<Index>& graph, Span<const bool> kept, Span<const Index> position, int64_t first, int64_t last,
                Span<int64_t> counts) {
    for (int64_t v = first; v < last; ++v) {
        if (!kept[v]) continue;
        int64_t count = 0;
        for (int64_t e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) count += kept[graph.indices[e]];
        counts[position[v] + 1] = count;
    }
}

// Write the columns, under their positions, and the lengths, if there are any, of the kept entries of the kept ones of
// rows first to last: row v begins at starts[position[v]].
template <class Index>
void take_kept(const Csr<Index>& graph, Span<const bool> kept, Span<const Index> position, int64_t first, int64_t last,
               Span<const int64_t> starts, Span<Index> columns, Optional<Span<double>> lengths) {
    for (int64_t v = first; v < last; ++v) {
        if (!kept[v]) continue;
        int64_t place = starts[position[v]];
        for (int64_t e = graph.indptr[v]; place < starts[position[v] + 1]; ++e) {  // what is not kept is written over
            columns[place] = position[graph.indices[e]];
            if (lengths.is_there) lengths[place] = graph.lengths[e];
            place += kept[graph.indices[e]];
        }
    }
}

// Sum S_p T_q over the p != q of each class, at its first vertex; only products are added, so nothing cancels.
template <class Index>
Buffer<double> demand_inside(Span<const Index> first, Span<const double> sources, Span<const double> targets) {
    const int64_t n = first.size;
    Buffer<double> demand(n, 0.0), source(n, 0.0), target(n, 0.0);
    for (int64_t v = 0; v < n; ++v) {
        const Index z = first[v];
        demand[z] += source[z] * targets[v] + sources[v] * target[z];
        source[z] += sources[v];
        target[z] += targets[v];
    }
    return demand;
}

// The length of a vertex's edges inside its class, and the smallest length of its other edges.
struct Shortest {
    double inside, outside;
};

template <class Index>
Shortest find_shortest(const Csr<Index>& graph, Span<const Index> first, int64_t v) {
    Shortest found{infinity, infinity};
    for (int64_t e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
        const double length = graph.lengths.is_there ? graph.lengths[e] : 1.0;
        if (first[graph.indices[e]] == v)
            found.inside = length;
        else
            found.outside = std::min(found.outside, length);
    }
    return found;
}

// Call visit(z) for each neighbour z outside the class of v, the first vertex of the class, that is nearest both ways:
// the edge from v to z has the length shortest_out, the edge back shortest_in.
template <class Index, class Visit>
void visit_nearest(const Csr<Index>& out, const Csr<Index>& into, bool is_symmetric, Span<const Index> first, Index v,
                   double shortest_out, double shortest_in, const Visit& visit) {
    int64_t at = into.indptr[v];
    const int64_t end = into.indptr[v + 1];
    for (int64_t e = out.indptr[v]; e < out.indptr[v + 1]; ++e) {
        const Index z = out.indices[e];
        if (first[z] == v || (out.lengths.is_there && out.lengths[e] != shortest_out)) continue;
        if (!is_symmetric) {
            while (at < end && into.indices[at] < z) ++at;
            if (at == end || into.indices[at] != z) continue;
            if (into.lengths.is_there && into.lengths[at] != shortest_in) continue;
        }
        visit(z);
    }
}

// Return the demand that the pairs inside classes add to each vertex, extra(z) = D m_z / (number of ways), and for the
// first vertex of each class whether its pairs go an unknown way.
template <class Index>
std::tuple<Buffer<double>, Buffer<bool>> pairs_inside(const Csr<Index>& out, const Csr<Index>& into,
                                                      Span<const Index> first, Span<const bool> closed,
                                                      Span<const double> sources, Span<const double> targets,
                                                      Span<const double> class_sizes) {
    const bool is_symmetric = out.indptr.data == into.indptr.data;
    const Buffer<double> demand = demand_inside(first, sources, targets);
    Buffer<double> extra(first.size, 0.0);
    Buffer<bool> unknown(first.size, false);
    for (Index v = 0; v < first.size; ++v) {
        if (demand[v] == 0.0) continue;
        const auto [inside, to_others] = find_shortest(out, first, v);
        const double from_others = is_symmetric ? to_others : find_shortest(into, first, v).outside;
        const double around = to_others + from_others;
        if (around == infinity || (closed[v] && inside < around)) continue;
        double ways = closed[v] && inside == around ? 1.0 : 0.0;
        const auto each = [&](const auto& visit) {
            visit_nearest(out, into, is_symmetric, first, v, to_others, from_others, visit);
        };
        each([&](Index z) { ways += class_sizes[z]; });
        unknown[v] = ways == 0.0;
        if (!unknown[v]) each([&](Index z) { extra[z] += demand[v] * class_sizes[z] / ways; });
    }
    return {std::move(extra), std::move(unknown)};
}

}  // namespace lagbc
