"""Dijkstra's search from one root after the other, and what is summed over each, by Brandes' algorithm.

A vertex is settled when nothing that waits can make it nearer. Then its edges are gone through once. An edge v -> w is
*noted*, with the length dist[v] + A[v, w] of its path, if that is at most the dist[w] known so far; the others are
never tight. When all distances are settled, the notes that are still tight are kept, in their places, and shortest
paths are counted along them. So an edge is looked at once, and the second pass reads about as many as are tight.

Two queues tell which vertex is next:

- Buckets (Dial 1969), where the longest edge is not much longer than the shortest. A bucket is narrower than the
  shortest edge: no shortest path leads from one vertex of a bucket to another, and any of them may be next. The note of
  an edge is an entry of the bucket that its head falls into; one of a head that came nearer meanwhile is skipped.
- A heap of four children a vertex (Johnson 1975) that knows the place of each of its vertices, for all other lengths,
  and where `rtol` makes edges tight that exact sums do not. It settles vertices in the order of their distances.

Distances are sums, in float64, along a path from the root, the smallest there are, as rounding is monotone: they depend
neither on the queue nor on the order. A length that rounding absorbs can leave a vertex that is reached without a tight
in-edge; then the root counts as overflowed. That cannot be where buckets are used.

A root costs O(m + n log n) of what it reaches, with buckets O(m) and a step for each empty bucket.

References
----------
E. W. Dijkstra, A note on two problems in connexion with graphs, Numerische Mathematik 1 (1959) 269-271.

R. B. Dial, Algorithm 360: Shortest-path forest with topological ordering, Communications of the ACM 12 (1969) 632-633.

D. B. Johnson, Priority queues with update and finding minimum spanning trees, Information Processing Letters 4 (1975)
53-57.

U. Brandes, A faster algorithm for betweenness centrality, Journal of Mathematical Sociology 25 (2001) 163-177.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,assignment"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lagbc.cpu.compile import njit
from lagbc.methods.cpu.traversal.dependencies import ONE, ZERO, add_root, omega_of, overflows
from lagbc.methods.cpu.traversal.near import add_near

_TWO, _FOUR = np.uint64(2), np.uint64(4)


class Search(NamedTuple):
    """What a search writes, besides the trail. The arrays of the queue that is not taken are of length 0.

    Attributes
    ----------
    dist : ndarray of float64, shape (n,)
        Distances known so far; inf before and after a search.
    places : ndarray of unsigned int, shape (n,)
        Where a settled vertex stands in the trail's order, or one that waits in the heap; n before and after a search.
    through : ndarray of float64, shape (most,), as many as the trail has room for
        Length of the path that ends with the edge of each note. Heads of notes are in the trail, as vertices.
    buckets : ndarray of unsigned int, shape (a power of two,)
        Last note in each bucket; the largest number if it is empty. The buckets ahead are taken round and round.
    before : ndarray of unsigned int, shape (most,)
        The note before each one in its bucket.
    per_length : float64
        One over the width of a bucket.
    keys, heap : ndarrays of float64 and of unsigned int, shape (n,)
        Distances and names of the vertices in the heap; the children of slot i are 4 i + 1 to 4 i + 4.
    """

    dist: Any
    places: Any
    through: Any
    buckets: Any
    before: Any
    per_length: float
    keys: Any
    heap: Any


@njit
def sweep_roots(
    indptr,
    indices,
    lengths,
    rtol,
    counts,
    search,
    roots,
    omega,
    members,
    times,
    limit,
    endpoints,
    trail,
    totals,
    reached,
    depth,
    overflowed,
    stop,
    radius,
    near,
):
    """Search and sum roots; see `sweep.State`. Paths are counted if `counts`."""
    new = np.uint64(len(search.dist))
    for k in range(len(roots)):
        if roots[k] < 0:
            continue
        root = np.uint64(roots[k])
        if len(search.buckets) > 0:
            count, notes = _search_by_buckets(indptr, indices, lengths, search, root, radius, trail, stop)
        else:
            count, notes = _search_by_heap(indptr, indices, lengths, rtol, search, root, radius, trail, stop)
        if stop[0]:
            return False
        reached[k], tight = count, ZERO
        if counts:
            tight = _count(trail, count, notes, search, members, rtol)
            overflowed[k] = overflows(trail.sigma, count, limit) or _misses(trail.sigma, count)
        farthest = 0.0  # the last one may be nearer than others of its bucket
        for i in range(ZERO, count):
            v, farthest = trail.order[i], max(farthest, trail.dist[i])
            search.dist[v], search.places[v] = np.inf, new
        if not overflowed[k]:
            depth[k] = farthest
            if near is None:
                add_root(trail, count, tight, omega_of(omega, k), members, times[k], endpoints, totals)
            else:
                add_near(trail, count, tight, omega_of(omega, k), times[k], endpoints, near, k)
    return True


@njit
def _search_by_buckets(indptr, indices, lengths, search, root, radius, trail, stop):
    """Settle what the root reaches within the radius and note edges; return how many vertices and notes there are.

    Invariant: `waiting` notes are in buckets, those of vertices at a distance d in number d * per_length; `bucket` is
    at most the first that is not empty. All buckets are empty before and after it.
    """
    dist, places, buckets, before = search.dist, search.places, search.buckets, search.before
    numbers_edges, mask, new = len(trail.edges) > 0, np.uint64(len(buckets) - 1), np.uint64(len(dist))
    nothing = ~buckets.dtype.type(0)
    count = notes = waiting = bucket = ZERO
    v, dist[root] = root, 0.0
    while v != new and not stop[0]:
        near = dist[v]
        places[v], trail.order[count], trail.dist[count] = count, v, near
        for e in range(indptr[v], indptr[v + ONE]):
            w = indices[e]
            through, far = near + lengths[e], dist[w]
            if through <= min(far, radius):
                trail.tails[notes], trail.heads[notes], search.through[notes] = count, w, through
                if numbers_edges:
                    trail.edges[notes] = e
                if through < far:
                    dist[w] = through
                    place = np.uint64(through * search.per_length) & mask
                    before[notes], buckets[place] = buckets[place], notes
                    waiting += ONE
                notes += ONE
        count += ONE
        v = new
        while waiting > ZERO and v == new:
            note = buckets[bucket & mask]
            if note == nothing:
                bucket += ONE
                continue
            buckets[bucket & mask] = before[note]
            waiting -= ONE
            if places[trail.heads[note]] == new:
                v = np.uint64(trail.heads[note])
    return count, notes


@njit
def _search_by_heap(indptr, indices, lengths, rtol, search, root, radius, trail, stop):
    """Settle what the root reaches within the radius, by rising distance, and note edges; return how many there are.

    An edge is noted, too, if `rtol` may make it tight; it is not if its head is beyond the radius in the end.
    """
    dist, places, keys, heap = search.dist, search.places, search.keys, search.heap
    numbers_edges = len(trail.edges) > 0
    tolerance = (1.0 + rtol) * (1.0 + 2.0**-40) if rtol > 0.0 else 1.0
    count = notes = size = ZERO
    v, dist[root] = root, 0.0
    while not stop[0]:
        near = dist[v]
        places[v], trail.order[count], trail.dist[count] = count, v, near
        for e in range(indptr[v], indptr[v + ONE]):
            w = indices[e]
            through, far = near + lengths[e], dist[w]
            if through <= min(far, radius) * tolerance:
                trail.tails[notes], trail.heads[notes], search.through[notes] = count, w, through
                if numbers_edges:
                    trail.edges[notes] = e
                notes += ONE
                if through < far and through <= radius:
                    slot = size if far == np.inf else np.uint64(places[w])
                    size = max(size, slot + ONE)
                    dist[w] = through
                    _rise(keys, heap, places, slot, through, w)
        count += ONE
        if size == ZERO:
            break
        v = np.uint64(heap[ZERO])
        size -= ONE
        _fall(keys, heap, places, size)
    return count, notes


@njit
def _rise(keys, heap, places, slot, key, v):
    """Put a vertex into a slot that it holds or that is free, or nearer to the top."""
    while slot > ZERO:
        parent = (slot - ONE) >> _TWO
        if keys[parent] <= key:
            break
        keys[slot], heap[slot] = keys[parent], heap[parent]
        places[heap[slot]] = slot
        slot = parent
    keys[slot], heap[slot], places[v] = key, v, slot


@njit
def _fall(keys, heap, places, size):
    """Take the vertex at slot `size`, the last, to the top, or farther from it, which is free."""
    key, v, slot, child = keys[size], heap[size], ZERO, ONE
    while child < size:
        least, nearest = child, keys[child]
        for other in range(child + ONE, min(child + _FOUR, size)):
            if keys[other] < nearest:
                least, nearest = other, keys[other]
        if nearest >= key:
            break
        keys[slot], heap[slot] = nearest, heap[least]
        places[heap[slot]] = slot
        slot, child = least, _FOUR * least + ONE
    keys[slot], heap[slot], places[v] = key, v, slot


@njit
def _count(trail, count, notes, search, members, rtol):
    """Keep the notes that are tight, with the places of their heads, and count shortest paths along them.

    Return how many are tight. Tails of notes never fall, so that those of a vertex follow all those into it.
    """
    dist, sigma, tails, heads, edges = search.dist, trail.sigma, trail.tails, trail.heads, trail.edges
    for i in range(ZERO, count):
        sigma[i] = 0.0
    if members is not None:
        for i in range(ZERO, count):
            trail.members[i] = members[trail.order[i]]
    sigma[ZERO] = 1.0
    tight = ZERO
    for note in range(ZERO, notes):
        tail, far = tails[note], dist[heads[note]]
        if trail.dist[tail] < far < np.inf and abs(search.through[note] - far) <= rtol * far:
            place = search.places[heads[note]]
            if members is None:
                sigma[place] += sigma[tail]
            else:
                sigma[place] += sigma[tail] * trail.members[place]
            tails[tight], heads[tight] = tail, place
            if len(edges) > 0:
                edges[tight] = edges[note]
            tight += ONE
    return tight


@njit
def _misses(sigma, count):
    """Return whether no path leads to some vertex: a length was absorbed."""
    least = 1.0
    for i in range(ZERO, count):
        least = min(least, sigma[i])
    return least == 0.0
