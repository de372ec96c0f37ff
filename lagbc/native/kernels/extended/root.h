// Sums of single roots with path counts of any size: Brandes' sweep (2001) with one division a vertex, over the
// vertices by rising distance.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "../buffer.h"
#include "number.h"

namespace lagbc {

// How single roots are searched and summed.
template <class Index>
struct RootSweep {
    const Csr<Index>*out = nullptr, *into = nullptr;  // the graph, and its transpose
    Optional<Span<const double>> class_sizes;         // (n,): how many vertices each stands for on a path; None is one
    double rtol = 0;                                  // relative difference up to which two lengths are equal
    double radius = 0;                                // largest distance of the search
    Stop stop;
};

inline constexpr double unreached = infinity;

// A number for each vertex.
struct Numbers {
    Buffer<double> mantissas;
    Buffer<int64_t> powers;

    LAGBC_INLINE explicit Numbers(int64_t n) : mantissas(n, 0.0), powers(n, 0) {}
    LAGBC_INLINE Extended operator[](int64_t v) const { return {mantissas[v], powers[v]}; }
    LAGBC_INLINE void set(int64_t v, Extended number) const {
        mantissas[v] = number.mantissa;
        powers[v] = number.exponent;
    }
};

// The same number, >= 0 and perhaps below the normal range.
LAGBC_INLINE Extended any_extended(double x) {
    int power;
    const double mantissa = std::frexp(x, &power);
    return {mantissa, power};
}

// x * 2**power as a double, infinite or zero beyond its range.
LAGBC_INLINE double rounded(double x, int64_t power) {
    return std::ldexp(x, static_cast<int>(std::clamp<int64_t>(power, -5000, 5000)));
}

template <class Index>
LAGBC_INLINE double length_of_edge(const Csr<Index>& graph, int64_t e) {
    return graph.lengths.is_there ? graph.lengths[e] : 1.0;
}

// Whether an edge leads on a shortest path from distance `near` to distance `far`.
LAGBC_INLINE bool is_tight(double near, double length, double far, double rtol) {
    return near < far && far < unreached && std::abs(near + length - far) <= rtol * far;
}

template <class Index>
LAGBC_INLINE Extended times_class_size(const RootSweep<Index>& s, Extended number, int64_t v) {
    if (!s.class_sizes.is_there) return number;
    return extended(number.mantissa * s.class_sizes[v], number.exponent);
}

// Fill `dist`, infinite before, up to the radius; return the vertices in reach by rising distance.
template <class Index>
Buffer<int64_t> search_hops(const RootSweep<Index>& s, int64_t root, Span<double> dist) {
    const Csr<Index>& out = *s.out;
    Buffer<int64_t> queue(dist.size);
    dist[root] = 0.0;
    queue[0] = root;
    int64_t head = 0, end = 1;
    while (head < end && !s.stop.is_set()) {
        const int64_t v = queue[head++];
        if (dist[v] + 1.0 > s.radius) break;
        for (int64_t e = out.indptr[v]; e < out.indptr[v + 1]; ++e) {
            const int64_t w = out.indices[e];
            if (dist[w] != unreached) continue;
            dist[w] = dist[v] + 1.0;
            queue[end++] = w;
        }
    }
    queue.resize(end);
    return queue;
}

// The same search with lengths.
template <class Index>
Buffer<int64_t> search_with_lengths(const RootSweep<Index>& s, int64_t root, Span<double> dist) {
    const Csr<Index>& out = *s.out;
    Buffer<int64_t> order(dist.size);
    Buffer<bool> settled(dist.size, false);
    using Item = std::pair<double, int64_t>;  // a distance and its vertex
    std::priority_queue<Item, std::vector<Item>, std::greater<>> waiting;
    int64_t end = 0;
    dist[root] = 0.0;
    waiting.emplace(0.0, root);
    while (!waiting.empty() && !s.stop.is_set()) {
        const int64_t v = waiting.top().second;
        waiting.pop();
        if (settled[v]) continue;
        settled[v] = true;
        order[end++] = v;
        for (int64_t e = out.indptr[v]; e < out.indptr[v + 1]; ++e) {
            const int64_t w = out.indices[e];
            const double through = dist[v] + out.lengths[e];
            if (through < dist[w] && through <= s.radius) {
                dist[w] = through;
                waiting.emplace(through, w);
            }
        }
    }
    order.resize(end);
    return order;
}

// Search from a root, and count the paths to all members of each vertex. Return
//
//     reached            the vertices in reach within the radius, by rising distance
//     dist               all distances, infinite out of reach
//     mantissas, powers  the path counts
//     pathless           a reached vertex without a tight in-edge, at which counting ends, or -1
template <class Index>
std::tuple<Buffer<int64_t>, Buffer<double>, Buffer<double>, Buffer<int64_t>, int64_t> search_root(
    const RootSweep<Index>& s, int64_t root) {
    const Csr<Index>& into = *s.into;
    const int64_t n = into.n();
    Buffer<double> dist(n, unreached);
    Buffer<int64_t> reached =
        s.out->lengths.is_there ? search_with_lengths(s, root, dist.span()) : search_hops(s, root, dist.span());
    Numbers sigma(n);
    int64_t pathless = -1;
    if (reached.size() > 0) sigma.set(root, {0.5, 1});
    for (int64_t i = 1; i < reached.size() && pathless < 0 && !s.stop.is_set(); ++i) {
        const int64_t v = reached[i];
        Extended total{0.0, 0};
        for (int64_t e = into.indptr[v]; e < into.indptr[v + 1]; ++e) {
            const int64_t u = into.indices[e];
            if (is_tight(dist[u], length_of_edge(into, e), dist[v], s.rtol)) total = add(total, sigma[u]);
        }
        if (total.mantissa == 0.0)
            pathless = v;
        else
            sigma.set(v, times_class_size(s, total, v));
    }
    return {std::move(reached), std::move(dist), std::move(sigma.mantissas), std::move(sigma.powers), pathless};
}

// Return delta of every vertex, of a root that counts times * 2**times_power often; sigma is overwritten by
//
//     c[v] = (omega[v] / sigma[v] + sum of c[w] over tight successors w) * class_sizes[v]
//
// `edges` get sigma[v] c[w] of every tight edge, as often. Only delta and edges are rounded to doubles, at the end.
template <class Index>
Buffer<double> sum_root(const RootSweep<Index>& s, Span<const int64_t> reached, Span<const double> dist,
                        Span<double> mantissas, Span<int64_t> powers, Span<const double> omega, double times,
                        int64_t times_power, Optional<Span<double>> edges) {
    const Csr<Index>& out = *s.out;
    Buffer<double> delta(dist.size, 0.0);
    for (int64_t i = reached.size - 1; i >= 0 && !s.stop.is_set(); --i) {
        const int64_t v = reached[i];
        const Extended sigma{mantissas[v], powers[v]};
        Extended total{0.0, 0};
        for (int64_t e = out.indptr[v]; e < out.indptr[v + 1]; ++e) {
            const int64_t w = out.indices[e];
            if (!is_tight(dist[v], length_of_edge(out, e), dist[w], s.rtol)) continue;
            total = add(total, {mantissas[w], powers[w]});
            if (edges.is_there)
                edges[e] = rounded(sigma.mantissa * mantissas[w] * times, sigma.exponent + powers[w] + times_power);
        }
        if (i == 0) break;
        delta[v] = rounded(sigma.mantissa * total.mantissa * times, sigma.exponent + total.exponent + times_power);
        const Extended target = any_extended(omega[v]);
        const Extended own = extended(target.mantissa / sigma.mantissa, target.exponent - sigma.exponent);
        const Extended c = times_class_size(s, add(own, total), v);
        mantissas[v] = c.mantissa;
        powers[v] = c.exponent;
    }
    return delta;
}

// Return the paths through every vertex, sigma[v] t[v] with t[v] = sum of omega[w] + t[w] over tight successors w.
template <class Index>
std::tuple<Buffer<double>, Buffer<int64_t>> count_through(const RootSweep<Index>& s, Span<const int64_t> reached,
                                                          Span<const double> dist, Span<const double> mantissas,
                                                          Span<const int64_t> powers, Span<const double> omega) {
    const Csr<Index>& out = *s.out;
    Numbers through(dist.size), onward(dist.size);  // onward is omega + t
    for (int64_t i = reached.size - 1; i > 0 && !s.stop.is_set(); --i) {
        const int64_t v = reached[i];
        Extended total{0.0, 0};
        for (int64_t e = out.indptr[v]; e < out.indptr[v + 1]; ++e) {
            const int64_t w = out.indices[e];
            if (is_tight(dist[v], length_of_edge(out, e), dist[w], s.rtol)) total = add(total, onward[w]);
        }
        through.set(v, multiply({mantissas[v], powers[v]}, total));
        onward.set(v, add(any_extended(omega[v]), total));
    }
    return {std::move(through.mantissas), std::move(through.powers)};
}

// Add numbers in place, one by one.
inline void add_numbers(Span<double> mantissas, Span<int64_t> powers, Span<const double> more,
                        Span<const int64_t> more_powers) {
    for (int64_t v = 0; v < mantissas.size; ++v) {
        const Extended sum = add({mantissas[v], powers[v]}, {more[v], more_powers[v]});
        mantissas[v] = sum.mantissa;
        powers[v] = sum.exponent;
    }
}

}  // namespace lagbc
