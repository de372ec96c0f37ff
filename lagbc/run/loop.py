"""The one loop: a work summed over its items, in order, by any carrier; the carriers of this process, too.

A carrier is a generator function of a work and the places of its items. It yields spans with their sums, in order, and
no hand is at work once it is closed. Where memory runs out it goes on with less at a time, none of which changes a bit;
MemoryError says that the memory is too little for the smallest batch.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from typing import Any

from lagbc.calls import phase, raise_if_stopped
from lagbc.limits import give_back
from lagbc.methods.contract import StopFlag
from lagbc.run.work import NONE_DONE, Found, Hand, Items, Span, Total, Work

Carrier = Callable[[Any, int, int], Generator[Found]]


def sum_over(
    work: Work,
    carry: Carrier,
    total: Total = NONE_DONE,
    last: int | None = None,
    keep: Callable[[Total], object] | None = None,
) -> Total:
    """Sum a work over its items, in order, from a total on, until it is enough, or to before the place `last`.

    `keep` is called with each new total. After an error no hand is at work, and `keep` has had all finished items.
    """
    last = len(work.items) if last is None else last
    with phase("sweep"), closing(carry(work, total.done, last)) as found:
        for span, sums in found:
            total = work.add(total, span, sums)
            del sums
            if keep is not None:
                keep(total)
            if work.may_end_early and work.is_enough(total):
                break
    return total


def inline(work: Work, first: int, last: int) -> Generator[Found]:
    """Sum in the calling thread, for runs of milliseconds: starting a thread takes longer than their sweeps.

    It takes no Ctrl-C while a kernel runs.
    """
    return retrying(_one_by_one, work, first, last)


def threaded(work: Work, first: int, last: int) -> Generator[Found]:
    """Sum in as many threads as a work has hands; at most two batches a thread are ahead of the loop."""
    return retrying(_side_by_side, work, first, last)


def retrying(carry: Carrier, work: Work, first: int, last: int) -> Generator[Found]:
    """Carry a work, and go on with less at a time where memory runs out."""
    while first < last:
        try:
            with closing(carry(work, first, last)) as found:
                for one in found:
                    first = one[0].last
                    yield one
                    del one  # else it would be held during the wait for the next one
        except MemoryError as error:
            work = work.smaller(error)
        if first < last:
            give_back()  # the states of before, which no name holds any more


def _one_by_one(work: Work, first: int, last: int) -> Generator[Found]:
    hand = work.open(StopFlag())
    for span in work.batches(first, last):
        raise_if_stopped()
        yield span, hand(span, work.items[span.first : span.last])


def _side_by_side(work: Work, first: int, last: int) -> Generator[Found]:
    hands = Hands(work)
    try:
        yield from hands.run(work.batches(first, last), work.items)
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

    def run(self, spans: Iterator[Span], items: Items, first: int = 0) -> Iterator[Found]:
        """Yield the sums of spans, in order; `items` are those from place `first` on."""
        yield from self._pool.in_order(partial(self._run, items, first), spans)

    def _run(self, items: Items, first: int, span: Span) -> Any:
        """Sum a span by an idle hand, or by a new one; a hand that fails is at work no more."""
        with self._context:
            try:
                hand = self._idle.pop()
            except IndexError:
                hand = self._open()
            sums = hand(span, items[span.first - first : span.last - first])
            self._idle.append(hand)
            return sums

    def stop(self) -> None:
        """Stop the hands at their next level."""
        self._stop.set()

    def close(self) -> None:
        """Stop the hands, and wait until none is at work."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
