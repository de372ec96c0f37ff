"""Several devices that sweep the roots of one part of a plan, to the bits of one.

Each has a thread, a stream and states of its own, and takes the next chunk when it has done one. A chunk is summed on
one device, as a run on one does, or in pieces of whole blocks where there are too few; its sum is brought to the host,
where sums are added in order. So are groups of junctions, where chains are contracted. A device that runs out of memory
goes on with less at a time; one that fails hands on what it was at, and takes no more.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Lock
from typing import Any, Protocol, TypeVar

from lagbc.errors import MemoryWarning, OutOfMemoryError, RunError, warn
from lagbc.graph.csr import as_numpy
from lagbc.methods.contract import Interrupted, StopFlag
from lagbc.methods.sums import SparseSums, Sums
from lagbc.plan.devices import Device
from lagbc.plan.roots import chunk_length
from lagbc.plan.step import Step
from lagbc.run.pool import Threads
from lagbc.run.sweep import with_less_memory
from lagbc.run.within import BlockWorker, blocks_of
from lagbc.run.workers import Roots, Workers

Result = TypeVar("Result")
# A chunk, how many of its roots are done, and their sums or None.
Unit = tuple[Roots, int, Sums | None]
Say = Callable[[str], object]

# Chunks for each device from which on they are given out whole.
_WHOLE_CHUNKS = 4


class Crew:
    """Devices that sweep a part of a plan.

    Parameters
    ----------
    devices : sequence of Device
        The first one prepares the graph, which is copied to the others.
    part : Step
    """

    def __init__(self, devices: Sequence[Device], part: Step) -> None:
        self._devices, self._part = devices, part

    def each(self, units: Sequence[Any]) -> Generator[Any]:
        """Yield what each chunk or block of roots sums to, or each group of junctions, on the host and in order.

        Raises
        ------
        MemoryError, RuntimeError
            All devices have run out of memory, or have failed.
        KeyboardInterrupt
            Ctrl-C; no device is at work.

        Warns
        -----
        MemoryWarning
            A device goes on with less at a time.
        RuntimeWarning
            A device has failed.
        """
        if self._part.contracted is not None:
            return (found for _, found in self._sweep(units))
        return self._sum_chunks(units) if self._part.sweep.bounds is None else self._sum_blocks(units)

    def _sum_blocks(self, blocks: Sequence[Roots]) -> Generator[list[SparseSums]]:
        """Yield what each block of roots sums to, within bounds; each device is given some of them at a time."""
        length = min(blocks_of(self._part.method).at_once, -(-len(blocks) // len(self._devices)) or 1)
        several = (blocks[first : first + length] for first in range(0, len(blocks), length))
        with closing(self._sweep(several)) as swept:
            for _, found in swept:
                yield from found

    def _sum_chunks(self, units: Sequence[Unit]) -> Generator[Sums]:
        """Yield sums of chunks, made of what devices make of pieces."""
        pieces = _pieces(units, _length(units, self._part, len(self._devices)), self._part)
        chunk: Sums | None = None
        with closing(self._sweep(pieces)) as swept:
            for piece, found in swept:
                if piece.is_first:
                    chunk = units[piece.unit][2]
                for sums in found:
                    chunk = sums if chunk is None else chunk.plus(sums)
                if piece.is_last:
                    assert chunk is not None
                    yield chunk

    def _sweep(self, items: Iterable[Any]) -> Generator[tuple[Any, Any]]:
        """Yield pieces or groups with what devices make of them, in order."""
        run = _Run(self._devices, self._part)
        pool = Threads(len(self._devices))
        try:
            run.open()
            for item, found in pool.in_order(run.sum, items):
                run.warn()
                yield item, found
        finally:
            run.stop()
            pool.shutdown(wait=True, cancel_futures=True)
            run.close()
            run.warn()


@dataclass(frozen=True, eq=False)
class _Piece:
    """Roots of a chunk: how each device is asked for them, and where they are.

    Attributes
    ----------
    unit : int
        Number of the chunk.
    runs : list of ndarray of int64
        What is summed by itself: all of them where they begin the chunk, else blocks.
    is_first, is_last : bool
        Whether they are the first, and the last, that are asked for of the chunk.
    """

    unit: int
    runs: list[Roots]
    is_first: bool
    is_last: bool


def _length(units: Sequence[Unit], part: Step, devices: int) -> int:
    """Tell how many roots a device is given at a time: a chunk, or, of few, so many that all devices have as much."""
    batching = part.method.load().batching
    chunk = chunk_length(part.method, batching)
    if len(units) >= _WHOLE_CHUNKS * devices or batching.block == 1:  # which are summed as one block
        return chunk
    roots = sum(len(roots) - done for roots, done, _ in units)
    rounds = -(-roots // (devices * part.sweep.batch))
    share = -(-roots // (devices * rounds))
    return min(chunk, -(-share // batching.block) * batching.block)


def _pieces(units: Sequence[Unit], length: int, part: Step) -> Iterator[_Piece]:
    block = part.method.load().batching.block
    for number, (roots, done, _) in enumerate(units):
        for first in range(done, len(roots), length):
            some = roots[first : first + length]
            runs = [some] if first == 0 else [some[begin : begin + block] for begin in range(0, len(some), block)]
            yield _Piece(number, runs, first == done, first + length >= len(roots))


class _Run:
    """The devices at work on one list of pieces or groups."""

    def __init__(self, devices: Sequence[Device], part: Step) -> None:
        self._notes: list[tuple[str, type[Warning]]] = []
        self._workers = [_DeviceWorkers(device, part, self._notes) for device in devices]
        self._idle = SimpleQueue[_DeviceWorkers | None]()
        self._lock, self._left = Lock(), len(devices)
        self._error: Exception = Interrupted()

    def open(self) -> None:
        """Prepare the graph on the first device that does not fail."""
        waiting = list(self._workers)
        while waiting:
            first = waiting.pop(0)
            try:
                first.open()
            except first.failures as error:
                self._lose(first, error)
                continue
            for workers in (first, *waiting):
                self._idle.put(workers)
            return

    def sum(self, work: Any) -> Any:
        """Have a device that is free do some work, or another one if it fails."""
        while True:
            workers = self._idle.get()
            if workers is None:
                self._idle.put(None)
                raise self._error
            try:
                found = workers.sum(work)
            except workers.failures as error:
                self._lose(workers, error)
            else:
                self._idle.put(workers)
                return found

    def _lose(self, workers: _DeviceWorkers, error: Exception) -> None:
        """Do without a device; raise an error if it was the last."""
        name = workers.device.name
        with self._lock:
            self._left -= 1
            left = self._left
        if left:
            self._notes.append((f"{name} has failed, and the others go on without it: {error}", RuntimeWarning))
            return
        kind = OutOfMemoryError if isinstance(error, MemoryError) else RunError
        self._error = kind(f"all devices have failed, {name} as the last: {error}")
        self._error.__cause__ = error
        self._idle.put(None)
        raise self._error

    def warn(self) -> None:
        """Warn of what has happened: warnings are the caller's, whose thread this is."""
        while self._notes:
            warn(*self._notes.pop(0))

    def stop(self) -> None:
        """Ask all devices to stop at their next level."""
        self._idle.put(None)
        for workers in self._workers:
            workers.stop()

    def close(self) -> None:
        """Let go of all states."""
        for workers in self._workers:
            with suppress(*workers.device.failures):
                workers.close()


class _DeviceWorkers:
    """The states of one device, which works for one thread at a time."""

    def __init__(self, device: Device, part: Step, notes: list[tuple[str, type[Warning]]]) -> None:
        self.device, self._notes = device, notes
        kind = _Chunks if part.sweep.bounds is None else _Blocks
        self._states: _States = kind(device, part) if part.contracted is None else _Groups(part)

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """Errors after which the device takes no more work: also MemoryError where it makes do with the least."""
        return MemoryError, *self.device.failures

    def open(self) -> None:
        """Prepare a state, and what it takes of the graph, before others copy that."""
        self.device.wait()
        with self.device.context():
            self._retry(self._states.open)
            self.device.wait()

    def sum(self, work: Any) -> Any:
        """Do some work; what it comes to is on the host."""
        with self.device.context():
            return self._retry(lambda: self._states.sum(work))

    def _retry(self, work: Callable[[], Result]) -> Result:
        """Do something, with less at a time while memory runs out."""
        while True:
            try:
                return work()
            except MemoryError as error:
                self._states.let_go()
                self._states.make_do(error, self._say)

    def _say(self, message: str) -> None:
        self._notes.append((f"{self.device.name}: {message}", MemoryWarning))

    def stop(self) -> None:
        """Stop at the next level."""
        self._states.stop()

    def close(self) -> None:
        """Let go of the states."""
        with self.device.context():
            self._states.let_go()


class _States(Protocol):
    """What is prepared on a device for one kind of work, within its context."""

    def open(self) -> None: ...
    def sum(self, work: Any) -> Any: ...
    def make_do(self, error: MemoryError, say: Say) -> None: ...
    def stop(self) -> None: ...
    def let_go(self) -> None: ...


class _Chunks:
    """Sums runs of roots, each by itself."""

    def __init__(self, device: Device, part: Step) -> None:
        self._device, self._part, self._graph, self._plan = device, part, part.graph, part.sweep
        self._workers: Workers | None = None
        self._is_stopped = False

    def open(self) -> None:
        if self._workers is None:
            self._graph = self._device.copy(self._part.graph)
            workers = Workers(self._graph, self._part.method, self._plan, in_calling_thread=True)
            self._workers = workers.__enter__()
        if self._is_stopped:
            raise Interrupted

    def sum(self, work: _Piece) -> list[Sums]:
        self.open()
        assert self._workers is not None
        return [part.sums.moved(as_numpy) for part in self._workers.sum(work.runs) if part.is_whole]

    def make_do(self, error: MemoryError, say: Say) -> None:
        self._plan = with_less_memory(self._graph, self._part.method, self._plan, error, say)

    def stop(self) -> None:
        self._is_stopped = True
        if (workers := self._workers) is not None:
            workers.stop()

    def let_go(self) -> None:
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.__exit__()


class _Blocks:
    """Sums blocks of roots within bounds."""

    def __init__(self, device: Device, part: Step) -> None:
        self._device, self._part, self._graph = device, part, part.graph
        self._plan = part.sweep.with_own_flag()
        self._worker: BlockWorker | None = None

    def open(self) -> None:
        self._plan.stop.check()
        if self._worker is None:
            self._graph = self._device.copy(self._part.graph)
            self._worker = BlockWorker(self._graph, self._part.method, self._plan)

    def sum(self, work: list[Roots]) -> list[list[SparseSums]]:
        self.open()
        assert self._worker is not None
        return self._worker.run(work)

    def make_do(self, error: MemoryError, say: Say) -> None:
        self._plan = with_less_memory(self._graph, self._part.method, self._plan, error, say)

    def stop(self) -> None:
        self._plan.stop.set()

    def let_go(self) -> None:
        self._worker = None


class _Groups:
    """Sums groups of junctions of a contracted block."""

    def __init__(self, part: Step) -> None:
        assert part.contracted is not None
        self._contracted, self._method, self._size = part.contracted, part.method, part.sweep.batch
        self._stop = StopFlag()
        self._worker: Any = None

    def open(self) -> None:
        from lagbc.run.chains import GroupWorker

        if self._worker is None:
            self._worker = GroupWorker(self._contracted, self._method, self._size, self._stop)

    def sum(self, work: Roots) -> Any:
        self.open()
        return self._worker.run(work)

    def make_do(self, error: MemoryError, say: Say) -> None:
        from lagbc.run.chains import halved

        self._size = halved(self._method, self._size, error)
        say(f"{self._method.name} ran out of memory; it goes on with {self._size} roots at a time")

    def stop(self) -> None:
        self._stop.set()

    def let_go(self) -> None:
        self._worker = None
