"""Small blocks, computed at once: a search from each root, by the compiled sweeps of the traversals.

A slice of blocks is one compiled call, in which no signal is looked at; slices are short, so that a caller can report
and stop between two. A block is computed by one thread, into slots of its own: threads change no bit.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.cpu.cores import cores, share
from lagbc.methods.cpu.traversal import hops, lengths
from lagbc.methods.cpu.traversal.dependencies import Totals, Trail
from lagbc.methods.cpu.traversal.sweep import unsigned
from lagbc.reduce import tuning
from lagbc.reduce.layout import Rows
from lagbc.reduce.piece import Scores


@dataclass(eq=False)
class SmallBlocks:
    """Some blocks, one after the other, and what is summed in them so far.

    Attributes
    ----------
    rows : Rows
        The graphs of all blocks.
    numbers : ndarray of int64, shape (small,)
        Which blocks these are, ascending.
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
        ends = self._ends_of_slices()
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

    def _compute(self, first: int, last: int) -> None:
        rows, numbers = self.rows, self.numbers[first:last]
        most = int((rows.ptr[numbers + 1] - rows.ptr[numbers]).max())
        entries = int((rows.indptr[rows.ptr[numbers + 1]] - rows.indptr[rows.ptr[numbers]]).max())
        indices = unsigned(rows.indices)
        places = np.empty(most, indices.dtype)
        trail = _room(most, entries, indices.dtype, len(self.edge_scores) > 0)
        if rows.weights is None:
            kernel: Any = _sweep_hops
            search: Any = places
        else:
            kernel = _sweep_lengths
            search = lengths.Search(
                dist=np.full(most, np.inf),
                places=places,
                through=np.empty(entries),
                buckets=np.empty(0, indices.dtype),
                before=np.empty(0, indices.dtype),
                per_length=0.0,
                keys=np.empty(most),
                heap=np.empty(most, indices.dtype),
            )
        graphs = rows._replace(indptr=unsigned(rows.indptr), indices=indices)
        if not kernel(numbers, graphs, search, trail, self.scores, self.edge_scores):
            raise OverflowError("a small block has path counts or lengths that float64 does not hold")


def _room(vertices: int, entries: int, number: Any, edges: bool) -> Trail:
    """Allocate a trail for the blocks of a slice."""
    return Trail(
        order=np.empty(vertices, number),
        dist=np.empty(vertices),
        sigma=np.empty(vertices),
        tails=np.empty(entries, number),
        heads=np.empty(entries, number),
        edges=np.empty(entries if edges else 0, np.uint64),
        own=np.empty(vertices),
        onward=np.empty(vertices),
        members=np.empty(0),
    )


# Path counts of small blocks are far below: of 600 vertices there are at most 3**200.
_LIMIT = 2.0**1022


@njit
def _roots_of(first, last, indptr, sources):
    """Return the vertices of a block that count as sources and have edges, by their numbers there."""
    roots, count = np.empty(last - first, np.int64), 0
    for x in range(first, last):
        if sources[x] > 0.0 and indptr[x + 1] > indptr[x]:
            roots[count] = x - first
            count += 1
    return roots[:count]


@njit
def _totals(rows, block, scores, edges):
    """Return the slots of a block, cleared; edges are numbered through."""
    first, last, nothing = rows.ptr[block], rows.ptr[block + 1], np.empty(0)
    scores[first:last] = 0.0
    if len(edges) > 0:
        edges[rows.indptr[first] : rows.indptr[last]] = 0.0
    return Totals(scores[first:last], nothing, edges, nothing, nothing, nothing)


@njit
def _sweep_hops(numbers, rows, places, trail, scores, edges):
    """Sum the blocks of these numbers; return whether float64 held all counts and lengths."""
    stop, right = np.zeros(1, np.uint8), True
    for b in numbers:
        first, last = rows.ptr[b], rows.ptr[b + 1]
        size = last - first
        roots = _roots_of(first, last, rows.indptr, rows.sources)
        overflowed = np.zeros(len(roots), np.bool_)
        places[:size] = size
        hops.sweep_roots(
            rows.indptr[first : last + 1],
            rows.indices,
            places[:size],
            roots,
            rows.targets[first:last].reshape((1, size)),
            None,
            rows.sources[first:last][roots],
            _LIMIT,
            False,
            trail,
            _totals(rows, b, scores, edges),
            np.empty(len(roots), np.int64),
            np.empty(len(roots)),
            overflowed,
            stop,
        )
        right &= not overflowed.any()
    return right


@njit
def _sweep_lengths(numbers, rows, search, trail, scores, edges):
    """Sum the blocks of these numbers; return whether float64 held all counts and lengths."""
    stop, right = np.zeros(1, np.uint8), True
    for b in numbers:
        first, last = rows.ptr[b], rows.ptr[b + 1]
        size = last - first
        roots = _roots_of(first, last, rows.indptr, rows.sources)
        overflowed = np.zeros(len(roots), np.bool_)
        search.places[:size] = size
        of_block = lengths.Search(
            search.dist[:size],
            search.places[:size],
            search.through,
            search.buckets,
            search.before,
            search.per_length,
            search.keys,
            search.heap,
        )
        lengths.sweep_roots(
            rows.indptr[first : last + 1],
            rows.indices,
            rows.weights,
            0.0,
            True,
            of_block,
            roots,
            rows.targets[first:last].reshape((1, size)),
            None,
            rows.sources[first:last][roots],
            _LIMIT,
            False,
            trail,
            _totals(rows, b, scores, edges),
            np.empty(len(roots), np.int64),
            np.empty(len(roots)),
            overflowed,
            stop,
        )
        right &= not overflowed.any()
    return right
