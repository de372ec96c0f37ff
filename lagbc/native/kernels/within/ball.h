// The ball of some roots: the subgraph within a radius of any of them.
//
// It contains all paths from a root that are no longer than the radius: a search within it finds all distances up to
// the radius. The ball of neighbouring roots, such as those of a block, is little larger than the ball of each.
// Vertices get rows in the order in which they are met: neighbours are near.
#pragma once

#include <algorithm>

#include "state.h"

namespace lagbc {

// Give a row to each vertex within the radius of any of the roots; return the count of rows.
//
// Distances from the nearest root fall until they are final; a vertex that comes nearer waits in a queue. The search
// ends at one row more than `most`.
template <class Index, class Number>
int64_t reach(const Csr<Index>& graph, Span<const int64_t> roots, double radius, int64_t most,
              const Ball<Number>& ball) {
    const auto [indptr, indices, lengths] = graph;
    const auto row = ball.row, queue = ball.queue, vertices = ball.vertices;
    const auto dist = ball.nearest;
    const auto waits = ball.is_queued;
    const int64_t n = row.size;
    int64_t count = 0, first = 0, waiting = 0;
    for (const int64_t v : roots) {
        if (v < 0 || row[v] != 0) continue;
        vertices[count++] = queue[waiting++] = static_cast<int32_t>(v);
        row[v] = static_cast<int32_t>(count);
        dist[v] = 0.0;
        waits[v] = 1;
    }
    while (waiting > 0 && count <= most) {
        const int64_t v = queue[first];
        first = first < n ? first + 1 : 0;
        --waiting;
        waits[v] = 0;
        for (int64_t e = indptr[v]; e < indptr[v + 1]; ++e) {
            const int64_t w = indices[e];
            const double through = dist[v] + lengths[e];
            if (!(through <= radius && (row[w] == 0 || through < dist[w]))) continue;
            if (row[w] == 0) {
                if (count > most) break;
                vertices[count++] = static_cast<int32_t>(w);
                row[w] = static_cast<int32_t>(count);
            }
            dist[w] = through;
            if (waits[w]) continue;
            const int64_t place = first + waiting++;
            queue[place <= n ? place : place - n - 1] = static_cast<int32_t>(w);
            waits[w] = 1;
        }
    }
    if (waiting > 0)
        for (int64_t i = 0; i < count; ++i) waits[vertices[i]] = 0;
    return count;
}

// Count the edges of some vertices.
inline int64_t degrees(Span<const int64_t> indptr, Span<const int32_t> vertices) {
    int64_t total = 0;
    for (const int64_t v : vertices) total += indptr[v + 1] - indptr[v];
    return total;
}

// Write the edges between the vertices of a ball, and their places in the graph, if there is room; return their count.
template <class Index, class Number>
int64_t cut(const Csr<Index>& graph, Span<const int32_t> vertices, Span<const int32_t> row, Span<int64_t> ends,
            Span<int32_t> heads, Span<Number> of_edges, Optional<Span<int64_t>> places) {
    const auto [indptr, indices, lengths] = graph;
    int64_t count = 0;
    ends[0] = 0;
    for (int64_t i = 0; i < vertices.size; ++i) {
        const int64_t v = vertices[i];
        for (int64_t e = indptr[v]; e < indptr[v + 1]; ++e) {
            const int32_t head = row[indices[e]];
            if (head == 0) continue;
            heads[count] = head - 1;
            of_edges[count] = static_cast<Number>(lengths[e]);
            if (places.is_there) places[count] = e;
            ++count;
        }
        ends[i + 1] = count;
    }
    return count;
}

// Find the ball of some roots; return the count of its rows, 0 if it has more than `most` or more than there is room
// for.
template <class Index, class Number>
int64_t find_ball(const Csr<Index>& leaving, const Csr<Index>& entering, Span<const int64_t> roots, double radius,
                  int64_t most, Ball<Number>& ball) {
    const auto row = ball.row;
    const bool is_symmetric = ball.into_indices.data == ball.out_indices.data;
    most = std::min(most, ball.waits.size);
    const int64_t count = reach(leaving, roots, radius, most, ball);
    const Span<const int32_t> own{ball.vertices.data, count}, rows{row.data, row.size};
    const bool has_room = count <= most && degrees(leaving.indptr, own) <= ball.tight.size &&
                          (is_symmetric || degrees(entering.indptr, own) <= ball.tight.size);
    ball.rows = has_room ? count : 0;
    if (ball.rows > 0) {
        if (!is_symmetric) cut(entering, own, rows, ball.into_indptr, ball.into_indices, ball.into_lengths, {});
        ball.edges = cut(leaving, own, rows, ball.out_indptr, ball.out_indices, ball.out_lengths, ball.places);
        ball.roots.fill(-1);
        for (int64_t j = 0; j < roots.size; ++j)
            if (roots[j] >= 0) ball.roots[j] = row[roots[j]] - 1;
    }
    for (const int64_t v : own) row[v] = 0;
    return ball.rows;
}

}  // namespace lagbc
