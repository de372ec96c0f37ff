// The demand of vertices inside chains, for each junction that it leaves by: lagbc/reduce/chains.py.
//
// Let a chain (a, b) have the length L, and a vertex inside the distance p from a. Its shortest paths to a junction t
// leave by a if 2 p < L + d(b, t) - d(a, t), by b if 2 p is more, and by both if it is equal, in proportion to the path
// counts sigma_a(t) and sigma_b(t). So the first vertices inside leave by a, and at most one leaves by both. The
// *place* of t is twice the number of vertices that leave by a alone, plus 1 if one leaves by both.
//
//     to a junction t    by a: the first place(t) / 2 vertices, and the share of the one at the tie
//     to a chain (u, v)  by a: the vertices that leave by a for both u and v, and enter the chain where a itself does;
//                        by a or b: the vertices between the places of u and v, one by one
//
// Each pair of vertices is met from both ends. M(a, v), the demand that a sweep from root a carries to v, takes a pair
// once a direction. The other sums have both directions together: by symmetry, entering demand equals leaving demand.
//
// Only the junction at an end of a chain writes the sums of that end, and only its first end those within the chain: no
// sum has two writers, and bits do not depend on the order of roots.
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

// M of a root, and for each chain the source weight that enters it where the root itself does.
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

// The demand that leaves one chain by its end a, to all junctions and chains.
template <class Distance>
class Leaving {
public:
    Leaving(const Ways& ways, int64_t longest)
        : ways_(ways),
          places_(ways.rows()),
          reached_{Buffer<double>(longest + 1), Buffer<double>(longest + 1)},
          ties_{Buffer<double>(longest + 1), Buffer<double>(longest + 1)} {}

    // Sum half 2 c + side, seen from its end a; return the demand that leaves by a, without that to a itself.
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

    // Find the places of all junctions.
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

    // Sum the demand that leaves for the chains begin to end.
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

    // Write the demand that leaves each vertex inside by a; return its sum without that to a itself.
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
    // Targets (0) and sources (1) that all of the first i vertices reach by a, and that vertex i alone does.
    Buffer<double> reached_[2], ties_[2];
    int64_t inside_ = 0;
    double length_ = 0.0;
    Span<const double> distances_, sources_, sums_;
};

// Sum the demand that leaves chains at the roots, for chains whose far end has a row; return false if it was stopped.
//
// flows        is written for these chains
// dist, sigma  rows of distances and path counts from the roots, and behind them from far ends
// column       the row of a far end; -1 if it has none
// demand       M(a, .) of each root, which grows by the demand that leaves by a, but for the part in `through`
// through      source weight that enters each chain where a itself does, without a's own
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
            if (side != 0) continue;
            const int64_t first = ways.starts[c];
            demand[k][b] += sum_within(chain_of(ways, c), static_cast<double>(near.dist[b]), near.sigma[b],
                                       flows.around[0].data + first, flows.around[1].data + first,
                                       flows.within.data + first, flows.onward.data + first);
        }
    }
    return true;
}

// Let the demand that leaves by root a, and a's own source weight, enter every chain by its nearer end.
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

// Let the demand that leaves by each root, or starts at it, enter all chains: that finishes M(a, .). Arguments as for
// `leave_chains`; return false if it was stopped.
template <class Distance>
bool enter_chains(const Ways& ways, Span<const int64_t> roots, Matrix<const Distance> dist, Matrix<const double> sigma,
                  Matrix<double> demand, Matrix<double> through, Span<double> junction, Stop stop) {
    for (int64_t k = 0; k < roots.size; ++k) {
        if (stop.is_set()) return false;
        const int64_t a = roots[k];
        enter_from<Distance>(ways, a, {dist[k], sigma[k]}, {demand[k], through[k]});
        // M(a, a), demand that leaves and enters at a, starts no path, and was counted from both ends.
        junction[k] -= demand[k][a];
        demand[k][a] = 0.0;
    }
    return true;
}

// Sum weights of the vertices inside each chain from its ends on: of none, of the first, of the first two, ...
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
// along   demand along each whole chain
// passed  is written: demand through each vertex
// edges   is written: demand along the edge from vertex i of a chain to the next one; vertex 0 is its first end
inline void spread_flows(const Ways& ways, const Flows& flows, Span<const double> along, Span<double> passed,
                         Span<double> edges) {
    const Span<double> out = flows.out[0], back = flows.out[1], around = flows.around[0], around_back = flows.around[1];
    for (int64_t c = 0; c < ways.count(); ++c) {
        const int64_t first = ways.starts[c], last = ways.starts[c + 1];
        double flow = along[c];
        for (int64_t i = first; i < last; ++i) flow += out[i] + around[i];
        edges[first + c] = flow;
        // A sum from each end: differences would leave rounding errors on edges without demand.
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
