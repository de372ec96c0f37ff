// Breadth-first search and weakly connected components: lagbc/graph/host.py.
#pragma once

#include <tuple>

#include "../buffer.h"

namespace lagbc {

// A level is pulled from if its vertices have more than `pull_edges` of all edges; they are counted if the level has
// more than `count_vertices` of all vertices.
inline constexpr double pull_edges = 1.0 / 16, count_vertices = 1.0 / 256;

// The root of v in a forest of labels; the path is halved on the way.
template <class Index>
Index root_of(Span<Index> labels, Index v) {
    while (labels[v] != v) {
        labels[v] = labels[labels[v]];
        v = labels[v];
    }
    return v;
}

// The weakly connected component of each vertex, numbered from 0 in the order of their first vertices. The ends of each
// edge are joined at the smaller root of their two trees: in the end the root is the first vertex of its component.
template <class Index>
Buffer<Index> find_components(Span<const int64_t> indptr, Span<const Index> indices) {
    const auto n = static_cast<Index>(indptr.size - 1);
    Buffer<Index> made(n);
    const Span<Index> labels = made.span();
    for (Index v = 0; v < n; ++v) labels[v] = v;
    for (Index v = 0; v < n; ++v) {
        Index a = root_of(labels, v);
        for (int64_t e = indptr[v]; e < indptr[v + 1]; ++e) {
            const Index b = root_of(labels, indices[e]);
            if (a < b) {
                labels[b] = a;
            } else if (b < a) {
                labels[a] = b;
                a = b;
            }
        }
    }
    Index count = 0;
    for (Index v = 0; v < n; ++v) {
        // A vertex that is no root takes the number of a smaller one.
        labels[v] = labels[v] == v ? count++ : labels[labels[v]];
    }
    return made;
}

// Search a symmetric pattern from distinct roots, level by level: from the vertices of a level, or, where these have
// many edges, from the vertices not yet found. Return the count of vertices in reach.
//
// distances  hops from the nearest root; -1 out of reach
// queue      the vertices in reach, by their distances; with room for one more
template <class Index>
int64_t search(Span<const int64_t> indptr, Span<const Index> indices, Span<const int64_t> roots, Span<Index> distances,
               Span<Index> queue) {
    const int64_t n = distances.size;
    int64_t found = 0, first = 0;
    Index level = 0;
    distances.fill(-1);
    for (const int64_t root : roots) {
        distances[root] = 0;
        queue[found++] = static_cast<Index>(root);
    }
    while (first < found) {
        const int64_t last = found;
        int64_t edges = 0;
        ++level;
        if (static_cast<double>(last - first) > static_cast<double>(n) * count_vertices)
            for (int64_t i = first; i < last; ++i) edges += indptr[queue[i] + 1] - indptr[queue[i]];
        if (static_cast<double>(edges) > static_cast<double>(indices.size) * pull_edges) {
            for (int64_t v = 0; v < n; ++v) {
                if (distances[v] >= 0) continue;
                for (int64_t e = indptr[v]; e < indptr[v + 1]; ++e) {
                    if (distances[indices[e]] == level - 1) {
                        distances[v] = level;
                        queue[found++] = static_cast<Index>(v);
                        break;
                    }
                }
            }
        } else {
            for (int64_t i = first; i < last; ++i) {
                const int64_t end = indptr[queue[i] + 1];
                for (int64_t e = indptr[queue[i]]; e < end; ++e) {
                    // Without a branch, as no processor foretells which vertices are new: of these `fresh` is all ones.
                    const Index v = indices[e], before = distances[v];
                    const auto fresh = static_cast<Index>(before >> (8 * sizeof(Index) - 1));
                    queue[found] = v;
                    found -= fresh;
                    distances[v] = static_cast<Index>(before ^ ((before ^ level) & fresh));
                }
            }
        }
        first = last;
    }
    return found;
}

// `search` for Python: distances and the vertices in reach.
template <class Index>
std::tuple<Buffer<Index>, Buffer<Index>> search_from(Span<const int64_t> indptr, Span<const Index> indices,
                                                     Span<const int64_t> roots) {
    const int64_t n = indptr.size - 1;
    Buffer<Index> distances(n), queue(n + 1);
    queue.resize(search(indptr, indices, roots, distances.span(), queue.span()));
    return {std::move(distances), std::move(queue)};
}

// The first of the longest rows, and the count of rows with entries; of the largest component, if these are given.
template <class Index>
std::tuple<int64_t, int64_t> widest_row(Span<const int64_t> indptr, Optional<Span<const Index>> components) {
    const int64_t n = indptr.size - 1;
    Index largest = 0;
    if (components.is_there) {
        Buffer<int64_t> sizes(n, 0);
        for (const Index component : components) ++sizes[component];
        for (Index component = 1; component < n; ++component)
            if (sizes[component] > sizes[largest]) largest = component;
    }
    int64_t hub = 0, longest = -1, connected = 0;
    for (int64_t v = 0; v < n; ++v) {
        if (components.is_there && components[v] != largest) continue;
        const int64_t length = indptr[v + 1] - indptr[v];
        connected += length > 0;
        if (length > longest) {
            hub = v;
            longest = length;
        }
    }
    return {hub, connected};
}

// The depth of a search from the widest row, the count of vertices in reach, and the count of rows with entries.
template <class Index>
std::tuple<int64_t, int64_t, int64_t> search_from_hub(Span<const int64_t> indptr, Span<const Index> indices,
                                                      Optional<Span<const Index>> components) {
    const auto [hub, connected] = widest_row<Index>(indptr, components);
    Buffer<Index> distances(indptr.size - 1), queue(indptr.size);
    const int64_t found = search(indptr, indices, Span<const int64_t>{&hub, 1}, distances.span(), queue.span());
    return {distances[queue[found - 1]], found, connected};
}

// Let rows join, at this level, the searches that the heads of their edges have just joined; return whether any does.
// `hubs` has a bit for each search, and so have the numbers of rows.
template <class Index>
bool join_searches(Span<const int64_t> indptr, Span<const Index> indices, int64_t first, int64_t last, int64_t level,
                   uint16_t hubs, Span<const uint16_t> frontier, Span<uint16_t> seen, Span<uint16_t> joined,
                   Matrix<uint8_t> distances) {
    bool any_joined = false;
    for (int64_t v = first; v < last; ++v) {
        const auto wanted = static_cast<uint16_t>(hubs & ~seen[v]);
        uint16_t met = 0;
        for (int64_t e = indptr[v]; met != wanted && e < indptr[v + 1]; ++e)
            met = static_cast<uint16_t>(met | (frontier[indices[e]] & wanted));
        joined[v] = met;
        if (met == 0) continue;
        any_joined = true;
        seen[v] = static_cast<uint16_t>(seen[v] | met);
        for (int64_t hub = 0; hub < distances.size; ++hub)
            if ((met >> hub & 1) != 0) distances[hub][v] = static_cast<uint8_t>(level);
    }
    return any_joined;
}

}  // namespace lagbc
