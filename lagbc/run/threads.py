"""Threads and workers of a run: the pool of `lagbc.run.pool`, the calling thread in its place, and workers lent."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from lagbc.stopping import raise_if_stopped

if TYPE_CHECKING:
    from lagbc.run.pool import Threads

Item = TypeVar("Item")
Result = TypeVar("Result")
Worker = TypeVar("Worker")
# Gives units of work to others, and yields what each comes to, in their order.
Elsewhere = Callable[[Sequence[Any]], Generator[Any]]
Pool: TypeAlias = "Threads | CallingThread"


def pool_of(most: int, *, in_calling_thread: bool) -> Pool:
    """Return a pool of so many threads at most, or the calling thread."""
    if in_calling_thread:
        return CallingThread()
    from lagbc.run.pool import Threads

    return Threads(most)


class CallingThread:
    """Stands in for `Threads` where calls are short: the thread that takes their results makes them."""

    def in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
        """Yield each item with what a call makes of it, when it is asked for."""
        for item in items:
            raise_if_stopped()
            yield item, work(item)

    def shutdown(self, *, wait: bool, cancel_futures: bool) -> None:
        """Do nothing, as no call is under way."""


class Lender(Generic[Worker]):
    """Lends workers, made as they are needed, to one call at a time. One that fails is not lent again.

    Raises
    ------
    MemoryError
        The first does not fit.
    """

    def __init__(self, make: Callable[[], Worker]) -> None:
        self._make, self._idle = make, [make()]

    def use(self, work: Callable[[Worker], Result]) -> Result:
        """Return what an idle worker, or a new one, makes of a call."""
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = self._make()
        result = work(worker)
        self._idle.append(worker)
        return result
