"""Trips between pairs of vertices: read, and spread out to the target weights of the roots of a batch.

A demand D has a row of trips for each root s: D[s, t] targets stand at t, for this root alone. It stays sparse; only
the columns of one batch are laid out in full.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError
from lagbc.graph.given import refuse_masked, require_reals
from lagbc.graph.graph import Graph
from lagbc.graph.names import Names, in_words
from lagbc.graph.plain import is_sparse
from lagbc.graph.validate import check_format
from lagbc.methods.contract import SweepPlan
from lagbc.methods.targets import shifts_of_rows

if TYPE_CHECKING:
    from scipy import sparse

# Of a target weight of a vertex and column: itself, its copy in a method's rows, two while it is scaled, and a flag.
_BYTES_PER_WEIGHT = 4 * 8 + 1


def parse_demand(n: int, demand: Any, names: Names | None = None) -> sparse.csr_array:
    """Return trips as rows of their origins, in canonical form and without the diagonal and zeros.

    Parameters
    ----------
    n : int
        Number of vertices.
    demand : matrix, data frame, mapping of mappings, or pair of names and a matrix
        As `lagbc.bc` has it. Entries at one place are summed. It is not changed.
    names : sequence, or None
        What the vertices are called.

    Raises
    ------
    TypeError
        It is none of these, or not of real numbers.
    ValueError
        It has another shape or names what is no vertex, or a value off the diagonal is not finite and >= 0.
    """
    from scipy import sparse

    from lagbc.plan.trips import matrix_of

    demand = matrix_of(demand, n, names)
    refuse_masked("demand", demand, "pass demand.filled(0), in which nobody travels where an entry was masked")
    if demand.shape != (n, n):
        raise InvalidValueError(
            f"demand has shape {demand.shape}; it is a number of trips a pair of vertices, ({n}, {n})"
        )
    require_reals("demand", demand)
    if is_sparse(demand) and demand.format in ("csr", "csc", "bsr"):
        try:
            check_format(demand)
        except ValueError as error:
            raise InvalidValueError(f"demand: {error}") from error
    entries = sparse.coo_array(demand)
    is_trip = entries.row != entries.col
    values = entries.data[is_trip].astype(np.float64)
    trips = sparse.coo_array((values, (entries.row[is_trip], entries.col[is_trip])), shape=(n, n)).tocsr()
    _require_trips(trips, names)
    trips.eliminate_zeros()
    trips.sort_indices()
    return trips


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
    """Vertices that trips begin at, ascending."""
    return np.flatnonzero(np.diff(demand.indptr))


def weights_of_columns(demand: sparse.csr_array, graph: Graph, roots: NDArray[np.int64], arrays: Any) -> Any:
    """Lay out the trips of some roots as target weights.

    Parameters
    ----------
    demand : csr_array of float64, shape (n, n)
    graph : Graph
    roots : ndarray of int64
        A column each; one of -1 has no trips.
    arrays : module
        numpy or cupy.

    Returns
    -------
    omega : array of float64, shape (graph.active, len(roots))
        Rows are the vertices that have edges, in sweep order; no path leads to the others.
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
    """Return the plan of one root, whose trips are the weights of all targets."""
    demand = plan.demand
    return plan if demand is None else replace(plan, omega=weights_of_root(demand, root), demand=None)


def without_far_apart(demand: sparse.csr_array) -> tuple[sparse.csr_array, NDArray[np.bool_]]:
    """Leave out the trips of roots that no scale brings into range; also say which roots these are, shape (n,).

    `lagbc.methods.targets` scales each column by itself, and refuses such a one.
    """
    from scipy import sparse

    _, beyond = shifts_of_rows(demand.indptr, demand.data)
    if not beyond.any():
        return demand, beyond
    kept = np.where(np.repeat(beyond, np.diff(demand.indptr)), 0, demand.data)
    return sparse.csr_array((kept, demand.indices, demand.indptr), shape=demand.shape), beyond


def demand_bytes(demand: sparse.csr_array, batch: int, workers: int) -> int:
    """Bound the bytes that a demand takes: the trips, twice where some are left out, and each worker's columns."""
    trips = 2 * demand.data.nbytes + demand.indices.nbytes + demand.indptr.nbytes
    return int(trips + workers * batch * demand.shape[0] * _BYTES_PER_WEIGHT)
