// Distances, path counts and what lies beyond in all lanes of a ball, each the solution of a system over a semiring.
//
//     dist = e + A^T min.plus dist        sigma = e + T^T plus.second sigma        c = own + T plus.second c
//
// T are the tight edges of a lane, those u -> v with dist[u] + l == dist[v]. Sweeps go over the rows, forwards and
// backwards in turn, and make those anew that wait: of which something changed, in any lane, that they are made of.
// When none waits, it is solved. Tight edges have no circle, so that there is one solution; each entry of it is made,
// at last, of final ones, in the order of the edges, however it was come by: the bits depend on nothing else.
//
// Loops over the lanes have their number as a constant and no branches, so that a compiler makes vector instructions of
// them.
#pragma once

#include <algorithm>
#include <type_traits>

#include "../level.h"
#include "records.h"

namespace lagbc::LAGBC_LEVEL {

inline constexpr int64_t lanes = columns;

// Numbers of the lanes at work.
struct alignas(64) Lanes {
    double at[lanes] = {};

    double& operator[](int64_t j) { return at[j]; }
    double operator[](int64_t j) const { return at[j]; }
};

// Whether something is so in a lane, as wide as a distance.
template <class Number>
using Truth = std::conditional_t<std::is_same_v<Number, double>, uint64_t, Number>;

// Sum over the lanes, in a fixed order; they are used up.
inline double sum_of(Lanes& of) {
    constexpr int64_t stride = 8;
    for (int64_t first = stride; first < lanes; first += stride)
        for (int64_t j = 0; j < stride; ++j) of[j] += of[first + j];
    double total = of[0];
    for (int64_t j = 1; j < stride; ++j) total += of[j];
    return total;
}

// Make rows that wait anew, forwards or backwards and then in turn, until none does. `make(i)` tells whether something
// waits that did not.
template <class Number, class Make>
LAGBC_INLINE void sweep_rows(const Ball<Number>& ball, bool forwards, Stop stop, Make make) {
    const int64_t rows = ball.rows;
    const auto waits = ball.waits;
    for (bool again = true; again && !stop.is_set(); forwards = !forwards) {
        again = false;
        for (int64_t step = 0; step < rows; ++step) {
            const int64_t i = forwards ? step : rows - 1 - step;
            if (!waits[i]) continue;
            waits[i] = 0;
            again |= make(i);
        }
    }
}

// Push the distances of a row on along an edge; whether some lane of the head is nearer then.
template <class Number>
LAGBC_INLINE bool push(const Number* __restrict from, Number length, Number* __restrict to) {
    Truth<Number> nearer = 0;
    for (int64_t j = 0; j < lanes; ++j) {
        const auto through = static_cast<Number>(from[j] + length);
        const Number known = to[j];
        nearer |= static_cast<Truth<Number>>(through < known);
        to[j] = through < known ? through : known;
    }
    return nearer != 0;
}

// Find all distances up to the radius. A row whose distances have fallen pushes them on.
//
// What is not nearer than `far` changes nothing, so that the search ends at the radius.
template <class Number>
void search_lanes(const Ball<Number>& ball, Stop stop) {
    const auto dist = ball.dist;
    std::fill_n(ball.waits.data, ball.rows, uint8_t{0});
    std::fill_n(dist.data, lanes * ball.rows, ball.far);
    for (int64_t j = 0; j < lanes; ++j) {
        const int64_t root = ball.roots[j];
        if (root < 0) continue;
        dist[root][j] = 0;
        ball.waits[root] = 1;
    }
    sweep_rows(ball, true, stop, [&](int64_t i) {
        bool again = false;
        for (int64_t e = ball.out_indptr[i]; e < ball.out_indptr[i + 1]; ++e) {
            const int64_t head = ball.out_indices[e];
            const bool is_nearer = push(dist[i], ball.out_lengths[e], dist[head]);
            ball.waits[head] |= static_cast<uint8_t>(is_nearer);
            again |= is_nearer;
        }
        return again;
    });
}

// Add to each lane what is at the other end of an edge that is tight in it; whether it is in some lane.
template <class Number>
LAGBC_INLINE bool add_tight(const Number* tail, Number length, const Number* head, const double* more, Lanes& sum) {
    Truth<Number> is_tight = 0;
    for (int64_t j = 0; j < lanes; ++j) {
        const bool leads = static_cast<Number>(tail[j] + length) == head[j];
        is_tight |= static_cast<Truth<Number>>(leads);
        sum[j] += leads ? more[j] : 0.0;
    }
    return is_tight != 0;
}

// Count paths, and find which of the edges that enter are tight; return the largest count of each lane.
//
// All counts are 1 before, which no count is less than: they rise until they are final. Those of a root, and of what it
// does not reach, stay 1. Where lengths do not tie, the first sweep is enough.
template <class Number>
Lanes count_lanes(const Ball<Number>& ball, Stop stop) {
    const auto dist = ball.dist;
    const Rows<double> sigma = ball.sigma;
    const Number far = ball.far;
    std::fill_n(ball.waits.data, ball.rows, uint8_t{1});
    std::fill_n(ball.plain.data, ball.rows, uint8_t{1});
    std::fill_n(sigma.data, lanes * ball.rows, 1.0);
    Lanes largest;
    std::fill_n(largest.at, lanes, 1.0);
    sweep_rows(ball, true, stop, [&](int64_t i) {
        const Number* here = dist[i];
        double* known = sigma[i];
        Lanes paths;
        for (int64_t e = ball.into_indptr[i]; e < ball.into_indptr[i + 1]; ++e) {
            const int64_t tail = ball.into_indices[e];
            ball.tight[e] = add_tight(dist[tail], ball.into_lengths[e], here, sigma[tail], paths);
        }
        uint64_t changed = 0;
        for (int64_t j = 0; j < lanes; ++j) {
            paths[j] = (here[j] > 0) & (here[j] < far) ? paths[j] : 1.0;
            changed |= static_cast<uint64_t>(paths[j] != known[j]);
        }
        if (!changed) return false;
        ball.plain[i] = 0;
        for (int64_t j = 0; j < lanes; ++j) {
            known[j] = paths[j];
            largest[j] = paths[j] > largest[j] ? paths[j] : largest[j];
        }
        for (int64_t e = ball.out_indptr[i]; e < ball.out_indptr[i + 1]; ++e) ball.waits[ball.out_indices[e]] = 1;
        return true;
    });
    return largest;
}

// Make c of `own`, into `beyond`, and sum sigma * (what lies beyond) * times over the lanes, into `totals`.
//
// Rows wait that have something of their own; all others begin, and may stay, at 0. The root of a lane has no total.
template <class Number>
void sum_back(const Ball<Number>& ball, const Lanes& times, Stop stop) {
    const auto dist = ball.dist;
    const Rows<double> sigma = ball.sigma, own = ball.own, c = ball.beyond;
    std::fill_n(c.data, lanes * ball.rows, 0.0);
    for (int64_t i = 0; i < ball.rows; ++i) {
        uint64_t counts = 0;
        for (int64_t j = 0; j < lanes; ++j) counts |= static_cast<uint64_t>(own[i][j] > 0.0);
        ball.waits[i] = counts != 0;
        ball.totals[i] = 0.0;
    }
    sweep_rows(ball, false, stop, [&](int64_t i) {
        const Number* here = dist[i];
        Lanes onward, shares;
        for (int64_t e = ball.out_indptr[i]; e < ball.out_indptr[i + 1]; ++e) {
            const int64_t head = ball.out_indices[e];
            add_tight(here, ball.out_lengths[e], dist[head], c[head], onward);
        }
        uint64_t changed = 0;
        for (int64_t j = 0; j < lanes; ++j) {
            const double more = own[i][j] + onward[j];
            changed |= static_cast<uint64_t>(more != c[i][j]);
            c[i][j] = more;
        }
        // Also where c is as before: what lies beyond may have changed by less than rounding leaves of it in c.
        for (int64_t j = 0; j < lanes; ++j) shares[j] = here[j] > 0 ? onward[j] * times[j] : 0.0;
        if (!ball.plain[i])
            for (int64_t j = 0; j < lanes; ++j) shares[j] *= sigma[i][j];
        ball.totals[i] = sum_of(shares);
        if (!changed) return false;
        for (int64_t e = ball.into_indptr[i]; e < ball.into_indptr[i + 1]; ++e)
            ball.waits[ball.into_indices[e]] |= ball.tight[e];
        return true;
    });
}

}  // namespace lagbc::LAGBC_LEVEL
