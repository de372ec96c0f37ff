"""Distances from roots in sums by root, in the order of the roots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import raise_if_stopped
from lagbc.graph.graph import Graph
from lagbc.methods.contract import StopFlag
from lagbc.run.work import Hand, Items, Span, Total, Work

Rows = NDArray[np.float64]


class Searches(Work):
    """Sums for each root; items are places of roots, and `without` has the vertices that each does not count."""

    panel = batch = 64  # roots that are searched together

    def __init__(
        self,
        graph: Graph,
        roots: Items,
        without: Sequence[Items],
        counted: Items | None,
        cutoffs: NDArray[np.float64],
        hands: int,
    ) -> None:
        self.items, self.hands = np.arange(len(roots)), hands
        self._graph, self._roots, self._without, self._counted, self._cutoffs = graph, roots, without, counted, cutoffs

    def open(self, stop: StopFlag) -> Hand:
        """Return a hand that polls the stop flag within a search."""
        from lagbc.methods.cpu import searches

        state = searches.prepare(self._graph, stop)

        def run(span: Span, _: Items) -> Rows:
            raise_if_stopped()
            roots, without = self._roots[span.place], self._without[span.first : span.last]
            return searches.sum_batch(state, roots, without, self._counted, self._cutoffs)

        return run

    def add(self, total: Total, span: Span, sums: Rows) -> Total:
        """Put the rows of a span behind those of the total."""
        return Total(span.last, np.concatenate([self.finish(total), sums]))

    def finish(self, total: Total) -> Rows:
        """Return the sums, shape (roots, cutoffs, 3)."""
        from lagbc.methods.cpu.searches import SUMS

        return np.zeros((0, len(self._cutoffs), SUMS)) if total.whole is None else total.whole
