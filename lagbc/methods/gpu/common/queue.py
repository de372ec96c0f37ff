"""How many entries the queues of sweeps in one launch have room for at first, and when they grow."""

from __future__ import annotations

from lagbc.errors import OutOfMemoryError
from lagbc.methods.contract import SweepPlan
from lagbc.methods.gpu.common.rows import GROUP_COLUMNS


def first_entries(rows: int, depth: int, plan: SweepPlan, factor: float) -> int:
    """Tell how many entries of a group to make room for: ``factor * sqrt(spread)`` a row, and the roots'.

    A vertex is at no more distances from the roots of a group than these are apart. They are neighbours in the sweep
    order: of r roots in a plane, in a piece that is ``spread = depth * sqrt(256 / r)`` wide. Most rows have fewer; see
    `lagbc.methods.tuning.HOPS_FIRST_ENTRIES`.
    """
    roots = max(1, rows if plan.roots is None else plan.roots)
    spread = depth * min(1.0, GROUP_COLUMNS / roots) ** 0.5
    entries = int(min(factor * spread**0.5, GROUP_COLUMNS, roots) * rows) + GROUP_COLUMNS
    return min(entries, _most_entries(rows))


def grown(capacity: int, first: int, bytes_of_entry: int, rows: int, plan: SweepPlan) -> int:
    """Return half as many entries again, of every group of the batch.

    Raises
    ------
    MemoryError
        They are more than the run may take beside what was counted for the first ones, or than 32 bits number.
    """
    longer = min(3 * capacity // 2, _most_entries(rows))
    if longer <= capacity:
        raise OutOfMemoryError(f"a queue of more than {capacity} entries is past what 32-bit positions hold")
    plan.require_growth((longer - first) * bytes_of_entry * (plan.batch // GROUP_COLUMNS))
    return longer


def _most_entries(rows: int) -> int:
    """Count the entries of a queue so that 32 bits number a level of all rows behind them, at which a sweep stops."""
    return 2**31 - 1 - rows
