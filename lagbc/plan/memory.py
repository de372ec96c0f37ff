"""The memory that a run needs, the memory that it may take, and the batch and threads that keep to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lagbc.errors import OutOfMemoryError
from lagbc.frozen import frozen_value
from lagbc.graph.graph import Graph
from lagbc.limits import host_budget, in_units, left_of, most_threads, raised_by, stated_budget
from lagbc.methods import tuning
from lagbc.methods.arrays import bytes_of
from lagbc.methods.contract import Batching, SweepPlan
from lagbc.methods.table import Method
from lagbc.plan.demand import demand_bytes
from lagbc.plan.step import Step, chunk_length

if TYPE_CHECKING:
    from lagbc.plan.options import Settings
    from lagbc.plan.request import Request

# Share of the device's free memory at the start of a run that it may take, unless the variable says otherwise.
_DEVICE_SHARE = 0.8
# Peak bytes per vertex, and per entry of the pattern taken both ways, while a graph is read, ordered and copied on a
# device. On twelve kinds of graphs these were 1.1 to 3 times the measured bytes.
_GRAPH_BYTES_PER_VERTEX, _GRAPH_BYTES_PER_ENTRY = 160, 32
# The same for lengths, held in a few copies while those of both directions are compared.
_LENGTH_BYTES_PER_ENTRY = 32
# A run with at most these bytes is over in milliseconds. It takes them without a look at the free memory, which takes
# longer than a small graph.
SMALL_RUN = 2**19
# On the host, bytes per vertex that are freed before the sweep: for a probe's search by bits; for the order of a graph
# of high diameter; for grouping roots by hops to 16 hubs, or by lengths to one.
_PROBE_BYTES, _PROXIMITY_BYTES, _HUBS_BYTES, _DIJKSTRA_BYTES = 40, 112, 40, 112
# The part of these that the allocator keeps, where no later array fits: this share, up to a bound, as it gives large
# blocks back to the system.
_KEPT_SHARE, _MOST_KEPT = 0.8, 18_000_000
# On a device, per entry: when sorted, its key twice; when merged with others, a flag and a place; with a length, this
# twice, too.
_KEY_BYTES, _MERGE_BYTES, _LENGTH_BYTES = 16, 12, 16
# On a device, per vertex, while the order of the vertices or of the roots is made.
_ORDER_BYTES = 120
# While a graph is taken apart: per vertex, and per entry, of a pattern and where edges are summed or have lengths. On
# nine networks these were 1.0 to 3.6 times the measured bytes.
_DECOMPOSED_BYTES, _DECOMPOSED_ENTRY_BYTES = 112, (104, 124)


@frozen_value
class MemoryEstimate:
    """Estimate of the memory that a run allocates, in bytes, without the caller's matrix and the libraries.

    Queues of `batched` and `delta-stepping` begin with the room that graphs of such a depth were seen to need, and the
    rows of levels of a graph that is dealt over a grid with that of six levels; with that of a level a root, where no
    vertex has more than 64 entries in its row and its column together. Where one has to grow by more than the budget
    leaves, and by more than 512 KiB, the run goes on with fewer threads, or half the batch; with one thread and the
    smallest batch it raises MemoryError.

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
        A run of up to 512 KiB may take that, if nothing else was stated.
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
        """Whether the total is at most 512 KiB."""
        return self.total <= SMALL_RUN

    @property
    def total(self) -> int:
        """The sum of graph, workspace and scores, in bytes."""
        return self.graph + self.workspace + self.scores


def estimate(step: Step, limit: int | None = None) -> MemoryEstimate:
    """Estimate the memory of a step, and set it against a limit, by default the budget of a run."""
    graph, method, sweep, module = step.graph, step.method, step.sweep, step.method.load()
    batching = module.batching
    workers = sweep.threads if batching.concurrent else 1
    # Within bounds a panel of roots is no batch: its sums are sparse, at most one row for each touched vertex.
    blocks = 1 if sweep.bounds is not None else batching.rows(0, sweep.batch).stop
    batches = -(-(graph.n if sweep.roots is None else sweep.roots) // max(sweep.batch, 1))
    # Sums of vertices and of edges: in the total, the part of a chunk, the successors of both and zeros for the next;
    # and of batches, done and in work.
    states = step.beside + _states_of(batching, sweep) * bytes_of(module.arrays(graph, sweep))
    if sweep.demand is not None:
        states += demand_bytes(sweep.demand, 0 if "demand" in module.options else sweep.batch, workers)
    scores = 8 * sweep.summed(graph) * (5 + blocks * min(2 * workers, batches))
    stated = graph.bytes_of_rank
    held, most = stated or (host_graph_bytes if method.device == "cpu" else device_graph_bytes)(graph, sweep)
    of_graph = max(held, most - states - scores)
    workspace = states + (0 if step.contracted is None else _beside_states(step, states))
    limit = graph.room if limit is None else limit
    if limit is None:
        is_small = of_graph + workspace + scores <= SMALL_RUN
        limit = SMALL_RUN if is_small and stated_budget() is None else budget(method.device)
    return MemoryEstimate(method.name, method.device, sweep.batch, sweep.threads, of_graph, workspace, scores, limit)


def _states_of(batching: Batching, sweep: SweepPlan) -> int:
    """Count the states of a method in a process."""
    return -(-sweep.threads // batching.apart) if batching.concurrent else 1


def _beside_states(step: Step, states: int) -> int:
    """Bound the bytes of sweeps from junctions beyond the states for one block of each worker; a group is a batch.

    Each worker has a state for each block of a group, and one for far ends; on a GPU one state serves the whole group.
    A group holds distances, path counts and target weights, and the demand that enters each chain; besides, columns of
    far ends, and copies of the columns of one sweep. A GPU holds the chains, too.
    """
    from lagbc.plan.junctions import widths

    sweep, contracted, module = step.sweep, step.contracted, step.method.load()
    assert contracted is not None
    n, chains = step.graph.n, len(contracted.ways.lengths)
    width, far = widths(module.batching, sweep.batch)
    columns = 3 * sweep.batch + 2 * far
    if module.batching.concurrent:
        numbers = (columns + 4 * width) * n + sweep.batch * chains
        return sweep.batch // width * states + 8 * sweep.threads * numbers
    numbers = (columns + 6 * sweep.batch) * n + 3 * sweep.batch * chains + 20 * len(contracted.inside)
    return bytes_of(module.arrays(step.graph, replace(sweep, batch=far))) + 8 * numbers


def estimate_call(
    graph: Graph,
    steps: Sequence[MemoryEstimate],
    largest: MemoryEstimate | Method,
    *,
    edges: bool,
    limit: int | None = None,
) -> MemoryEstimate:
    """Bound the memory of a call: the graph, and its steps one after the other; also the memory to make these.

    Without steps after a reduction, a method stands for the largest; `edges` says whether edges are summed.
    """
    if isinstance(largest, Method):
        largest = MemoryEstimate(largest.name, largest.device, 1, 1, 0, 0, 0, budget("cpu") if limit is None else limit)
    workspace = max((step.workspace for step in steps), default=0)
    scores = 8 * graph.n + sum(step.scores for step in steps)
    held = _bytes_of(graph) + sum(step.graph for step in steps)
    if limit is None:
        limit = budget(largest.device) if largest.budget == SMALL_RUN else largest.budget
    made = max(held, reduction_bytes(graph, edges=edges) - workspace - scores)
    return replace(largest, graph=made, workspace=workspace, scores=scores, budget=limit)


def reduction_bytes(graph: Graph, *, edges: bool) -> int:
    """Bound the bytes that a reduction of a graph takes on the host, with the graph."""
    a_entry = _DECOMPOSED_ENTRY_BYTES[edges or graph.weighted]
    return _bytes_of(graph) + graph.n * _DECOMPOSED_BYTES + graph.nnz * a_entry


def graph_bytes(n: int, entries: int, *, weighted: bool) -> int:
    """Bound the bytes of a graph with `entries` entries both ways, while it is read, ordered and copied."""
    return n * _GRAPH_BYTES_PER_VERTEX + entries * (_GRAPH_BYTES_PER_ENTRY + weighted * _LENGTH_BYTES_PER_ENTRY)


def _bytes_of(graph: Graph) -> int:
    """Bound the bytes of a graph, without making a directed one symmetric for that."""
    both_ways = graph.nnz * (2 if graph.directed and graph.transpose is not graph else 1)
    return graph_bytes(graph.n, both_ways, weighted=graph.weighted)


def budget(device: str) -> int:
    """Return the bytes of a run: what ``LAGBC_MEMORY`` leaves, on a GPU all of it, or a share of the free memory."""
    if device == "cpu":
        return host_budget()
    stated = stated_budget()
    if stated is not None:
        return stated
    import cupy

    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    return int(_DEVICE_SHARE * free)


def settled(settings: Settings, graph: Graph) -> Settings:
    """Fill in, once in a call, the room that a memory stated for the process leaves it: a run counts its graph."""
    if settings.room is not None or graph.room is not None or (stated := stated_budget()) is None:
        return settings
    return settings._replace(room=left_of(stated, graph.bytes_at_hand))


def require_order(graph: Graph, request: Request, settings: Settings) -> None:
    """Raise MemoryError if transposes and order, made to choose a method, take the process over its memory."""
    room = settings.room_on("cpu")
    if (
        settings.room is None
        or room is None
        or settings.device == "cuda"
        or graph.is_on_device
        or "reordered" in vars(graph)
    ):
        return
    if graph.directed and "_reverse" not in vars(graph):
        needed = _own_bytes(graph) + 8 * graph.n + graph.nnz * _edge_bytes(graph) + _transposing_bytes(graph)
        _require_room("the transpose of the graph", needed, room)
    sweep = SweepPlan(batch=1, threads=1, sums=request.sums, roots=len(request.roots))
    _require_room("the graph in order", host_graph_bytes(graph, sweep)[1], room)


def _require_room(made: str, needed: int, room: int) -> None:
    if needed > max(room, SMALL_RUN):
        raise OutOfMemoryError(
            f"{made} needs up to {in_units(needed)}, but the budget is {in_units(room)}; {raised_by()}"
        )


def fit(step: Step, limit: int | None = None) -> tuple[Step, MemoryEstimate]:
    """Choose batch and threads that keep to the budget, or come as near to it as possible.

    Without a limit, `MemoryEstimate` tells the budget; small runs have no bound then.
    """
    needed = estimate(step, limit)
    while needed.is_over and (less := _given_up(step)) is not None:
        step, needed = less, estimate(less, needed.budget)
    return step if needed.budget == SMALL_RUN else _held(step, needed), needed


def smaller(step: Step) -> Step | None:
    """Give up a thread, half the batch, or rows of path counts, none of which changes a bit; None at the least."""
    less = _given_up(step)
    if less is None or less.sweep.budget is None:
        return less
    return _held(less, estimate(less, less.sweep.budget))


def _given_up(step: Step) -> Step | None:
    sweep, module = step.sweep, step.method.load()
    if module.batching.concurrent and sweep.threads > module.batching.apart:
        return _with(step, threads=sweep.threads - module.batching.apart)
    # Within bounds the method fixes the panels; groups of junctions on a CPU are fixed by the graph.
    if sweep.bounds is not None or (step.contracted is not None and module.batching.concurrent):
        return None
    if sweep.batch > module.batching.block:
        return _with(step, batch=module.batching.round(sweep.batch // 2))
    in_place = _with(step, in_place=True)
    if step.contracted is not None:
        return None
    with_rows, without = (bytes_of(module.arrays(step.graph, plan)) for plan in (sweep, in_place.sweep))
    return in_place if without < with_rows else None


def _held(step: Step, needed: MemoryEstimate) -> Step:
    """Share the rest of the budget, at least 512 KiB, among the workers."""
    if step.contracted is not None:
        return step
    growth = max(SMALL_RUN, needed.budget - needed.total) // _states_of(step.method.load().batching, step.sweep)
    return _with(step, budget=needed.budget, growth=growth)


def _with(step: Step, **changed: Any) -> Step:
    return replace(step, sweep=replace(step.sweep, **changed))


def busy_threads(batching: Batching, roots: int, batch: int, threads: int) -> int:
    """Return the threads that have batches, and room in the address space."""
    if threads == 1 or not batching.concurrent:
        return threads
    return most_threads(min(threads, max(-(-roots // batch), 1)))


def most_batch(
    method: Method, batching: Batching, roots: int, share: int | None = None, asked: int | None = None
) -> int:
    """Return the batch without a bound on memory: whole blocks, each within one chunk, and no more than the roots.

    It is the one asked for, or the method's; where batches run side by side, at most a thread's `share` of the roots.
    """
    batch = batching.auto if asked is None else asked
    if batching.block == 1:  # all roots of a batch are one block
        batch = min(batch, chunk_length(method, batching))
    elif batching.concurrent and share is not None:
        batch = min(batch, share)
    return batching.round(max(1, min(batch, roots)))


def require_memory(needed: MemoryEstimate, instead: str = "") -> None:
    """Raise MemoryError, with both figures, if a run is over the budget; `instead` says what else would do."""
    if needed.is_over:
        raise OutOfMemoryError(f"{over_budget(needed)}; {raised_by()}{instead}")


def over_budget(needed: MemoryEstimate) -> str:
    """Say how many bytes a run needs, and how many it may take."""
    return (
        f"{needed.method} on {needed.device} with batch={needed.batch} needs up to {in_units(needed.total)}, but the "
        f"budget is {in_units(needed.budget)}"
    )


def host_graph_bytes(graph: Graph, plan: SweepPlan) -> tuple[int, int]:
    """Count the bytes that a graph on the host holds during the sweeps, and at most while it is prepared.

    A matrix is transposed range by range of its columns: the rows of its entries, the entries of a range, the result.
    """
    n, index, length = graph.n, graph.indices.dtype.itemsize, 8 * graph.weighted
    entries, edge = graph.nnz, _edge_bytes(graph)
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
    return sum(array.nbytes for array in graph.csr[1:] if array is not None and array.flags.owndata)


def _edge_bytes(graph: Graph) -> int:
    return int(graph.indices.dtype.itemsize) + 8 * graph.weighted


def _transposing_bytes(graph: Graph) -> int:
    """Count the bytes of the entries while a graph is transposed, without the result."""
    index, length = graph.indices.dtype.itemsize, 8 * graph.weighted
    return int(graph.n * (8 + index) + graph.nnz * (4 * index + 2 * length))


def device_graph_bytes(graph: Graph, plan: SweepPlan) -> tuple[int, int]:
    """Estimate the same two figures for a graph that is swept on a device.

    A graph on the host is uploaded in sweep order, and methods count these bytes. Else the matrix is read on the
    device: its entries are sorted and merged, of an undirected graph both ways at once, with lengths once more.
    """
    n, entries = graph.n, graph.nnz
    if not graph.is_on_device:
        return 0, _ORDER_BYTES * n
    length = graph.weighted
    edge = graph.indices.dtype.itemsize + 8 * length
    own = 8 * n + edge * entries
    held = 2 * own  # and in sweep order
    reading = own + entries * (edge + _KEY_BYTES + _MERGE_BYTES + _LENGTH_BYTES * length)
    joined = 2 * entries * (_KEY_BYTES + _MERGE_BYTES)  # both ways
    if not graph.directed:
        both = own + 4 * entries + joined + 2 * entries * _LENGTH_BYTES * length
    elif graph.transpose is graph:  # made to find out, and sorted as the reordered copy is: from rows, by keys
        both = 2 * own + entries * (4 + _KEY_BYTES + _LENGTH_BYTES * length)
    else:
        held += 2 * own + 8 * n + 4 * graph.symmetric.nnz
        both = 2 * own + 4 * entries + joined
    held += 4 * n * graph.has_high_diameter  # components
    if "edges" in plan.sums:
        held += 8 * entries
    return held, max(reading, both, held + _ORDER_BYTES * n)
