"""Sums over roots of the share of shortest paths that meet groups of vertices, a number a group."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import raise_if_stopped
from lagbc.graph.graph import Graph
from lagbc.methods.contract import StopFlag
from lagbc.run.work import Hand, Items, Piece, Span, Total, Work


class Groups(Work):
    """Sums over roots for some groups; `in_group` has a column for each."""

    panel = 32  # the same for every carrier

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
        """Return a hand that polls its stop flag before each root."""
        from lagbc.methods.cpu.groups import sum_of_roots

        def each(roots: Items) -> Iterator[int]:
            for root in roots.tolist():
                stop.check()
                raise_if_stopped()
                yield root

        def run(span: Span, roots: Items) -> list[Piece]:
            how = self._in_group, self._rtol
            return [Piece(span, sum_of_roots(self._graph, each(roots), *how, endpoints=self._endpoints))]

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
