"""Sweeps in one launch, where each group of roots has thread blocks of its own: the host's side of one_launch.cuh."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import cupy as cp

from lagbc.cuda.compiler import THREADS
from lagbc.cuda.kernel import Kernel
from lagbc.errors import OutOfMemoryError
from lagbc.methods.contract import Array, Arrays, Interrupted, allocate, bytes_of
from lagbc.methods.gpu.common.arrays import read
from lagbc.methods.gpu.common.rows import GROUP_COLUMNS, BatchArrays, Rows, Size

# How the sweep of a group ended, if not well; as in one_launch.cuh.
QUEUE_FULL, STOPPED = 1, 2


def together(stated: Arrays) -> dict[str, Any]:
    """Allocate stated rows, queues and notes, as one group."""
    made = allocate(cp, stated)
    return {**made["rows"], **made["queue"], **made["notes"]}


def launch(arrays: BatchArrays, kernel: Kernel, groups: int, blocks: int, **arguments: Any) -> int:
    """Run a kernel whose `blocks` the groups share; return how the worst group ended, or raise Interrupted."""
    blocks_per_group = max(1, blocks // groups)
    arrays.barriers.fill(0)
    of_group = arrays.arguments("queue", "masks", "starts", "barriers", "halts", "status")
    of_launch = {"n": arrays.rows.rows, "blocks_per_group": blocks_per_group, "capacity": arrays.queue.shape[1]}
    kernel((blocks_per_group * groups,), THREADS, **of_launch, **of_group, stop=arrays.rows.stop, **arguments)
    worst = int(read(arrays.status)[:, 0].max())
    if worst == STOPPED:
        raise Interrupted
    return worst


def grow_queue(arrays: BatchArrays, queue_arrays: Callable[[int, int], dict[str, Array]], factor: float) -> None:
    """Make the queue half as long again; the next sweep finds its entries anew."""
    rows = arrays.rows
    of_queue = partial(queue_arrays, rows.groups)
    longer = of_queue(grown(arrays.queue.shape[1], first_entries(rows, factor), of_queue, rows))
    arrays.take(dict.fromkeys(longer))
    arrays.take(allocate(cp, longer))


def first_entries(size: Size | Rows, factor: float) -> int:
    """Return the first entries of a group's queue: ``factor * sqrt(spread)`` a row, and the roots'.

    A vertex is at no more distances from the roots of a group than these are apart. They are neighbours in the sweep
    order: of r roots in a plane, in a piece that is ``spread = depth * sqrt(256 / r)`` wide. Most rows have fewer; see
    `lagbc.tuning.HOPS_FIRST_ENTRIES`.
    """
    rows, roots = size.rows, max(1, size.rows if size.plan.roots is None else size.plan.roots)
    spread = size.depth * min(1.0, GROUP_COLUMNS / roots) ** 0.5
    entries = int(min(factor * spread**0.5, GROUP_COLUMNS, roots) * rows) + GROUP_COLUMNS
    return min(entries, _most_entries(rows))


def grown(capacity: int, first: int, arrays: Callable[[int], Arrays], size: Size | Rows) -> int:
    """Return half as many entries again of the queues of `arrays`; MemoryError beyond the growth, or 32 bits."""
    longer = min(3 * capacity // 2, _most_entries(size.rows))
    if longer <= capacity:
        raise OutOfMemoryError(f"a queue of more than {capacity} entries is past what 32-bit positions hold")
    size.plan.require_growth(bytes_of(arrays(longer)) - bytes_of(arrays(first)))
    return longer


def _most_entries(rows: int) -> int:
    """Return the most entries: 32 bits number them, and a level of all rows behind them, at which a sweep stops."""
    return 2**31 - 1 - rows
