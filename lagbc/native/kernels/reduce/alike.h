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

// The search for classes in a graph and its transpose, the same object if all edges lead both ways.
template <class Index>
class Alike {
public:
    Alike(const Csr<Index>& out, const Csr<Index>& into)
        : out_(out), into_(into), is_symmetric_(out.indptr.data == into.indptr.data) {}

    // The sum of the bits of each vertex's edges.
    Buffer<uint64_t> keys() const {
        Buffer<uint64_t> keys(out_.n(), 0);
        add_keys(out_, way_out, keys);
        if (!is_symmetric_) add_keys(into_, way_in, keys);
        return keys;
    }

    // Join vertices with equal rows, by a hash table of the first vertex of each class.
    void join_open(Span<const uint64_t> keys, Span<Index> first) const {
        int64_t slots = 2;
        while (slots < 2 * keys.size) slots *= 2;
        Buffer<Index> table(slots, -1);
        const uint64_t mask = static_cast<uint64_t>(slots) - 1;
        for (Index v = 0; v < keys.size; ++v) {
            auto slot = static_cast<int64_t>(keys[v] & mask);
            const auto is_other = [&](Index u) {
                return keys[u] != keys[v] || !are_equal(out_, u, v) || (!is_symmetric_ && !are_equal(into_, u, v));
            };
            while (table[slot] >= 0 && is_other(table[slot])) slot = (slot + 1) & (slots - 1);
            if (table[slot] < 0)
                table[slot] = v;
            else
                first[v] = table[slot];
        }
    }

    // Join neighbours whose rows are equal except for each other, and mark them. A class is a clique: each of its
    // vertices is a neighbour of the first.
    void join_closed(Span<uint64_t> keys, Span<Index> first, Span<bool> closed) const {
        const bool in_hops = !out_.lengths.is_there;
        if (in_hops)
            for (int64_t v = 0; v < keys.size; ++v) keys[v] += own_bits(v, 0);
        for (Index v = 0; v < keys.size; ++v) {
            for (int64_t e = out_.indptr[v]; e < out_.indptr[v + 1]; ++e) {
                const Index u = out_.indices[e];
                if (u > v) break;
                const uint64_t to_v = in_hops ? 0 : own_bits(v, e), to_u = in_hops ? 0 : own_bits(u, e);
                if (keys[u] + to_u != keys[v] + to_v || !are_equal_apart(out_, u, v)) continue;
                if (!is_symmetric_ && !are_equal_apart(into_, u, v)) continue;
                first[v] = first[u];
                closed[u] = closed[v] = true;
                break;
            }
        }
    }

private:
    void add_keys(const Csr<Index>& graph, uint64_t way, const Buffer<uint64_t>& keys) const {
        for (int64_t v = 0; v < graph.n(); ++v)
            for (int64_t e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e)
                keys[v] += bits_of(graph.indices[e], graph.lengths, e, way);
    }

    // The term of v in the key of a neighbour, with edges both ways as long as edge e.
    uint64_t own_bits(int64_t v, int64_t e) const {
        const uint64_t bits = bits_of(v, out_.lengths, e, way_out);
        return is_symmetric_ ? bits : bits + bits_of(v, out_.lengths, e, way_in);
    }

    const Csr<Index>&out_, &into_;
    bool is_symmetric_;
};

// The key of each vertex.
template <class Index>
Buffer<uint64_t> sum_keys(const Csr<Index>& out, const Csr<Index>& into) {
    return Alike<Index>(out, into).keys();
}

// Find open classes, without edges among their vertices; return for each vertex the smallest vertex of its class.
template <class Index>
Buffer<Index> join_open(const Csr<Index>& out, const Csr<Index>& into, Span<const uint64_t> keys) {
    Buffer<Index> first(keys.size);
    for (Index v = 0; v < keys.size; ++v) first[v] = v;
    Alike<Index>(out, into).join_open(keys, first.span());
    return first;
}

// Find closed classes, with all edges among their vertices, both ways and of one length: write their smallest vertices
// to `first`; return for each vertex whether it is in one. Keys are changed.
//
// No vertex has twins of both kinds: with x, y open and x, z closed, y would be a neighbour of z, and so of x.
template <class Index>
Buffer<bool> join_closed(const Csr<Index>& out, const Csr<Index>& into, Span<uint64_t> keys, Span<Index> first) {
    Buffer<bool> closed(keys.size, false);
    Alike<Index>(out, into).join_closed(keys, first, closed.span());
    return closed;
}

}  // namespace lagbc
