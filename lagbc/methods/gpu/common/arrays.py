"""Arrays of a batch filled, set and summed by kernels, and lengths surveyed, without functions that CuPy compiles."""

from __future__ import annotations

from typing import Any, NamedTuple

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc.cuda.kernel import THREADS
from lagbc.methods.gpu.kernels import ARRAYS

_TILE = 4096  # as in the kernels


def read(array: Any) -> Any:
    """Copy an array to the host once the kernels before are done.

    The stream is waited for first. A copy that itself waits for a long kernel holds a lock of the driver, for which the
    threads of other GPUs wait: two GPUs took 1.2 times as long.
    """
    cp.cuda.get_current_stream().synchronize()
    return array.get()


def fill(array: Any, value: float) -> None:
    """Fill a contiguous array with a number; as CuPy does, but for 0 without a function to compile."""
    words = np.array([value], array.dtype).view(np.int32)
    count = array.nbytes // 4
    ARRAYS.launch("fill_words", count, count=count, low=words[0], high=words[-1], array=array)


def scatter(array: Any, where: tuple[NDArray[np.int64], ...], values: Any) -> None:
    """Set ``array[where] = values`` at distinct places on the host, with an array of `where` along each axis."""
    places = sum(along * (stride // array.itemsize) for along, stride in zip(where, array.strides, strict=True))
    count = len(places)
    items = cp.asarray(np.broadcast_to(np.asarray(values).astype(array.dtype), count))
    of_items = {"count": count, "bytes": array.itemsize, "where": cp.asarray(places), "items": items}
    ARRAYS.launch("scatter_items", count, array=array, **of_items)


def join_parts(sums: Any) -> Any:
    """Sum (groups, parts, rows) over the parts, in their order."""
    groups, parts, rows = sums.shape
    if parts == 1:
        return sums.reshape(groups, rows)
    joined = cp.empty((groups, rows))
    ARRAYS.launch("join_sums", rows, groups, n=rows, parts=parts, sums=sums, joined=joined)
    return joined


def add_sums(sums: Any, order: Any, scores: Any, groups: int) -> None:
    """Add the sums of rows to the caller's vertices, ``sums[:groups, order] += scores[:groups]``."""
    of = {"order": order, "scores": scores, "sums": sums}
    ARRAYS.launch("add_sums", len(order), groups, n=len(order), stride=sums.strides[0] // 8, **of)


def count_flags(flags: Any) -> int:
    """Count the flags that are set."""
    found, count = cp.zeros(1, np.uint64), len(flags)
    ARRAYS.launch_striding("count_flags", count, count=count, flags=flags, found=found)
    return int(read(found)[0])


def number_ends(ends: Any, position: Any) -> Any:
    """Give vertices (int32) other numbers, ``position[ends]``."""
    numbered, count = cp.empty(len(ends), np.int32), len(ends)
    ARRAYS.launch("number_ends", count, count=count, ends=ends, position=position, numbered=numbered)
    return numbered


class Survey(NamedTuple):
    """Statistics of lengths; all 0 if there are none."""

    shortest: float
    longest: float
    mean: float
    are_integers: bool


def survey(lengths: Any) -> Survey:
    """Survey lengths, all of them finite and > 0; the mean on the device is the same in every run."""
    count = len(lengths)
    if not count:
        return Survey(0.0, 0.0, 0.0, True)
    if isinstance(lengths, np.ndarray):
        are_integers = bool((lengths == np.floor(lengths)).all())
        return Survey(float(lengths.min()), float(lengths.max()), float(lengths.mean()), are_integers)
    tiles = -(-count // _TILE)
    found, sums = cp.asarray(np.array([-1, 0, 0]).view(np.uint64)), cp.empty(tiles)
    of = {"count": count, "lengths": lengths, "found": found}
    ARRAYS.kernel("survey_lengths")((tiles,), THREADS, divisor=count, sums=sums, **of)
    shortest, longest, fraction = read(found)
    bits = np.array([shortest, longest]).view(np.float64)
    return Survey(float(bits[0]), float(bits[1]), float(sums.get().sum()), not fraction)


def convert_lengths(lengths: Any, dtype: Any) -> Any:
    """Return lengths as another type: float32 or float64."""
    converted, count = cp.empty(len(lengths), dtype), len(lengths)
    of = {"lengths": lengths, "converted": converted}
    ARRAYS.launch("convert_lengths", count, count=count, bytes=converted.itemsize, **of)
    return converted
