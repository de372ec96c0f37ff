// The chains of vertices of degree 2 between the junctions of a graph: lagbc/reduce/chains.py.
#pragma once

#include "../buffer.h"

namespace lagbc {

// The edge by which a walk from `before` goes on from v, a vertex of degree 2.
template <class Index>
LAGBC_INLINE int64_t step_from(const Csr<Index>& graph, Index v, Index before) {
    const int64_t first = graph.indptr[v];
    return graph.indices[first] != before ? first : first + 1;
}

// The junction at the other end of the chain from u by its edge e. `number` is -1 for vertices inside chains.
template <class Index>
Index follow(const Csr<Index>& graph, Span<const int64_t> number, Index u, int64_t e) {
    Index before = u, v = graph.indices[e];
    while (number[v] < 0) {
        const int64_t step = step_from(graph, v, before);
        before = v;
        v = graph.indices[step];
    }
    return v;
}

// Write all chains, each from its smaller end on: the numbers of the junctions at its ends, its length, its count of
// vertices inside; one chain after the other, these vertices, their distances from the first end, and the edges along
// the chain. Return the count of vertices inside all chains, -1 if a chain ends where it began.
template <class Index>
int64_t walk_chains(const Csr<Index>& graph, Span<const int64_t> number, Matrix<int64_t> ends, Span<double> lengths,
                    Span<int64_t> counts, Span<int64_t> inside, Span<double> distances, Span<int64_t> steps) {
    int64_t chain = 0, end = 0;
    for (Index u = 0; u < number.size; ++u) {
        if (number[u] < 0) continue;
        for (int64_t e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e) {
            const Index far = follow(graph, number, u, e);
            if (far == u) return -1;
            if (far < u) continue;
            const int64_t begin = end;
            Index before = u, v = graph.indices[e];
            int64_t step = e;
            double length = 0.0;
            while (true) {
                length += graph.lengths.is_there ? graph.lengths[step] : 1.0;
                steps[end + chain] = step;
                if (number[v] >= 0) break;
                inside[end] = v;
                distances[end++] = length;
                step = step_from(graph, v, before);
                before = v;
                v = graph.indices[step];
            }
            ends[chain][0] = number[u];
            ends[chain][1] = number[far];
            lengths[chain] = length;
            counts[chain++] = end - begin;
        }
    }
    return end;
}

}  // namespace lagbc
