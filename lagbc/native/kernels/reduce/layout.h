// The bicomponents of a graph laid out one after the other, as one block-diagonal matrix: lagbc/reduce/blocks.py.
//
// A vertex has a copy in each of its bicomponents. The copies of a bicomponent lie together, in the order of the
// vertices. Columns are copies, too, and rows are canonical without sorting.
#pragma once

#include <tuple>

#include "../buffer.h"

namespace lagbc {

// The vertices of bicomponents.
template <class Index>
struct Copies {
    Span<const int64_t> ptr;        // the copies of bicomponent b are ptr[b] to ptr[b + 1]
    Span<const Index> vertices;     // vertex of each copy, ascending in a bicomponent
    Span<const Index> home;         // the bicomponent that a vertex is a member of, -1 for none
    Span<const int64_t> at_home;    // its copy there, -1 for none
    Span<const Index> attach;       // the attachment of each bicomponent: its one vertex that is no member
    Span<const int64_t> at_attach;  // the copy of the attachment there
    Span<const int64_t> hung_ptr;   // the bicomponents whose attachment is v: hung[hung_ptr[v]:hung_ptr[v + 1]]
    Span<const Index> hung;

    int64_t blocks() const { return attach.size; }
};

// The arrays of `Copies` except `home` and `attach`, in O(n + blocks).
template <class Index>
std::tuple<Buffer<int64_t>, Buffer<Index>, Buffer<int64_t>, Buffer<int64_t>, Buffer<int64_t>, Buffer<Index>> lay_out(
    Span<const Index> home, Span<const Index> attach) {
    const int64_t n = home.size, blocks = attach.size;
    Buffer<int64_t> ptr(blocks + 1, 0), hung_ptr(n + 1, 0);
    for (const Index b : home)
        if (b >= 0) ++ptr[b + 1];
    for (int64_t b = 0; b < blocks; ++b) {
        ptr[b + 1] += ptr[b] + 1;
        ++hung_ptr[attach[b] + 1];
    }
    for (int64_t v = 0; v < n; ++v) hung_ptr[v + 1] += hung_ptr[v];
    Buffer<Index> hung(blocks), vertices(ptr[blocks]);
    Buffer<int64_t> at_home(n, -1), at_attach(blocks), of_vertices(n), of_blocks(blocks);  // place of the next one
    for (int64_t v = 0; v < n; ++v) of_vertices[v] = hung_ptr[v];
    for (int64_t b = 0; b < blocks; ++b) {
        of_blocks[b] = ptr[b];
        hung[of_vertices[attach[b]]++] = static_cast<Index>(b);
    }
    for (int64_t v = 0; v < n; ++v) {
        if (home[v] >= 0) {
            at_home[v] = of_blocks[home[v]]++;
            vertices[at_home[v]] = static_cast<Index>(v);
        }
        for (int64_t k = hung_ptr[v]; k < hung_ptr[v + 1]; ++k) {
            const Index b = hung[k];
            at_attach[b] = of_blocks[b]++;
            vertices[at_attach[b]] = static_cast<Index>(v);
        }
    }
    return {std::move(ptr),       std::move(vertices), std::move(at_home),
            std::move(at_attach), std::move(hung_ptr), std::move(hung)};
}

// An edge u -> v is in the bicomponent that has both ends as members, or in the home of one end whose attachment is the
// other. The graph may lack one direction of an edge. The edges of u are in rows of its own copies, so that threads may
// take vertices first to last each.

// Count the edges of the row of copy x at counts[x + 1].
template <class Index>
void count_laid(Span<const int64_t> indptr, Span<const Index> indices, const Copies<Index>& copies, int64_t first,
                int64_t last, Span<int64_t> counts) {
    const auto& [ptr, vertices, home, at_home, attach, at_attach, hung_ptr, hung] = copies;
    for (int64_t u = first; u < last; ++u) {
        const Index here = home[u];
        int64_t inside = indptr[u + 1] - indptr[u];
        if (hung_ptr[u] < hung_ptr[u + 1]) {  // else all edges are in the home of u
            for (int64_t e = indptr[u]; e < indptr[u + 1]; ++e) {
                const Index there = home[indices[e]];
                if (there == here || there < 0 || attach[there] != u) continue;
                ++counts[at_attach[there] + 1];
                --inside;
            }
        }
        if (here >= 0) counts[at_home[u] + 1] = inside;
    }
}

// Write the columns of the rows of copies, and the number of each edge in the graph; next[x] is the place of the next
// entry of row x.
template <class Index, class Column>
void lay_rows(Span<const int64_t> indptr, Span<const Index> indices, const Copies<Index>& copies, int64_t first,
              int64_t last, Span<int64_t> next, Span<Column> columns, Optional<Span<int64_t>> places) {
    const auto& [ptr, vertices, home, at_home, attach, at_attach, hung_ptr, hung] = copies;
    for (int64_t u = first; u < last; ++u) {
        const Index here = home[u];
        for (int64_t e = indptr[u]; e < indptr[u + 1]; ++e) {
            const Index v = indices[e], there = home[v];
            int64_t x = at_home[u], y;
            if (there == here) {
                y = at_home[v];
            } else if (there >= 0 && attach[there] == u) {
                x = at_attach[there];
                y = at_home[v];
            } else {
                y = at_attach[here];
            }
            const int64_t place = next[x]++;
            columns[place] = static_cast<Column>(y);
            if (places.is_there) places[place] = e;
        }
    }
}

}  // namespace lagbc
