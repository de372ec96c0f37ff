"""CUDA sources compiled for what a run asks for, one module for each device and set of options, and their kernels.

A source is compiled behind its headers, joined to it as text, so that a compiler's cache sees them. Threads of their
own compile sources side by side; a caller waits for the source that it needs. Wheels bring the kernels of most runs
compiled. A kernel is launched with every argument by its name.

Parameters stay parameters: in a struct that is passed by value, pointers lose their ``__restrict__``, and with it every
load the read-only path. Neither fields nor local copies nor functions with ``__restrict__`` give it back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from enum import Flag, auto
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from itertools import product
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from lagbc import tuning
from lagbc.calls import in_phase, phase
from lagbc.errors import InvalidTypeError

THREADS = 256  # of a thread block: WARPS of the kernels, times 32


class Source(NamedTuple):
    """A CUDA source and the headers before it, as paths within lagbc."""

    path: str
    headers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return folder and file, such as "graph/breadth_first"."""
        return "/".join(self.path.removesuffix(".cu").split("/")[-2:])

    @property
    def text(self) -> str:
        """Return headers and source, with lines numbered as in their files."""
        package = files("lagbc")
        return "\n".join(
            f'#line 1 "lagbc/{path}"\n{(package / path).read_text(encoding="utf-8")}'
            for path in (*self.headers, self.path)
        )


def load(source: Source, chosen: tuple[str, ...], *, cooperative: bool = False) -> Any:
    """Return the cupy.RawModule of a source on this device; `cooperative` if its thread blocks wait for each other."""
    key, begun = begin_compile(source, chosen, cooperative=cooperative)
    try:
        if begun.done():  # no phase: at its end a recorder waits for kernels, whose time is not the compiler's
            return begun.result()
        with phase("compile"):
            return begun.result()
    except Exception:
        _begun.pop(key, None)
        raise


def resident_blocks(threads: int, *kernels: Any) -> int:
    """Return how many blocks of `threads` threads the device holds at once, of the kernel of which it holds fewest."""
    from cupy.cuda import Device

    of_each: int = min(kernel.resident(threads) for kernel in kernels)
    return of_each * int(Device().attributes["MultiProcessorCount"])


_Key = tuple[Source, tuple[str, ...], bool, int]
_begun: dict[_Key, Future[Any]] = {}
_lock = Lock()
# Threads that compile: beyond this they wait for a lock of the compiler, or for a core.
_MOST = 8


def begin_compile(source: Source, chosen: tuple[str, ...], *, cooperative: bool = False) -> tuple[_Key, Future[Any]]:
    """Begin to load or compile a source for the current device in another thread; arguments as for `load`."""
    import cupy

    key = source, chosen, cooperative, cupy.cuda.Device().id
    with _lock:
        begun = _begun.get(key)
        if begun is None:
            begun = _begun[key] = _pool().submit(_compile, *key)
    return key, begun


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(min(_MOST, os.cpu_count() or 1), "lagbc compiles")


def _compile(source: Source, chosen: tuple[str, ...], cooperative: bool, device: int) -> Any:
    import cupy

    with cupy.cuda.Device(device) as here:
        if (path := shipped(source, chosen, int(here.compute_capability))) is not None:
            module = cupy.RawModule(path=path, enable_cooperative_groups=cooperative)
            with suppress(cupy.cuda.driver.CUDADriverError):  # a driver older than the compiler
                module.compile()
                return module
        module = cupy.RawModule(code=source.text, options=chosen, enable_cooperative_groups=cooperative)
        module.compile()
    return module


# Architectures for which wheels bring kernels.
ARCHITECTURES = 75, 80, 90, 100, 120


def shipped_name(source: Source, chosen: tuple[str, ...], architecture: int) -> str:
    """Return the name of the file with the kernels of a source; another text or other options have another name."""
    digest = blake2b("\n".join((*chosen, source.text)).encode(), digest_size=8).hexdigest()
    return f"{source.name.replace('/', '-')}-{digest}-sm_{architecture}.cubin"


def shipped(source: Source, chosen: tuple[str, ...], capability: int) -> str | None:
    """Return the path of the kernels of a source that came with lagbc, if there are any for a GPU.

    A GPU runs the code of its major architecture, up to its own minor one.
    """
    for architecture in ARCHITECTURES:
        if architecture // 10 == capability // 10 and architecture <= capability:
            path = files("lagbc.cuda").joinpath("cubins", shipped_name(source, chosen, architecture))
            if path.is_file():
                return str(path)
    return None


# Thread blocks of a launch whose threads take many items each.
_STRIDING_BLOCKS = 1024
_NUMBERS = {"int": "int32", "offset": "int64", "double": "float64"}
_TYPES = {"float64": "double", "float32": "float", "uint32": "unsigned"}
# The type in which path counts are summed, where it differs from the type of values.
_SUM_OF = {"uint32": "uint64"}
# The type of half the bytes of a type of values, in which paths are counted as exactly while they fit.
NARROW = {"float64": "uint32"}


class Kernel(NamedTuple):
    """A kernel of a module."""

    function: Any
    # for each parameter, in order, the NumPy type of a number, or None for a pointer
    parameters: Mapping[str, str | None]

    def resident(self, threads: int) -> int:
        """Return how many blocks of `threads` threads a multiprocessor holds at once."""
        from cupy.cuda import driver

        return int(driver.occupancyMaxActiveBlocksPerMultiprocessor(self.function.kernel.ptr, threads, 0))

    def __call__(self, grid: tuple[int, ...], threads: int, /, **arguments: Any) -> None:
        """Launch a grid of thread blocks of `threads` threads each.

        InvalidTypeError unless exactly the parameters have arguments. Pointers are arrays, on the device or in pinned
        memory, or None; numbers are converted, and OverflowError tells of an integer that does not fit.
        """
        if unlike := arguments.keys() ^ self.parameters.keys():
            raise InvalidTypeError(f"{', '.join(sorted(unlike))}: given or a parameter of the kernel, but not both")
        converted = (_convert(arguments[name], number) for name, number in self.parameters.items())
        self.function(grid, (threads,), tuple(converted))


class Macro(Flag):
    """Macros of 0 or 1: the sums that a kernel makes, and the weights that it reads."""

    NONE = 0
    COUNTS = auto()  # of paths; without them a sweep is of bits, or of distances, alone
    STRESS = auto()
    EDGE_SUMS = auto()
    SQUARES = auto()  # of dependencies
    EDGE_SQUARES = auto()
    OMEGA_BY_COLUMN = auto()  # each column has targets of its own
    CLASS_SIZES = auto()  # vertices stand for several


class Variant(NamedTuple):
    """A compile variant of a source; None where the source has no such macro."""

    dtype: str | None = None  # of values, VALUE
    dist: str | None = None  # of distances, DIST
    sigma: str | None = None  # of path counts, SIGMA, where these have rows of their own
    depth_bytes: int | None = None
    macros: Macro = Macro.COUNTS

    @property
    def label(self) -> str:
        """Name it in words."""
        besides = [macro.name for macro in self.macros & ~Macro.COUNTS]
        counts = [] if Macro.COUNTS in self.macros else ["distances"]
        return ", ".join(str(part) for part in (*self[:-1], *counts, *besides) if part)

    @property
    def is_asked_for(self) -> bool:
        """Whether any run asks for it; see `lagbc.planning.plan` and `lagbc.estimate`."""
        counts, by_column = Macro.COUNTS in self.macros, Macro.OMEGA_BY_COLUMN in self.macros
        stress, squares = Macro.STRESS in self.macros, bool(self.macros & (Macro.SQUARES | Macro.EDGE_SQUARES))
        weights = by_column or Macro.CLASS_SIZES in self.macros
        return not (
            ((stress or squares) and self.dtype == "float32")
            or (self.dtype == "uint32" and not counts)
            or (by_column and squares)
            or (weights and (not counts or stress or self.dtype == "float32"))
            or (self.sigma and (not counts or self.sigma not in (self.dtype, NARROW.get(self.dtype or ""))))
        )


PLAIN = Variant()
# Sums that make a difference: betweenness, additions to it, and distances alone.
_SUMS = (
    Macro.COUNTS,
    Macro.COUNTS | Macro.STRESS,
    Macro.COUNTS | Macro.EDGE_SUMS,
    Macro.COUNTS | Macro.STRESS | Macro.EDGE_SUMS,
    Macro.COUNTS | Macro.SQUARES,
    Macro.COUNTS | Macro.EDGE_SUMS | Macro.EDGE_SQUARES,
    Macro.NONE,
)
# No run asks for both.
_WEIGHTS = Macro.OMEGA_BY_COLUMN, Macro.CLASS_SIZES


class Kernels(NamedTuple):
    """The kernels of a source, and what it is compiled for."""

    source: Source
    macros: Macro = Macro.NONE  # that it reads
    constants: Callable[[], Mapping[str, object]] = dict  # macros of `lagbc.tuning`, which may change
    # Types of values, of distances and of path counts, and bytes of a depth.
    dtypes: tuple[str | None, ...] = (None,)
    dists: tuple[str | None, ...] = (None,)
    sigmas: tuple[str | None, ...] = (None,)
    depth_bytes: tuple[int | None, ...] = (None,)
    cooperative: bool = False  # whether its thread blocks wait for each other

    def own_columns(self, variant: Variant) -> int:
        """Return the columns of a lane, in the kernels that take a launch a level."""
        if Macro.COUNTS not in variant.macros:
            return 8
        own = tuning.EDGES_OWN_BYTES if Macro.EDGE_SUMS in variant.macros else tuning.OWN_BYTES[self.source.name]
        return min(8, own // np.dtype(variant.dist or variant.dtype).itemsize)

    def options(self, variant: Variant = PLAIN) -> tuple[str, ...]:
        """Return the compiler's options for a variant."""
        macros = {**_definitions(self.macros, variant), **self.constants()}
        if self.source.name in tuning.OWN_BYTES:
            macros["OWN_COLUMNS"] = self.own_columns(variant)
        return "-std=c++17", *(f"-D{name}={text}" for name, text in macros.items())

    def begin_compile(self, variant: Variant = PLAIN) -> None:
        """Begin to compile a variant in another thread."""
        begin_compile(self.source, self.options(variant), cooperative=self.cooperative)

    def kernel(self, name: str, variant: Variant = PLAIN) -> Kernel:
        """Return a kernel, loaded on the current device."""
        module = load(self.source, self.options(variant), cooperative=self.cooperative)
        return kernel_of(module, self.source, name, variant)

    def launch(self, name: str, items: int, /, *rows: int, **arguments: Any) -> None:
        """Launch a kernel with a thread an item, or an item of each row."""
        if items and all(rows):
            self.kernel(name)((-(-items // THREADS), *rows), THREADS, **arguments)

    def launch_striding(self, name: str, items: int, /, *rows: int, **arguments: Any) -> None:
        """Launch a kernel whose threads take many items each."""
        self.launch(name, min(items, _STRIDING_BLOCKS * THREADS), *rows, **arguments)

    def variants(self) -> Iterator[tuple[str, Source, tuple[str, ...]]]:
        """Yield (label, source, options) of each compiled variant of the source."""
        sums = _SUMS if self.macros & ~(_WEIGHTS[0] | _WEIGHTS[1]) else (Macro.COUNTS,)
        weights = Macro.NONE, *(weight for weight in _WEIGHTS if weight in self.macros)
        macros = [made | read for made in sums for read in weights]
        seen = set()
        for types in product(self.dtypes, self.dists, self.sigmas, self.depth_bytes, macros):
            variant = Variant(*types)
            chosen = self.options(variant)
            if variant.is_asked_for and chosen not in seen:
                seen.add(chosen)
                yield f"{self.source.name}[{variant.label}]" if variant.label else self.source.name, self.source, chosen


@cache
def _definitions(read: Macro, variant: Variant) -> dict[str, object]:
    """Define the macros of a variant, among them those of 0 or 1 that a source reads."""
    types = {"VALUE": variant.dtype, "DIST": variant.dist, "SIGMA": variant.sigma}
    made = {name: _TYPES[dtype] for name, dtype in types.items() if dtype}
    depth = {} if variant.depth_bytes is None else {"DEPTH_BYTES": variant.depth_bytes}
    return {**made, **depth, **{str(macro.name): int(macro in variant.macros) for macro in read}}


@cache
@in_phase("compile")
def kernel_of(module: Any, source: Source, name: str, variant: Variant = PLAIN) -> Kernel:
    """Return a kernel of a compiled source."""
    dtype = variant.dtype or ""
    known = {**_NUMBERS, "value": dtype, "sum": _SUM_OF.get(dtype, dtype), "dist": variant.dist or ""}
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
