// Searches for the highest closeness or harmonic centralities: a search ends where bounds tell that its root is none of
// them. lagbc/centrality/highest.py.
//
// The search from a root has found r others up to the distance d, and S is the sum over them of their distances, or of
// their inverses. Of R others in all at most g are at the distance d + 1, as the edges of level d tell, of which one is
// that by which a vertex was found if edges go both ways. So the sum over all is, for distances, and for their
// inverses,
//
//     >= S + (d + 1) h + (d + 2) (R - r - h),     <= S + h / (d + 1) + (R - r - h) / (d + 2),     h = min(g, R - r)
//
// Of R an upper bound is known. Between r, r + g and this one the bound of closeness, R / (n - 1) R / sum, is convex in
// R, and R / sum monotone: the highest is at one of the three.
#pragma once

#include <algorithm>
#include <tuple>

#include "../buffer.h"
#include "../memory.h"

namespace lagbc {

// The score, as far as bounds need it.
struct Scored {
    int64_t n;
    bool inverse;   // harmonic: the sum of inverse distances
    bool share;     // closeness times R / (n - 1)
    bool is_exact;  // whether R is known, and not a bound

    LAGBC_INLINE double term(int64_t count, int64_t distance) const {
        const auto many = static_cast<double>(count), far = static_cast<double>(distance);
        return inverse ? many / far : many * far;
    }

    LAGBC_INLINE double score(int64_t reached, double sum) const {
        if (inverse || reached == 0) return sum;
        const auto all = static_cast<double>(reached);
        return share ? all / static_cast<double>(n - 1) * (all / sum) : all / sum;
    }

    // The most that a score may be: `all` others at most, `found` of them in `sum`, and `onward` at most one farther
    // than `depth`.
    LAGBC_INLINE double most(int64_t all, int64_t found, double sum, int64_t onward, int64_t depth) const {
        const int64_t following = std::min(onward, all - found), rest = all - found - following;
        const double near = sum + term(following, depth + 1), whole = near + term(rest, depth + 2);
        if (inverse || is_exact) return score(all, whole);
        return std::max({score(found, sum), score(found + following, near), score(all, whole)});
    }
};

// Searches from 64 roots at once, along the edges of `out`.
template <class Index>
struct BoundedSearch {
    Memory memory;
    Scored scored{};
    const Csr<Index>*out = nullptr, *into = nullptr;  // the graph, and its transpose
    Span<const int64_t> reach;                        // (n,): at most so many others are reached from each vertex
    double pull_share = 0;                            // see batched/levels.h
    int64_t edges = 0;                                // that searches looked at
    Span<uint64_t> visited, here, following;          // (n,): columns; zeros before and after a search
    Matrix<Index> lists;                              // (2, n): the vertices of two levels
    Span<Index> touched;                              // (n,): visited ones

    explicit BoundedSearch(int64_t n, bool only_counts = false)
        : memory(only_counts),
          visited(memory.zeros<uint64_t>("visited", n)),
          here(memory.zeros<uint64_t>("here", n)),
          following(memory.zeros<uint64_t>("following", n)),
          lists(memory.matrix<Index>("lists", 2, n)),
          touched(memory.array<Index>("touched", n)) {}

    int64_t degree(int64_t v) const { return out->indptr[v + 1] - out->indptr[v]; }
};

// Write the vertices of the next level to `found`, with their columns; return their count.
template <class Index>
int64_t step(BoundedSearch<Index>& s, Span<const Index> level, uint64_t live, Span<Index> found) {
    int64_t edges = 0, count = 0;
    for (const Index v : level) edges += s.degree(v);
    if (static_cast<double>(edges) > s.pull_share * static_cast<double>(s.out->indices.size)) {
        const Csr<Index>& into = *s.into;
        for (int64_t v = 0; v < into.n(); ++v) {
            const uint64_t wanted = live & ~s.visited[v];
            if (wanted == 0) continue;
            uint64_t met = 0;
            int64_t e = into.indptr[v];
            for (; e < into.indptr[v + 1] && met != wanted; ++e) met |= s.here[into.indices[e]] & wanted;
            s.edges += e - into.indptr[v];
            if (met == 0) continue;
            s.following[v] = met;
            found[count++] = static_cast<Index>(v);
        }
        return count;
    }
    const Csr<Index>& out = *s.out;
    for (const Index v : level) {
        const uint64_t mask = s.here[v] & live;
        if (mask == 0) continue;
        s.edges += s.degree(v);
        for (int64_t e = out.indptr[v]; e < out.indptr[v + 1]; ++e) {
            const Index w = out.indices[e];
            const uint64_t fresh = mask & ~s.visited[w];
            if (fresh == 0) continue;
            if (s.following[w] == 0) found[count++] = w;
            s.following[w] |= fresh;
        }
    }
    return count;
}

// Whether each of some columns is in a mask.
inline Buffer<bool> flags_of(uint64_t mask, int64_t count) {
    Buffer<bool> flags(count);
    for (int64_t k = 0; k < count; ++k) flags[k] = (mask >> k & 1) != 0;
    return flags;
}

// Search from up to 64 roots, each to its end unless its score is below `least`. Return for each the count and the sum
// of the vertices found, whether it was searched to its end, and whether it is to be searched again: where fewer than
// half of the roots are left, they share too few levels, unless all go `to_the_end`.
template <class Index>
std::tuple<Buffer<int64_t>, Buffer<double>, Buffer<bool>, Buffer<bool>> search_bounded(BoundedSearch<Index>& s,
                                                                                       Span<const int64_t> roots,
                                                                                       double least, bool to_the_end,
                                                                                       Stop stop) {
    const int64_t back = s.out == s.into ? 1 : 0;
    Buffer<int64_t> reached(roots.size, 0), onward(roots.size);
    Buffer<double> sums(roots.size, 0.0);
    int64_t found[columns], leaving[columns];
    uint64_t live = 0, ended = 0, again = 0;
    int64_t size = 0, touched = 0;
    for (int64_t k = 0; k < roots.size; ++k) {
        const auto v = static_cast<Index>(roots[k]);
        s.here[v] = s.visited[v] = uint64_t{1} << k;
        s.lists[0][size++] = s.touched[touched++] = v;
        onward[k] = s.degree(v);
        live |= uint64_t{1} << k;
    }
    int64_t depth = 0;
    for (; !stop.is_set(); ++depth) {
        for (uint64_t left = live; left != 0; left &= left - 1) {
            const int k = __builtin_ctzll(left);
            if (s.scored.most(s.reach[roots[k]], reached[k], sums[k], onward[k], depth) < least)
                live &= ~(uint64_t{1} << k);
        }
        if (!to_the_end && depth > 1 && 2 * __builtin_popcountll(live) < roots.size) again = std::exchange(live, 0);
        if (live == 0) break;
        const Span<Index> level{s.lists[depth % 2].data, size}, next = s.lists[(depth + 1) % 2];
        size = step(s, Span<const Index>(level), live, next);
        for (const Index v : level) s.here[v] = 0;
        std::swap(s.here, s.following);
        std::fill_n(found, columns, 0);
        std::fill_n(leaving, columns, 0);
        for (int64_t i = 0; i < size; ++i) {
            const Index v = next[i];
            if (s.visited[v] == 0) s.touched[touched++] = v;
            s.visited[v] |= s.here[v];
            for (uint64_t left = s.here[v]; left != 0; left &= left - 1) {
                const int k = __builtin_ctzll(left);
                ++found[k];
                leaving[k] += s.degree(v) - back;
            }
        }
        for (uint64_t left = live; left != 0; left &= left - 1) {
            const int k = __builtin_ctzll(left);
            const int64_t count = found[k];
            if (count == 0) {
                ended |= uint64_t{1} << k;
                live &= ~(uint64_t{1} << k);
            }
            reached[k] += count;
            sums[k] += s.scored.term(count, depth + 1);
            onward[k] = leaving[k];
        }
    }
    for (const Index v : Span<Index>{s.lists[depth % 2].data, size}) s.here[v] = 0;
    for (int64_t i = 0; i < touched; ++i) s.visited[s.touched[i]] = 0;
    return {std::move(reached), std::move(sums), flags_of(ended, roots.size), flags_of(again, roots.size)};
}

// The most that the score of each vertex may be, by counts of walks: at distance d there are at most as many vertices
// as walks of d edges lead to. Where edges go both ways, walks do not turn back on the edge by which they came.
template <class Index>
Buffer<double> bound_scores(const BoundedSearch<Index>& s, int64_t depth) {
    const Csr<Index>& out = *s.out;
    const int64_t n = out.n();
    Buffer<int64_t> before(n, 1), walks(n), longer(n), found(n);
    Buffer<double> sums(n), bounds(n, 0.0);
    for (int64_t v = 0; v < n; ++v) {
        walks[v] = found[v] = std::min(s.degree(v), s.reach[v]);
        sums[v] = s.scored.term(found[v], 1);
    }
    for (int64_t d = 2; d <= depth; ++d) {
        for (int64_t v = 0; v < n; ++v) {
            int64_t ahead = 0;
            for (int64_t e = out.indptr[v]; e < out.indptr[v + 1]; ++e) ahead += walks[out.indices[e]];
            if (s.out == s.into) ahead -= d == 2 ? s.degree(v) : before[v] * (s.degree(v) - 1);
            longer[v] = std::clamp<int64_t>(ahead, 0, n);
            if (d == depth) continue;
            bounds[v] = std::max(bounds[v], s.scored.is_exact ? 0.0 : s.scored.score(found[v], sums[v]));
            const int64_t more = std::min(longer[v], s.reach[v] - found[v]);
            found[v] += more;
            sums[v] += s.scored.term(more, d);
        }
        std::swap(before, walks);
        std::swap(walks, longer);
    }
    for (int64_t v = 0; v < n; ++v)
        if (s.reach[v] > 0)
            bounds[v] = std::max(bounds[v], s.scored.most(s.reach[v], found[v], sums[v], walks[v], depth - 1));
    return bounds;
}

// The sum of the inverse distances from `roots` to a vertex, from which the edges of `graph` lead back, added up as in
// a run: by the levels of a panel or one by one, panels to chunks, and chunks.
template <class Index>
double sum_inverses(const Csr<Index>& graph, int64_t vertex, Span<const int64_t> roots, int64_t panel, int64_t chunk,
                    bool by_levels) {
    Buffer<Index> dist(graph.n(), -1), queue(graph.n()), near(panel);
    int64_t size = 1;
    queue[0] = static_cast<Index>(vertex);
    dist[vertex] = 0;
    for (int64_t i = 0; i < size; ++i) {
        const Index v = queue[i];
        for (int64_t e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
            const Index w = graph.indices[e];
            if (dist[w] >= 0) continue;
            dist[w] = dist[v] + 1;
            queue[size++] = w;
        }
    }
    double total = 0.0, of_chunk = 0.0;
    for (int64_t first = 0; first < roots.size; first += panel) {
        int64_t count = 0;
        for (int64_t i = first; i < std::min(first + panel, roots.size); ++i)
            if (dist[roots[i]] > 0) near[count++] = dist[roots[i]];
        if (by_levels) std::sort(near.data(), near.data() + count);
        double sum = 0.0;
        for (int64_t i = 0, same = 1; i < count; i += same, same = 1) {
            while (by_levels && i + same < count && near[i + same] == near[i]) ++same;
            sum += static_cast<double>(same) / static_cast<double>(near[i]);
        }
        of_chunk += sum;
        if ((first + panel) % chunk == 0) total += std::exchange(of_chunk, 0.0);
    }
    return total + of_chunk;
}

// The most vertices that each reaches, itself among them, along the arcs between strong components, which lead to
// smaller numbers. What the largest one reaches is counted once; of others, sums over arcs may count a component
// several times.
template <class Index>
Buffer<int64_t> bound_reach(Span<const Index> component, Span<const int64_t> member_ptr, Span<const int64_t> arc_ptr,
                            Span<const Index> heads) {
    const int64_t count = member_ptr.size - 1, n = component.size;
    Buffer<bool> below(count, false), above(count, false);  // whether the largest reaches a component, or is reached
    Buffer<int64_t> reach(count), beside(count);            // `beside`: without what is below the largest
    int64_t largest = 0, whole = 0;
    const auto size = [&](int64_t c) { return member_ptr[c + 1] - member_ptr[c]; };
    for (int64_t c = 1; c < count; ++c)
        if (size(c) > size(largest)) largest = c;
    if (count > 0) below[largest] = above[largest] = true;
    for (int64_t c = largest; c >= 0 && count > 0; --c) {
        if (!below[c]) continue;
        whole += size(c);
        for (int64_t e = arc_ptr[c]; e < arc_ptr[c + 1]; ++e) below[heads[e]] = true;
    }
    for (int64_t c = 0; c < count; ++c) {
        int64_t all = size(c), without = below[c] ? 0 : size(c);
        for (int64_t e = arc_ptr[c]; e < arc_ptr[c + 1]; ++e) {
            const Index d = heads[e];
            above[c] = above[c] || above[d];
            all = std::min(n, all + reach[d]);
            without = std::min(n, without + beside[d]);
        }
        beside[c] = without;
        reach[c] = std::min({n, all, above[c] ? whole + without : n});
    }
    Buffer<int64_t> of_vertices(n);
    for (int64_t v = 0; v < n; ++v) of_vertices[v] = reach[component[v]];
    return of_vertices;
}

}  // namespace lagbc
