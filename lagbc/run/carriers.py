"""Carriers of this process: the calling thread, or several threads."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Generic, TypeVar

from lagbc.methods.contract import StopFlag
from lagbc.run.work import Hand, Items, Piece, Span, Work
from lagbc.stopping import raise_if_stopped

Lent = TypeVar("Lent")
Result = TypeVar("Result")


class Inline:
    """The calling thread, for runs of milliseconds: starting a thread takes longer than their sweeps.

    It takes no Ctrl-C while a kernel runs.
    """

    makes_do = False

    def length(self, work: Work) -> int:
        """Return a batch."""
        return work.batch

    def each(self, work: Work, spans: Iterator[Span]) -> Generator[list[Piece]]:
        """Sum one span after the other, as the loop asks for their pieces."""
        hand = work.open(StopFlag())
        for span in spans:
            raise_if_stopped()
            yield hand(span, work.items[span.place])


class Threads:
    """As many threads as a work has hands; at most two spans a thread are ahead of the loop."""

    makes_do = False

    def length(self, work: Work) -> int:
        """Return a batch."""
        return work.batch

    def each(self, work: Work, spans: Iterator[Span]) -> Generator[list[Piece]]:
        """Sum spans side by side."""
        hands = Hands(work)
        try:
            yield from hands.run((span, work.items[span.place]) for span in spans)
        finally:
            hands.close()


class Hands:
    """The hands of a work in this process, each with a thread and a state of its own.

    Raises
    ------
    MemoryError
        The first state does not fit. The others are made on demand.
    """

    def __init__(self, work: Work) -> None:
        from lagbc.run.pool import Pool

        stop = StopFlag()
        self._stop, self._context = stop, work.context()
        # A function that named `self` would close a circle with it: states would stay until the garbage collection.
        self._lender: Lender[Hand] = Lender(lambda: work.open(stop))
        self._pool = Pool(work.hands)

    def run(self, spans: Iterable[tuple[Span, Items]]) -> Iterator[list[Piece]]:
        """Yield the pieces of spans, in order."""
        for _, pieces in self._pool.in_order(self._run, spans):
            yield pieces
            del pieces  # else they would be held during the wait for the next ones

    def _run(self, given: tuple[Span, Items]) -> list[Piece]:
        with self._context:
            return self._lender.use(lambda hand: hand(*given))

    def stop(self) -> None:
        """Stop the hands at their next level."""
        self._stop.set()

    def close(self) -> None:
        """Stop the hands, and wait until none is at work."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)


class Lender(Generic[Lent]):
    """Objects of one kind, lent to one call at a time and made on demand. An object whose call fails is not lent again.

    Raises
    ------
    MemoryError
        The first object does not fit.
    """

    def __init__(self, make: Callable[[], Lent]) -> None:
        self._make, self._idle = make, [make()]

    def use(self, work: Callable[[Lent], Result]) -> Result:
        """Call `work` with an idle object, or a new one."""
        try:
            lent = self._idle.pop()
        except IndexError:
            lent = self._make()
        result = work(lent)
        self._idle.append(lent)
        return result
