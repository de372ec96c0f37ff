"""Sums over roots that are drawn in rounds, each of which is added to a confidence sequence when it is whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cached_property
from itertools import pairwise, starmap
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lagbc.frozen import frozen
from lagbc.graph.csr import as_numpy
from lagbc.methods.sums import Sums
from lagbc.plan.step import Drawn, Step, order_roots
from lagbc.run.sequence import Sequence
from lagbc.run.sweeps import Sweeps, on_host
from lagbc.run.work import Items, Piece, Reads, Span, Total

_ARRAYS = tuple(field.name for field in fields(Sequence) if field.name not in ("population", "drawn"))
# Before the names of the sums of the round at hand.
_ROUND = "round/"
# Roots of a round from which they are grouped: what that takes at first serves all rounds.
_GROUPED = 128


class Goal(Protocol):
    """What rounds are drawn for."""

    def plus(self, sequence: Sequence | None, count: int, sums: Sums) -> Sequence:
        """Return the sequence with the sums of a round of so many roots added."""

    def is_reached(self, sequence: Sequence) -> bool:
        """Whether no more rounds are wanted."""

    def is_out_of_time(self) -> bool:
        """Whether the round at hand is not to be finished."""


@frozen
class Rounds(Sweeps):
    """Sums over the rounds of a step; its total has the sequence in place of whole chunks, and the round at hand."""

    goal: Goal | None = None  # None in a process that sums spans for another
    begun: Sequence | None = None  # before the first round
    _kept = ("items", "panel", "_in_order")

    @classmethod
    def of_goal(cls, step: Step, goal: Goal, begun: Sequence | None = None) -> Self:
        """Make the work of a step for a goal."""
        return cls(step, step.method.load(), goal, begun)

    @property
    def drawn(self) -> Drawn:
        """The rounds."""
        assert self.step.drawn is not None
        return self.step.drawn

    @cached_property
    def items(self) -> Items:
        """Roots, as they were drawn, and how often; a round is put in order when it is begun."""
        return self.in_order.copy()

    @property
    def in_order(self) -> Items:
        """The same as they were drawn."""
        assert self.step.ordered is not None
        return self.step.ordered

    @cached_property
    def _in_order(self) -> set[int]:
        return set()

    @property
    def chunk(self) -> int:
        """A panel: a round is whole panels."""
        return self.panel

    @cached_property
    def panel(self) -> int:
        """The block of the method."""
        return self.module.batching.block

    @property
    def portion(self) -> int:
        """A batch."""
        return self.batch

    @property
    def may_end_early(self) -> bool:
        """Once the goal is reached."""
        return True

    def spans(self, first: int, last: int, length: int) -> Iterator[Span]:
        """Cut a span; rounds that begin in it are put in order before they are handed out."""
        for span in super().spans(first, last, length):
            if self.step.ordered is not None:
                begun, ended = np.searchsorted(self.drawn.ends, [span.first, span.last - 1], side="right").tolist()
                for number in range(begun, ended + 1):
                    self._put_in_order(number)
            yield span

    def _put_in_order(self, number: int) -> None:
        """Put near roots together: within a round any order is as good."""
        if number in self._in_order:
            return
        self._in_order.add(number)
        first, last = (0, *self.drawn.ends.tolist())[number : number + 2]
        items = self.items[first:last]
        drawn = items[items >= 0]
        roots = drawn % self.graph.n
        ordered = order_roots(self.graph, self.step.method, roots, _GROUPED)
        places = np.argsort(roots)
        items[: len(ordered)] = drawn[places[np.searchsorted(roots, ordered, sorter=places)]]
        items[len(ordered) :] = -1

    def roots_of(self, items: Items) -> tuple[Items, Items | None]:
        """Return the roots of some items, and how often each was drawn."""
        counts = items // self.graph.n + 1 if self.drawn.repeats else None
        return np.where(items < 0, -1, items % self.graph.n), counts

    def cuts(self, span: Span) -> Iterator[Span]:
        """Cut a span; a round ends a batch where roots count as often as drawn, which another round may change."""
        for batch in super().spans(*span, self.batch):
            ends = self.drawn.ends[(self.drawn.ends > batch.first) & (self.drawn.ends < batch.last)]
            cuts = ends.tolist() if self.drawn.repeats else []
            yield from starmap(Span, pairwise([batch.first, *cuts, batch.last]))

    def sent(self, pieces: list[Piece]) -> list[Piece]:
        """Bring them to the host."""
        return [piece._replace(sums=on_host(piece.sums)) for piece in pieces]

    def add(self, total: Total, pieces: list[Piece]) -> Total:
        """Add panels to the round at hand, and rounds that are whole to the sequence."""
        done, sequence, part = total.done, total.chunks, total.part
        assert self.goal is not None
        asarray = self.step.method.arrays.asarray  # the sequence is where it would be in a run of one device
        for piece in pieces:
            rows = self.as_rows(piece.sums, piece.span.last - piece.span.first)
            panel = Sums(**{name: asarray(array[0]) for name, array in rows})
            done, part = piece.span.last, panel if part is None else part.plus(panel)
            number = int(np.searchsorted(self.drawn.ends, done))
            if self.drawn.ends[number] == done:
                sequence = self.goal.plus(sequence or self.begun, int(self.drawn.sizes[number]), part)
                part = None
                if self.goal.is_reached(sequence):
                    break
        return Total(done, sequence, part)

    def is_enough(self, total: Total) -> bool:
        """Whether the goal is reached, or there is no time."""
        assert self.goal is not None
        if total.part is None and total.chunks is not None and self.goal.is_reached(total.chunks):
            return True
        return self.goal.is_out_of_time()

    def finish(self, total: Total) -> Sums:
        """Return the sums of the round at hand."""
        return (total.part or Sums()).moved(as_numpy)

    def pack_total(self, total: Total) -> dict[str, NDArray[np.float64]]:
        """Return the arrays of the sequence, and the sums of the round at hand."""
        arrays = {} if total.chunks is None else {name: getattr(total.chunks, name) for name in _ARRAYS}
        arrays |= {f"{_ROUND}{name}": array for name, array in total.part or Sums()}
        return {name: as_numpy(array) for name, array in arrays.items()}

    def unpack_total(self, done: int, read: Reads) -> Total:
        """Read both, as far as so many items make them."""
        whole = int(np.searchsorted(self.drawn.ends, done, side="right"))
        sequence, part, asarray = None, None, self.step.method.arrays.asarray
        if whole:
            assert self.begun is not None
            arrays = {name: asarray(read(name, (len(self.begun.total),))) for name in _ARRAYS}
            drawn = self.begun.drawn + int(self.drawn.sizes[:whole].sum())
            sequence = Sequence(self.begun.population, drawn, **arrays)
        if done > (0, *self.drawn.ends.tolist())[whole]:
            n, nnz, names = self.graph.n, self.graph.nnz, self.sweep.sums
            zeros = Sums.zeros(np, names, n, nnz)
            part = Sums(**{name: asarray(read(f"{_ROUND}{name}", array.shape)) for name, array in zeros})
        return Total(done, sequence, part)
