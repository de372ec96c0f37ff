"""Scores by searches of their own, by one method: of groups of vertices, and of `u` in closeness.

Betweenness of groups takes a search from each vertex, for as many groups at a time as fit into the memory. Distances
into vertices or groups take a search from each of these along the reversed edges; those into groups on a GPU, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.arguments import Arguments, Read
from lagbc.calls import raise_if_stopped, running
from lagbc.errors import InvalidTypeError, InvalidValueError, OutOfMemoryError, quantity
from lagbc.graph.graph import Graph
from lagbc.graph.names import numbers_of
from lagbc.graph.validate import as_graph, is_cupy
from lagbc.limits import TINY_RUN, Room, in_units, most_threads, raised_by
from lagbc.methods.contract import StopFlag, bytes_of
from lagbc.methods.table import gpu_numbers, methods_of, reading_gpu
from lagbc.options import OPTION_NAMES, Options, Settings, check_options, refuse_unknown
from lagbc.planning.sweep import bytes_of_swept, host_graph_bytes
from lagbc.reduce.chains import places_of
from lagbc.request import parse_cutoffs, parse_tolerance, parse_vertices, warn_of_ties
from lagbc.run.run import Meter, Stretch, edges_of
from lagbc.run.work import Carrier, Hand, Items, Span, Total, Work, inline, sum_over, threaded
from lagbc.scores.finish import OfGroups, mean_closeness
from lagbc.scores.records import Centrality
from lagbc.types import GraphLike

# The shares of groups that are counted at once take so many bytes a thread, and there are at most so many groups.
_SHARE_BYTES, _MOST_AT_ONCE = 2**27, 256
# Bytes a vertex that a thread takes beside its stated arrays: for passed rows, their distances and their order; for a
# root that is searched by itself queue, distances, path counts and order.
_BESIDE_BYTES = 128
# Options that these functions read, and values of others that ask for the only way there is.
_READ = ("threads", "memory", "progress", "stop")
_ALLOWED: dict[str, tuple[str, ...]] = {
    "batch": ("auto",),
    "method": ("auto",),
    "device": ("auto", "cpu"),
    "reduce": ("auto", "none"),
    "dtype": ("float64",),
    "bucket_width": ("auto",),
}
# The sum by which a method tells that it finds distances into vertices.
_REACHED = frozenset({"reached"})


def settings_of(
    name: str, does: str, options: Options, own: tuple[str, ...], batch: int | str = "auto", *, on_gpu: bool = False
) -> Settings:
    """Check the options of a function that runs in one way, and may do so `on_gpu`; `own` are its own keywords.

    ValueError says what the function `does` if an option asks for another way.
    """
    taken, where = (*_READ, "device") if on_gpu else _READ, "CPU or a GPU" if on_gpu else "CPU"
    if not OPTION_NAMES.issuperset(options):
        refuse_unknown(options, own)
    for option, value in {"batch": batch, **options}.items():
        usual = _ALLOWED.get(option, (None,))
        if option not in taken and value not in usual:
            given = value if isinstance(value, Path) else repr(value)
            ways = f"; leave it out or pass {' or '.join(map(repr, usual))}" if option in _ALLOWED else ""
            raise InvalidValueError(
                f"{option}={given} means nothing to {name}, which {does} on the {where}, by one method, in one "
                f"process, without a checkpoint{ways}"
            )
    read = {option: value for option, value in options.items() if option in taken}
    return check_options("auto", cast(Options, read))


def members_of(graph: Graph, groups: Any) -> list[NDArray[np.int64]]:
    """Return the vertices of each group."""
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise InvalidTypeError(f"groups is {groups!r}; it is a sequence of groups, each a sequence of vertices")
    members = []
    for place, group in enumerate(list(groups)):
        argument = f"groups[{place}]"
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise InvalidTypeError(
                f"{argument} is {group!r}; it is a sequence of vertices: for a single group pass [group]"
            )
        vertices = group if isinstance(group, np.ndarray) else list(group)
        members.append(parse_vertices(argument, graph.n, numbers_of(argument, graph.names, vertices), graph.names))
    return members


def scores_by_paths(A: GraphLike, record: Centrality, read: Read, options: Options, arguments: Arguments) -> Any:
    """Return the betweenness of groups; arguments as for `lagbc.group_bc`."""
    graph, groups, settings, arguments = _prepare_groups(A, record, read, options, arguments, "counts groups")
    tolerance = parse_tolerance(arguments.rtol)
    warn_of_ties(graph, arguments.rtol, np.arange(graph.n))
    in_group = np.zeros((graph.n, len(groups)), np.bool_)
    for place, vertices in enumerate(groups):
        in_group[vertices, place] = True
    if arguments.normalized and arguments.endpoints:
        _require_pairs_outside(in_group)
    with running(record.name, settings.stop):
        passed = _sum_pairs(graph, in_group, tolerance, settings, endpoints=arguments.endpoints)
    found: Any = OfGroups(graph, _sizes(groups), passed=passed)
    return record.finish(found, arguments)


def _require_pairs_outside(in_group: NDArray[np.bool_]) -> None:
    """Raise ValueError if a group leaves no pair of vertices outside: scores are divided by their number."""
    outside = np.count_nonzero(~in_group, axis=0)
    if (few := outside < 2).any():
        left = quantity(int(outside[few][0]), "vertex", "vertices")
        raise InvalidValueError(
            f"normalized divides by the pairs outside of a group, but groups[{np.argmax(few)}] leaves {left} of "
            f"{len(in_group)}; leave out normalized or endpoints"
        )


def _sum_pairs(
    graph: Graph, in_group: NDArray[np.bool_], rtol: float, settings: Settings, *, endpoints: bool
) -> NDArray[np.float64]:
    """Sum the shares of all ordered pairs for each group."""
    roots = np.flatnonzero(graph.out_degrees)
    at_once, threads = _fit_groups(graph, in_group.shape[1], settings)
    starts = range(0, in_group.shape[1], at_once)
    totals = [np.zeros(0)]
    with ExitStack() as stack:
        meter = Meter([Stretch(len(starts) * len(roots), 0, edges_of(graph))], settings.progress, "", stack)
        carry = _carrier_of(graph, roots, threads)
        for number, first in enumerate(starts):
            some = np.ascontiguousarray(in_group[:, first : first + at_once])
            work = Groups(graph, roots, some, threads, rtol, endpoints=endpoints)
            totals.append(work.finish(sum_over(work, carry, keeps=[partial(_report, meter, number * len(roots))])))
    return np.concatenate(totals)


def _report(meter: Meter, before: int, total: Total) -> None:
    meter.tell(0, before + total.done)


def _carrier_of(graph: Graph, roots: NDArray[np.int64], threads: int) -> Carrier:
    """Return the calling thread as carrier of a run that is short for one thread, else threads."""
    return inline if threads == 1 and len(roots) * graph.nnz <= tuning.THREAD_WORK else threaded


class Groups(Work):
    """The work of counting paths through groups; items are roots, and `in_group` has a column a group."""

    panel = 32  # the same for every carrier
    batch = 64  # roots that are searched together

    def __init__(
        self, graph: Graph, roots: Items, in_group: NDArray[np.bool_], hands: int, rtol: float, *, endpoints: bool
    ) -> None:
        self.items, self.hands = roots, hands
        self._graph, self._in_group, self._rtol, self._endpoints = graph, in_group, rtol, endpoints

    def open(self, stop: StopFlag) -> Hand:
        """Return a hand whose sums are a row for each panel."""
        from lagbc.methods.cpu import searches

        plan = searches.plan_of_groups(self._rtol, stop)
        state = searches.prepare_groups(self._graph, plan, self._in_group, endpoints=self._endpoints)

        def run(_: Span, roots: Items) -> list[NDArray[np.float64]]:
            raise_if_stopped()
            return list(searches.sum_groups(state, roots, self.panel))

        return run

    def add(self, total: Total, span: Span, sums: list[NDArray[np.float64]]) -> Total:
        """Add panel after panel."""
        whole = self.finish(total)
        for of_panel in sums:
            whole = whole + of_panel
        return Total(span.last, whole)

    def finish(self, total: Total) -> NDArray[np.float64]:
        """Return a number a group."""
        return np.zeros(self._in_group.shape[1]) if total.whole is None else total.whole


def _fit_groups(graph: Graph, groups: int, settings: Settings) -> tuple[int, int]:
    """Return how many groups are counted at once, and by how many threads: by one in a small run."""
    from lagbc.methods.cpu.searches import arrays_of_groups, plan_of_groups

    n = max(graph.n, 1)
    most = max(1, min(_MOST_AT_ONCE, _SHARE_BYTES // (8 * n)))
    _, held = host_graph_bytes(graph, plan_of_groups(0.0, StopFlag()))
    held += n * groups  # marks of the vertices in each group
    search = bytes_of(arrays_of_groups(graph, 0)) + n * _BESIDE_BYTES
    room_of_call = Room.of_call(settings.memory, graph)
    small = min(TINY_RUN, room_of_call.on("cpu")) if room_of_call.host is not None else TINY_RUN
    if held + search + 9 * n * min(groups, most) <= small:
        return most, 1
    budget = room_of_call.on("cpu")
    for threads in range(most_threads(settings.usable_threads), 0, -1):
        room = (budget - held - threads * search) // (n * (8 * threads + 1))
        if room > 0:
            return min(room, most), threads
    needed = held + search + 9 * n
    raise OutOfMemoryError(
        f"group_bc with one thread, one group at a time, needs up to {in_units(needed)}, but the budget is "
        f"{in_units(budget)}; {raised_by()}"
    )


def closeness_into(
    A: GraphLike, read: Read, batch: int | str, options: Options, arguments: Arguments, standard_error: bool
) -> Any:
    """Return the closeness of the vertices `u`; arguments as for `lagbc.closeness`."""
    arguments = arguments.checked()
    if arguments.k is not None or arguments.rng is not None or standard_error is not False:
        raise InvalidValueError("u= asks for exact scores, by searches; leave out k=, rng= and standard_error=")
    does, own = "searches from each vertex asked for", ("batch", *Read._fields, "u", "sources", "cutoff", "wf_improved")
    settings = settings_of("closeness", does, options, own, batch)
    graph = as_graph(A, **read._asdict()).on_host
    given: Any = arguments.u
    is_one = isinstance(given, str) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0
    roots = _vertices("u", graph, [given] if is_one else given)
    among = None if arguments.sources is None else _vertices("sources", graph, arguments.sources)
    cutoffs = np.array([np.inf]) if arguments.cutoff is None else parse_cutoffs(arguments.cutoff)
    with running("closeness", settings.stop):
        without = [roots[i : i + 1] for i in range(len(roots))]
        sums = _sum_into(graph.transpose, roots, without, settings, "cpu", among, cutoffs)
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
    """Return scores made of distances into groups; arguments as for `lagbc.group_closeness`."""
    graph, groups, settings, arguments = _prepare_groups(A, record, read, options, arguments, on_gpu=True)
    device = "cuda" if settings.device == "cuda" or (settings.device == "auto" and is_cupy(A)) else "cpu"
    with running(record.name, settings.stop), _gpu_of(A, graph, settings) if device == "cuda" else nullcontext():
        searched, roots = _with_groups(graph.transpose, groups)
        without = [np.append(group, root) for group, root in zip(groups, roots, strict=True)]
        reached, distance, inverse = np.moveaxis(_sum_into(searched, roots, without, settings, device)[:, 0], -1, 0)
    found: Any = OfGroups(graph, _sizes(groups), reached=reached, distance=distance, inverse=inverse)
    return record.finish(found, arguments)


def _gpu_of(A: GraphLike, graph: Graph, settings: Settings) -> AbstractContextManager[Any]:
    """Return the context of the one GPU that searches; an error says that there is none, or that several are named."""
    next(row for row in methods_of(weighted=graph.weighted, device="cuda") if row.offers(_REACHED)).load()
    if len(numbers := gpu_numbers(settings.devices)) > 1:
        raise InvalidValueError(f"groups are searched from on one GPU, not on {len(numbers)}; name one as device=")
    return reading_gpu(A, settings.devices)


def scores_by_neighbours(A: GraphLike, record: Centrality, read: Read, options: Options, arguments: Arguments) -> Any:
    """Return scores made of the neighbours of groups; arguments as for `lagbc.group_degree`."""
    graph, groups, _, arguments = _prepare_groups(A, record, read, options, arguments, "counts neighbours")
    counts = np.array([len(np.unique(graph.indices[edges_out_of(graph, group)])) for group in groups], np.float64)
    found: Any = OfGroups(graph, _sizes(groups), neighbours=counts)
    return record.finish(found, arguments)


def _sizes(groups: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.array([len(group) for group in groups], np.int64)


def _prepare_groups(
    A: GraphLike,
    record: Centrality,
    read: Read,
    options: Options,
    arguments: Arguments,
    does: str = "searches from groups",
    *,
    on_gpu: bool = False,
) -> tuple[Graph, list[NDArray[np.int64]], Settings, Arguments]:
    """Check the arguments and options of a function of groups, and read the graph."""
    arguments = arguments.checked()
    own = ("groups", *Read._fields, *sorted(record.takes - {"groups"}))
    settings = settings_of(record.name, does, options, own, on_gpu=on_gpu)
    graph = as_graph(A, **read._asdict()).on_host
    return graph, members_of(graph, arguments.groups), settings, arguments


def _with_groups(graph: Graph, groups: Sequence[NDArray[np.int64]]) -> tuple[Graph, NDArray[np.int64]]:
    """Add a vertex for each group to the graph; return both.

    The group's outgoing edges leave its vertex, of parallel ones the shortest; none enters it. So distances from the
    vertex are distances from the group.
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
    edges = places_of(indptr, group)
    return edges[~np.isin(indices[edges], group)]


def _sum_into(
    graph: Graph,
    roots: NDArray[np.int64],
    without: Sequence[NDArray[np.int64]],
    settings: Settings,
    device: str,
    *within: Any,
) -> NDArray[np.float64]:
    """Sum the distances from roots, shape (roots, cutoffs, 3), by as many threads as fit into the memory."""
    searches = import_module(f"lagbc.methods.{'gpu' if device == 'cuda' else 'cpu'}.searches")
    threads = _fit_threads(searches, graph, len(roots), settings, device)
    work = Searches(searches, graph, roots, without, threads, within)
    with ExitStack() as stack:
        meter = Meter([Stretch(len(roots), 0, edges_of(graph))], settings.progress, "", stack)
        carry = inline if device == "cuda" else _carrier_of(graph, roots, threads)
        found: NDArray[np.float64] = work.finish(sum_over(work, carry, keeps=[partial(meter.keep, 0)]))
    return found


class Searches(Work):
    """The work of summing distances; items are places of roots, and root i does not count the vertices `without[i]`.

    `module` is lagbc/methods/cpu/searches.py or its like on the GPU; `within` are the last arguments of its sums.
    """

    def __init__(
        self,
        module: Any,
        graph: Graph,
        roots: NDArray[np.int64],
        without: Sequence[NDArray[np.int64]],
        hands: int,
        within: tuple[Any, ...],
    ) -> None:
        self.items, self.hands, self.batch = np.arange(len(roots)), hands, module.COLUMNS
        self._module, self._graph, self._roots, self._without, self._within = module, graph, roots, without, within

    @property
    def panel(self) -> int:
        """A batch, the roots that are searched together."""
        return self.batch

    def open(self, stop: StopFlag) -> Hand:
        """Return a hand whose sums are a row for each root."""
        state = self._module.prepare_distances(self._graph, stop)

        def run(span: Span, _: NDArray[np.int64]) -> NDArray[np.float64]:
            raise_if_stopped()
            roots, without = self._roots[span.place], self._without[span.first : span.last]
            return self._module.sum_distances(state, roots, without, *self._within)

        return run

    def add(self, total: Total, span: Span, sums: NDArray[np.float64]) -> Total:
        """Put the rows of a span behind those of the total."""
        return Total(span.last, np.concatenate([self.finish(total), sums]))

    def finish(self, total: Total) -> NDArray[np.float64]:
        """Return the sums, shape (roots, cutoffs, 3)."""
        cutoffs = len(self._within[1]) if self._within else 1
        return np.zeros((0, cutoffs, self._module.SUMS)) if total.whole is None else total.whole


def _fit_threads(searches: Any, graph: Graph, roots: int, settings: Settings, device: str) -> int:
    """Return how many threads fit into the memory, and have roots to search from; on a GPU it is one."""
    _, held = bytes_of_swept(graph, searches.plan_of_distances(StopFlag()), device)
    a_thread = bytes_of(searches.arrays_of_distances(graph))
    budget = Room.of_call(settings.memory, graph).for_need(held + a_thread, device)
    if held + a_thread > budget:
        raise OutOfMemoryError(
            f"a search from {searches.COLUMNS} vertices on {device} needs up to {in_units(held + a_thread)}, but the "
            f"budget is {in_units(budget)}; {raised_by()}"
        )
    batches: int = -(-roots // searches.COLUMNS)
    most = 1 if device == "cuda" else min(most_threads(settings.usable_threads), batches)
    return max(1, min(most, (budget - held) // max(a_thread, 1)))
