"""Numbers beside scores: standard errors of estimates from random roots, and trips that no path takes.

Standard errors are made of smaller estimates. Sums of squares, as for `lagbc.estimate`, would cost less, but there are
none of stress, within cutoffs, with endpoints, in float32, by methods kept for comparison, nor of a graph whose roots
are merged; and closeness is a quotient of two sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.call import sum_request
from lagbc.calls import stopping_by
from lagbc.demand import origins, parse_demand
from lagbc.errors import InvalidValueError
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods.sums import Bounds, shifts_of_rows
from lagbc.options import Settings
from lagbc.request import Request, parse_bounds

# The number of smaller estimates, which tells the error to a quarter, and the most roots of each, a batch.
GROUPS, _MOST_ROOTS = 10, 64
# So many smaller estimates have to score a vertex: of one or two the error comes out a third to a fifth too small.
FEWEST = 3
# A smaller part of the trips of an origin is a rounding error.
_ROUNDING = 2.0**-40

Estimates = dict[str, NDArray[np.float64]]
Call = TypeVar("Call")


def standard_errors(
    draw: Callable[[int, np.random.Generator], Call],
    estimate: Callable[[Call], Estimates],
    n: int,
    k: int,
    rng: int | np.random.Generator | None,
    side_by_side: int = 1,
    report: Callable[[int], object] = lambda done: None,
) -> Estimates:
    """Return the standard errors of an estimate from k of n roots, 2 <= k < n, by ten smaller estimates from m roots.

    ``draw(m, generator)`` makes a call from m roots, `estimate` carries it out; `side_by_side` of them run at a time. A
    seed `rng` makes another seed for them, a generator goes on drawing. `report` gets the number of roots done. Errors
    are NaN where fewer than `FEWEST` of them are other than 0.

    The mean of m of n values, drawn without repeats, has the variance s^2 (1/m - 1/n). The smaller estimates tell it,
    and that from k roots has (1/k - 1/n) / (1/m - 1/n) times as much.
    """
    m = roots_of_group(k)
    generator = (
        rng if isinstance(rng, np.random.Generator) else np.random.default_rng(None if rng is None else [rng, 1])
    )
    estimates = list[Estimates]()
    for one in _carried_out(estimate, (draw(m, generator) for _ in range(GROUPS)), side_by_side):
        estimates.append(one)
        report(m * len(estimates))
    factor = (1 / k - 1 / n) / (1 / m - 1 / n)
    return {name: _spread(np.array([one[name] for one in estimates]), factor) for name in estimates[0]}


def _carried_out(
    estimate: Callable[[Call], Estimates], calls: Iterator[Call], side_by_side: int
) -> Iterator[Estimates]:
    """Yield the estimates of calls, in order."""
    if side_by_side == 1:
        yield from map(estimate, calls)
        return
    from lagbc.native.pool import Pool

    ended = Event()
    with Pool(side_by_side) as pool, stopping_by(ended.is_set):
        try:
            for _, one in pool.in_order(estimate, calls):
                yield one
        finally:
            ended.set()


def _spread(estimates: NDArray[np.float64], factor: float) -> NDArray[np.float64]:
    """Return the root of `factor` times the variance of estimates, NaN where too few of them are not 0."""
    with np.errstate(invalid="ignore"):  # an infinite radius has no error
        errors: NDArray[np.float64] = np.sqrt(estimates.var(axis=0, ddof=1) * factor)
    errors[np.count_nonzero(estimates, axis=0) < FEWEST] = np.nan
    return errors


def roots_of_group(k: int) -> int:
    """Return the roots of a smaller estimate, at least 2: one root tells nothing of its own score."""
    return max(2, min(k // GROUPS, _MOST_ROOTS))


def require_estimate(k: int | None, *, log2: bool) -> None:
    """Raise ValueError if the scores of a call have no standard error."""
    if k is None or k < 2:
        raise InvalidValueError("standard_error=True is that of an estimate: pass k, at least 2, or leave it out")
    if log2:
        raise InvalidValueError(
            "standard_error=True does not go with log2, as logarithms of estimates have none; leave out one"
        )


class Unassigned(NamedTuple):
    """Trips that no path takes."""

    of: float  # all trips between different vertices
    sums: NDArray[np.float64]  # unassigned trips for each cutoff, (C,), or (1,) without cutoffs
    cutoffs: NDArray[np.float64] | None

    def __str__(self) -> str:
        trips = ", ".join(f"{trips:.6g}" for trips in self.sums)
        cutoffs = "" if self.cutoffs is None else ", ".join(f"{cutoff:g}" for cutoff in self.cutoffs)
        within = f" within the cutoff {cutoffs}" if cutoffs else ""
        return f"{trips} of {self.of:.6g} trips are not assigned: no path{within} leads to their ends"


def unassigned_trips(graph: Graph, demand: Any, cutoff: ArrayLike | None, settings: Settings) -> Unassigned:
    """Sum the unassigned trips, by a search from each origin that counts no paths.

    Without cutoffs a strong component becomes one vertex, as all its vertices have paths to each other; then an
    undirected graph needs no search.
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
    """Return graph and demand with a vertex for each strong component, without the trips inside."""
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
    # A sweep does not scale weights of 1 and more. Rows that are beyond scaling are clipped, and counted roughly.
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
    )
    found = sum_request(graph, request, own).sums.targets
    given = scaled.sum(axis=1)[:, None]
    missing = np.where(found < given * (1 - _ROUNDING), given - found, 0.0)
    return np.ldexp(missing, shifts[:, None]).sum(axis=0)
