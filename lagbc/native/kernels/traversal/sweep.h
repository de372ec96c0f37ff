// The loop over roots: each is searched, and summed while its trail is in the cache.
#pragma once

#include "dijkstra.h"
#include "hops.h"
#include "totals.h"

namespace lagbc {

// Search from the root at a place.
template <class Index>
Searched search_from_place(const Traversal<Index>& s, int64_t place) {
    if (s.buckets_of_queue < 0) return search_in_hops(s, place);
    return s.buckets_of_queue > 0 ? search_with(s, s.buckets, place) : search_with(s, s.heap, place);
}

template <class Index>
int64_t place_of(const Traversal<Index>& s, int64_t root) {
    return s.position.is_there ? s.position[root] : root;
}

// The target weights of all roots, in one row.
template <class Index>
Optional<Matrix<const double>> common_omega(const Traversal<Index>& s) {
    return {{s.omega.data, 1, s.omega.size}, s.omega.is_there};
}

// The roots first to last of a call, in the caller's order; -1 is absent.
struct Roots {
    Span<const int64_t> of;
    int64_t first, last;
    Optional<Matrix<const double>> omega;  // target weights, a row for each root or one for all
    Optional<Span<const double>> times;    // how often each counts in sums over paths, in place of its weight
};

// Search roots, and add each to the sums, if no path count is above the limit; a root with trips has these as targets.
// A block that cannot be kept ends the search, and is left in the totals. Once the stop flag is set, all arrays may be
// left in disorder.
template <class Index, class Sums>
void sum_roots(Traversal<Index>& s, const Roots& roots, Sums& sums, Found& found) {
    const auto& trips = s.trips;
    constexpr bool keeps_blocks = std::is_same_v<Sums, Totals>;
    for (int64_t k = roots.first; k < roots.last; ++k) {
        if constexpr (keeps_blocks)
            if (sums.block != 0 && k != 0 && k % sums.block == 0 && !keep_block(sums)) return;
        const int64_t root = roots.of[k];
        if (root < 0) continue;
        const Searched one = search_from_place(s, place_of(s, root));
        if (s.asked.stop.is_set()) return;
        found.reached[k] = one.count;
        found.overflowed[k] = one.overflowed;
        if (one.overflowed) continue;
        found.depth[k] = one.depth;
        const double times = roots.times.is_there ? roots.times[k] : times_of(s, root);
        if (trips.targets.is_there) {
            const double often = times * lay_out_trips(trips, s.position, root);
            add_root(s.trail, one, {{trips.targets.data, trips.targets.size}, true}, s.asked, often, sums, k);
            clear_trips(trips, s.position, root);
        } else {
            add_root(s.trail, one, omega_of(roots.omega, k), s.asked, times, sums, k);
        }
    }
    if constexpr (keeps_blocks)
        if (sums.block != 0) keep_block(sums);
}

// Write the distances and path counts of roots into their columns of arrays filled with infinity and 0.
template <class Index>
void write_paths(const Traversal<Index>& s, Span<const int64_t> roots, Matrix<double> dist, Matrix<double> sigma) {
    for (int64_t k = 0; k < roots.size; ++k) {
        if (roots[k] < 0) continue;
        const Searched one = search_from_place(s, place_of(s, roots[k]));
        if (s.asked.stop.is_set()) return;
        for (int64_t i = 0; i < one.count; ++i) {
            dist[s.trail.order[i]][k] = s.trail.dist[i];
            sigma[s.trail.order[i]][k] = s.trail.sigma[i];
        }
    }
}

}  // namespace lagbc
