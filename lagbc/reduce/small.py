"""Small bicomponents, computed at once: one search from each root, by the compiled sweeps of the traversals.

All of them are one block-diagonal graph; a search reads and writes the bicomponent of its root alone. A slice of them
is one compiled call, which polls no signal; slices are short, so that a caller can report and stop between two. Threads
take different bicomponents, into slots of their own: they change no bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.errors import OutOfRangeError
from lagbc.native import core, csr
from lagbc.reduce.layout import Rows
from lagbc.reduce.piece import Scores


@dataclass(eq=False)
class SmallBlocks:
    """Some bicomponents, in slices of some 50 milliseconds each; nothing of it changes but what is kept of it."""

    rows: Rows  # the graphs of all bicomponents
    numbers: NDArray[np.int64]  # (small,): the numbers of the small ones, ascending
    roots: NDArray[np.int64]  # (small,): count of roots of each
    # (small,): roots x stored edges of each, to which its time is proportional: 10 ns in hops, 15 to 50 with lengths
    work: NDArray[np.int64]

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """The ends of slices: the work so far passes a multiple of a slice's work there."""
        if not len(self.numbers):
            return np.zeros(0, np.int64)
        slices = np.cumsum(self.work + tuning.BLOCK_WORK) // tuning.SLICE_WORK
        return np.append(np.flatnonzero(np.diff(slices)) + 1, len(slices))

    def prepare(self) -> None:
        """Compute all cached properties, before threads share them."""
        _ = self.ends, self._all_roots, self._of_copies

    def places(self, number: int) -> tuple[slice, slice]:
        """Return the copies and the entries from the first to the last bicomponent of a slice: no other slice's."""
        first, last = self._blocks_of(number)
        of_first, of_last = self.numbers[first], self.numbers[last - 1]
        copies = slice(self.rows.vertices(of_first).start, self.rows.vertices(of_last).stop)
        return copies, slice(self.rows.edges(of_first).start, self.rows.edges(of_last).stop)

    def _blocks_of(self, number: int) -> tuple[int, int]:
        return (int(self.ends[number - 1]) if number else 0), int(self.ends[number])

    @cached_property
    def _all_roots(self) -> NDArray[np.int64]:
        """The roots of all small bicomponents, one after the other."""
        chosen = np.zeros(len(self.rows.ptr) - 1, np.bool_)
        chosen[self.numbers] = True
        copies: NDArray[np.int64] = np.flatnonzero(np.repeat(chosen, np.diff(self.rows.ptr)) & self.rows.are_roots)
        return copies

    @cached_property
    def _of_copies(self) -> tuple[NDArray[Any], Scores | None]:
        """Places and distances of a search; clear between two of a bicomponent, so that threads share them."""
        copies = len(self.rows.sources)
        dist = None if self.rows.weights is None else np.full(copies, np.inf)
        return np.full(copies, copies, self.rows.indices.dtype), dist

    def add(self, number: int, scores: Scores, edge_scores: Scores | None) -> None:
        """Add the sums of a slice at its copies, shape (copies,), and its entries, (nnz,); threads may add others."""
        first, last = self._blocks_of(number)
        rows, blocks = self.rows, self.numbers[first:last]
        vertices = int((rows.ptr[blocks + 1] - rows.ptr[blocks]).max())
        edges = int((rows.indptr[rows.ptr[blocks + 1]] - rows.indptr[rows.ptr[blocks]]).max())
        begin = int(self.roots[:first].sum())
        roots = self._all_roots[begin : begin + int(self.roots[first:last].sum())]
        places, dist = self._of_copies
        is_in_range = core.sum_small_blocks(
            csr(rows.indptr, rows.indices, rows.weights),
            roots,
            rows.targets,
            rows.sources,
            places,
            dist,
            vertices,
            edges,
            scores,
            edge_scores,
        )
        if not is_in_range:
            raise OutOfRangeError("a small block has path counts or lengths that float64 does not hold")
