// The sums of a block of roots within bounds (traversal/near.h), searched together or root by root.
#pragma once

#include <cmath>

#include "../traversal/near.h"
#include "ball.h"
#include "solve.h"

namespace lagbc {

// Count the vertices that each root reaches.
template <class Number>
void count_reached(const Ball<Number>& ball, Span<int64_t> reached) {
    int64_t found[columns] = {};
    for (int64_t i = 0; i < ball.rows; ++i)
        for (int64_t j = 0; j < columns; ++j) found[j] += ball.dist[i][j] < ball.far;
    std::copy_n(found, reached.size, reached.data);
}

// Empty a lane, as if it had no root.
template <class Number>
void forget(const Ball<Number>& ball, int64_t j) {
    for (int64_t i = 0; i < ball.rows; ++i) {
        ball.dist[i][j] = ball.far;
        ball.sigma[i][j] = 1.0;
    }
}

// Write the weight of each target into `own`; return the sum of each lane. A root is no target.
template <class Number>
ByLane weigh_lanes(const Ball<Number>& ball, double radius, double decay, const Targets& omega) {
    ByLane of_lanes;
    for (int64_t i = 0; i < ball.rows; ++i) {
        const Number* dist = ball.dist[i];
        double* own = ball.own[i];
        const double targets = omega.is_there ? omega[ball.vertices[i]] : 1.0;
        for (int64_t j = 0; j < columns; ++j) {
            const auto far = static_cast<double>(dist[j]);
            own[j] = ((far > 0.0) & (far <= radius)) ? targets : 0.0;
        }
        if (decay > 0.0)
            for (int64_t j = 0; j < columns; ++j)
                if (own[j] != 0.0) own[j] *= std::exp(-decay * static_cast<double>(dist[j]));
        for (int64_t j = 0; j < columns; ++j) of_lanes[j] += own[j];
    }
    return of_lanes;
}

// Sum in each lane own * (straight line from the root) / distance.
template <class Index, class Number>
ByLane straight_of(const Ball<Number>& ball, const Near<Index>& near) {
    ByLane x, y, of_lanes;
    for (int64_t j = 0; j < columns; ++j) {
        if (ball.roots[j] < 0) continue;
        const int64_t root = ball.vertices[ball.roots[j]];
        x[j] = near.x[root];
        y[j] = near.y[root];
    }
    for (int64_t i = 0; i < ball.rows; ++i) {
        const Number* dist = ball.dist[i];
        const double* own = ball.own[i];
        const int64_t v = ball.vertices[i];
        for (int64_t j = 0; j < columns; ++j)
            if (own[j] != 0.0)
                of_lanes[j] += own[j] * (length_of(near.x[v] - x[j], near.y[v] - y[j]) / static_cast<double>(dist[j]));
    }
    return of_lanes;
}

// Share the weight of each target out among the paths to it.
template <class Number>
void share_among_paths(const Ball<Number>& ball) {
    for (int64_t i = 0; i < ball.rows; ++i)
        if (!ball.plain[i])
            for (int64_t j = 0; j < columns; ++j) ball.own[i][j] /= ball.sigma[i][j];
}

template <class Index, class Number>
void add_totals(const Ball<Number>& ball, const Near<Index>& near, int64_t column) {
    for (int64_t i = 0; i < ball.rows; ++i) near.by_vertex[near.vertex_rows[i]][column] += ball.totals[i];
}

// Count the two ends of each pair of a root and a target, by the target's weight.
template <class Index, class Number>
void add_ends(const Ball<Number>& ball, const Near<Index>& near, const ByLane& of_lanes, const ByLane& times,
              int64_t column) {
    for (int64_t i = 0; i < ball.rows; ++i) {
        ByLane ends;
        for (int64_t j = 0; j < columns; ++j) ends[j] = ball.own[i][j] * times[j];
        near.by_vertex[near.vertex_rows[i]][column] += sum_of(ends);
    }
    for (int64_t j = 0; j < columns; ++j)
        if (ball.roots[j] >= 0) near.by_vertex[near.vertex_rows[ball.roots[j]]][column] += of_lanes[j] * times[j];
}

// Add the dependencies on tight edges, once `beyond` is made from `own`.
template <class Index, class Number>
void add_edges(const Ball<Number>& ball, const Near<Index>& near, const ByLane& times, int64_t column) {
    for (int64_t i = 0; i < ball.rows; ++i) {
        const Number* here = ball.dist[i];
        const double* sigma = ball.sigma[i];
        for (int64_t e = ball.out_indptr[i]; e < ball.out_indptr[i + 1]; ++e) {
            const int64_t head = ball.out_indices[e];
            const Number length = ball.out_lengths[e];
            const Number* far = ball.dist[head];
            const double* c = ball.beyond[head];
            ByLane shares;
            for (int64_t j = 0; j < columns; ++j) {
                const bool leads = static_cast<Number>(here[j] + length) == far[j];
                const double share = sigma[j] * c[j] * times[j];
                shares[j] = leads ? share : 0.0;
            }
            near.by_edge[ball.place_rows[e]][column] += sum_of(shares);
        }
    }
}

// Add the sums over distances within cutoff c; return the largest of these distances in each lane.
template <class Index, class Number>
ByLane add_distances(const Ball<Number>& ball, const Near<Index>& near, double cutoff, int64_t c) {
    const auto& to = near.columns;
    ByLane farthest;
    for (int64_t i = 0; i < ball.rows; ++i) {
        const Number* dist = ball.dist[i];
        ByLane shares;
        int64_t here = 0;
        for (int64_t j = 0; j < columns; ++j) {
            const auto far = static_cast<double>(dist[j]);
            const bool is_target = (far > 0.0) & (far <= cutoff);
            here += is_target;
            shares[j] = is_target ? far : 0.0;
            farthest[j] = farthest[j] > shares[j] ? farthest[j] : shares[j];
        }
        if (near.by_vertex.width == 0) continue;
        const auto row = near.by_vertex[near.vertex_rows[i]];
        if (to.reached >= 0) row[to.reached + c] += static_cast<double>(here);
        if (to.distance >= 0) row[to.distance + c] += sum_of(shares);
        if (to.inverse >= 0) {
            for (int64_t j = 0; j < columns; ++j) {
                const auto far = static_cast<double>(dist[j]);
                shares[j] = ((far > 0.0) & (far <= cutoff)) ? 1.0 / far : 0.0;
            }
            row[to.inverse + c] += sum_of(shares);
        }
    }
    return farthest;
}

// Write a sum of the roots of a block, a number a lane.
template <class Index>
void write_of_roots(const Near<Index>& near, const ByLane& of_lanes, int64_t first, int64_t width, int64_t column) {
    for (int64_t j = 0; j < width; ++j) near.by_root[first + j][column] = of_lanes[j];
}

// Add to the columns with decays.
template <class Index, class Number>
void add_decaying(const Ball<Number>& ball, const Asked& asked, int64_t first, int64_t width, const Targets& omega,
                  const ByLane& times, const Near<Index>& near) {
    const auto& to = near.columns;
    for (int64_t c = 0; c < near.radii.size; ++c) {
        const ByLane of_lanes = weigh_lanes(ball, near.radii[c], near.decay(c), omega);
        if (to.gravity >= 0) write_of_roots(near, of_lanes, first, width, to.gravity + c);
        if (to.dependency < 0 && to.edges < 0) continue;
        if (to.dependency >= 0 && asked.endpoints) add_ends(ball, near, of_lanes, times, to.dependency + c);
        share_among_paths(ball);
        sum_back(ball, times, asked.stop);
        if (to.dependency >= 0) add_totals(ball, near, to.dependency + c);
        if (to.edges >= 0) add_edges(ball, near, times, to.edges + c);
    }
}

// Add to the columns of cutoffs alone.
template <class Index, class Number>
void add_cut(const Ball<Number>& ball, const Asked& asked, int64_t first, int64_t width, const Targets& omega,
             const ByLane& times, const Near<Index>& near) {
    const auto& to = near.columns;
    const bool has_distances = to.depth >= 0 || to.reached >= 0 || to.distance >= 0 || to.inverse >= 0;
    for (int64_t c = 0; c < near.cutoffs.size; ++c) {
        const double cutoff = near.cutoffs[c];
        if (to.stress >= 0 || to.targets >= 0 || to.straight >= 0) {
            const ByLane of_lanes = weigh_lanes(ball, cutoff, 0.0, omega);
            if (to.targets >= 0) write_of_roots(near, of_lanes, first, width, to.targets + c);
            if (to.straight >= 0) write_of_roots(near, straight_of(ball, near), first, width, to.straight + c);
            if (to.stress >= 0) {
                sum_back(ball, times, asked.stop);
                add_totals(ball, near, to.stress + c);
            }
        }
        if (has_distances) {
            const ByLane farthest = add_distances(ball, near, cutoff, c);
            if (to.depth >= 0) write_of_roots(near, farthest, first, width, to.depth + c);
        }
    }
}

// Search within the last ball, of the `width` roots from number `first` on, and add their sums to all columns; each
// counts `times` often. Once the stop flag is set, all may be left in disorder.
template <class Index, class Number>
void sum_ball(const BallOf<Index, Number>& ball, int64_t first, int64_t width, const ByLane& times, Found& found) {
    Traversal<Index>& s = *ball.worker;
    const Asked& asked = s.asked;
    Near<Index>& near = s.near;
    search_lanes(ball, asked.stop);
    count_reached(ball, {found.reached.data() + first, width});
    if (asked.counts_paths) {
        const ByLane largest = count_lanes(ball, asked.stop);
        for (int64_t j = 0; j < width; ++j) {
            found.overflowed[first + j] = largest[j] > asked.limit;
            if (found.overflowed[first + j]) forget(ball, j);
        }
    }
    if (near.by_vertex.width > 0)
        near.vertices = find_rows(near.row_of_vertex, near.vertex_of_row, near.vertices, ball.vertices, ball.rows,
                                  near.vertex_rows);
    const auto& to = near.columns;
    if (to.edges >= 0)
        near.edges = find_rows(near.row_of_edge, near.edge_of_row, near.edges, Span<int64_t>(ball.places), ball.edges,
                               Span<int64_t>(ball.place_rows));
    if (to.dependency >= 0 || to.edges >= 0 || to.gravity >= 0)
        add_decaying(ball, asked, first, width, s.omega, times, near);
    add_cut(ball, asked, first, width, s.omega, times, near);
}

// Sum roots in the caller's order (-1 is absent), 64 together, or one by one if their ball has too many rows.
//
// A row costs about as much as `worth` vertices in reach of a root. How many a root reaches is known from the last 64,
// and at first from one amid the first 64.
template <class Index, class Number>
void sum_blocks(BallOf<Index, Number>& ball, Span<const int64_t> roots, Found& found) {
    Traversal<Index>& s = *ball.worker;
    const auto most_rows = static_cast<double>(ball.waits.size);
    const auto find = [&](Span<const int64_t> places, double most) {
        return find_ball(*s.graph, *ball.into, places, s.asked.radius, static_cast<int64_t>(std::min(most, most_rows)),
                         ball);
    };
    double mean = 0.0;
    for (int64_t first = 0; first < roots.size; first += columns) {
        const int64_t width = std::min<int64_t>(columns, roots.size - first);
        int64_t places[columns], here[columns], count = 0;
        ByLane times;
        for (int64_t j = 0; j < width; ++j) {
            const int64_t root = roots[first + j];
            times[j] = times_of(s, root);
            places[j] = root < 0 ? -1 : s.position[root];
            if (root >= 0) here[count++] = places[j];
        }
        if (count == 0 || s.asked.stop.is_set()) continue;
        const auto present = static_cast<double>(count);
        if (mean == 0.0) mean = static_cast<double>(std::max<int64_t>(find({here + count / 2, 1}, most_rows), 1));
        if (find({places, width}, ball.worth * mean * present / columns) > 0)
            sum_ball(ball, first, width, times, found);
        else
            s.sum_near(s, roots, first, first + width, found);
        int64_t reached = 0;
        for (int64_t k = first; k < first + width; ++k) reached += found.reached[k];
        mean = static_cast<double>(reached) / present;
    }
}

}  // namespace lagbc
