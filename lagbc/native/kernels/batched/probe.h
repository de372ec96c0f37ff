// Counts of breadth-first searches from 64 roots at once, a bit each.
#pragma once

#include <tuple>
#include <utility>

#include "../buffer.h"

namespace lagbc {

// Search level by level until there are no live rows, or more edges than `most` were looked at; return visits, edges,
// pairs, pair_edges and levels of lagbc.methods.roots.Probe. `here[v]` has the columns that found v at this level,
// `seen[v]` the columns that found it so far.
template <class Index>
std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t> probe_hops(const Csr<Index>& graph, Span<const int64_t> roots,
                                                                   int64_t most, Stop stop) {
    const int64_t n = graph.n();
    Buffer<uint64_t> here(n, 0), following(n, 0), seen(n, 0);
    Buffer<int64_t> rows(n), next_rows(n);
    int64_t size = roots.size;
    for (int64_t column = 0; column < size; ++column) {
        rows[column] = roots[column];
        here[roots[column]] = seen[roots[column]] = uint64_t{1} << column;
    }
    int64_t visits = 0, edges = 0, pairs = 0, pair_edges = 0, levels = 0;
    while (size > 0 && edges <= most) {
        ++levels;
        int64_t found = 0;
        for (int64_t i = 0; i < size && !stop.is_set(); ++i) {
            const int64_t v = rows[i], degree = graph.indptr[v + 1] - graph.indptr[v];
            const uint64_t live = std::exchange(here[v], 0);
            const int64_t width = __builtin_popcountll(live);
            ++visits;
            edges += degree;
            pairs += width;
            pair_edges += width * degree;
            for (int64_t e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
                const int64_t w = graph.indices[e];
                if (const uint64_t fresh = live & ~seen[w]) {
                    if (following[w] == 0) next_rows[found++] = w;
                    following[w] |= fresh;
                }
            }
        }
        for (int64_t i = 0; i < found; ++i) seen[next_rows[i]] |= following[next_rows[i]];
        std::swap(here, following);
        std::swap(rows, next_rows);
        size = found;
    }
    return {visits, edges, pairs, pair_edges, levels};
}

}  // namespace lagbc
