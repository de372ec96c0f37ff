"""Trips that no path takes: those between vertices without one, and those beyond a cutoff."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.call import sum_request
from lagbc.demand import origins, parse_demand
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods.sums import Bounds
from lagbc.methods.targets import shifts_of_rows
from lagbc.options import Settings
from lagbc.request import Request, parse_bounds

# Of the trips of an origin, a smaller part is rounding.
_ROUNDING = 2.0**-40


class Unassigned(NamedTuple):
    """The sum of trips between different vertices, and of those of them that are not assigned, for each cutoff."""

    of: float
    sums: NDArray[np.float64]  # (C,), or (1,) without cutoffs
    cutoffs: NDArray[np.float64] | None

    def __str__(self) -> str:
        trips = ", ".join(f"{trips:.6g}" for trips in self.sums)
        cutoffs = "" if self.cutoffs is None else ", ".join(f"{cutoff:g}" for cutoff in self.cutoffs)
        within = f" within the cutoff {cutoffs}" if cutoffs else ""
        return f"{trips} of {self.of:.6g} trips are not assigned: no path{within} leads to their ends"


def unassigned_trips(graph: Graph, demand: Any, cutoff: ArrayLike | None, settings: Settings) -> Unassigned:
    """Sum the trips that are not assigned, by one search from their origins, without counts of paths.

    Without cutoffs a strong component is a vertex, as there is a path between all vertices of one, and an undirected
    graph is not searched.
    """
    graph, demand = graph.on_host, parse_demand(graph.n, demand, graph.names)
    total, bounds = float(demand.data.sum()), parse_bounds(frozenset({"targets"}), cutoff, None)
    assert bounds is not None
    if cutoff is None:
        graph, demand = _contracted(graph, demand)
        if not graph.directed or not demand.nnz:
            return Unassigned(total, np.array([demand.data.sum()]), None)
    return Unassigned(total, _not_reached(graph, demand, bounds, settings), None if cutoff is None else bounds.cutoffs)


def _contracted(graph: Graph, demand: Any) -> tuple[Graph, Any]:
    """Make each strong component a vertex, and leave out the trips inside."""
    from scipy import sparse
    from scipy.sparse import csgraph

    edges = sparse.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=demand.shape)
    count, component = csgraph.connected_components(edges, directed=graph.directed, connection="strong")

    def between(matrix: Any) -> Any:
        entries = matrix.tocoo()
        ends = component[entries.row], component[entries.col]
        return sparse.csr_array((entries.data * (ends[0] != ends[1]), ends), shape=(count, count))

    return as_graph(between(edges), directed=graph.directed), parse_demand(count, between(demand))


def _not_reached(graph: Graph, demand: Any, bounds: Bounds, settings: Settings) -> NDArray[np.float64]:
    """Sum the trips beyond each cutoff."""
    # Of trips that are scaled up to 1 a sweep is given no other scale; those that no scale takes are counted roughly.
    shifts, _ = shifts_of_rows(demand.indptr, demand.data)
    scaled = demand.copy()
    scaled.data = np.clip(np.ldexp(demand.data, -np.repeat(shifts, np.diff(demand.indptr))), 1.0, 2.0**899)
    request = Request(frozenset({"targets"}), origins(demand), demand=scaled, bounds=bounds)
    own = settings._replace(
        batch=None,
        method="auto",
        device="cpu",
        devices=None,
        dtype="float64",
        bucket_width=None,
        progress=False,
        checkpoint=None,
        executor=None,
        comm=None,
        of_some_methods={},
    )
    found = sum_request(graph, request, own).sums.targets
    given = scaled.sum(axis=1)[:, None]
    missing = np.where(found < given * (1 - _ROUNDING), given - found, 0.0)
    sums: NDArray[np.float64] = np.ldexp(missing, shifts[:, None]).sum(axis=0)
    return sums
