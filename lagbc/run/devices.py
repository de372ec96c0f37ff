"""Devices by their names and numbers: which ones a call asks for, and how a thread works on one."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from lagbc.graph.graph import Graph
from lagbc.graph.validate import is_cupy
from lagbc.methods import table
from lagbc.run.options import Options, Settings, devices_in
from lagbc.run.part import Part
from lagbc.types import All


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


def gpu_numbers(devices: tuple[int, ...] | All | None) -> tuple[int, ...]:
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
    numbers = gpu_numbers(devices_in(options))
    at = A.data.device.id if is_cupy(A) else None
    if at is not None and numbers and numbers[0] != at:
        raise ValueError(f"A is a CuPy matrix on GPU {at}, but device={numbers[0]} was asked for; name {at} first")
    if at is None and not numbers:
        return nullcontext()
    from cupy import cuda

    device: AbstractContextManager[Any] = cuda.Device(numbers[0] if numbers else at)
    return device


def devices_of(settings: Settings, part: Part) -> list[Device]:
    """Return the devices that sweep a part, if they are several."""
    numbers = gpu_numbers(settings.devices) if part.method.device == "cuda" else ()
    return [Gpu(number) for number in numbers] if len(numbers) > 1 else []
