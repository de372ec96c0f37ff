"""Sums over roots of the share of shortest paths that meet groups of vertices, a number a group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import raise_if_stopped
from lagbc.graph.graph import Graph
from lagbc.methods.contract import StopFlag
from lagbc.run.work import Hand, Items, Span, Total, Work

Shares = NDArray[np.float64]


class Groups(Work):
    """Sums over roots for some groups; `in_group` has a column for each."""

    panel = 32  # the same for every carrier
    batch = 64  # roots that are searched together

    def __init__(
        self, graph: Graph, roots: Items, in_group: NDArray[np.bool_], hands: int, rtol: float, *, endpoints: bool
    ) -> None:
        self.items, self.hands = roots, hands
        self._graph, self._in_group, self._rtol, self._endpoints = graph, in_group, rtol, endpoints

    def open(self, stop: StopFlag) -> Hand:
        """Return a hand that polls the stop flag within a search; its sums are those of each panel."""
        from lagbc.methods.cpu import groups

        state = groups.prepare(self._graph, groups.plan_of(self._rtol, stop), self._in_group, endpoints=self._endpoints)

        def run(_: Span, roots: Items) -> list[Shares]:
            raise_if_stopped()
            # A row a panel; `state` is the scratch of this hand alone.
            return list(groups.sum_batch(state, roots, self.panel))

        return run

    def add(self, total: Total, span: Span, sums: list[Shares]) -> Total:
        """Add panel after panel."""
        whole = self.finish(total)
        for of_panel in sums:
            whole = whole + of_panel
        return Total(span.last, whole)

    def finish(self, total: Total) -> Shares:
        """Return a number a group."""
        return np.zeros(self._in_group.shape[1]) if total.whole is None else total.whole
