"""Works, and the one loop over them.

A work is a sum over items, roots mostly, in their order. Sums have two levels. A panel of items is summed at once, to a
row of sums; the panels of a chunk are added in order, from zero; and the chunks are added in order. Panels and chunks
hold the same items for every carrier, and no batch crosses the end of a chunk. So the total has the same bits whatever
the batch, the threads, the memory and the carrier.

A carrier is a generator function of a work and the places of its items. It yields spans with their sums, in order, and
no hand is at work once it is closed. Where memory runs out it goes on with less at a time, none of which changes a bit;
MemoryError says that the memory is too little for the smallest batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from functools import partial
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import in_phase, raise_if_stopped
from lagbc.errors import MemoryWarning, OutOfMemoryError, warn
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.limits import BUDGET_VARIABLE, Room, give_back, in_units
from lagbc.methods.contract import MethodModule, StopFlag, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import Both
from lagbc.planning.sweep import Sweep, memory_of, request_to, row_of, smaller_sweep
from lagbc.reduce.pieces import Chains, Whole

Items = NDArray[np.int64]
Arrays = dict[str, NDArray[Any]]


class Span(NamedTuple):
    """Places of items, from the first to before the last: a batch, a chunk, a share, a prefix, a task."""

    first: int
    last: int

    @property
    def place(self) -> slice:
        """The span as an index."""
        return slice(self.first, self.last)


class Total(NamedTuple):
    """The sum over the first items of a work; its arrays stay, but for counts of paths and places of slices to come."""

    done: int  # count of these items
    whole: Any = None  # the sum of the whole chunks; None, if there is none
    part: Any = None  # the sum over the items after these; None, if there are none


NONE_DONE = Total(0)


# The sums of a span, of the kind of its work.
Found = tuple[Span, Any]
# Sums the items of a batch, in a state of its own, for one thread at a time.
Hand = Callable[[Span, Items], Any]
# Yields the sums of spans of a work, from a place to before another.
Carrier = Callable[[Any, int, int], Generator[Found]]


class Work(ABC):
    """A sum over items in order."""

    items: Items
    hands: int  # at work at a time in one process
    stop: StopFlag | None = None  # of a hand of the calling thread, where a request has one already
    batch: int  # items that a hand is given at a time
    may_end_early = False  # whether the total may be enough before all items are in it
    own_carrier: Any = None  # the only one that carries it

    @property
    @abstractmethod
    def panel(self) -> int:
        """Least items that are summed at once; spans are cut between panels."""

    @property
    def chunk(self) -> int:
        """Items whose panels are added before the total is; a batch, where panels are added to the total one by one."""
        return self.batch

    @property
    def cut(self) -> int:
        """Items at whose multiples a portion is cut at no cost: a panel, as each is sent by itself."""
        return self.panel

    @property
    def portion(self) -> int:
        """Items that a process or a device is given at a time, where there are many: a batch for each thread."""
        return self.batch * self.hands

    def context(self) -> AbstractContextManager[Any]:
        """Return a context in which another thread works on this thread's device."""
        return nullcontext()

    def spans(self, first: int, last: int, length: int) -> Iterator[Span]:
        """Cut a span into spans of a length; lengths in whole chunks end with chunks."""
        chunk = self.chunk
        while first < last:
            end = min(first + length - (first % chunk if length % chunk == 0 else 0), last)
            yield Span(first, end)
            first = end

    def batches(self, first: int, last: int) -> Iterator[Span]:
        """Cut a span into batches, none of which crosses the end of a chunk."""
        batch, chunk = self.batch, self.chunk
        while first < last:
            end = min(first + batch, first - first % chunk + chunk, last)
            yield Span(first, end)
            first = end

    @abstractmethod
    def open(self, stop: StopFlag) -> Hand:
        """Prepare a state, and return a hand that works in it; MemoryError where the state does not fit.

        A hand raises `Interrupted` within a level once the flag is set.
        """

    @abstractmethod
    def add(self, total: Total, span: Span, sums: Any) -> Total:
        """Return the total with the sums of the next span added."""

    @abstractmethod
    def finish(self, total: Total) -> Any:
        """Make the result from the total of all items, on the host."""

    def is_enough(self, total: Total) -> bool:
        """Whether the total is as good as asked for, so that no more items are summed."""
        return False

    def sent(self, found: list[Found], items: Items, to_host: Callable[[Any], NDArray[Any]] = as_numpy) -> list[Found]:
        """Shrink the sums of spans that follow each other, of these items, for their way to the host."""
        return found

    def smaller(self, error: MemoryError, say: Callable[[str], object] | None = None) -> Self:
        """Return the work with less at a time, and say so; MemoryError for the least."""
        raise error


@in_phase("sweep")
def sum_over(
    work: Work,
    carry: Carrier,
    total: Total = NONE_DONE,
    last: int | None = None,
    keeps: Sequence[Callable[[Total], object]] = (),
) -> Total:
    """Sum a work over its items, in order, from a total on, until it is enough, or to before the place `last`.

    All of `keeps` are called with each new total. After an error no hand is at work, and `keeps` have had the total of
    all spans that the carrier has yielded.
    """
    last = len(work.items) if last is None else last
    found = carry(work, total.done, last)
    try:
        for span, sums in found:
            total = work.add(total, span, sums)
            del sums
            for keep in keeps:
                keep(total)
            if work.may_end_early and work.is_enough(total):
                break
    finally:
        found.close()
    return total


def retrying(carry: Carrier, work: Work, first: int, last: int) -> Generator[Found]:
    """Carry a work, and go on with less at a time where memory runs out."""
    while first < last:
        found = carry(work, first, last)
        try:
            for one in found:
                first = one[0].last
                yield one
                del one  # else it would be held during the wait for the next one
        except MemoryError as error:
            work = work.smaller(error)
        finally:
            found.close()
        if first < last:
            give_back()  # the states of before, which no name holds any more


def inline(work: Work, first: int, last: int) -> Generator[Found]:
    """Sum in the calling thread, which takes no Ctrl-C while a kernel runs; with less where memory runs out.

    It is for runs of milliseconds: starting a thread takes longer than their sweeps.
    """
    while first < last:
        hand: Hand | None = None
        try:
            hand = work.open(work.stop or StopFlag())  # a GPU's mirrors stay with a flag
            for span in work.batches(first, last):
                raise_if_stopped()
                yield span, hand(span, work.items[span.first : span.last])
                first = span.last
        except MemoryError as error:
            work = work.smaller(error)
        if first < last:
            hand = None  # then no name holds the state of before
            give_back()


def _side_by_side(work: Work, first: int, last: int) -> Generator[Found]:
    hands = Hands(work)
    try:
        yield from hands.run(work.batches(first, last), work.items)
    finally:
        hands.close()


# Sums in as many threads as a work has hands; at most two batches a thread are ahead of the loop.
threaded: Carrier = partial(retrying, _side_by_side)


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


class Reads(Protocol):
    """Reads of the arrays of a work from a file, by their names."""

    def __call__(self, name: str, shape: tuple[int | None, ...], dtype: Any = float) -> NDArray[Any]:
        """Return an array of this shape, None for any length; a misfit is an error before it is read."""

    def has(self, name: str) -> bool:
        """Whether there is an array of this name."""


class PieceWork(Work):
    """The work of a piece, which may be sent to other processes, and kept in a file."""

    piece: Any
    sweep: Sweep
    graph: Graph  # that is swept

    @property
    def order(self) -> Items:
        """All that the order of the sums depends on."""
        return self.items

    @property
    def grain(self) -> int:
        """Items whose sums are added before they are added to others: these fix the bits of a total."""
        return self.chunk

    @property
    @abstractmethod
    def bytes_of_sums(self) -> int:
        """Bound the bytes of the sums over some of the items."""

    def on(self, copied: Callable[[Graph], Graph]) -> Self:
        """Return the same work on the device to which `copied` copies graphs."""
        return self

    @abstractmethod
    def pack(self, span: Span, sums: Any) -> Arrays:
        """Return the arrays of the sums of a span, on the host."""

    @abstractmethod
    def unpack(self, span: Span, read: Reads) -> Any:
        """Make the sums of a span from the arrays of `pack`."""

    @abstractmethod
    def pack_total(self, total: Total) -> Arrays:
        """Return the arrays of a total, on the host."""

    @abstractmethod
    def unpack_total(self, done: int, read: Reads) -> Total:
        """Make a total from the arrays of `pack_total`."""

    @abstractmethod
    def finish(self, total: Total) -> Sums:
        """Make the sums of the piece from the total of all items, on the host."""


class MethodWork(PieceWork):
    """The work of a piece by a method."""

    module: MethodModule  # of the method, or its stand-in
    plan: SweepPlan  # the request to the method

    def __init__(
        self, piece: Whole | Chains, sweep: Sweep, room: Room | None, module: MethodModule | None = None
    ) -> None:
        self.piece, self.room, self.row = piece, room, row_of(piece, sweep)
        self.module = module or self.row.load()
        # In a process that sums spans for another, hands place the graph, on the GPU of that process.
        self.graph = piece.graph if room is None else piece.placed(self.row)
        self.take(sweep, request_to(piece, sweep, room))

    def take(self, sweep: Sweep, plan: SweepPlan) -> None:
        """Work by another sweep of the same items, and its request to the method."""
        self.sweep, self.plan, self.batch, self.stop = sweep, plan, sweep.batch, plan.stop
        self.hands = sweep.threads if self.module.batching.concurrent else 1

    def by(self, sweep: Sweep, plan: SweepPlan) -> Self:
        """Return the same work by another sweep of the same items."""
        other = copy(self)
        other.take(sweep, plan)
        return other

    @property
    def bytes_of_sums(self) -> int:
        return 8 * self.plan.summed(self.graph)

    def context(self) -> AbstractContextManager[Any]:
        """Return the device and stream of this thread, for other threads to enter."""
        if self.row.device == "cpu":
            return nullcontext()
        from cupy.cuda import Device, get_current_stream

        return Both(Device(), get_current_stream())

    def on(self, copied: Callable[[Graph], Graph]) -> Self:
        other = copy(self)
        other.graph = copied(self.graph)
        return other

    def smaller(self, error: MemoryError, say: Callable[[str], object] | None = None) -> Self:
        """Return the work with a thread less, or half the batch, and say so; MemoryError at the least."""
        before, name = self.sweep, f"{self.sweep.method} on {self.sweep.device}"
        sweep = smaller_sweep(self.piece, before, self.graph)
        if sweep is None:
            ran_out = f"{name} ran out of memory with the smallest batch, {before.batch}"
            if self.plan.budget is not None:
                ran_out += f"; it may take {in_units(self.plan.budget)}, which memory= or {BUDGET_VARIABLE} raises"
            raise OutOfMemoryError(ran_out) from error
        counts = ", without rows for path counts" if sweep.in_place and not before.in_place else ""
        message = f"{name} ran out of memory; it goes on with batch={sweep.batch} and threads={sweep.threads}{counts}"
        if say is None:
            warn(message, MemoryWarning)
        else:
            say(message)
        if self.room is None:  # in a process that sums spans for another
            return self.by(sweep, request_to(self.piece, sweep, growth=self.plan.growth))
        sweep = sweep._replace(memory=memory_of(self.piece, sweep, self.graph))
        return self.by(sweep, request_to(self.piece, sweep, self.room))
