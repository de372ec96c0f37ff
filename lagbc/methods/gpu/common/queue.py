"""The first size of the queues of sweeps in one launch, and their growth."""

from __future__ import annotations

from collections.abc import Callable

from lagbc.errors import OutOfMemoryError
from lagbc.methods.arrays import Arrays, bytes_of
from lagbc.methods.gpu.common.rows import GROUP_COLUMNS, Rows, Size


def first_entries(size: Size | Rows, factor: float) -> int:
    """Return the first entries of a group's queue: ``factor * sqrt(spread)`` a row, and the roots'.

    A vertex is at no more distances from the roots of a group than these are apart. They are neighbours in the sweep
    order: of r roots in a plane, in a piece that is ``spread = depth * sqrt(256 / r)`` wide. Most rows have fewer; see
    `lagbc.methods.tuning.HOPS_FIRST_ENTRIES`.
    """
    rows, roots = size.rows, max(1, size.rows if size.plan.roots is None else size.plan.roots)
    spread = size.depth * min(1.0, GROUP_COLUMNS / roots) ** 0.5
    entries = int(min(factor * spread**0.5, GROUP_COLUMNS, roots) * rows) + GROUP_COLUMNS
    return min(entries, _most_entries(rows))


def grown(capacity: int, first: int, arrays: Callable[[int], Arrays], size: Size | Rows) -> int:
    """Return half as many entries again, of queues by `arrays`; MemoryError beyond the growth, or 32-bit numbers."""
    longer = min(3 * capacity // 2, _most_entries(size.rows))
    if longer <= capacity:
        raise OutOfMemoryError(f"a queue of more than {capacity} entries is past what 32-bit positions hold")
    size.plan.require_growth(bytes_of(arrays(longer)) - bytes_of(arrays(first)))
    return longer


def _most_entries(rows: int) -> int:
    """Return the most entries so that 32 bits also number a level of all rows behind them, at which a sweep stops."""
    return 2**31 - 1 - rows
