// The share of shortest paths from a root that pass through groups of vertices, for many groups at once.
//
// With sigma the numbers of shortest paths from a root, the share t of those to v that have passed through a group is
//
//     t[v] = 1 where v is in the group, else the sum of sigma[u] / sigma[v] * t[u] over the tight predecessors u of v
//
// and 0 at the root. It is the complement of a second count of paths, held at zero on the group, over the first; as a mean
// of shares it needs no count of its own, leaves no range, and is exactly 0 where no path passes.
#pragma once

#include "root.h"

namespace lagbc::LAGBC_LEVEL {

// Add the shares of the root reached[0]; those of vertices it does not reach are not read. `sigma` may be logarithms.
template <class Index>
void add_shares(const Csr<Index>& into, Span<const int64_t> reached, Span<const double> dist, Span<const double> sigma,
                bool is_log, double rtol, Matrix<const bool> in_group, bool endpoints, Matrix<double> shares,
                Span<bool> is_passed, Span<double> totals) {
    const int64_t root = reached[0], groups = totals.size;
    is_passed[root] = false;
    for (int64_t i = 1; i < reached.size; ++i) {
        const int64_t v = reached[i];
        const Span<double> share = shares[v];
        bool passed = false;
        share.fill(0.0);
        for (int64_t e = into.indptr[v]; e < into.indptr[v + 1]; ++e) {
            const int64_t u = into.indices[e];
            if (!is_passed[u] || !is_tight(dist[u], length_of_edge(into, e), dist[v], rtol)) continue;
            passed = true;
            const double part = is_log ? std::exp2(sigma[u] - sigma[v]) : sigma[u] / sigma[v];
            const Span<const double> before = shares[u];
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

}  // namespace lagbc::LAGBC_LEVEL
