"""Entries of matrices on the device: of CuPy's, and of large SciPy matrices after one copy."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from lagbc.graph.device.csr import Entries, pointers_rise, rows_of
from lagbc.graph.device.kernels import PROGRAMS


def entries_of(A: Any) -> tuple[Entries, Any] | None:
    """Return the stored entries of a square matrix, without lengths, and the array of their values, which stay there.

    The matrix is CSR, CSC or COO, of CuPy, or of SciPy if `can_upload`. None if its row pointers do not rise from 0 to
    at most the number of stored indices.
    """
    for program in PROGRAMS:
        program.begin_compile()
    n = A.shape[0]
    if A.format == "coo":
        return Entries(n, _on_device(A.row), _on_device(A.col)), A.data
    indptr = _on_device(A.indptr)
    if not pointers_rise(n, indptr, min(len(A.indices), len(A.data))):
        return None
    count = int(indptr[n:].get()[0])
    across = _on_device(A.indices[:count])
    along = rows_of(indptr, across)
    entries = Entries(n, along, across) if A.format == "csr" else Entries(n, across, along)
    return entries, A.data[:count]


def can_upload(A: Any) -> bool:
    """Whether kernels can read the arrays of a SciPy matrix; the host names the fault of any other."""
    n = A.shape[0]
    if A.format == "coo":
        indices = A.row, A.col
    elif A.format in ("csr", "csc"):
        indices = A.indptr, A.indices
        if len(A.indptr) != n + 1 or len(A.indices) != len(A.data):
            return False
    else:
        return False
    return n < np.iinfo(np.int32).max and all(array.dtype in (np.int32, np.int64) for array in indices)


def _on_device(array: Any) -> Any:
    return cp.ascontiguousarray(cp.asarray(array))
