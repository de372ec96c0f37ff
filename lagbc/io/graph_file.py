"""The graph of a file, whose repeated edges are merged."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import GraphFileWarning, InvalidValueError, warn
from lagbc.graph import host
from lagbc.graph.coordinates import Coordinates
from lagbc.graph.csr import index_type
from lagbc.graph.given import LENGTHS, STRENGTHS, Rows, are_no_lengths, mirrored
from lagbc.graph.names import size_in_words

if TYPE_CHECKING:
    from scipy import sparse


class BadLength(NamedTuple):
    """The first value of a file that is no length, with its line and edge."""

    line: int
    edge: str
    value: float


@dataclass(eq=False)
class GraphFile:
    """A graph read from a file.

    Attributes
    ----------
    rows : Rows
        The matrix, as NumPy arrays.
    matrix : scipy.sparse.csr_array, shape (n, n)
        The entry (i, j) is the edge i -> j; an undirected file gives both (i, j) and (j, i). Of a repeated edge the
        smallest value is kept, the shortest length (or the largest, see `read_graph`). Stored zeros are kept, except
        the padding of BSR and DIA matrices.
    directed : bool
        Whether edges go one way, as the file says: False for METIS and for symmetric, skew-symmetric or hermitian
        Matrix Market files. True also if the file does not say; see `tells_direction`.
    format : str
        ``"Matrix Market"``, ``"SciPy npz"``, ``"edge list"``, ``"Parquet"``, ``"METIS"``, ``"GraphML"``, ``"GML"``,
        ``"GEXF"`` or ``"Pajek"``.
    names, labels : numpy.ndarray of int64 or of StringDType, shape (n,), or None
        Names of the vertices in the file, in matrix order: integers or text of edge lists and tables, text of formats
        that NetworkX reads; None if the format numbers the vertices itself.
    n, shape : int, and (int, int)
        The number of vertices, also ``len()`` of the graph, and the numbers of rows and columns.
    notices : tuple of str
        Doubts and decisions of the reader, as in the warnings of `read_graph`.
    name : str
        The name of the file in messages.
    said : str
        The layout of an edge list, as its first lines tell it, in one line.
    strengths : bool
        Whether of a repeated edge the largest value was kept.
    bad_length : BadLength or None
        The first value of an edge list or Matrix Market file that is no length.
    coordinates : Coordinates or None
        Coordinates of the vertices: ``.coordinates.xy``, shape (n, 2), from attributes x and y of GraphML, or of an
        example that has them; ``.coordinates.degrees`` tells longitudes and latitudes.
    tells_direction : bool
        Whether the file says if it is directed: not in ``.npz`` or Parquet, nor in an edge list without a comment of
        KONECT or SNAP.
    has_values : bool
        Whether the file gives edges values; else all values of the matrix are 1.
    length_hint : str
        The way to name the values of edges in such a file, for messages.
    counted : (int, int)
        The numbers of entries in a part of a file, and in the whole; (0, 0) for a whole file.
    repeats : int
        The number of entries that repeat an edge, and were left out.
    """

    rows: Rows
    directed: bool
    format: str
    labels: np.ndarray | None
    notices: tuple[str, ...] = ()
    name: str = "the file"
    said: str = ""
    strengths: bool = False
    bad_length: BadLength | None = None
    coordinates: Coordinates | None = None
    tells_direction: bool = True
    has_values: bool = True
    length_hint: str = ""
    counted: tuple[int, int] = (0, 0)
    repeats: int = 0
    _has_warned: bool = field(init=False, repr=False, default=False)

    def __repr__(self) -> str:
        entries = self.rows.tocoo()
        loops = 0 if self.directed else int(np.count_nonzero(entries.row == entries.col))
        size = size_in_words(self.rows.shape[0], self.rows.nnz + loops, directed=self.directed)
        return (
            f"<lagbc.GraphFile {self.name}: {self.format}, {size}, {'with' if self.has_values else 'without'} values>"
        )

    def __len__(self) -> int:
        return self.n

    @property
    def names(self) -> np.ndarray | None:
        """Names of the vertices, as a `Graph` calls them."""
        return self.labels

    @property
    def n(self) -> int:
        """The number of vertices."""
        return self.rows.shape[0]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns of the matrix."""
        return self.rows.shape

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """The rows as a matrix of SciPy's, made on demand."""
        return self.rows.to_scipy()

    def is_directed(self) -> bool:
        """Return whether edges go one way; warn, once, if the file does not say."""
        if not self.tells_direction and not self._has_warned:
            warn(
                f"{self.name}: the format, {self.format}, tells no direction: edges go one way; directed=False takes "
                "them both ways, directed=True one way without this warning",
                GraphFileWarning,
            )
            self._has_warned = True
        return self.directed

    def edge(self, i: int, j: int) -> str:
        """Return an entry of the matrix in words, with the names in the file."""
        if self.labels is None:
            return f"the edge {i} -> {j} (vertices are counted from 0)"
        return f"the edge {self.labels[i]} -> {self.labels[j]}"

    def require_lengths(self, what: str = "length", hops: str = "weighted=False") -> None:
        """Raise ValueError unless every edge has a value that is finite and > 0.

        Parameters
        ----------
        what : str
            The word for a value in messages.
        hops : str
            The argument that counts paths in hops, in messages.
        """
        if not self.has_values and self.rows.nnz:
            hint = f"; {self.length_hint}" if self.length_hint else ""
            raise InvalidValueError(f"{self.name}: edges have no values to take as {what}s{hint}; {hops} counts hops")
        entries = self.rows.tocoo()
        values = entries.data
        if values.dtype.kind not in "biuf":  # refused later, by their type
            return
        if not len(wrong := bad_lengths(entries.row, entries.col, values)):
            return
        i, j, value = (int(entries.row[wrong[0]]), int(entries.col[wrong[0]]), float(values[wrong[0]]))
        place, edge = self.name, self.edge(i, j)
        if self.bad_length is not None:
            place, edge, value = f"{place}, line {self.bad_length.line}", self.bad_length.edge, self.bad_length.value
        others = f" (the first of {len(wrong):,} such edges)" if len(wrong) > 1 else ""
        instead = (STRENGTHS if what == STRENGTHS.word else LENGTHS).advice(values[wrong], "Remove it or correct it")
        raise InvalidValueError(
            f"{place}: {edge} has the {what} {value}{others}; {what}s are finite and > 0. {instead}; {hops} counts hops"
        )


# Messages and pickles name the class by its public module.
GraphFile.__module__ = "lagbc"


def bad_lengths(tails: NDArray[Any], heads: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return the places of edges, not of loops, whose lengths are not finite and > 0."""
    return np.flatnonzero(are_no_lengths(lengths) & (tails != heads))


def compressed(
    n: int, tails: NDArray[Any], heads: NDArray[Any], lengths: NDArray[Any] | None, *, directed: bool, largest: bool
) -> tuple[Rows, int]:
    """Make a matrix of edges, undirected ones both ways, and count the repeats that have lengths."""
    if not directed:
        tails, heads, lengths = mirrored(tails, heads, lengths)
    matrix, repeats = merge_repeats(n, tails, heads, lengths, largest=largest, mirrored=not directed)
    return matrix, 0 if lengths is None else repeats


def merge_repeats(
    n: int,
    tails: NDArray[Any],
    heads: NDArray[Any],
    values: NDArray[Any] | None,
    *,
    largest: bool,
    mirrored: bool = False,
) -> tuple[Rows, int]:
    """Compress entries in any order; of several at one place keep the smallest value, or the `largest`.

    Values are 1 by default. Also count the entries that were left out, at one of two places if all are `mirrored`.
    """
    kind = index_type(n)
    # `in_rows` moves numbers of 8 bytes alone: values of that size as they are, for others their places.
    values = None if values is None else np.ascontiguousarray(values)
    is_moved = values is not None and values.dtype.itemsize == np.dtype(np.float64).itemsize
    places = np.arange(0 if values is None or is_moved else len(tails), dtype=np.int64)
    moved = None if values is None else (values if is_moved else places).view(np.float64)
    ends = np.ascontiguousarray(tails, kind), np.ascontiguousarray(heads, kind)
    indptr, indices, moved = host.in_rows(n, *ends, moved)
    if values is None:
        values = np.ones(len(indices))
    else:
        values = moved.view(values.dtype) if is_moved else values[moved.view(np.int64)]
    is_first = np.ones(len(indices), np.bool_)
    is_first[1:] = indices[1:] != indices[:-1]
    is_first[indptr[:-1][indptr[:-1] < indptr[1:]]] = True
    if is_first.all():
        return Rows(indptr, indices, values), 0
    left_out = ~is_first & (host.rows_of(indptr, indices) >= indices) if mirrored else ~is_first
    # A NaN among the values is kept, to be refused as a length.
    extreme = np.maximum if largest else np.minimum
    values = extreme.reduceat(values, np.flatnonzero(is_first))
    before = np.append(0, np.cumsum(is_first, dtype=np.int64))
    return Rows(before[indptr], indices[is_first], values), int(np.count_nonzero(left_out))


def repeat_notices(repeats: int, *, largest: bool) -> tuple[str, ...]:
    """Return a notice about repeated edges, if there are any."""
    if not repeats:
        return ()
    entries = "1 entry repeats an edge" if repeats == 1 else f"{repeats:,} entries repeat an edge"
    kept = "the largest value, its strength" if largest else "the smallest value, its length"
    return (f"{entries}; of each edge {kept}, is kept (values are not summed)",)
