"""CUDA sources as text, and as compiled modules, one a device and set of options.

A source is compiled behind the headers that it names, which are put before it as text: a compiler's cache sees all.
Sources are compiled in threads of their own, side by side; whoever needs one waits for it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Any

from lagbc.phases import in_phase

THREADS = 256  # of a block: WARPS of the kernels, times 32


@dataclass(frozen=True)
class Source:
    """A CUDA source, and the headers that are put before it: paths within lagbc."""

    path: str
    headers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Folder and file, such as "graph/breadth_first"."""
        return "/".join(self.path.removesuffix(".cu").split("/")[-2:])

    @property
    def text(self) -> str:
        """All of it, lines numbered as in the files."""
        package = files("lagbc")
        return "\n".join(
            f'#line 1 "lagbc/{path}"\n{(package / path).read_text(encoding="utf-8")}'
            for path in (*self.headers, self.path)
        )


def options(macros: Mapping[str, object]) -> tuple[str, ...]:
    """Options of the compiler that define some macros."""
    return "-std=c++17", *(f"-D{name}={text}" for name, text in macros.items())


@in_phase("compile")
def load(source: Source, chosen: tuple[str, ...], *, cooperative: bool = False) -> Any:
    """Return the cupy.RawModule of a source on the current device.

    Parameters
    ----------
    source : Source
    chosen : tuple of str
        Its options.
    cooperative : bool
        Whether the blocks of a launch wait for each other, so that all have to be resident at once.
    """
    key, begun = _begin(source, chosen, cooperative)
    try:
        return begun.result()
    except Exception:
        _begun.pop(key, None)
        raise


def begin(source: Source, chosen: tuple[str, ...], *, cooperative: bool = False) -> None:
    """Have a source compiled for the current device while something else is done; arguments as for `load`."""
    _begin(source, chosen, cooperative)


def resident_blocks(threads: int, *kernels: Any) -> int:
    """Blocks of so many threads that the device holds at once, of whichever of some kernels takes most registers."""
    import cupy

    limits = cupy.cuda.Device().attributes
    registers = max(kernel.num_regs for kernel in kernels)
    by_registers = limits["MaxRegistersPerMultiprocessor"] // (-(-registers // 8) * 8 * threads)
    by_threads = limits["MaxThreadsPerMultiProcessor"] // threads
    return int(limits["MultiProcessorCount"] * min(by_registers, by_threads))


_Key = tuple[Source, tuple[str, ...], bool, int]
_begun: dict[_Key, Future[Any]] = {}
_lock = Lock()
# Threads that compile: more than this shared a lock of the compiler, or a core.
_MOST = 8


def _begin(source: Source, chosen: tuple[str, ...], cooperative: bool) -> tuple[_Key, Future[Any]]:
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

    with cupy.cuda.Device(device):
        module = cupy.RawModule(code=source.text, options=chosen, enable_cooperative_groups=cooperative)
        module.compile()
    return module
