"""Work on a graph's arrays, cut into parts for the cores where threads pay.

A part writes entries that it alone owns, so that neither the number of threads nor their order changes a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from threading import Thread
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lagbc.limits import most_threads, usable_cores

Result = TypeVar("Result")
Part = tuple[int, int]

# Entries from which threads pay: with fewer, starting them takes longer than the work.
SHARED_FROM = 2**17


def cores() -> int:
    """Return how many threads may work at once: the cores of this process, or fewer in a limited address space."""
    return most_threads(usable_cores())


def parts_of_rows(indptr: NDArray[np.int64], most: int | None = None) -> list[Part]:
    """Cut compressed rows into parts of about as many entries each, one for each core, but at most `most`."""
    n, entries = len(indptr) - 1, int(indptr[-1])
    parts = cores() if n + entries >= SHARED_FROM else 1
    parts = parts if most is None else max(1, min(parts, most))
    if parts == 1:
        return [(0, n)]
    inner = np.searchsorted(indptr, entries * np.arange(1, parts) // parts).tolist()
    return _between([0, *inner, n])


def parts_of(size: int) -> list[Part]:
    """Cut a range of `size` into equal parts, one for each core."""
    parts = cores() if size >= SHARED_FROM else 1
    return _between([size * part // parts for part in range(parts + 1)])


def _between(bounds: list[int]) -> list[Part]:
    return list(pairwise(bounds))


def share(
    work: Callable[..., Result], parts: Iterable[Any], before: tuple[Any, ...] = (), after: tuple[Any, ...] = ()
) -> list[Result]:
    """Call ``work(*before, *part, *after)`` for each part, on a thread for each core; results in order of parts.

    The calling thread takes parts, too: a system that starts no thread still gets the work done.
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

    helpers = [Thread(target=take) for _ in range(min(cores(), len(parts)) - 1)]
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
