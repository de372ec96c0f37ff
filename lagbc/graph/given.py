"""Matrices, arrays and columns as they are given.

Matrices of this module have the attributes of SciPy's: to import SciPy's takes 0.1 s. Masked arrays are refused: NumPy
would read their masked entries, too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidTypeError, InvalidValueError
from lagbc.graph.csr import ops_of

if TYPE_CHECKING:
    from scipy import sparse

_LARGEST = sys.float_info.max
_INSTEAD = "pass .compressed(), which leaves them out, or .filled(value), which puts a value in their place"
# Arrays of a sparse matrix by its format, where they are not those of compressed rows.
_PARTS = {"coo": ("data", "row", "col")}
_COLUMN = "a column, an array of one dimension"
_OF_SPARSE = "make the matrix of arrays in which nothing is masked"


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
    kind: Any = type(given)
    return _is_of_sparse(kind)


@lru_cache
def _is_of_sparse(kind: Any) -> bool:
    if "scipy.sparse" not in sys.modules:  # loaded by whoever has a matrix of it
        return issubclass(kind, _PlainMatrix)
    from scipy import sparse  # waits while another thread imports it

    return issubclass(kind, _PlainMatrix | sparse.sparray | sparse.spmatrix)


def refuse_masked(name: str, given: Any, instead: str = _INSTEAD) -> None:
    """Raise InvalidTypeError if an argument is a masked array, or a list or sparse matrix of masked arrays."""
    if "numpy.ma" not in sys.modules:  # loaded by whoever has a masked array
        return
    if is_sparse(given):
        for part in _PARTS.get(given.format, ("data", "indices", "indptr")):
            if isinstance(array := getattr(given, part, None), np.ma.MaskedArray):
                refuse_masked(f"{name}.{part}", array, _OF_SPARSE)
        return
    items = given if isinstance(given, list | tuple) else (given,)
    if not any(issubclass(kind, np.ma.MaskedArray) for kind in set(map(type, items))):
        return
    arrays = [item for item in items if isinstance(item, np.ma.MaskedArray)]
    masked, size = sum(map(np.ma.count_masked, arrays)), sum(array.size for array in arrays)
    kind = "is a masked array" if arrays[0] is given else "holds masked arrays"
    raise InvalidTypeError(f"{name} {kind}, {masked} of {size} entries being masked; {instead}")


def array_of(name: str, given: Any, expected: str) -> NDArray[Any]:
    """Return an argument as an array; InvalidTypeError, which names the `expected` form, if it is ragged or masked."""
    refuse_masked(name, given)
    try:
        return np.asarray(given)
    except ValueError:
        raise InvalidTypeError(f"{name} is ragged; it is {expected}") from None


def column_of(name: str, given: Any) -> NDArray[Any]:
    """Return a column of pandas, polars or Arrow, an array or a list as an array; a mixed list as one of objects."""
    if isinstance(given, str):
        raise InvalidTypeError(f"{name} is the string {given!r}; pass the column itself, such as table[{given!r}]")
    column = array_of(name, given, _COLUMN)
    if column is not given and column.dtype.kind == "U" and not all(isinstance(item, str) for item in given):
        column = np.array(given, object)  # so that numbers do not become text
    if column.ndim != 1:
        raise InvalidTypeError(f"{name} has shape {column.shape}; it is {_COLUMN}")
    return column


def reals_of(name: str, given: Any) -> NDArray[Any]:
    """Return a column of real numbers as an array; numbers of Python become float64."""
    return as_reals(name, column_of(name, given), lambda row: f"in row {row}")


def as_reals(name: str, array: NDArray[Any], place: Callable[[int], str]) -> NDArray[Any]:
    """Return an array of real numbers; objects become float64. Errors tell the `place` of one by its number."""
    if array.dtype != object:
        if array.size:
            require_reals(name, array)
        return array
    items = array.ravel().tolist()
    wrong = next((i for i, item in enumerate(items) if not isinstance(item, Real)), None)
    if wrong is not None:
        raise InvalidTypeError(f"{name} holds {items[wrong]!r} {place(wrong)}; it holds real numbers")
    try:
        return array.astype(np.float64)
    except OverflowError:
        i, value = next((i, value) for i, value in enumerate(items) if abs(value) > _LARGEST)
        raise InvalidValueError(f"{name} holds {str(value)[:20]}... {place(i)}, beyond float64") from None


def require_reals(name: str, array: Any) -> None:
    """Raise TypeError unless an array or matrix holds real numbers."""
    if array.dtype.kind not in "biuf":
        raise InvalidTypeError(f"{name} has dtype {array.dtype}; it holds real numbers, e.g. of float64")
