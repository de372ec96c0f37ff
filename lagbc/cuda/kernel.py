"""Kernels launched with arguments by name; the source alone declares their parameters.

Parameters stay parameters: in a struct, passed by value, pointers lose their ``__restrict__``, and loads the read-only
path.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from lagbc.calls import in_phase
from lagbc.cuda import compiler
from lagbc.cuda.compiler import THREADS, Source
from lagbc.errors import InvalidTypeError

# Thread blocks of a launch whose threads take many items each.
_STRIDING_BLOCKS = 1024
_NUMBERS = {"int": "int32", "offset": "int64", "double": "float64"}


class Kernel(NamedTuple):
    """A kernel of a module."""

    function: Any
    # for each parameter, in order, the NumPy type of a number, or None for a pointer
    parameters: Mapping[str, str | None]

    def resident(self, threads: int) -> int:
        """Return how many blocks of `threads` threads a multiprocessor holds at once."""
        from cupy.cuda import driver

        return int(driver.occupancyMaxActiveBlocksPerMultiprocessor(self.function.kernel.ptr, threads, 0))

    def __call__(self, grid: tuple[int, ...], threads: int, /, *known: Mapping[str, Any], **arguments: Any) -> None:
        """Launch a grid of thread blocks of `threads` threads each; InvalidTypeError unless all parameters are given.

        Parameters without an argument are taken out of the last of the mappings `known` that has their name. Pointers
        are arrays, on the device or in pinned memory, or None; numbers are converted, and OverflowError tells of an
        integer that does not fit.
        """
        given = ChainMap(arguments, *reversed(known))
        if unlike := (arguments.keys() - self.parameters.keys()) | (self.parameters.keys() - given.keys()):
            raise InvalidTypeError(f"{', '.join(sorted(unlike))}: given or a parameter of the kernel, but not both")
        converted = (_convert(given[name], number) for name, number in self.parameters.items())
        self.function(grid, (threads,), tuple(converted))


class Program(NamedTuple):
    """A source that is compiled in one way, and the launches of its kernels."""

    source: Source
    macros: Callable[[], Mapping[str, object]] = dict
    cooperative: bool = False  # whether its thread blocks wait for each other

    def variants(self) -> Iterator[tuple[str, Source, tuple[str, ...]]]:
        """Yield (label, source, options) of the one variant."""
        yield self.source.name, self.source, compiler.macro_options(self.macros())

    def begin_compile(self) -> None:
        """Begin to compile it in another thread."""
        compiler.begin_compile(self.source, compiler.macro_options(self.macros()), cooperative=self.cooperative)

    def kernel(self, name: str) -> Kernel:
        """Return a kernel, loaded on the current device."""
        module = compiler.load(self.source, compiler.macro_options(self.macros()), cooperative=self.cooperative)
        return _kernel_of_program(module, self.source, name)

    def launch(self, name: str, items: int, /, *rows: int, **arguments: Any) -> None:
        """Launch a kernel with a thread an item, or an item of each row."""
        if items and all(rows):
            self.kernel(name)((-(-items // THREADS), *rows), THREADS, **arguments)

    def launch_striding(self, name: str, items: int, /, *rows: int, **arguments: Any) -> None:
        """Launch a kernel whose threads take many items each."""
        self.launch(name, min(items, _STRIDING_BLOCKS * THREADS), *rows, **arguments)


@cache
def _kernel_of_program(module: Any, source: Source, name: str) -> Kernel:
    return kernel_of(module, source, name, {})


@in_phase("compile")
def kernel_of(module: Any, source: Source, name: str, numbers: Mapping[str, str]) -> Kernel:
    """Return a kernel of a compiled source; `numbers` has NumPy types for its own type names, such as "value"."""
    known = _NUMBERS | dict(numbers)
    parameters = {
        parameter: None if is_pointer else known[kind] for parameter, kind, is_pointer in declared(source, name)
    }
    return Kernel(module.get_function(name), parameters)


@cache
def declared(source: Source, name: str) -> tuple[tuple[str, str, bool], ...]:
    """Find name, type and whether it is a pointer, of each parameter of a kernel; LookupError without the kernel."""
    found = re.search(rf"__global__[^{{;]*\b{name}\(([^)]*)\)\s*{{", source.text)
    if found is None:
        raise LookupError(f"{source.path} has no kernel {name}")
    parameters = []
    for parameter in found[1].split(","):
        *kind, identifier = parameter.replace("*", " * ").split()
        words = [word for word in kind if word not in ("const", "volatile", "__restrict__")]
        parameters.append((identifier, words[0], "*" in words))
    return tuple(parameters)


def _convert(argument: Any, number: str | None) -> Any:
    if number is not None:
        return np.dtype(number).type(argument)
    if argument is None:
        return np.intp(0)
    return np.intp(argument.ctypes.data) if isinstance(argument, np.ndarray) else argument
