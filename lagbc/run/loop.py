"""The one loop: a work summed over its items, in order, by any carrier; the carriers of this process, too."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import Protocol, TypeVar

from lagbc.calls import phase, raise_if_stopped
from lagbc.methods.contract import MethodModule, StopFlag
from lagbc.methods.sums import Sums
from lagbc.plan.step import Step
from lagbc.run.sweeps import Sweeps
from lagbc.run.work import Hand, Items, Piece, Span, StepWork, Total, Work

Carried = TypeVar("Carried", bound=Work)
To = TypeVar("To", bound=Work, contravariant=True)


class Carrier(Protocol[To]):
    """Who runs the spans of works: hands of this process, of devices, or of other processes."""

    # whether hands that run out of memory go on with less by themselves, so that a MemoryError is final
    makes_do: bool = False

    def length(self, work: To) -> int:
        """Return how many items a hand is given at a time, in whole panels: a batch, or as a carrier has it."""
        return work.batch

    def each(self, work: To, spans: Iterator[Span]) -> Generator[list[Piece]]:
        """Yield the pieces of each span, in order, while hands are ahead by some spans.

        After its close no hand is at work.
        """


class Inline(Carrier[Work]):
    """The calling thread, for runs of milliseconds: starting a thread takes longer than their sweeps.

    It takes no Ctrl-C while a kernel runs.
    """

    def each(self, work: Work, spans: Iterator[Span]) -> Generator[list[Piece]]:
        """Sum one span after the other, as the loop asks for their pieces."""
        hand = work.open(StopFlag())
        for span in spans:
            raise_if_stopped()
            yield hand(span, work.items[span.place])


class Threads(Carrier[Work]):
    """As many threads as a work has hands; at most two spans a thread are ahead of the loop."""

    def each(self, work: Work, spans: Iterator[Span]) -> Generator[list[Piece]]:
        """Sum spans side by side."""
        hands = Hands(work)
        try:
            yield from hands.run(spans, work.items)
        finally:
            hands.close()


class Hands:
    """The hands of a work in this process, each with a thread and a state of its own.

    The first state is made at once, or MemoryError is raised; the others are made on demand.
    """

    def __init__(self, work: Work) -> None:
        from lagbc.native.pool import Pool

        self._stop, self._context = StopFlag(), work.context()
        # A function that named `self` would close a circle with it: states would stay until the garbage collection.
        self._open = partial(work.open, self._stop)
        self._idle: list[Hand] = [self._open()]
        self._pool = Pool(work.hands)

    def run(self, spans: Iterable[Span], items: Items, first: int = 0) -> Iterator[list[Piece]]:
        """Yield the pieces of spans, in order; `items` are those from place `first` on."""
        for _, pieces in self._pool.in_order(partial(self._run, items, first), spans):
            yield pieces
            del pieces  # else they would be held during the wait for the next ones

    def _run(self, items: Items, first: int, span: Span) -> list[Piece]:
        """Sum a span by an idle hand, or by a new one; a hand that fails is at work no more."""
        with self._context:
            try:
                hand = self._idle.pop()
            except IndexError:
                hand = self._open()
            pieces = hand(span, items[span.first - first : span.last - first])
            self._idle.append(hand)
            return pieces

    def stop(self) -> None:
        """Stop the hands at their next level."""
        self._stop.set()

    def close(self) -> None:
        """Stop the hands, and wait until none is at work."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)


def sum_over(
    work: Carried,
    carrier: Carrier[Carried],
    resumed: Total | None = None,
    last: int | None = None,
    keep: Callable[[Total], object] | None = None,
) -> Total:
    """Sum a work over its items, in order, from `resumed` on, until its total is enough, or to before the place `last`.

    `keep` is called with each new total. MemoryError says that the memory is too little for the smallest batch. After
    KeyboardInterrupt or StoppedError no hand is at work, and `keep` has had all finished items.
    """
    total, last = resumed or Total(0), len(work.items) if last is None else last
    with phase("sweep"):
        while total.done < last:
            try:
                with closing(carrier.each(work, work.spans(total.done, last, carrier.length(work)))) as found:
                    for pieces in found:
                        total = work.add(total, pieces)
                        if keep is not None:
                            keep(total)
                        if work.is_enough(total):
                            return total
            except MemoryError as error:
                if carrier.makes_do:
                    raise
                work = work.smaller(error)
    return total


def work_of(step: Step, module: MethodModule | None = None) -> StepWork:
    """Make the work of a step; `module` may replace the module of its method."""
    module = module or step.method.load()
    if step.contracted is not None:
        from lagbc.run.junctions import Junctions

        return Junctions(step, module)
    if step.drawn is not None:
        from lagbc.run.rounds import Rounds

        return Rounds(step, module)
    if step.sweep.bounds is not None:
        from lagbc.run.bounded import Bounded

        return Bounded(step, module)
    return Sweeps(step, module)


def sum_step(step: Step, module: MethodModule | None = None, carrier: Carrier[StepWork] | None = None) -> Sums:
    """Return the sums of a step, on the host."""
    work = work_of(step, module)
    return work.finish(sum_over(work, carrier or Threads()))
