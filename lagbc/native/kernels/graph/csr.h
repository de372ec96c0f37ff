// Compressed sparse rows: checked, sorted by counting, transposed, joined and permuted; lagbc/graph/host.py.
//
// A kernel takes a part of the rows or entries, first to last, and writes entries that this part alone owns: neither
// the number of threads that share the parts nor their order changes a result.
#pragma once

#include <algorithm>

#include "../buffer.h"

namespace lagbc {

// Entries of a matrix in any order.
template <class Index>
struct Entries {
    Span<const Index> rows, columns;
    Optional<Span<const double>> values;
};

// Room for entries.
template <class Index>
struct EntriesRoom {
    Span<Index> rows, columns;
    Optional<Span<double>> values;

    LAGBC_INLINE void put(int64_t place, const Entries<Index>& from, int64_t e) const {
        rows[place] = from.rows[e];
        columns[place] = from.columns[e];
        if (values.is_there) values[place] = from.values[e];
    }
};

// The bits of the result of `inspect`.
inline constexpr int64_t outside = 1, unsorted = 2, unmerged = 4, falling = 8;

// Return the faults of rows that are not canonical: columns outside the matrix, rows that do not ascend, loops and
// repeated entries, pointers that fall or lie beyond the entries. No row is read from the first such pointer on.
template <class Index>
int64_t inspect(Span<const int64_t> indptr, Span<const Index> indices, int64_t first, int64_t last) {
    const int64_t n = indptr.size - 1;
    bool is_outside = false, is_unsorted = false, is_unmerged = false;
    for (int64_t i = first; i < last; ++i) {
        if (indptr[i] < 0 || indptr[i] > indptr[i + 1] || indptr[i + 1] > indices.size) return falling;
        int64_t before = -1;
        for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
            const int64_t j = indices[e];
            is_outside |= (j < 0) | (j >= n);
            is_unsorted |= j < before;
            is_unmerged |= (j == before) | (j == i);
            before = j;
        }
    }
    return is_outside * outside + is_unsorted * unsorted + is_unmerged * unmerged;
}

// Call `visit` with the places of each entry (i, j) of canonical rows first to last with i < j, and of (j, i). Return
// false at once if `visit` does, or where the pattern is found not to be symmetric. As rows come in order, row j is
// asked for its columns i in order: the next one has to be i.
template <class Index, class Visit>
bool each_mirrored(Span<const int64_t> indptr, Span<const Index> indices, int64_t first, int64_t last, Visit&& visit) {
    constexpr int64_t ahead = 16;  // entries: rows of large graphs lie in no cache
    struct Left {
        int64_t next, end;
    };
    Buffer<Left> left(indptr.size - 1, {-1, 0});
    for (int64_t i = first; i < last; ++i) {
        for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
            const int64_t j = indices[e];
            if (e + ahead < indices.size) __builtin_prefetch(&left[indices[e + ahead]]);
            if (j < i) continue;
            auto& [next, end] = left[j];
            if (next < 0) {
                end = indptr[j + 1];
                next = std::lower_bound(indices.data + indptr[j], indices.data + end, i) - indices.data;
            }
            if (next == end || indices[next] != i || !visit(e, next)) return false;
            ++next;
        }
    }
    return true;
}

// Count the entries (i, j) of canonical rows first to last with i < j; -1 where the matrix is found to be asymmetric.
template <class Index>
int64_t count_mirrored(Span<const int64_t> indptr, Span<const Index> indices, Optional<Span<const double>> values,
                       int64_t first, int64_t last) {
    int64_t count = 0;
    const auto is_equal = [&](int64_t e, int64_t mirrored) {
        ++count;
        return !values.is_there || values[mirrored] == values[e];
    };
    return each_mirrored(indptr, indices, first, last, is_equal) ? count : -1;
}

// Write (values[(j, i)] + values[(i, j)]) * factor at (i, j) and (j, i), for all entries (i, j) of rows first to last
// of a symmetric matrix with i < j.
template <class Index>
void add_mirrored(Span<const int64_t> indptr, Span<const Index> indices, Span<const double> values, double factor,
                  int64_t first, int64_t last, Span<double> sums) {
    each_mirrored(indptr, indices, first, last, [&](int64_t e, int64_t mirrored) {
        sums[e] = sums[mirrored] = (values[mirrored] + values[e]) * factor;
        return true;
    });
}

// Drop loops and sum repeated entries of sorted rows, from left to right, in place; return the count of entries left.
template <class Index>
int64_t merge(Span<int64_t> indptr, Span<Index> indices, Optional<Span<double>> values) {
    int64_t kept = 0, begin = indptr[0];
    for (int64_t i = 0; i < indptr.size - 1; ++i) {
        const int64_t end = indptr[i + 1], start = kept;
        for (int64_t e = begin; e < end; ++e) {
            const Index j = indices[e];
            if (j == i) continue;
            if (kept > start && indices[kept - 1] == j) {
                if (values.is_there) values[kept - 1] += values[e];
                continue;
            }
            indices[kept] = j;
            if (values.is_there) values[kept] = values[e];
            ++kept;
        }
        begin = end;
        indptr[i + 1] = kept;
    }
    return kept;
}

// Write the row of each entry.
template <class Index>
void expand_rows(Span<const int64_t> indptr, int64_t first, int64_t last, Span<Index> rows) {
    for (int64_t i = first; i < last; ++i)
        for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) rows[e] = static_cast<Index>(i);
}

// Count the entries in each range of 2**shift columns.
template <class Index>
void count_ranges(Span<const Index> columns, int64_t first, int64_t last, int64_t shift, Span<int64_t> counts) {
    for (int64_t e = first; e < last; ++e) ++counts[columns[e] >> shift];
}

// Put entries under their ranges of 2**shift columns, in each in the order of storage; `places` has the next place of
// each range.
template <class Index>
void put_under_ranges(const Entries<Index>& entries, int64_t first, int64_t last, int64_t shift, Span<int64_t> places,
                      const EntriesRoom<Index>& put) {
    for (int64_t e = first; e < last; ++e) put.put(places[entries.columns[e] >> shift]++, entries, e);
}

// Put entries begin to end, all those in columns first to last, under their columns, in each in the order of storage:
// these are rows first to last of the transpose, `indptr` and `heads`.
template <class Index>
void sort_range(const Entries<Index>& entries, int64_t first, int64_t last, int64_t begin, int64_t end,
                Span<int64_t> indptr, Span<Index> heads, Optional<Span<double>> values) {
    Buffer<int64_t> places(last - first + 1, 0);
    for (int64_t e = begin; e < end; ++e) ++places[entries.columns[e] - first + 1];
    places[0] = begin;
    for (int64_t j = 0; j < last - first; ++j) {
        places[j + 1] += places[j];
        indptr[first + j + 1] = places[j + 1];
    }
    for (int64_t e = begin; e < end; ++e) {
        const int64_t place = places[entries.columns[e] - first]++;
        heads[place] = entries.rows[e];
        if (values.is_there) values[place] = entries.values[e];
    }
}

// Count the columns that are in row i of either matrix, at counts[i + 1]; rows are canonical.
template <class Index>
void count_joined(const Csr<Index>& ours, const Csr<Index>& theirs, int64_t first, int64_t last, Span<int64_t> counts) {
    for (int64_t i = first; i < last; ++i) {
        int64_t a = ours.indptr[i], b = theirs.indptr[i], both = 0;
        const int64_t a_end = ours.indptr[i + 1], b_end = theirs.indptr[i + 1], entries = a_end - a + b_end - b;
        while (a < a_end && b < b_end) {
            const Index x = ours.indices[a], y = theirs.indices[b];
            both += x == y;
            a += x <= y;
            b += y <= x;
        }
        counts[i + 1] = entries - both;
    }
}

// Write these columns, each with the smaller of its values.
template <class Index>
void join(const Csr<Index>& ours, const Csr<Index>& theirs, int64_t first, int64_t last, Span<const int64_t> indptr,
          Span<Index> indices, Optional<Span<double>> values) {
    for (int64_t i = first; i < last; ++i) {
        int64_t a = ours.indptr[i], b = theirs.indptr[i];
        const int64_t a_end = ours.indptr[i + 1], b_end = theirs.indptr[i + 1];
        for (int64_t place = indptr[i]; place < indptr[i + 1]; ++place) {
            const bool in_ours = a < a_end && (b == b_end || ours.indices[a] <= theirs.indices[b]);
            const bool in_theirs = b < b_end && (a == a_end || theirs.indices[b] <= ours.indices[a]);
            indices[place] = in_ours ? ours.indices[a] : theirs.indices[b];
            if (values.is_there) {
                if (in_ours && in_theirs)
                    values[place] = std::min(ours.lengths[a], theirs.lengths[b]);
                else
                    values[place] = in_ours ? ours.lengths[a] : theirs.lengths[b];
            }
            a += in_ours;
            b += in_theirs;
        }
    }
}

// The row pointers of the matrix whose row i is row order[i].
inline Buffer<int64_t> begin_rows(Span<const int64_t> indptr, Span<const int64_t> order) {
    Buffer<int64_t> starts(order.size + 1);
    starts[0] = 0;
    for (int64_t i = 0; i < order.size; ++i) starts[i + 1] = starts[i] + indptr[order[i] + 1] - indptr[order[i]];
    return starts;
}

// Write rows i of that matrix, with position[j] for column j; `starts` are its pointers, and `tails` gets the row of
// each entry.
template <class Index>
void relabel(const Csr<Index>& graph, Span<const int64_t> order, Span<const Index> position, int64_t first,
             int64_t last, Span<const int64_t> starts, Optional<Span<Index>> tails, Span<Index> heads,
             Optional<Span<double>> values) {
    for (int64_t i = first; i < last; ++i) {
        const int64_t row = order[i], shift = starts[i] - graph.indptr[row];
        for (int64_t e = graph.indptr[row]; e < graph.indptr[row + 1]; ++e) {
            heads[e + shift] = position[graph.indices[e]];
            if (tails.is_there) tails[e + shift] = static_cast<Index>(i);
            if (values.is_there) values[e + shift] = graph.lengths[e];
        }
    }
}

}  // namespace lagbc
