"""`Rounds`, a work over roots drawn at random in rounds: a goal adds each whole round to its sequence of means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import phase
from lagbc.graph.csr import as_numpy
from lagbc.limits import Room
from lagbc.methods.contract import MethodModule, StopFlag
from lagbc.methods.sums import Sums
from lagbc.planning.sweep import Sweep
from lagbc.reduce.pieces import Drawn, Whole
from lagbc.run.sweeps import Batches, Rows, Sweeps, on_host
from lagbc.run.work import Arrays, Found, Hand, Items, Reads, Span, Total

# Prefix of the names of the sums of the unfinished round, in a file.
_ROUND = "round/"
# Rounds of fewer roots are not grouped.
_GROUPED = 128
# The means after some rounds, and their bounds: `lagbc.estimates.aim.Sequence`.
Sequence = Any


class Goal(Protocol):
    """The accuracy that rounds are drawn for, or the time that they may take."""

    def plus(self, sequence: Sequence, count: int, sums: Sums) -> Sequence:
        """Add the sums of a round of `count` roots."""

    def is_reached(self, sequence: Sequence) -> bool:
        """Whether the sequence is accurate enough."""

    def is_out_of_time(self) -> bool:
        """Whether to stop within the round at hand."""


class Rounds(Sweeps):
    """Sums over the rounds of a piece. A total has the sequence as `whole`, and the sums of the round at hand."""

    may_end_early = True  # once the goal is reached
    goal: Goal | None = None  # None in a worker, which adds nothing
    begun: Sequence = None  # before the first round

    def __init__(self, piece: Whole, sweep: Sweep, room: Room | None, module: MethodModule | None = None) -> None:
        super().__init__(piece, sweep, room, module)
        assert piece.drawn is not None
        self.drawn: Drawn = piece.drawn
        self._as_drawn = self.items
        self.items = self.items.copy()  # a round is put in order when it is begun
        self.chunk = max(1, len(self.items))  # there are no chunks: rounds are added panel by panel
        self._in_order = set[int]()  # numbers of rounds

    def towards(self, goal: Goal, begun: Sequence = None) -> Self:
        """Set the goal, and the sequence before the first round; return the work."""
        self.goal, self.begun = goal, begun
        return self

    @property
    def order(self) -> Items:
        return self._as_drawn

    @property
    def panel(self) -> int:
        """The roots that the method sums at once; each panel is sent and added by itself."""
        return self.module.batching.block

    grain = cut = panel

    @property
    def portion(self) -> int:
        return self.batch

    def spans(self, first: int, last: int, length: int) -> Iterator[Span]:
        for span in super().spans(first, last, length):
            self._put_in_order(span)
            yield span

    def batches(self, first: int, last: int) -> Iterator[Span]:
        """Cut a span into batches; if roots repeat, none crosses the end of a round, as counts are by round."""
        ends = self.drawn.ends.tolist() if self.drawn.repeats else []
        while first < last:
            end = min([first + self.batch, last, *(end for end in ends if end > first)])
            span = Span(first, end)
            self._put_in_order(span)
            yield span
            first = end

    def _put_in_order(self, span: Span) -> None:
        """Put near roots of a round together, in each round that a span meets, as any order within a round is valid."""
        if not len(self.items):  # a worker has no items
            return
        ends = self.drawn.ends
        begun, ended = np.searchsorted(ends, [span.first, span.last - 1], side="right").tolist()
        for number in {*range(begun, ended + 1)} - self._in_order:
            self._in_order.add(number)
            items = self.items[ends[number - 1] if number else 0 : ends[number]]
            drawn = items[items >= 0]
            roots = drawn % self.graph.n
            ordered = self._near_together(roots)
            places = np.argsort(roots)
            items[: len(ordered)] = drawn[places[np.searchsorted(roots, ordered, sorter=places)]]
            items[len(ordered) :] = -1

    def _near_together(self, roots: Items) -> Items:
        return self.graph.line_up(roots, self.row.device, _GROUPED)

    def open(self, stop: StopFlag) -> Hand:
        """Return a hand in whose batches roots count as often as they were drawn."""
        with phase("prepare"):
            batches = Batches(self, stop)
        n, repeats = self.graph.n, self.drawn.repeats

        def run(span: Span, items: Items) -> Rows:
            return batches.run(span, np.where(items < 0, -1, items % n), items // n + 1 if repeats else None)

        return run

    def sent(self, found: list[Found], items: Items, to_host: Callable[[Any], NDArray[Any]] = as_numpy) -> list[Found]:
        return [(span, on_host(sums, to_host)) for span, sums in found]

    def add(self, total: Total, span: Span, sums: Any) -> Total:
        """Add panels to the round at hand, and each whole round to the sequence."""
        done, sequence, part = total
        assert self.goal is not None
        asarray = self.row.arrays.asarray  # the sequence is on the device of the method, whoever summed the panels
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
        assert self.goal is not None
        if total.part is None and total.whole is not None and self.goal.is_reached(total.whole):
            return True
        return self.goal.is_out_of_time()

    def finish(self, total: Total) -> Sums:
        """Return the sums of the round at hand."""
        return (total.part or Sums()).moved(as_numpy)

    def pack_total(self, total: Total) -> Arrays:
        arrays = {} if total.whole is None else total.whole.arrays
        arrays |= {f"{_ROUND}{name}": array for name, array in total.part or Sums()}
        return {name: as_numpy(array) for name, array in arrays.items()}

    def unpack_total(self, done: int, read: Reads) -> Total:
        whole = int(np.searchsorted(self.drawn.ends, done, side="right"))
        sequence, part, asarray = None, None, self.row.arrays.asarray
        if whole:
            arrays = {name: asarray(read(name, array.shape)) for name, array in self.begun.arrays.items()}
            sequence = replace(self.begun, drawn=self.begun.drawn + int(self.drawn.sizes[:whole].sum()), **arrays)
        if done > (0, *self.drawn.ends.tolist())[whole]:
            part = Sums(**{name: asarray(read(f"{_ROUND}{name}", array.shape)) for name, array in self._zeros(np)})
        return Total(done, sequence, part)
