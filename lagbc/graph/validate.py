"""All checks of the caller's matrix, which is validated here once, and nowhere again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy as shallow_copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.calls import in_phase
from lagbc.errors import InvalidTypeError, InvalidValueError
from lagbc.graph import adapters, host
from lagbc.graph.csr import Csr, as_numpy, index_type
from lagbc.graph.given import (
    LENGTHS,
    NO_VALUES,
    Rows,
    Values,
    are_no_lengths,
    is_sparse,
    of_python,
    parse_values,
    refuse_masked,
)
from lagbc.graph.graph import Graph, Outline
from lagbc.graph.names import Names, edge_in_words, listed_names
from lagbc.types import GraphLike

if TYPE_CHECKING:
    from scipy import sparse

# float64 holds all integers up to this one, and lengths of paths up to the next.
EXACT_INTEGERS, LONGEST = 2**53, float(np.finfo(np.float64).max)
# Kinds of matrices that are not sparse matrices of SciPy.
_DENSE, _ON_DEVICE = "dense", "on a device"
# Formats that a device reads.
_UPLOADED = "csr", "csc", "coo"
_INDEX_TYPES = np.dtype(np.int32), np.dtype(np.int64)
# Ends the error of an array that looks like columns of edges.
_OF_COLUMNS = "; of columns of edges make a graph by lagbc.graph_from_edges(source, target, length, directed=...)"


def as_graph(
    A: GraphLike,
    *,
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    names: Sequence[Any] | NDArray[Any] | None = None,
    copy: bool = True,
) -> Graph:
    """Validate a matrix and take its pattern and, if asked for, its values as lengths.

    Parameters
    ----------
    A : SciPy sparse array or matrix of any format, or dense 2-D ndarray; shape (n, n)
        ``A[i, j]`` stored is the edge i -> j. A stored zero is an edge, except in the DIA and BSR formats, which store
        zeros as padding. In a dense array the nonzeros are the edges. Values are not read otherwise; self loops are
        dropped and duplicates merged. `A` is not changed, and no other thread may change it while it is read: entries
        would be of before and after, or an error. A networkx.Graph (vertices in the order of ``list(A)``), a graph of
        igraph, rustworkx, NetworKit or graph-tool, a graphblas.Matrix, or the result of `lagbc.read_graph` is read as
        it is, and so is a pandas data frame whose index and columns are the same names of vertices. A tuple holds the
        arrays of a CSR matrix: ``(data, indices, indptr)``, as SciPy's constructors take them, or ``(indptr, indices)``
        without values.
    directed, strength : as for `lagbc.bc`
    weighted : bool or str, optional
        As for `lagbc.bc`. Of a graph of NetworKit True takes its weights, of rustworkx also numbers that edges hold.
    names : sequence, shape (n,), optional
        Names of the vertices, no two alike, in the order of the rows, such as an index of pandas: `lagbc.table` shows
        scores by them, and ``sources=`` takes them. The default is the names in the graph or data frame itself.
    copy : bool
        False keeps the arrays of a CSR or CSC matrix in canonical form: no thread may change them as long as the graph
        is used.

    Returns
    -------
    Graph
        `A` itself if it is a `Graph`; its `directed` and `weighted` must be those asked for.

    Raises
    ------
    TypeError
        `A` is not a matrix or graph that lagbc reads, has object dtype, or is weighted and complex; `directed` is no
        bool, or `weighted` neither bool nor str, or it names an attribute of a matrix.
    ValueError
        `A` is not square, its index arrays are inconsistent, a dense `A` holds NaN or infinity, a value of a weighted
        `A` is no length, no edge of the graph has the attribute, or two vertices have one name, or one has None or NaN.

    Warns
    -----
    UserWarning
        Some edges of a NetworkX graph lack the attribute; they count as 1, as in NetworkX.

    Examples
    --------
    Neighbours of the cells of an AnnData, and a frame of their scores, by name:

    >>> cells = lagbc.as_graph(adata.obsp["connectivities"], directed=False, names=adata.obs_names)  # doctest: +SKIP
    >>> lagbc.table(cells, lagbc.bc(cells))  # doctest: +SKIP
    """
    graph = take_graph(A, directed=directed, weighted=weighted, strength=strength, copy=copy)
    return graph if names is None else graph.with_names(listed_names(names, graph.n))


@in_phase("check")
def take_graph(
    A: GraphLike,
    *,
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    copy: bool = True,
    uploads: Callable[[bool], bool] | None = None,
) -> Graph:
    """Validate a matrix as `as_graph` does; upload a large one to CuPy's device first if ``uploads(weighted)`` says so.

    Strengths are not uploaded. The host reads a matrix that fails a check on the device, and names the fault.
    """
    given: Any = A
    made: Any = given if isinstance(given, Outline) else None
    if directed is None:
        directed = adapters.is_directed(A) if made is None else made.directed
    elif type(directed) is not bool and not isinstance(directed := of_python(directed), bool):
        raise InvalidTypeError(f"directed={directed!r} is neither True nor False")
    values = LENGTHS if made is not None and made.weighted else NO_VALUES
    if weighted is not None or strength is not False:
        values = parse_values(weighted, strength, values)
    if values.are_strengths or values.attribute is not None:
        _require_taken(A, values)
    if made is not None:
        for name, own, asked in (("directed", made.directed, directed), ("weighted", made.weighted, values.are_taken)):
            if own != asked:
                columns = "graph_from_edges with length=" if name == "weighted" and asked else "graph_from_edges"
                raise InvalidValueError(
                    f"A is a Graph made with {name}={own}, but {name}={asked} is asked for; leave it out, or make "
                    f"another by as_graph or {columns}"
                )
        return made if made.is_checked else _reread(made)
    names, matrix = None, A
    if not is_sparse(A) and adapters.is_adaptable(A):
        names, matrix = adapters.names_of(A), adapters.to_matrix(A, values)
        copy = copy and adapters.keeps_arrays(A)
    if values.are_strengths:
        matrix, copy, uploads = _as_inverses(matrix, names), False, None
    graph = _read_matrix(matrix, names, uploads, directed=directed, weighted=values.are_taken, copy=copy)
    if names is not None or values.are_strengths:
        graph = graph.with_names(names, of_strengths=values.are_strengths)
    return graph


def _reread(graph: Graph) -> Graph:
    """Read a graph that was unpickled, or whose fields were replaced, as a matrix, once."""
    if graph.reread is None or not graph.holds(graph.reread[0]):
        here = graph.on_host
        indptr, indices, weights = here.indptr, here.indices, here.weights
        arrays = (indptr, indices) if weights is None else (weights, indices, indptr)
        read = take_graph(arrays, directed=graph.directed, weighted=graph.weighted)
        return graph.checked_as(read.with_names(graph.names, of_strengths=graph.of_strengths))
    return graph.reread[1]


def _require_taken(A: Any, values: Values) -> None:
    """Raise an error unless `A` has the strengths, or the edge attribute, that the caller asks for."""
    is_graph = isinstance(A, Graph)
    if is_graph and values.are_strengths and not (A.of_strengths and values.attribute is None):
        raise InvalidValueError(
            "A is a Graph, which was made with lengths or none; give strengths to as_graph(..., strength=True) or to "
            "graph_from_edges(..., strength=...)"
        )
    if values.attribute is None or adapters.has_attributes(A):
        return
    if not (is_graph or adapters.is_adaptable(A)):
        _layout_of(A)  # raises the error of an object that is no matrix
    kind, argument = f"{type(A).__module__.partition('.')[0]}.{type(A).__name__}", values.argument
    raise InvalidTypeError(
        f"{argument}={values.attribute!r} names an edge attribute of a library's graph, but A is a {kind}; "
        f"pass {argument}=True to take its own values as {values.word}s"
    )


def _as_inverses(A: Any, names: Names | None) -> sparse.csr_array:
    """Return 1 / w for each strength w, duplicates summed first; the values of self loops are not checked."""
    from scipy import sparse

    _layout_of(A)
    rows, columns, values = _stored_entries(A.get() if is_cupy(A) else A)
    if values.dtype.kind not in "biuf":
        raise InvalidTypeError(f"A has dtype {A.dtype}; strengths are real numbers: pass A.astype(float)")
    edges = rows != columns
    ends = rows[edges], columns[edges]
    strengths = sparse.coo_array((values[edges].astype(np.float64), ends), shape=A.shape).tocsr()
    if (wrong := are_no_lengths(strengths.data)).any():
        instead = "Remove those entries or give them a strength; leaving out strength counts hops"
        raise _values_error(strengths, names, wrong, "strengths of A are not finite and > 0", instead)
    with np.errstate(over="ignore"):
        lengths = 1.0 / strengths.data
    if (wrong := lengths > LONGEST / max(A.shape[0], 1)).any():
        small = f"so small that a path of {A.shape[0]} edges of the length 1 / w is longer than float64 holds"
        instead = "Multiply all strengths by a large number"
        raise _values_error(strengths, names, wrong, f"strengths of A are {small}", instead)
    strengths.data = lengths
    return strengths


def _values_error(
    rows: Any, names: Names | None, wrong: NDArray[np.bool_], fault: str, instead: str
) -> InvalidValueError:
    """Make the error of wrong values in compressed rows; it names the first."""
    first = int(np.argmax(wrong))
    i = int(np.searchsorted(rows.indptr, first, side="right")) - 1
    return InvalidValueError(
        f"{np.count_nonzero(wrong)} of the {len(wrong)} {fault}, the first at "
        f"{edge_in_words(names, i, int(rows.indices[first]))}: {float(rows.data[first])}. {instead}"
    )


def _read_matrix(
    A: Any,
    names: Names | None,
    uploads: Callable[[bool], bool] | None,
    *,
    directed: bool,
    weighted: bool,
    copy: bool,
) -> Graph:
    layout, shape = _layout_of(A), A.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        table = _OF_COLUMNS if isinstance(A, np.ndarray) and len(shape) == 2 and shape[1] in (2, 3) else ""
        raise InvalidValueError(f"A has shape {shape}, but an adjacency matrix is square: n rows and n columns{table}")
    if A.dtype.kind == "O":
        raise InvalidTypeError("A has dtype object; convert it to a numeric or bool dtype first, e.g. A.astype(float)")
    if weighted and A.dtype.kind not in "biuf":
        raise InvalidTypeError(
            f"A has dtype {A.dtype}; lengths are real numbers: pass A.astype(float), or weighted=False"
        )
    if layout == _ON_DEVICE:
        return Graph.from_csr(_read_on_device(A, directed=directed, weighted=weighted), directed)
    is_large = layout in _UPLOADED and np.size(A.data) > tuning.HOST_EDGES
    if is_large and uploads is not None and uploads(weighted):
        csr = _read_uploaded(A, directed=directed, weighted=weighted)
        if csr is not None:
            return Graph.from_csr(csr, directed, uploaded=True)
    n, is_reversed, reverse = shape[0], layout == "csc", None
    if layout in ("csr", "csc"):
        stored = _stored_rows(A, n, weighted, copy)
        if (graph := Graph.surveyed(stored, directed, symmetric=is_reversed)) is not None:
            if weighted and graph.longest > LONGEST / max(n, 1):
                raise _too_long_error(n, graph.longest)
            return graph
        try:
            csr = host.canonical(n, *stored, index_type(n))
        except ValueError:
            raise _pointers_error(min(len(A.indices), len(A.data))) from None
        except IndexError:
            raise _outside_error(n) from None
    else:
        rows, columns, values = _stored_entries(A, copy=copy)
        rows, columns = (_readable(ends.astype(index_type(n), copy=False)) for ends in (rows, columns))
        csr = host.merged(*host.in_rows(n, rows, columns, _as_lengths(values) if weighted else None))
    if weighted:
        _require_lengths(n, csr, names, is_reversed=is_reversed)
    if not directed:
        csr = host.both_ways(n, *csr)
    elif is_reversed:
        csr, reverse = host.reverse_of(n, *csr) or csr, csr
    return Graph.surveyed(csr, directed) or Graph.from_csr(csr, directed, reverse)


def _stored_rows(A: Any, n: int, weighted: bool, copy: bool) -> Csr:
    """Return the stored rows of a CSR matrix, or columns of a CSC matrix, without spare room.

    Arrays are copied before they are checked, as another thread may change the caller's at any time.
    """
    indptr, indices, data = A.indptr, A.indices, A.data
    is_formed = len(indptr) == n + 1 and indices.shape == data.shape == (len(indices),)
    if not (is_formed and indptr.dtype.kind == indices.dtype.kind == "i"):
        _require_consistent(A)
        A = check_format(A)
        indptr, indices, data = A.indptr, A.indices, A.data
    indptr = indptr.astype(np.int64)
    stored = int(indptr[-1])
    kind = indices.dtype if indices.dtype in _INDEX_TYPES else np.int64
    indices = indices[:stored].astype(kind, copy=copy)
    if not copy:
        indices = _readable(indices)
    lengths = _as_lengths(data[:stored], copy=copy) if weighted else None
    if indptr[0] != 0 or not len(indices) == stored == (stored if lengths is None else len(lengths)):
        raise _pointers_error(min(len(A.indices), len(A.data)))
    return indptr, indices, lengths


def _readable(array: Any) -> Any:
    """Return an array contiguous and aligned, as compiled functions take it; a copy unless it is so."""
    return array if array.flags.c_contiguous and array.flags.aligned else np.require(array, requirements=["C", "A"])


def _read_on_device(A: Any, *, directed: bool, weighted: bool) -> Csr:
    """Check a CuPy matrix, or a SciPy matrix for which `can_upload` holds, on the device."""
    from lagbc.graph.device import ops as device

    n = A.shape[0]
    found = device.entries_of(A if A.format in ("csr", "csc") else _without_padding(A))
    if found is None:
        raise _pointers_error(min(len(A.indices), len(A.data)))
    entries, values = found
    if weighted:
        entries = entries._replace(lengths=device.uploaded(_as_lengths(values)))
    csr = device.canonical(entries)
    if csr is None:
        raise _outside_error(n)
    if weighted:
        invalid, longest = device.check_lengths(csr[2])
        if invalid:
            raise _no_length_error(tuple(map(as_numpy, csr)))
        if longest > LONGEST / max(n, 1):
            raise _too_long_error(n, longest)
    del entries, found  # memory for both ways
    return csr if directed else device.both_ways(n, *csr)


def _read_uploaded(A: Any, *, directed: bool, weighted: bool) -> Csr | None:
    """Check a SciPy matrix on the device; None if it cannot be uploaded, fails a check, or does not fit."""
    from lagbc.graph.device.ops import can_upload

    if not can_upload(A):
        return None
    try:
        return _read_on_device(A, directed=directed, weighted=weighted)
    except (ValueError, MemoryError):
        return None


def stored_loops(A: Any) -> Any:
    """Return the vertices whose self loops `A` stores, ascending; `as_graph` has checked `A`."""
    if isinstance(A, Graph):
        return np.empty(0, np.int64)
    A = A.get() if is_cupy(A) else A
    A = adapters.to_matrix(A) if adapters.is_adaptable(A) else A
    if is_sparse(A) and A.format in ("csr", "csc"):
        indptr, columns, _ = _stored_rows(A, A.shape[0], weighted=False, copy=False)
        if (np.diff(indptr) < 0).any():  # another thread has changed it since
            raise _pointers_error(len(columns))
        return host.loops_of(indptr, columns)
    rows, columns, _ = _stored_entries(A)
    return np.unique(rows[rows == columns])


def is_cupy(A: Any) -> bool:
    """Whether `A` is a CuPy sparse matrix."""
    return type(A).__module__.startswith("cupyx.") and hasattr(A, "get")


def _layout_of(A: Any) -> str:
    """Return the format of a sparse matrix, or the kind of another; InvalidTypeError for all that is no matrix."""
    refuse_masked("A", A, "pass A.filled(0), in which a masked entry is no edge")
    if is_sparse(A):
        return str(A.format)
    if isinstance(A, np.ndarray):
        return _DENSE
    if is_cupy(A):
        return _ON_DEVICE
    kind = f"{type(A).__module__}.{type(A).__qualname__}"
    if isinstance(A, str):
        raise InvalidTypeError(f"A is the string {A!r}; to read a graph file, pass lagbc.read_graph({A!r})")
    if hasattr(A, "__arrow_c_stream__"):
        raise InvalidTypeError(
            f"A is a {kind}; of a table of edges lagbc.graph_from_edges(table, directed=...) makes a graph"
        )
    raise InvalidTypeError(
        f"A is a {kind}; lagbc takes a SciPy sparse array, a 2-D numpy.ndarray, a pandas data frame with names, or a "
        f"graph of NetworkX, igraph, rustworkx, NetworKit, graph-tool or graphblas{_OF_COLUMNS}"
    )


def _stored_entries(A: Any, *, copy: bool = True) -> tuple[Any, Any, Any]:
    """Return rows, columns and values of the stored entries, on the host; arrays are copied before they are checked."""
    if isinstance(A, np.ndarray):
        A = np.asarray(A)  # parts of a np.matrix stay two-dimensional
        rows, columns = np.nonzero(_dense_pattern(A))
        return rows, columns, A[rows, columns]
    if A.format in ("csr", "csc", "bsr"):
        A = shallow_copy(A)
        A.indptr, A.indices, A.data = (np.array(array) for array in (A.indptr, A.indices, A.data))
        _require_consistent(A)
        A = check_format(A)
    coo = _without_padding(A)
    rows, columns, values = coo.row, coo.col, coo.data
    if copy and A.format == "coo":
        rows, columns, values = (np.array(array) for array in (rows, columns, values))
    if not len(rows) == len(columns) == len(values):
        raise InvalidValueError(f"A has {len(rows)} rows, {len(columns)} columns and {len(values)} values of entries")
    if len(rows) and (min(rows.min(), columns.min()) < 0 or max(rows.max(), columns.max()) >= A.shape[0]):
        raise _outside_error(A.shape[0])
    return rows, columns, values


def _without_padding(A: Any) -> Any:
    """Return the entries of `A` as a COO matrix, without the padding zeros of its format."""
    if A.format == "dia" and A.offsets.dtype.kind not in "iu":
        raise InvalidTypeError(f"A.offsets has dtype {A.offsets.dtype}; numbers of diagonals are integers")
    coo = A.tocoo()
    if A.format not in ("dia", "bsr"):
        return coo
    stored = coo.data != 0
    return type(coo)((coo.data[stored], (coo.row[stored], coo.col[stored])), shape=coo.shape)


def check_format(A: Any, name: str = "A") -> Any:
    """Have SciPy check a shallow copy, whose index arrays it prunes and recasts; return the copy."""
    A = shallow_copy(A)
    try:
        A.check_format(full_check=True)
    except ValueError as error:
        raise InvalidValueError(f"the arrays of {name} are inconsistent: {error}") from error
    return A


def _outside_error(n: int) -> InvalidValueError:
    return InvalidValueError(f"A stores an index outside 0..{n - 1}; its index arrays are inconsistent")


def _require_consistent(A: Any) -> None:
    """Check the index arrays of compressed rows: SciPy's check passes a last pointer of 0, and rounds indices."""
    indptr, stored = A.indptr, min(len(A.indices), len(A.data))
    for name, array in (("indptr", indptr), ("indices", A.indices)):
        if array.dtype.kind not in "iu":
            raise InvalidTypeError(f"A.{name} has dtype {array.dtype}; indices are integers")
    if not len(indptr) or indptr[0] != 0 or indptr[-1] > stored or np.count_nonzero(indptr[1:] < indptr[:-1]):
        raise _pointers_error(stored)


def _pointers_error(stored: int) -> InvalidValueError:
    return InvalidValueError(f"A.indptr does not rise from 0 to at most {stored}, the number of stored indices")


def _as_lengths(values: Any, *, copy: bool = False) -> Any:
    if values.dtype.kind in "iu" and len(values) and int(values.max()) > EXACT_INTEGERS:
        raise InvalidValueError(
            f"an edge has the integer length {values.max()}, above 2**53, which float64 does not hold exactly; "
            "pass floats to take the nearest float64 of each, or a larger unit of length"
        )
    return _readable(values.astype(np.float64, copy=copy)) if isinstance(values, np.ndarray) else values.astype(float)


def _require_lengths(n: int, csr: Csr, names: Names | None, *, is_reversed: bool) -> None:
    """Raise ValueError if a length is not finite and > 0, or a path could be too long; reversed, rows are columns."""
    lengths = csr[2]
    if not len(lengths):
        return
    # A NaN fails both comparisons.
    shortest, longest = float(lengths.min()), float(lengths.max())
    if not (shortest > 0 and longest < np.inf):
        rows = host.transposed(n, *csr) if is_reversed else csr
        raise _no_length_error(rows, names)
    if longest > LONGEST / n:
        raise _too_long_error(n, longest)


def _no_length_error(csr: Csr | tuple[Any, ...], names: Names | None = None) -> InvalidValueError:
    rows = Rows(*csr)
    wrong = are_no_lengths(rows.data)
    otherwise = "Remove those entries or give them a length; for strengths w pass strength=True"
    instead = f"{LENGTHS.advice(rows.data[wrong], otherwise)}; weighted=False counts hops"
    return _values_error(rows, names, wrong, "lengths of A are not finite and > 0", instead)


def _too_long_error(n: int, longest: float) -> InvalidValueError:
    return InvalidValueError(
        f"an edge has the length {longest}; a path of {n} such edges is longer than float64 holds; "
        "use a larger unit of length"
    )


def _dense_pattern(A: NDArray[Any]) -> NDArray[np.bool_]:
    invalid = ~np.isfinite(A) if A.dtype.kind in "fc" else np.zeros(A.shape, np.bool_)
    if invalid.any():
        i, j = np.argwhere(invalid)[0].tolist()
        raise InvalidValueError(
            f"dense A holds {np.count_nonzero(invalid)} NaN or infinite values, the first at ({i}, {j}); "
            "write 0 where there is no edge"
        )
    if A.dtype.kind not in "biufc":
        raise InvalidTypeError(f"dense A has dtype {A.dtype}; lagbc takes bool, integer, float or complex")
    pattern: NDArray[np.bool_] = A != 0
    return pattern
