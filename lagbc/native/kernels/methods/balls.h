// The ball of some roots: the part of the graph within a radius of any of them, with rows of its own;
// lagbc/methods/balls.py.
//
// A path from a root that is no longer than the radius lies within the ball, and what else the ball holds is farther
// from the root than the radius, in the ball, too: so nothing beyond it is needed. Rows are in the order in which they
// were met.
#pragma once

#include <algorithm>
#include <tuple>

#include "../buffer.h"
#include "../level.h"

namespace lagbc {

// What a search needs of each vertex; between two of them, no vertex has a row, and none waits.
struct BallScratch {
    Span<int32_t> row;    // in the ball, from 1 on; 0 is none
    Span<double> dist;    // from the nearest root, of what has a row
    Span<int32_t> queue;  // of one more than there are vertices
    Span<bool> waits;
};

}  // namespace lagbc

namespace lagbc::LAGBC_LEVEL {

// Edges of balls, row after row; indptr and heads are numbered within each ball.
template <class Length>
struct BallEdges {
    Buffer<int64_t> indptr;
    Buffer<int32_t> heads;
    Buffer<Length> lengths;
};

// Give a list room for so many, at least twice as many as it had.
template <class T>
void extend(Buffer<T>& list, int64_t size) {
    constexpr int64_t least = 4096;
    if (size > list.size()) list.resize(std::max(std::max(2 * list.size(), size), least));
}

// Vertices that wait, first come first served, in a ring.
class Waiting {
public:
    explicit Waiting(const BallScratch& scratch) : queue_(scratch.queue), waits_(scratch.waits) {}

    void add(int64_t v) {
        if (waits_[v]) return;
        const int64_t place = first_ + count_++;
        queue_[place < queue_.size ? place : place - queue_.size] = static_cast<int32_t>(v);
        waits_[v] = true;
    }

    int64_t take() {
        const int32_t v = queue_[first_];
        first_ = first_ + 1 < queue_.size ? first_ + 1 : 0;
        --count_;
        waits_[v] = false;
        return v;
    }

    bool any() const { return count_ > 0; }
    void clear() {
        while (any()) take();
    }

private:
    Span<int32_t> queue_;
    Span<bool> waits_;
    int64_t first_ = 0, count_ = 0;
};

// Give a row to what is within the radius of any of the roots, those of at least 0, behind `count` vertices that are
// there before; how many then. Distances from the nearest root fall until they are final. Once there is one more than
// the most rows it ends.
template <class Index>
int64_t reach_ball(const Csr<Index>& graph, Span<const int64_t> roots, double radius, int64_t most,
                   const BallScratch& scratch, Buffer<int32_t>& vertices, int64_t count) {
    const auto& [row, dist, _, __] = scratch;
    const int64_t begun = count;
    Waiting waiting(scratch);
    const auto add = [&](int64_t v) {
        extend(vertices, count + 1);
        vertices[count++] = static_cast<int32_t>(v);
        row[v] = static_cast<int32_t>(count - begun);
    };
    for (const int64_t v : roots) {
        if (v < 0 || row[v] != 0) continue;
        add(v);
        dist[v] = 0.0;
        waiting.add(v);
    }
    while (waiting.any() && count - begun <= most) {
        const int64_t v = waiting.take();
        for (int64_t e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
            const Index w = graph.indices[e];
            const double through = dist[v] + (graph.lengths.is_there ? graph.lengths[e] : 1.0);
            if (!(through <= radius) || (row[w] != 0 && !(through < dist[w]))) continue;
            if (row[w] == 0) {
                if (count - begun > most) break;
                add(w);
            }
            dist[w] = through;
            waiting.add(w);
        }
    }
    waiting.clear();
    return count;
}

// How many edges some vertices have.
inline int64_t count_edges(Span<const int64_t> indptr, Span<const int32_t> vertices) {
    int64_t total = 0;
    for (const int32_t v : vertices) total += indptr[v + 1] - indptr[v];
    return total;
}

// Add the edges between the vertices of a ball, behind `count` edges of other balls, and the ends of its rows from
// `end` on; how many edges then. Their places in the graph are added, too, where there is a list of these.
template <class Index, class Length>
int64_t cut_ball(const Csr<Index>& graph, Span<const int32_t> vertices, Span<const int32_t> row,
                 BallEdges<Length>& edges, Buffer<int64_t>* places, int64_t end, int64_t count) {
    const int64_t first = count, most = count + count_edges(graph.indptr, vertices);
    extend(edges.indptr, end + vertices.size + 1);
    extend(edges.heads, most);
    if (graph.lengths.is_there) extend(edges.lengths, most);
    if (places != nullptr) extend(*places, most);
    edges.indptr[end] = 0;
    for (int64_t i = 0; i < vertices.size; ++i) {
        const int32_t v = vertices[i];
        for (int64_t e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
            const int32_t head = row[graph.indices[e]];
            if (head == 0) continue;
            edges.heads[count] = head - 1;
            if (graph.lengths.is_there) edges.lengths[count] = static_cast<Length>(graph.lengths[e]);
            if (places != nullptr) (*places)[count] = e;
            ++count;
        }
        edges.indptr[end + i + 1] = count - first;
    }
    return count;
}

// Find the balls of blocks of roots, whose warps are firsts[ball] to firsts[ball + 1], rows of `roots`.
//
// sizes  written, of shape (balls, 4): rows, edges that leave one, edges that enter one, and warps of each
// rows   written: of each root; -1 where there is none
//
// Returns the vertex of each row, the ends, heads and lengths of the edges that leave, those of the edges that enter,
// none where the two are the same graph, and the places of those that leave, if asked for.
template <class Index>
auto find_balls(const Csr<Index>& out, const Csr<Index>& into, Matrix<const int64_t> roots, Span<const int64_t> firsts,
                double radius, bool with_places, const BallScratch& scratch, Matrix<int64_t> sizes,
                Matrix<int32_t> rows) -> std::tuple<Buffer<int32_t>, Buffer<int64_t>, Buffer<int32_t>, Buffer<double>,
                                                    Buffer<int64_t>, Buffer<int32_t>, Buffer<double>, Buffer<int64_t>> {
    const bool is_symmetric = out.indptr.data == into.indptr.data;
    const Span<const int32_t> row{scratch.row.data, scratch.row.size};
    const int64_t balls = firsts.size - 1, width = roots.width;
    Buffer<int32_t> vertices;
    BallEdges<double> leaving, entering;
    Buffer<int64_t> places;
    int64_t count = 0, leave = 0, enter = 0;
    for (int64_t ball = 0; ball < balls; ++ball) {
        const int64_t first = firsts[ball], warps = firsts[ball + 1] - first;
        const Span<const int64_t> of_ball{roots.data + first * width, warps * width};
        const int64_t last = reach_ball(out, of_ball, radius, row.size, scratch, vertices, count);
        for (int64_t k = 0; k < of_ball.size; ++k)
            rows.data[first * width + k] = of_ball[k] >= 0 ? row[of_ball[k]] - 1 : -1;
        const Span<const int32_t> own{vertices.data() + count, last - count};
        const int64_t left = leave, entered = enter;
        leave = cut_ball(out, own, row, leaving, with_places ? &places : nullptr, count + ball, leave);
        enter = is_symmetric ? leave : cut_ball(into, own, row, entering, nullptr, count + ball, enter);
        for (const int32_t v : own) scratch.row[v] = 0;
        const int64_t of_sizes[] = {last - count, leave - left, enter - entered, warps};
        for (int64_t k = 0; k < 4; ++k) sizes[ball][k] = of_sizes[k];
        count = last;
    }
    const int64_t ends = count + balls;
    vertices.resize(count);
    leaving.indptr.resize(ends);
    leaving.heads.resize(leave);
    leaving.lengths.resize(out.lengths.is_there ? leave : 0);
    entering.indptr.resize(is_symmetric ? 0 : ends);
    entering.heads.resize(is_symmetric ? 0 : enter);
    entering.lengths.resize(!is_symmetric && out.lengths.is_there ? enter : 0);
    places.resize(with_places ? leave : 0);
    return {std::move(vertices),         std::move(leaving.indptr),  std::move(leaving.heads),
            std::move(leaving.lengths),  std::move(entering.indptr), std::move(entering.heads),
            std::move(entering.lengths), std::move(places)};
}

}  // namespace lagbc::LAGBC_LEVEL
