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
// O(n + nnz), without recursion. `path` has the steps from the root to the vertex at hand; `waiting` holds the vertices
// without a home. Once the flag is set, the result is of no use.
template <class Index>
std::tuple<Buffer<Index>, Buffer<Index>> find_blocks(const Csr<Index>& graph, Stop stop) {
    struct Step {
        Index v, low;  // low: the earliest vertex next to v or its descendants so far
        int64_t e;     // the entry at which v goes on
    };
    constexpr int64_t ahead = 8;  // entries whose rows are likely to come soon: rows of large graphs lie in no cache
    const auto& [indptr, indices, _] = graph;
    const int64_t n = graph.n();
    Buffer<Index> found(n, -1), waiting(n), home(n, -1), attach(n);
    Buffer<Step> path(n);
    Index time = 0;
    int64_t blocks = 0, top = 0;
    const auto enter = [&](Index v) { return Step{v, found[v] = time++, indptr[v]}; };
    for (int64_t root = 0; root < n; ++root) {
        if (found[root] >= 0 || indptr[root] == indptr[root + 1]) continue;
        int64_t depth = 0;
        Step at = enter(static_cast<Index>(root));
        while (!stop.is_set()) {
            const int64_t end = indptr[at.v + 1];
            Index down = -1;
            while (at.e < end && down < 0) {
                const Index w = indices[at.e++], seen = found[w];
                if (seen < 0)
                    down = w;
                else
                    at.low = std::min(at.low, seen);
            }
            if (down >= 0) {
                for (int64_t e = at.e; e < std::min(at.e + ahead, end); ++e) __builtin_prefetch(&indptr[indices[e]]);
                path[depth++] = at;
                at = enter(down);
                waiting[top++] = down;
                continue;
            }
            if (depth == 0) break;
            // The edge from the child back to its parent does not lower `child.low`: the parent is no earlier.
            const Step child = at;
            at = path[--depth];
            if (child.low < found[at.v]) {
                at.low = std::min(at.low, child.low);
                continue;
            }
            do home[waiting[--top]] = static_cast<Index>(blocks);
            while (waiting[top] != child.v);
            attach[blocks++] = at.v;
        }
    }
    attach.resize(blocks);
    return {std::move(home), std::move(attach)};
}

}  // namespace lagbc
