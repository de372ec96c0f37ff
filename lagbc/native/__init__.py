"""Kernels of the CPU, compiled ahead of time: `core` is made of kernels/ and bindings/, as docs/native.md describes."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import MissingDependencyError

try:
    from lagbc.native import core
except ImportError as missing:
    if find_spec("lagbc.native.core") is not None:  # LAGBC_LEVEL is none of its levels
        raise
    raise MissingDependencyError(
        "this is the source tree of lagbc, whose kernels are not compiled: use an installed lagbc from another folder, "
        "or run `pip install -e .` here"
    ) from missing

__all__ = ["Csr", "by_index", "core", "csr", "level", "levels"]

Csr = core.Csr32 | core.Csr64

Narrow = TypeVar("Narrow")
Wide = TypeVar("Wide")


def by_index(index_type: Any, narrow: type[Narrow], wide: type[Wide]) -> type[Narrow] | type[Wide]:
    """Choose between the two versions of a class by the type of a graph's column indices."""
    return narrow if index_type == np.int32 else wide


def csr(indptr: NDArray[np.int64], indices: NDArray[Any], lengths: NDArray[np.float64] | None = None) -> Csr:
    """Hand compressed rows to kernels; the arrays are kept, not copied."""
    kind: Any = by_index(indices.dtype, core.Csr32, core.Csr64)
    made: Csr = kind(indptr=indptr, indices=indices, lengths=lengths)
    return made


def level() -> str:
    """Return the level of instructions that this process runs: v2, v3 or v4 of x86-64, or generic.

    It is the best that was built and that the processor has; the environment variable LAGBC_LEVEL forces one.
    """
    return core.level()


def levels() -> list[str]:
    """Return the levels of instructions that lagbc was built for, the best first."""
    return core.levels()
