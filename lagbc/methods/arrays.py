"""Arrays of a state as specifications: a method states each array once, to be counted and, in Python, allocated."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple, TypeAlias, Union

import numpy as np

FLOAT, INTEGER, WORD, BYTE = np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.uint8)
NARROW, HALF_WORD = np.dtype(np.int32), np.dtype(np.uint32)


class Array(NamedTuple):
    """An array: its shape, its dtype, and the number that fills it; None leaves it unfilled."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fill: float | None = None


class Counted(NamedTuple):
    """Arrays that a kernel, a library, a batch or a state allocates by itself, at some time: they are counted alone."""

    arrays: Arrays


def counted(count: int) -> Counted:
    """State the bytes of a state that C++ allocates."""
    return Counted({"bytes": Array((count,), BYTE)})


# Arrays by name, in groups and groups of groups; None is an array that a plan does without.
Arrays: TypeAlias = Mapping[str, Union[Array, Counted, "Arrays", None]]


def bytes_of(arrays: Arrays) -> int:
    """Count the bytes of all arrays."""
    total = 0
    for one in arrays.values():
        if isinstance(one, Array):
            total += prod(one.shape) * one.dtype.itemsize
        elif one is not None:
            total += bytes_of(one.arrays if isinstance(one, Counted) else one)
    return total


def repeated(count: int, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """State `count` copies of a group's arrays, each as one array with one more axis."""
    return {name: Array((count, *one.shape), one.dtype, one.fill) for name, one in arrays.items()}


def allocate(xp: Any, arrays: Arrays) -> dict[str, Any]:
    """Allocate arrays, by name and in the same groups, in `xp`, numpy or cupy; None and what is `Counted` stay."""
    made: dict[str, Any] = {}
    for name, one in arrays.items():
        if one is None:
            made[name] = None
        elif not isinstance(one, Array):
            made[name] = one.arrays if isinstance(one, Counted) else allocate(xp, one)
        else:
            make = xp.zeros if one.fill == 0 else xp.empty  # zero pages that are never written take no memory
            made[name] = make(one.shape, one.dtype)
            if one.fill:
                made[name].fill(one.fill)
    return made
