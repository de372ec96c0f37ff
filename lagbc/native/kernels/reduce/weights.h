// Weights of the vertices of bicomponents, and the demand that a cut vertex separates: lagbc/reduce/blocks.py.
//
//     W_B(v) = W(v) + sum over bicomponents D != B at v of the branch of D
//     branch of B at v = sum over the other vertices x of B of W_B(x)
//     cut(v) = sum over pairs of bicomponents B != D at v of (sources in the branch of B) (targets in the branch of D)
//
// A sum without one term is that of a prefix and a suffix, never a difference: nothing cancels.
#pragma once

#include <tuple>

#include "../buffer.h"
#include "layout.h"

namespace lagbc {

// Call visit(k, others) for each place k, twice: with `before` and the terms before k, and with the terms behind it.
// Both together are the sum of all terms but that of k, so that `visit` adds. Return the sum of all terms.
template <class Term, class Visit>
LAGBC_INLINE double without_each(int64_t first, int64_t last, double before, const Term& term, const Visit& visit) {
    double others = before, behind = 0.0;
    for (int64_t k = first; k < last; ++k) {
        visit(k, others);
        others += term(k);
    }
    for (int64_t k = last - 1; k >= first; --k) {
        visit(k, behind);
        behind += term(k);
    }
    return behind;
}

// Set the weight of each attachment inside its bicomponent, without the branch of its home: W, and the branches of the
// other bicomponents that hang on it.
template <class Index>
void weigh_hung(const Copies<Index>& copies, Span<const double> weights, Span<const double> branches,
                Span<double> inside) {
    for (int64_t v = 0; v < weights.size; ++v) {
        const auto at = [&](int64_t k) { return copies.at_attach[copies.hung[k]]; };
        const int64_t first = copies.hung_ptr[v], last = copies.hung_ptr[v + 1];
        for (int64_t k = first; k < last; ++k) inside[at(k)] = 0.0;
        without_each(
            first, last, weights[v], [&](int64_t k) { return branches[at(k)]; },
            [&](int64_t k, double others) { inside[at(k)] += others; });
    }
}

// cut(v) of each vertex, of the branches of sources and of targets; O(n + blocks).
template <class Index>
Buffer<double> sum_separated(const Copies<Index>& copies, Span<const double> sources, Span<const double> targets) {
    const int64_t n = copies.home.size;
    Buffer<double> cut(n);
    for (int64_t v = 0; v < n; ++v) {
        const auto at = [&](int64_t k) { return copies.at_attach[copies.hung[k]]; };
        const int64_t home = copies.at_home[v];
        double total = 0.0;
        const double hung = without_each(
            copies.hung_ptr[v], copies.hung_ptr[v + 1], home >= 0 ? targets[home] : 0.0,
            [&](int64_t k) { return targets[at(k)]; },
            [&](int64_t k, double others) { total += sources[at(k)] * others; });
        if (home >= 0) total += sources[home] * hung;
        cut[v] = total;
    }
    return cut;
}

}  // namespace lagbc
