"""The plan of a call: for each piece a method, a batch, threads, memory and the reason. It is data; nothing of it runs.

The method depends on graph, request and kind of device; never on threads, time or memory. A piece takes the first of
the ranked methods that fits into the memory (`lagbc.planning.choose`), with batch and threads that fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from lagbc import tuning
from lagbc.calls import in_phase
from lagbc.errors import InvalidValueError, MemoryWarning, quantity, warn
from lagbc.graph.graph import Graph
from lagbc.graph.names import size_in_words
from lagbc.limits import TINY_RUN, Room, in_units, most_threads
from lagbc.methods import table
from lagbc.methods.table import Method
from lagbc.native import cores
from lagbc.options import Settings
from lagbc.planning.choose import AS_A_RULE, Selection, ranked, where_by_work
from lagbc.planning.sweep import Memory, MemoryEstimate, Sweep, fit_memory, memory_of_call, most_batch, over_budget
from lagbc.reduce.chains import ADDED, group_size
from lagbc.reduce.pieces import Chains, Piece, Reduced, Small, Whole
from lagbc.request import Request

_WORK = attrgetter("work")


class Plan(NamedTuple):
    """How a call is carried out; it prints, compares and pickles.

    Attributes
    ----------
    sweeps : tuple
        For each piece that the graph falls into: its ``method`` and ``device``, ``batch``, ``threads``, ``memory``, the
        predicted ``seconds``, and the ``reason`` of the method. All small blocks are one piece.
    method, device : str
        Of the piece with most work.
    reason : str
        How far the graph is reduced, and why this method.
    memory : tuple
        Bounds of the bytes of the call: ``.graph``, ``.workspace``, ``.scores``, and their ``.total``.
    """

    sweeps: tuple[Sweep, ...]
    method: str
    device: str
    reason: str
    memory: Memory
    is_short: bool  # one thread takes some 10 ms: starting another is felt, delaying a Ctrl-C is not
    main: int  # the number of the sweep with most work; -1 without one
    roots: int
    vertices: int  # vertices, entries, directed: of the graph
    entries: int
    directed: bool

    @property
    def in_short(self) -> str:
        """The plan in one line."""
        size = size_in_words(self.vertices, self.entries, directed=self.directed)
        roots, memory = quantity(self.roots, "root"), in_units(self.memory.total)
        return f"{size}; {roots}; {self.reason}; up to {memory} of memory"

    def __str__(self) -> str:
        return "\n".join([self.in_short, *(f"- {sweep}" for sweep in self.sweeps)])

    @property
    def labels(self) -> list[str]:
        """The labels of all sweeps."""
        return [sweep.label for sweep in self.sweeps]

    def limit(self, room: Room) -> int:
        """Return the bytes that the call may take: of the host, where small blocks alone are left."""
        return room.for_need(self.memory.total, self.device if self.main >= 0 else "cpu")

    def estimate(self, room: Room) -> MemoryEstimate:
        """Return the memory of the call beside its budget."""
        batch, threads = (self.sweeps[self.main].batch, self.sweeps[self.main].threads) if self.main >= 0 else (1, 1)
        return MemoryEstimate(self.method, self.device, batch, threads, *self.memory, self.limit(room))

    def warn_of_less_memory(self, asked: int | None) -> None:
        """Warn where the memory budget takes the CPU in place of the GPU, or a smaller batch than was asked for."""
        for sweep in self.sweeps:
            if sweep.too_large:
                warn(f"{sweep.too_large}; taking {sweep.method} on {sweep.device}", MemoryWarning)
                break
        for sweep in self.sweeps:
            if asked is not None and sweep.batch < sweep.most:
                warn(f"batch={asked} is over the memory budget; taking {sweep.batch}", MemoryWarning)
                return


@in_phase("prepare")
def make_plan(
    graph: Graph,
    request: Request,
    reduced: Reduced,
    settings: Settings,
    room: Room,
    labels: Sequence[str] = (),
    seconds: float = inf,
    beside: int = 0,
) -> Plan:
    """Plan the sums of all pieces; a resumed call keeps the methods of the `labels` of its sweeps.

    No state is prepared. Where "auto" has a choice, the graph is put in order and a probe of so many `seconds` searches
    it. `beside` counts the bytes of arrays, where the sums are, of those who take them. ValueError names an option that
    means nothing to the method.
    """
    given = _given(request, settings)
    if reduced.tree is not None and (given or settings.method != "auto" or settings.dtype != "float64"):
        _require_options(_ranked(graph, request, settings)[0].method, settings.dtype, given)
    kept = labels if settings.method == "auto" and len(labels) == len(reduced.pieces) else ()
    sweeps: list[Sweep] = []
    for number, piece in enumerate(reduced.pieces):
        sweeps.append(SWEEPS[type(piece)](piece, settings, room, kept[number] if kept else "", seconds, beside))
    return _plan_of(graph, request, reduced, tuple(sweeps), settings)


@in_phase("prepare")
def with_sweep(
    graph: Graph, request: Request, reduced: Reduced, plan: Plan, number: int, settings: Settings, room: Room
) -> Plan:
    """Return the plan with one piece planned anew, as a whole; the other sweeps stay."""
    piece, sweeps = reduced.pieces[number], list(plan.sweeps)
    assert isinstance(piece, Whole)
    sweeps[number] = _sweep_of_whole(piece, settings, room)
    return _plan_of(graph, request, reduced, tuple(sweeps), settings)


def _plan_of(graph: Graph, request: Request, reduced: Reduced, sweeps: tuple[Sweep, ...], settings: Settings) -> Plan:
    """Put the sweeps of all pieces together."""
    main, threads = 0, 1
    for sweep in sweeps:
        threads = max(threads, 1 if sweep.work == "small" else sweep.threads)
    if reduced.tree is None:
        method, device, reason, needed = sweeps[0].method, sweeps[0].device, sweeps[0].reason, sweeps[0].memory
    else:
        needed = memory_of_call(graph, sweeps, edges="edges" in request.sums)
        main = max(range(len(reduced.large)), key=lambda number: _swept(reduced.pieces[number]), default=-1)
        if main < 0:  # small blocks alone are left
            row = _ranked(graph, request, settings)[0].method
            method, device, reason = str(row.name), str(row.device), str(reduced)
        else:
            method, device, reason = sweeps[main].method, sweeps[main].device, f"{reduced}; {sweeps[main].reason}"
    is_short = needed.total <= TINY_RUN
    if not is_short and threads == 1:
        is_short = sum(map(_WORK, reduced.pieces)) <= tuning.THREAD_WORK
    size = graph.n, graph.nnz, graph.directed
    return Plan(sweeps, method, device, reason, needed, is_short, main, len(request.roots), *size)


def _swept(piece: Piece) -> int:
    """Return roots that are swept, those with out-edges, times edges."""
    if isinstance(piece, Whole):
        return int(np.count_nonzero(piece.graph.out_degrees[piece.request.roots])) * piece.graph.nnz
    return piece.work


def sweep_of_small(piece: Small, settings: Settings, *_: object) -> Sweep:
    """Plan the sums of small bicomponents."""
    name = "work-efficient" if piece.blocks.rows.weights is None else "dijkstra"
    weighted, slices = piece.blocks.rows.weights is not None, len(piece.blocks.ends)
    reason = f"{quantity(len(piece.blocks.numbers), 'small block')}, root by root"
    return Sweep("small", name, "cpu", weighted, slices, 1, settings.usable_threads, reason, most=1)


def _sweep_of_whole(
    piece: Whole, settings: Settings, room: Room, label: str = "", seconds: float = inf, beside: int = 0
) -> Sweep:
    """Choose method and device; where "auto" meets a GPU that is too small, a method of the CPU that does the same.

    A method that a checkpoint began with is kept: it is in the `label`.
    """
    graph, request, given = piece.graph, piece.request, _given(piece.request, settings)
    if label:
        name, _, device = label.partition(" ")[2].rpartition(" ")
        if name and settings.device in ("auto", device) and _is_offered(graph, request, name, device):
            own = settings._replace(method=name, device=device)
            sweep = _first_of_ranked(piece, own, room, seconds, beside)
            return sweep._replace(reason=f"{name} on {device} (the checkpoint was begun with it)")
    if settings.method == "auto" and not given and request.demand is None and request.bounds is None:
        first = of_short_run(graph, request.sums, settings.device, len(request.roots))
        if first is not None:  # of all ranked, which are not made
            sweep = fit_memory(piece, _sweep(piece, first, settings, given, beside), room)
            if sweep.memory.total <= room.for_need(sweep.memory.total, sweep.device):
                return sweep
    sweep = _first_of_ranked(piece, settings, room, seconds, beside)
    if sweep.device == "cuda" and settings.device == "auto" and settings.dtype == "float64":
        limit = room.for_need(sweep.memory.total, sweep.device)
        if sweep.memory.total > limit and _is_offered(graph, request, settings.method, "cpu"):
            piece.lined_up = None
            on_cpu = _first_of_ranked(piece, settings._replace(device="cpu"), room, seconds, beside)
            return on_cpu._replace(too_large=over_budget(sweep, sweep.memory.total, limit))
    return sweep


def of_short_run(graph: Graph, sums: frozenset[str], device: str, roots: int) -> Selection | None:
    """Return the first of `ranked` without a rank: of "auto", for a run on a CPU that is too short for a probe.

    It takes no demand, bounds or options. None stands for any other run.
    """
    work = roots * graph.nnz
    if device == "cuda" or work >= min(tuning.PROBE_WORK, tuning.GPU_WORK):
        return None
    for row in table.METHODS:
        if (row.device, row.weighted, row.formulation) == ("cpu", graph.weighted, tuning.OF_SMALL_RUNS["cpu"]):
            where = f"device={device!r}" if device == "cpu" else table.why_no_gpu() or where_by_work(work)
            return Selection(row, f"{row.name} on {row.device} ({where}; {AS_A_RULE})") if row.offers(sums) else None
    return None


def _first_of_ranked(piece: Whole, settings: Settings, room: Room, seconds: float, beside: int) -> Sweep:
    """Return the sweep of a piece by the first of the ranked methods that fits into the memory."""
    given = _given(piece.request, settings)
    selections = _ranked(piece.graph, piece.request, settings, piece, seconds)
    return _first_within(piece, (_sweep(piece, one, settings, given, beside) for one in selections), room)


def _first_within(piece: Whole | Chains, sweeps: Iterable[Sweep], room: Room) -> Sweep:
    """Return the first of the sweeps that fits into the memory, told of one that does not; the first if none does."""
    first, too_large = None, ""
    for made in sweeps:
        sweep = fit_memory(piece, made, room)
        limit = room.for_need(sweep.memory.total, sweep.device)
        if sweep.memory.total <= limit:
            return sweep._replace(reason=f"{sweep.reason}; {too_large}") if too_large else sweep
        if first is None:
            first, too_large = sweep, over_budget(sweep, sweep.memory.total, limit)
    assert first is not None
    return first


def _sweep(piece: Whole, selection: Selection, settings: Settings, given: Mapping[str, Any], beside: int) -> Sweep:
    """Make the sweep of a piece by a method, with the batch and the threads asked for."""
    row, request, graph = selection.method, piece.request, piece.graph
    if given or settings.dtype != "float64":
        _require_options(row, settings.dtype, given)
    roots, batching, threads = len(request.roots), row.load().batching, settings.threads
    if threads is None and row.device == "cpu":  # as many as have some work each
        threads = 1 + int(roots * graph.nnz / tuning.THREAD_WORK)
        threads = threads if threads == 1 else min(threads, settings.usable_threads)
    threads = settings.usable_threads if threads is None else threads
    # A worker of an executor has one chunk after the other.
    shared = roots if settings.executor is None else min(roots, batching.chunk(row.device))
    batch = most_batch(row, batching, roots, -(-shared // threads), settings.batch)
    if threads > 1 and batching.concurrent:
        threads = most_threads(min(threads, max(-(-roots // batch), 1)))
    dtype = settings.dtype
    if dtype == "float32":  # sums of targets, or stress, may leave its range
        has_targets = request.omega is not None or request.demand is not None or request.bounds is not None
        dtype = "float64" if has_targets or "stress" in request.sums else dtype
    a_root, reason = selection.a_root, selection.reason
    variant, virtual_warp = table.ways_of(settings.method) if row.ways else (None, None)
    return Sweep(
        work="within" if request.bounds is not None else "roots" if piece.is_part else "whole",
        method=row.name,
        device=row.device,
        weighted=row.weighted,
        roots=roots,
        batch=batch,
        threads=threads,
        reason=reason + _gpus(settings) if row.device == "cuda" else reason,
        most=batch,
        seconds=None if a_root is None else a_root * roots / 1000,
        dtype=dtype,
        bucket_width=settings.bucket_width,
        variant=variant,
        virtual_warp=virtual_warp,
        beside=beside,
    )


def _sweep_of_chains(piece: Chains, settings: Settings, room: Room, *_: object) -> Sweep:
    """Choose a method that sweeps from junctions, a group at a time, with target weights for each root.

    On a GPU groups are halved until they fit into the memory; where "auto" chose a GPU that is too small, the CPU is
    taken.
    """
    sweep = _sweep_of_chains_on(piece, piece.device, settings, room)
    limit = room.for_need(sweep.memory.total, sweep.device)
    is_chosen = settings.device == settings.method == "auto"
    if sweep.memory.total > limit and piece.device == "cuda" and is_chosen:
        on_cpu = _sweep_of_chains_on(piece, "cpu", settings, room)
        return on_cpu._replace(too_large=over_budget(sweep, sweep.memory.total, limit))
    return sweep


# The functions that plan the sums of a piece, by its class.
SWEEPS: dict[type, Callable[..., Sweep]] = {Small: sweep_of_small, Whole: _sweep_of_whole, Chains: _sweep_of_chains}


def _sweep_of_chains_on(piece: Chains, device: str, settings: Settings, room: Room) -> Sweep:
    graph, contracted = piece.graph, piece.contracted
    roots = graph.order[contracted.roots]
    in_rows = Whole(graph, Request(ADDED, roots), lined_up=roots[graph.out_degrees[roots] > 0])
    sweeps = list[Sweep]()
    for row, why, _ in ranked(
        graph, method=settings.method, device=device, roots=len(roots), sums=ADDED, demand=True, probed=in_rows
    ):
        size, batching = group_size(contracted, device), row.load().batching
        if device == "cuda":  # a group for each GPU
            share = -(-len(roots) // max(1, len(table.gpu_numbers(settings.devices))))
            size = min(size, -(-share // batching.block) * batching.block)
        if not batching.concurrent and settings.batch is not None:
            size = min(size, batching.round(settings.batch))
        threads, reason = min(settings.usable_threads, max(1, -(-len(roots) // size))), f"junctions by {why}"
        sweeps.append(Sweep("chains", row.name, row.device, True, len(roots), size, threads, reason, most=size))
    return _first_within(piece, sweeps, room)


def _ranked(
    graph: Graph, request: Request, settings: Settings, piece: Whole | None = None, seconds: float = inf
) -> list[Selection]:
    """Rank the methods for a request; without a piece, by rule: the first decides the options that mean something.

    Of a stated memory one search at a time is counted; else the cores share them.
    """
    return ranked(
        graph,
        method=settings.method,
        device=settings.device,
        roots=len(request.roots),
        sums=request.sums,
        demand=request.demand is not None,
        bounds=request.bounds is not None,
        options=_given(request, settings).keys(),
        probed=piece,
        seconds=seconds,
        at_once=1 if Room.of_call(settings.memory, graph).host is not None else cores(),
    )


def _gpus(settings: Settings) -> str:
    """Say which of several GPUs sweep the roots."""
    if table.count_gpus() < 2:
        return ""
    numbers = table.gpu_numbers(settings.devices)
    if len(numbers) > 1:
        return f"; GPUs {', '.join(map(str, numbers))} share the roots"
    return f"; on one of {table.count_gpus()} GPUs (device='all' takes all)"


def _is_offered(graph: Graph, request: Request, method: str, device: str) -> bool:
    """Whether an available method of this name makes the sums of a request."""
    given = {"demand": request.demand is not None, "bounds": request.bounds is not None}
    rows = table.methods_of(weighted=graph.weighted, method=method, device=device)
    return any(row.available and row.offers(request.sums, **given) for row in rows)


def _require_options(method: Method, dtype: str, given: Mapping[str, Any]) -> None:
    """Raise ValueError if an option means nothing to the method."""
    if dtype != "float64" and method.device == "cpu":
        raise InvalidValueError(
            f"dtype={dtype!r}: {method.name} on cpu counts paths in 'float64'; device='cuda' takes 'float32', too"
        )
    for name, value in given.items():
        if not method.reads(name):
            rows = [row for row in table.METHODS if row.reads(name)]
            taking = [f"{row.name} on {row.device}{' with lengths' * row.weighted}" for row in rows]
            hops = "" if method.weighted else " without lengths"
            are_missing = bool(rows) and all(row.weighted for row in rows) and not method.weighted
            raise InvalidValueError(
                f"{name}={value!r} means nothing to {method.name} on {method.device}{hops}; "
                + (f"it goes with: {', '.join(taking)}" if taking else "no method that is available takes it")
                + "; weighted=True takes the values of edges for lengths" * are_missing
            )


def _given(request: Request, settings: Settings) -> dict[str, Any]:
    """Return the given options that only some methods read."""
    given: dict[str, Any] = {"rtol": request.rtol} if request.rtol else {}
    if request.class_sizes is not None:
        given["class_sizes"] = request.class_sizes
    return given | dict(settings.of_some_methods)
