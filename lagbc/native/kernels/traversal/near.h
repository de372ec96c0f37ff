// The sums of one root within bounds: a column for each cutoff, or each pair of a cutoff and a decay.
//
// The search ended at the largest radius. Places in its trail are nearly in the order of distances: the targets of a
// column of radius r are among the first places, up to the last one with dist <= r. So a column costs a sweep over its
// own vertices and tight edges,
//
//     weight[i] = exp(-decay dist[i]) where dist[i] <= r, else 0;     own[i] = weight[i] * omega / sigma[i]
//
// and goes on as in dependencies.h. Sums are kept in rows, one for each touched vertex or edge.
#pragma once

#include <cmath>
#include <tuple>

#include "dependencies.h"

namespace lagbc {

// Write the rows of the first `count` names, vertices or edges, to `at`; a name without a row gets the next one. `of`
// has the row of each name, `named` the name of each row, and `end` rows are taken. Returns the count of rows then.
template <class Name, class T>
int64_t find_rows(Span<T> of, Span<T> named, int64_t end, Span<Name> names, int64_t count, Span<T> at) {
    for (int64_t i = 0; i < count; ++i) {
        const int64_t name = names[i];
        int64_t row = of[name];
        if (row >= end) {
            row = end++;
            of[name] = static_cast<T>(row);
            named[row] = static_cast<T>(name);
        }
        at[i] = static_cast<T>(row);
    }
    return end;
}

// Write the weight of the target at each place; return the count of places up to the last within the radius.
template <class Index>
int64_t weigh(const Trail<Index>& trail, int64_t count, double radius, double decay, const Targets& omega,
              Span<double> weights) {
    const auto order = trail.order;
    const auto dist = trail.dist;
    if (decay > 0.0)
        for (int64_t i = 0; i < count; ++i) weights[i] = dist[i] <= radius ? std::exp(-decay * dist[i]) : 0.0;
    else
        for (int64_t i = 0; i < count; ++i) weights[i] = dist[i] <= radius ? 1.0 : 0.0;
    if (omega.is_there)
        for (int64_t i = 0; i < count; ++i) weights[i] *= omega[order[i]];
    while (dist[count - 1] > radius) --count;
    return count;
}

// Count the tight edges whose tails are among the first `here` places; tails never fall.
template <class Index>
int64_t edges_from(Span<Index> tails, int64_t here, int64_t tight) {
    while (tight > 0 && tails[tight - 1] >= here) --tight;
    return tight;
}

// Sum the weights of the targets at the first `here` places; the root is no target.
inline double total_of(Span<const double> weights, int64_t here) {
    double total = 0.0;
    for (int64_t i = 1; i < here; ++i) total += weights[i];
    return total;
}

// The length of a straight line. hypot is for the rare squares beyond the normal numbers.
inline double length_of(double dx, double dy) {
    const double squared = dx * dx + dy * dy;
    return squared > 1e-300 && squared < infinity ? std::sqrt(squared) : std::hypot(dx, dy);
}

// Sum over the targets weight * (straight line from the root) / distance.
template <class Index>
double straight_of(const Trail<Index>& trail, const Near<Index>& near, int64_t here) {
    const auto order = trail.order;
    const double x = near.x[order[0]], y = near.y[order[0]];
    double total = 0.0;
    for (int64_t i = 1; i < here; ++i)
        total += near.weights[i] * (length_of(near.x[order[i]] - x, near.y[order[i]] - y) / trail.dist[i]);
    return total;
}

// Add sigma * onward of all places but the root's to one column.
template <class Index>
void add_onward_near(const Trail<Index>& trail, const Near<Index>& near, int64_t here, double times, int64_t column) {
    const auto sigma = trail.sigma, onward = trail.onward;
    for (int64_t i = 1; i < here; ++i) near.by_vertex[near.vertex_rows[i]][column] += sigma[i] * onward[i] * times;
}

// Count the two ends of each pair of the root and a target, by the target's weight.
template <class Index>
void add_ends_near(const Near<Index>& near, int64_t here, double times, int64_t column) {
    for (int64_t i = 1; i < here; ++i) near.by_vertex[near.vertex_rows[i]][column] += near.weights[i] * times;
    near.by_vertex[near.vertex_rows[0]][column] += total_of(near.weights, here) * times;
}

// Add the sums over distances within cutoff j; return the largest of these distances.
template <class Index>
double add_distances(const Trail<Index>& trail, int64_t count, const Near<Index>& near, double cutoff, int64_t j) {
    const auto dist = trail.dist;
    const auto& to = near.columns;
    double farthest = 0.0;
    for (int64_t i = 1; i < count; ++i) {
        if (!(dist[i] <= cutoff)) continue;
        farthest = std::max(farthest, dist[i]);
        const auto row = near.by_vertex[near.vertex_rows[i]];
        if (to.reached >= 0) row[to.reached + j] += 1.0;
        if (to.distance >= 0) row[to.distance + j] += dist[i];
        if (to.inverse >= 0) row[to.inverse + j] += 1.0 / dist[i];
    }
    return farthest;
}

// Add to the columns with decays.
template <class Index>
void add_decaying(const Trail<Index>& trail, Reached found, const Targets& omega, const Asked& asked, double times,
                  const Near<Index>& near, int64_t k) {
    const auto [count, tight] = found;
    const auto& to = near.columns;
    const auto sigma = trail.sigma, own = trail.own, weights = near.weights;
    for (int64_t j = 0; j < near.radii.size; ++j) {
        const int64_t here = weigh(trail, count, near.radii[j], near.decay(j), omega, weights);
        if (to.gravity >= 0) near.by_root[k][to.gravity + j] = total_of(weights, here);
        if (to.dependency < 0 && to.edges < 0) continue;
        const int64_t inside = edges_from(trail.tails, here, tight);
        for (int64_t i = 0; i < count; ++i) own[i] = weights[i] / sigma[i];
        sum_onward(trail, own, {}, count, inside);
        if (to.dependency >= 0) {
            add_onward_near(trail, near, here, times, to.dependency + j);
            if (asked.endpoints) add_ends_near(near, here, times, to.dependency + j);
        }
        if (to.edges >= 0)
            for (int64_t e = 0; e < inside; ++e)
                near.by_edge[near.edge_rows[e]][to.edges + j] += share_along(trail, e) * times;
    }
}

// Add to the columns of cutoffs alone.
template <class Index>
void add_cut(const Trail<Index>& trail, Reached found, const Targets& omega, double times, const Near<Index>& near,
             int64_t k) {
    const auto [count, tight] = found;
    const auto& to = near.columns;
    const bool has_distances = to.depth >= 0 || to.reached >= 0 || to.distance >= 0 || to.inverse >= 0;
    for (int64_t j = 0; j < near.cutoffs.size; ++j) {
        const double cutoff = near.cutoffs[j];
        if (to.stress >= 0 || to.targets >= 0 || to.straight >= 0) {
            const int64_t here = weigh(trail, count, cutoff, 0.0, omega, near.weights);
            if (to.targets >= 0) near.by_root[k][to.targets + j] = total_of(near.weights, here);
            if (to.straight >= 0) near.by_root[k][to.straight + j] = straight_of(trail, near, here);
            if (to.stress >= 0) {
                sum_onward(trail, near.weights, {}, count, edges_from(trail.tails, here, tight));
                add_onward_near(trail, near, here, times, to.stress + j);
            }
        }
        if (has_distances) {
            const double farthest = add_distances(trail, count, near, cutoff, j);
            if (to.depth >= 0) near.by_root[k][to.depth + j] = farthest;
        }
    }
}

// Add the sums of root number k of a block, with target weights omega, to all columns.
template <class Index>
void add_root(const Trail<Index>& trail, Reached found, const Targets& omega, const Asked& asked, double times,
              Near<Index>& near, int64_t k) {
    const auto& to = near.columns;
    if (near.by_vertex.width > 0)
        near.vertices = find_rows(near.row_of_vertex, near.vertex_of_row, near.vertices, trail.order, found.count,
                                  near.vertex_rows);
    if (to.edges >= 0)
        near.edges = find_rows(near.row_of_edge, near.edge_of_row, near.edges, Span<int64_t>(trail.edges), found.edges,
                               near.edge_rows);
    if (to.dependency >= 0 || to.edges >= 0 || to.gravity >= 0)
        add_decaying(trail, found, omega, asked, times, near, k);
    add_cut(trail, found, omega, times, near, k);
}

// Copy the first rows of some sums, or those at some places.
inline Table<double> copied(Matrix<double> rows, int64_t count, const int64_t* places = nullptr) {
    Table<double> copy{Buffer<double>(count * rows.width), count, rows.width};
    for (int64_t i = 0; i < count; ++i)
        std::copy_n(rows[places == nullptr ? i : places[i]].data, rows.width, copy.numbers.data() + i * rows.width);
    return copy;
}

// The vertices or edges that have a row, in matrix order.
template <class Name>
Buffer<int64_t> names_of(Span<Name> names, int64_t count, Span<const int64_t> order) {
    Buffer<int64_t> found(count);
    for (int64_t i = 0; i < count; ++i) found[i] = order[names[i]];
    return found;
}

// Clear the first rows, and take them from their names.
template <class Name>
void clear_rows(Span<Name> row_of, Span<Name> names, Matrix<double> rows, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        row_of[names[i]] = std::numeric_limits<Name>::max();
        rows[i].fill(0.0);
    }
}

// Take the sums of a block: vertices, edges, and roots but for absent ones, in matrix order, and the sums of each,
// which are cleared. Memory that runs out leaves the sums as they are.
template <class Index>
auto take_near(Near<Index>& near, Span<const int64_t> roots, Span<const int64_t> order,
               Optional<Span<const int64_t>> edge_order) {
    const int64_t count = std::count_if(roots.begin(), roots.end(), [](int64_t root) { return root >= 0; });
    Buffer<int64_t> present(count), places(count);
    for (int64_t k = 0, i = 0; k < roots.size; ++k) {
        if (roots[k] < 0) continue;
        present[i] = roots[k];
        places[i++] = k;
    }
    auto taken = std::tuple(names_of(near.vertex_of_row, near.vertices, order),
                            names_of(near.edge_of_row, near.edges, edge_order), std::move(present),
                            copied(near.by_vertex, near.vertices), copied(near.by_edge, near.edges),
                            copied(near.by_root, count, places.data()));
    clear_rows(near.row_of_vertex, near.vertex_of_row, near.by_vertex, near.vertices);
    clear_rows(near.row_of_edge, near.edge_of_row, near.by_edge, near.edges);
    for (const int64_t place : places.span()) near.by_root[place].fill(0.0);
    near.vertices = near.edges = 0;
    return taken;
}

}  // namespace lagbc
