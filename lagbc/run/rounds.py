"""Sums over roots that are drawn in rounds, each of which is added to a confidence sequence when it is whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import phase
from lagbc.graph.csr import as_numpy
from lagbc.methods.contract import StopFlag
from lagbc.methods.roots import order_roots
from lagbc.methods.sums import Sums
from lagbc.planning.sweep import Sweep
from lagbc.reduce.pieces import Drawn, Whole
from lagbc.room import Room
from lagbc.run.sequence import Sequence
from lagbc.run.sweeps import Batches, Rows, Sweeps, on_host
from lagbc.run.work import Arrays, Found, Hand, Items, Reads, Span, Total

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


class Rounds(Sweeps):
    """Sums over the rounds of a piece; its total has the sequence in place of whole chunks, and the round at hand."""

    may_end_early = True  # once the goal is reached

    def __init__(
        self, piece: Whole, sweep: Sweep, room: Room | None, goal: Goal | None = None, begun: Sequence | None = None
    ) -> None:
        super().__init__(piece, sweep, room)
        assert piece.drawn is not None
        self.drawn: Drawn = piece.drawn
        self._as_drawn = self.items
        self.items = self.items.copy()  # a round is put in order when it is begun
        self.chunk = max(1, len(self.items))  # none: rounds are added panel by panel
        self._in_order = set[int]()
        self.goal, self.begun = goal, begun  # no goal in a process that sums spans for another; before the first round

    def towards(self, goal: Goal, begun: Sequence | None = None) -> Self:
        """Set the goal, and the sequence before the first round; return the work."""
        self.goal, self.begun = goal, begun
        return self

    @property
    def order(self) -> Items:
        """Roots, as they were drawn, and how often."""
        return self._as_drawn

    @property
    def panel(self) -> int:
        """The block of the method."""
        return self.module.batching.block

    @property
    def grain(self) -> int:
        """A panel."""
        return self.panel

    @property
    def portion(self) -> int:
        """A batch."""
        return self.batch

    def spans(self, first: int, last: int, length: int) -> Iterator[Span]:
        """Cut a span; rounds that begin in it are put in order before they are handed out."""
        for span in super().spans(first, last, length):
            self._put_rounds_in_order(span)
            yield span

    def batches(self, first: int, last: int) -> Iterator[Span]:
        """Cut a span; a round ends a batch where roots count as often as drawn, which another round may change."""
        ends = self.drawn.ends.tolist() if self.drawn.repeats else []
        while first < last:
            end = min([first + self.batch, last, *(end for end in ends if end > first)])
            span = Span(first, end)
            self._put_rounds_in_order(span)
            yield span
            first = end

    def _put_rounds_in_order(self, span: Span) -> None:
        if len(self.items):  # they are not there in a process that sums spans for another
            begun, ended = np.searchsorted(self.drawn.ends, [span.first, span.last - 1], side="right").tolist()
            for number in range(begun, ended + 1):
                self._put_in_order(number)

    def _put_in_order(self, number: int) -> None:
        """Put near roots together: within a round any order is as good."""
        if number in self._in_order:
            return
        self._in_order.add(number)
        first, last = (0, *self.drawn.ends.tolist())[number : number + 2]
        items = self.items[first:last]
        drawn = items[items >= 0]
        roots = drawn % self.graph.n
        ordered = self._near_together(roots)
        places = np.argsort(roots)
        items[: len(ordered)] = drawn[places[np.searchsorted(roots, ordered, sorter=places)]]
        items[len(ordered) :] = -1

    def _near_together(self, roots: Items) -> Items:
        return order_roots(self.graph, self.row, roots, _GROUPED)

    def open(self, stop: StopFlag) -> Hand:
        """Prepare a state for batches, in which roots count as often as they were drawn."""
        with phase("prepare"):
            batches = Batches(self, stop)
        n, repeats = self.graph.n, self.drawn.repeats

        def run(span: Span, items: Items) -> Rows:
            return batches.run(span, np.where(items < 0, -1, items % n), items // n + 1 if repeats else None)

        return run

    @property
    def cut(self) -> int:
        """A panel, as each is sent by itself."""
        return self.panel

    def sent(self, found: list[Found], items: Items, to_host: Callable[[Any], NDArray[Any]] = as_numpy) -> list[Found]:
        """Bring them to the host."""
        return [(span, on_host(sums, to_host)) for span, sums in found]

    def add(self, total: Total, span: Span, sums: Any) -> Total:
        """Add panels to the round at hand, and rounds that are whole to the sequence."""
        done, sequence, part = total
        assert self.goal is not None
        asarray = self.row.arrays.asarray  # the sequence is where it would be in a run of one device
        rows = self.as_rows(sums, span.last - span.first)
        for number, done in enumerate(range(span.first + self.panel, span.last + self.panel, self.panel)):
            panel = Sums(**{name: asarray(array[number]) for name, array in rows})
            part = panel if part is None else part.plus(panel)
            ended = int(np.searchsorted(self.drawn.ends, done))
            if self.drawn.ends[ended] == done:
                sequence = self.goal.plus(sequence or self.begun, int(self.drawn.sizes[ended]), part)
                part = None
                if self.goal.is_reached(sequence):
                    break
        return Total(done, sequence, part)

    def is_enough(self, total: Total) -> bool:
        """Whether the goal is reached, or there is no time."""
        assert self.goal is not None
        if total.part is None and total.whole is not None and self.goal.is_reached(total.whole):
            return True
        return self.goal.is_out_of_time()

    def finish(self, total: Total) -> Sums:
        """Return the sums of the round at hand."""
        return (total.part or Sums()).moved(as_numpy)

    def pack_total(self, total: Total) -> Arrays:
        """Return the arrays of the sequence, and the sums of the round at hand."""
        arrays = {} if total.whole is None else {name: getattr(total.whole, name) for name in _ARRAYS}
        arrays |= {f"{_ROUND}{name}": array for name, array in total.part or Sums()}
        return {name: as_numpy(array) for name, array in arrays.items()}

    def unpack_total(self, done: int, read: Reads) -> Total:
        """Read both, as far as so many items make them."""
        whole = int(np.searchsorted(self.drawn.ends, done, side="right"))
        sequence, part, asarray = None, None, self.row.arrays.asarray
        if whole:
            assert self.begun is not None
            arrays = {name: asarray(read(name, (len(self.begun.total),))) for name in _ARRAYS}
            drawn = self.begun.drawn + int(self.drawn.sizes[:whole].sum())
            sequence = Sequence(self.begun.population, drawn, **arrays)
        if done > (0, *self.drawn.ends.tolist())[whole]:
            n, nnz, names = self.graph.n, self.graph.nnz, self.plan.sums
            zeros = Sums.zeros(np, names, n, nnz)
            part = Sums(**{name: asarray(read(f"{_ROUND}{name}", array.shape)) for name, array in zeros})
        return Total(done, sequence, part)
