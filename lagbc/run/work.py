"""Works: sums over items in their order, made of the steps of a plan.

Items are roots, mostly. Sums have two levels. A panel of items is summed at once, to a row of sums; the panels of a
chunk are added in order, from zero; and the chunks are added in order. Panels and chunks hold the same items for every
carrier. So the total has the same bits whatever the batch, the threads, the memory and the carrier.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import MemoryWarning, OutOfMemoryError, warn
from lagbc.frozen import frozen
from lagbc.graph.graph import Graph
from lagbc.limits import BUDGET_VARIABLE, in_units
from lagbc.methods.contract import MethodModule, StopFlag, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.plan import memory
from lagbc.plan.step import Step, order_roots

Items = NDArray[np.int64]


class Span(NamedTuple):
    """Places of items, from the first to before the last: a batch, a chunk, a share, a prefix, a task."""

    first: int
    last: int

    @property
    def place(self) -> slice:
        """The span as an index."""
        return slice(self.first, self.last)


class Piece(NamedTuple):
    """The sum over the items of a span, which ends within a chunk, or with it."""

    span: Span
    sums: Any  # of the kind of the work; for roots `Sums`, of the whole span, or with a row for each panel of `items`
    items: Items | None = None


@frozen
class Total:
    """The sum over the first items of a work; never changed."""

    done: int  # count of these items
    chunks: Any = None  # the sum of the whole chunks; None, if there is none
    part: Any = None  # the sum over the items after these; None, if there are none
    closed: tuple[Piece, ...] = ()  # pieces that the last addition has closed: nothing is added into them any more


class Reads(Protocol):
    """Reads of the arrays of a work from a file, by their names."""

    def __call__(self, name: str, shape: tuple[int | None, ...], dtype: Any = float) -> NDArray[Any]:
        """Return an array of this shape, None for any length; a misfit is an error before it is read."""

    def has(self, name: str) -> bool:
        """Whether there is an array of this name."""


# Sums the items of a span, in a state of its own, for one thread at a time.
Hand = Callable[[Span, Items], list[Piece]]


class Work(ABC):
    """A sum over items in order."""

    @property
    @abstractmethod
    def items(self) -> Items:
        """The items, in order."""

    @property
    @abstractmethod
    def panel(self) -> int:
        """Least items that are summed at once; spans are cut between panels."""

    @property
    def chunk(self) -> int:
        """Items whose panels are added before the total is; a panel, where panels are added to the total one by one."""
        return self.panel

    @property
    def batch(self) -> int:
        """Items that a hand is given at a time."""
        return self.panel

    @property
    def portion(self) -> int:
        """Items that a process or a device is given at a time, where there are many: a batch for each thread."""
        return self.batch * self.hands

    @property
    @abstractmethod
    def hands(self) -> int:
        """Hands at work at a time in one process."""

    @property
    def keeps_chunks(self) -> bool:
        """Whether every span ends within the chunk of its first item."""
        return False

    @property
    def may_end_early(self) -> bool:
        """Whether the total may be enough before all items are in it."""
        return False

    def context(self) -> AbstractContextManager[Any]:
        """Return a context in which another thread works on this thread's device."""
        return nullcontext()

    def spans(self, first: int, last: int, length: int) -> Iterator[Span]:
        """Cut a span into spans of a length; lengths in whole chunks end with chunks."""
        chunk, keeps_chunks = self.chunk, self.keeps_chunks
        while first < last:
            begun = first % chunk
            end = first + length - (begun if length % chunk == 0 else 0)
            if keeps_chunks:
                end = min(end, first - begun + chunk)
            end = min(end, last)
            yield Span(first, end)
            first = end

    @abstractmethod
    def open(self, stop: StopFlag) -> Hand:
        """Prepare a state, and return a hand that works in it; MemoryError where the state does not fit.

        A hand raises `Interrupted` within a level once the flag is set.
        """

    @abstractmethod
    def add(self, total: Total, pieces: list[Piece]) -> Total:
        """Return the total with pieces added, which follow its items."""

    @abstractmethod
    def finish(self, total: Total) -> Any:
        """Make the result from the total of all items, on the host."""

    def is_enough(self, total: Total) -> bool:
        """Whether the total is as good as asked for, so that no more items are summed."""
        return False

    def sent(self, pieces: list[Piece]) -> list[Piece]:
        """Shrink the pieces of a span for their way to the host."""
        return pieces

    def smaller(self, error: MemoryError, say: Callable[[str], object] | None = None) -> Self:
        """Return the work with less at a time, and say so; MemoryError for the least."""
        raise error


@frozen
class StepWork(Work):
    """The work of a step, which may be sent to other processes, and kept in a file."""

    step: Step
    module: MethodModule  # the module of the step's method, or its stand-in
    sweep: SweepPlan = field(init=False)  # the request to its method
    graph: Graph = field(init=False)  # the graph that is swept
    _kept: ClassVar[tuple[str, ...]] = ("items", "panel")  # cached properties that depend on the items alone

    def __post_init__(self) -> None:
        vars(self).update(sweep=self.step.sweep, graph=self.step.graph)

    @cached_property
    def items(self) -> Items:
        """Roots."""
        step = self.step
        return order_roots(step.graph, step.method, step.roots) if step.ordered is None else step.ordered

    @property
    def in_order(self) -> Items:
        """All that the order of the sums depends on."""
        return self.items

    @property
    def batch(self) -> int:
        """The batch of the sweep."""
        return self.sweep.batch

    @property
    def hands(self) -> int:
        """Threads, where batches run side by side."""
        return self.sweep.threads if self.module.batching.concurrent else 1

    def context(self) -> AbstractContextManager[Any]:
        """Return the device and stream of this thread."""
        return self.step.method.context()

    def with_step(self, step: Step) -> Self:
        """Return the same work with another step of the same items."""
        other = replace(self, step=step)
        vars(other).update({name: value for name, value in vars(self).items() if name in self._kept})
        return other

    def open(self, stop: StopFlag) -> Hand:
        """Prepare a state; the hand sums a span cut by cut."""
        sum_cut = self.prepare(stop)

        def run(span: Span, items: Items) -> list[Piece]:
            pieces: list[Piece] = []
            for cut in self.cuts(span):
                pieces += sum_cut(cut, items[cut.first - span.first : cut.last - span.first])
            return pieces

        return run

    @abstractmethod
    def prepare(self, stop: StopFlag) -> Hand:
        """Prepare a state, and return a hand for one cut of a span at a time."""

    def cuts(self, span: Span) -> Iterator[Span]:
        """Cut a span into the batches that are summed at once."""
        return self.spans(*span, self.batch)

    def on(self, copy: Callable[[Graph], Graph]) -> StepWork:
        """Return the same work on the device to which `copy` copies graphs."""
        return self.with_step(replace(self.step, graph=copy(self.graph)))

    def rest(self, total: Total) -> list[Piece]:
        """Return the unclosed pieces of a total."""
        return []

    @abstractmethod
    def pack(self, piece: Piece) -> dict[str, NDArray[Any]]:
        """Return the arrays of a piece, on the host."""

    @abstractmethod
    def finish(self, total: Total) -> Sums:
        """Make the sums of the step from the total of all items, on the host."""

    @abstractmethod
    def unpack(self, span: Span, read: Reads) -> Piece:
        """Make a piece from the arrays of `pack`."""

    @abstractmethod
    def pack_total(self, total: Total) -> dict[str, NDArray[Any]]:
        """Return the arrays of a total, on the host."""

    @abstractmethod
    def unpack_total(self, done: int, read: Reads) -> Total:
        """Make a total from the arrays of `pack_total`."""

    def smaller(self, error: MemoryError, say: Callable[[str], object] | None = None) -> Self:
        """Return the work with a thread less, or half the batch, and say so; MemoryError at the least."""
        step, method = memory.smaller(self.step), self.step.method
        if step is None:
            ran_out = f"{method.name} on {method.device} ran out of memory with the smallest batch, {self.sweep.batch}"
            if self.sweep.budget is not None:
                ran_out += f"; it may take {in_units(self.sweep.budget)}, which memory= or {BUDGET_VARIABLE} raises"
            raise OutOfMemoryError(ran_out) from error
        counts = ", without rows for path counts" if step.sweep.in_place and not self.sweep.in_place else ""
        message = (
            f"{method.name} on {method.device} ran out of memory; it goes on with batch={step.sweep.batch} and "
            f"threads={step.sweep.threads}{counts}"
        )
        if say is None:
            warn(message, MemoryWarning)
        else:
            say(message)
        return self.with_step(step)
