"""Arrays and columns as they are given. Masked arrays are refused: NumPy would read their masked entries, too."""

from __future__ import annotations

import sys
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidTypeError
from lagbc.graph.plain import is_sparse

_INSTEAD = "pass .compressed(), which leaves them out, or .filled(value), which puts a value in their place"
# Arrays of a sparse matrix by its format, where they are not those of compressed rows.
_PARTS = {"coo": ("data", "row", "col")}
_COLUMN = "a column, an array of one dimension"
_OF_SPARSE = "make the matrix of arrays in which nothing is masked"


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
    if column.dtype.kind == "U" and not all(isinstance(item, str) for item in given):
        column = np.array(given, object)  # so that numbers do not become text
    if column.ndim != 1:
        raise InvalidTypeError(f"{name} has shape {column.shape}; it is {_COLUMN}")
    return column


def reals_of(name: str, given: Any) -> NDArray[Any]:
    """Return a column of real numbers as an array; numbers of Python become float64."""
    column = column_of(name, given)
    if column.dtype != object:
        if column.size:
            require_reals(name, column)
        return column
    row = next((row for row, item in enumerate(column.tolist()) if not isinstance(item, Real)), None)
    if row is not None:
        raise InvalidTypeError(f"{name} holds {column[row]!r} in row {row}; it holds real numbers")
    return column.astype(np.float64)


def require_reals(name: str, array: Any) -> None:
    """Raise TypeError unless an array or matrix holds real numbers."""
    if array.dtype.kind not in "biuf":
        raise InvalidTypeError(f"{name} has dtype {array.dtype}; it holds real numbers, e.g. of float64")
