"""Several devices that sweep the roots of one part of a plan, to the bits of one.

Each has a thread, a stream and states of its own, and takes the next chunk when it has done one. A chunk is summed on
one device, as a run on one does, or in pieces of whole blocks where there are too few; its sum is brought to the host,
where sums are added in order. A device that runs out of memory goes on with a smaller batch; one that fails hands on
what it was at, and takes no more.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Lock
from typing import Any, Protocol, TypeVar

from lagbc.errors import MemoryWarning, warn
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.graph.validate import is_cupy
from lagbc.methods import table
from lagbc.methods.contract import Interrupted
from lagbc.methods.sums import Sums
from lagbc.run.options import Options, Settings, devices_in
from lagbc.run.part import Part
from lagbc.run.sweep import with_less_memory
from lagbc.run.threads import Elsewhere, Threads, in_order
from lagbc.run.workers import Roots, Workers, chunk_length
from lagbc.types import All

Result = TypeVar("Result")
# A chunk, how many of its roots are done, and their sums or None.
Unit = tuple[Roots, int, Sums | None]

# Chunks for each device from which on they are given out whole.
_WHOLE_CHUNKS = 4


class Device(Protocol):
    """Where roots are swept: a GPU, or, in tests, the host under another name."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """Errors that mean that it takes no more work, as opposed to those of what it was asked for."""

    def context(self) -> AbstractContextManager[Any]:
        """Return a context in which the calling thread works on it, in a stream of its own."""

    def copy(self, graph: Graph) -> Graph:
        """Return a graph, with all that was worked out of it, where methods on this device take it; in its context."""

    def wait(self) -> None:
        """Wait for all that was begun on it."""


class Gpu:
    """A GPU by its number."""

    def __init__(self, number: int) -> None:
        from cupy import cuda

        self.number, self.name = number, f"GPU {number}"
        self.failures = (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError)
        self._device = cuda.Device(number)
        with self._device:
            self._stream = cuda.Stream(non_blocking=True)

    def context(self) -> AbstractContextManager[Any]:
        """Return a context in which the calling thread works on it."""
        return table.Both(self._device, self._stream)

    def copy(self, graph: Graph) -> Graph:
        """Copy a graph that is on another GPU; of one that is on the host, methods bring here what they need."""
        return graph.on_device if graph.is_on_device else graph

    def wait(self) -> None:
        """Wait for all that was begun on it, by whatever thread."""
        self._device.synchronize()


def numbers_of(devices: tuple[int, ...] | All | None) -> tuple[int, ...]:
    """Return the numbers of the GPUs that are asked for; none where it is left to CuPy.

    Raises
    ------
    ValueError
        There is no such GPU.
    """
    count = table.gpus()
    if devices is None or not count:  # without a GPU the choice of a method says what is missing
        return ()
    numbers = tuple(range(count)) if devices == "all" else devices
    for number in numbers:
        if number >= count:
            there = "there is one GPU, 0" if count == 1 else f"there are {count} GPUs, 0 to {count - 1}"
            raise ValueError(f"device={number}: {there}")
    return numbers


def home(A: Any, options: Options) -> AbstractContextManager[Any]:
    """Return the context of the GPU where a graph is read and put in order: the first that is asked for, or its own.

    Raises
    ------
    ValueError
        There is no such GPU, or `A` is on another one.
    """
    numbers = numbers_of(devices_in(options))
    at = A.data.device.id if is_cupy(A) else None
    if at is not None and numbers and numbers[0] != at:
        raise ValueError(f"A is a CuPy matrix on GPU {at}, but device={numbers[0]} was asked for; name {at} first")
    if at is None and not numbers:
        return nullcontext()
    from cupy import cuda

    device: AbstractContextManager[Any] = cuda.Device(numbers[0] if numbers else at)
    return device


def devices_of(settings: Settings, part: Part) -> list[Device]:
    """Return the devices that sweep a part, if they are several; chains and bounds are swept on one."""
    numbers = numbers_of(settings.devices) if part.method.device == "cuda" else ()
    if len(numbers) < 2 or part.contracted is not None or part.sweep.bounds is not None:
        return []
    return [Gpu(number) for number in numbers]


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


def elsewhere_of(settings: Settings, part: Part) -> Elsewhere | None:
    """Return who sums the chunks of a part in the place of one device, if several are asked for."""
    devices = devices_of(settings, part)
    return Crew(devices, part).each if devices else None


class Crew:
    """Devices that sum chunks of a part of a plan.

    Parameters
    ----------
    devices : sequence of Device
        The first one prepares the graph, which is copied to the others.
    part : Part
    """

    def __init__(self, devices: Sequence[Device], part: Part) -> None:
        self._devices, self._part = devices, part

    def each(self, units: Sequence[Unit]) -> Generator[Sums]:
        """Yield what each chunk sums to, on the host, in order.

        Raises
        ------
        MemoryError, RuntimeError
            All devices have run out of memory, or have failed.
        KeyboardInterrupt
            Ctrl-C; no device is at work.

        Warns
        -----
        MemoryWarning
            A device goes on with a smaller batch.
        RuntimeWarning
            A device has failed.
        """
        run = _Run(self._devices, self._part)
        pool = Threads(len(self._devices))
        pieces = _pieces(units, _length(units, self._part, len(self._devices)), self._part)
        try:
            run.open()
            chunk: Sums | None = None
            for piece, found in in_order(pool, run.sum, pieces, len(self._devices)):
                run.warn()
                if piece.is_first:
                    chunk = units[piece.unit][2]
                for sums in found:
                    chunk = sums if chunk is None else chunk.plus(sums)
                if piece.is_last:
                    assert chunk is not None
                    yield chunk
        finally:
            run.stop()
            pool.shutdown(wait=True, cancel_futures=True)
            run.close()
            run.warn()


def _length(units: Sequence[Unit], part: Part, devices: int) -> int:
    """Tell how many roots a device is given at a time: a chunk, or, of few, so many that all devices have as much."""
    batching = part.method.load().batching
    chunk = chunk_length(part.method, batching)
    if len(units) >= _WHOLE_CHUNKS * devices or batching.block == 1:  # which are summed as one block
        return chunk
    roots = sum(len(roots) - done for roots, done, _ in units)
    rounds = -(-roots // (devices * part.sweep.batch))
    share = -(-roots // (devices * rounds))
    return min(chunk, -(-share // batching.block) * batching.block)


def _pieces(units: Sequence[Unit], length: int, part: Part) -> Iterator[_Piece]:
    block = part.method.load().batching.block
    for number, (roots, done, _) in enumerate(units):
        for first in range(done, len(roots), length):
            some = roots[first : first + length]
            runs = [some] if first == 0 else [some[begin : begin + block] for begin in range(0, len(some), block)]
            yield _Piece(number, runs, first == done, first + length >= len(roots))


class _Run:
    """The devices at work on one list of chunks."""

    def __init__(self, devices: Sequence[Device], part: Part) -> None:
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

    def sum(self, piece: _Piece) -> list[Sums]:
        """Have a device that is free sum a piece, or another one if it fails."""
        while True:
            workers = self._idle.get()
            if workers is None:
                self._idle.put(None)
                raise self._error
            try:
                sums = workers.sum(piece.runs)
            except workers.failures as error:
                self._lose(workers, error)
            else:
                self._idle.put(workers)
                return sums

    def _lose(self, workers: _DeviceWorkers, error: Exception) -> None:
        """Do without a device; raise an error if it was the last."""
        name = workers.device.name
        with self._lock:
            self._left -= 1
            left = self._left
        if left:
            self._notes.append((f"{name} has failed, and the others go on without it: {error}", RuntimeWarning))
            return
        kind = MemoryError if isinstance(error, MemoryError) else RuntimeError
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
    """The workers of one device, which one thread at a time asks for sums."""

    def __init__(self, device: Device, part: Part, notes: list[tuple[str, type[Warning]]]) -> None:
        self.device, self._part, self._notes = device, part, notes
        self._graph, self._plan = part.graph, part.sweep
        self._workers: Workers | None = None
        self._is_stopped = False

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """Errors after which the device takes no more work: also MemoryError with the smallest batch."""
        return MemoryError, *self.device.failures

    def open(self) -> None:
        """Prepare a state, and what it takes of the graph, before others copy that."""
        self.device.wait()
        with self.device.context():
            self._retry(self._opened)
            self.device.wait()

    def sum(self, runs: list[Roots]) -> list[Sums]:
        """Sum runs of roots, each by itself; on the host."""
        with self.device.context():
            return self._retry(lambda: self._sums_of(runs))

    def _sums_of(self, runs: list[Roots]) -> list[Sums]:
        return [part.sums.moved(as_numpy) for part in self._opened().sum(runs) if part.is_whole]

    def _retry(self, work: Callable[[], Result]) -> Result:
        """Do something, with smaller batches while memory runs out."""
        while True:
            try:
                return work()
            except MemoryError as error:
                self._let_go()
                self._plan = with_less_memory(self._graph, self._part.method, self._plan, error, self._say)

    def _say(self, message: str) -> None:
        self._notes.append((f"{self.device.name}: {message}", MemoryWarning))

    def _opened(self) -> Workers:
        if self._workers is None:
            self._graph = self.device.copy(self._part.graph)
            workers = Workers(self._graph, self._part.method, self._plan, in_calling_thread=True)
            self._workers = workers.__enter__()
            if self._is_stopped:
                raise Interrupted
        return self._workers

    def stop(self) -> None:
        """Stop at the next level."""
        self._is_stopped = True
        if (workers := self._workers) is not None:
            workers.stop()

    def close(self) -> None:
        """Let go of the states."""
        with self.device.context():
            self._let_go()

    def _let_go(self) -> None:
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.__exit__()
