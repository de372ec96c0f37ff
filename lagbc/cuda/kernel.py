"""Kernels launched with arguments by name; the source alone declares their parameters.

Parameters stay parameters: in a struct, passed by value, pointers lose their ``__restrict__``, and loads the read-only
path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from lagbc.cuda.compiler import Source
from lagbc.errors import InvalidTypeError
from lagbc.phases import in_phase

_NUMBERS = {"int": "int32", "offset": "int64", "double": "float64"}


@dataclass(frozen=True)
class Kernel:
    """A kernel of a module."""

    function: Any
    # for each parameter, in order, the NumPy type of a number, or None for a pointer
    parameters: Mapping[str, str | None]

    @property
    def num_regs(self) -> int:
        """Return the registers of a thread."""
        return int(self.function.num_regs)

    def __call__(self, grid: tuple[int, ...], threads: int, /, **arguments: Any) -> None:
        """Launch a grid of thread blocks of `threads` threads each.

        Pointers are arrays, on the device or in pinned memory, or None; numbers are converted.

        Raises
        ------
        TypeError
            The arguments are not the kernel's parameters.
        OverflowError
            An integer does not fit.
        """
        if unlike := arguments.keys() ^ self.parameters.keys():
            raise InvalidTypeError(f"{', '.join(sorted(unlike))}: given or a parameter of the kernel, but not both")
        given = (_convert(arguments[name], number) for name, number in self.parameters.items())
        self.function(grid, (threads,), tuple(given))


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
