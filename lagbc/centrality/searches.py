"""Distances into some vertices: a search from each along the reversed edges, on the CPU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.arguments import Arguments, Read
from lagbc.calls import logged, stopping_by
from lagbc.centrality.groups import settings_of
from lagbc.errors import InvalidValueError, OutOfMemoryError
from lagbc.graph.graph import Graph
from lagbc.graph.names import numbers_of
from lagbc.graph.validate import as_graph
from lagbc.limits import in_units, most_threads, raised_by
from lagbc.methods import tuning
from lagbc.methods.arrays import bytes_of
from lagbc.methods.contract import StopFlag
from lagbc.options import Options, Settings
from lagbc.planning.memory import host_graph_bytes
from lagbc.request import parse_cutoffs, parse_vertices
from lagbc.room import Room
from lagbc.run.loop import inline, sum_over, threaded
from lagbc.run.progress import Meter, Stretch
from lagbc.run.run import edges_of
from lagbc.run.searches import Searches
from lagbc.scores.finish import mean_closeness
from lagbc.types import GraphLike

_EVERYWHERE = np.array([np.inf])


def closeness_into(
    A: GraphLike, read: Read, batch: int | str, options: Options, arguments: Arguments, standard_error: bool
) -> Any:
    """Return the closeness of the vertices `u`; arguments as for `lagbc.closeness`."""
    arguments = arguments.checked()
    if arguments.k is not None or arguments.rng is not None or standard_error is not False:
        raise InvalidValueError("u asks for exact scores, by a search from each; leave out k, rng and standard_error")
    does, own = "searches from u", ("batch", *Read._fields, "u", "sources", "cutoff", "wf_improved")
    settings = settings_of("closeness", does, options, own, batch)
    graph = as_graph(A, **read._asdict()).on_host
    given: Any = arguments.u
    is_one = isinstance(given, str) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0
    roots = _vertices("u", graph, [given] if is_one else given)
    counted = None if arguments.sources is None else _vertices("sources", graph, arguments.sources)
    cutoffs = _EVERYWHERE if arguments.cutoff is None else parse_cutoffs(arguments.cutoff)
    with logged("closeness"), stopping_by(settings.stop):
        sums = _sum_into(
            graph.transpose, roots, [roots[i : i + 1] for i in range(len(roots))], settings, counted, cutoffs
        )
    reached, distance, _ = np.moveaxis(sums, -1, 0)
    share = reached / max(graph.n - 1, 1) if arguments.wf_improved else None
    scores = mean_closeness(reached.ravel(), distance.ravel(), None if share is None else share.ravel(), graph)
    scores = scores.reshape(reached.shape)
    if arguments.cutoff is None or np.ndim(arguments.cutoff) == 0:
        scores = scores[:, 0]
    return float(scores[0]) if is_one and scores.ndim == 1 else scores[0] if is_one else scores


def _vertices(argument: str, graph: Graph, given: Any) -> NDArray[np.int64]:
    numbers = numbers_of(argument, graph.names, given, in_order=argument == "u")
    return parse_vertices(argument, graph.n, numbers, graph.names)


def _sum_into(
    graph: Graph,
    roots: NDArray[np.int64],
    without: Sequence[NDArray[np.int64]],
    settings: Settings,
    counted: NDArray[np.int64] | None = None,
    cutoffs: NDArray[np.float64] = _EVERYWHERE,
) -> NDArray[np.float64]:
    """Sum the distances from roots, shape (roots, cutoffs, 3), in as many threads as fit into the memory."""
    threads = _fit_memory(graph, len(roots), settings)
    work = Searches(graph, roots, without, counted, cutoffs, threads)
    with ExitStack() as stack:
        meter = Meter([Stretch(len(roots), 0, edges_of(graph))], settings.progress, "", stack)
        is_short = threads == 1 and len(roots) * graph.nnz <= tuning.THREAD_WORK
        carry = inline if is_short else threaded
        found: NDArray[np.float64] = work.finish(sum_over(work, carry, keep=lambda total: meter.tell(0, total.done)))
    return found


def _fit_memory(graph: Graph, roots: int, settings: Settings) -> int:
    """Return the number of threads."""
    from lagbc.methods.cpu.searches import COLUMNS, arrays, plan_of

    _, held = host_graph_bytes(graph, plan_of(StopFlag()))
    a_thread = bytes_of(arrays(graph))
    budget = Room.of_call(settings.memory, graph).for_need(held + a_thread, "cpu")
    if held + a_thread > budget:
        raise OutOfMemoryError(
            f"a search from {COLUMNS} vertices needs up to {in_units(held + a_thread)}, but the budget is "
            f"{in_units(budget)}; {raised_by()}"
        )
    most = min(most_threads(settings.threads), -(-roots // COLUMNS))
    return max(1, min(most, (budget - held) // max(a_thread, 1)))
