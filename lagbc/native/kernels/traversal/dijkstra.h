// Dijkstra's search from one root after the other, and the counts of its shortest paths.
//
// A vertex is settled when no waiting vertex can bring it nearer. Then its edges are looked at, once. An edge v -> w is
// *noted*, with the length dist[v] + A[v, w] of its path, if that is at most the dist[w] known so far; the others are
// never tight. When all distances are settled, the notes that are still tight are kept, and shortest paths are counted
// along them: this second pass reads little more than the tight edges.
//
// Two queues tell the next vertex:
//
// - Buckets (Dial 1969), where the longest edge is not much longer than the shortest. A bucket is narrower than the
//   shortest edge: no shortest path leads from one of its vertices to another, and any of them may be next. The note of
//   an edge is an entry of its head's bucket; it is skipped if its head came nearer meanwhile.
// - A heap of four children a vertex (Johnson 1975) that knows the places of its vertices, for all other lengths, and
//   where `rtol` makes more edges tight. It settles vertices by rising distance.
//
// A distance is the smallest float64 sum along a path from the root. As rounding is monotone, it depends neither on the
// queue nor on the order. A length that rounding absorbs can leave a reached vertex without a tight in-edge, though not
// where buckets are used; then the root counts as overflowed.
//
// A root costs O(m + n log n) of the part that it reaches, with buckets O(m) and a step for each empty bucket.
//
// E. W. Dijkstra, A note on two problems in connexion with graphs, Numerische Mathematik 1 (1959) 269-271.
// R. B. Dial, Algorithm 360: Shortest-path forest with topological ordering, Communications of the ACM 12 (1969)
// 632-633.
// D. B. Johnson, Priority queues with update and finding minimum spanning trees, Information Processing Letters 4
// (1975) 53-57.
// U. Brandes, A faster algorithm for betweenness centrality, Journal of Mathematical Sociology 25 (2001) 163-177.
#pragma once

#include <cmath>
#include <limits>

#include "dependencies.h"

namespace lagbc {

// Settle v as number `count` of the trail.
template <class Index>
LAGBC_INLINE void settle(const Trail<Index>& trail, const Search<Index>& search, int64_t count, int64_t v) {
    search.places[v] = static_cast<Index>(count);
    trail.order[count] = static_cast<Index>(v);
    trail.dist[count] = search.dist[v];
}

// Note edge e from place `tail` to vertex w.
template <class Index>
LAGBC_INLINE void note_edge(const Trail<Index>& trail, const Search<Index>& search, int64_t note, int64_t tail, Index w,
                            double through, int64_t e) {
    trail.tails[note] = static_cast<Index>(tail);
    trail.heads[note] = w;
    search.through[note] = through;
    if (trail.edges.is_there) trail.edges[note] = e;
}

// Settle the vertices that the root reaches within the radius and note edges; return the counts of vertices and notes.
//
// Invariant: `waiting` notes are in buckets, a note of length d in number d * per_length; no bucket before `bucket`
// holds one. All buckets are empty before and after the search.
template <class Index>
Reached search_lengths(const Csr<Index>& graph, const Search<Index>& search, const Buckets& queue,
                       const Trail<Index>& trail, const Asked& asked, int64_t root) {
    const auto [indptr, indices, lengths] = graph;
    const auto dist = search.dist;
    const auto places = search.places;
    const auto [last, before, per_length] = queue;
    const double radius = asked.radius;
    const int64_t unmet = dist.size, mask = last.size - 1;
    constexpr auto nothing = std::numeric_limits<uint32_t>::max();
    int64_t count = 0, notes = 0, waiting = 0, bucket = 0, v = root;
    dist[root] = 0.0;
    while (v != unmet && !asked.stop.is_set()) {
        settle(trail, search, count, v);
        const double near = dist[v];
        for (int64_t e = indptr[v], stop = indptr[v + 1]; e < stop; ++e) {
            const Index w = indices[e];
            const double through = near + lengths[e], far = dist[w];
            if (!(through <= std::min(far, radius))) continue;
            note_edge(trail, search, notes, count, w, through, e);
            if (through < far) {
                dist[w] = through;
                const int64_t place = static_cast<int64_t>(through * per_length) & mask;
                before[notes] = last[place];
                last[place] = static_cast<uint32_t>(notes);
                ++waiting;
            }
            ++notes;
        }
        ++count;
        v = unmet;
        while (waiting > 0 && v == unmet) {
            const uint32_t note = last[bucket & mask];
            if (note == nothing) {
                ++bucket;
                continue;
            }
            last[bucket & mask] = before[note];
            --waiting;
            const Index head = trail.heads[note];
            if (places[head] == unmet) v = head;
        }
    }
    return {count, notes};
}

// Put a vertex with a key into a slot, its own or a free one, and raise it as far as the key asks.
template <class Index>
LAGBC_INLINE void rise(const Heap<Index>& heap, Span<Index> places, int64_t slot, double key, Index v) {
    const auto [keys, vertices] = heap;
    while (slot > 0) {
        const int64_t parent = (slot - 1) >> 2;
        if (keys[parent] <= key) break;
        keys[slot] = keys[parent];
        vertices[slot] = vertices[parent];
        places[vertices[slot]] = static_cast<Index>(slot);
        slot = parent;
    }
    keys[slot] = key;
    vertices[slot] = v;
    places[v] = static_cast<Index>(slot);
}

// Put the vertex at slot `size`, the last, to the free top, and let it fall as far as its key asks.
template <class Index>
LAGBC_INLINE void fall(const Heap<Index>& heap, Span<Index> places, int64_t size) {
    const auto [keys, vertices] = heap;
    const double key = keys[size];
    const Index v = vertices[size];
    int64_t slot = 0, child = 1;
    while (child < size) {
        int64_t least = child;
        double nearest = keys[child];
        for (int64_t other = child + 1; other < std::min(child + 4, size); ++other) {
            if (keys[other] < nearest) {
                least = other;
                nearest = keys[other];
            }
        }
        if (nearest >= key) break;
        keys[slot] = nearest;
        vertices[slot] = vertices[least];
        places[vertices[slot]] = static_cast<Index>(slot);
        slot = least;
        child = 4 * least + 1;
    }
    keys[slot] = key;
    vertices[slot] = v;
    places[v] = static_cast<Index>(slot);
}

// The same by a heap. With `rtol` an edge is noted if it may be tight; `count_paths` drops it if its head stays beyond
// the radius.
template <class Index>
Reached search_lengths(const Csr<Index>& graph, const Search<Index>& search, const Heap<Index>& heap,
                       const Trail<Index>& trail, const Asked& asked, int64_t root) {
    const auto [indptr, indices, lengths] = graph;
    const auto dist = search.dist;
    const auto places = search.places;
    const double radius = asked.radius;
    const double tolerance = asked.rtol > 0.0 ? (1.0 + asked.rtol) * (1.0 + 0x1p-40) : 1.0;
    int64_t count = 0, notes = 0, size = 0, v = root;
    dist[root] = 0.0;
    while (!asked.stop.is_set()) {
        settle(trail, search, count, v);
        const double near = dist[v];
        for (int64_t e = indptr[v], stop = indptr[v + 1]; e < stop; ++e) {
            const Index w = indices[e];
            const double through = near + lengths[e], far = dist[w];
            if (!(through <= std::min(far, radius) * tolerance)) continue;
            note_edge(trail, search, notes++, count, w, through, e);
            if (through < far && through <= radius) {
                const int64_t slot = far == infinity ? size : static_cast<int64_t>(places[w]);
                size = std::max(size, slot + 1);
                dist[w] = through;
                rise(heap, places, slot, through, w);
            }
        }
        ++count;
        if (size == 0) break;
        v = heap.vertices[0];
        fall(heap, places, --size);
    }
    return {count, notes};
}

// Keep the tight notes, with the places of their heads, and count shortest paths along them; return their count.
//
// Tails of notes never fall, so that the notes out of a vertex follow all notes into it.
template <class Index>
int64_t count_paths(const Trail<Index>& trail, Reached noted, const Search<Index>& search, const Asked& asked) {
    const auto known = search.dist, dist = trail.dist, sigma = trail.sigma;
    const auto tails = trail.tails, heads = trail.heads;
    const auto class_sizes = trail.class_sizes;
    const auto edges = trail.edges;
    const auto through = search.through;
    const auto places = search.places;
    const double rtol = asked.rtol;  // a local copy, as a store to sigma might change the field
    std::fill_n(sigma.data, noted.count, 0.0);
    if (asked.class_sizes.is_there)
        for (int64_t i = 0; i < noted.count; ++i) class_sizes[i] = asked.class_sizes[trail.order[i]];
    sigma[0] = 1.0;
    int64_t tight = 0;
    for (int64_t note = 0; note < noted.edges; ++note) {
        const Index tail = tails[note];
        const double far = known[heads[note]];
        if (!(dist[tail] < far && far < infinity)) continue;
        if (!(std::abs(through[note] - far) <= rtol * far)) continue;
        const Index place = places[heads[note]];
        sigma[place] += class_sizes.is_there ? sigma[tail] * class_sizes[place] : sigma[tail];
        tails[tight] = tail;
        heads[tight] = place;
        if (edges.is_there) edges[tight] = edges[note];
        ++tight;
    }
    return tight;
}

// Whether some vertex has no path: rounding absorbed a length.
inline bool misses(Span<const double> sigma) {
    bool is_missed = false;
    for (const double paths : sigma) is_missed |= paths == 0.0;
    return is_missed;
}

// Leave the search as it was before; return the largest distance, which buckets need not settle last.
template <class Index>
double clear(const Trail<Index>& trail, int64_t count, const Search<Index>& search) {
    const auto unmet = static_cast<Index>(search.dist.size);
    double farthest = 0.0;
    for (int64_t i = 0; i < count; ++i) {
        const Index v = trail.order[i];
        farthest = std::max(farthest, trail.dist[i]);
        search.dist[v] = infinity;
        search.places[v] = unmet;
    }
    return farthest;
}

// Search from a root, count paths if that is asked for, and leave the search as it was before, unless the flag is set.
template <class Index, class Queue>
Searched search_with(const Traversal<Index>& s, const Queue& queue, int64_t root) {
    Searched found{search_lengths(*s.graph, s.search, queue, s.trail, s.asked, root)};
    if (s.asked.stop.is_set()) return found;
    if (s.asked.counts_paths) {
        found.edges = count_paths(s.trail, found, s.search, s.asked);
        const Span<const double> sigma{s.trail.sigma.data, found.count};
        found.overflowed = overflows(sigma, s.asked.limit) || misses(sigma);
    } else {
        found.edges = 0;
    }
    found.depth = clear(s.trail, found.count, s.search);
    return found;
}

}  // namespace lagbc
