"""Unweighted betweenness on the GPU by masked sparse matrix products on bit rows.

The method of `lagbc.cpu.batched_hops` with 256 roots, the columns of a group, on a warp's 32 lanes; a batch is any
number of groups. Graphs of few levels are swept a launch a level, by pull over all rows, all groups at once. Deep
graphs are swept in one cooperative launch, in which each group of roots has blocks of its own, a queue of rows and a
barrier a level. Which of the two it is, `Graph.is_deep` says; on the other graphs the groups whose roots have more than
`_MOST_LAUNCHES` levels are swept again as deep ones.

Rows are gathered in their own order by one warp (a hub's by eight, whose sums are joined in their order), and each
group is swept and summed by itself: the bits depend on nothing but graph, roots and device type.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc.gpu import compiler
from lagbc.gpu.host import host_pointer, null, pinned_flag, pointer
from lagbc.graph import Graph
from lagbc.plan import Interrupted, Plan, UnlikeBlocks
from lagbc.sums import Sums

COLUMNS = 256
_BYTES = COLUMNS // 8
_WARPS = compiler.THREADS // 32
# Rows with more edges than this get a block.
_HUB_EDGES = 1024
# A sweep by launches keeps a bit row a vertex and level; past so many levels the graph is swept as a deep one.
_MOST_LAUNCHES = 64
# Queue entries a vertex that are allocated at first in a deep sweep; the queue grows on demand.
_FIRST_ENTRIES = 24

_DONE, _QUEUE_FULL, _STOPPED = 0, 1, 2


@dataclass(eq=False)
class State:
    """The device's arrays; vertices are in sweep order, those without edges left out. A group's rows are together."""

    plan: Plan
    is_deep: bool
    rows: int  # vertices with edges
    groups: int
    order: Any  # (rows,) int64: the caller's vertex of each row
    position: NDArray[np.int64]  # (n,): row of each of the caller's vertices
    indptr: Any
    indices: Any
    in_indptr: Any
    in_indices: Any
    hubs: int
    in_hubs: int
    omega: Any  # (rows,) or None
    values: Any  # (groups, rows, 256): sigma, then c
    visited: Any  # (groups, rows, 32) uint8
    stop: Any  # (1,) uint8, pinned: the host writes, kernels poll
    queue_entries: int  # of each group in a deep sweep
    deep: DeepRows | None = None
    level_bits: list[Any] = field(default_factory=list)  # a launch a level: (groups, rows, 32) uint8 each
    level_live: list[Any] = field(default_factory=list)  # and (groups, rows / 32) uint32: which rows have any bit


@dataclass(eq=False)
class DeepRows:
    """What a sweep in one launch needs besides; see kernels/batched_hops_deep.cu."""

    bits: Any  # (groups, 4, rows, 32) uint8
    stamps: Any  # (groups, rows)
    queue: Any  # (groups, capacity)
    masks: Any  # (groups, capacity, 32) uint8
    starts: Any  # (groups, rows + 3)
    found: Any  # (groups, rows + 3)
    barriers: Any
    halts: Any
    status: Any  # (groups, 2): how it ended, last level

    @property
    def capacity(self) -> int:
        """Entries of a group's queue."""
        return int(self.queue.shape[1])


@dataclass(frozen=True, eq=False)
class Placed:
    """The roots of a batch that have edges, on the device, int64 each; the others reach nothing."""

    position: Any  # row in sweep order
    group: Any
    column: Any  # in the group


@dataclass(frozen=True, eq=False)
class Levels:
    """What a forward sweep leaves in the state."""

    roots: NDArray[np.int64]
    placed: Placed
    depth: int
    deep: bool
    overflowed: NDArray[np.bool_]


def prepare(graph: Graph, plan: Plan) -> State:
    """Upload the graph in sweep order (once a graph) and allocate rows for the batch."""
    ordered, into = graph.reordered.on_device, graph.reordered.transpose.on_device
    rows = int(np.count_nonzero((graph.out_degrees > 0) | (graph.in_degrees > 0)))
    groups = plan.batch // COLUMNS
    position = np.empty(graph.n, np.int64)
    position[graph.order] = np.arange(graph.n)
    indptr, indices = cp.asarray(ordered.indptr[: rows + 1]), cp.asarray(ordered.indices)
    symmetric = into is ordered
    stop = pinned_flag()
    plan.stop.mirror(stop)
    state = State(
        plan=plan,
        is_deep=graph.is_deep,
        rows=rows,
        groups=groups,
        order=cp.asarray(graph.order[:rows]),
        position=position,
        indptr=indptr,
        indices=indices,
        in_indptr=indptr if symmetric else cp.asarray(into.indptr[: rows + 1]),
        in_indices=indices if symmetric else cp.asarray(into.indices),
        hubs=_count_hubs(ordered.out_degrees),
        in_hubs=_count_hubs(into.out_degrees),
        omega=None if plan.omega is None else cp.asarray(plan.omega[graph.order[:rows]]),
        values=cp.empty((groups, rows, COLUMNS), plan.dtype),
        visited=cp.empty((groups, rows, _BYTES), cp.uint8),
        stop=stop,
        queue_entries=_FIRST_ENTRIES * rows + COLUMNS,
    )
    return state


def forward(state: State, roots: NDArray[np.int64]) -> Levels:
    """Find the levels of a batch of roots and count their shortest paths; a root of -1 is an absent one.

    Raises
    ------
    UnlikeBlocks
        Some groups of roots are too deep for a launch a level, and some are not: each kind has to come by itself.
    """
    placed = _place(state, roots)
    if not state.is_deep:
        state.deep = None
        levels = _forward_by_launches(state, roots, placed)
        if levels is not None:
            return levels
        state.level_bits.clear()
        state.level_live.clear()
    return _forward_deep(state, roots, placed)


def backward(state: State, levels: Levels, sums: Sums) -> None:
    """Add the dependencies of the roots that did not overflow to `sums.delta`, a row a group, in matrix order."""
    groups = -(-len(levels.roots) // COLUMNS)
    keep = cp.asarray(_bit_rows(~levels.overflowed, state.groups))
    multiplicity = None
    if state.plan.multiplicity is not None:
        weights = np.ones(state.groups * COLUMNS)
        weights[: len(levels.roots)] = state.plan.multiplicity[levels.roots]
        multiplicity = cp.asarray(weights)
    if levels.deep:
        scores = _backward_deep(state, len(levels.roots), keep, multiplicity)
    else:
        scores = _backward_by_launches(state, levels, groups, keep, multiplicity)
    if state.plan.endpoints:
        _add_ends(state, levels, keep, scores)
    sums.delta[:groups, state.order] += scores[:groups]


def _forward_by_launches(state: State, roots: NDArray[np.int64], placed: Placed) -> Levels | None:
    """Sweep forward a launch a level; None if all groups are too deep for that."""
    module = compiler.load("batched_hops_levels", state.plan.dtype)
    first, kernel = module.get_function("batched_hops_first"), module.get_function("batched_hops_forward")
    groups = -(-len(roots) // COLUMNS)
    grid = (state.in_hubs + -(-(state.rows - state.in_hubs) // _WARPS), groups, _parts(state))
    _set_roots(state, placed)
    for level in range(2):
        _clear_level(state, level)
    state.level_bits[1].fill(0)
    overflowed = cp.zeros((state.groups, _BYTES), cp.uint8)
    live = cp.zeros(_MOST_LAUNCHES, cp.int32)
    if len(placed.position):
        roots_and_rows = (placed.position, placed.group * COLUMNS + placed.column, state.indptr, state.indices)
        reached = (state.visited, state.level_bits[1], state.level_live[1], state.values, live[1:])
        first((len(placed.position),), (compiler.THREADS,), (np.int32(state.rows), *roots_and_rows, *reached))
    for level in range(1, _MOST_LAUNCHES):
        if not int(live[level]):
            return Levels(roots, placed, level - 1, False, _bits_of(overflowed, len(roots)))
        state.plan.stop.check()
        _clear_level(state, level + 1)
        arguments = (
            *(np.int32(state.rows), np.int32(state.in_hubs), np.int32(len(roots)), state.in_indptr, state.in_indices),
            *(state.level_live[level], state.level_bits[level], state.visited),
            *(state.level_live[level + 1], state.level_bits[level + 1], state.values, _sigma_limit(state), overflowed),
            live[level + 1 :],
        )
        kernel(grid, (compiler.THREADS,), arguments)
    too_deep = state.level_live[_MOST_LAUNCHES].any(axis=1).get()[:groups]
    if too_deep.all():
        return None
    raise UnlikeBlocks(too_deep)


def _backward_by_launches(state: State, levels: Levels, groups: int, keep: Any, multiplicity: Any) -> Any:
    """Return the scores of each group."""
    kernel = compiler.load("batched_hops_levels", state.plan.dtype).get_function("batched_hops_backward")
    grid = (state.hubs + -(-(state.rows - state.hubs) // _WARPS), groups, _parts(state))
    scores = cp.zeros((state.groups, _parts(state), state.rows))
    for level in range(levels.depth, 0, -1):
        state.plan.stop.check()
        is_last = level == levels.depth
        arguments = (
            *(np.int32(state.rows), np.int32(state.hubs), state.indptr, state.indices),
            *(state.level_live[level], state.level_bits[level]),
            *((null(), null()) if is_last else (state.level_live[level + 1], state.level_bits[level + 1])),
            *(keep, pointer(state.omega), pointer(multiplicity), state.values, scores),
        )
        kernel(grid, (compiler.THREADS,), arguments)
    return scores.sum(axis=1)


def _forward_deep(state: State, roots: NDArray[np.int64], placed: Placed) -> Levels:
    kernel = _deep_kernel(state, "forward")
    members = _members(kernel, len(roots))
    while True:
        if state.deep is None:
            state.deep = _allocate_deep(state)
        deep = state.deep
        deep.bits.fill(0)
        deep.bits[placed.group, 0, placed.position, placed.column // 8] = _set_roots(state, placed)
        deep.stamps.fill(0)
        deep.stamps[placed.group, placed.position] = 1
        sizes = cp.bincount(placed.group, minlength=state.groups)
        place = cp.arange(len(placed.group)) - (cp.cumsum(sizes) - sizes)[placed.group]
        deep.queue[placed.group, place] = placed.position
        deep.starts[:, 0] = 0
        deep.starts[:, 1] = sizes
        deep.found.fill(0)
        deep.barriers.fill(0)
        overflowed = cp.zeros((state.groups, _BYTES), cp.uint8)
        arguments = (
            *(np.int32(state.rows), np.int32(members)),
            *(state.indptr, state.indices, state.in_indptr, state.in_indices),
            *_deep_arguments(state, deep),
            *(deep.found, _sigma_limit(state), overflowed),
            *(deep.barriers, deep.halts, host_pointer(state.stop), deep.status),
        )
        deep.status.fill(0)
        kernel((members * -(-len(roots) // COLUMNS),), (compiler.THREADS,), arguments)
        status = deep.status.get()
        if (status[:, 0] == _STOPPED).any():
            raise Interrupted
        if not (status[:, 0] == _QUEUE_FULL).any():
            return Levels(roots, placed, int(status[:, 1].max()), True, _bits_of(overflowed, len(roots)))
        _grow_queue(state)


def _backward_deep(state: State, roots: int, keep: Any, multiplicity: Any) -> Any:
    """Return the scores of each group."""
    assert state.deep is not None
    deep, kernel = state.deep, _deep_kernel(state, "backward")
    members = _members(kernel, roots)
    scores = cp.zeros((state.groups, state.rows))
    deep.barriers.fill(0)
    arguments = (
        *(np.int32(state.rows), np.int32(members), state.indptr, state.indices),
        *_deep_arguments(state, deep),
        *(keep, pointer(state.omega), pointer(multiplicity), scores),
        *(deep.barriers, deep.halts, host_pointer(state.stop), deep.status),
    )
    kernel((members * -(-roots // COLUMNS),), (compiler.THREADS,), arguments)
    if (deep.status.get()[:, 0] == _STOPPED).any():
        raise Interrupted
    return scores


def _deep_arguments(state: State, deep: DeepRows) -> tuple[Any, ...]:
    return (
        deep.bits,
        state.visited,
        deep.stamps,
        state.values,
        deep.queue,
        deep.masks,
        np.int64(deep.capacity),
        deep.starts,
    )


def _deep_kernel(state: State, sweep: str) -> Any:
    return compiler.load("batched_hops_deep", state.plan.dtype, cooperative=True).get_function(
        f"batched_hops_deep_{sweep}"
    )


def _members(kernel: Any, roots: int) -> int:
    """Blocks of each group, so that all are resident at once."""
    return max(1, compiler.resident_blocks(compiler.THREADS, kernel) // -(-roots // COLUMNS))


def _allocate_deep(state: State) -> DeepRows:
    groups, rows, capacity = state.groups, state.rows, state.queue_entries
    if capacity + rows >= 2**31:
        raise MemoryError(f"a queue of {capacity} entries is past what 32-bit positions hold")
    return DeepRows(
        bits=cp.empty((groups, 4, rows, _BYTES), cp.uint8),
        stamps=cp.empty((groups, rows), cp.int32),
        queue=cp.empty((groups, capacity), cp.int32),
        masks=cp.empty((groups, capacity, _BYTES), cp.uint8),
        starts=cp.empty((groups, rows + 3), cp.int32),
        found=cp.empty((groups, rows + 3), cp.int32),
        barriers=cp.zeros(groups, cp.uint32),
        halts=cp.zeros((groups, 2), cp.int32),
        status=cp.zeros((groups, 2), cp.int32),
    )


def _grow_queue(state: State) -> None:
    """Make the queue half as long again; its entries are found anew by the sweep that follows."""
    state.queue_entries = 3 * state.queue_entries // 2
    state.deep = None


def _place(state: State, roots: NDArray[np.int64]) -> Placed:
    position = np.where(roots < 0, state.rows, state.position[roots])
    root = np.flatnonzero(position < state.rows)
    return Placed(*(cp.asarray(part) for part in (position[root], root // COLUMNS, root % COLUMNS)))


def _set_roots(state: State, placed: Placed) -> Any:
    """Make each root visited, with one path; return its bit in the byte of its column."""
    bit = cp.left_shift(1, placed.column % 8).astype(cp.uint8)
    state.visited.fill(0)
    state.visited[placed.group, placed.position, placed.column // 8] = bit
    state.values[placed.group, placed.position, placed.column] = 1
    return bit


def _parts(state: State) -> int:
    """Warps that share a row of values: a lane owns 32 bytes of it."""
    return COLUMNS * int(state.values.itemsize) // (32 * 32)


def _clear_level(state: State, level: int) -> None:
    if level == len(state.level_bits):
        state.level_bits.append(cp.empty((state.groups, state.rows, _BYTES), cp.uint8))
        state.level_live.append(cp.empty((state.groups, -(-state.rows // 32)), cp.uint32))
    state.level_live[level].fill(0)


def _add_ends(state: State, levels: Levels, keep: Any, scores: Any) -> None:
    """Add one to both ends of every (root, reached vertex) pair."""
    placed = levels.placed
    reached = cp.zeros((state.groups, COLUMNS))
    for bit in range(8):
        is_set = (state.visited & keep[:, None, :]) >> bit & 1
        scores += is_set.sum(axis=2)
        reached[:, bit::8] = is_set.sum(axis=1)
    # A root was counted as reaching itself, at both ends.
    kept = (keep[placed.group, placed.column // 8] >> (placed.column % 8).astype(cp.uint8)) & 1
    scores[placed.group, placed.position] += reached[placed.group, placed.column] - 2.0 * kept


def _bit_rows(flags: NDArray[np.bool_], groups: int) -> NDArray[np.uint8]:
    padded = np.zeros(groups * COLUMNS, np.bool_)
    padded[: len(flags)] = flags
    return np.packbits(padded.reshape(groups, COLUMNS), axis=1, bitorder="little")


def _bits_of(rows: Any, count: int) -> NDArray[np.bool_]:
    return np.unpackbits(rows.get().reshape(-1), count=count, bitorder="little").astype(np.bool_)


def _count_hubs(degrees: NDArray[np.int64]) -> int:
    """Rows at the front of which all have many edges; the last of them may be followed by some more."""
    short = np.flatnonzero(degrees <= _HUB_EDGES)
    return int(short[0]) if len(short) else len(degrees)


def _sigma_limit(state: State) -> Any:
    return np.dtype(state.plan.dtype).type(state.plan.sigma_limit)
