"""`core`, the compiled kernels of the CPU (docs/native.md), and work shared out among the cores.

A part of shared work writes entries that it alone owns: neither the number of threads nor their order changes a result.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from math import inf, isqrt
from threading import Thread
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import MissingDependencyError
from lagbc.limits import most_threads, usable_cores


def _levels() -> tuple[str, list[str]]:
    """Return the level of this process, LAGBC_LEVEL or the best one, and the levels that were built."""
    try:
        from lagbc.native import processor  # type: ignore[attr-defined]
    except ImportError as missing:
        raise MissingDependencyError(
            "this is the source tree of lagbc, whose kernels are not compiled: use an installed lagbc from another "
            "folder, or run `pip install -e .` here"
        ) from missing
    built = [level for level in ("v4", "v3", "v2", "generic") if find_spec(f"lagbc.native.rows_{level}")]
    running = [level for level in built if level in processor.levels().split()]
    wanted = os.environ.get("LAGBC_LEVEL") or (running or [""])[0]
    if not running:
        raise ImportError("lagbc was built for other processors than this one; build it here")
    if wanted not in running:
        raise ImportError(
            f"LAGBC_LEVEL={wanted} is not among the levels of instructions that were built and that this processor "
            f"runs: {' '.join(running)}"
        )
    return wanted, built


_level, _built = _levels()
from lagbc.native import core  # noqa: E402

import_module(f"lagbc.native.rows_{_level}").add_to(core)

Csr = core.Csr32 | core.Csr64
csr = core.csr
Part = tuple[int, int]

Result = TypeVar("Result")

# With fewer entries, threads take longer than the work: to start one takes .1 ms, as a quarter of these entries does.
SHARED_FROM = 2**17


def classes_of(name: str) -> dict[np.dtype[Any], Any]:
    """Return the compiled classes of a name, by the type of column indices."""
    return {np.dtype(np.int32): getattr(core, f"{name}32"), np.dtype(np.int64): getattr(core, f"{name}64")}


def until_stopped(kernel: Callable[[NDArray[np.uint8]], Result], entries: int, seconds: float = inf) -> Result:
    """Call a kernel with a flag that it polls: Ctrl-C, ``stop=`` and the end of the seconds set it.

    A kernel of few entries gets no thread to watch it: its flag is set only if there are no seconds to begin with.
    """
    if entries < SHARED_FROM:
        return kernel(np.full(1, seconds <= 0, np.uint8))
    from lagbc.native.pool import polled

    return polled(kernel, seconds)


def level() -> str:
    """Return the level of instructions that this process runs: v2, v3 or v4 of x86-64, or generic.

    It is the best that was built and that the processor has; the environment variable LAGBC_LEVEL forces one.
    """
    return _level


def levels() -> list[str]:
    """Return the levels of instructions that lagbc was built for, the best first."""
    return _built


def cores() -> int:
    """Return how many threads may work at once: the cores of this process, or fewer in a limited address space."""
    return most_threads(usable_cores())


def threads_of(entries: int) -> int:
    """Return the count of threads that is done first with so many entries, at most one a core.

    Threads start one after the other. If each start takes as long as s entries, t threads take as long as s t plus
    entries / t, the least at the root of entries / s.
    """
    if entries < SHARED_FROM:
        return 1
    return min(cores(), isqrt(4 * entries // SHARED_FROM))


def parts_of_rows(indptr: NDArray[np.int64], within: int | None = None) -> list[Part]:
    """Cut compressed rows into parts of about equal entries, one for each thread.

    Where each part takes 16 bytes a row, all of them are to take no more bytes than `within`.
    """
    n, entries = len(indptr) - 1, int(indptr[-1])
    parts = threads_of(n + entries)
    parts = parts if within is None else max(1, min(parts, within // (16 * (n + 1))))
    if parts == 1:
        return [(0, n)]
    inner = np.searchsorted(indptr, entries * np.arange(1, parts) // parts).tolist()
    return [*pairwise([0, *inner, n])]


def parts_of(size: int) -> list[Part]:
    """Cut a range of `size` into equal parts, one for each thread."""
    parts = threads_of(size)
    return [*pairwise(size * part // parts for part in range(parts + 1))]


def share(
    work: Callable[..., Result],
    parts: Iterable[Any],
    before: tuple[Any, ...] = (),
    after: tuple[Any, ...] = (),
    threads: int | None = None,
) -> list[Result]:
    """Call ``work(*before, *part, *after)`` for each part, by default on all cores; return the results in order.

    The calling thread takes parts, too: the work is done even if the system starts no thread.
    """
    parts = list(parts)
    if len(parts) == 1:
        return [work(*before, *parts[0], *after)]
    results: dict[int, Result] = {}
    errors: list[BaseException] = []
    left = enumerate(parts)

    def take() -> None:
        try:
            for place, part in left:
                if errors:
                    return
                results[place] = work(*before, *part, *after)
        except BaseException as error:
            errors.append(error)

    helpers = [Thread(target=take) for _ in range(min(threads or cores(), len(parts)) - 1)]
    started = []
    for helper in helpers:
        try:
            helper.start()
        except RuntimeError:  # "can't start new thread"
            break
        started.append(helper)
    take()
    for helper in started:
        helper.join()
    if errors:
        raise errors[0]
    return [results[place] for place in range(len(parts))]
