"""The checks of the caller's matrix, all of them: what passes here is validated once, and never again."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lagbc.graph import adapters
from lagbc.graph.csr import both_ways, from_entries, module_of
from lagbc.graph.graph import Graph
from lagbc.types import GraphLike

# float64 holds all integers up to here.
EXACT_INTEGERS = 2**53


def as_graph(A: GraphLike, *, directed: bool | None = None, weighted: bool | str = False) -> Graph:
    """Validate a matrix and take its pattern, and if asked for its values as lengths.

    Parameters
    ----------
    A : SciPy sparse array or matrix of any format, or dense 2-D ndarray; shape (n, n)
        ``A[i, j]`` stored is the edge i -> j. A stored zero is an edge, except in the DIA and BSR formats, which store
        zeros as padding. In a dense array the nonzeros are the edges. Values are not read otherwise; self loops are
        dropped and duplicates merged. `A` is not changed. A networkx.Graph (vertices in the order of ``list(A)``), an
        igraph.Graph, a graphblas.Matrix, or what `lagbc.read_graph` returns is read as it is.
    directed : bool, optional
        False takes every edge in both directions. None takes what a graph says of itself; True for a matrix.
    weighted : bool or str
        Take the values as lengths: finite and > 0. Duplicates are summed, as SciPy does; of two directions that
        `directed` joins the smaller length counts, and of parallel edges of a graph the smallest. Of a NetworkX or
        igraph graph, True takes the edge attribute "weight", and a string the attribute of that name.

    Returns
    -------
    Graph
        `A` itself if it is a `Graph`; its `directed` and `weighted` must be those asked for.

    Raises
    ------
    TypeError
        `A` is not a matrix or graph that lagbc reads, has object dtype, or is weighted and complex; `directed` is no
        bool, or `weighted` neither bool nor str, or names an attribute of what has none.
    ValueError
        `A` is not square, its index arrays are inconsistent, a dense `A` holds NaN or infinity, or `A` is weighted and
        holds a value that is no length, or no edge of the graph has the attribute.

    Warns
    -----
    UserWarning
        Some edges of a NetworkX graph have not got the attribute; they count as 1, as in NetworkX.
    """
    if directed is None:
        directed = A.directed if isinstance(A, Graph) else adapters.is_directed(A)
    elif not isinstance(directed, bool | np.bool_):
        raise TypeError(f"directed={directed!r} is neither True nor False")
    if isinstance(weighted, np.bool_):
        weighted = bool(weighted)
    if not isinstance(weighted, bool | str):
        raise TypeError(f"weighted={weighted!r} is neither True nor False nor the name of an edge attribute")
    if isinstance(weighted, str) and not adapters.is_adaptable(A):
        if not isinstance(A, Graph):
            _require_matrix(A)
        raise adapters.refuse_attribute(A, weighted)
    if isinstance(A, Graph):
        if (A.directed, A.weighted) != (directed, weighted):
            raise ValueError(
                f"A is a Graph with directed={A.directed} and weighted={A.weighted}, but directed={directed} and "
                f"weighted={weighted} were asked for"
            )
        return A
    matrix = adapters.to_matrix(A, weighted=weighted) if adapters.is_adaptable(A) else A
    return _read(matrix, directed=directed, weighted=weighted is not False)


def _read(A: Any, *, directed: bool, weighted: bool) -> Graph:
    _require_matrix(A)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A has shape {A.shape}, but an adjacency matrix is square: n rows and n columns")
    if A.dtype == object:
        raise TypeError("A has dtype object; convert it to a numeric or bool dtype first, e.g. A.astype(float)")
    if weighted and A.dtype.kind not in "biuf":
        raise TypeError(f"A has dtype {A.dtype}; lengths are real numbers: pass A.astype(float), or weighted=False")
    n = A.shape[0]
    rows, columns, values = _stored_entries(A)
    lengths = _as_lengths(values) if weighted else None
    edge = rows != columns
    csr = from_entries(n, rows[edge], columns[edge], None if lengths is None else lengths[edge])
    if weighted:
        _require_lengths(*csr)
        _require_finite_paths(n, csr[2])
    if not directed:
        csr = both_ways(n, *csr)
    return Graph.from_csr(csr, directed)


def stored_loops(A: Any) -> Any:
    """Vertices whose self loop `A` stores, in ascending order; `A` is a matrix or graph that `as_graph` has taken."""
    if isinstance(A, Graph):
        return A.indices[:0]
    rows, columns, _ = _stored_entries(adapters.to_matrix(A) if adapters.is_adaptable(A) else A)
    return module_of(rows).unique(rows[rows == columns])


def is_cupy(A: Any) -> bool:
    """Whether `A` is a CuPy sparse matrix."""
    return type(A).__module__.startswith("cupyx.") and hasattr(A, "get")


def _require_matrix(A: Any) -> None:
    if isinstance(A, np.ma.MaskedArray):
        raise TypeError("A is a masked array; pass A.filled(0), in which a masked entry is no edge")
    if sparse.issparse(A) or isinstance(A, np.ndarray) or is_cupy(A):
        return
    kind = f"{type(A).__module__}.{type(A).__qualname__}"
    if isinstance(A, str):
        raise TypeError(f"A is the string {A!r}; to read a graph file, pass lagbc.read_graph({A!r})")
    raise TypeError(
        f"A is a {kind}; lagbc takes a SciPy sparse array or matrix, a dense 2-D numpy.ndarray, a networkx.Graph, an "
        "igraph.Graph or a graphblas.Matrix"
    )


def _stored_entries(A: Any) -> tuple[Any, Any, Any]:
    """Rows, columns and values of the stored entries."""
    if isinstance(A, np.ndarray):
        A = np.asarray(A)  # of a np.matrix, too, every part of which is two-dimensional
        rows, columns = np.nonzero(_dense_pattern(A))
        return rows, columns, A[rows, columns]
    if A.format in ("csr", "csc", "bsr"):
        _require_consistent(A)
    if A.format in ("csr", "csc", "bsr") and not is_cupy(A):
        # The check prunes and recasts the index arrays of what it checks.
        A = copy(A)
        A.check_format(full_check=True)
    coo = A.tocoo()
    rows, columns, values = coo.row, coo.col, coo.data
    if A.format in ("dia", "bsr"):
        rows, columns, values = (part[coo.data != 0] for part in (rows, columns, values))
    if len(rows) and (min(rows.min(), columns.min()) < 0 or max(rows.max(), columns.max()) >= A.shape[0]):
        raise ValueError(f"A stores an index outside 0..{A.shape[0] - 1}; its index arrays are inconsistent")
    return rows, columns, values


def _require_consistent(A: Any) -> None:
    """Check the pointers of compressed rows; SciPy's `check_format` does not where the last of them is 0."""
    indptr, stored = A.indptr, min(len(A.indices), len(A.data))
    if int(indptr[0]) != 0 or int(indptr[-1]) > stored or bool((indptr[1:] < indptr[:-1]).any()):
        raise ValueError(f"A.indptr does not rise from 0 to at most {stored}, the number of stored indices")


def _as_lengths(values: Any) -> Any:
    if values.dtype.kind in "iu" and len(values) and int(values.max()) > EXACT_INTEGERS:
        raise ValueError(
            f"A holds the integer length {values.max()}, above 2**53, which float64 does not hold exactly; "
            "pass A.astype(float) to take the nearest float64 of each, or a larger unit of length"
        )
    return values.astype(np.float64)


def _require_lengths(indptr: Any, indices: Any, lengths: Any) -> None:
    xp = module_of(lengths)
    invalid = ~(xp.isfinite(lengths) & (lengths > 0))
    if not invalid.any():
        return
    first = int(xp.argmax(invalid))
    i = int(xp.searchsorted(indptr, xp.asarray([first]), side="right")[0]) - 1
    raise ValueError(
        f"{int(invalid.sum())} of the {len(lengths)} lengths of A are not finite and > 0, the first at "
        f"({i}, {int(indices[first])}): {float(lengths[first])}. Remove those entries or give them a length; "
        "for strengths w pass 1 / w; weighted=False counts hops"
    )


def _require_finite_paths(n: int, lengths: Any) -> None:
    longest = float(lengths.max()) if len(lengths) else 0.0
    if longest > np.finfo(np.float64).max / max(n, 1):
        raise ValueError(
            f"A holds the length {longest}; a path of {n} such edges is longer than float64 holds; "
            "use a larger unit of length"
        )


def _dense_pattern(A: NDArray[Any]) -> NDArray[np.bool_]:
    invalid = ~np.isfinite(A) if A.dtype.kind in "fc" else np.zeros(A.shape, np.bool_)
    if invalid.any():
        i, j = np.argwhere(invalid)[0].tolist()
        raise ValueError(
            f"dense A holds {np.count_nonzero(invalid)} NaN or infinite values, the first at ({i}, {j}); "
            "write 0 where there is no edge"
        )
    if A.dtype.kind not in "biufc":
        raise TypeError(f"dense A has dtype {A.dtype}; lagbc takes bool, integer, float or complex")
    pattern: NDArray[np.bool_] = A != 0
    return pattern
