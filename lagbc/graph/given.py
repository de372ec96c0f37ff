"""Arrays as they are given. Masked ones are refused: NumPy would read on what is masked as if it were not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lagbc.errors import InvalidTypeError

_INSTEAD = "pass .compressed(), which leaves them out, or .filled(value), which puts a value in their place"
_OF_SPARSE = "make the matrix of arrays in which nothing is masked"


def refuse_masked(name: str, given: Any, instead: str = _INSTEAD) -> None:
    """Raise InvalidTypeError if an argument is a masked array, a list of some, or a sparse matrix made of some."""
    if sparse.issparse(given):
        for part in ("data", "row", "col", "indices", "indptr"):
            refuse_masked(f"{name}.{part}", getattr(given, part, None), _OF_SPARSE)
        return
    items = given if isinstance(given, list | tuple) else (given,)
    if not any(issubclass(kind, np.ma.MaskedArray) for kind in set(map(type, items))):
        return
    arrays = [item for item in items if isinstance(item, np.ma.MaskedArray)]
    masked, size = sum(map(np.ma.count_masked, arrays)), sum(array.size for array in arrays)
    kind = "is a masked array" if arrays[0] is given else "holds masked arrays"
    raise InvalidTypeError(f"{name} {kind}, {masked} of {size} entries being masked; {instead}")


def array_of(name: str, given: Any, expected: str) -> NDArray[Any]:
    """Return an argument as an array; InvalidTypeError, which says what is expected, if it is ragged or masked."""
    refuse_masked(name, given)
    try:
        return np.asarray(given)
    except ValueError:
        raise InvalidTypeError(f"{name} is ragged; it is {expected}") from None
