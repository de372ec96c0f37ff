// Weights of the vertices of bicomponents, and the demand that a cut vertex separates: lagbc/reduce/blocks.py.
//
//     W_B(v) = W(v) + sum over bicomponents D != B at v of the branch of D
//     branch of B at v = sum over the other vertices x of B of W_B(x)
//     cut(v) = sum over pairs of bicomponents B != D at v of (sources in the branch of B) (targets in the branch of D)
//
// A term is left out of a sum by adding prefixes and suffixes, never by subtraction: nothing cancels.
#pragma once

#include <tuple>

#include "../buffer.h"
#include "../level.h"
#include "layout.h"

namespace lagbc::LAGBC_LEVEL {

// Set the weight of each attachment inside its bicomponent, without the branch of its home: W and all else that hangs
// on it.
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

// W_B of each copy, and the branch of its bicomponent there, of no meaning where a vertex is in no other one: for
// bicomponents that are connected both ways. O(copies).
template <class Index>
std::tuple<Buffer<double>, Buffer<double>> spread_weights(const Copies<Index>& copies, Span<const double> weights) {
    const auto& [ptr, vertices, home, at_home, attach, at_attach, hung_ptr, hung] = copies;
    Buffer<double> inside(vertices.size), branches(vertices.size, 0.0);
    Buffer<double> below(weights.size);            // W and the weights that hang on a vertex
    Buffer<bool> carries(copies.blocks(), false);  // whether anything hangs on a member of a bicomponent
    for (int64_t v = 0; v < weights.size; ++v) below[v] = weights[v];
    for (int64_t b = 0; b < copies.blocks(); ++b) {
        double total = 0.0;
        for (int64_t x = ptr[b]; x < ptr[b + 1]; ++x) {
            if (x == at_attach[b]) continue;
            inside[x] = below[vertices[x]];
            total += inside[x];
        }
        branches[at_attach[b]] = total;
        below[attach[b]] += total;
        if (home[attach[b]] >= 0) carries[home[attach[b]]] = true;
    }
    weigh_hung<Index>(copies, weights, {branches.data(), branches.size()}, inside.span());
    for (int64_t b = copies.blocks() - 1; b >= 0; --b) {
        if (home[attach[b]] >= 0) inside[at_attach[b]] += branches[at_home[attach[b]]];
        if (!carries[b]) continue;
        double others = 0.0;
        for (int64_t x = ptr[b]; x < ptr[b + 1]; ++x) {
            if (x != at_attach[b]) branches[x] = others;
            others += inside[x];
        }
        others = 0.0;
        for (int64_t x = ptr[b + 1] - 1; x >= ptr[b]; --x) {
            if (x != at_attach[b]) branches[x] += others;
            others += inside[x];
        }
    }
    return {std::move(inside), std::move(branches)};
}

// cut(v), where `sources` and `targets` are branches of these; O(n + blocks).
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

}  // namespace lagbc::LAGBC_LEVEL
