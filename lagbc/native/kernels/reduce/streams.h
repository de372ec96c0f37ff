// Demand between vertices inside chains, streamed over all chains for each junction that it leaves by:
// lagbc/reduce/chains.py.
//
// A shortest path from a vertex x inside a chain (a, b) of length L, at a distance p from a, leaves by a if
// 2 p < L + d(b, t) - d(a, t), t being the junction that it leads to, and by b if 2 p is more. Where they are equal it
// does both, in proportion to the path counts sigma_a(t) and sigma_b(t). So of the vertices inside, the first ones
// leave by a, and at most one does both. This is a chain's place: twice the number of vertices that leave by a alone,
// plus 1 if one more does both.
//
//     to a junction t    by a: the first place(t) / 2 vertices, and the share of the one at the tie
//     to a chain (u, v)  by a: the vertices that leave by a for u and for v. They enter it alike, where a itself does;
//                        by a or b: the vertices between the two places, one by one
//
// Each pair of vertices is met from both of its ends. M(a, v), the demand that a sweep from root a carries to v, takes
// it once a direction; the other sums have both directions together, as entering demand equals, by symmetry, leaving
// demand.
//
// The writers: sums of a chain's end belong to the junction there, sums within a chain to its first end. No sum has two
// roots as writers, so that bits do not depend on their order.
#pragma once

#include <algorithm>

#include "../../../reduce/one_chain.h"
#include "../buffer.h"
#include "ways.h"

namespace lagbc {

// Distances and path counts from one junction to all.
template <class Distance>
struct Paths {
    Span<const Distance> dist;
    Span<const double> sigma;
};

// M of a root, and the source weight that enters each chain as from the root itself.
struct Made {
    Span<double> demand, through;
};

// Chain c, from its first end.
inline Chain<int64_t> chain_of(const Ways& ways, int64_t c) {
    const int64_t first = ways.starts[c];
    return {ways.lengths[c],
            ways.inside(c),
            ways.distances[0].data + first,
            ways.sources[0].data + first,
            ways.targets[0].data + first,
            ways.source_sums[0].data + first + c,
            ways.target_sums[0].data + first + c};
}

// The demand that leaves one chain by its end a, on the way to all junctions and chains.
template <class Distance>
class Leaving {
public:
    Leaving(const Ways& ways, int64_t longest)
        : ways_(ways),
          places_(ways.rows()),
          reached_{Buffer<double>(longest + 1), Buffer<double>(longest + 1)},
          ties_{Buffer<double>(longest + 1), Buffer<double>(longest + 1)} {}

    // Sum half 2 c + side, whose ends are a and another; return the demand that leaves by a without a's own targets.
    double sum(int64_t c, int64_t side, int64_t a, const Paths<Distance>& near, const Paths<Distance>& far,
               const Made& made, const Flows& flows) {
        see(c, side);
        for (int64_t i = 0; i <= inside_; ++i) reached_[0][i] = reached_[1][i] = ties_[0][i] = ties_[1][i] = 0.0;
        find_places(near, far);
        to_junctions(a, near, far, made.demand);
        to_chains(0, c, near, far, made);
        to_chains(c + 1, ways_.count(), near, far, made);
        return sum_out(c, side, a, near, far, flows.out[side]);
    }

private:
    void see(int64_t c, int64_t side) {
        const int64_t first = ways_.starts[c];
        inside_ = ways_.inside(c);
        length_ = ways_.lengths[c];
        distances_ = {ways_.distances[side].data + first, inside_};
        sources_ = {ways_.sources[side].data + first, inside_};
        sums_ = {ways_.source_sums[side].data + first + c, inside_ + 1};
    }

    // The places of the chain for all junctions.
    void find_places(const Paths<Distance>& near, const Paths<Distance>& far) const {
        const double most = 2.0 * static_cast<double>(inside_);
        if (ways_.in_hops) {
            for (int64_t v = 0; v < places_.size(); ++v) {
                const double place = length_ + far.dist[v] - near.dist[v] - 1.0;
                places_[v] = static_cast<int32_t>(std::min(std::max(place, 0.0), most));
            }
        } else {
            for (int64_t v = 0; v < places_.size(); ++v) {
                const double gap = length_ + far.dist[v] - near.dist[v];
                const auto [count, tie] = place_of(false, distances_.data, inside_, gap);
                places_[v] = static_cast<int32_t>(2 * count + tie);
            }
        }
    }

    // Sum the demand that leaves for junctions other than a.
    void to_junctions(int64_t a, const Paths<Distance>& near, const Paths<Distance>& far, Span<double> demand) const {
        double all_sources = 0.0, all_targets = 0.0;
        for (int64_t v = 0; v < places_.size(); ++v) {
            const int64_t place = places_[v];
            if (place == 0 || v == a) continue;
            const double target = ways_.row_targets[v], source = ways_.row_sources[v];
            if (place == 2 * inside_) {
                all_targets += target;
                all_sources += source;
                demand[v] += target * sums_[inside_];
                continue;
            }
            const int64_t count = place >> 1;
            double weight = sums_[count];
            reached_[0][count] += target;
            reached_[1][count] += source;
            if ((place & 1) != 0) {
                const double share = near.sigma[v] / (near.sigma[v] + far.sigma[v]);
                weight += sources_[count] * share;
                ties_[0][count + 1] += target * share;
                ties_[1][count + 1] += source * share;
            }
            demand[v] += target * weight;
        }
        reached_[0][inside_] += all_targets;
        reached_[1][inside_] += all_sources;
    }

    // Sum the demand that leaves for the chains begin to end. The vertices between the places of a chain's two ends, u
    // and v, may leave by another end for u than for v; they are summed one by one.
    void to_chains(int64_t begin, int64_t end, const Paths<Distance>& near, const Paths<Distance>& far,
                   const Made& made) const {
        double all_sources = 0.0, all_targets = 0.0;
        for (int64_t c = begin; c < end; ++c) {
            const int64_t place_u = places_[ways_.ends[0][c]], place_v = places_[ways_.ends[1][c]];
            const int64_t alike = std::min(place_u, place_v) >> 1, most = (std::max(place_u, place_v) + 1) >> 1;
            if (most == 0) continue;
            const int64_t last = ways_.starts[c + 1];
            made.through[c] += sums_[alike];
            if (alike == inside_) {
                all_targets += ways_.target_sums[0][last + c];
                all_sources += ways_.source_sums[0][last + c];
                continue;
            }
            reached_[0][alike] += ways_.target_sums[0][last + c];
            reached_[1][alike] += ways_.source_sums[0][last + c];
            for (int64_t i = alike + 1; i <= most; ++i) one_to_chain(c, i, near, far, made.demand);
        }
        reached_[0][inside_] += all_targets;
        reached_[1][inside_] += all_sources;
    }

    Way way_of(int64_t v, int64_t i, const Paths<Distance>& near, const Paths<Distance>& far) const {
        const int64_t place = places_[v];
        const double p = distances_[i - 1];
        const bool before = i <= place >> 1, tie = !before && i <= (place + 1) >> 1;
        return way_to(v, p, length_ - p, before, tie, near.dist.data, near.sigma.data, far.dist.data, far.sigma.data);
    }

    // Sum the demand that leaves vertex i by a for chain c.
    void one_to_chain(int64_t c, int64_t i, const Paths<Distance>& near, const Paths<Distance>& far,
                      Span<double> demand) const {
        const int64_t u = ways_.ends[0][c], v = ways_.ends[1][c];
        const Way to_u = way_of(u, i, near, far), to_v = way_of(v, i, near, far);
        const ByEnds reached = reach(ways_.in_hops, chain_of(ways_, c), to_u, to_v);
        demand[u] += sources_[i - 1] * reached.first;
        demand[v] += sources_[i - 1] * reached.second;
        ties_[0][i] += reached.first + reached.second;
        ties_[1][i] += reached.sources;
    }

    // Write the demand that leaves each vertex inside by a; return its sum without the demand of a itself.
    double sum_out(int64_t c, int64_t side, int64_t a, const Paths<Distance>& near, const Paths<Distance>& far,
                   Span<double> flows) const {
        const int64_t first = ways_.starts[c], to_end = places_[a] >> 1, tie = places_[a] & 1;
        double total = 0.0, targets = 0.0, sources = 0.0;
        for (int64_t i = inside_; i > 0; --i) {
            targets += reached_[0][i];
            sources += reached_[1][i];
            const double source = ways_.sources[side][first + i - 1], target = ways_.targets[side][first + i - 1];
            double out = source * (targets + ties_[0][i]) + target * (sources + ties_[1][i]);
            total += out;
            if (i <= to_end + tie) {
                const double part = i > to_end ? near.sigma[a] / (near.sigma[a] + far.sigma[a]) : 1.0;
                out += part * (source * ways_.row_targets[a] + target * ways_.row_sources[a]);
            }
            flows[first + i - 1] = out;
        }
        return total;
    }

    const Ways& ways_;
    Buffer<int32_t> places_;
    // Targets and sources reached from the first i vertices alike, and from vertex i by itself.
    Buffer<double> reached_[2], ties_[2];
    int64_t inside_ = 0;
    double length_ = 0.0;
    Span<const double> distances_, sources_, sums_;
};

// `sum_within` of chain c.
inline double within_chain(const Ways& ways, int64_t c, double dist, double sigma, const Flows& flows) {
    const int64_t first = ways.starts[c];
    return sum_within(chain_of(ways, c), dist, sigma, flows.around[0].data + first, flows.around[1].data + first,
                      flows.within.data + first, flows.onward.data + first);
}

// Sum the demand that leaves chains at the roots, for chains whose far end has a column; returns whether it finished.
//
// flows        sums of these chains are written
// dist, sigma  distances and path counts: from the roots, and behind them from far ends
// column       the column of a far end; -1 if it is not there
// demand       M(a, .), with the demand from junction to junction, grows by the demand that leaves by a; the part that
//              enters other chains wholly as from a itself is left to `through`
// through      source weight that enters each chain as from a itself, without a's own
// junction     demand that passes each root as it leaves a chain
// stop         polled once a chain
template <class Distance>
bool leave_chains(const Ways& ways, const Flows& flows, Span<const int64_t> roots, Matrix<const Distance> dist,
                  Matrix<const double> sigma, Span<const int64_t> column, Matrix<double> demand, Matrix<double> through,
                  Span<double> junction, Stop stop) {
    int64_t longest = 0;
    for (int64_t c = 0; c < ways.count(); ++c) longest = std::max(longest, ways.inside(c));
    Leaving<Distance> leaving(ways, longest);
    for (int64_t k = 0; k < roots.size; ++k) {
        const int64_t a = roots[k];
        const Paths<Distance> near{dist[k], sigma[k]};
        for (int64_t at = ways.first_halves[a]; at < ways.first_halves[a + 1]; ++at) {
            const int64_t c = ways.halves[at] >> 1, side = ways.halves[at] & 1, b = ways.ends[1 - side][c];
            if (column[b] < 0) continue;
            if (stop.is_set()) return false;
            const Paths<Distance> far{dist[column[b]], sigma[column[b]]};
            junction[k] += leaving.sum(c, side, a, near, far, {demand[k], through[k]}, flows);
            if (side == 0)
                demand[k][b] += within_chain(ways, c, static_cast<double>(near.dist[b]), near.sigma[b], flows);
        }
    }
    return true;
}

// Let the demand that leaves by a root, and its own source weight, enter every chain by the nearer end.
template <class Distance>
void enter_from(const Ways& ways, int64_t a, const Paths<Distance>& near, const Made& made) {
    const double own = ways.row_sources[a];
    for (int64_t c = 0; c < ways.count(); ++c) {
        const int64_t u = ways.ends[0][c], v = ways.ends[1][c];
        const Chain<int64_t> chain = chain_of(ways, c);
        const double *const targets = chain.targets, *const sums = chain.target_sums;
        const double gap = chain.length + near.dist[v] - near.dist[u];
        const auto [count, tie] = place_of(ways.in_hops, chain.distances, chain.inside, gap);
        double by_u = sums[count], by_v = sums[chain.inside] - sums[count + tie];
        if (tie) {
            const double all = near.sigma[u] + near.sigma[v];
            by_u += targets[count] * (near.sigma[u] / all);
            by_v += targets[count] * (near.sigma[v] / all);
        }
        made.demand[u] += (made.through[c] + (u != a ? own : 0.0)) * by_u;
        made.demand[v] += (made.through[c] + (v != a ? own : 0.0)) * by_v;
    }
}

// Let the demand that leaves by each root, or starts at it, enter chains and junctions, which finishes M(a, .);
// arguments as for `leave_chains`. Returns whether it finished.
template <class Distance>
bool enter_chains(const Ways& ways, Span<const int64_t> roots, Matrix<const Distance> dist, Matrix<const double> sigma,
                  Matrix<double> demand, Matrix<double> through, Span<double> junction, Stop stop) {
    for (int64_t k = 0; k < roots.size; ++k) {
        if (stop.is_set()) return false;
        const int64_t a = roots[k];
        enter_from<Distance>(ways, a, {dist[k], sigma[k]}, {demand[k], through[k]});
        // M(a, a), demand that leaves and enters at a, was counted from both ends; it starts no path.
        junction[k] -= demand[k][a];
        demand[k][a] = 0.0;
    }
    return true;
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

}  // namespace lagbc
