// Demand between vertices of the same chain, and the sum of all demand at the vertices inside chains:
// lagbc/reduce/chains.py.
#pragma once

#include <algorithm>

#include "../buffer.h"
#include "../level.h"
#include "ways.h"

namespace lagbc::LAGBC_LEVEL {

// The vertices inside a chain, i from 1 on.
struct Inside {
    const Ways& ways;
    int64_t chain, first;

    // The distance between two of them, i before j.
    LAGBC_INLINE double between(int64_t i, int64_t j) const {
        const double* const from_end = &ways.distances[0][first];
        return from_end[j - 1] - from_end[i - 1];
    }

    // The demand, both ways, between vertex i and the vertices first + 1 to last.
    LAGBC_INLINE double pairs(int64_t i, int64_t begin, int64_t end) const {
        const double* const targets = &ways.target_sums[0][first + chain];
        const double* const sources = &ways.source_sums[0][first + chain];
        const int64_t own = first + i - 1;
        return ways.sources[0][own] * (targets[end] - targets[begin]) +
               ways.targets[0][own] * (sources[end] - sources[begin]);
    }
};

// Sum the demand between vertices inside chain c; return the demand that leaves it by one end and enters by the other.
//
// A path is straight inside the chain if that is shorter than around, by both ends and the `sigma` ways between them of
// length `dist`: 2 between(i, j) < length + dist. Where they are equal it is one of the 1 + sigma.
inline double sum_within(const Ways& ways, int64_t c, double dist, double sigma, const Flows& flows) {
    const int64_t first = ways.starts[c], size = ways.inside(c);
    const Inside inside{ways, c, first};
    const double round_trip = ways.lengths[c] + dist;
    const double straight = 1.0 / (1.0 + sigma), bent = sigma / (1.0 + sigma);
    Buffer<double> begun(size + 1);
    double total = 0.0;
    int64_t after = 1;  // the first vertex that is not nearer straight from i
    for (int64_t i = 1; i <= size; ++i) {
        after = std::max(after, i + 1);
        while (after <= size && 2.0 * inside.between(i, after) < round_trip) ++after;
        const bool tie = after <= size && 2.0 * inside.between(i, after) == round_trip;
        begun[i] = inside.pairs(i, i, after - 1);
        double around = inside.pairs(i, after - 1 + tie, size);
        if (tie) {
            const double both = inside.pairs(i, after - 1, after);
            begun[i] += both * straight;
            around += both * bent;
        }
        flows.around[0][first + i - 1] = around;
        total += around;
    }
    int64_t before = 0;  // the last vertex that is not nearer straight from j
    double inner = 0.0;
    for (int64_t j = 1; j <= size; ++j) {
        while (before + 1 < j && 2.0 * inside.between(before + 1, j) >= round_trip) ++before;
        const bool tie = before > 0 && 2.0 * inside.between(before, j) == round_trip;
        double ended = inside.pairs(j, before, j - 1);
        double around = inside.pairs(j, 0, before - tie);
        if (tie) {
            const double both = inside.pairs(j, before - 1, before);
            ended += both * straight;
            around += both * bent;
        }
        flows.around[1][first + j - 1] = around;
        // Paths that go on from j - 1 end at j or have it in their interior; rounding may leave a trifle below zero.
        inner = std::max(inner - ended, 0.0);
        flows.within[first + j - 1] = inner;
        inner += begun[j];
        flows.onward[first + j - 1] = j < size ? inner : 0.0;
    }
    return total;
}

// Sum weights of the vertices inside each chain, from its ends on: of none, of the first, of the first two, ...
inline void sum_inside(Span<const int64_t> starts, Matrix<const double> weights, Matrix<double> sums) {
    for (int64_t side = 0; side < weights.size; ++side)
        for (int64_t c = 0; c < starts.size - 1; ++c) {
            sums[side][starts[c] + c] = 0.0;
            for (int64_t i = starts[c]; i < starts[c + 1]; ++i)
                sums[side][i + c + 1] = sums[side][i + c] + weights[side][i];
        }
}

// Sum the demand that passes the vertices inside chains, and the demand along their edges.
//
// along   demand along each chain as a whole
// passed  written: demand through each vertex
// edges   written: demand along the edge from vertex i of a chain to the next one, i from 0, its first end, on
inline void spread_flows(const Ways& ways, const Flows& flows, Span<const double> along, Span<double> passed,
                         Span<double> edges) {
    const Span<double> out = flows.out[0], back = flows.out[1], around = flows.around[0], around_back = flows.around[1];
    for (int64_t c = 0; c < ways.count(); ++c) {
        const int64_t first = ways.starts[c], last = ways.starts[c + 1];
        double flow = along[c];
        for (int64_t i = first; i < last; ++i) flow += out[i] + around[i];
        edges[first + c] = flow;
        // One sum from either end: differences would leave rounding on edges without demand.
        double beyond = 0.0;
        for (int64_t i = last - 1; i >= first; --i) {
            passed[i] = along[c] + beyond + flows.within[i];
            edges[i + c + 1] = along[c] + beyond + flows.onward[i];
            beyond += out[i] + around[i];
        }
        beyond = 0.0;
        for (int64_t i = first; i < last; ++i) {
            passed[i] += beyond;
            beyond += back[first + last - 1 - i] + around_back[i];
            edges[i + c + 1] += beyond;
        }
    }
}

}  // namespace lagbc::LAGBC_LEVEL
