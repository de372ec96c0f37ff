// Demand that leaves, enters or stays within one chain: compiled by C++ compilers and by NVRTC, so that
// nothing of the standard library is here. lagbc/native/kernels/reduce/streams.h has the algebra.
#pragma once

#ifndef __CUDACC__  // there a header of CUDA comes before it
#include "../native/kernels/arrays.h"
#endif

namespace lagbc {

// A chain as it is seen from its first end; the sums are of its first 0, 1, ... vertices inside.
template <class Count>
struct Chain {
    double length;
    Count inside;  // count of the vertices inside
    const double *distances, *sources, *targets, *source_sums, *target_sums;
};

// The first `count` vertices from an end on leave by it alone; at a `tie` the next one leaves by both ends.
template <class Count>
struct Place {
    Count count;
    bool tie;
};

// The place among `inside` vertices at ascending distances: a vertex leaves by the end if twice its distance is below
// the gap.
template <class Count>
LAGBC_INLINE Place<Count> place_of(bool in_hops, const double* distances, Count inside, double gap) {
    if (in_hops) {
        const double most = 2.0 * (double)inside, place = gap < 1.0 ? 0.0 : gap - 1.0;
        const Count halves = (Count)(place < most ? place : most);
        return {halves >> 1, (halves & 1) != 0};
    }
    Count low = 0, high = inside;
    while (low < high) {
        const Count middle = (low + high) >> 1;
        if (2.0 * distances[middle] < gap)
            low = middle + 1;
        else
            high = middle;
    }
    return {low, low < inside && 2.0 * distances[low] == gap};
}

// The shortest paths from a vertex inside a chain to a junction: their length `far`, and their count, by the end at
// hand and in all.
struct Way {
    double far, by, all;
};

// The way of a vertex at distances `p` and `rest` from the ends, which leaves by the end at hand alone if it is
// `before`, and by both ends at a `tie`. `near`, `by_near` are dist and sigma from the end at hand, `far`, `by_far`
// from the other end.
template <class Distance>
LAGBC_INLINE Way way_to(long long v, double p, double rest, bool before, bool tie, const Distance* near,
                        const double* by_near, const Distance* far, const double* by_far) {
    const bool is_near = before || tie;
    const double by = is_near ? by_near[v] : 0.0;
    return {is_near ? p + near[v] : rest + far[v], by, by + (before ? 0.0 : by_far[v])};
}

// The weights in a chain that a vertex of another chain reaches by the end at hand of its own chain: targets that it
// enters by the first end, and by the second end, and sources by either.
struct ByEnds {
    double first, second, sources;
};

// `u` and `v` are the ways of the vertex to the two ends of the chain.
template <class Count>
LAGBC_INLINE ByEnds reach(bool in_hops, const Chain<Count>& chain, const Way& u, const Way& v) {
    const auto [count, tie] = place_of(in_hops, chain.distances, chain.inside, chain.length + v.far - u.far);
    const Count behind = count + tie, last = chain.inside;
    const double part_u = u.by / u.all, part_v = v.by / v.all;
    ByEnds reached = {chain.target_sums[count] * part_u, (chain.target_sums[last] - chain.target_sums[behind]) * part_v,
                      chain.source_sums[count] * part_u};
    reached.sources += (chain.source_sums[last] - chain.source_sums[behind]) * part_v;
    if (tie) {
        const double all = u.all + v.all, share_u = u.by / all, share_v = v.by / all;
        reached.first += chain.targets[count] * share_u;
        reached.second += chain.targets[count] * share_v;
        reached.sources += chain.sources[count] * (share_u + share_v);
    }
    return reached;
}

// The demand, both ways, between vertex i inside a chain and its vertices from `first` to before `last`.
template <class Count>
LAGBC_INLINE double pairs(const Chain<Count>& chain, Count i, Count first, Count last) {
    return chain.sources[i] * (chain.target_sums[last] - chain.target_sums[first]) +
           chain.targets[i] * (chain.source_sums[last] - chain.source_sums[first]);
}

// Sum the demand between vertices inside a chain; return the demand that leaves it by one end and enters by the other.
//
// A path is straight inside the chain if that is shorter than around, by both ends and the `sigma` ways between them of
// length `dist`: 2 (p[j] - p[i]) < length + dist. Where they are equal it is one of the 1 + sigma.
//
// around  of each vertex, by its first end, and by its second, are written
// within  with the vertex in the interior of the path
// onward  along the edge from the vertex to the next one; at first the demand that begins at the vertex
template <class Count>
LAGBC_INLINE double sum_within(const Chain<Count>& chain, double dist, double sigma, double* around,
                               double* around_back, double* within, double* onward) {
    const double* p = chain.distances;
    const Count size = chain.inside;
    const double round_trip = chain.length + dist;
    const double straight = 1.0 / (1.0 + sigma), bent = sigma / (1.0 + sigma);
    double total = 0.0;
    Count after = 0;  // the first vertex that is not nearer straight from i
    for (Count i = 0; i < size; ++i) {
        after = after > i ? after : i + 1;
        while (after < size && 2.0 * (p[after] - p[i]) < round_trip) ++after;
        const bool tie = after < size && 2.0 * (p[after] - p[i]) == round_trip;
        double begun = pairs<Count>(chain, i, i + 1, after), bends = pairs<Count>(chain, i, after + tie, size);
        if (tie) {
            const double both = pairs<Count>(chain, i, after, after + 1);
            begun += both * straight;
            bends += both * bent;
        }
        onward[i] = begun;
        around[i] = bends;
        total += bends;
    }
    Count before = 0;  // count of the vertices that are not nearer straight from j
    double inner = 0.0;
    for (Count j = 0; j < size; ++j) {
        while (before < j && 2.0 * (p[j] - p[before]) >= round_trip) ++before;
        const bool tie = before > 0 && 2.0 * (p[j] - p[before - 1]) == round_trip;
        double ended = pairs<Count>(chain, j, before, j), bends = pairs<Count>(chain, j, 0, before - tie);
        if (tie) {
            const double both = pairs<Count>(chain, j, before - 1, before);
            ended += both * straight;
            bends += both * bent;
        }
        around_back[j] = bends;
        // Paths that go on from j - 1 end at j or have it in their interior; rounding may leave a trifle below zero.
        inner = inner - ended < 0.0 ? 0.0 : inner - ended;
        within[j] = inner;
        inner += onward[j];
        onward[j] = j + 1 < size ? inner : 0.0;
    }
    return total;
}

}  // namespace lagbc
