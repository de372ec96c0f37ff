"""Arguments of the public functions: each is checked here, with an error that names it and says what to do."""

from __future__ import annotations

import operator
import os
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.methods import table
from lagbc.methods.table import Method


def check_dtype(dtype: str, row: Method) -> None:
    """Raise ValueError if a method does not count paths in a dtype."""
    if not isinstance(dtype, str):
        raise TypeError(f"dtype={dtype!r} is not a string; write 'float64' or 'float32'")
    if dtype != "float64" and (dtype != "float32" or row.device == "cpu"):
        raise ValueError(
            f"dtype={dtype!r}: {row.name} on {row.device} counts paths in 'float64'"
            + (" or 'float32'" if row.device == "cuda" else "; device='cuda' takes 'float32', too")
        )


def parse_width(bucket_width: Any, row: Method) -> float | None:
    """Return a width of buckets that a method takes; None is "auto"."""
    if isinstance(bucket_width, str) and bucket_width == "auto":
        return None
    width = parse_real("bucket_width", bucket_width)
    if not 0 < width < np.inf:
        raise ValueError(f"bucket_width={bucket_width!r}: it is a length, finite and > 0, or 'auto'")
    _require_taken("bucket_width", bucket_width, row)
    return width


def parse_real(name: str, value: Any) -> float:
    """Return a real number as a float."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} is not a real number")
    return float(value)


def _require_taken(option: str, value: Any, row: Method) -> None:
    if not row.reads(option):
        taking = ", ".join(f"{other.name} on {other.device}" for other in table.METHODS if other.reads(option))
        raise ValueError(
            f"{option}={value!r} means nothing to {row.name} on {row.device}"
            f"{'' if row.weighted else ' without weights'}; it goes with weighted=True and: {taking}"
        )


def parse_batch(batch: int | str) -> int | None:
    """Return a number of roots; None is "auto"."""
    if isinstance(batch, str) and batch != "auto":
        raise TypeError(f"batch={batch!r} is not an integer or 'auto'")
    return None if batch == "auto" else parse_count("batch", batch)


def parse_threads(threads: int | None) -> int:
    """Return a number of CPU threads; None is all that the process may use."""
    if threads is not None:
        return parse_count("threads", threads)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def parse_count(name: str, value: Any) -> int:
    """Return a positive integer."""
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r} is not an integer") from None
    if isinstance(value, bool) or count < 1:
        raise ValueError(f"{name}={value!r}: it is a count, 1 or more")
    return count


def parse_vertices(name: str, n: int, given: ArrayLike) -> NDArray[np.int64]:
    """Return distinct vertices, in the order in which they are given."""
    vertices = np.asarray(given)
    if vertices.size == 0:
        return np.zeros(0, np.int64)
    if vertices.ndim != 1 or vertices.dtype.kind not in "iu":
        raise TypeError(
            f"{name} has dtype {vertices.dtype} and shape {vertices.shape}; it is a 1-D array of vertex numbers "
            "(for a mask, pass numpy.flatnonzero(mask))"
        )
    outside = (vertices < 0) | (vertices >= n)
    if outside.any():
        raise ValueError(f"{name} holds {vertices[outside][0]}, which is not a vertex: there are 0..{n - 1}")
    distinct, counts = np.unique(vertices, return_counts=True)
    if len(distinct) < len(vertices):
        often = {"sources": "source_weights to count a root often", "targets": "target_weights to count a target often"}
        raise ValueError(f"{name} names vertex {distinct[counts > 1][0]} more than once; use {often[name]}")
    return vertices.astype(np.int64)
