// Shortest paths in hops between random pairs of vertices: of a pair each path is drawn as likely as any other.
//
// Two searches of a pair (s, t) take turns, a level at a time, one from s and one, against the edges, from t: the next
// is the one whose frontier has fewer edges. Their halves meet at the first edges (v, w) from a vertex of the first to
// one of the second: these lead from the last level of one half to the last level of the other, each shortest path has
// exactly one of them, and sigma_s(v) sigma_t(w) paths have this one. One edge is drawn by these numbers, and from it
// on, towards s and towards t, a vertex of the level before by its sigma: each path has the probability 1 / sigma_st.
//
// A sample costs O(edges of the frontiers): nothing of length n is cleared for it. Most of these edges are of the level
// at which the halves meet, and few of them lead to the other half. So this level is looked through apart, some edges
// at a time; other levels go without branches that no processor foresees, and rows are read ahead. Together that gains
// 1.6 to 2.4 times.
//
// Path counts are only added and multiplied: if their total is finite, so are all on the paths. Else the pair is
// searched again with `Extended` numbers.
//
// The pairs are those of M. Borassi and E. Natale, KADABRA is an adaptive algorithm for betweenness via random
// approximation, ESA 2016.
#pragma once

#include <tuple>

#include "../buffer.h"
#include "../extended/number.h"
#include "../memory.h"
#include "../mix.h"

namespace lagbc {

// The random numbers of a sample, by seed and number of the sample alone.
class Random {
public:
    Random(uint64_t seed, int64_t sample) : state_(mix(seed ^ mix(static_cast<uint64_t>(sample) + step))) {}

    double in_unit_interval() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // without 1
    int64_t below(int64_t n) {
        return static_cast<int64_t>(static_cast<unsigned __int128>(bits()) * static_cast<uint64_t>(n) >> 64);
    }

private:
    static constexpr uint64_t step = 0x9E3779B97F4A7C15;
    uint64_t bits() { return mix(state_ += step); }
    uint64_t state_;
};

// Path counts are doubles or `Extended`; a share is that of a part, at most the whole.
LAGBC_INLINE void set_one(double& count) {
    count = 1.0;
}
LAGBC_INLINE void set_one(Extended& count) {
    count = extended(1.0, 0);
}
LAGBC_INLINE double add(double a, double b) {
    return a + b;
}
LAGBC_INLINE double multiply(double a, double b) {
    return a * b;
}
LAGBC_INLINE double share(double part, double whole) {
    return part / whole;
}
LAGBC_INLINE double share(Extended part, Extended whole) {
    return shifted(part.mantissa / whole.mantissa, part.exponent - whole.exponent);
}
LAGBC_INLINE bool is_counted(double total) {
    return total < infinity;
}
LAGBC_INLINE bool is_counted(Extended) {
    return true;
}

// The edge drawn among those between the halves: the places of its ends, in the half of s and in the half of t.
template <class Count>
struct Bridge {
    bool is_there = false;
    Count total{};  // of paths, by all such edges so far
    int64_t ends[2] = {0, 0};
};

// One of the two searches of a pair. Its vertices stand by their distance at places: 1, 2, ... from the front of the
// arrays on for the half of s (way 1), -1, -2, ... from their back on for that of t (way -1). `places[v]` is 0 for a
// vertex in neither. No vertex is in both: the arrays have room for both, for place 0 of each, and for one more place.
template <class Index, class Count, int way>
struct Half {
    const Csr<Index>& graph;
    Span<Index> places;
    Index *order, *starts;  // the vertex at a place; level l begins at place starts[way * l]
    Count* sigma;
    int64_t level = 0, edges = 0;  // the last level, and the count of edges out of it
    int64_t end = 2 * way;         // the place after the last vertex, of the next level or before

    Half(const Csr<Index>& graph, Span<Index> places, Span<Index> of_order, Span<Index> of_starts, Span<Count> of_sigma,
         int64_t origin)
        : graph(graph),
          places(places),
          order(at_begin(of_order)),
          starts(at_begin(of_starts)),
          sigma(at_begin(of_sigma)) {
        order[way] = static_cast<Index>(origin);
        places[origin] = way;
        set_one(sigma[way]);
        starts[0] = way;
        starts[way] = 2 * way;
        edges = graph.indptr[origin + 1] - graph.indptr[origin];
    }

    // Search the next level, or, if the halves meet, draw the bridge; return the count of edges looked at.
    template <class Other>
    int64_t advance(const Other& other, Bridge<Count>& bridge, Random& random) {
        const int64_t first = starts[way * level], last = starts[way * (level + 1)], looked_at = edges;
        int64_t at = end;  // `end`, in a register
        for (int64_t k = first; k != last; k += way) {
            read_ahead(k);
            const int64_t v = order[k];
            const Count more[2] = {Count{}, sigma[k]};  // paths to a vertex of a former level, and of the next
            for (int64_t e = graph.indptr[v], stop = graph.indptr[v + 1]; e < stop; ++e) {
                const int64_t w = graph.indices[e], found = places[w];
                __builtin_prefetch(&graph.indptr[w]);  // for the count of edges out of the level
                if (way * found < 0) {
                    end = at;
                    meet(other, k, e, last, bridge, random);
                    return looked_at;
                }
                const int64_t place = found == 0 ? at : found;
                order[at] = static_cast<Index>(w);
                places[w] = static_cast<Index>(place);
                const bool is_next = way > 0 ? place >= last : place <= last;
                sigma[at] = Count{};
                sigma[place] = add(sigma[place], more[is_next]);
                at += found == 0 ? way : 0;
            }
        }
        end = at;
        starts[way * (++level + 1)] = static_cast<Index>(end);
        edges = 0;
        for (int64_t k = last; k != end; k += way) edges += graph.indptr[order[k] + 1] - graph.indptr[order[k]];
        return looked_at;
    }

    // Call `found` for the vertices of a random path to a place of the last level, without the origin; return the count
    // of edges looked at. `against` has the edges against the search.
    template <class Call>
    int64_t draw(int64_t place, const Csr<Index>& against, Random& random, const Call& found) const {
        int64_t looked_at = 0;
        for (int64_t l = level; l > 0; --l) {
            const int64_t v = order[place];
            found(v);
            if (l == 1) break;
            const int64_t first = starts[way * (l - 1)], last = starts[way * l];
            const Count count = sigma[place];
            const auto size = static_cast<uint64_t>(way * (last - first));  // of the level before
            double left = random.in_unit_interval();
            int64_t e = against.indptr[v];
            for (const int64_t stop = against.indptr[v + 1]; e < stop && left >= 0.0;) {
                const int64_t before = places[against.indices[e++]];
                if (static_cast<uint64_t>(way * (before - first)) >= size) continue;  // or before `first`
                place = before;  // by rounding the last one may be left
                left -= share(sigma[before], count);
            }
            looked_at += e - against.indptr[v];
        }
        return looked_at;
    }

    // Leave all places free.
    void clear() const {
        for (int64_t k = way; k != end; k += way) places[order[k]] = 0;
    }

private:
    static constexpr int together = 4;  // edges that are looked at together: 8 and 16 are no faster

    template <class T>
    static T* at_begin(Span<T> array) {
        return way > 0 ? array.data : array.data + array.size - 1;
    }

    // Fetch the row of the vertex two places after k: some vertex is at every place, if not one of this half.
    void read_ahead(int64_t k) const { __builtin_prefetch(&graph.indices[graph.indptr[order[k + 2 * way]]]); }

    // Draw the bridge among the edges to the other half, from edge e of the vertex at place k to place `last`.
    template <class Other>
    void meet(const Other& other, int64_t k, int64_t e, int64_t last, Bridge<Count>& bridge, Random& random) const {
        const auto is_met = [&](int64_t edge) LAGBC_INLINED { return way * places[graph.indices[edge]] < 0; };
        const auto meet_at = [&](int64_t edge) LAGBC_INLINED {
            const int64_t its = places[graph.indices[edge]];
            take(bridge, k, its, multiply(sigma[k], other.sigma[its]), random);
        };
        for (; k != last; k += way, e = graph.indptr[order[k]]) {
            read_ahead(k);
            const int64_t stop = graph.indptr[order[k] + 1];
            for (; e < stop && e + together <= graph.indices.size; e += together) {  // some may be of the next row
                Index least = 0;                                                     // or any number below 0
                for (int i = 0; i < together; ++i) least |= way * places[graph.indices[e + i]];
                if (least >= 0) continue;
                int64_t met[together], count = 0;
                for (int i = 0; i < together; ++i) {
                    met[count] = e + i;
                    count += e + i < stop && is_met(e + i);
                }
                for (int64_t i = 0; i < count; ++i) meet_at(met[i]);
            }
            for (; e < stop; ++e)
                if (is_met(e)) meet_at(e);
        }
    }

    // Keep the drawn edge, or take a new one in its place, by the counts of their paths.
    static void take(Bridge<Count>& bridge, int64_t mine, int64_t its, Count count, Random& random) {
        bridge.total = bridge.is_there ? add(bridge.total, count) : count;
        const bool is_drawn = !bridge.is_there || random.in_unit_interval() < share(count, bridge.total);
        bridge.is_there = true;
        if (!is_drawn) return;
        bridge.ends[way < 0] = mine;
        bridge.ends[way > 0] = its;
    }
};

// A worker that draws samples, and counts for each vertex the paths with it between their ends.
template <class Index>
struct PathSampler {
    Memory memory;
    const Csr<Index>*out = nullptr, *into = nullptr;  // the graph, and its transpose
    Stop stop;
    Span<Index> places, order, starts;  // (n,), (n + 3,), (n + 6,): of both halves
    Span<double> sigma;                 // (n + 3,)
    Span<Index> times, met;             // (n,): counts of each vertex, 0 between calls; the vertices with a count
    Buffer<Extended> extended;          // (n + 3,) in place of sigma, made for the first pair that needs it

    explicit PathSampler(int64_t n, bool only_counts = false)
        : memory(only_counts),
          places(memory.zeros<Index>("places", n)),
          order(memory.zeros<Index>("order", n + 3)),
          starts(memory.array<Index>("starts", n + 6)),
          sigma(memory.array<double>("sigma", n + 3)),
          times(memory.zeros<Index>("times", n)),
          met(memory.array<Index>("met", n)) {}
};

// Draw a path from one vertex to another, if there is one; false if its count is beyond `Count`.
template <class Index, class Count, class Call>
bool draw_path(const PathSampler<Index>& s, Span<Count> sigma, int64_t from, int64_t to, Random& random,
               int64_t& looked_at, const Call& found) {
    Half<Index, Count, 1> first(*s.out, s.places, s.order, s.starts, sigma, from);
    Half<Index, Count, -1> second(*s.into, s.places, s.order, s.starts, sigma, to);
    Bridge<Count> bridge;
    while (!bridge.is_there && first.edges > 0 && second.edges > 0 && !s.stop.is_set())
        looked_at +=
            first.edges <= second.edges ? first.advance(second, bridge, random) : second.advance(first, bridge, random);
    const bool is_found = bridge.is_there && is_counted(bridge.total);
    if (is_found) {
        looked_at += first.draw(bridge.ends[0], *s.into, random, found);
        looked_at += second.draw(bridge.ends[1], *s.out, random, found);
    }
    first.clear();
    second.clear();
    return is_found || !bridge.is_there;
}

// Draw the samples first to last, a random pair and a path each. Return the vertices between the ends of paths, the
// number of paths of each, and the count of edges looked at; they are worth nothing once the stop flag is set.
template <class Index>
std::tuple<Buffer<Index>, Buffer<int64_t>, int64_t> draw_paths(PathSampler<Index>& s, uint64_t seed, int64_t first,
                                                               int64_t last) {
    const int64_t n = s.places.size;
    int64_t count = 0, looked_at = 0;
    const auto found = [&](int64_t v) LAGBC_INLINED {
        if (s.times[v]++ == 0) s.met[count++] = static_cast<Index>(v);
    };
    for (int64_t sample = first; sample < last && !s.stop.is_set(); ++sample) {
        Random random(seed, sample);
        const int64_t from = random.below(n), other = random.below(n - 1), to = other + (other >= from);
        if (draw_path(s, s.sigma, from, to, random, looked_at, found)) continue;
        if (s.extended.size() == 0) s.extended.resize(n + 3);
        draw_path(s, s.extended.span(), from, to, random, looked_at, found);
    }
    Buffer<Index> vertices(count);
    Buffer<int64_t> times(count);
    for (int64_t i = 0; i < count; ++i) {
        vertices[i] = s.met[i];
        times[i] = s.times[s.met[i]];
        s.times[s.met[i]] = 0;
    }
    return {std::move(vertices), std::move(times), looked_at};
}

}  // namespace lagbc
