"""The one way of every public function: read the graph, request sums, have them run, finish each centrality."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import replace
from functools import partial
from logging import INFO
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import log_plan, logged, logger, phase, raise_if_stopped, stopping_by
from lagbc.centrality import registry
from lagbc.centrality.arguments import OF_THE_SCORES, OF_THE_SUMS, Arguments, Read
from lagbc.centrality.finish import require_defined
from lagbc.centrality.records import Centrality
from lagbc.centrality.registry import all_sums, require_taken
from lagbc.centrality.standard_error import GROUPS, Estimates, require_estimate, roots_of_group, standard_errors
from lagbc.centrality.unassigned import unassigned_trips
from lagbc.errors import InvalidTypeError, InvalidValueError
from lagbc.frozen import frozen
from lagbc.graph.csr import as_numpy
from lagbc.graph.given import is_sparse
from lagbc.graph.graph import Graph
from lagbc.graph.names import numbers_of
from lagbc.graph.validate import is_cupy, stored_loops, take_graph
from lagbc.methods.sums import DECAYING, PATH_SUMS
from lagbc.plan.demand import origins, parse_demand
from lagbc.plan.devices import is_read_on_device, reading_gpu
from lagbc.plan.options import Options, Settings, check_options, communicator, of_grid, with_defaults
from lagbc.plan.plan import Plan, make_plan
from lagbc.plan.request import (
    Request,
    parse_bounds,
    parse_roots,
    parse_targets,
    parse_tolerance,
    parse_vertex_weights,
    require_flags,
)
from lagbc.plan.step import NOTHING, Resumed, ResumedStep
from lagbc.plan.ties import warn_of_ties
from lagbc.run.execute import Result, execute
from lagbc.types import GraphLike

# Centralities, by name or as records.
Asked = str | Centrality | Iterable[str | Centrality]
Made = TypeVar("Made")


def compute(
    A: GraphLike,
    which: Centrality | tuple[Centrality, ...],
    batch: int | str,
    read: Read,
    options: Options,
    arguments: Arguments,
    standard_error: bool = False,
) -> Any:
    """Compute centralities from one sweep, each as its public function returns it: several by their names.

    With `standard_error` it is a pair, the second one of errors. Other arguments are as for `lagbc.bc`.
    """
    centralities = (which,) if isinstance(which, Centrality) else which
    here = partial(_compute_here, centralities, batch, arguments, standard_error)
    if with_defaults(options).get("comm") is None:
        found = here(A, read, options)
    else:
        names = [one.name for one in centralities]
        folds = names == ["bc"] and not arguments.endpoints
        comm, sums = communicator(options), partial(all_sums, centralities)
        found = made_on_ranks(comm, A, read, options, here, names, sums, folds=folds)
    if which is centralities:
        return found
    name = centralities[0].name
    return tuple(part[name] for part in found) if standard_error else found[name]


def made_on_ranks(
    comm: Any,
    A: GraphLike,
    read: Read,
    options: Options,
    here: Callable[[GraphLike, Read, Options], Made],
    key: Any,
    sums: Callable[[], frozenset[str]],
    *,
    folds: bool = False,
) -> Made:
    """Make a call on all ranks of a communicator, with the graph on each or dealt over them.

    `here` makes it in the process that leads all others. The key is the same on all ranks, `sums` returns the sums of
    the call, and `folds` says whether a dealt graph gives the same without its trees.
    """
    alone: Options = {**options, "comm": None, "grid": None, "overlap": False}
    if (of_ranks := of_grid(options)) is not None:
        from lagbc.run.grid import Call, on_grid, take_part

        call = Call(key, sums, folds and of_ranks.reduce != "none")
        return on_grid(of_ranks, call, partial(take_part, A, *read), lambda graph: here(graph, Read(), alone))
    from lagbc.run.ranks import on_ranks

    return on_ranks(comm, key, lambda executor: here(A, read, {**alone, "executor": executor}))


def _compute_here(
    centralities: tuple[Centrality, ...],
    batch: int | str,
    arguments: Arguments,
    standard_error: bool,
    A: GraphLike,
    read: Read,
    options: Options,
) -> Any:
    """Compute centralities in this process; arguments as for `compute`."""
    require_flags(standard_error=standard_error)
    arguments = arguments.checked()
    require_taken(centralities, arguments)
    settings = check_options(batch, options, partial(keywords_of, centralities, options))
    names = ", ".join(one.name for one in centralities)
    with logged(names), stopping_by(settings.stop, settings.checkpoint), reading_gpu(A, settings.devices):
        call = plan_call(A, centralities, read, settings, arguments)
        log_plan(names, call.plan)
        if standard_error:
            require_estimate(arguments.k, log2=arguments.log2)
        call.warn_of_ties()
        result = execute(call.plan)
        with phase("finish"):
            scores = finish_call(A, call, result)
        if arguments.demand is not None and logger.isEnabledFor(INFO):
            unassigned = unassigned_trips(result.graph, arguments.demand, arguments.cutoff, settings)
            if unassigned.sums.any():
                logger.info("%s: %s", names, str(unassigned))
        return (scores, _standard_errors(A, call, result, settings)) if standard_error else scores


def _standard_errors(A: GraphLike, call: Call, result: Result, settings: Settings) -> dict[str, Any]:
    """Return the standard errors of a call's estimates, in the form of its scores."""
    graph, k = result.graph, len(result.roots)
    if k < graph.n:
        errors = errors_of(graph, call.centralities, settings, call.arguments, k)
    else:
        errors = {one.name: 0 * np.stack(_finish_columns(one, result, call.arguments)) for one in call.centralities}
    return {one.name: as_returned(A, graph, one, [*errors[one.name]], call.arguments) for one in call.centralities}


def errors_of(
    graph: Graph,
    centralities: tuple[Centrality, ...],
    settings: Settings,
    arguments: Arguments,
    k: int,
    report: Callable[[int, int], object] = lambda *_: None,
) -> Estimates:
    """Return the standard errors of estimates from k roots, shape (columns, count).

    The smaller runs have no checkpoint, and the methods of the first. On a CPU they run side by side, each on a thread,
    as far as the memory goes: one has too few roots for all threads.
    """
    own, side_by_side, resumed = settings._replace(checkpoint=None, progress=False), 1, NOTHING

    def draw(roots: int, rng: int | np.random.Generator) -> Call:
        return plan_call(graph, centralities, Read(), own, replace(arguments, k=roots, rng=rng), resumed)

    plan = draw(roots_of_group(k), 0).plan
    resumed = Resumed(tuple(ResumedStep.of(step.label) for step in plan.steps))
    needed, is_here = plan.memory, settings.executor is None and graph.room is None
    if is_here and needed.device == "cpu" and not plan.is_short:
        side_by_side = min(settings.threads, GROUPS, max(1, needed.budget // needed.total))
        own = own._replace(threads=1, threads_asked=True, memory=needed.budget // side_by_side)

    def estimate(call: Call) -> Estimates:
        found = execute(call.plan)
        return {one.name: np.stack(_finish_columns(one, found, call.arguments)) for one in centralities}

    return standard_errors(draw, estimate, graph.n, k, arguments.rng, side_by_side, report)


@frozen
class Call:
    """A call whose arguments are checked and whose run is planned."""

    centralities: tuple[Centrality, ...]
    arguments: Arguments  # with numbers of vertices in place of names
    plan: Plan

    def warn_of_ties(self) -> None:
        """Warn of ties that rounding takes from paths, if the call counts paths with lengths."""
        request = self.plan.request
        if self.plan.graph.weighted and request.sums & PATH_SUMS:
            arguments = self.arguments
            everywhere = arguments.targets is None and request.bounds is None
            warn_of_ties(self.plan.graph, arguments.rtol, request.roots, everywhere=everywhere)


def plan_call(
    A: GraphLike,
    centralities: tuple[Centrality, ...],
    read: Read,
    settings: Settings,
    arguments: Arguments,
    resumed: Resumed | None = None,
) -> Call:
    """Check a call, and plan its run; arguments as for `compute` and `make_plan`."""
    roots = partial(_count_asked_roots, A, arguments)
    uploads = partial(is_read_on_device, A, roots, settings) if arguments.cutoff is None else None
    graph = take_graph(A, **read._asdict(), uploads=uploads)
    raise_if_stopped()
    if arguments.sources is not None or arguments.targets is not None:
        arguments = _with_numbers(graph, arguments)
    for one in centralities:
        arguments = arguments if one.weigh is None else one.weigh(graph, arguments)
    request = make_request(graph, centralities, arguments)
    resumed = resumed_by(settings) if resumed is None else resumed
    return Call(centralities, arguments, make_plan(graph, request, settings, resumed))


def resumed_by(settings: Settings) -> Resumed:
    """Return the plan of the run whose checkpoint is among the settings."""
    if settings.checkpoint is None:
        return NOTHING
    from lagbc.run.partial import resumed_from

    return resumed_from(settings.checkpoint)


def finish_call(A: GraphLike, call: Call, result: Result) -> dict[str, Any]:
    """Make the scores of a call of the sums of its run, each as its public function returns it."""
    scores: dict[str, Any] = {}
    for one in call.centralities:
        columns = _finish_columns(one, result, call.arguments)
        scores[one.name] = as_returned(A, result.graph, one, columns, call.arguments)
    return scores


def _with_numbers(graph: Graph, arguments: Arguments) -> Arguments:
    """Replace names of vertices by their numbers."""
    given = {name: getattr(arguments, name) for name in ("sources", "targets")}
    numbers = {name: numbers_of(name, graph.names, one, in_order=False) for name, one in given.items()}
    return replace(arguments, **numbers)


def _count_asked_roots(A: Any, arguments: Arguments) -> int:
    """Count the roots of a call before its matrix is checked; 0 if the arguments do not tell."""
    if arguments.k is not None:
        return arguments.k
    if arguments.sources is not None:
        try:
            return len(cast(Sized, arguments.sources))
        except TypeError:  # `parse_vertices` has the better message
            return 0
    return A.shape[0] if is_sparse(A) else 0


def find_all(which: Asked) -> tuple[Centrality, ...]:
    """Return the centralities of names or records; ValueError if a name is unknown, or there is none."""
    try:
        asked = [which] if isinstance(which, str | Centrality) else list(which)
    except TypeError:
        raise InvalidTypeError(f"which is {which!r}; it is the name of a centrality, or several") from None
    if not asked:
        raise InvalidValueError(f"which is empty; there are: {', '.join(one.name for one in registry.shared())}")
    return tuple(one if isinstance(one, Centrality) else registry.find(one) for one in asked)


def keywords_of(centralities: tuple[Centrality, ...], options: Options) -> Iterator[str]:
    """Yield the keywords of a call besides options; TypeError if it has one that only other centralities take."""
    for name in (*OF_THE_SUMS, *OF_THE_SCORES):
        if name in options and not any(one.needs for one in centralities):
            raise InvalidTypeError(f"{', '.join(one.name for one in centralities)} takes no {name}")
    yield from ("batch", "directed", "weighted", "strength")
    yield from sorted(frozenset[str]().union(*(one.takes for one in centralities)))


def make_request(graph: Graph, centralities: tuple[Centrality, ...], arguments: Arguments) -> Request:
    """Check arguments, and turn them into a request for the sums of some centralities."""
    n, names = graph.n, graph.names
    k, endpoints = arguments.k, arguments.endpoints
    targets, target_weights = arguments.targets, arguments.target_weights
    demand = root_weights = omega = None
    if arguments.demand is not None:
        _require_alone(arguments)
        demand = parse_demand(n, arguments.demand, names)
    roots = parse_roots(n, arguments.sources, k, arguments.rng, names) if demand is None else origins(demand)
    if arguments.source_weights is not None:
        root_weights = parse_vertex_weights("source_weights", arguments.source_weights, n, names)
    if targets is not None or target_weights is not None:
        omega = parse_targets(n, targets, target_weights, names, endpoints=endpoints)
    is_weighted = target_weights is not None or root_weights is not None
    if is_weighted and (arguments.normalized or endpoints or k is not None):
        raise InvalidValueError("target_weights and source_weights do not go with normalized, endpoints or k")
    sums = all_sums(centralities)
    if (bounds := parse_bounds(sums, arguments.cutoff, arguments.decay)) is not None:
        _require_decays(centralities, sums, arguments)
    if k == 1:
        _require_defined(n, k, centralities, endpoints=endpoints)
    return Request(
        sums=sums,
        roots=roots,
        omega=omega,
        root_weights=root_weights,
        demand=demand,
        bounds=bounds,
        weighs_pairs=is_weighted,
        endpoints=endpoints,
        rtol=0.0 if arguments.rtol is None else parse_tolerance(arguments.rtol),
        is_sample=k is not None,
        is_redrawn=k is not None and arguments.rng is None,
    )


def _require_defined(n: int, k: int, centralities: tuple[Centrality, ...], *, endpoints: bool) -> None:
    """Raise ValueError if the one root of a sample leaves its own score undefined in some centrality."""
    of_vertices = [one for one in centralities if not one.of_edges]
    if of_vertices:
        require_defined(n, k, endpoints=endpoints and all("endpoints" in one.takes for one in of_vertices))


def _require_alone(arguments: Arguments) -> None:
    """Raise ValueError if an argument beside the demand chooses or weighs pairs, or scales their sum."""
    given = arguments.given - {"demand", "cutoff"}
    beside = [name for name in (*OF_THE_SUMS, "decay", "normalized", "endpoints") if name in given]
    if beside:
        raise InvalidValueError(f"demand says how often each pair of vertices counts; leave out {', '.join(beside)}")


def _require_decays(centralities: tuple[Centrality, ...], sums: frozenset[str], arguments: Arguments) -> None:
    """Raise ValueError if a decay is missing, would go unseen, or is given beside a scale by numbers of pairs."""
    if arguments.decay is None:
        if "gravity" in sums:
            raise InvalidValueError("gravity needs decay, by how much a target counts less for each unit of distance")
        return
    if arguments.normalized or arguments.endpoints:
        raise InvalidValueError("decay weighs targets, and does not go with normalized or endpoints")
    if without := [one.name for one in centralities if one.sums & DECAYING and "decay" not in one.takes]:
        raise InvalidValueError(f"decay changes sums of {', '.join(without)}, which takes none; ask for it by itself")


def _finish_columns(centrality: Centrality, result: Result, arguments: Arguments) -> list[NDArray[np.float64]]:
    """Make scores of sums, a column for each cutoff and decay; TypeError or ValueError if `finish` returns others."""
    columns: list[NDArray[np.float64]] = []
    count, of = (result.graph.nnz, "an edge") if centrality.of_edges else (result.graph.n, "a vertex")
    returned = f"finish of centrality {centrality.name!r} returned"
    is_whole, takes_decay = result.plan.request.bounds is None, "decay" in centrality.takes
    for one in (result,) if is_whole else result.columns(decays=takes_decay):
        scores = centrality.finish(one, arguments)
        if not isinstance(scores, np.ndarray):
            kind = type(scores).__name__
            raise InvalidTypeError(f"{returned} a {kind}; it returns an ndarray of float64, a number {of}")
        if scores.shape != (count,):
            wanted = f"it is a number {of}, shape ({count},)"
            raise InvalidValueError(f"{returned} an array of shape {scores.shape}; {wanted}")
        columns.append(scores)
    return columns


def as_returned(
    A: Any, graph: Graph, centrality: Centrality, columns: list[NDArray[np.float64]], arguments: Arguments
) -> Any:
    """Return columns, on the device of the matrix `A`: as one array, or scores of edges as a matrix each.

    A call without several cutoffs and decays has one column.
    """
    cutoff, decay = arguments.cutoff, arguments.decay if "decay" in centrality.takes else None
    is_one = (cutoff is None or np.ndim(cutoff) == 0) and (decay is None or np.ndim(decay) == 0)
    if centrality.of_edges:
        matrices = [_edge_matrix(A, graph, scores) for scores in columns]
        return matrices[0] if is_one else matrices
    return on_device_of(A, columns[0] if is_one else np.stack(columns, axis=-1))


def on_device_of(A: Any, scores: NDArray[np.float64]) -> Any:
    """Return scores as a CuPy array if `A` is a CuPy matrix."""
    if not is_cupy(A):
        return scores
    import cupy

    return cupy.asarray(scores)


def _edge_matrix(A: Any, graph: Graph, scores: NDArray[np.float64]) -> Any:
    """Lay out scores in the format and pattern of A (of A + A.T if undirected), with a zero for each self loop."""
    from scipy import sparse

    loops, host = as_numpy(stored_loops(A)), graph.on_host
    rows, columns = np.concatenate([host.rows, loops]), np.concatenate([host.indices, loops])
    values = np.concatenate([scores, np.zeros(len(loops))])
    matrix = sparse.coo_array((values, (rows, columns)), shape=(graph.n, graph.n)).tocsr()
    if is_cupy(A):
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix(matrix).asformat(A.format)
    if not is_sparse(A):
        return matrix
    return (sparse.csr_matrix(matrix) if isinstance(A, sparse.spmatrix) else matrix).asformat(A.format)
