// Shortest paths from 64 roots counted along tight edges, one set of (vertex, columns) after the other, and back.
//
// T is known: the edges that are tight in some column, with their columns, a word of 64 bits an edge.
//
//     forward    P<L> = T^T plus.second P   for one set L of (vertex, columns) after the other
//     backward   c at L = omega / sigma + T plus.second c;   delta = sigma * (that product)   in the reverse order
//     stress     t at L = omega + T plus.second t;           stress = sigma * (that product)
//     edges      of v -> w in T: the dot product of the rows sigma[v] and c[w]
//     classes    a row of P, and a row of c, is multiplied by how many vertices v stands for when it is finished
//
// A vertex can be counted in the columns in which all its tight predecessors have been, and waits in the others. The
// choice of the next such vertex changes nothing but the time: its distance from the nearest root is small. Rows far
// from all the roots then wait until they can be counted in nearly all of their columns at once. On meshes and roads,
// where the roots of a batch are neighbours, a row is read 1 to 2 times for 64 columns; counting by levels of T reads
// it 6 to 35 times.
//
// The queue of (vertex, bit row) entries is the sequence of these sets. Only the owner of a row writes it, and it sums
// in row order, so that the sums depend neither on threads nor on the order of the sets.
#pragma once

#include "sums.h"

namespace lagbc {

// List the edges that are tight in some column by their heads; the tails of each are in the order of `tails`, or
// ascend.
template <class Index>
void transpose_tight(const TightEdges<Index>& out, Span<int64_t> in_starts, Span<Index> in_ends,
                     Span<uint64_t> in_masks, Optional<Span<const int64_t>> tails = {}) {
    const int64_t n = in_starts.size - 1;
    in_starts.fill(0);
    for (int64_t e = 0; e < out.starts[n]; ++e) in_starts[out.ends[e] + 1] += out.masks[e] != 0;
    for (int64_t v = 0; v < n; ++v) in_starts[v + 1] += in_starts[v];
    // in_starts[w] is the place of the next edge into w, and in the end of the first one into w + 1.
    for (int64_t i = 0; i < n; ++i) {
        const int64_t v = tails.is_there ? tails[i] : i;
        for (int64_t e = out.starts[v]; e < out.starts[v + 1]; ++e) {
            if (out.masks[e] == 0) continue;
            const int64_t place = in_starts[out.ends[e]]++;
            in_ends[place] = static_cast<Index>(v);
            in_masks[place] = out.masks[e];
        }
    }
    for (int64_t v = n; v > 0; --v) in_starts[v] = in_starts[v - 1];
    in_starts[0] = 0;
}

// Mark the tight successors of v in the columns of a mask; newly marked ones join the `met` ones in `rows`.
template <class Index>
LAGBC_INLINE void push(const TightEdges<Index>& out, int64_t v, uint64_t mask, Span<uint64_t> pushed, Span<Index> rows,
                       int64_t& met) {
    for (int64_t e = out.starts[v]; e < out.starts[v + 1]; ++e) {
        if (const uint64_t pushing = out.masks[e] & mask) {
            const Index w = out.ends[e];
            if (pushed[w] == 0) rows[met++] = w;
            pushed[w] |= pushing;
        }
    }
}

// Count the paths to each row in the columns in which all its tight predecessors have been counted.
//
// Invariant: `waiting` holds the columns that are reached and not counted, and lists[phase % 2] the rows pushed to
// since they were last looked at, each once; there are `met` of these. Every phase looks at the nearest of the rows.
// Columns in which a row waits for ever are to be recomputed. Returns the count of phases.
template <class Index>
int64_t count_paths(CountingSweep<Index>& s, const TightEdges<Index>& out, Span<const int64_t> positions) {
    transpose_tight(out, s.in_starts, s.in_ends, s.in_masks);
    const TightEdges<Index> into{s.in_starts, s.in_ends, s.in_masks};
    Queue<Index>& queue = *s.queue;
    s.overflowed = 0;
    enqueue_roots(s, positions);
    int64_t phase = 0, met = 0;
    for (int64_t i = 0; i < s.roots; ++i) {
        s.waiting[queue.vertices()[i]] &= ~queue.masks()[i];
        push(out, queue.vertices()[i], queue.masks()[i], s.pushed, s.lists[0], met);
    }
    for (; met > 0 && !s.stop.is_set(); ++phase) {
        queue.require(s.entries + met);
        const Span<Index> now = s.lists[phase % 2], later = s.lists[(phase + 1) % 2];
        double reach = infinity;
        for (int64_t i = 0; i < met; ++i) reach = std::min(reach, s.nearest[now[i]] + s.count_width);
        int64_t kept = 0;
        for (int64_t i = 0; i < met; ++i) {
            const Index v = now[i];
            if (s.nearest[v] > reach) {
                later[kept++] = v;
                continue;
            }
            uint64_t ready = s.pushed[v] & s.waiting[v];
            s.pushed[v] = 0;
            for (int64_t e = into.starts[v]; e < into.starts[v + 1]; ++e)
                ready &= ~(into.masks[e] & s.waiting[into.ends[e]]);
            if (ready == 0) continue;
            Row total = zero_row();
            gather(into.starts, into.ends, ByEdge{into.masks.data}, v, ready, s.values, total);
            put_paths(s, v, ready, total, s.overflowed);
            s.waiting[v] &= ~ready;
            queue.put(s.entries++, v, ready);
            push(out, v, ready, s.pushed, later, kept);
        }
        met = kept;
    }
    for (const uint64_t left : s.waiting) s.overflowed |= left;
    return phase;
}

// Turns sigma into c from the last entry on, and adds up; returns whether that was finished. Compiled once for waiting
// rows and for lengths.
template <class Index>
struct CountedBack {
    const CountingSweep<Index>& s;
    const TightEdges<Index>& out;

    template <class Back>
    [[gnu::noinline]] bool operator()(const Back& backward) const {
        const ByEdge by{out.masks.data};
        const Index* vertices = s.queue->vertices();
        const uint64_t* masks = s.queue->masks();
        for (int64_t i = s.entries - 1; i >= (Back::visits_roots ? 0 : s.roots); --i) {
            if (s.stop.is_set()) return false;
            const int64_t v = vertices[i];
            const uint64_t mask = masks[i] & backward.keep;
            Row total = zero_row(), paths_total = zero_row();
            backward.gather_onward(by, v, mask, total, paths_total);
            if (i >= s.roots) backward.finish(v, mask, total, paths_total);
        }
        return true;
    }
};

template <class Index, class AddEdges>
bool sum_counted(const CountingSweep<Index>& s, const TightEdges<Index>& out, const ColumnWeights& weights,
                 const BatchSums& totals, const AddEdges& add_edges) {
    return add_path_sums(s, out.starts, out.ends, weights, totals, CountedBack<Index>{s, out}, add_edges);
}

}  // namespace lagbc
