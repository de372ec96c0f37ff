"""Matrices, arrays, columns and edges as a caller gives them, and the ways of taking the values of edges.

Matrices of this module have the attributes of SciPy's, whose import takes 0.1 s. Masked arrays are refused, as NumPy
would read the masked entries.

A caller takes values as lengths, or as strengths w, which are lengths 1 / w, or not at all. `lagbc.graph.validate`
alone makes lengths of strengths; a `Graph` has lengths.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidTypeError, InvalidValueError
from lagbc.graph.csr import ops_of

if TYPE_CHECKING:
    from scipy import sparse

_LARGEST = sys.float_info.max
_INSTEAD = "pass .compressed(), which leaves them out, or .filled(value), which puts a value in their place"
# Arrays of a sparse matrix by its format; other formats have the three of compressed rows.
_PARTS = {"coo": ("data", "row", "col")}
_COLUMN = "a column, an array of one dimension"
_OF_SPARSE = "make the matrix of arrays in which nothing is masked"
# The edge attribute that holds the values by default, as in NetworkX and igraph.
LENGTH = "weight"
# The arguments that take an edge attribute by name, in messages.
BY_NAME = "weighted= or strength="
# Of edges of length 0 other programs return scores that depend on the order of the vertices.
_OF_ZERO_LENGTHS = "Merge the ends of an edge of length 0, or add a small length to every edge, such as 1 to degrees"


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


@lru_cache  # a call asks four times, and to import a name takes a microsecond
def _is_of_sparse(kind: Any) -> bool:
    if "scipy.sparse" not in sys.modules:  # loaded by whoever has a matrix of it
        return issubclass(kind, _PlainMatrix)
    from scipy import sparse  # waits while another thread imports it

    return issubclass(kind, _PlainMatrix | sparse.sparray | sparse.spmatrix)


def refuse_masked(name: str, given: Any, instead: str = _INSTEAD) -> None:
    """Raise InvalidTypeError if an argument is a masked array, or a list or sparse matrix of masked arrays."""
    if "numpy.ma" not in sys.modules:  # loaded by whoever has a masked array
        return
    masked_array = np.ma.MaskedArray
    if is_sparse(given):
        for part in _PARTS.get(given.format, ("data", "indices", "indptr")):
            if isinstance(array := getattr(given, part, None), masked_array):
                refuse_masked(f"{name}.{part}", array, _OF_SPARSE)
        return
    if not isinstance(given, list | tuple | masked_array):
        return
    items = (given,) if isinstance(given, masked_array) else given
    arrays = [item for item in items if isinstance(item, masked_array)]
    if not arrays:
        return
    masked, size = sum(map(np.ma.count_masked, arrays)), sum(array.size for array in arrays)
    kind = "is a masked array" if arrays[0] is given else "holds masked arrays"
    raise InvalidTypeError(f"{name} {kind}, {masked} of {size} entries being masked; {instead}")


def array_of(name: str, given: Any, expected: str) -> NDArray[Any]:
    """Return an argument as an array; InvalidTypeError of a ragged one, which names the `expected` form, or masked."""
    refuse_masked(name, given)
    try:
        return np.asarray(given)
    except ValueError:
        raise InvalidTypeError(f"{name} is ragged; it is {expected}") from None


def column_of(name: str, given: Any) -> NDArray[Any]:
    """Return a column of pandas, polars or Arrow, an array or a list as an array, of objects if its items are mixed."""
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
    """Return an array of real numbers; objects become float64. Errors call item i by ``place(i)``."""
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


# ---- Edges by the numbers of their ends, as graphs of other libraries are read


@dataclass(slots=True, eq=False)
class Entries:
    """The edges of a graph, vertices numbered from 0; an undirected edge is listed both ways, a loop once."""

    n: int
    tails: NDArray[np.int64]  # tails, heads: parallel edges are entries of their own
    heads: NDArray[np.int64]
    directed: bool

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        # pickle makes arrays read-only, and SciPy does not index by these.
        for name, value in state[1].items():
            setattr(self, name, value.copy() if isinstance(value, np.ndarray) else value)

    def matrix(self, lengths: NDArray[Any] | None = None, *, largest: bool = False) -> Listed:
        """Return the adjacency matrix, of ones or of `lengths`; of parallel edges the smallest, or the `largest`."""
        if lengths is None:
            return Listed((self.n, self.n), self.tails, self.heads, np.ones(len(self.tails), np.bool_))
        key = lengths
        if largest:  # flags and unsigned integers have no negatives
            key = -lengths if lengths.dtype.kind == "f" else ~lengths
        order = np.lexsort((key, self.heads, self.tails))
        tails, heads = self.tails[order], self.heads[order]
        first = first_of_parallel(tails, heads)
        return Listed((self.n, self.n), tails[first], heads[first], lengths[order][first])


def first_of_parallel(tails: NDArray[np.int64], heads: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the first of each run of entries with the same ends."""
    first = np.ones(len(tails), np.bool_)
    first[1:] = (tails[1:] != tails[:-1]) | (heads[1:] != heads[:-1])
    return first


def shares_of_parallel(entries: Entries, lengths: NDArray[Any], *, largest: bool = False) -> NDArray[np.float64]:
    """Divide the score of a pair equally among its edges of the smallest length, or the `largest`; return the parts.

    Parallel edges are adjacent.
    """
    if not len(lengths):
        return np.ones(0)
    first = first_of_parallel(entries.tails, entries.heads)
    pair = np.cumsum(first) - 1
    extreme = np.maximum if largest else np.minimum
    counting = lengths == extreme.reduceat(lengths, np.flatnonzero(first))[pair]
    shares: NDArray[np.float64] = counting / np.bincount(pair, counting)[pair]
    return shares


def mirrored(tails: NDArray[Any], heads: NDArray[Any], values: Any) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """Return edges both ways, a loop once, with their values if there are any."""
    back = tails != heads
    values = None if values is None else np.concatenate([values, values[back]])
    return np.concatenate([tails, heads[back]]), np.concatenate([heads, tails[back]]), values


def as_lengths(values: Iterable[Any], name_of: Callable[[int], str]) -> NDArray[Any]:
    """Make an array of integers or floats; TypeError names the first value that is neither by ``name_of(position)``."""
    given = list(values)
    try:
        lengths = np.array(given or np.zeros(0))
    except ValueError:  # ragged
        lengths = np.array(None)
    if lengths.dtype.kind in "biuf" and lengths.ndim == 1:
        return lengths
    for position, value in enumerate(given):
        if np.ndim(value) or np.asarray(value).dtype.kind not in "biuf":
            raise InvalidTypeError(
                f"{name_of(position)} has length {value!r}; lengths are floats, or integers of 64 bits"
            )
    raise InvalidTypeError(f"the lengths have no common type of real numbers, but {lengths.dtype}")


# ---- Values of edges


class Values(NamedTuple):
    """How values of edges are taken; of parallel edges the shortest counts, which has the largest strength."""

    word: str  # "length" or "strength"; "" if they are not taken
    are_taken: bool  # whether edges have lengths
    are_strengths: bool  # whether they are w of lengths 1 / w
    attribute: str | None = None  # the edge attribute that the caller names

    @property
    def argument(self) -> str:
        """The argument that takes them so."""
        return "strength" if self.are_strengths else "weighted"

    @property
    def name(self) -> str:
        """The name of the edge attribute that holds them."""
        return LENGTH if self.attribute is None else self.attribute

    def advice(self, wrong: NDArray[Any], otherwise: str) -> str:
        """Return the advice on wrong values, `otherwise` unless they are lengths that are all 0."""
        return _OF_ZERO_LENGTHS if self.word == "length" and not wrong.any() else otherwise


NO_VALUES, LENGTHS, STRENGTHS = Values("", False, False), Values("length", True, False), Values("strength", True, True)


def parse_values(weighted: Any, strength: Any, usual: Values = NO_VALUES) -> Values:
    """Return how a caller takes values, the `usual` way by default; errors name arguments that contradict."""
    weighted, strength = of_python(weighted), of_python(strength)
    for name, given in (("weighted", weighted), ("strength", strength)):
        if not (isinstance(given, bool | str) or (given is None and name == "weighted")):
            raise InvalidTypeError(f"{name}={given!r} is neither True nor False nor the name of an edge attribute")
    if strength is False and not isinstance(weighted, str):
        return usual if weighted is None else LENGTHS if weighted else NO_VALUES
    if weighted is False:
        raise InvalidValueError(
            f"strength={strength!r} takes the values as strengths, weighted=False takes none; leave out one"
        )
    named = [given for given in (strength, weighted) if isinstance(given, str)]
    if len({*named}) > 1:
        raise InvalidValueError(f"strength={strength!r} and weighted={weighted!r} name two attributes; leave out one")
    return (LENGTHS if strength is False else STRENGTHS)._replace(attribute=named[0] if named else None)


def of_python(flag: Any) -> Any:
    """Return a flag of NumPy as one of Python, and anything else as it is."""
    return bool(flag) if isinstance(flag, np.bool_) else flag


def are_no_lengths(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark values that are not finite and > 0."""
    wrong: NDArray[np.bool_] = ~(np.isfinite(values) & (values > 0))
    return wrong


def no_attribute(kind: str, attribute: str, there: Iterable[Any]) -> InvalidValueError:
    """Make the error that no edge has an attribute; it names the attributes there are."""
    names = sorted(repr(name) for name in there if isinstance(name, str))
    others = f"they have {', '.join(names)}, and {BY_NAME} takes one by name" if names else "they have none"
    return InvalidValueError(
        f"the edges of the {kind} have no attribute {attribute!r}; {others}; weighted=False counts hops"
    )
