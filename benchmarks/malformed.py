"""Matrices that are malformed in one way each, and well-formed ones that are unusual: a seeded generator.

    python -m benchmarks.sanitize --native

lets the public functions read them under sanitizers: every malformed one has to be refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

Rng: TypeAlias = np.random.Generator
Matrix: TypeAlias = Any
Change: TypeAlias = Callable[[Rng, Matrix], Any]


def well_formed(rng: Rng) -> Matrix:
    """Make a square matrix of any format: repeated, unsorted and zero entries, self loops and empty rows among them."""
    n = int(rng.integers(2, 40))
    nnz = int(rng.integers(1, 6 * n))
    index: Any = (np.int32, np.int64)[int(rng.integers(2))]
    ends = rng.integers(0, n, (2, nnz)).astype(index)
    A = sparse.coo_array((rng.choice([0.25, 1, 2, 3.5], nnz), (ends[0], ends[1])), shape=(n, n))
    form = rng.choice(["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
    made = A.asformat(str(form))
    if form in ("csr", "csc"):
        made.indptr, made.indices = made.indptr.astype(index), made.indices.astype(index)
        _shuffle(rng, made)
    return made


def malformed(rng: Rng) -> tuple[str, Matrix, bool]:
    """Break a matrix in one way; tell how, and whether it has to be read with lengths to be refused."""
    name = str(rng.choice(sorted(CHANGES)))
    forms, change = CHANGES[name]
    A = sparse.csr_array(well_formed(rng)).astype(float)
    A.setdiag(0)  # no length of a loop is read
    A.eliminate_zeros()
    if A.nnz < 2 or A.shape[0] < 3:
        A = sparse.csr_array(1 - np.eye(3))
    A = A.asformat(str(rng.choice(forms)))
    if hasattr(A, "indptr") and rng.random() < 0.5:
        A.indptr, A.indices = A.indptr.astype(np.int64), A.indices.astype(np.int64)
    return name, A if (made := change(rng, A)) is None else made, "length" in name


def _shuffle(rng: Rng, A: Matrix) -> None:
    """Put the entries of each compressed row in any order."""
    for first, last in zip(A.indptr[:-1], A.indptr[1:], strict=True):
        order = first + rng.permutation(int(last - first))
        A.indices[first:last], A.data[first:last] = A.indices[order], A.data[order]
    A.has_sorted_indices = False


def _put(name: str, value: Callable[[Rng, Matrix], Any], place: Callable[[Rng, Any], int]) -> Change:
    """Return a change that writes a number at a place of an array."""

    def change(rng: Rng, A: Matrix) -> None:
        array = getattr(A, name)
        array[place(rng, array)] = value(rng, A)

    return change


def _replace(name: str, new: Callable[[Rng, Any], Any]) -> Change:
    """Return a change that puts an array in place of another."""

    def change(rng: Rng, A: Matrix) -> None:
        setattr(A, name, new(rng, getattr(A, name)))

    return change


def _anywhere(rng: Rng, array: Any) -> int:
    return int(rng.integers(len(array)))


def _first(rng: Rng, array: Any) -> int:
    return 0


def _last(rng: Rng, array: Any) -> int:
    return len(array) - 1


def _inside(rng: Rng, array: Any) -> int:
    return int(rng.integers(1, len(array) - 1))


def _beyond(rng: Rng, A: Matrix) -> int:
    """Return an index that is no row."""
    n = A.shape[0]
    return int(rng.choice([n, n + 1, 2 * n, 2**31 - 1, -1, -n, -(2**31)]))


def _too_far(rng: Rng, A: Matrix) -> int:
    return int(rng.choice([len(A.indices) + 1, 2 * len(A.indices) + 8, 2**31 - 1]))


def _negative(rng: Rng, A: Matrix) -> int:
    return -int(rng.choice([1, 2, 100, 2**31]))


def _no_length(rng: Rng, A: Matrix) -> float:
    return float(rng.choice([np.nan, np.inf, -np.inf, -1.0, 0.0, -0.0, 1.7e308]))


def _shorter(rng: Rng, array: Any) -> Any:
    return array[: int(rng.integers(len(array)))].copy()


def _longer(rng: Rng, array: Any) -> Any:
    return np.concatenate([array, array[: int(rng.integers(1, len(array) + 1))]])


def _flat(rng: Rng, A: Matrix) -> Any:
    """Take an axis, or make one longer."""
    if rng.random() < 0.5:
        return np.ones(int(rng.integers(1, 9)))
    n = A.shape[0]
    return sparse.csr_array((n, n + int(rng.integers(1, 4))))


# How a matrix is broken, and the formats that can be.
CHANGES: dict[str, tuple[tuple[str, ...], Change]] = {
    "pointers do not begin at 0": (("csr", "csc"), _put("indptr", lambda rng, A: 1, _first)),
    "the first pointer is negative": (("csr", "csc"), _put("indptr", _negative, _first)),
    "a pointer is negative": (("csr", "csc"), _put("indptr", _negative, _inside)),
    "a pointer is beyond the indices": (("csr", "csc"), _put("indptr", _too_far, _inside)),
    "the last pointer is beyond the indices": (("csr", "csc"), _put("indptr", _too_far, _last)),
    "fewer pointers": (("csr", "csc"), _replace("indptr", _shorter)),
    "more pointers": (("csr", "csc"), _replace("indptr", _longer)),
    "fewer indices": (("csr", "csc", "bsr"), _replace("indices", _shorter)),
    "fewer values": (("csr", "csc"), _replace("data", _shorter)),
    "an index is no column": (("csr", "csc", "bsr"), _put("indices", _beyond, _anywhere)),
    "indices are not whole": (("csr", "csc"), _replace("indices", lambda rng, array: array + 0.5)),
    "a row is none": (("coo",), _put("row", _beyond, _anywhere)),
    "a column is none": (("coo",), _put("col", _beyond, _anywhere)),
    "a length is none": (("csr", "csc", "coo"), _put("data", _no_length, _anywhere)),
    "lengths are complex": (("csr", "csc", "coo"), _replace("data", lambda rng, array: array * 1j)),
    "it is not square": (("csr",), _flat),
}
