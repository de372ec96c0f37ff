"""Small bicomponents, slice after slice; each slice writes scores of its own."""

from __future__ import annotations

import numpy as np

from lagbc.methods.contract import StopFlag
from lagbc.reduce.small import SmallBlocks
from lagbc.run.work import Hand, Items, Piece, Span, Total, Work


class SmallBicomponents(Work):
    """The slices of small bicomponents, of some 50 milliseconds each."""

    panel = 1  # a slice

    def __init__(self, blocks: SmallBlocks, hands: int) -> None:
        self._blocks, self._hands = blocks, hands
        self._items: Items = np.flatnonzero(~blocks.is_done)

    @property
    def items(self) -> Items:
        """The numbers of the unfinished slices."""
        return self._items

    @property
    def hands(self) -> int:
        """As many as were asked for."""
        return self._hands

    def open(self, stop: StopFlag) -> Hand:
        """Return a hand that polls its stop flag before each slice."""
        self._blocks.prepare()

        def run(span: Span, slices: Items) -> list[Piece]:
            for number in slices.tolist():
                stop.check()
                self._blocks.compute(number)
            return [Piece(span, None)]

        return run

    def add(self, total: Total, pieces: list[Piece]) -> Total:
        """Count the slices."""
        return Total(pieces[-1].span.last)

    def finish(self, total: Total) -> None:
        """Return nothing: the scores are written."""
