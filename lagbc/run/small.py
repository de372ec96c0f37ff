"""Sums over small bicomponents, slice after slice: each slice is one call of a compiled sweep, of some 50 ms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lagbc.methods.contract import StopFlag
from lagbc.methods.sums import Sums
from lagbc.planning.sweep import Sweep
from lagbc.reduce.piece import Scores
from lagbc.reduce.pieces import Small
from lagbc.run.work import Arrays, Hand, Items, PieceWork, Reads, Span, Total


class OfSlice(NamedTuple):
    """The sums of a slice: at its copies, and at its entries if edges are summed."""

    copies: Scores
    entries: Scores | None


class Slices(PieceWork):
    """Sums at the copies and the entries of small bicomponents; a slice has copies and entries of its own."""

    panel = batch = 1  # a slice

    piece: Small

    def __init__(self, piece: Small, sweep: Sweep) -> None:
        self.piece, self.sweep, self.hands = piece, sweep, sweep.threads
        self.items = np.arange(len(piece.blocks.ends))

    @property
    def order(self) -> Items:
        """The ends of the slices."""
        return self.piece.blocks.ends

    @property
    def bytes_of_sums(self) -> int:
        """Bound the bytes of the sums of a slice."""
        rows = self.piece.blocks.rows
        return 8 * (len(rows.sources) + len(rows.indices) * self.piece.edges) // max(1, len(self.items))

    def open(self, stop: StopFlag) -> Hand:
        """Return a hand with sums of its own, which polls its stop flag before each slice."""
        blocks, sums = self.piece.blocks, self._zeros()
        blocks.prepare()

        def run(span: Span, _: Items) -> OfSlice:
            stop.check()
            copies, entries = blocks.places(span.first)
            sums.dependency[copies] = 0  # of another slice around this one's
            if sums.edges is not None:
                sums.edges[entries] = 0
            blocks.add(span.first, sums.dependency, sums.edges)
            return OfSlice(sums.dependency[copies].copy(), None if sums.edges is None else sums.edges[entries].copy())

        return run

    def _zeros(self) -> Sums:
        rows = self.piece.blocks.rows
        edges = np.zeros(len(rows.indices)) if self.piece.edges else None
        return Sums(dependency=np.zeros(len(rows.sources)), edges=edges)

    def add(self, total: Total, span: Span, sums: OfSlice) -> Total:
        """Write the sums of a slice at their places, where nothing else is written: an addition done again is none."""
        whole = total.whole or self._zeros()
        copies, entries = self.piece.blocks.places(span.first)
        whole.dependency[copies] = sums.copies
        if sums.entries is not None:
            whole.edges[entries] = sums.entries
        return Total(span.last, whole)

    def finish(self, total: Total) -> Sums:
        """Return the sums of all copies and entries, 0 outside small bicomponents."""
        return total.whole or self._zeros()  # type: ignore[no-any-return]

    def pack(self, span: Span, sums: OfSlice) -> Arrays:
        """Return the sums of a slice."""
        return {"dependency": sums.copies} | ({} if sums.entries is None else {"edges": sums.entries})

    def unpack(self, span: Span, read: Reads) -> OfSlice:
        """Read the sums of a slice."""
        copies, entries = self.piece.blocks.places(span.first)
        edges = read("edges", (entries.stop - entries.start,)) if self.piece.edges else None
        return OfSlice(read("dependency", (copies.stop - copies.start,)), edges)

    def pack_total(self, total: Total) -> Arrays:
        """Return the sums."""
        return dict(total.whole or ())

    def unpack_total(self, done: int, read: Reads) -> Total:
        """Read the sums."""
        shapes = {name: array.shape for name, array in self._zeros()}
        return Total(done, Sums(**{name: read(name, shape) for name, shape in shapes.items()}) if done else None)
