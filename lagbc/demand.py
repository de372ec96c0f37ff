"""Trips between pairs of vertices: read, and spread out to the target weights of the roots of a batch.

A demand D has a row of trips for each root s: D[s, t] targets stand at t, for this root alone. It stays sparse; only
the columns of one batch are laid out in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidTypeError, InvalidValueError
from lagbc.graph.given import column_of, is_sparse, reals_of, refuse_masked, require_reals
from lagbc.graph.graph import Graph
from lagbc.graph.names import Names, in_words, numbers_of, parse_numbers
from lagbc.graph.validate import check_format
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import shifts_of_rows

if TYPE_CHECKING:
    from scipy import sparse

# Bytes for a vertex and column: the weight, its copy in a method's rows, two more while it is scaled, and a flag.
_BYTES_PER_WEIGHT = 4 * 8 + 1


def parse_demand(n: int, demand: Any, names: Names | None = None) -> sparse.csr_array:
    """Return trips as rows of their origins, in canonical form and without the diagonal and zeros.

    The demand, as in `lagbc.bc`, is not changed; entries at one place are summed. TypeError refuses another form or
    numbers that are not real; ValueError another shape, an unknown vertex, or a value off the diagonal that is not
    finite and >= 0.
    """
    from scipy import sparse

    demand = _matrix_of(demand, n, names)
    refuse_masked("demand", demand, "pass demand.filled(0), in which nobody travels where an entry was masked")
    if demand.shape != (n, n):
        raise InvalidValueError(
            f"demand has shape {demand.shape}; it is a number of trips a pair of vertices, ({n}, {n})"
        )
    require_reals("demand", demand)
    if is_sparse(demand) and demand.format in ("csr", "csc", "bsr"):
        check_format(demand, "demand")
    entries = sparse.coo_array(demand)
    is_trip = entries.row != entries.col
    values = entries.data[is_trip].astype(np.float64)
    trips = sparse.coo_array((values, (entries.row[is_trip], entries.col[is_trip])), shape=(n, n)).tocsr()
    _require_trips(trips, names)
    trips.eliminate_zeros()
    trips.sort_indices()
    return trips


def _matrix_of(demand: Any, n: int, names: Names | None) -> Any:
    """Return a demand as a matrix of SciPy or NumPy in the order of the vertices; such a matrix passes unchecked."""
    from scipy import sparse

    if type(demand).__module__.partition(".")[0] in ("cupy", "cupyx") and hasattr(demand, "get"):
        return demand.get()
    if sparse.issparse(demand) or isinstance(demand, np.ndarray):
        return demand
    if isinstance(demand, Mapping):
        return _of_mappings(demand, n, names)
    if isinstance(demand, tuple) and len(demand) == 2:
        called, matrix = demand
        return _of_names(called, called, matrix, n, names)
    from lagbc.io.edges import is_frame, is_table  # not loaded for a matrix

    if is_table(demand):
        return _of_frame(demand, n, names) if is_frame(demand) else _of_table(demand, n, names)
    raise InvalidTypeError(
        f"demand is a {type(demand).__qualname__}; it is a sparse matrix of SciPy or CuPy or a dense 2-D ndarray, of "
        f"shape ({n}, {n}), a pair of names and such a matrix, a table of origins, destinations and trips, or a "
        "dict of dicts"
    )


def _of_mappings(demand: Mapping[Any, Any], n: int, names: Names | None) -> sparse.coo_array:
    for origin, row in demand.items():
        if not isinstance(row, Mapping):
            raise InvalidTypeError(f"demand[{origin!r}] is {row!r}; it is a dict of destinations and their trips")
    tails = [origin for origin, row in demand.items() for _ in row]
    heads = [destination for row in demand.values() for destination in row]
    trips = [number for row in demand.values() for number in row.values()]
    return _laid_out(
        ("demand (origins)", "demand (destinations)", "demand (trips)"), tails, heads, trips, n=n, names=names
    )


def _of_frame(frame: Any, n: int, names: Names | None) -> sparse.coo_array:
    """Read a data frame of pandas: a table of trips, or a matrix whose index and columns are vertices."""
    from lagbc.io.layout import TITLES_OF_TRIPS, TRIPS, plain_titles

    titles = list(frame.columns)
    has_trips = any(title in TRIPS.values for title in plain_titles([str(title).encode() for title in titles]))
    if has_trips and not frame.index.equals(frame.columns):
        return _of_table(frame, n, names)
    try:
        return _of_names(list(frame.index), titles, frame.to_numpy(), n, names)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{error} (a data frame without {TITLES_OF_TRIPS}, is a matrix of trips, whose index and columns are "
            "vertices)"
        ) from None


def _of_table(given: Any, n: int, names: Names | None) -> sparse.coo_array:
    """Read a table of trips, whose columns are told by their titles."""
    from scipy import sparse

    from lagbc.io.edges import EdgeTable, is_frame
    from lagbc.io.layout import TRIPS, Columns

    table = EdgeTable("demand", given, Columns(), TRIPS)
    if is_frame(given):  # of pandas vertices may have any names, such as tuples
        called = [*map(str, table.titles)]
        columns = map(column_of, called, (given.iloc[:, place] for place in table.places))
        return _laid_out(called, *columns, n=n, names=names)
    labels, tails, heads, trips = table.edges().numbered()
    assert trips is not None
    vertices = _vertices("demand", labels, n, names)
    return sparse.coo_array((trips.astype(np.float64), (vertices[tails], vertices[heads])), shape=(n, n))


def _of_names(origins: Any, destinations: Any, matrix: Any, n: int, names: Names | None) -> sparse.coo_array:
    """Put the rows and columns of a matrix over some vertices in the order of all vertices."""
    from scipy import sparse

    refuse_masked("demand", matrix)
    if not (sparse.issparse(matrix) or isinstance(matrix, np.ndarray)) or matrix.ndim != 2:
        raise InvalidTypeError(f"demand has a {type(matrix).__qualname__} for a matrix; it is one of SciPy or NumPy")
    rows = _vertices("demand (origins)", origins, n, names)
    columns = _vertices("demand (destinations)", destinations, n, names)
    if matrix.shape != (len(rows), len(columns)):
        raise InvalidValueError(
            f"demand has a matrix of shape {matrix.shape} for {len(rows)} names of origins and {len(columns)} of "
            "destinations"
        )
    for what, numbers in (("origins", rows), ("destinations", columns)):
        if len(np.unique(numbers)) < len(numbers):
            raise InvalidValueError(f"the {what} of demand name a vertex twice; add up its trips")
    require_reals("demand", matrix)
    entries = sparse.coo_array(matrix)
    return sparse.coo_array((entries.data, (rows[entries.row], columns[entries.col])), shape=(n, n))


def _laid_out(
    called: Iterable[str], tails: Any, heads: Any, trips: Any, *, n: int, names: Names | None
) -> sparse.coo_array:
    """Make a matrix of lists of origins, destinations and trips; `called` has their names for messages."""
    from scipy import sparse

    of_tails, of_heads, of_trips = called
    ends = _vertices(of_tails, tails, n, names), _vertices(of_heads, heads, n, names)
    return sparse.coo_array((reals_of(of_trips, trips).astype(np.float64), ends), shape=(n, n))


def _vertices(what: str, given: Any, n: int, names: Names | None) -> NDArray[np.int64]:
    """Return the numbers of vertices, repeated ones too."""
    return parse_numbers(what, n, numbers_of(what, names, given))


def _require_trips(trips: sparse.csr_array, names: Names | None) -> None:
    invalid = ~(np.isfinite(trips.data) & (trips.data >= 0))
    if invalid.any():
        first = int(np.argmax(invalid))
        origin = int(np.searchsorted(trips.indptr, first, side="right")) - 1
        raise InvalidValueError(
            f"demand holds {np.count_nonzero(invalid)} values that are not finite and >= 0, "
            f"the first from {in_words(names, origin)} to {in_words(names, int(trips.indices[first]))}: "
            f"{trips.data[first]}"
        )


def origins(demand: sparse.csr_array) -> NDArray[np.int64]:
    """Return the vertices at which trips begin, ascending."""
    return np.flatnonzero(np.diff(demand.indptr))


def weights_of_columns(demand: sparse.csr_array, graph: Graph, roots: NDArray[np.int64], arrays: Any) -> Any:
    """Lay out the trips of some roots as target weights: a float64 array of NumPy or CuPy, a column a root.

    Rows are the vertices with edges, in sweep order; no path leads to the others. A root of -1 has no trips.
    """
    present = np.flatnonzero(roots >= 0)
    trips = demand[roots[present]]
    columns, rows = np.repeat(present, np.diff(trips.indptr)), graph.position[trips.indices]
    has_edges = rows < graph.active
    omega = arrays.zeros((graph.active, len(roots)))
    at = (arrays.asarray(part[has_edges]) for part in (rows, columns))
    omega[tuple(at)] = arrays.asarray(trips.data[has_edges])
    return omega


def weights_of_root(demand: sparse.csr_array, root: int) -> NDArray[np.float64]:
    """Lay out the trips of one root, in matrix order, shape (n,)."""
    omega = np.zeros(demand.shape[1])
    row = slice(demand.indptr[root], demand.indptr[root + 1])
    omega[demand.indices[row]] = demand.data[row]
    return omega


def plan_of_root(plan: SweepPlan, root: int) -> SweepPlan:
    """Return the plan of one root: its trips become the weights of all targets."""
    demand = plan.demand
    return plan if demand is None else replace(plan, omega=weights_of_root(demand, root), demand=None)


def without_far_apart(demand: sparse.csr_array) -> tuple[sparse.csr_array, NDArray[np.bool_]]:
    """Leave out the trips of roots that no scale brings into range; also return these roots as a mask, shape (n,).

    `lagbc.methods.sums` scales each column by itself, and refuses columns without such a scale.
    """
    from scipy import sparse

    _, beyond = shifts_of_rows(demand.indptr, demand.data)
    if not beyond.any():
        return demand, beyond
    kept = np.where(np.repeat(beyond, np.diff(demand.indptr)), 0, demand.data)
    return sparse.csr_array((kept, demand.indices, demand.indptr), shape=demand.shape), beyond


def demand_bytes(demand: sparse.csr_array, batch: int, workers: int) -> int:
    """Bound the bytes of a demand: the trips, twice where some are left out, and each worker's columns."""
    trips = 2 * demand.data.nbytes + demand.indices.nbytes + demand.indptr.nbytes
    return int(trips + workers * batch * demand.shape[0] * _BYTES_PER_WEIGHT)
