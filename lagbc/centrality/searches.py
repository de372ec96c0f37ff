"""Distances into some vertices, or into groups of vertices: a search from each along the reversed edges, on the CPU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.arguments import Arguments, Read
from lagbc.calls import logged, raise_if_stopped, stopping_by
from lagbc.centrality.groups import members_of, settings_of
from lagbc.errors import InvalidValueError, OutOfMemoryError
from lagbc.graph.graph import Graph
from lagbc.graph.names import numbers_of
from lagbc.graph.validate import as_graph
from lagbc.limits import Room, in_units, most_threads, raised_by
from lagbc.methods import tuning
from lagbc.methods.arrays import bytes_of
from lagbc.methods.contract import StopFlag
from lagbc.options import Options, Settings
from lagbc.planning.sweep import host_graph_bytes
from lagbc.request import parse_cutoffs, parse_vertices
from lagbc.run.run import Meter, Stretch, edges_of
from lagbc.run.work import Hand, Span, Total, Work, inline, sum_over, threaded
from lagbc.scores.finish import mean_closeness
from lagbc.scores.records import Centrality
from lagbc.types import GraphLike

_EVERYWHERE = np.array([np.inf])


class OfGroups(NamedTuple):
    """The sizes of groups, and sums over the vertices outside of each."""

    graph: Graph
    sizes: NDArray[np.int64]
    reached: NDArray[np.float64]  # of 1, over those that reach the group; of its degree, over its neighbours
    distance: NDArray[np.float64] | None = None  # over those that reach the group, of their distance d into it
    inverse: NDArray[np.float64] | None = None  # and of 1 / d

    @property
    def share(self) -> NDArray[np.float64]:
        """The share that those that reach a group are of all outside of it."""
        share: NDArray[np.float64] = self.reached / np.maximum(self.graph.n - self.sizes, 1)
        return share


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


def scores_by_distances(A: GraphLike, record: Centrality, read: Read, options: Options, arguments: Arguments) -> Any:
    """Return scores of groups by the distances into each; arguments as for `lagbc.group_closeness`."""
    graph, groups, settings, arguments = _prepare_groups(A, record, read, options, arguments)
    with logged(record.name), stopping_by(settings.stop):
        searched, roots = _with_groups(graph.transpose, groups)
        without = [np.append(group, root) for group, root in zip(groups, roots, strict=True)]
        reached, distance, inverse = np.moveaxis(_sum_into(searched, roots, without, settings)[:, 0], -1, 0)
    found: Any = OfGroups(graph, _sizes(groups), reached, distance, inverse)
    return record.finish(found, arguments)


def scores_by_neighbours(A: GraphLike, record: Centrality, read: Read, options: Options, arguments: Arguments) -> Any:
    """Return scores of groups by the vertices that their edges lead to; arguments as for `lagbc.group_degree`."""
    graph, groups, _, arguments = _prepare_groups(A, record, read, options, arguments)
    counts = np.array([len(np.unique(graph.indices[edges_out_of(graph, group)])) for group in groups], np.float64)
    found: Any = OfGroups(graph, _sizes(groups), counts)
    return record.finish(found, arguments)


def _sizes(groups: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.array([len(group) for group in groups], np.int64)


def _prepare_groups(
    A: GraphLike, record: Centrality, read: Read, options: Options, arguments: Arguments
) -> tuple[Graph, list[NDArray[np.int64]], Settings, Arguments]:
    """Check the arguments and options of a function of groups, and read the graph."""
    arguments = arguments.checked()
    own = ("groups", *Read._fields, *sorted(record.takes - {"groups"}))
    settings = settings_of(record.name, "searches from groups", options, own)
    graph = as_graph(A, **read._asdict()).on_host
    return graph, members_of(graph, arguments.groups), settings, arguments


def _with_groups(graph: Graph, groups: Sequence[NDArray[np.int64]]) -> tuple[Graph, NDArray[np.int64]]:
    """Return the graph with a vertex for each group, which no edge enters, and these vertices.

    Its edges are those that leave the group, of parallel ones the shortest: so its distances are those from the group.
    """
    indptr, indices, weights = graph.csr
    rows, lengths = [indices], [weights]
    for group in groups:
        leaving = edges_out_of(graph, group)
        if weights is not None:
            leaving = leaving[np.argsort(weights[leaving], kind="stable")]
        heads, shortest = np.unique(indices[leaving], return_index=True)
        rows.append(heads)
        if weights is not None:
            lengths.append(weights[leaving][shortest])
    ends = np.append(indptr, indptr[-1] + np.cumsum([len(row) for row in rows[1:]], dtype=np.int64))
    whole = None if weights is None else np.concatenate(lengths)
    roots = np.arange(graph.n, graph.n + len(groups))
    return Graph.from_csr((ends, np.concatenate(rows), whole), directed=True), roots


def edges_out_of(graph: Graph, group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of the edges that leave a group of vertices."""
    indptr, indices, _ = graph.csr
    counts = indptr[group + 1] - indptr[group]
    edges = np.arange(counts.sum()) + np.repeat(indptr[group] - np.append(0, np.cumsum(counts)[:-1]), counts)
    leaving: NDArray[np.int64] = edges[~np.isin(indices[edges], group)]
    return leaving


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


class Searches(Work):
    """Sums for each root; items are places of roots, and `without` has the vertices that each does not count."""

    panel = batch = 64  # roots that are searched together

    def __init__(
        self,
        graph: Graph,
        roots: NDArray[np.int64],
        without: Sequence[NDArray[np.int64]],
        counted: NDArray[np.int64] | None,
        cutoffs: NDArray[np.float64],
        hands: int,
    ) -> None:
        self.items, self.hands = np.arange(len(roots)), hands
        self._graph, self._roots, self._without, self._counted, self._cutoffs = graph, roots, without, counted, cutoffs

    def open(self, stop: StopFlag) -> Hand:
        """Return a hand that polls the stop flag within a search."""
        from lagbc.methods.cpu import searches

        state = searches.prepare(self._graph, stop)

        def run(span: Span, _: NDArray[np.int64]) -> NDArray[np.float64]:
            raise_if_stopped()
            roots, without = self._roots[span.place], self._without[span.first : span.last]
            return searches.sum_batch(state, roots, without, self._counted, self._cutoffs)

        return run

    def add(self, total: Total, span: Span, sums: NDArray[np.float64]) -> Total:
        """Put the rows of a span behind those of the total."""
        return Total(span.last, np.concatenate([self.finish(total), sums]))

    def finish(self, total: Total) -> NDArray[np.float64]:
        """Return the sums, shape (roots, cutoffs, 3)."""
        from lagbc.methods.cpu.searches import SUMS

        return np.zeros((0, len(self._cutoffs), SUMS)) if total.whole is None else total.whole


def _fit_memory(graph: Graph, roots: int, settings: Settings) -> int:
    """Return the number of threads."""
    from lagbc.methods.cpu.batched import COLUMNS
    from lagbc.methods.cpu.searches import arrays, plan_of

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
