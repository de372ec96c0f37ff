"""Small blocks, computed at once: one search from each root, by the compiled sweeps of the traversals.

All blocks are one block-diagonal graph, of which a search reads and writes the block of its root alone. A slice of
blocks is one compiled call, in which no signal is looked at; slices are short, so that a caller can report and stop
between two. Threads take different blocks, into slots of their own: they change no bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.cores import cores, share
from lagbc.errors import OutOfRangeError
from lagbc.methods.cpu.traversal import dijkstra, hops
from lagbc.methods.cpu.traversal.dependencies import Totals, Trail
from lagbc.methods.cpu.traversal.sweep import Found, unsigned
from lagbc.reduce import tuning
from lagbc.reduce.layout import Rows
from lagbc.reduce.piece import Scores

# Path counts of small blocks are far below: of 600 vertices there are at most 3**200.
_LIMIT = 2.0**1022


@dataclass(eq=False)
class SmallBlocks:
    """Some blocks, one after the other, and what is summed in them so far.

    Attributes
    ----------
    rows : Rows
        The graphs of all blocks.
    numbers : ndarray of int64, shape (small,)
        Which blocks these are, ascending.
    roots : ndarray of int64, shape (small,)
        How many roots each has.
    work : ndarray of int64, shape (small,)
        Roots x stored edges of each, which the time goes with: some 10 ns in hops, 15 to 50 with lengths.
    scores : ndarray of float64, shape (copies,)
        Written.
    edge_scores : ndarray of float64, shape (nnz,) or (0,)
        Written, if it has room.
    done : int
        How many of them are.
    """

    rows: Rows
    numbers: NDArray[np.int64]
    roots: NDArray[np.int64]
    work: NDArray[np.int64]
    scores: Scores
    edge_scores: Scores
    done: int = 0

    def steps(self, threads: int | None = None) -> Iterator[int]:
        """Compute those that are not done, slice by slice, on some threads (None: as many as there are cores).

        Yields
        ------
        int
            The `work` that was done since the last one. A caller may leave off between two, and go on by another call.
        """
        threads = cores() if threads is None else threads
        ends, _ = self._ends_of_slices(), (self._all_roots, self._of_copies)  # made before threads ask for them
        while self.done < len(self.numbers):
            first = self.done
            bounds = [first, *ends[ends > first][:threads].tolist()]
            share(self._compute, pairwise(bounds))
            self.done = bounds[-1]
            yield int(self.work[first : self.done].sum())

    def finish(self) -> None:
        """Compute all that are not done."""
        for _ in self.steps():
            pass

    def _ends_of_slices(self) -> NDArray[np.int64]:
        """Cut where the work so far passes a multiple of that of a slice."""
        slices = np.cumsum(self.work + tuning.BLOCK_WORK) // tuning.SLICE_WORK
        return np.append(np.flatnonzero(np.diff(slices)) + 1, len(slices))

    @cached_property
    def _all_roots(self) -> NDArray[np.int64]:
        """The roots of all of them, block after block."""
        chosen = np.zeros(len(self.rows.ptr) - 1, np.bool_)
        chosen[self.numbers] = True
        copies: NDArray[np.int64] = np.flatnonzero(np.repeat(chosen, np.diff(self.rows.ptr)) & self.rows.are_roots)
        return copies

    @cached_property
    def _of_copies(self) -> tuple[NDArray[Any], Scores]:
        """Places and distances of a search; a block's are free between two, so that threads share them."""
        copies = len(self.scores)
        dist = np.full(0 if self.rows.weights is None else copies, np.inf)
        return np.full(copies, copies, unsigned(self.rows.indices).dtype), dist

    def _compute(self, first: int, last: int) -> None:
        rows, blocks = self.rows, self.numbers[first:last]
        vertices = int((rows.ptr[blocks + 1] - rows.ptr[blocks]).max())
        edges = int((rows.indptr[rows.ptr[blocks + 1]] - rows.indptr[rows.ptr[blocks]]).max())
        begin = int(self.roots[:first].sum())
        roots = self._all_roots[begin : begin + int(self.roots[first:last].sum())]
        nothing, found = np.empty(0), Found.room(len(roots))
        kernel, search = self._search(vertices, edges)
        kernel(
            *search,
            roots,
            rows.targets[None, :],
            None,
            rows.sources[roots],
            _LIMIT,
            False,
            self._trail(vertices, edges),
            Totals(self.scores, nothing, self.edge_scores, nothing, nothing, nothing),
            found.reached,
            found.depth,
            found.overflowed,
            np.zeros(1, np.uint8),
            np.inf,
            None,
        )
        if found.overflowed.any():
            raise OutOfRangeError("a small block has path counts or lengths that float64 does not hold")

    def _search(self, vertices: int, edges: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel for blocks of at most so many vertices and edges, and what it searches."""
        rows, (places, dist) = self.rows, self._of_copies
        indptr, indices = unsigned(rows.indptr), unsigned(rows.indices)
        if rows.weights is None:
            return hops.sweep_roots, (indptr, indices, places)
        no_buckets = np.empty(0, indices.dtype)
        room = dijkstra.Search(
            dist=dist,
            places=places,
            through=np.empty(edges),
            buckets=no_buckets,
            before=no_buckets,
            per_length=0.0,
            keys=np.empty(vertices),
            heap=np.empty(vertices, indices.dtype),
        )
        return dijkstra.sweep_roots, (indptr, indices, rows.weights, 0.0, True, room)

    def _trail(self, vertices: int, edges: int) -> Trail:
        """Allocate a thread's trail."""
        number = unsigned(self.rows.indices).dtype
        return Trail(
            order=np.empty(vertices, number),
            dist=np.empty(vertices),
            sigma=np.empty(vertices),
            tails=np.empty(edges, number),
            heads=np.empty(edges, number),
            edges=np.empty(edges if len(self.edge_scores) > 0 else 0, np.uint64),
            own=np.empty(vertices),
            onward=np.empty(vertices),
            members=np.empty(0),
        )
