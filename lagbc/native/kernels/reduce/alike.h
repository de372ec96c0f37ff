// Classes of twins, vertices with the same edges, lengths and directions, except for edges among themselves:
// lagbc/reduce/twins.py.
//
// The key of a vertex is the sum of 64 random bits for each of its edges. Vertices with equal keys are compared edge by
// edge, so that classes do not depend on the keys.
#pragma once

#include <algorithm>
#include <bit>

#include "../buffer.h"
#include "../mix.h"

namespace lagbc {

// Constants that tell edges out from edges in.
inline constexpr uint64_t way_out = 0x9E3779B97F4A7C15, way_in = 0x7F4A7C159E3779B9;

// Random bits for edge e, to v or from v, by v and its length.
LAGBC_INLINE uint64_t bits_of(int64_t v, const Optional<Span<const double>>& lengths, int64_t e, uint64_t way) {
    const uint64_t bits = mix(static_cast<uint64_t>(v) + way);
    return lengths.is_there ? mix(bits ^ std::bit_cast<uint64_t>(lengths[e])) : bits;
}

// Whether two rows are equal.
template <class Index>
bool are_equal(const Csr<Index>& graph, int64_t u, int64_t v) {
    const int64_t a = graph.indptr[u], b = graph.indptr[v], size = graph.indptr[u + 1] - a;
    if (size != graph.indptr[v + 1] - b) return false;
    for (int64_t k = 0; k < size; ++k) {
        if (graph.indices[a + k] != graph.indices[b + k]) return false;
        if (graph.lengths.is_there && graph.lengths[a + k] != graph.lengths[b + k]) return false;
    }
    return true;
}

// Whether two rows are equal except that each has the other's vertex, with one length.
template <class Index>
bool are_equal_apart(const Csr<Index>& graph, int64_t u, int64_t v) {
    const auto& [indptr, indices, lengths] = graph;
    int64_t a = indptr[u], b = indptr[v], to_v = -1, to_u = -1;
    const int64_t a_end = indptr[u + 1], b_end = indptr[v + 1];
    if (a_end - a != b_end - b) return false;
    while (true) {
        if (a < a_end && indices[a] == v) to_v = a++;
        if (b < b_end && indices[b] == u) to_u = b++;
        if (a == a_end || b == b_end) break;
        if (indices[a] != indices[b] || (lengths.is_there && lengths[a] != lengths[b])) return false;
        ++a;
        ++b;
    }
    if (a < a_end || b < b_end || to_v < 0 || to_u < 0) return false;
    return !lengths.is_there || lengths[to_v] == lengths[to_u];
}

// Whether all edges lead both ways: the transpose `into` is the graph itself.
template <class Index>
bool is_own_transpose(const Csr<Index>& out, const Csr<Index>& into) {
    return out.indptr.data == into.indptr.data;
}

// Add to the keys of vertices first to last the bits of their edges.
template <class Index>
void sum_keys(const Csr<Index>& out, const Csr<Index>& into, int64_t first, int64_t last, Span<uint64_t> keys) {
    const auto add = [&](const Csr<Index>& graph, uint64_t way) {
        for (int64_t v = first; v < last; ++v)
            for (int64_t e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e)
                keys[v] += bits_of(graph.indices[e], graph.lengths, e, way);
    };
    add(out, way_out);
    if (!is_own_transpose(out, into)) add(into, way_in);
}

// Find open classes, without edges among their vertices; return for each vertex the smallest vertex of its class. A
// hash table has the first vertex of each class.
template <class Index>
Buffer<Index> join_open(const Csr<Index>& out, const Csr<Index>& into, Span<const uint64_t> keys) {
    const bool one_way = !is_own_transpose(out, into);
    Buffer<Index> first(keys.size);
    int64_t slots = 2;
    while (slots < 2 * keys.size) slots *= 2;
    Buffer<Index> table(slots, -1);
    const uint64_t mask = static_cast<uint64_t>(slots) - 1;
    for (Index v = 0; v < keys.size; ++v) {
        auto slot = static_cast<int64_t>(keys[v] & mask);
        const auto is_other = [&](Index u) {
            return keys[u] != keys[v] || !are_equal(out, u, v) || (one_way && !are_equal(into, u, v));
        };
        while (table[slot] >= 0 && is_other(table[slot])) slot = (slot + 1) & (slots - 1);
        if (table[slot] < 0) table[slot] = v;
        first[v] = table[slot];
    }
    return first;
}

// Find closed classes, with all edges among their vertices, both ways and of one length: write the smallest vertex of
// the class of each vertex from first to last, unless it is that itself, to `smallest`, and to `closed` that it is in a
// class.
//
// A class is a clique: each of its vertices is a neighbour of the smallest. No vertex has twins of both kinds: with x,
// y open and x, z closed, y would be a neighbour of z, and so of x.
template <class Index>
void join_closed(const Csr<Index>& out, const Csr<Index>& into, Span<const uint64_t> keys, int64_t first, int64_t last,
                 Span<Index> smallest, Span<bool> closed) {
    const bool one_way = !is_own_transpose(out, into);
    // The key of v with the term that v has in the key of a neighbour, with edges both ways as long as edge e.
    const auto key_of = [&](int64_t v, int64_t e) {
        const uint64_t key = keys[v] + bits_of(v, out.lengths, e, way_out);
        return one_way ? key + bits_of(v, out.lengths, e, way_in) : key;
    };
    for (int64_t v = first; v < last; ++v) {
        for (int64_t e = out.indptr[v]; e < out.indptr[v + 1]; ++e) {
            const Index u = out.indices[e];
            if (u > v) break;
            if (key_of(u, e) != key_of(v, e) || !are_equal_apart(out, u, v)) continue;
            if (one_way && !are_equal_apart(into, u, v)) continue;
            smallest[v] = u;
            closed[v] = true;
            break;
        }
    }
}

}  // namespace lagbc
