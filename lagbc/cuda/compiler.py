"""CUDA sources as text, and as compiled modules, one for each device and set of options.

A source is compiled behind its headers, joined to it as text, so that a compiler's cache sees them. Threads of their
own compile sources side by side; a caller waits for the source that it needs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Any, NamedTuple

from lagbc.calls import phase

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


def macro_options(macros: Mapping[str, object]) -> tuple[str, ...]:
    """Return the options of the compiler that define macros."""
    return "-std=c++17", *(f"-D{name}={text}" for name, text in macros.items())


def load(source: Source, chosen: tuple[str, ...], *, cooperative: bool = False) -> Any:
    """Return the cupy.RawModule of a source on this device; `cooperative` if its thread blocks wait for each other."""
    key, begun = _begin(source, chosen, cooperative)
    try:
        if begun.done():  # no phase: at its end a recorder waits for kernels, whose time is not the compiler's
            return begun.result()
        with phase("compile"):
            return begun.result()
    except Exception:
        _begun.pop(key, None)
        raise


def begin_compile(source: Source, chosen: tuple[str, ...], *, cooperative: bool = False) -> None:
    """Begin to compile a source for the current device in another thread; arguments as for `load`."""
    _begin(source, chosen, cooperative)


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
