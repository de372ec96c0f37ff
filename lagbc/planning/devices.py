"""Devices by their names and numbers: the devices of a call or a worker, and the place where a graph is read."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from functools import cache
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.graph.given import is_sparse
from lagbc.graph.graph import Graph
from lagbc.graph.host import copied_into
from lagbc.limits import budget
from lagbc.methods import table
from lagbc.methods.table import Method
from lagbc.options import Settings
from lagbc.reduce.blocks import graph_bytes

# Variables with the number of a process among those of its machine, by launcher: Open MPI, MPICH and Intel MPI,
# MVAPICH, PMI, Slurm. Without one of them, ranks find it out.
_LOCAL_RANKS = (
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "PMI_LOCAL_RANK",
    "SLURM_LOCALID",
)
local_rank: ContextVar[int | None] = ContextVar("lagbc local rank", default=None)


class Device(Protocol):
    """A place to sweep roots: a GPU, or, in tests, the host under another name."""

    @property
    def name(self) -> str:
        """Return the name for messages."""

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """Return the errors after which the device takes no more work, as opposed to errors of the request."""

    def context(self) -> AbstractContextManager[Any]:
        """Return a context in which the calling thread works on the device, in a stream of its own."""

    def copy(self, graph: Graph) -> Graph:
        """Return a graph, with its cached properties, where methods on this device read it; called in its context."""

    def wait(self) -> None:
        """Wait for all work begun on the device."""

    def copies(self) -> Copies:
        """Return the copies to the host of one span; they begin in the device's context."""


class Copies(Protocol):
    """Copies of arrays to the host: a call begins one, and the wait ends all."""

    def __call__(self, array: Any) -> NDArray[Any]:
        """Begin a copy; an array of the host is returned as it is."""

    def wait(self) -> None:
        """Wait for the copies, in any thread."""


@cache
def _stream(number: int, place: int) -> Any:
    """Return the stream of a GPU; where calls name the GPU several times, `place` counts these.

    A stream stays as long as the process, as CuPy keeps the memory of a stream for that stream alone.
    """
    from cupy import cuda

    with cuda.Device(number):
        return cuda.Stream(non_blocking=True)


class Gpu:
    """A GPU by its number; the same GPU may be several devices, by their places."""

    def __init__(self, number: int, place: int = 0) -> None:
        from cupy import cuda

        self.number, self.name = number, f"GPU {number}"
        # After one of these the GPU takes no more work.
        self.failures = (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError)
        self._device, self._stream = cuda.Device(number), _stream(number, place)

    def context(self) -> AbstractContextManager[Any]:
        """Return a context in which the calling thread works on the GPU."""
        return table.Both(self._device, self._stream)

    def copy(self, graph: Graph) -> Graph:
        """Copy a graph from another GPU; of a graph on the host, methods upload the arrays that they need."""
        return graph.on_device if graph.is_on_device else graph

    def wait(self) -> None:
        """Wait for all work begun on the GPU, by any thread."""
        self._device.synchronize()

    def copies(self) -> Copies:
        """Copy behind the kernels of the stream."""
        return _PinnedCopies(self._device, self._stream)


class _PinnedCopies:
    """Copies through pinned memory, behind the kernels of a stream; after the wait they are in ordinary memory."""

    def __init__(self, device: Any, stream: Any) -> None:
        self._device, self._stream, self._lock = device, stream, Lock()
        self._copied: list[tuple[Any, Any, Any]] = []  # array, pinned and ordinary memory, until the copy is there
        self._event: Any = None

    def __call__(self, array: Any) -> NDArray[Any]:
        """Begin a copy; without pinned memory for it, wait for it."""
        if isinstance(array, np.ndarray):
            return array
        from cupy import cuda
        from cupyx import empty_pinned

        try:
            pinned = empty_pinned(array.shape, array.dtype)
        except cuda.runtime.CUDARuntimeError as error:
            if error.status != cuda.runtime.errorMemoryAllocation:
                raise
            on_host: NDArray[Any] = array.get(self._stream)
            return on_host
        copy: NDArray[Any] = np.empty(array.shape, array.dtype)
        array.get(self._stream, out=pinned, blocking=False)
        self._copied.append((array, pinned, copy))
        self._event = cuda.Event(block=True, disable_timing=True)  # whose waiting threads leave their cores to others
        self._event.record(self._stream)
        return copy

    def wait(self) -> None:
        """Wait for the copies."""
        with self._lock:
            if self._event is not None:
                with self._device:
                    self._event.synchronize()
            for _, pinned, copy in self._copied:
                copied_into(pinned, copy)
            self._copied.clear()


def is_read_on_device(A: Any, roots: Callable[[], int], settings: Settings, weighted: bool) -> bool:
    """Whether a large matrix is checked, and put in order, on the GPU, as it is likely to be swept there.

    The caller knows that the matrix is large. The answer changes the time alone: the graph is the same, and decides its
    device. `roots` returns about how many roots there are. Errors in the matrix are raised later.
    """
    if settings.device == "cpu" or not is_sparse(A):
        return False
    try:
        entries = A.nnz
    except IndexError:  # compressed rows without a pointer are refused later, at reading
        return False
    if settings.device == "auto" and roots() * entries < tuning.GPU_WORK:
        return False
    rows = table.methods_of(weighted=weighted, method=settings.method, device="cuda")
    if not any(row.available for row in rows):
        return False
    limit = budget("cuda") if settings.memory is None else settings.memory
    return graph_bytes(A.shape[0], 2 * entries, weighted=weighted) <= limit


def begin_on_device(A: Any, roots: Callable[[], int], settings: Settings, weighted: bool) -> bool:
    """Begin to compile kernels of most runs if a matrix is read on the GPU; return whether it is."""
    if not is_read_on_device(A, roots, settings, weighted):
        return False
    from lagbc.methods.gpu.kernels import begin_common

    begin_common(weighted=weighted)
    return True


def devices_of(settings: Settings, row: Method) -> list[Device]:
    """Return the devices that sweep by a method, if they are several."""
    numbers = table.gpu_numbers(settings.devices) if row.device == "cuda" else ()
    if len(numbers) < 2:
        return []
    return [Gpu(number, numbers[:place].count(number)) for place, number in enumerate(numbers)]


def gpu_of_worker() -> AbstractContextManager[Any]:
    """Return the context of the GPU on which this process works for another.

    Its number among the visible GPUs is the process's number among the workers of its machine, modulo their count;
    without such a number it is CuPy's current one.
    """
    count, number = table.count_gpus(), number_of_worker()
    if count < 2 or number is None:
        return nullcontext()
    from cupy import cuda

    device: AbstractContextManager[Any] = cuda.Device(number % count)
    return device


def number_of_worker() -> int | None:
    """Return the number of this process among the workers of its machine, from 0; None if it is unknown.

    It is the local rank. In a process of a pool, earlier processes of the same parent count, too, unless
    ``CUDA_VISIBLE_DEVICES`` is set: its author may have given each process a GPU of its own as the first.
    """
    from multiprocessing import current_process

    told = next((os.environ[name] for name in _LOCAL_RANKS if os.environ.get(name, "").isdecimal()), None)
    rank = local_rank.get() if told is None else int(told)
    started = () if "CUDA_VISIBLE_DEVICES" in os.environ else current_process()._identity
    if rank is None and not started:
        return None
    return (rank or 0) + (started[-1] - 1 if started else 0)
