// The bicomponents of a symmetric pattern, by one depth-first search.
//
// A bicomponent is a largest set of edges such that any two lie on a simple cycle, or an edge on no cycle, a bridge.
// Two bicomponents have at most one vertex in common, a cut vertex, and all paths between them lead through it.
//
// J. Hopcroft and R. Tarjan, Algorithm 447: Efficient algorithms for graph manipulation, Communications of the ACM 16
// (1973) 372-378.
#pragma once

#include <algorithm>
#include <tuple>

#include "../buffer.h"

namespace lagbc {

// Find the bicomponents of a pattern without loops, as (home, attach):
//
// home    the bicomponent of the edge from each vertex to its parent in the search; -1 of a search's first vertex
// attach  the vertex of each bicomponent that was found first, the only one with another home, which has a larger
// number
//
// O(n + nnz), without recursion. `path` holds the vertices from the root to v, with `place`, the entries at which they
// go on, and `low`, the earliest vertices next to their descendants; `waiting` holds the vertices without a home. Once
// the flag is set, the result is of no use.
template <class Index>
std::tuple<Buffer<Index>, Buffer<Index>> find_blocks(const Csr<Index>& graph, Stop stop) {
    const auto& [indptr, indices, _] = graph;
    const int64_t n = graph.n();
    Buffer<Index> found(n, -1), low(n), path(n), waiting(n);
    Buffer<Index> home(n, -1), attach(n);
    Buffer<int64_t> place(n);
    Index time = 0;
    int64_t blocks = 0, top = 0;
    for (int64_t root = 0; root < n; ++root) {
        if (found[root] >= 0 || indptr[root] == indptr[root + 1]) continue;
        int64_t v = root, depth = 0, e = indptr[root];
        Index lowest = found[v] = time++;
        while (!stop.is_set()) {
            const int64_t end = indptr[v + 1];
            Index down = -1;
            while (e < end && down < 0) {
                const Index w = indices[e++], seen = found[w];
                if (seen < 0)
                    down = w;
                else
                    lowest = std::min(lowest, seen);
            }
            if (down >= 0) {
                path[depth] = static_cast<Index>(v);
                place[v] = e;
                low[v] = lowest;
                ++depth;
                v = down;
                e = indptr[v];
                lowest = found[v] = time++;
                waiting[top++] = down;
                continue;
            }
            if (depth == 0) break;
            // The edge from the child back to v does not lower `below`: v is no earlier than v.
            const int64_t child = v;
            const Index below = lowest;
            v = path[--depth];
            e = place[v];
            lowest = low[v];
            if (below < found[v]) {
                lowest = std::min(lowest, below);
                continue;
            }
            do home[waiting[--top]] = static_cast<Index>(blocks);
            while (waiting[top] != child);
            attach[blocks++] = static_cast<Index>(v);
        }
    }
    attach.resize(blocks);
    return {std::move(home), std::move(attach)};
}

}  // namespace lagbc
