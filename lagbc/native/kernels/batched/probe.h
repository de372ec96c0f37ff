// Counts of breadth-first searches from 64 roots at once, a bit each.
#pragma once

#include <tuple>

#include "../buffer.h"

namespace lagbc {

// A vertex: the columns that find it at the next level, and those that found it so far.
struct Found {
    uint64_t next, seen;
};

// A vertex with the columns in which it is live at a level.
template <class Index>
struct Live {
    Index vertex;
    uint64_t columns;
};

// Search level by level until there are no live rows, or more edges than `most` were looked at; return visits, edges,
// pairs, pair_edges and levels of lagbc.methods.probe.Probe.
//
// No processor foretells which edges find a vertex, so that there is no branch for it: each edge writes its head to
// `rows`, and the next one writes over it unless the head is new there. It does foretell most vertices that all columns
// have found.
template <class Index>
std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t> probe_hops(const Csr<Index>& graph, Span<const int64_t> roots,
                                                                   int64_t most, Stop stop) {
    const int64_t n = graph.n();
    Buffer<Found> vertices(n, {0, 0});
    Buffer<Live<Index>> live(n);
    Buffer<Index> rows(n + 1);
    int64_t size = roots.size;
    uint64_t everything = 0;
    for (int64_t column = 0; column < size; ++column) {
        live[column] = {static_cast<Index>(roots[column]), uint64_t{1} << column};
        vertices[roots[column]].seen = live[column].columns;
        everything |= live[column].columns;
    }
    int64_t visits = 0, edges = 0, pairs = 0, pair_edges = 0, levels = 0;
    while (size > 0 && edges <= most) {
        ++levels;
        int64_t found = 0;
        for (int64_t i = 0; i < size && !stop.is_set(); ++i) {
            const auto [v, columns] = live[i];
            const int64_t degree = graph.indptr[v + 1] - graph.indptr[v], width = __builtin_popcountll(columns);
            ++visits;
            edges += degree;
            pairs += width;
            pair_edges += width * degree;
            for (int64_t e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
                auto& [next, seen] = vertices[graph.indices[e]];
                if (seen == everything) continue;
                const uint64_t fresh = columns & ~seen;
                rows[found] = graph.indices[e];
                found += static_cast<int64_t>(next == 0) & static_cast<int64_t>(fresh != 0);
                next |= fresh;
            }
        }
        for (int64_t i = 0; i < found; ++i) {
            auto& [next, seen] = vertices[rows[i]];
            live[i] = {rows[i], next};
            seen |= next;
            next = 0;
        }
        size = found;
    }
    return {visits, edges, pairs, pair_edges, levels};
}

}  // namespace lagbc
