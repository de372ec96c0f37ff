"""Betweenness of LAGraph's C library through ctypes, with the two shared libraries that the PyPI package lagraph holds.

That package is the one binary of LAGraph that a Python installer finds: a snapshot of 2020 (LAGraph 0.1.0 with
SuiteSparse:GraphBLAS 3.3.3). Its ``LAGraph_bc_batch4`` counts and sums in float32. The process must not also load
python-graphblas, which brings another GraphBLAS of the same symbols.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

# The best of 4, 16, 64 and 256 roots a call on R-MAT 12-16 (4.7, 5.1, 9.2 and 29 MTEPS on two cores).
BATCH = 256
GxB_NTHREADS = 5


@dataclass(frozen=True)
class Matrices:
    """A graph in GraphBLAS: the handles of A and of its transpose (the same one if A is symmetric)."""

    n: int
    A: ctypes.c_void_p
    AT: ctypes.c_void_p


def convert(matrix: csr_array, directed: bool) -> Matrices:
    """Build the GraphBLAS matrices of `matrix`."""
    n = matrix.shape[0]
    entries = matrix.tocoo()
    A = _build(n, entries.row, entries.col)
    return Matrices(n, A, _build(n, entries.col, entries.row) if directed else A)


def betweenness(graph: Matrices, sources: Sequence[int], threads: int) -> NDArray[np.float64]:
    """Sum the dependencies of `sources`, `BATCH` of them a call."""
    graphblas, lagraph = _libraries()
    _check(graphblas.GxB_Global_Option_set(ctypes.c_int(GxB_NTHREADS), ctypes.c_int(threads)))
    total = np.zeros(graph.n)
    for start in range(0, len(sources), BATCH):
        roots = np.asarray(sources[start : start + BATCH], np.uint64)
        scores = ctypes.c_void_p()
        count = ctypes.c_int32(len(roots))
        _check(lagraph.LAGraph_bc_batch4(ctypes.byref(scores), graph.A, graph.AT, _pointer(roots), count))
        _add(scores, total)
        _check(graphblas.GrB_Vector_free(ctypes.byref(scores)))
    return total


@cache
def _libraries() -> tuple[ctypes.CDLL, ctypes.CDLL]:
    import lagraph

    directory = Path(lagraph.get_library_dir())
    graphblas = ctypes.CDLL(str(next(directory.glob("libgraphblas.so*"))), mode=ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(str(next(directory.glob("liblagraph.so*"))))
    _check(library.LAGraph_init())
    return graphblas, library


def _build(n: int, row: NDArray[np.integer], col: NDArray[np.integer]) -> ctypes.c_void_p:
    graphblas, _ = _libraries()
    A = ctypes.c_void_p()
    side, nnz = ctypes.c_uint64(n), ctypes.c_uint64(len(row))
    _check(graphblas.GrB_Matrix_new(ctypes.byref(A), _object("GrB_BOOL"), side, side))
    row, col, value = row.astype(np.uint64), col.astype(np.uint64), np.ones(len(row), bool)
    _check(graphblas.GrB_Matrix_build_BOOL(A, _pointer(row), _pointer(col), _pointer(value), nnz, _object("GrB_LOR")))
    return A


def _add(scores: ctypes.c_void_p, total: NDArray[np.float64]) -> None:
    graphblas, _ = _libraries()
    index, value = np.empty(len(total), np.uint64), np.empty(len(total))
    stored = ctypes.c_uint64(len(total))
    _check(graphblas.GrB_Vector_extractTuples_FP64(_pointer(index), _pointer(value), ctypes.byref(stored), scores))
    total[index[: stored.value].astype(np.int64)] += value[: stored.value]


def _object(name: str) -> ctypes.c_void_p:
    return ctypes.c_void_p.in_dll(_libraries()[0], name)


def _pointer(array: NDArray[np.generic]) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


def _check(info: int) -> None:
    if info:
        raise RuntimeError(f"GraphBLAS returned GrB_Info {info}")
