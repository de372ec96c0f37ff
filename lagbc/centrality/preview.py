"""The method and the memory of a call, without its run."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from functools import partial
from typing import SupportsIndex, Unpack

import numpy as np
from numpy.typing import ArrayLike

from lagbc.centrality.arguments import Arguments, Read
from lagbc.centrality.compute import Asked, find_all, keywords_of, plan_call, resumed_by
from lagbc.centrality.registry import all_sums, require_taken
from lagbc.errors import InvalidTypeError, InvalidValueError
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.plan.choose import Selection
from lagbc.plan.demand import origins, parse_demand
from lagbc.plan.devices import reading_gpu
from lagbc.plan.memory import MemoryEstimate
from lagbc.plan.options import Options, Settings, check_options, refuses_places
from lagbc.plan.plan import Plan, make_plan
from lagbc.plan.request import Request, parse_bounds
from lagbc.types import Auto, CentralityName, DemandLike, GraphLike

_OWN = ("roots", "which", "demand", "cutoff", "decay", "directed", "weighted", "strength")


def select_method(
    A: GraphLike,
    *,
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    roots: int | None = None,
    which: CentralityName | Iterable[CentralityName] = "bc",
    demand: DemandLike | None = None,
    cutoff: ArrayLike | None = None,
    decay: ArrayLike | None = None,
    **options: Unpack[Options],
) -> Selection:
    """Return the method that `bc`, or `centralities`, takes for a matrix, and the reason.

    Parameters
    ----------
    A, directed, weighted, strength : as for `lagbc.bc`
    roots : int, optional
        The number of roots, drawn at random, as `k` draws them; so many neighbours as roots may get another method. All
        vertices by default.
    which : str or several
        Names of centralities, as for `lagbc.centralities`.
    demand : as for `lagbc.bc`, optional
        Its origins are the roots, and `roots` does not go with it.
    cutoff, decay : as for `lagbc.bc`, optional
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    Selection
        ``.method`` is a row of `lagbc.METHODS`, ``.reason`` a sentence, with the predicted costs a root if there was a
        choice: of a whole call, on the CPU by one thread.

    Raises
    ------
    ValueError
        No row has that name, device and weights; the message lists all rows. Or there are fewer vertices than `roots`.
    MissingDependencyError
        The row needs a library that is not installed.
    """
    settings, read = check_options("auto", options, lambda: _OWN), Read(directed, weighted, strength)
    return _with_shape(_plan_roots(A, read, roots, which, demand, (cutoff, decay), settings))


def select_for(graph: Graph, which: Asked, batch: int | str, options: Options, arguments: Arguments) -> Selection:
    """Return the method of a call and the reason, by all its arguments: weights and targets limit reductions."""
    centralities, arguments = find_all(which), arguments.checked()
    require_taken(centralities, arguments)
    settings = check_options(batch, options, partial(keywords_of, centralities, options))
    with reading_gpu(graph, settings.devices):
        return _with_shape(plan_call(graph, centralities, Read(), settings, arguments).plan)


def _with_shape(plan: Plan) -> Selection:
    return Selection(plan.selection.method, f"{plan.selection.reason}; {plan.graph.order_in_words}")


@refuses_places
def estimate_memory(
    A: GraphLike,
    *,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    roots: int | None = None,
    which: CentralityName | Iterable[CentralityName] = "bc",
    demand: DemandLike | None = None,
    cutoff: ArrayLike | None = None,
    decay: ArrayLike | None = None,
    **options: Unpack[Options],
) -> MemoryEstimate:
    """Estimate the memory that `bc`, or `centralities`, allocates with the same arguments.

    Parameters
    ----------
    A, batch, directed, weighted, strength : as for `lagbc.bc`
    roots : int, optional
        The number of roots: the length of `sources`, or `k`. All vertices by default.
    which : str or several
        Names of centralities, as for `lagbc.centralities`.
    demand : as for `lagbc.bc`, optional
        Its origins are the roots, and `roots` does not go with it.
    cutoff, decay : as for `lagbc.bc`, optional
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    MemoryEstimate
        In bytes: ``.total`` and its parts ``.graph``, ``.workspace``, ``.scores``; with the ``.batch``, ``.threads``,
        ``.method`` and ``.device`` of the run, after all fallbacks. The run raises MemoryError if ``.is_over``.

    Notes
    -----
    O(nnz): the pattern is read as `bc` reads it.
    """
    settings = check_options(batch, options, lambda: ("batch", *_OWN))
    read = Read(directed, weighted, strength)
    return _plan_roots(A, read, roots, which, demand, (cutoff, decay), settings).memory


def _plan_roots(
    A: GraphLike,
    read: Read,
    roots: int | None,
    which: Asked,
    demand: DemandLike | None,
    cutoff_and_decay: tuple[ArrayLike | None, ArrayLike | None],
    settings: Settings,
) -> Plan:
    """Plan a run of a demand, or from so many roots, drawn with a fixed seed."""
    with reading_gpu(A, settings.devices):
        graph = as_graph(A, **read._asdict())
        cutoff, decay = cutoff_and_decay
        centralities = find_all(which)
        require_taken(centralities, Arguments(demand=demand, cutoff=cutoff, decay=decay))
        sums = all_sums(centralities)
        bounds = parse_bounds(sums, *cutoff_and_decay)
        if demand is not None:
            if decay is not None:
                raise InvalidValueError("demand says how often each pair of vertices counts; leave out decay")
            if roots is not None:
                raise InvalidValueError("demand says which roots there are; leave out roots")
            trips = parse_demand(graph.n, demand, graph.names)
            request = Request(sums, origins(trips), demand=trips, bounds=bounds)
            return make_plan(graph, request, settings, resumed_by(settings))
        count = graph.n if roots is None else roots
        if not isinstance(count, SupportsIndex):
            raise InvalidTypeError(f"roots={roots!r} is not an integer; it is a count")
        if not 0 <= operator.index(count) <= graph.n:
            raise InvalidValueError(f"roots={roots}: it is a count, at most {graph.n}, the number of vertices")
        drawn = np.sort(np.random.default_rng(0).choice(graph.n, count, replace=False))
        return make_plan(graph, Request(sums, drawn, bounds=bounds), settings, resumed_by(settings))
