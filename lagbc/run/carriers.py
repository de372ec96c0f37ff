"""Carriers of this process: the calling thread, or several threads."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from functools import partial
from typing import Protocol, TypeVar

from lagbc.methods.contract import StopFlag
from lagbc.run.work import Hand, Items, Piece, Span, Work
from lagbc.stopping import raise_if_stopped

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
        from lagbc.run.pool import Pool

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
