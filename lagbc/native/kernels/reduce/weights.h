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

// Set the weight of each attachment inside its bicomponent, without the branch of its home: W, and the branches of the
// other bicomponents that hang on it.
template <class Index>
void weigh_hung(const Copies<Index>& copies, Span<const double> weights, Span<const double> branches,
                Span<double> inside) {
    for (int64_t v = 0; v < weights.size; ++v) {
        const int64_t first = copies.hung_ptr[v], last = copies.hung_ptr[v + 1];
        double others = weights[v];
        for (int64_t k = first; k < last; ++k) {
            const int64_t x = copies.at_attach[copies.hung[k]];
            inside[x] = others;
            others += branches[x];
        }
        others = 0.0;
        for (int64_t k = last - 1; k >= first; --k) {
            const int64_t x = copies.at_attach[copies.hung[k]];
            inside[x] += others;
            others += branches[x];
        }
    }
}

// cut(v) of each vertex, of the branches of sources and of targets; O(n + blocks).
template <class Index>
Buffer<double> sum_separated(const Copies<Index>& copies, Span<const double> sources, Span<const double> targets) {
    const int64_t n = copies.home.size;
    Buffer<double> cut(n);
    for (int64_t v = 0; v < n; ++v) {
        const int64_t first = copies.hung_ptr[v], last = copies.hung_ptr[v + 1], home = copies.at_home[v];
        double total = 0.0, others = home >= 0 ? targets[home] : 0.0;
        for (int64_t k = first; k < last; ++k) {
            const int64_t x = copies.at_attach[copies.hung[k]];
            total += sources[x] * others;
            others += targets[x];
        }
        others = 0.0;
        for (int64_t k = last - 1; k >= first; --k) {
            const int64_t x = copies.at_attach[copies.hung[k]];
            total += sources[x] * others;
            others += targets[x];
        }
        if (home >= 0) total += sources[home] * others;
        cut[v] = total;
    }
    return cut;
}

}  // namespace lagbc
