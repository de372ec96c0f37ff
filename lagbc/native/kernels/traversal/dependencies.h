// The sums of one root, after its search: a sweep over its trail, without the graph.
//
//     dependency   onward[i] = sum over the heads j of i of omega / sigma[j] + onward[j];  delta = sigma[i] * onward[i]
//     stress       onward[i] = sum over the heads j of i of omega + onward[j];  stress = sigma[i] * onward[i]
//     edges        of a tight edge from i to j: sigma[i] * (omega / sigma[j] + onward[j])
//     classes      omega / sigma[j] + onward[j] is multiplied by how many vertices j stands for
//
// One loop over the edges, from the last, makes `onward` of all vertices: a loop over the few edges of each vertex
// would have an end that a processor cannot foresee. One thread runs it: a sum has the same bits in every run.
#pragma once

#include <algorithm>

#include "state.h"

namespace lagbc {

using Targets = Optional<Span<const double>>;

// The counts of a search: settled vertices, and tight (or noted) edges.
struct Reached {
    int64_t count, edges;
};

// A search whose root is ready to be summed.
struct Searched : Reached {
    double depth = 0.0;  // the largest distance
    bool overflowed = false;
};

// The target weights of a root, by its number: a row for each, or one row for all.
inline Targets omega_of(const Optional<Matrix<const double>>& omega, int64_t root) {
    if (!omega.is_there) return {};
    return {omega[std::min(root, omega.size - 1)], true};
}

// How often a root counts in sums over paths; -1 is an absent one.
template <class Index>
double times_of(const Traversal<Index>& s, int64_t root) {
    return s.root_weights.is_there && root >= 0 ? s.root_weights[root] : 1.0;
}

// Whether a path count is above the limit.
inline bool overflows(Span<const double> sigma, double limit) {
    bool is_above = false;  // without a branch, so that vectors compare
    for (const double paths : sigma) is_above |= paths > limit;
    return is_above;
}

// Add beyond(head) to `onward` of the tail of each tight edge, from the last edge to the first.
//
// Where tails have few edges, no branch depends on a tail; where they have many, the sum of a tail stays in a register.
template <class Index, class Beyond>
LAGBC_INLINE void sum_edges(const Trail<Index>& trail, int64_t count, int64_t tight, const Beyond& beyond) {
    const auto tails = trail.tails, heads = trail.heads;
    const auto onward = trail.onward;
    if (tight <= 2 * count) {
        for (int64_t j = tight; j-- > 0;) onward[tails[j]] += beyond(heads[j]);
        return;
    }
    double sum = 0.0;
    for (int64_t j = tight, last = -1; j-- > 0;) {
        const int64_t tail = tails[j];
        sum = (tail == last ? sum : 0.0) + beyond(heads[j]);
        onward[last = tail] = sum;
    }
}

// Make `onward` from `own`, a number for each settled vertex.
template <class Index>
void sum_onward(const Trail<Index>& trail, Span<const double> own, Optional<Span<const double>> class_sizes,
                int64_t count, int64_t tight) {
    const auto onward = trail.onward;
    std::fill_n(onward.data, count, 0.0);
    if (class_sizes.is_there)
        sum_edges(trail, count, tight,
                  [&](int64_t head) LAGBC_INLINED { return own[head] + class_sizes[head] * onward[head]; });
    else
        sum_edges(trail, count, tight, [&](int64_t head) LAGBC_INLINED { return own[head] + onward[head]; });
}

// Make `onward` from `own`, and add sigma * onward to the total of every vertex but the root, and the squares to
// `squares`. If targets count linearly, a term with squares is multiplied by twice the distance.
template <class Index>
void add_onward(const Trail<Index>& trail, Optional<Span<const double>> class_sizes, int64_t count, int64_t tight,
                double times, bool linear, Span<double> total, Optional<Span<double>> squares) {
    const auto order = trail.order;
    const auto dist = trail.dist, sigma = trail.sigma, onward = trail.onward;
    sum_onward(trail, trail.own, class_sizes, count, tight);
    if (!squares.is_there) {
        for (int64_t i = 1; i < count; ++i) total[order[i]] += sigma[i] * onward[i] * times;
        return;
    }
    for (int64_t i = 1; i < count; ++i) {
        const double x = sigma[i] * onward[i] * (linear ? 2.0 * dist[i] : 1.0);
        total[order[i]] += x * times;
        squares[order[i]] += x * times * x;
    }
}

// Write the weights of targets into `own`, shared out among their paths or whole. The root is no target.
template <bool by_path, class Index>
void own_targets(const Trail<Index>& trail, int64_t count, const Targets& omega) {
    const auto order = trail.order;
    const auto own = trail.own, sigma = trail.sigma;
    own[0] = 0.0;
    if (omega.is_there)
        for (int64_t i = 1; i < count; ++i) own[i] = by_path ? omega[order[i]] / sigma[i] : omega[order[i]];
    else
        for (int64_t i = 1; i < count; ++i) own[i] = by_path ? 1.0 / sigma[i] : 1.0;
}

// Count the two ends of each pair of the root and another vertex in reach.
template <class Index>
void add_ends(const Trail<Index>& trail, int64_t count, double times, Span<double> dependency) {
    const auto order = trail.order;
    for (int64_t i = 1; i < count; ++i) dependency[order[i]] += times;
    dependency[order[0]] += times * static_cast<double>(count - 1);
}

// The dependency on tight edge j, once `onward` is made from `own`.
template <class Index>
LAGBC_INLINE double share_along(const Trail<Index>& trail, int64_t j) {
    const int64_t head = trail.heads[j];
    const double onward = trail.onward[head];
    const double beyond = trail.class_sizes.is_there ? trail.class_sizes[head] * onward : onward;
    return trail.sigma[trail.tails[j]] * (trail.own[head] + beyond);
}

// Put the vertices or edges of a root on the list of its block.
template <class Name>
void list_touched(Span<const Name> names, Optional<Touched>& touched) {
    if (!touched.is_there || touched.count < 0) return;
    if (touched.count + names.size > touched.names.size) {
        touched.count = -1;
        return;
    }
    std::copy_n(names.data, names.size, touched.names.data + touched.count);
    touched.count += names.size;
}

// Add the sums of one root to the totals that are there; in sums over paths it counts `times` often.
template <class Index>
void add_root(const Trail<Index>& trail, Reached found, const Targets& omega, const Asked& asked, double times,
              Totals& totals, int64_t) {
    const auto [count, tight] = found;
    const auto order = trail.order;
    const auto dist = trail.dist, own = trail.own;
    list_touched<Index>({order.data, count}, totals.of_vertices);
    list_touched<int64_t>({trail.edges.data, tight}, totals.of_edges);
    if (totals.dependency.is_there) {
        own_targets<true>(trail, count, omega);
        const auto class_sizes = trail.class_sizes;
        if (class_sizes.is_there)
            for (int64_t i = 0; i < count; ++i) own[i] *= class_sizes[i];
        if (asked.linear)
            for (int64_t i = 1; i < count; ++i) own[i] /= dist[i];
        add_onward(trail, class_sizes, count, tight, times, asked.linear, totals.dependency, totals.dependency_squares);
        if (asked.endpoints) add_ends(trail, count, times, totals.dependency);
    }
    if (totals.edges.is_there)
        for (int64_t j = 0; j < tight; ++j) totals.edges[trail.edges[j]] += share_along(trail, j) * times;
    if (totals.edges_squares.is_there)
        for (int64_t j = 0; j < tight; ++j) {
            const double x = share_along(trail, j);
            totals.edges_squares[trail.edges[j]] += x * times * x;
        }
    if (totals.stress.is_there) {
        own_targets<false>(trail, count, omega);
        add_onward(trail, {}, count, tight, times, false, totals.stress, {});
    }
    if (totals.reached.is_there)
        for (int64_t i = 1; i < count; ++i) totals.reached[order[i]] += 1.0;
    if (totals.distance.is_there)
        for (int64_t i = 1; i < count; ++i) totals.distance[order[i]] += dist[i];
    if (totals.inverse.is_there)
        for (int64_t i = 1; i < count; ++i) totals.inverse[order[i]] += 1.0 / dist[i];
    if (totals.distance_squares.is_there)
        for (int64_t i = 1; i < count; ++i) totals.distance_squares[order[i]] += dist[i] * dist[i];
    if (totals.inverse_squares.is_there)
        for (int64_t i = 1; i < count; ++i) totals.inverse_squares[order[i]] += 1.0 / dist[i] * (1.0 / dist[i]);
}

}  // namespace lagbc
