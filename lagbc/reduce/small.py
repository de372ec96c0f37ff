"""Small blocks, computed at once: one search from each root, by the compiled sweeps of the traversals.

All blocks are one block-diagonal graph, of which a search reads and writes the block of its root alone. A slice of
blocks is one compiled call, in which no signal is looked at; slices are short, so that a caller can report and stop
between two. Threads take different blocks, into slots of their own: they change no bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import OutOfRangeError
from lagbc.methods.cpu.traversal.lengths import new_heap, new_search
from lagbc.methods.cpu.traversal.sweep import new_found, new_trail, trail_arrays
from lagbc.native import core, csr
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
    is_done : ndarray of bool, shape (slices,)
        Which slices of them are.
    """

    rows: Rows
    numbers: NDArray[np.int64]
    roots: NDArray[np.int64]
    work: NDArray[np.int64]
    scores: Scores
    edge_scores: Scores

    @cached_property
    def is_done(self) -> NDArray[np.bool_]:
        """Which slices are computed."""
        return np.zeros(len(self._ends), np.bool_)

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        """Where slices end: the work so far passes a multiple of that of a slice."""
        if not len(self.numbers):
            return np.zeros(0, np.int64)
        slices = np.cumsum(self.work + tuning.BLOCK_WORK) // tuning.SLICE_WORK
        return np.append(np.flatnonzero(np.diff(slices)) + 1, len(slices))

    def prepare(self) -> None:
        """Make all that threads share, before they ask for it."""
        _ = self._ends, self._all_roots, self._of_copies, self.is_done

    def compute(self, number: int) -> None:
        """Compute a slice; threads may compute different ones."""
        ends = self._ends
        self._compute(int(ends[number - 1]) if number else 0, int(ends[number]))
        self.is_done[number] = True

    def finish(self) -> None:
        """Compute all that are not done."""
        for number in np.flatnonzero(~self.is_done).tolist():
            self.compute(number)

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
        return np.full(copies, copies, self.rows.indices.dtype), dist

    def _compute(self, first: int, last: int) -> None:
        rows, blocks = self.rows, self.numbers[first:last]
        vertices = int((rows.ptr[blocks + 1] - rows.ptr[blocks]).max())
        edges = int((rows.indptr[rows.ptr[blocks + 1]] - rows.indptr[rows.ptr[blocks]]).max())
        begin = int(self.roots[:first].sum())
        roots = self._all_roots[begin : begin + int(self.roots[first:last].sum())]
        found = new_found(len(roots))
        kernel, search = self._search(vertices, edges)
        has_edges, index = len(self.edge_scores) > 0, rows.indices.dtype
        kernel(
            *search,
            new_trail(index, trail_arrays(index, vertices, edges, edges=has_edges, members=False)),
            core.Asked(radius=np.inf, limit=_LIMIT, stop=np.zeros(1, np.uint8)),
            roots,
            rows.targets[None, :],
            rows.sources[roots],
            core.Totals(dependency=self.scores, edges=self.edge_scores if has_edges else None),
            found,
        )
        if found.overflowed.any():
            raise OutOfRangeError("a small block has path counts or lengths that float64 does not hold")

    def _search(self, vertices: int, edges: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel for blocks of at most so many vertices and edges, and what it searches."""
        rows, (places, dist) = self.rows, self._of_copies
        graph, index = csr(rows.indptr, rows.indices, rows.weights), rows.indices.dtype
        if rows.weights is None:
            return core.sweep_hops, (graph, places)
        search = new_search(index, {"dist": dist, "places": places, "through": np.empty(edges)})
        return core.sweep_lengths, (graph, search, new_heap(index, vertices))
