"""A sweep: how one piece is summed, as data, and the memory that it takes.

It is numbers and strings, which print, compare and pickle. Batch and threads keep to the memory that a call may take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any, NamedTuple

from lagbc import tuning
from lagbc.demand import demand_bytes
from lagbc.errors import InvalidValueError, OutOfMemoryError, quantity
from lagbc.graph.graph import Graph
from lagbc.limits import SMALL_RUN, TINY_RUN, Room, in_units, raised_by
from lagbc.methods import table
from lagbc.methods.contract import Batching, SweepPlan, bytes_of
from lagbc.methods.table import Method
from lagbc.options import Settings
from lagbc.reduce.blocks import bytes_of_graph, reduction_bytes
from lagbc.reduce.chains import ADDED, widths
from lagbc.reduce.pieces import Chains, Whole
from lagbc.request import Request

# On the host, bytes per vertex that are freed before the sweep: for a probe's search by bits; for the order of a graph
# of high diameter; for grouping roots by hops to 16 hubs, or by lengths to one.
_PROBE_BYTES, _PROXIMITY_BYTES, _HUBS_BYTES, _DIJKSTRA_BYTES = 40, 112, 40, 112
# The part of these that the allocator keeps, where no later array fits: this share, up to a bound, as it gives large
# blocks back to the system.
_KEPT_SHARE, _MOST_KEPT = 0.8, 18_000_000
# Bounds of the bytes of a call by one thread, for each vertex and stored edge: the smallest graphs are counted by these
# alone, as to count all arrays takes longer than to sweep them.
_SMALL_VERTEX, _SMALL_EDGE = 4096, 160
# On a device, per entry that is sorted: its row; its key twice; with a length, this twice, too.
_ROW_BYTES, _KEY_BYTES, _LENGTH_BYTES = 4, 16, 16
# On a device, per vertex, while the order of the vertices or of the roots is made.
_ORDER_BYTES = 120


class Memory(NamedTuple):
    """Bounds of the bytes of a sweep, or of a call."""

    graph: int = 0  # with orders and copies, and the bytes to make them beyond the other two
    workspace: int = 0  # of all workers
    scores: int = 0  # the sums

    @property
    def total(self) -> int:
        """All bytes."""
        return self.graph + self.workspace + self.scores


class Sweep(NamedTuple):
    """How one piece is summed."""

    # "whole" (the graph as it is), "roots" (a piece of it), "within" (cutoffs and decays), "chains" (from junctions),
    # "small" (all small bicomponents) or "rounds"
    work: str
    method: str  # method, device, weighted: the row of `lagbc.METHODS`
    device: str
    weighted: bool
    roots: int  # that are searched from, or slices of small bicomponents
    batch: int  # roots that a worker is given at a time
    threads: int
    reason: str  # of the method
    most: int  # the batch without a bound on memory
    seconds: float | None = None  # predicted for bc, on a CPU by one thread; None without a prediction
    memory: Memory = Memory()
    too_large: str = ""  # the need of the GPU in whose place the CPU is taken
    dtype: str = "float64"
    bucket_width: float | None = None
    variant: str | None = None
    virtual_warp: int | None = None
    in_place: bool = False  # path counts are kept in the rows of dependencies
    linear: bool = False  # targets count linearly
    beside: int = 0  # bytes of arrays, where the sums are, of those who take them

    @property
    def label(self) -> str:
        """The name of the sweep in a file of sums: work, method and device, such as "whole batched cpu".

        A run compares its labels with those of a checkpoint or a part before it takes the sums.
        """
        method = ":".join(map(str, filter(None, (self.method, self.variant, self.virtual_warp))))
        return f"{self.work} {method} {self.device}"

    def __str__(self) -> str:
        if self.work == "small":
            return f"{self.reason}; {quantity(self.roots, 'slice')}, threads {self.threads}"
        predicted = "" if self.seconds is None else f"; bc in about {self.seconds:.2g} s by one thread"
        return (
            f"{self.reason}; {quantity(self.roots, 'root')}, batch {self.batch}, threads {self.threads}, "
            f"{in_units(self.memory.total)}{predicted}"
        )


def row_of(piece: Whole | Chains, sweep: Sweep) -> Method:
    """Return the row of the method of a sweep."""
    if piece.own_row is not None:
        return piece.own_row  # type: ignore[no-any-return]
    for row in table.METHODS:
        if row.name == sweep.method and row.device == sweep.device and row.weighted == sweep.weighted:
            return row
    raise InvalidValueError(f"there is no method {sweep.method!r} on {sweep.device} any more")


def request_to(
    piece: Whole | Chains, sweep: Sweep, room: Room | None = None, *, growth: int | None = None
) -> SweepPlan:
    """Return the request of a sweep to its method, by the contract of methods.

    Of a `room` it has the budget, and workers may grow by shares of its rest, at least 512 KiB: of one that is stated,
    or where the sweep takes so much that the free memory was looked up.
    """
    budget, needed = None, sweep.memory.total
    if room is not None and isinstance(piece, Whole) and (needed > SMALL_RUN[sweep.device] or room.host is not None):
        budget = room.for_need(needed, sweep.device)
        states = sweep.threads if row_of(piece, sweep).load().batching.concurrent else 1
        growth = max(TINY_RUN, budget - needed) // states
    if isinstance(piece, Chains):
        return SweepPlan(
            batch=sweep.batch,
            threads=sweep.threads,
            sums=ADDED,
            roots=sweep.roots,
            method=sweep.method,
            budget=budget,
            growth=growth,
        )
    request = piece.request
    return SweepPlan(
        batch=sweep.batch,
        threads=sweep.threads,
        dtype=sweep.dtype,
        endpoints=request.endpoints,
        omega=request.omega,
        root_weights=request.root_weights,
        class_sizes=request.class_sizes,
        demand=request.demand,
        bounds=request.bounds,
        xy=request.xy,
        # Halved during the sweep: twice a score may leave the range of the score.
        exponent=-1 if request.weighs_pairs and not piece.graph.directed else 0,
        rtol=request.rtol,
        bucket_width=sweep.bucket_width,
        sums=request.sums,
        roots=sweep.roots,
        variant=sweep.variant,
        method=sweep.method,
        virtual_warp=sweep.virtual_warp,
        linear=sweep.linear,
        in_place=sweep.in_place,
        budget=budget,
        growth=growth,
    )


def most_batch(
    method: Method, batching: Batching, roots: int, share: int | None = None, asked: int | None = None
) -> int:
    """Return the batch without a bound on memory: whole blocks, each within one chunk, and no more than the roots.

    It is the one asked for, or the method's; where batches run side by side, at most a thread's `share` of the roots.
    """
    batch = min(batching.auto if asked is None else asked, batching.chunk(method.device))
    if batching.block > 1 and batching.concurrent and share is not None:
        batch = min(batch, share)
    return batching.round(max(1, min(batch, roots)))


def fit_memory(piece: Whole | Chains, sweep: Sweep, room: Room) -> Sweep:
    """Choose batch and threads that keep to the budget, or come as near to it as possible."""
    small = piece.graph.n * _SMALL_VERTEX + piece.graph.nnz * _SMALL_EDGE
    is_plain = isinstance(piece, Whole) and piece.request.bounds is None and piece.request.demand is None
    is_tiny = small <= TINY_RUN and is_plain and sweep.threads == 1 and sweep.device == "cpu"
    # A library's own matrices are not bound by it.
    if is_tiny and room.host is None and not row_of(piece, sweep).requires:
        return sweep._replace(memory=Memory(workspace=small))
    sweep = sweep._replace(memory=memory_of(piece, sweep))
    while (needed := sweep.memory.total) > room.for_need(needed, sweep.device):
        if (less := smaller_sweep(piece, sweep)) is None:
            break
        sweep = less._replace(memory=memory_of(piece, less))
    return sweep


def smaller_sweep(piece: Whole | Chains, sweep: Sweep, graph: Graph | None = None) -> Sweep | None:
    """Give up a thread, half the batch, or rows of path counts, none of which changes a bit; None at the least.

    `graph` is as for `memory_of`.
    """
    module = row_of(piece, sweep).load()
    batching = module.batching
    if batching.concurrent and sweep.threads > 1:
        return sweep._replace(threads=sweep.threads - 1)
    # Within bounds the method fixes the panels; groups of junctions on a CPU are fixed by the graph.
    if sweep.work == "within" or (sweep.work == "chains" and batching.concurrent):
        return None
    if sweep.batch > batching.block:
        return sweep._replace(batch=batching.round(sweep.batch // 2))
    if isinstance(piece, Chains) or sweep.in_place:
        return None
    in_place = sweep._replace(in_place=True)
    graph = piece.placed(row_of(piece, sweep)) if graph is None else graph
    with_rows, without = (bytes_of(module.arrays(graph, request_to(piece, one))) for one in (sweep, in_place))
    return in_place if without < with_rows else None


def memory_of(piece: Whole | Chains, sweep: Sweep, graph: Graph | None = None) -> Memory:
    """Bound the memory of a sweep; `graph` is that of the piece as it was placed, which is not placed again."""
    row = row_of(piece, sweep)
    module, request = row.load(), request_to(piece, sweep)
    graph, batching = piece.placed(row) if graph is None else graph, module.batching
    workers = sweep.threads if batching.concurrent else 1  # each has a state
    # Within bounds a panel of roots is no batch: its sums are sparse, at most one row for each touched vertex.
    blocks = 1 if request.bounds is not None else batching.rows(0, sweep.batch).stop
    batches = -(-sweep.roots // max(sweep.batch, 1))
    # Sums of vertices and of edges: in the total, the part of a chunk, the successors of both and zeros for the next;
    # and of batches, done and in work.
    states = sweep.beside + workers * bytes_of(module.arrays(graph, request))
    if request.demand is not None:
        states += demand_bytes(request.demand, 0 if "demand" in row.options else sweep.batch, workers)
    scores = 8 * request.summed(graph) * (5 + blocks * min(2 * workers, batches))
    held, most = bytes_of_swept(graph, request, row.device)
    of_graph = max(held, most - states - scores)
    if isinstance(piece, Chains):
        states += _beside_states(piece, sweep, request, states)
    return Memory(of_graph, states, scores)


def _beside_states(piece: Chains, sweep: Sweep, request: SweepPlan, states: int) -> int:
    """Bound the bytes of sweeps from junctions beyond the states for one block of each worker; a group is a batch.

    Each worker has a state for each block of a group, and one for far ends; on a GPU one state serves the whole group.
    A group holds distances, path counts and target weights, and the demand that enters each chain; besides, columns of
    far ends, and copies of the columns of one sweep. A GPU holds the chains, too.
    """
    contracted, module = piece.contracted, row_of(piece, sweep).load()
    n, chains = piece.graph.n, len(contracted.ways.lengths)
    width, far = widths(module.batching, sweep.batch)
    columns = 3 * sweep.batch + 2 * far
    if module.batching.concurrent:
        numbers = (columns + 4 * width) * n + sweep.batch * chains
        return sweep.batch // width * states + 8 * sweep.threads * numbers
    numbers = (columns + 6 * sweep.batch) * n + 3 * sweep.batch * chains + 20 * len(contracted.inside)
    return bytes_of(module.arrays(piece.graph, replace(request, batch=far))) + 8 * numbers


@singledispatch
def bytes_of_swept(graph: Any, plan: SweepPlan, device: str) -> tuple[int, int]:
    """Count the bytes that a graph holds during the sweeps on a device, and at most while it is prepared."""
    return (host_graph_bytes if device == "cpu" else device_graph_bytes)(graph, plan)


def host_graph_bytes(graph: Graph, plan: SweepPlan) -> tuple[int, int]:
    """Count the bytes that a graph on the host holds during the sweeps, and at most while it is prepared.

    A matrix is transposed range by range of its columns: the rows of its entries, the entries of a range, the result.
    """
    n, index, length = graph.n, graph.indices.dtype.itemsize, 8 * graph.weighted
    entries, edge = graph.nnz, index + length
    roots = n if plan.roots is None else plan.roots
    is_grouped = not graph.has_high_diameter and roots >= tuning.GROUPED_ROOTS
    # Pointers, order and its inverse, degrees, components; pointers and edges in sweep order.
    held = _own_bytes(graph) + n * (5 * 8 + index * graph.has_high_diameter) + entries * edge
    if graph.transpose is not graph:  # transposes, degrees of one, and the pattern both ways
        held += n * (4 * 8) + 2 * entries * edge + graph.symmetric.nnz * index
    if is_grouped and graph.weighted:  # the matrix that SciPy searches
        held += n * index + entries
    elif is_grouped:  # distances to 16 hubs
        held += 16 * n
    grouping = n * (_DIJKSTRA_BYTES if graph.weighted else _HUBS_BYTES) * is_grouped
    ordering = n * _PROXIMITY_BYTES * graph.has_high_diameter - entries * length
    transposing = _transposing_bytes(graph)
    if "edges" in plan.sums:
        held += 8 * entries
        transposing = max(transposing, entries * (4 * index + 4 * 8))
    freed = max(n * _PROBE_BYTES, grouping, ordering, transposing)
    return held + min(int(_KEPT_SHARE * freed), _MOST_KEPT), held + freed


def _own_bytes(graph: Graph) -> int:
    """Count the bytes of the edges, unless they are the caller's."""
    own = 0
    for array in graph.csr[1:]:
        if array is not None and array.flags.owndata:
            own += array.nbytes
    return own


def _transposing_bytes(graph: Graph) -> int:
    """Count the bytes of the entries while a graph is transposed, without the result."""
    index, length = graph.indices.dtype.itemsize, 8 * graph.weighted
    return int(graph.n * (8 + index) + graph.nnz * (4 * index + 2 * length))


def device_graph_bytes(graph: Graph, plan: SweepPlan) -> tuple[int, int]:
    """Estimate the same two figures for a graph that is swept on a device.

    A graph on the host is uploaded in sweep order, and methods count these bytes. A graph on the device was read before
    the call is planned, and has its transpose: only its copies in sweep order are made, each sorted by keys.
    """
    n, entries = graph.n, graph.nnz
    if not graph.is_on_device:
        return 0, _ORDER_BYTES * n
    own = 8 * n + entries * (graph.indices.dtype.itemsize + 8 * graph.weighted)
    held = 2 * own + 4 * n * graph.has_high_diameter  # in sweep order, too; components
    if graph.transpose is not graph:
        held += 2 * own + 8 * n + 4 * graph.symmetric.nnz
    if "edges" in plan.sums:
        held += 8 * entries
    if "reordered" in vars(graph):
        return held, held
    return held, held + max(_ORDER_BYTES * n, entries * (_ROW_BYTES + _KEY_BYTES + _LENGTH_BYTES * graph.weighted))


def memory_of_call(graph: Graph, sweeps: Sequence[Sweep], *, edges: bool) -> Memory:
    """Bound the memory of a call: the graph, and its pieces one after the other; also the memory to make these."""
    workspace = max((one.memory.workspace for one in sweeps), default=0)
    scores = 8 * graph.n + sum(one.memory.scores for one in sweeps)
    held = bytes_of_graph(graph) + sum(one.memory.graph for one in sweeps)
    made = max(held, reduction_bytes(graph, edges=edges) - workspace - scores)
    return Memory(made, workspace, scores)


def require_order(graph: Graph, request: Request, settings: Settings, room: Room) -> None:
    """Raise MemoryError if transposes and order, made to choose a method, take the process over its memory."""
    left = room.host if settings.memory is None else None
    if left is None or settings.device == "cuda" or graph.is_on_device or "reordered" in vars(graph):
        return
    if graph.directed and "_reverse" not in vars(graph):
        transpose = 8 * graph.n + graph.nnz * (graph.indices.dtype.itemsize + 8 * graph.weighted)
        needed = _own_bytes(graph) + transpose + _transposing_bytes(graph)
        _require_room("the transpose of the graph", needed, left)
    sweep = SweepPlan(batch=1, threads=1, sums=request.sums, roots=len(request.roots))
    # What ordering frees may still be held while the copies in order are made.
    kept = min(int(_KEPT_SHARE * _PROXIMITY_BYTES * graph.n), _MOST_KEPT) * graph.has_high_diameter
    _require_room("the graph in order", host_graph_bytes(graph, sweep)[1] + kept, left)


def _require_room(made: str, needed: int, room: int) -> None:
    if needed > max(room, TINY_RUN):
        raise OutOfMemoryError(
            f"{made} needs up to {in_units(needed)}, but the budget is {in_units(room)}; {raised_by()}"
        )


class MemoryEstimate(NamedTuple):
    """Estimate of the memory that a run allocates, in bytes, without the caller's matrix and the libraries.

    Roots whose path counts are beyond float64 take memory of their own, which is not counted, as few graphs have them.
    Queues of `batched` and `delta-stepping` begin with the room that graphs of such a depth were seen to need, and the
    rows of levels of a graph that is dealt over a grid with that of six levels; with that of a level a root, where no
    vertex has more than 64 entries in its row and its column together. Where such roots or queues need more than the
    budget leaves, and more than 512 KiB, the run goes on with fewer threads, or half the batch; with one thread and the
    smallest batch it raises MemoryError. A run that needs up to 4 MiB, and has no stated budget, has no such bound.

    Attributes
    ----------
    method, device : str
    batch, threads : int
        As the run would use them.
    graph : int
        The pattern, its transpose, their reordered copies, and the bytes to make them beyond the later workspace and
        scores.
    workspace : int
        Rows of all workers.
    scores : int
        The sums.
    budget : int
        The most that the run may take: of ``LAGBC_MEMORY``, the bytes that the process does not hold beside the graph.
        A run of up to 4 MiB, on a GPU 512 KiB, may take that, if nothing else was stated.
    """

    method: str
    device: str
    batch: int
    threads: int
    graph: int
    workspace: int
    scores: int
    budget: int

    @property
    def is_over(self) -> bool:
        """Whether the total exceeds the budget."""
        return self.total > self.budget

    @property
    def is_small(self) -> bool:
        """Whether the total is at most 4 MiB, on a GPU 512 KiB."""
        return self.total <= SMALL_RUN[self.device]

    @property
    def total(self) -> int:
        """The sum of graph, workspace and scores, in bytes."""
        return self.graph + self.workspace + self.scores


def over_budget(sweep: Sweep | MemoryEstimate, needed: int, limit: int) -> str:
    """Say how many bytes a run needs, and how many it may take."""
    return (
        f"{sweep.method} on {sweep.device} with batch={sweep.batch} needs up to {in_units(needed)}, but the "
        f"budget is {in_units(limit)}"
    )
