// All that is found out of a small graph, by one call: lagbc/graph/graph.py. The steps are the kernels that Python
// calls one by one for large graphs: the results are the same.
#pragma once

#include <cmath>
#include <tuple>

#include "csr.h"
#include "order.h"
#include "search.h"

namespace lagbc {

// The depth of a symmetric pattern with edges, and the count of rows with entries. The search is from the widest row,
// or, if that reaches less than half of them, from the widest row of the largest component.
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

// Whether a graph of n vertices whose search has this depth is one of high diameter.
inline bool is_high(int64_t depth, double high, int64_t n) {
    return static_cast<double>(depth) > high * std::log2(static_cast<double>(std::max<int64_t>(n, 2)));
}

// Return whether rows are canonical and symmetric with their lengths, and all lengths finite and > 0. If so, also
// whether the diameter is high, the depth, the count of rows with entries, and the largest length; and `degrees`, the
// lengths of rows, are written. If the diameter is not high, so are the order by falling length of rows, its inverse,
// and the rows in this order.
//
// Row i, in this order, is put into the rows of its columns: with i ascending, each row gets ascending columns.
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

// Room for the rows of a matrix.
template <class Index>
struct RowsRoom {
    Span<int64_t> indptr;
    Span<Index> heads;
    Optional<Span<double>> values;

    LAGBC_INLINE Csr<Index> view() const { return {indptr, heads, {{values.data, values.size}, values.is_there}}; }
};

// Put entries under their columns, in each in the order of storage.
template <class Index>
void put_under_columns(const Entries<Index>& entries, const RowsRoom<Index>& put) {
    put.indptr[0] = 0;
    sort_range(entries, 0, put.indptr.size - 1, 0, entries.rows.size, put.indptr, put.heads, put.values);
}

template <class Index>
void transpose(const Csr<Index>& graph, const RowsRoom<Index>& put) {
    Buffer<Index> rows(graph.indices.size);
    expand_rows(graph.indptr, 0, graph.n(), rows.span());
    put_under_columns<Index>({rows.view(), graph.indices, graph.lengths}, put);
}

// `survey` of rows that need not be symmetric; depth and order are those of the pattern both ways. Four matrices are
// written, one behind the other: the transpose, then in order the transpose and the rows, then the pattern both ways.
// Their pointers, and behind them order and inverse, go to `numbers`, columns to `heads`, lengths to `values`. If the
// diameter is high, nothing is put in order.
template <class Index>
std::tuple<bool, bool, int64_t, int64_t, double> survey_one_way(Span<const int64_t> indptr, Span<const Index> indices,
                                                                Optional<Span<const double>> lengths, double high,
                                                                Span<int64_t> numbers, Span<Index> heads,
                                                                Optional<Span<double>> values) {
    const int64_t n = indptr.size - 1, size = indices.size;
    const auto [are_lengths, longest] = longest_of(lengths);
    if (!are_lengths || inspect(indptr, indices, 0, n) != 0) return {false, false, 0, 0, 0.0};
    const auto room = [&](int64_t number) LAGBC_INLINED -> RowsRoom<Index> {
        return {{numbers.data + number * (n + 1), n + 1},
                {heads.data + number * size, size},
                {{values.data + number * size, values.is_there ? size : 0}, values.is_there}};
    };
    const Csr<Index> graph{indptr, indices, lengths};
    const RowsRoom<Index> reverse = room(0), into = room(1), out = room(2), both = room(3);
    transpose(graph, reverse);
    both.indptr.fill(0);
    count_joined(graph, reverse.view(), 0, n, both.indptr);
    for (int64_t i = 0; i < n; ++i) both.indptr[i + 1] += both.indptr[i];
    const Span<Index> pattern{both.heads.data, both.indptr[n]};
    join<Index>(graph, reverse.view(), 0, n, both.indptr, pattern, {});
    int64_t depth = 0, active = 0;
    if (size > 0) std::tie(depth, active) = depth_of<Index>(both.indptr, pattern);
    if (is_high(depth, high, n)) return {true, true, depth, active, longest};
    const Buffer<int64_t> order = order_by_length(both.indptr), starts = begin_rows(indptr, order.view());
    Buffer<Index> places(n), tails(size), columns(size);
    Buffer<double> moved(size);
    for (int64_t i = 0; i < n; ++i) {
        numbers[4 * (n + 1) + i] = order[i];
        numbers[4 * (n + 1) + n + order[i]] = i;
        places[order[i]] = static_cast<Index>(i);
    }
    relabel<Index>(graph, order.view(), places.view(), 0, n, starts.view(), {tails.span(), true}, columns.span(),
                   {moved.span(), lengths.is_there});
    put_under_columns<Index>({tails.view(), columns.view(), {moved.view(), lengths.is_there}}, into);
    transpose(into.view(), out);
    return {true, false, depth, active, longest};
}

}  // namespace lagbc
