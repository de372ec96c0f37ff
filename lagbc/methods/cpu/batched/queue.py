"""The queue of (vertex, bit row) entries that both batched methods keep: entry i is live in the columns `masks[i]`.

The forward sweep fills it, so that every vertex stands after those that precede it on shortest paths; the first entries
are the roots. The backward sweep reads it from the end.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, uint64
from numpy.typing import NDArray

from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.batched.rows import COLUMNS, count_bits

Queue = NDArray[Any]
Masks = NDArray[np.uint64]


def allocate(rows: int, entries: int, index_type: Any) -> tuple[Queue, Masks]:
    """Make a queue for `rows` vertices, with room at first for so many entries of each."""
    room = rows * entries + COLUMNS
    return np.empty(room, index_type), np.empty(room, np.uint64)


def grow(queue: Queue, masks: Masks, rows: int) -> None:
    """Double the room, up to one entry a column of every vertex and one more vertex each."""
    room = min(2 * len(queue), rows * (COLUMNS + 1) + COLUMNS)
    # In place, so that old and new queue are not held at once; no view of them is left.
    queue.resize(room, refcheck=False)
    masks.resize(room, refcheck=False)


def flags_of(columns: np.uint64, roots: int) -> NDArray[np.bool_]:
    """Tell for each root whether its bit is set in a word of columns."""
    flags: NDArray[np.bool_] = (columns >> np.arange(roots, dtype=np.uint64)) & np.uint64(1) != 0
    return flags


def columns_of(flags: NDArray[np.bool_]) -> np.uint64:
    """Set the bits of the columns that are flagged; the inverse of `flags_of`."""
    columns = np.flatnonzero(flags).astype(np.uint64)
    word: np.uint64 = np.bitwise_or.reduce(np.uint64(1) << columns, initial=np.uint64(0))
    return word


def multiplicity_row(plan: SweepPlan, roots: NDArray[np.int64]) -> NDArray[np.float64]:
    """How often each column counts, shape (1, 64)."""
    row = np.ones((1, COLUMNS))
    if plan.multiplicity is not None:
        row[0, : len(roots)] = plan.multiplicity[roots]
    return row


def add_to(total: Any, order: NDArray[np.int64], part: Any) -> None:
    """Add a part in sweep order to the one row of a sum of a batch; None is a sum that is not asked for."""
    if total is not None:
        total[0, order] += part


@njit(nogil=True, cache=True, error_model="numpy")
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
