"""The way of every public function: a call is prepared, summed and finished, in this process or led by one of ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from logging import INFO
from operator import attrgetter, is_not
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lagbc.arguments import FLAGS, NONE_GIVEN, OF_THE_SCORES, OF_THE_SUMS, Arguments, Read
from lagbc.call import Call, prepare, sum_call, works_of
from lagbc.calls import in_phase, log_plan, logger, running, stopping_by
from lagbc.centrality.beside import (
    GROUPS,
    Estimates,
    require_estimate,
    roots_of_group,
    standard_errors,
    unassigned_trips,
)
from lagbc.errors import InvalidTypeError, InvalidValueError
from lagbc.graph.csr import as_numpy, index_type
from lagbc.graph.given import is_sparse
from lagbc.graph.graph import Graph
from lagbc.graph.host import copied_into
from lagbc.graph.validate import is_cupy, stored_loops
from lagbc.methods.sums import PATH_SUMS
from lagbc.methods.table import reading_gpu
from lagbc.options import Options, Settings, check_options, communicator, of_grid, parse_flag, with_defaults
from lagbc.request import warn_of_ties
from lagbc.run.run import Meter, Stretch, edges_of
from lagbc.scores.finish import Result, rank
from lagbc.scores.records import BUILT_IN, Centrality, all_sums, find, require_taken, shared
from lagbc.types import GraphLike

_NAME = attrgetter("name")
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
    """Compute a centrality as its public function returns it, or several from one sweep, in a dict by their names.

    With `standard_error` return a pair, scores and errors. Other arguments are as for `lagbc.bc`.
    """
    if arguments.top is not None:
        arguments = arguments.checked()
        is_several = arguments.cutoff is not None and np.ndim(arguments.cutoff) > 0
        if arguments.u is not None or standard_error is not False or is_several:
            raise InvalidValueError("top ranks one score a vertex; leave out u, standard_error and further cutoffs")
    if arguments.u is not None:
        from lagbc.centrality.searches import closeness_into

        return on_device_of(A, closeness_into(A, read, batch, options, arguments, standard_error))
    centralities = (which,) if isinstance(which, Centrality) else which
    if with_defaults(options).get("comm") is not None:
        key = [one.name for one in centralities]
        folds = key == ["bc"] and not arguments.endpoints
        comm, sums = communicator(options), partial(all_sums, centralities)

        def here(A: GraphLike, read: Read, options: Options) -> Any:
            return compute(A, which, batch, read, options, arguments, standard_error)

        return made_on_ranks(comm, A, read, options, here, key, sums, folds=folds)
    if arguments.top is not None:
        call = plan_call(A, which, batch, read, options, arguments._replace(top=None))
        return rank(highest_scores(A, call, arguments.top), arguments.top, call.graph.names)
    if standard_error is not False:
        standard_error = parse_flag("standard_error", standard_error)
    arguments, settings = check_call(centralities, batch, options, arguments)
    names = ", ".join(map(_NAME, centralities))
    with running(names, settings.stop, settings.checkpoint), reading_gpu(A, settings.devices):
        found = _scores_of(A, prepare(A, centralities, read, settings, arguments), names, standard_error)
    if which is centralities:
        return found
    name = centralities[0].name
    return tuple(part[name] for part in found) if standard_error else found[name]


def highest_scores(A: GraphLike, call: Call, count: int) -> NDArray[np.float64]:
    """Return the scores of a call; those not among the highest `count` may be 0."""
    from lagbc.centrality.highest import search_highest

    scores = search_highest(call, count)
    return as_numpy(run_call(A, call)[call.centralities[0].name]) if scores is None else scores


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

    `here` makes the call on rank 0. `key` identifies the call, to be the same on all ranks; `sums` returns its sums;
    `folds` says whether the trees of a dealt graph may be folded into their roots.
    """
    alone: Options = {**options, "comm": None, "grid": None, "overlap": False}
    if (of_ranks := of_grid(options)) is not None:
        from lagbc.grid.run import Call, on_grid, take_part

        alone.pop("memory", None)  # each rank has as much
        call = Call(key, sums, folds and of_ranks.reduce != "none")
        return on_grid(of_ranks, call, partial(take_part, A, *read), lambda graph: here(graph, Read(), alone))
    from lagbc.run.ranks import on_ranks

    return on_ranks(comm, key, lambda executor: here(A, read, {**alone, "executor": executor}))


def check_call(
    centralities: tuple[Centrality, ...], batch: int | str, options: Options, arguments: Arguments
) -> tuple[Arguments, Settings]:
    """Check the arguments and options that can be checked without the graph."""
    if any(map(is_not, arguments, NONE_GIVEN)):
        arguments = arguments.checked()
        require_taken(centralities, arguments)
    return arguments, check_options(batch, options, partial(keywords_of, centralities, options))


def plan_call(A: GraphLike, which: Asked, batch: int | str, read: Read, options: Options, arguments: Arguments) -> Call:
    """Prepare a call in this process, for `run_call`; arguments as for `compute`."""
    centralities = find_all(which)
    arguments, settings = check_call(centralities, batch, options, arguments)
    with stopping_by(settings.stop, settings.checkpoint), reading_gpu(A, settings.devices):
        return prepare(A, centralities, read, settings, arguments)


def run_call(A: GraphLike, call: Call) -> dict[str, Any]:
    """Run a prepared call; return its scores by the names of the centralities."""
    names, settings = ", ".join(map(_NAME, call.centralities)), call.settings
    with running(names, settings.stop, settings.checkpoint), reading_gpu(A, settings.devices):
        return _scores_of(A, call, names)


def _scores_of(A: GraphLike, call: Call, names: str, standard_error: bool = False) -> Any:
    """Run a call, and make its scores; `names` are those of the centralities, for messages."""
    arguments, settings, is_told = call.arguments, call.settings, logger.isEnabledFor(INFO)
    if is_told:
        log_plan(names, call.plan)
    if standard_error:
        require_estimate(arguments.k, log2=arguments.log2)
    if call.graph.weighted:
        warn_of_ties_of(call)
    result = sum_call(call)
    scores = finish_call(A, call, result)
    if arguments.demand is not None and is_told:
        unassigned = unassigned_trips(result.graph, arguments.demand, arguments.cutoff, settings)
        if unassigned.sums.any():
            logger.info("%s: %s", names, str(unassigned))
    return (scores, _standard_errors(A, call, result)) if standard_error else scores


def _standard_errors(A: GraphLike, call: Call, result: Result) -> dict[str, Any]:
    """Return the standard errors of a call, in the form of its scores."""
    graph = result.graph
    if len(result.roots) < graph.n:
        errors = errors_of(call)
    else:
        finished = {one.name: _finish_columns(one, result, call.arguments) for one in call.centralities}
        errors = {name: np.zeros_like(np.stack(columns)) for name, columns in finished.items()}
    return {one.name: as_returned(A, graph, one, [*errors[one.name]], call.arguments) for one in call.centralities}


def errors_of(call: Call) -> Estimates:
    """Return the standard errors of a call from some roots that was run, shape (columns, count); keep them in its file.

    Those of registered centralities are not kept, as a name does not fix what they compute.
    """
    names, flags = list(map(_NAME, call.centralities)), [getattr(call.arguments, name) for name in FLAGS]
    seed = None if isinstance(call.arguments.rng, np.random.Generator) else call.arguments.rng
    is_told = all(one in BUILT_IN for one in call.centralities)
    kept, label = call.kept if is_told else None, f"{names} {flags} {seed}"
    if kept is not None and (found := kept.errors(label, names)) is not None:
        return found
    errors = _estimated_errors(call)
    if kept is not None:
        kept.keep_errors(label, errors)
    return errors


def _estimated_errors(call: Call) -> Estimates:
    """Estimate the standard errors of a call by smaller runs.

    These have no checkpoint, and all have the methods of the first. On a CPU as many run side by side as the memory
    allows, each on one thread, as their roots are too few for several.
    """
    graph, centralities, arguments, settings = call.graph, call.centralities, call.arguments, call.settings
    own, side_by_side, labels = settings._replace(checkpoint=None, progress=False), 1, list[str]()
    k = len(call.request.roots)

    def draw(roots: int, rng: int | np.random.Generator) -> Call:
        return prepare(graph, centralities, Read(), own, arguments._replace(k=roots, rng=rng), labels)

    first = draw(roots_of_group(k), 0)
    needed, labels = first.plan.estimate(first.room), first.plan.labels
    is_here = settings.executor is None and not any(work.own_carrier for work in works_of(first))
    if is_here and needed.device == "cpu" and not first.plan.is_short:
        side_by_side = min(settings.usable_threads, GROUPS, max(1, needed.budget // needed.total))
        own = own._replace(threads=1, memory=needed.budget // side_by_side)

    def estimate(call: Call) -> Estimates:
        found = sum_call(call)
        return {one.name: np.stack(_finish_columns(one, found, call.arguments)) for one in centralities}

    with ExitStack() as stack:
        stretch = Stretch(GROUPS * roots_of_group(k), 0, edges_of(graph))
        meter = Meter([stretch], settings.progress, "", stack, phase="standard errors")
        return standard_errors(draw, estimate, graph.n, k, arguments.rng, side_by_side, partial(meter.tell, 0))


def warn_of_ties_of(call: Call) -> None:
    """Warn if rounding may hide ties of paths, in a call that counts paths with lengths."""
    graph, request, arguments = call.graph, call.request, call.arguments
    if graph.weighted and request.sums & PATH_SUMS:
        everywhere = arguments.targets is None and request.bounds is None
        warn_of_ties(graph, arguments.rtol, request.roots, everywhere=everywhere)


@in_phase("finish")
def finish_call(A: GraphLike, call: Call, result: Result) -> dict[str, Any]:
    """Make scores of the sums of a call, each as its public function returns it."""
    scores: dict[str, Any] = {}
    for one in call.centralities:
        columns = _finish_columns(one, result, call.arguments)
        scores[one.name] = as_returned(A, result.graph, one, columns, call.arguments)
    return scores


def find_all(which: Asked) -> tuple[Centrality, ...]:
    """Return the centralities of names or records; ValueError if a name is unknown, or none is given."""
    try:
        asked = [which] if isinstance(which, str | Centrality) else list(which)
    except TypeError:
        raise InvalidTypeError(f"which is {which!r}; it is the name of a centrality, or several") from None
    if not asked:
        raise InvalidValueError(f"which is empty; there are: {', '.join(one.name for one in shared())}")
    return tuple(one if isinstance(one, Centrality) else find(one) for one in asked)


def keywords_of(centralities: tuple[Centrality, ...], options: Options) -> Iterator[str]:
    """Yield the keywords of a call besides options; TypeError if it has an argument of other centralities."""
    for name in (*OF_THE_SUMS, *OF_THE_SCORES):
        if name in options and not any(one.needs for one in centralities):
            raise InvalidTypeError(f"{', '.join(one.name for one in centralities)} takes no {name}")
    for name in ("u", "top"):
        takers = [one.name for one in centralities if name in one.takes]
        if name in options and takers:
            instead = f"lagbc.{takers[0]}(A, {name}=...)"
            raise InvalidTypeError(f"{name}= is taken by the function of one centrality alone: {instead}")
    yield from ("batch", "directed", "weighted", "strength")
    yield from sorted(frozenset[str]().union(*(one.takes for one in centralities)))


def _finish_columns(centrality: Centrality, result: Result, arguments: Arguments) -> list[NDArray[np.float64]]:
    """Make scores of sums, a column for each cutoff and decay; TypeError or ValueError if `finish` returns others."""
    columns: list[NDArray[np.float64]] = []
    count, of = (result.graph.nnz, "an edge") if centrality.of_edges else (result.graph.n, "a vertex")
    is_whole, takes_decay = result.request.bounds is None, "decay" in centrality.takes
    for one in (result,) if is_whole else result.columns(decays=takes_decay):
        scores = centrality.finish(one, arguments)
        if not isinstance(scores, np.ndarray):
            kind = type(scores).__name__
            returned = f"finish of centrality {centrality.name!r} returned a {kind}"
            raise InvalidTypeError(f"{returned}; it returns an ndarray of float64, a number {of}")
        if scores.shape != (count,) and not centrality.of_graph:
            returned = f"finish of centrality {centrality.name!r} returned an array of shape {scores.shape}"
            raise InvalidValueError(f"{returned}; it is a number {of}, shape ({count},)")
        columns.append(scores if centrality in BUILT_IN else scores.copy())  # others may return the sums themselves
    return columns


def as_returned(
    A: Any, graph: Graph, centrality: Centrality, columns: list[NDArray[np.float64]], arguments: Arguments
) -> Any:
    """Return columns as one array, on the device of the matrix `A`, or as a matrix each for scores of edges.

    Of a call with one cutoff and one decay, or none, the one column is returned.
    """
    cutoff, decay = arguments.cutoff, arguments.decay if "decay" in centrality.takes else None
    is_one = (cutoff is None or np.ndim(cutoff) == 0) and (decay is None or np.ndim(decay) == 0)
    if centrality.of_edges:
        matrices = [_edge_matrix(A, graph, scores) for scores in columns]
        return matrices[0] if is_one else matrices
    whole = columns[0] if is_one else np.stack(columns, axis=-1)
    return whole if centrality.of_graph else on_device_of(A, whole)


def on_device_of(A: Any, scores: NDArray[np.float64]) -> Any:
    """Return scores as a CuPy array if `A` is a CuPy matrix."""
    if not is_cupy(A):
        return scores
    import cupy

    return cupy.asarray(scores)


def _edge_matrix(A: Any, graph: Graph, scores: NDArray[np.float64]) -> Any:
    """Lay out scores in the format and pattern of A (of A + A.T if undirected), with a zero for each self loop."""
    from scipy import sparse

    loops, host, shape = as_numpy(stored_loops(A)), graph.on_host, (graph.n, graph.n)
    kind = index_type(max(graph.n, graph.nnz + len(loops)))
    if len(loops):
        loops = loops.astype(kind)
        rows, columns = np.concatenate([host.rows, loops]), np.concatenate([host.indices, loops])
        values = np.concatenate([scores, np.zeros(len(loops))])
        matrix = sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()
    else:
        indices, indptr = (copied_into(array, np.empty(len(array), kind)) for array in (host.indices, host.indptr))
        matrix = sparse.csr_array((scores, indices, indptr), shape=shape)
        matrix.has_canonical_format = True
    if is_cupy(A):
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix(matrix).asformat(A.format)
    if not is_sparse(A):
        return matrix
    return (sparse.csr_matrix(matrix) if isinstance(A, sparse.spmatrix) else matrix).asformat(A.format)
