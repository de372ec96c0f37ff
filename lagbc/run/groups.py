"""Sums over roots of the share of shortest paths that meet groups of vertices, a number a group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import raise_if_stopped
from lagbc.graph.graph import Graph
from lagbc.methods.contract import StopFlag
from lagbc.run.work import Hand, Items, Piece, Span, Total, Work


class Groups(Work):
    """Sums over roots for some groups; `in_group` has a column for each."""

    panel = 32  # the same for every carrier
    batch = 64  # roots that are searched together

    def __init__(
        self, graph: Graph, roots: Items, in_group: NDArray[np.bool_], hands: int, rtol: float, *, endpoints: bool
    ) -> None:
        self._graph, self._items, self._in_group, self._hands = graph, roots, in_group, hands
        self._rtol, self._endpoints = rtol, endpoints

    @property
    def items(self) -> Items:
        """The roots."""
        return self._items

    @property
    def hands(self) -> int:
        """As many as were asked for."""
        return self._hands

    def open(self, stop: StopFlag) -> Hand:
        """Return a hand that polls the stop flag within a search."""
        from lagbc.methods.cpu import groups

        state = groups.prepare(self._graph, groups.plan_of(self._rtol, stop), self._in_group, endpoints=self._endpoints)

        def run(span: Span, roots: Items) -> list[Piece]:
            pieces = list[Piece]()
            for batch in self.spans(*span, self.batch):
                raise_if_stopped()
                sums = groups.sum_batch(state, roots[batch.first - span.first : batch.last - span.first], self.panel)
                pieces += map(Piece, self.spans(*batch, self.panel), sums)
            return pieces

        return run

    def add(self, total: Total, pieces: list[Piece]) -> Total:
        """Add panel after panel."""
        sums = np.zeros(self._in_group.shape[1]) if total.chunks is None else total.chunks
        for piece in pieces:
            sums = sums + piece.sums
        return Total(pieces[-1].span.last, sums)

    def finish(self, total: Total) -> NDArray[np.float64]:
        """Return a number a group."""
        return np.zeros(self._in_group.shape[1]) if total.chunks is None else total.chunks
