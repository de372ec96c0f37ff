// Distances, path counts and dependencies in all lanes of a ball, each the solution of a system over a semiring.
//
//     dist = e + A^T min.plus dist        sigma = e + T^T plus.second sigma        c = own + T plus.second c
//
// T are the tight edges of a lane, the edges u -> v with dist[u] + l == dist[v]. Sweeps over the rows, forwards and
// backwards in turn, make waiting rows anew: a row waits once an entry that it is made from has changed, in any lane.
// When none waits, the system is solved, uniquely, as tight edges have no circle. Each entry is made last from final
// entries, in the order of the edges: its bits do not depend on the order in which rows were made.
//
// A lane is a column of the rows of row.h.
#pragma once

#include <algorithm>

#include "../row.h"
#include "state.h"

namespace lagbc {

// A number for each of the lanes.
struct alignas(64) ByLane {
    double at[columns] = {};

    double& operator[](int64_t j) { return at[j]; }
    double operator[](int64_t j) const { return at[j]; }
};

// Sum the lanes: every eighth into one of eight sums, then these in turn.
LAGBC_INLINE double sum_of(Row& row) {
    constexpr int abreast = 8 / lanes;
    each_part<parts - abreast>([&](int i) LAGBC_INLINED { row.part[i % abreast] += row.part[i + abreast]; });
    double total = row.part[0][0];
    for (int j = 1; j < 8; ++j) total += row.part[j / lanes][j % lanes];
    return total;
}

inline double sum_of(const ByLane& numbers) {
    Row row = load_row(numbers.at);
    return sum_of(row);
}

// Make waiting rows anew, by sweeps in alternating directions, until none waits. `make(i)` makes row i, and returns
// whether it lets any row wait.
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

// Find all distances up to the radius; others stay `far`, so that the search ends there. A row whose distances have
// fallen pushes them on.
template <class Number>
void search_lanes(const Ball<Number>& ball, Stop stop) {
    const auto dist = ball.dist;
    std::fill_n(ball.waits.data, ball.rows, uint8_t{0});
    std::fill_n(dist.data, columns * ball.rows, ball.far);
    for (int64_t j = 0; j < columns; ++j) {
        const int64_t root = ball.roots[j];
        if (root < 0) continue;
        dist[root][j] = 0;
        ball.waits[root] = 1;
    }
    sweep_rows(ball, true, stop, [&](int64_t i) {
        bool again = false;
        for (int64_t e = ball.out_indptr[i]; e < ball.out_indptr[i + 1]; ++e) {
            const int64_t head = ball.out_indices[e];
            const bool is_nearer = relax_row(dist[i], dist[head], splat(ball.out_lengths[e])) != 0;
            ball.waits[head] |= static_cast<uint8_t>(is_nearer);
            again |= is_nearer;
        }
        return again;
    });
}

// The lanes in which an edge from `tail` to `head` is tight.
template <class Number>
LAGBC_INLINE uint64_t tight_lanes(const Number* tail, Number length, const Number* head) {
    const auto along = splat(length);
    auto is_tight = [&](int i) LAGBC_INLINED { return is_equal(load(tail, i) + along, load(head, i)); };
    return any_of<Number>(is_tight) ? mask_of<Number>(is_tight) : 0;
}

// The lanes that reach a row, without those whose root it is.
template <class Number>
LAGBC_INLINE uint64_t lanes_that_reach(const Number* dist, Number far) {
    const auto root = splat(Number{0}), beyond = splat(far);
    return mask_of<Number>([&](int i) LAGBC_INLINED { return is_less(root, load(dist, i)); }) &
           mask_of<Number>([&](int i) LAGBC_INLINED { return is_less(load(dist, i), beyond); });
}

// Write a row; return whether it has changed.
LAGBC_INLINE bool replace_row(double* values, const Row& row) {
    const uint64_t same = mask_of<double>([&](int i) LAGBC_INLINED { return is_equal(row.part[i], load(values, i)); });
    store_row(values, row);
    return ~same != 0;
}

// Count paths, and mark the entering edges that are tight in some lane; return the largest count of each lane.
//
// All counts begin at 1, the least possible, and rise until they are final. Those of a root, and of vertices out of its
// reach, stay 1. Where no lengths tie, the first sweep is enough.
template <class Number>
ByLane count_lanes(const Ball<Number>& ball, Stop stop) {
    const auto dist = ball.dist;
    const Rows<double> sigma = ball.sigma;
    std::fill_n(ball.waits.data, ball.rows, uint8_t{1});
    std::fill_n(ball.plain.data, ball.rows, uint8_t{1});
    std::fill_n(sigma.data, columns * ball.rows, 1.0);
    ByLane largest;
    store_row(largest.at, splat_row(1.0));
    sweep_rows(ball, true, stop, [&](int64_t i) {
        const Number* here = dist[i];
        const uint64_t reached = lanes_that_reach(here, ball.far);
        Row paths = zero_row();
        for (int64_t e = ball.into_indptr[i]; e < ball.into_indptr[i + 1]; ++e) {
            const int64_t tail = ball.into_indices[e];
            const uint64_t tight = tight_lanes(dist[tail], ball.into_lengths[e], here) & reached;
            ball.tight[e] = tight != 0;
            if (tight != 0) add_row(paths, sigma[tail], tight);
        }
        each_part([&](int k) LAGBC_INLINED { paths.part[k] = select(set_of(reached, k), paths.part[k], splat(1.0)); });
        if (!replace_row(sigma[i], paths)) return false;
        ball.plain[i] = 0;
        each_part([&](int k) LAGBC_INLINED {
            const Lanes known = load(largest.at, k);
            store(largest.at, k, select(is_less(known, paths.part[k]), paths.part[k], known));
        });
        for (int64_t e = ball.out_indptr[i]; e < ball.out_indptr[i + 1]; ++e) ball.waits[ball.out_indices[e]] = 1;
        return true;
    });
    return largest;
}

// Make c from `own`, into `beyond`; write to `totals` the sum over lanes of sigma * (sum of c over tight successors) *
// times.
//
// At first rows with targets wait; others begin, and may stay, at 0. The root of a lane has no total.
template <class Number>
void sum_back(const Ball<Number>& ball, const ByLane& times, Stop stop) {
    const auto dist = ball.dist;
    const Rows<double> sigma = ball.sigma, own = ball.own, c = ball.beyond;
    std::fill_n(c.data, columns * ball.rows, 0.0);
    for (int64_t i = 0; i < ball.rows; ++i) {
        ball.waits[i] = positive_in_row(own[i]) != 0;
        ball.totals[i] = 0.0;
    }
    sweep_rows(ball, false, stop, [&](int64_t i) {
        const Number* here = dist[i];
        Row onward = zero_row();
        for (int64_t e = ball.out_indptr[i]; e < ball.out_indptr[i + 1]; ++e) {
            const int64_t head = ball.out_indices[e];
            const uint64_t tight = tight_lanes(here, ball.out_lengths[e], dist[head]);
            if (tight != 0) add_row(onward, c[head], tight);
        }
        // Before the test whether c changes: the sum over successors may change by less than its rounding in c.
        const uint64_t reached = lanes_that_reach(here, ball.far);
        Row shares;
        each_part([&](int k) LAGBC_INLINED {
            shares.part[k] = where(set_of(reached, k), onward.part[k] * load(times.at, k));
        });
        if (!ball.plain[i]) each_part([&](int k) LAGBC_INLINED { shares.part[k] *= load(sigma[i], k); });
        ball.totals[i] = sum_of(shares);
        each_part([&](int k) LAGBC_INLINED { onward.part[k] = load(own[i], k) + onward.part[k]; });
        if (!replace_row(c[i], onward)) return false;
        for (int64_t e = ball.into_indptr[i]; e < ball.into_indptr[i + 1]; ++e)
            ball.waits[ball.into_indices[e]] |= ball.tight[e];
        return true;
    });
}

}  // namespace lagbc
