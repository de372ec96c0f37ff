"""Sums in sweep order, added to those in matrix order."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from lagbc.cpu.compile import njit


@njit
def add_in_order(total, part, order):
    """Add a part to a total, entry i to entry ``order[i]``; zeros are skipped, as roots may have reached little."""
    for i in range(len(part)):
        if part[i] != 0.0:
            total[order[i]] += part[i]
