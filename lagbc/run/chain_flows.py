"""What a group of roots writes of the demand inside chains, taken from one process to another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.reduce.streams import Flows, Ways

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


def flows_of(ways: Ways, flows: Flows, rows: Rows) -> tuple[Floats, ...]:
    """Copy what some roots have written: sums at the vertices inside the chains that begin or end at them."""
    first, second = _owned(ways, rows)
    return (
        flows.out[0, first],
        flows.out[1, second],
        flows.around[:, first],
        flows.within[first],
        flows.onward[first],
    )


def put_flows(ways: Ways, flows: Flows, rows: Rows, written: tuple[Floats, ...]) -> None:
    """Write what `flows_of` has copied elsewhere."""
    first, second = _owned(ways, rows)
    out, back, around, within, onward = written
    flows.out[0, first], flows.out[1, second], flows.around[:, first] = out, back, around
    flows.within[first], flows.onward[first] = within, onward


def _owned(ways: Ways, rows: Rows) -> tuple[Rows, Rows]:
    """Vertices inside the chains whose first end is among some rows, and whose second: what leaves there is theirs.

    What goes within a chain is its first end's. Those of a second end are counted from there on.
    """
    halves: Any = np.concatenate([ways.halves[ways.first_halves[row] : ways.first_halves[row + 1]] for row in rows])
    first, second = (_inside(ways, halves[halves & 1 == side] >> 1) for side in (0, 1))
    return first, second


def _inside(ways: Ways, chains: Rows) -> Rows:
    """Vertices inside some chains, one chain after the other."""
    counts = ways.starts[chains + 1] - ways.starts[chains]
    begins = np.cumsum(counts) - counts
    places: Rows = np.arange(counts.sum()) + np.repeat(ways.starts[chains] - begins, counts)
    return places
