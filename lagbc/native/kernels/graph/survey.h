// A small graph in one pass: its rows are checked, and if edges go both ways, its depth, order and rows in this order
// are found; lagbc/graph/graph.py.
//
// Each step is that of large graphs, whose steps are calls from Python: the results are the same.
#pragma once

#include <cmath>
#include <tuple>

#include "csr.h"
#include "order.h"
#include "search.h"

namespace lagbc::LAGBC_LEVEL {

// The depth of a symmetric pattern with edges, and the rows with entries: searched from the widest row, or, where that
// is outside of the largest component, from the widest row of this.
template <class Index>
std::tuple<int64_t, int64_t> depth_of(Span<const int64_t> indptr, Span<const Index> indices) {
    const auto [depth, reached, connected] = search_from_hub<Index>(indptr, indices, {});
    if (2 * reached >= connected) return {depth, connected};
    const Buffer<Index> components = find_components(indptr, indices);
    return {std::get<0>(search_from_hub<Index>(indptr, indices, {components.view(), true})), connected};
}

// Whether rows are canonical, symmetric with their lengths, and all lengths finite and > 0; then, too, whether the
// depth is above `high` times log2(n), the depth, the rows with entries, the largest length, and in `degrees` the
// lengths of rows. If the depth is not above, the order by falling length of rows is written, with its inverse, and the
// rows in this order.
//
// Rows in order are met one after the other, so that each row gets its columns in ascending order: i is put into the
// rows of its columns.
template <class Index>
std::tuple<bool, bool, int64_t, int64_t, double> survey(Span<const int64_t> indptr, Span<const Index> indices,
                                                        Optional<Span<const double>> lengths, double high,
                                                        Span<int64_t> degrees, Span<int64_t> order,
                                                        Span<int64_t> position, Span<int64_t> starts, Span<Index> heads,
                                                        Optional<Span<double>> values) {
    constexpr std::tuple<bool, bool, int64_t, int64_t, double> refused = {false, false, 0, 0, 0.0};
    const int64_t n = indptr.size - 1;
    if (inspect(indptr, indices, 0, n) != 0) return refused;
    if (2 * count_mirrored(indptr, indices, lengths, 0, n) != indices.size) return refused;
    double longest = 0;
    if (lengths.is_there) {
        for (const double length : lengths) {
            if (!(length > 0 && length < infinity)) return refused;
            longest = std::max(longest, length);
        }
    }
    int64_t depth = 0, active = 0;
    if (indices.size > 0) std::tie(depth, active) = depth_of(indptr, indices);
    for (int64_t i = 0; i < n; ++i) degrees[i] = indptr[i + 1] - indptr[i];
    if (static_cast<double>(depth) > high * std::log2(static_cast<double>(std::max<int64_t>(n, 2))))
        return {true, true, depth, active, longest};
    const Buffer<int64_t> ordered = order_by_length(indptr), first = begin_rows(indptr, ordered.view());
    Buffer<int64_t> next(n);
    for (int64_t i = 0; i < n; ++i) {
        order[i] = ordered[i];
        position[ordered[i]] = i;
        next[i] = starts[i] = first[i];
    }
    starts[n] = first[n];
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t e = indptr[order[i]]; e < indptr[order[i] + 1]; ++e) {
            const int64_t place = next[position[indices[e]]]++;
            heads[place] = static_cast<Index>(i);
            if (values.is_there) values[place] = lengths[e];
        }
    }
    return {true, false, depth, active, longest};
}

}  // namespace lagbc::LAGBC_LEVEL
