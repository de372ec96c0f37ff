// Shortest paths in hops between random pairs of vertices: of a pair each path is drawn as likely as any other.
//
// Two searches of a pair (s, t) go on a level at a time, one from s and one, against the edges, from t: next is the one
// whose frontier has fewer edges. While no edge leads from what the first has found to what the second has, d(s, t) is
// more than the levels of both together. So once there are such edges (v, w), all of them lead from the last level of
// the one to the last level of the other, each shortest path has exactly one of them, and sigma_s(v) sigma_t(w) paths
// have this one. One edge is drawn by these numbers, and from it on, towards s and towards t, vertices of the level
// before by their sigma: in all, each path with the probability 1 / sigma_st.
//
// A sample costs as much as the edges of the frontiers are many; nothing of a length of n is cleared for it.
//
// Path counts are added and multiplied alone. So where their total is finite, all on the paths are, and else the pair
// is searched again, by numbers with an exponent of their own.
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

// Random numbers of a sample, by its number alone, whoever draws it.
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

// Path counts, as doubles or with an exponent; `share` is of a part of a number, that is at most the whole.
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

// The edge that is drawn of those from one search to the other: the places of its ends, that of s before that of t.
template <class Count>
struct Bridge {
    bool is_there = false;
    Count total{};  // count of the paths of all such edges so far
    int64_t ends[2] = {0, 0};
};

// One of the two searches of a pair. Its vertices stand in the order of their distance, at places from 0 on: of the
// search from s from the front of the arrays on (way 1), of that from t from their back (way -1). As no vertex is of
// both, the arrays have room for both. `places[v]` is 0 for a vertex of neither, else its place + 1, times the way.
template <class Index, class Count, int way>
struct Half {
    const Csr<Index>& graph;
    Span<Index> places;
    Index *order, *starts;  // the vertex at place k, and the place where level l begins, at way * k and way * l
    Count* sigma;
    int64_t level = 0, edges = 0;  // the last level, and the count of edges out of it
    int64_t end = 0;               // count of vertices, those of the next level among them

    Half(const Csr<Index>& graph, Span<Index> places, Span<Index> of_order, Span<Index> of_starts, Span<Count> of_sigma,
         int64_t origin)
        : graph(graph),
          places(places),
          order(at_begin(of_order)),
          starts(at_begin(of_starts)),
          sigma(at_begin(of_sigma)) {
        Count one;
        set_one(one);
        put(origin, one);
        starts[0] = 0;
        starts[way] = 1;
    }

    // Search a level further, or take the edges to the other half; count the edges that are looked at.
    template <class Other>
    int64_t advance(const Other& other, Bridge<Count>& bridge, Random& random) {
        const int64_t first = starts[way * level], last = starts[way * (level + 1)], looked_at = edges;
        edges = 0;
        for (int64_t k = first; k < last; ++k) {
            const int64_t v = order[way * k];
            const Count count = sigma[way * k];
            for (int64_t e = graph.indptr[v], stop = graph.indptr[v + 1]; e < stop; ++e) {
                const int64_t w = graph.indices[e], place = way * static_cast<int64_t>(places[w]);
                if (place > last)
                    sigma[way * (place - 1)] = add(sigma[way * (place - 1)], count);
                else if (place < 0)
                    take(bridge, k, -place - 1, multiply(count, other.sigma[way * (place + 1)]), random);
                else if (place == 0 && !bridge.is_there)
                    put(w, count);
            }
        }
        starts[way * (level + 2)] = static_cast<Index>(end);
        level += !bridge.is_there;
        return looked_at;
    }

    // Call `found` for the vertices of a random path from the origin to a place of the last level, but the origin;
    // count the edges that are looked at. `against` has the edges against the search.
    template <class Call>
    int64_t draw(int64_t place, const Csr<Index>& against, Random& random, const Call& found) const {
        int64_t looked_at = 0;
        for (int64_t l = level; l > 0; --l) {
            const int64_t v = order[way * place];
            found(v);
            if (l == 1) break;
            const int64_t first = starts[way * (l - 1)], last = starts[way * l];
            const Count count = sigma[way * place];
            double left = random.in_unit_interval();
            for (int64_t e = against.indptr[v], stop = against.indptr[v + 1]; e < stop && left >= 0.0; ++e) {
                const int64_t before = way * static_cast<int64_t>(places[against.indices[e]]) - 1;
                ++looked_at;
                if (before < first || before >= last) continue;
                place = before;  // by rounding the last one may be left
                left -= share(sigma[way * before], count);
            }
        }
        return looked_at;
    }

    // Leave all places free.
    void clear() const {
        for (int64_t k = 0; k < end; ++k) places[order[way * k]] = 0;
    }

private:
    template <class T>
    static T* at_begin(Span<T> array) {
        return way > 0 ? array.data : array.data + array.size - 1;
    }

    void put(int64_t v, Count count) {
        order[way * end] = static_cast<Index>(v);
        sigma[way * end] = count;
        places[v] = static_cast<Index>(way * ++end);
        edges += graph.indptr[v + 1] - graph.indptr[v];
    }

    // Draw among the edges so far by their counts: the new one in place of the one before.
    static void take(Bridge<Count>& bridge, int64_t mine, int64_t its, Count count, Random& random) {
        bridge.total = bridge.is_there ? add(bridge.total, count) : count;
        const bool is_drawn = !bridge.is_there || random.in_unit_interval() < share(count, bridge.total);
        bridge.is_there = true;
        if (!is_drawn) return;
        bridge.ends[way < 0] = mine;
        bridge.ends[way > 0] = its;
    }
};

// A worker that draws samples; it counts, for each vertex, the paths that it is between the ends of.
template <class Index>
struct PathSampler {
    Memory memory;
    const Csr<Index>*out = nullptr, *into = nullptr;  // the graph, and its transpose
    Stop stop;
    Span<Index> places, order, starts;  // (n,), (n,), (n + 6,): of both halves
    Span<double> sigma;                 // (n,)
    Span<Index> times, met;             // (n,): how often vertices were drawn, 0 between calls, and those that were
    Buffer<Extended> extended;          // (n,) in place of sigma, made for the first pair that needs it

    explicit PathSampler(int64_t n, bool only_counts = false)
        : memory(only_counts),
          places(memory.zeros<Index>("places", n)),
          order(memory.array<Index>("order", n)),
          starts(memory.array<Index>("starts", n + 6)),
          sigma(memory.array<double>("sigma", n)),
          times(memory.zeros<Index>("times", n)),
          met(memory.array<Index>("met", n)) {}
};

// Draw a path from one vertex to another, unless there is none, or it is to stop; false if it is not counted.
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

// Draw the samples first to last: a random pair of two vertices each, and a path. Return the vertices between the ends
// of some path, of how many each, and the count of edges that were looked at. They are worth nothing once it is to
// stop.
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
        if (s.extended.size() < n) s.extended.resize(n);
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
