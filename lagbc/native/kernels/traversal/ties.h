// Paths that rounding keeps from a tie: lagbc/request.py.
#pragma once

#include <tuple>

#include "../buffer.h"
#include "dijkstra.h"

namespace lagbc {

// Search from roots, one after the other, until two paths are found whose lengths differ by at most `near` of the
// longer. Return the root, their end, and both lengths; a root of -1 if there are none.
//
// A search settles vertices by Dijkstra's rule until it has looked at `most` edges. The longer path is the shortest to
// a settled vertex and an edge from it. A difference of more than half of the shortest length may be one in exact
// numbers.
template <class Index>
std::tuple<int64_t, int64_t, double, double> find_near_tie(const Csr<Index>& graph, Span<const int64_t> roots,
                                                           int64_t most, double near) {
    const auto [indptr, indices, lengths] = graph;
    const int64_t n = indptr.size - 1;
    Buffer<double> dist(n, infinity), keys(n);
    Buffer<Index> places(n), waiting(n), settled(n);
    Buffer<uint8_t> is_settled(n, 0);
    const Heap<Index> heap{keys.span(), waiting.span()};
    double shortest = infinity;
    for (const int64_t root : roots) {
        int64_t count = 0, looked = 0, size = 0, v = root;
        dist[root] = 0.0;
        while (true) {
            settled[count++] = static_cast<Index>(v);
            is_settled[v] = 1;
            for (int64_t e = indptr[v]; e < indptr[v + 1]; ++e) {
                const Index w = indices[e];
                const double through = dist[v] + lengths[e], far = dist[w];
                shortest = std::min(shortest, lengths[e]);
                if (through >= far) continue;
                const int64_t slot = far == infinity ? size++ : static_cast<int64_t>(places[w]);
                dist[w] = through;
                rise(heap, places.span(), slot, through, w);
            }
            looked += indptr[v + 1] - indptr[v];
            if (size == 0 || looked >= most) break;
            v = heap.vertices[0];
            fall(heap, places.span(), --size);
        }
        for (int64_t i = 0; i < count; ++i) {
            for (int64_t e = indptr[settled[i]]; e < indptr[settled[i] + 1]; ++e) {
                const Index w = indices[e];
                const double through = dist[settled[i]] + lengths[e], longer = through - dist[w];
                if (is_settled[w] && longer > 0.0 && longer <= std::min(near * through, shortest / 2))
                    return {root, w, dist[w], through};
            }
        }
        for (int64_t i = 0; i < size; ++i) dist[heap.vertices[i]] = infinity;
        for (int64_t i = 0; i < count; ++i) {
            dist[settled[i]] = infinity;
            is_settled[settled[i]] = 0;
        }
    }
    return {-1, -1, 0.0, 0.0};
}

}  // namespace lagbc
