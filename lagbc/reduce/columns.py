"""The columns of a group of roots on the host, and the demand made from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.native import core
from lagbc.reduce.streams import Flows, Ways

Rows = NDArray[np.int64]


class Columns:
    """Distances and path counts from the roots of one group after the other and from far ends, and M of these roots.

    A column has an entry a row of the contracted graph. The columns of the group come first, in its order, at most
    `size`; behind them is room for `more` columns of far ends. For each group in turn:

        begin     take its roots
        write     take their columns
        leave     sum the demand that leaves chains, for the group and its far ends, in ascending order of rows
        enter     finish M
        weights   give M as target weights of a sweep

    As every root sums over its chains in the order of their far ends, M has the same bits whatever the groups. `flows`
    gets the sums of the chains of each group.
    """

    def __init__(self, ways: Ways, flows: Flows, size: int, more: int) -> None:
        self._ways, self._flows = ways, flows
        rows, chains = len(ways.row_sources), len(ways.lengths)
        self._dist = np.empty((size + more, rows), np.int32 if ways.in_hops else np.float64)
        self._sigma = np.empty((size + more, rows))
        self._demand, self._through = np.empty((size, rows)), np.empty((size, chains))
        self._weights = np.empty(0)

    def begin(self, group: Rows) -> None:
        """Take a group of roots; M has their demand to junctions, and none from inside chains yet."""
        self._group, self._junction = group, np.zeros(len(group))
        demand = self._demand[: len(group)]
        np.multiply.outer(self._ways.row_sources[group], self._ways.row_targets, out=demand)
        demand[np.arange(len(group)), group] = 0
        self._through.fill(0)

    def write(self, first: int, paths: tuple[Any, Any], class_sizes: NDArray[np.float64] | None) -> float:
        """Write columns from number `first` on, of dist and sigma (rows, columns); return their largest path count.

        A path that leaves a chain by a junction has one for each of the junction's members, of which roots have
        `class_sizes`.
        """
        dist, sigma = (columns[first : first + paths[0].shape[1]] for columns in (self._dist, self._sigma))
        core.turn_back(paths[0], dist)
        core.turn_back(paths[1], sigma)
        if class_sizes is not None:
            sigma *= class_sizes[:, None]
        return float(sigma.max())

    def leave(self, rows: Rows, first: int, stop: NDArray[np.uint8]) -> None:
        """Sum the demand that leaves chains at the roots, for far ends `rows` with columns from number `first` on."""
        column = np.full(len(self._ways.row_sources), -1)
        column[rows] = first + np.arange(len(rows))
        found, made = (self._dist, self._sigma), (self._demand, self._through, self._junction)
        core.leave_chains(self._ways, self._flows, self._group, *found, column, *made, stop)

    def enter(self, stop: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Finish M; return the demand that passes each root as it leaves chains."""
        made = self._demand, self._through, self._junction
        core.enter_chains(self._ways, self._group, self._dist, self._sigma, *made, stop)
        return self._junction

    def weights(self, first: int, count: int) -> Any:
        """Return M of some of the roots as target weights, shape (rows, count), valid until the next call."""
        rows = self._demand.shape[1]
        if len(self._weights) < count * rows:
            self._weights = np.empty(count * rows)
        weights = self._weights[: count * rows].reshape(rows, count)
        core.turn(self._demand[first : first + count], weights)
        return weights

    def save(self) -> None:
        """Bring the flows of the groups so far to the host; here they are."""
