"""Kernels of the CPU, compiled ahead of time: `core` is made of kernels/ and bindings/ as docs/native.md says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from lagbc.native import core
except ModuleNotFoundError as missing:
    raise ImportError(
        "the kernels of lagbc are not compiled here: in a checkout, run `sh setup.sh test` or `pip install -e .`"
    ) from missing

__all__ = ["Csr", "core", "csr", "level"]

Csr = core.Csr32 | core.Csr64


def csr(indptr: NDArray[np.int64], indices: NDArray[Any], lengths: NDArray[np.float64] | None = None) -> Csr:
    """Hand compressed rows to kernels; the arrays are kept, not copied."""
    if indices.dtype == np.int32:
        return core.Csr32(indptr=indptr, indices=indices, lengths=lengths)
    return core.Csr64(indptr=indptr, indices=indices, lengths=lengths)


def level() -> str:
    """Name the level of instructions that this process runs: v2, v3 or v4 of x86-64, or generic.

    It is the best that was built and that the processor has; the environment variable LAGBC_LEVEL forces one.
    """
    return core.level()
