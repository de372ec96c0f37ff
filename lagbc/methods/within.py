"""The places of sums within bounds while a block of roots is summed: columns of arrays by vertex, edge and root."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import OF_EDGES, OF_ROOTS, Sums

VERTICES, EDGES, ROOTS = "by_vertex", "by_edge", "by_root"


class Columns(NamedTuple):
    """First column of each sum in its array; -1 where it is not asked for."""

    dependency: int
    stress: int
    reached: int
    distance: int
    inverse: int
    edges: int
    depth: int
    targets: int
    gravity: int


def array_of(name: str) -> str:
    """Return the array of a sum."""
    return EDGES if name in OF_EDGES else ROOTS if name in OF_ROOTS else VERTICES


def lay_out(plan: SweepPlan) -> tuple[Columns, dict[str, int]]:
    """Return the columns of the sums asked for, and the width of each array."""
    first, widths = dict.fromkeys(Columns._fields, -1), dict.fromkeys((VERTICES, EDGES, ROOTS), 0)
    for name in sorted(plan.sums):
        first[name] = widths[array_of(name)]
        widths[array_of(name)] += plan.columns(name)
    return Columns(**first), widths


def as_sums(plan: SweepPlan, columns: Columns, arrays: Mapping[str, NDArray[np.float64]]) -> Sums:
    """Take the sums out of the arrays, as views."""
    sums: dict[str, Any] = {}
    for name in plan.sums:
        first = getattr(columns, name)
        sums[name] = arrays[array_of(name)][:, first : first + plan.columns(name)]
    return Sums(**sums)
