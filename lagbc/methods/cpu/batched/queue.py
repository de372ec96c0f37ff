"""The queue of (vertex, bit row) entries that both batched methods keep: entry i is live in the columns `masks[i]`.

The forward sweep fills it, so that every vertex stands after those that precede it on shortest paths; the first entries
are the roots. The backward sweep reads it from the end.

It has room for as many entries as graphs of a kind were seen to use. A sweep that needs more says so between two levels
or phases, and goes on where it was once there is room.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.batched.rows import COLUMNS, count_bits

# Entries of a vertex that there is room for: with lengths, and at least where the diameter is high.
_ENTRIES_WITH_LENGTHS, _ENTRIES_OF_MESHES = 10, 16


@dataclass(frozen=True, eq=False)
class Levels:
    """What a forward sweep leaves in its state: how many entries, on how many levels or in how many phases.

    Attributes
    ----------
    roots : ndarray of int64, shape (columns,)
    entries : int
        In the queue, the roots' among them; 0 if nothing is queued.
    depth : int
    beyond : uint64
        The columns that left the range of float64, or are to be recomputed for another reason.
    """

    roots: NDArray[np.int64]
    entries: int
    depth: int
    beyond: np.uint64

    @property
    def overflowed(self) -> NDArray[np.bool_]:
        """Whether each root is one of these columns."""
        return flags_of(self.beyond, len(self.roots))

    @property
    def places(self) -> NDArray[np.int64]:
        """All places of the batch."""
        return np.arange(len(self.roots))

    @property
    def searched(self) -> int:
        """How many roots are not absent."""
        return int(np.count_nonzero(self.roots >= 0))

    @property
    def kept(self) -> np.uint64:
        """The columns that are summed; bits behind the last root mean nothing, as no mask has them."""
        return ~self.beyond


def room_of_hops(graph: Graph, plan: SweepPlan) -> int:
    """Tell how many entries to make room for, where a row has one for each level at which it is live.

    Where the diameter is low, most vertices are at a few distances from all roots: 3 to 9 on 30 networks of depth 5 to
    26. Where it is high, a batch's roots are in a piece of the graph, which is the smaller the more roots there are,
    and the distances of a vertex from them differ by its diameter at most. On 9 road networks and meshes rows had 27 to
    61 entries with 256 random roots, and 5 to 48 with all. Rows that wait have fewer: 7 to 18, and 1 to 2.
    """
    if not graph.has_high_diameter:
        return _room(graph, plan, 5 + graph.depth // 2)
    roots = max(1, graph.n if plan.roots is None else plan.roots)
    return _room(graph, plan, max(_ENTRIES_OF_MESHES, int(3 * graph.depth * (COLUMNS / roots) ** 0.5)))


def room_of_lengths(graph: Graph, plan: SweepPlan) -> int:
    """Tell how many entries to make room for, where a row waits until it can be counted in most of its columns.

    Rows had up to 8 entries on 39 networks of all kinds; roots at even distances along a path give each one of its own.
    """
    return _room(graph, plan, _ENTRIES_WITH_LENGTHS)


def _room(graph: Graph, plan: SweepPlan, a_vertex: int) -> int:
    roots = graph.n if plan.roots is None else plan.roots
    return graph.n * max(1, min(a_vertex, roots, COLUMNS))


def widened(array: NDArray[Any], needed: int, rows: int) -> NDArray[Any]:
    """Copy a queue, or its masks, to where there is room for as many entries as needed, or half as many again.

    There are at most 64 a row, and a sweep asks for up to one a row more than it will write.
    """
    wider = np.empty(_wider(len(array), needed, rows), array.dtype)
    wider[: len(array)] = array
    return wider


def require_wider(queue: NDArray[Any], needed: int, rows: int, plan: SweepPlan, first: int) -> None:
    """Raise MemoryError if the run may not take what a queue and its masks need, once `widened` from `first` entries.

    While the masks are copied, those before are there, too.
    """
    entry = queue.itemsize + 8
    plan.require_growth((_wider(len(queue), needed, rows) - first) * entry + len(queue) * 8)


def _wider(entries: int, needed: int, rows: int) -> int:
    return max(needed, min(entries * 3 // 2, rows * (COLUMNS + 1)))


def flags_of(word: np.uint64, roots: int) -> NDArray[np.bool_]:
    """Tell for each root whether its bit is set in a word of columns."""
    bits = np.frombuffer(int(word).to_bytes(8, "little"), np.uint8)
    return np.unpackbits(bits, count=roots, bitorder="little").view(np.bool_)


@njit
def enqueue_roots(positions, values, queue, masks):
    """Make an entry for each root, which has one path to itself; one at -1 is absent. Return how many there are."""
    count = 0
    for k in range(len(positions)):
        v = positions[k]
        if v >= 0:
            if values is not None:
                values[v, k] = 1.0
            queue[count], masks[count] = v, uint64(1) << uint64(k)
            count += 1
    return count


@njit
def add_ends(queue, masks, roots, end, keep, scores):
    """Add one to both ends of every (root, reached vertex) pair; the roots are the first entries of `end`."""
    for i in range(roots, end):
        scores[queue[i]] += count_bits(masks[i] & keep)
    for i in range(roots):
        root, column = queue[i], masks[i] & keep
        if column != uint64(0):
            reached = 0
            for j in range(roots, end):
                reached += count_bits(masks[j] & column)
            scores[root] += reached
