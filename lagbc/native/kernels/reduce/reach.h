// Weights of the vertices of bicomponents in which not every vertex reaches every other: lagbc/reduce/blocks.py.
//
//     branch of B at v = sum over the other vertices x of B that v reaches in B of W_B(x)
//
// All vertices of a strong component reach the same. One walk over the arcs between components serves 64 of them: bit k
// of a component says whether the k-th reaches it.
#pragma once

#include <algorithm>
#include <bit>
#include <tuple>

#include "../buffer.h"
#include "layout.h"
#include "strong.h"
#include "weights.h"

namespace lagbc {

// Sums over the components in reach along arcs. Components of a bicomponent have the numbers first to last, and arcs
// lead to smaller numbers, or to larger ones if they are `rising`.
template <class Index>
class ArcSums {
public:
    ArcSums(Span<const int64_t> ends, Span<const Index> heads, bool rising)
        : ends_(ends),
          heads_(heads),
          rising_(rising),
          total_(ends.size - 1, 0.0),
          beyond_(ends.size - 1, 0.0),
          queue_(ends.size - 1),
          seen_(ends.size - 1, false),
          bits_(ends.size - 1, uint64_t{0}) {}

    // The sum of the copies of a component.
    double& total(Index component) const { return total_[component]; }

    // The sum of all other components in reach of a seed of `sum_beyond`.
    double beyond(Index component) const { return beyond_[component]; }

    // Sum up the components in reach of one, itself included.
    double sum_from(Index start) const {
        int64_t count = 1;
        double reached = total_[start];
        queue_[0] = start;
        seen_[start] = true;
        for (int64_t k = 0; k < count; ++k) {
            for (int64_t e = ends_[queue_[k]]; e < ends_[queue_[k] + 1]; ++e) {
                const Index d = heads_[e];
                if (seen_[d]) continue;
                seen_[d] = true;
                reached += total_[d];
                queue_[count++] = d;
            }
        }
        for (int64_t k = 0; k < count; ++k) seen_[queue_[k]] = false;
        return reached;
    }

    // Sum up the other components of a bicomponent in reach of each of at most 64 ascending seeds. Bits are 0 before
    // and after.
    void sum_beyond(int64_t first, int64_t last, Span<const Index> seeds) const {
        for (int64_t k = 0; k < seeds.size; ++k) {
            beyond_[seeds[k]] = 0.0;
            bits_[seeds[k]] = uint64_t{1} << k;
        }
        const int64_t step = rising_ ? 1 : -1, end = rising_ ? last : first - 1;
        int64_t own = rising_ ? 0 : seeds.size - 1;  // the next seed on the way
        for (int64_t c = seeds[own]; c != end; c += step) {
            uint64_t reaching = std::exchange(bits_[c], 0);
            if (reaching == 0) continue;
            for (int64_t e = ends_[c]; e < ends_[c + 1]; ++e) bits_[heads_[e]] |= reaching;
            if (0 <= own && own < seeds.size && seeds[own] == c) {
                reaching &= ~(uint64_t{1} << own);
                own += step;
            }
            if (!(total_[c] > 0.0)) continue;
            for (; reaching != 0; reaching &= reaching - 1) beyond_[seeds[std::countr_zero(reaching)]] += total_[c];
        }
    }

private:
    Span<const int64_t> ends_;
    Span<const Index> heads_;
    bool rising_;
    Buffer<double> total_, beyond_;
    Buffer<Index> queue_;
    Buffer<bool> seen_;
    Buffer<uint64_t> bits_;
};

// Set the branch at each copy of a component, 0 before: the sum beyond the component, and of its other copies.
template <class Index>
void fill_branches(const Strong<Index>& strong, Index component, int64_t attachment, double beyond,
                   Span<const double> inside, Span<double> branches) {
    without_each(
        strong.member_ptr[component], strong.member_ptr[component + 1], beyond,
        [&](int64_t k) { return inside[strong.members[k]]; },
        [&](int64_t k, double others) {
            const Index x = strong.members[k];
            if (x != attachment) branches[x] += others;
        });
}

// W_B of each copy, and the branch of its bicomponent there; `ends` and `heads` are the rows of arcs between
// components, reversed ones for weights that reach a vertex. O(copies + arcs), and O(components + arcs + reached
// components) for each 64 components of a bicomponent that have cut vertices.
template <class Index>
std::tuple<Buffer<double>, Buffer<double>> spread_along(const Copies<Index>& copies, const Strong<Index>& strong,
                                                        Span<const int64_t> ends, Span<const Index> heads, bool rising,
                                                        Span<const double> weights) {
    const auto& [ptr, vertices, home, at_home, attach, at_attach, hung_ptr, hung] = copies;
    const Span<const Index> component = strong.component;
    const ArcSums<Index> reached(ends, heads, rising);
    Buffer<double> inside(vertices.size), branches(vertices.size, 0.0);
    Buffer<double> below(weights.size);            // W and the weights that hang on a vertex
    Buffer<bool> carries(copies.blocks(), false);  // whether anything hangs on a member of a bicomponent
    for (int64_t v = 0; v < weights.size; ++v) below[v] = weights[v];
    for (int64_t b = 0; b < copies.blocks(); ++b) {
        for (int64_t x = ptr[b]; x < ptr[b + 1]; ++x) {
            if (x == at_attach[b]) continue;
            inside[x] = below[vertices[x]];
            reached.total(component[x]) += inside[x];
        }
        const double total = reached.sum_from(component[at_attach[b]]);
        branches[at_attach[b]] = total;
        below[attach[b]] += total;
        if (home[attach[b]] >= 0) carries[home[attach[b]]] = true;
    }
    weigh_hung(copies, weights, branches.view(), inside.span());
    Buffer<bool> marked(strong.count(), false);
    Buffer<Index> seeds(strong.count());
    for (int64_t b = copies.blocks() - 1; b >= 0; --b) {
        const int64_t attachment = at_attach[b], at = at_home[attach[b]];
        if (at >= 0) inside[attachment] += branches[at];
        reached.total(component[attachment]) += inside[attachment];
        if (!carries[b]) continue;
        for (int64_t x = ptr[b]; x < ptr[b + 1]; ++x)
            if (x != attachment && hung_ptr[vertices[x]] < hung_ptr[vertices[x] + 1]) marked[component[x]] = true;
        const int64_t first = strong.component_ptr[b], last = strong.component_ptr[b + 1];
        int64_t found = 0;
        for (int64_t c = first; c < last; ++c)  // in this order, as neighbours mostly reach the same
            if (std::exchange(marked[c], false)) seeds[found++] = static_cast<Index>(c);
        for (int64_t k = 0; k < found; k += 64)
            reached.sum_beyond(first, last, {&seeds[k], std::min<int64_t>(64, found - k)});
        for (int64_t k = 0; k < found; ++k)
            fill_branches(strong, seeds[k], attachment, reached.beyond(seeds[k]), inside.view(), branches.span());
    }
    return {std::move(inside), std::move(branches)};
}

}  // namespace lagbc
