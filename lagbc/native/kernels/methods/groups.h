// The share of shortest paths that pass through groups, of a root that is searched by itself:
// lagbc/methods/cpu/searches.py.
#pragma once

#include <cmath>

#include "../buffer.h"

namespace lagbc {

// Add the shares of the root reached[0].
//
//     t[v] = 1 where v is in the group, else the sum of sigma[u] / sigma[v] * t[u] over the tight predecessors u of v
//
// into       edges that enter each vertex
// reached    the vertices in reach, by their distances
// sigma      path counts, or their logarithms to the base of 2
// in_group   (n, groups): whether a vertex is in a group
// endpoints  whether a pair with an end in a group counts wholly, or else not at all
// shares     (n, groups): room for t
// is_passed  (n,): room to note whether any t of a vertex is not 0
// totals     (groups,): the sums of t over all targets grow by this root's
template <class Index>
void add_group_shares(const Csr<Index>& into, Span<const int64_t> reached, Span<const double> dist,
                      Span<const double> sigma, bool is_log, double rtol, Matrix<const bool> in_group, bool endpoints,
                      Matrix<double> shares, Span<bool> is_passed, Span<double> totals) {
    const int64_t root = reached[0], groups = totals.size;
    is_passed[root] = false;
    for (int64_t i = 1; i < reached.size; ++i) {
        const int64_t v = reached[i];
        const Span<double> share = shares[v];
        bool passed = false;
        share.fill(0.0);
        for (int64_t e = into.indptr[v]; e < into.indptr[v + 1]; ++e) {
            const Index u = into.indices[e];
            const double length = into.lengths.is_there ? into.lengths[e] : 1.0;
            const bool is_tight = dist[u] < dist[v] && std::fabs(dist[u] + length - dist[v]) <= rtol * dist[v];
            if (!is_tight || !is_passed[u]) continue;
            passed = true;
            const double part = is_log ? std::exp2(sigma[u] - sigma[v]) : sigma[u] / sigma[v];
            const Span<double> before = shares[u];
            for (int64_t g = 0; g < groups; ++g) share[g] += part * before[g];
        }
        for (int64_t g = 0; g < groups; ++g) {
            if (in_group[v][g]) {
                passed = true;
                share[g] = 1.0;
            }
            totals[g] += in_group[root][g] || in_group[v][g] ? static_cast<double>(endpoints) : share[g];
        }
        is_passed[v] = passed;
    }
}

}  // namespace lagbc
