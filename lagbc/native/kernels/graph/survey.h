// A small graph in one pass: its rows are checked, and its depth, order and rows in this order are found; of a graph
// whose edges do not go both ways, the transpose and the pattern both ways, too; lagbc/graph/graph.py.
//
// Each step is that of large graphs, which Python calls by itself: the results are the same.
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

// Whether all lengths are finite and > 0, and the largest.
inline std::tuple<bool, double> longest_of(Optional<Span<const double>> lengths) {
    double longest = 0;
    if (lengths.is_there) {
        for (const double length : lengths) {
            if (!(length > 0 && length < infinity)) return {false, 0.0};
            longest = std::max(longest, length);
        }
    }
    return {true, longest};
}

// Whether a search of such a depth marks a graph of n vertices as one of high diameter.
inline bool is_high(int64_t depth, double high, int64_t n) {
    return static_cast<double>(depth) > high * std::log2(static_cast<double>(std::max<int64_t>(n, 2)));
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
    const auto [are_lengths, longest] = longest_of(lengths);
    if (!are_lengths) return refused;
    int64_t depth = 0, active = 0;
    if (indices.size > 0) std::tie(depth, active) = depth_of(indptr, indices);
    for (int64_t i = 0; i < n; ++i) degrees[i] = indptr[i + 1] - indptr[i];
    if (is_high(depth, high, n)) return {true, true, depth, active, longest};
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

// Rows that a kernel makes; without lengths where the rows that they are made of have none.
template <class Index>
using RowsMade = std::tuple<Buffer<int64_t>, Buffer<Index>, Buffer<double>>;

template <class Index>
Csr<Index> view_of(const RowsMade<Index>& rows, bool with_lengths) {
    const auto& [indptr, indices, lengths] = rows;
    return {indptr.view(), indices.view(), {lengths.view(), with_lengths}};
}

// Put entries under their columns, as listed in each.
template <class Index>
RowsMade<Index> under_columns(const Entries<Index>& entries, int64_t n) {
    const int64_t size = entries.rows.size;
    RowsMade<Index> made{Buffer<int64_t>(n + 1), Buffer<Index>(size),
                         Buffer<double>(entries.values.is_there ? size : 0)};
    auto& [indptr, heads, values] = made;
    indptr[0] = 0;
    sort_range(entries, 0, n, 0, size, indptr.span(), heads.span(), {values.span(), entries.values.is_there});
    return made;
}

template <class Index>
RowsMade<Index> transpose_of(const Csr<Index>& graph) {
    Buffer<Index> rows(graph.indices.size);
    expand_rows(graph.indptr, 0, graph.n(), rows.span());
    return under_columns<Index>({rows.view(), graph.indices, graph.lengths}, graph.n());
}

// The pattern with every edge in both directions.
template <class Index>
RowsMade<Index> both_ways(const Csr<Index>& ours, const Csr<Index>& theirs) {
    const int64_t n = ours.n();
    Buffer<int64_t> indptr(n + 1, 0);
    count_joined(ours, theirs, 0, n, indptr.span());
    for (int64_t i = 0; i < n; ++i) indptr[i + 1] += indptr[i];
    Buffer<Index> indices(indptr[n]);
    join<Index>(ours, theirs, 0, n, indptr.view(), indices.span(), {});
    return {std::move(indptr), std::move(indices), Buffer<double>(0)};
}

// Whether rows are canonical, and all lengths finite and > 0; whether the depth is high, the depth, the vertices with
// edges, the largest length; the transpose; the pattern both ways; the order and its inverse; and in this order the
// transpose and the rows.
template <class Index>
using OneWay = std::tuple<bool, bool, int64_t, int64_t, double, RowsMade<Index>, RowsMade<Index>, Buffer<int64_t>,
                          Buffer<int64_t>, RowsMade<Index>, RowsMade<Index>>;

// The same as `survey` of rows that need not be symmetric: the pattern both ways tells depth and order. Of a graph of
// high diameter the order, and all in it, have no entries.
template <class Index>
OneWay<Index> survey_one_way(Span<const int64_t> indptr, Span<const Index> indices,
                             Optional<Span<const double>> lengths, double high) {
    const int64_t n = indptr.size - 1, size = indices.size;
    const Csr<Index> graph{indptr, indices, lengths};
    OneWay<Index> found;
    auto& [are_fit, has_high_diameter, depth, active, longest, reverse, both, order, position, into, out] = found;
    std::tie(are_fit, longest) = longest_of(lengths);
    are_fit = are_fit && inspect(indptr, indices, 0, n) == 0;
    if (!are_fit) return found;
    reverse = transpose_of(graph);
    both = both_ways(graph, view_of(reverse, lengths.is_there));
    const Csr<Index> pattern = view_of(both, false);
    if (size > 0) std::tie(depth, active) = depth_of(pattern.indptr, pattern.indices);
    has_high_diameter = is_high(depth, high, n);
    if (has_high_diameter) return found;
    order = order_by_length(pattern.indptr);
    position = places_in(order.view());
    const Buffer<int64_t> starts = begin_rows(indptr, order.view());
    Buffer<Index> places(n), tails(size), heads(size);
    Buffer<double> values(size);
    for (int64_t i = 0; i < n; ++i) places[i] = static_cast<Index>(position[i]);
    relabel<Index>(graph, order.view(), places.view(), 0, n, starts.view(), {tails.span(), true}, heads.span(),
                   {values.span(), lengths.is_there});
    into = under_columns<Index>({tails.view(), heads.view(), {values.view(), lengths.is_there}}, n);
    out = transpose_of(view_of(into, lengths.is_there));
    return found;
}

}  // namespace lagbc::LAGBC_LEVEL
