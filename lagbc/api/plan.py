"""The plan of a call, without its run."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any, SupportsIndex, Unpack

import numpy as np
from numpy.typing import ArrayLike

from lagbc.arguments import Arguments, Read
from lagbc.call import Call, plan_request, require_memory, works_of
from lagbc.centrality.compute import Asked, find_all, plan_call
from lagbc.demand import origins, parse_demand
from lagbc.errors import InvalidTypeError, InvalidValueError, warn
from lagbc.graph.validate import as_graph
from lagbc.methods import table
from lagbc.methods.table import reading_gpu
from lagbc.options import Options, Settings, check_options, refuses_places
from lagbc.planning.choose import Selection
from lagbc.planning.plan import Plan
from lagbc.planning.sweep import MemoryEstimate, row_of
from lagbc.request import Request, parse_bounds
from lagbc.run.partial import Checkpoint
from lagbc.scores.records import all_sums, require_taken
from lagbc.types import Auto, CentralityName, DemandLike, GraphLike, Vertices

# Arguments of functions whose plan is that of the call without them.
_OF_CALLS = ("top", "u", "standard_error")
_OWN = ("roots", "which", "demand", "cutoff", "decay", *Read._fields)


@refuses_places
def plan(
    A: GraphLike,
    which: CentralityName | Iterable[CentralityName] = "bc",
    *,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    sources: Vertices | None = None,
    targets: Vertices | None = None,
    source_weights: ArrayLike | Mapping[Any, float] | None = None,
    target_weights: ArrayLike | Mapping[Any, float] | None = None,
    demand: DemandLike | None = None,
    cutoff: ArrayLike | None = None,
    decay: ArrayLike | None = None,
    rtol: float | None = None,
    k: int | None = None,
    rng: int | np.random.Generator | None = None,
    normalized: bool = False,
    endpoints: bool = False,
    wf_improved: bool = True,
    log2: bool = False,
    **options: Unpack[Options],
) -> Plan:
    """Plan a call, without its run: the pieces of its graph, and the method, the memory and the time of each.

    Parameters
    ----------
    A : as for `lagbc.bc`
    which : str or several
        Names of centralities, as for `lagbc.centralities`.
    batch, directed, weighted, strength, sources, targets, source_weights, target_weights : as for `lagbc.bc`
    demand, cutoff, decay, rtol, k, rng, normalized, endpoints, wf_improved, log2 : as for `lagbc.centralities`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    Plan
        A tuple, which can be printed, compared and pickled: ``.method`` and ``.device`` of the piece with most work and
        the ``.reason``, ``.memory`` with its ``.total`` in bytes, and ``.sweeps``, one for each piece.

    Raises
    ------
    The errors of `lagbc.centralities` that are known before a run.

    Notes
    -----
    It reads, checks and reduces the graph as a call does, and searches from some roots where methods are compared: the
    time of a few roots, beside O(nnz). A graph made by `lagbc.as_graph` keeps all but the reductions for the call. With
    `comm`, it is the plan of a run in one process. Seconds are predicted for `lagbc.bc`, to compare methods:
    several centralities take more, closeness takes less, and a graph that no cache holds takes several times as long.

    Examples
    --------
    >>> path = lagbc.graph_from_edges([0, 1], [1, 2], directed=False)
    >>> planned = lagbc.plan(path, device="cpu")
    >>> planned.method, planned.memory.total < 100_000
    ('batched', True)
    """
    of_pairs = sources, targets, source_weights, target_weights, demand, cutoff, decay, rtol, k, rng
    arguments = Arguments(*of_pairs, normalized, endpoints, wf_improved, log2)
    for name in _OF_CALLS:
        if name in options:
            raise InvalidTypeError(f"a plan is of full sweeps, whatever {name}= is; give {name}= to the call itself")
    call = plan_call(A, find_all(which), batch, Read(directed, weighted, strength), options, arguments)
    require_memory(call)
    if call.kept is not None:
        call.kept.require(works_of(call))
    return call.plan


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
    """Return the method that `bc`, or `centralities`, takes for a matrix, and the reason: use `lagbc.plan`.

    .. deprecated:: 0.2.0
        `lagbc.plan` tells the same; this function goes with the next release.

    Parameters
    ----------
    A, directed, weighted, strength, which, cutoff, decay : as for `lagbc.plan`
    roots : int, optional
        The number of roots, drawn at random, as `k` draws them; so many neighbours as roots may get another method. All
        vertices by default.
    demand : as for `lagbc.bc`, optional
        Its origins are the roots, and `roots` does not go with it.
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
    warn("select_method goes with the next release; lagbc.plan tells the method and the reason", DeprecationWarning)
    settings, read = check_options("auto", options, lambda: _OWN), Read(directed, weighted, strength)
    call = _plan_roots(A, read, roots, which, Arguments(demand=demand, cutoff=cutoff, decay=decay), settings)
    graph, plan = call.graph, call.plan
    if plan.main < 0:
        row, *_ = table.methods_of(weighted=graph.weighted, method=plan.method, device=plan.device)
    else:  # junctions are swept with lengths, whatever the graph has
        row = row_of(call.reduced.large[plan.main], plan.sweeps[plan.main])
    return Selection(row, f"{plan.reason}; {graph.order_in_words}")


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
    """Estimate the memory that `bc`, or `centralities`, allocates with the same arguments: use `lagbc.plan`.

    .. deprecated:: 0.2.0
        `lagbc.plan` tells the same; this function goes with the next release.

    Parameters
    ----------
    A, batch, directed, weighted, strength, which, demand, cutoff, decay : as for `select_method`
    roots : int, optional
        The number of roots: the length of `sources`, or `k`. All vertices by default.
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
    warn("estimate_memory goes with the next release; the memory of lagbc.plan is the same", DeprecationWarning)
    settings = check_options(batch, options, lambda: ("batch", *_OWN))
    read = Read(directed, weighted, strength)
    call = _plan_roots(A, read, roots, which, Arguments(demand=demand, cutoff=cutoff, decay=decay), settings)
    return call.plan.estimate(call.room)


def _plan_roots(
    A: GraphLike, read: Read, roots: int | None, which: Asked, given: Arguments, settings: Settings
) -> Call:
    """Plan a run of a demand, or from so many random roots; of a checkpoint only its methods are taken."""
    with reading_gpu(A, settings.devices):
        graph, centralities = as_graph(A, **read._asdict()), find_all(which)
        require_taken(centralities, given)
        sums = all_sums(centralities)
        bounds = parse_bounds(sums, given.cutoff, given.decay)
        labels = () if settings.checkpoint is None else Checkpoint(settings.checkpoint).labels
        if given.demand is not None:
            if given.decay is not None:
                raise InvalidValueError("demand says how often each pair of vertices counts; leave out decay")
            if roots is not None:
                raise InvalidValueError("demand says which roots there are; leave out roots")
            trips = parse_demand(graph.n, given.demand, graph.names)
            request = Request(sums, origins(trips), demand=trips, bounds=bounds)
            return plan_request(graph, request, settings, labels=labels)
        count = graph.n if roots is None else roots
        if not isinstance(count, SupportsIndex):
            raise InvalidTypeError(f"roots={roots!r} is not an integer; it is a count")
        if not 0 <= operator.index(count) <= graph.n:
            raise InvalidValueError(f"roots={roots}: it is a count, at most {graph.n}, the number of vertices")
        drawn = np.sort(np.random.default_rng(0).choice(graph.n, count, replace=False))
        return plan_request(graph, Request(sums, drawn, bounds=bounds), settings, labels=labels)
