"""Sums within cutoffs and decays on the GPU: a block of threads a block of roots, at the cost of what these reach.

Each block of threads has a *slot*: a vertex of 32 bytes for each row of the graph, and lists with room for what a root
reaches, which grow when one reaches more. It goes through the roots of a block one after the other, searches from each
up to the largest radius, and adds what it sums to; search.cuh and sums.cuh say how. So the batch of a plan is how many
roots are under way at a time.

What a block of roots sums to, at the vertices and edges that it has touched, is written behind what others have
written, as they come. Where there is no room left, those that are done are taken, and the others launched again.

Every sum is a tree of fixed shape over edges in their order, or of integers, and the roots of a block are added in
their order: the bits depend on the graph, the roots and the width of virtual warps alone.

References
----------
U. Brandes, A faster algorithm for betweenness centrality, Journal of Mathematical Sociology 25 (2001) 163-177.

A. Crauser, K. Mehlhorn, U. Meyer and P. Sanders, A parallelization of Dijkstra's shortest path algorithm, MFCS 1998.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc.cuda.compiler import THREADS
from lagbc.cuda.host import pinned_flag
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import Blocks, Interrupted, SweepPlan
from lagbc.methods.gpu.common.arrays import fill
from lagbc.methods.gpu.common.rows import upload_bytes
from lagbc.methods.gpu.traversal.edges import Edges, edges_of, shortest_of
from lagbc.methods.gpu.traversal.teams import width_of
from lagbc.methods.gpu.within.kernels import WITHIN
from lagbc.methods.sums import SparseSums
from lagbc.methods.within import EDGES, ROOTS, VERTICES, Columns, as_sums, lay_out

Roots = NDArray[np.int64]

# A slot sums a block, so that there have to be many: 64 roots are neighbours enough to share most of what they touch.
blocks = Blocks(most=64, least=1, enough=4096, at_once=4096)

# Lists of a slot, in the order of what a launch says it needs; bytes of an entry beside its sums.
_LISTS = {"settled": 4 + 4 + 8, "waiting": 16 + 4, "rows": 4, "edge_rows": 8}
_NAME_BYTES = {VERTICES: 4, EDGES: 8}  # of a result
_HALTED = len(_LISTS)  # place of what tells that the host has asked to stop
_VERTEX_BYTES = 32
_MOST_WARPS = 16  # of a slot; as in within.cu


@dataclass(eq=False)
class State:
    """The device's arrays; rows are the vertices with edges, in sweep order.

    Attributes
    ----------
    plan : SweepPlan
    rows : int
    position : ndarray of int64, shape (n,)
        Row of each of the caller's vertices; `rows` or more if it has no edges.
    columns : Columns
    widths : dict
        How many columns the sums of vertices, edges and roots have.
    given : dict
        What all launches are given: graph, weights and bounds.
    room, most : dict
        How many entries each list of a slot has, and can ever need.
    counted : int
        Bytes of lists and results in the footprint.
    lists, results : dict
        Arrays of the slots, and of what blocks of roots sum to.
    stop : ndarray of uint8, shape (1,)
        Pinned: the host writes, kernels poll.
    """

    plan: SweepPlan
    rows: int
    position: NDArray[np.int64]
    columns: Columns
    widths: dict[str, int]
    given: dict[str, Any]
    room: dict[str, int]
    most: dict[str, int]
    counted: int
    stop: NDArray[np.uint8]
    lists: dict[str, Any] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)

    @property
    def lengths(self) -> str | None:
        """Type of distances, if edges have lengths."""
        return None if self.given["lengths"] is None else "float64"

    def kernel(self, name: str) -> Any:
        """Return a kernel, compiled for what is asked for."""
        return WITHIN.kernel(name, "float64", dist=self.lengths, sums=self.plan.sums)


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Bound the bytes of the graph on the device, of the slots as they are at first, and of what they sum to."""
    _, widths = lay_out(plan)
    slot = _VERTEX_BYTES * graph.active + 4 * graph.nnz * bool(widths[EDGES])
    growing = _growing_bytes(plan, widths, _first_room(graph, plan), _first_results(graph, plan))
    return upload_bytes(graph, plan) + 8 * graph.n * graph.weighted + plan.batch * slot + growing


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Upload the graph in sweep order, and allocate the slots.

    Raises
    ------
    ValueError
        ``plan.variant`` is one that gives a root more than one block of threads, or looks at all vertices.
    """
    if plan.variant not in (None, "work-efficient", "one-block"):
        raise ValueError(f"variant={plan.variant!r} takes no cutoff or decay; leave it out")
    bounds = plan.bounds
    assert bounds is not None
    WITHIN.begin("float64", dist="float64" if graph.weighted else None, sums=plan.sums)
    ordered, into = graph.reordered.on_device, graph.reordered.transpose.on_device
    rows = graph.active
    out = edges_of(ordered, rows)
    columns, widths = lay_out(plan)
    stop = pinned_flag()
    plan.stop.mirror(stop)
    radii = np.concatenate([bounds.cutoffs, bounds.radii, np.tile(bounds.decays, len(bounds.cutoffs))])
    state = State(
        plan=plan,
        rows=rows,
        position=graph.position,
        columns=columns,
        widths=widths,
        given={
            "n": rows,
            "width": plan.virtual_warp or width_of(graph),
            "endpoints": plan.endpoints,
            **_named("", out),
            **_named("in_", out if into is ordered else edges_of(into, rows)),
            "shortest": shortest_of(out, rows) if graph.weighted else None,
            "omega": None if plan.omega is None else cp.asarray(plan.omega[graph.order[:rows]]),
            "radius": plan.radius,
            "sigma_limit": plan.sigma_limit,
            "cutoffs": len(bounds.cutoffs),
            "radii": len(bounds.radii),
            "bounds": cp.asarray(radii),
            "columns": cp.asarray(np.array(columns, np.int32)),
            "vertex_columns": widths[VERTICES],
            "edge_columns": widths[EDGES],
            "root_columns": widths[ROOTS],
            "nnz": graph.nnz if widths[EDGES] else 0,
            "order": cp.asarray(graph.order[:rows]),
            "edge_order": cp.asarray(graph.edge_order) if widths[EDGES] else None,
        },
        room=_first_room(graph, plan),
        most=_most_room(graph, plan),
        counted=_growing_bytes(plan, widths, _first_room(graph, plan), _first_results(graph, plan)),
        stop=stop,
    )
    _allocate(state)
    _allocate_results(state, _first_results(graph, plan))
    return state


def sum_within(state: State, blocks: Sequence[Roots]) -> Iterator[tuple[SparseSums, NDArray[np.bool_]]]:
    """Sum blocks of roots within the bounds of the plan; all of them, before the first is yielded."""
    found: dict[int, tuple[SparseSums, NDArray[np.bool_]]] = {}
    left = list(range(len(blocks)))
    while left:
        state.plan.stop.check()
        found |= _launch(state, {number: blocks[number] for number in left})
        left = [number for number in left if number not in found]
    return (found[number] for number in range(len(blocks)))


def _named(prefix: str, edges: Edges) -> dict[str, Any]:
    indptr, indices, lengths = edges
    return {f"{prefix}indptr": indptr, f"{prefix}indices": cp.asarray(indices, np.int32), f"{prefix}lengths": lengths}


def _most_room(graph: Graph, plan: SweepPlan) -> dict[str, int]:
    """Bound what a list ever holds; a vertex waits at most once for each edge that enters it."""
    _, widths = lay_out(plan)
    return {
        "settled": graph.active,
        "waiting": graph.nnz * graph.weighted,
        "rows": graph.active * bool(widths[VERTICES]),
        "edge_rows": graph.nnz * bool(widths[EDGES]),
    }


def _first_room(graph: Graph, plan: SweepPlan) -> dict[str, int]:
    return {name: max(1, min(most, tuning.WITHIN_FIRST_ROOM)) for name, most in _most_room(graph, plan).items()}


def _growing_bytes(plan: SweepPlan, widths: dict[str, int], room: dict[str, int], results: dict[str, int]) -> int:
    """Count the bytes of the lists of all slots, and of what blocks sum to at so many vertices and edges."""
    own = {"rows": 8 * widths[VERTICES], "edge_rows": 8 * widths[EDGES]}
    slot = sum(count * (_LISTS[name] + own.get(name, 0)) for name, count in room.items()) + 2 * _LISTS["settled"]
    return plan.batch * slot + sum(results[kind] * (size + 8 * widths[kind]) for kind, size in _NAME_BYTES.items())


def _require_growth(state: State, room: dict[str, int], results: dict[str, int]) -> None:
    """Raise MemoryError if lists and results may not become so large."""
    state.plan.require_growth(_growing_bytes(state.plan, state.widths, room, results) - state.counted)


def _first_results(graph: Graph, plan: SweepPlan) -> dict[str, int]:
    """Tell for how many vertices and edges of all blocks there is room at first: as lists have it, of two a slot."""
    roots, room = graph.n if plan.roots is None else plan.roots, _first_room(graph, plan)
    several = max(1, min(2 * plan.batch, blocks.at_once, -(-roots // blocks.size(roots))))
    return {VERTICES: several * room["rows"], EDGES: several * room["edge_rows"]}


def _allocate(state: State) -> None:
    """Make the slots anew, with the room that there is to be; what they hold is lost."""
    slots, room, widths = state.plan.batch, state.room, state.widths
    state.lists = {}
    ends = slots, room["settled"] + 2
    state.lists = {
        "vertices": cp.empty((slots, max(1, state.rows), _VERTEX_BYTES // 8)),
        "settled": cp.empty((slots, room["settled"]), np.int32),
        "ends": cp.empty(ends, np.int32),
        "floors": cp.empty(ends),
        "entries": cp.empty((slots, room["waiting"], 2)),
        "waiting": cp.empty((slots, room["waiting"]), np.int32),
        "named": cp.empty((slots, room["rows"]), np.int32),
        "values": cp.empty((slots, room["rows"], widths[VERTICES])),
        "edge_rows": cp.empty((slots, state.given["nnz"]), np.int32),
        "named_edges": cp.empty((slots, room["edge_rows"]), np.int64),
        "edge_values": cp.empty((slots, room["edge_rows"], widths[EDGES])),
    }
    vertices = slots * state.rows
    if vertices:
        grid = (min(-(-vertices // THREADS), 2**16),)
        state.kernel("within_clear")(grid, THREADS, count=vertices, vertices=state.lists["vertices"])
    fill(state.lists["edge_rows"], -1)


def _allocate_results(state: State, rows: dict[str, int]) -> None:
    state.results = {}
    state.results = {
        "names": cp.empty(rows[VERTICES], np.int32),
        "sums": cp.empty((rows[VERTICES], state.widths[VERTICES])),
        "edge_names": cp.empty(rows[EDGES], np.int64),
        "edge_sums": cp.empty((rows[EDGES], state.widths[EDGES])),
    }


def _rows_of_results(state: State) -> dict[str, int]:
    return {VERTICES: len(state.results["names"]), EDGES: len(state.results["edge_names"])}


def _launch(state: State, some: dict[int, Roots]) -> dict[int, tuple[SparseSums, NDArray[np.bool_]]]:
    """Sum blocks, as many as there is room for, and make more where there was none; return what those come to."""
    roots = np.concatenate(list(some.values()))
    firsts = np.cumsum([0, *map(len, some.values())])
    position = np.where(roots < 0, state.rows, state.position[roots])
    multiplicity = state.plan.multiplicity
    slots = min(state.plan.batch, len(some))
    told: dict[str, Any] = {
        "next": cp.zeros(1, np.int32),
        "taken": cp.zeros(2, np.uint64),
        "places": cp.zeros((len(some), 4), np.int64),
        "outcome": cp.zeros(len(roots), np.int32),
        "done": cp.zeros(len(some), np.int32),
        "needed": cp.zeros(len(_LISTS) + 1, np.int32),
        "root_sums": cp.zeros((len(roots), state.widths[ROOTS])),
    }
    state.kernel("within_sum")(
        (slots,),
        _threads(slots),
        blocks=len(some),
        firsts=cp.asarray(firsts.astype(np.int32)),
        roots=cp.asarray(np.where(position < state.rows, position, -1).astype(np.int32)),
        times=None if multiplicity is None else cp.asarray(multiplicity[roots]),
        stop=state.stop,
        room=len(state.results["names"]),
        edge_room=len(state.results["edge_names"]),
        most_settled=state.room["settled"],
        most_waiting=state.room["waiting"],
        most_rows=state.room["rows"],
        most_edge_rows=state.room["edge_rows"],
        **state.given,
        **state.lists,
        **state.results,
        **told,
    )
    needed, done = told["needed"].get(), told["done"].get()
    if needed[_HALTED]:
        raise Interrupted
    found = _take(state, some, firsts, done, {name: told[name].get() for name in ("places", "outcome", "root_sums")})
    if not _grow(state, needed) and len(found) < len(some):
        _grow_results(state, told["taken"].get(), len(found), len(some))
    return found


def _threads(slots: int) -> int:
    """Threads of a slot: a warp where there are many slots, more where few have the device to themselves."""
    warps = tuning.WITHIN_WARPS * cp.cuda.Device().attributes["MultiProcessorCount"] // slots
    return 32 * (1 << min(max(1, warps), _MOST_WARPS).bit_length() - 1)


def _grow(state: State, needed: NDArray[np.int32]) -> bool:
    """Make room for twice as much, and what is needed, of all that was too little; tell whether there was such."""
    more = {
        name: min(max(2 * state.room[name], int(count)), state.most[name])
        for name, count in zip(_LISTS, needed[:_HALTED], strict=True)
        if count > state.room[name]
    }
    if more:
        _require_growth(state, state.room | more, _rows_of_results(state))
        state.room |= more
        _allocate(state)
    return bool(more)


def _grow_results(state: State, taken: NDArray[np.uint64], done: int, asked: int) -> None:
    """Make room for what the blocks that are left sum to, as those that are done, if the budget allows it.

    `taken` is what those that were tried have asked for: so much there has to be where none was done.
    """
    rows = _rows_of_results(state)
    wanted = {
        kind: have if count <= have else max(int(count), int(1.25 * have * (asked - done) / max(1, done)))
        for (kind, have), count in zip(rows.items(), taken, strict=True)
    }
    try:
        _require_growth(state, state.room, wanted)
        _allocate_results(state, wanted)
    except MemoryError:
        if not done:
            raise
        _allocate_results(state, rows)


def _take(
    state: State, some: dict[int, Roots], firsts: NDArray[np.int64], done: NDArray[np.int32], told: dict[str, Any]
) -> dict[int, tuple[SparseSums, NDArray[np.bool_]]]:
    """Bring what the blocks that are done sum to to the host."""
    places = told["places"]
    ends = (places[:, ::2] + places[:, 1::2]).max(axis=0)
    names, sums = (state.results[name][: ends[0]].get() for name in ("names", "sums"))
    edge_names, edge_sums = (state.results[name][: ends[1]].get() for name in ("edge_names", "edge_sums"))
    found = {}
    for k, (number, roots) in enumerate(some.items()):
        if not done[k]:
            continue
        at, count, edge_at, edge_count = places[k].tolist()
        vertices, edges, own = slice(at, at + count), slice(edge_at, edge_at + edge_count), slice(*firsts[k : k + 2])
        here = np.flatnonzero(roots >= 0)
        arrays = {VERTICES: sums[vertices], EDGES: edge_sums[edges], ROOTS: told["root_sums"][own][here]}
        summed = as_sums(state.plan, state.columns, arrays)
        part = SparseSums(names[vertices], edge_names[edges], roots[here], summed)
        found[number] = part, told["outcome"][own] != 0
    return found
