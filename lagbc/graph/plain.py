"""Sparse matrices of NumPy arrays, with the attributes of SciPy's: to import SciPy's takes 0.1 s."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.csr import ops_of

if TYPE_CHECKING:
    from scipy import sparse


class _PlainMatrix:
    """A sparse matrix: its shape and stored values."""

    ndim = 2
    to_scipy: Any

    def __init__(self, shape: tuple[int, int], data: NDArray[Any]) -> None:
        self.shape, self.dtype, self.nnz, self.data = shape, data.dtype, len(data), data

    def tocsr(self) -> sparse.csr_array:
        """Return SciPy's compressed rows."""
        return self.to_scipy().tocsr()

    def toarray(self) -> NDArray[Any]:
        """Return a dense array."""
        dense: NDArray[Any] = self.to_scipy().toarray()
        return dense


class Listed(_PlainMatrix):
    """A matrix as a list of entries, in any order; several may be at one place."""

    format = "coo"

    def __init__(self, shape: tuple[int, int], row: NDArray[Any], col: NDArray[Any], data: NDArray[Any]) -> None:
        super().__init__(shape, data)
        self.row, self.col = row, col

    def tocoo(self) -> Listed:
        """Return itself."""
        return self

    def to_scipy(self) -> sparse.coo_array:
        """Return SciPy's matrix of the same arrays."""
        from scipy import sparse

        return sparse.coo_array((self.data, (self.row, self.col)), shape=self.shape)


class Rows(_PlainMatrix):
    """Compressed rows of a square matrix; their indices were checked."""

    format = "csr"

    def __init__(self, indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any]) -> None:
        super().__init__((len(indptr) - 1, len(indptr) - 1), data)
        self.indptr, self.indices = indptr, indices

    def tocoo(self) -> Listed:
        """Return the same entries, in the same order."""
        return Listed(self.shape, ops_of(self.indptr).rows_of(self.indptr, self.indices), self.indices, self.data)

    def check_format(self, full_check: bool) -> None:
        """Do nothing: the indices were checked."""

    def to_scipy(self) -> sparse.csr_array:
        """Return SciPy's matrix of the same arrays; its row pointers are of the type of the columns."""
        from scipy import sparse

        # SciPy widens both index arrays to the wider of the two.
        fits = self.nnz <= np.iinfo(self.indices.dtype).max
        indptr = self.indptr.astype(self.indices.dtype, copy=False) if fits else self.indptr
        return sparse.csr_array((self.data, self.indices, indptr), shape=self.shape)


def is_sparse(given: Any) -> bool:
    """Whether an object is a sparse matrix, SciPy's or one of this module."""
    if isinstance(given, _PlainMatrix):
        return True
    if "scipy.sparse" not in sys.modules:  # loaded by whoever has a matrix of it
        return False
    return bool(_issparse()(given))


@cache
def _issparse() -> Any:
    from scipy import sparse  # waits while another thread imports it

    return sparse.issparse
