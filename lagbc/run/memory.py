"""How much memory a run takes, how much it may take, and the batch and threads that keep to it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from lagbc.budget import BUDGET_VARIABLE, host_budget, stated_budget
from lagbc.graph.graph import Graph
from lagbc.limits import most_threads
from lagbc.methods.contract import SweepPlan
from lagbc.methods.table import Method

Outputs = frozenset[str]
DELTA: Outputs = frozenset({"dependency"})

# Share of the device's memory free at the start of a run that it may take, unless the variable says otherwise.
_DEVICE_SHARE = 0.8
# Peak bytes per vertex, and per entry of the pattern taken both ways, while a graph is read, ordered and copied. On
# twelve kinds of graphs this was 1.1 to 3 times what was measured.
_GRAPH_BYTES_PER_VERTEX, _GRAPH_BYTES_PER_ENTRY = 160, 32
# The same for lengths, of which a few copies are held while those of both directions are compared.
_LENGTH_BYTES_PER_ENTRY = 32
# Of the order of the edges, while it is made.
_ORDER_BYTES_PER_EDGE = 48


@dataclass(frozen=True)
class MemoryEstimate:
    """Upper bound of the memory that a run allocates, in bytes; the caller's matrix and the libraries are not in it.

    On the GPU it is an estimate, not a bound: queues of deep graphs grow on demand. A run that is out of memory there
    goes on with half the batch.

    Attributes
    ----------
    method, device : str
    batch, threads : int
        What the run would use.
    graph : int
        The pattern, its transpose, their reordered copies, and what it takes to make them.
    workspace : int
        Rows of all workers, with queues at their largest.
    scores : int
        The sums.
    budget : int
        What the run may take.
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
        """Whether it is more than the run may take."""
        return self.total > self.budget

    @property
    def total(self) -> int:
        """All of it, in bytes."""
        return self.graph + self.workspace + self.scores


def estimate(
    graph: Graph, method: Method, batch: int, threads: int, limit: int, outputs: Outputs = DELTA
) -> MemoryEstimate:
    """Bound the memory of a run of `method` with this batch and these threads, and hold it against a limit."""
    module, plan = method.load(), SweepPlan(batch=batch, threads=threads, sums=outputs, method=method.name)
    workers = threads if module.batching.concurrent else 1
    bytes_per_entry = _GRAPH_BYTES_PER_ENTRY + (_LENGTH_BYTES_PER_ENTRY if graph.weighted else 0)
    blocks = module.batching.rows(0, batch).stop
    # Sums of vertices and of edges: in the total, the part of a chunk, the successor of one of them and zeros for the
    # next; and of each worker, batches done and in work.
    summed = len(outputs - {"edges"}) * graph.n + ("edges" in outputs) * graph.nnz
    return MemoryEstimate(
        method=method.name,
        device=method.device,
        batch=batch,
        threads=threads,
        graph=graph.n * _GRAPH_BYTES_PER_VERTEX
        + _entries_both_ways(graph) * bytes_per_entry
        + ("edges" in outputs) * graph.nnz * _ORDER_BYTES_PER_EDGE,
        workspace=workers * module.footprint(graph, plan),
        scores=8 * summed * (5 + (3 + blocks) * workers),
        budget=limit,
    )


def _entries_both_ways(graph: Graph) -> int:
    """At most; a directed graph is not made symmetric to find out."""
    return graph.nnz * (2 if graph.directed and graph.transpose is not graph else 1)


def budget(device: str) -> int:
    """Bytes that a run may take: ``LAGBC_MEMORY`` (such as 8GB, 512MiB or 2e9), or a share of what is free now.

    Raises
    ------
    ValueError
        The variable is not a size.
    """
    if device == "cpu":
        return host_budget()
    stated = stated_budget()
    if stated is not None:
        return stated
    import cupy

    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    return int(_DEVICE_SHARE * free)


def fit(
    graph: Graph,
    method: Method,
    batch: int | None,
    threads: int,
    roots: int | None = None,
    outputs: Outputs = DELTA,
    limit: int | None = None,
) -> MemoryEstimate:
    """Choose batch and threads that keep to the budget, or come as near to it as they can.

    Parameters
    ----------
    batch : int or None
        What the user asked for; None takes the method's.
    threads : int
        At most this many, and no more than there are batches or than the address space has room for; batches that run
        side by side are the first thing given up.
    roots : int, optional
        How many there are; a batch need not be wider.
    outputs : frozenset of str
        The sums asked for.
    limit : int, optional
        Bytes that the run may take; by default those of `budget`.

    Returns
    -------
    MemoryEstimate
    """
    limit = budget(method.device) if limit is None else limit
    batching = method.load().batching
    chosen = batching.round(batching.auto if batch is None else batch)
    if roots is not None:
        chosen = min(chosen, batching.round(max(roots, 1)))
    if batching.concurrent:
        batches = -(-(graph.n if roots is None else roots) // chosen)
        more = range(2, most_threads(min(threads, batches)) + 1)
        threads = 1 + bisect_left(
            more, True, key=lambda count: estimate(graph, method, chosen, count, limit, outputs).is_over
        )
    while estimate(graph, method, chosen, threads, limit, outputs).is_over and chosen > batching.block:
        chosen = batching.round(chosen // 2)
    return estimate(graph, method, chosen, threads, limit, outputs)


def require(needed: MemoryEstimate) -> None:
    """Raise MemoryError, with both figures, if a run is over the budget."""
    if needed.is_over:
        raise MemoryError(
            f"{needed.method} on {needed.device} with batch={needed.batch} needs up to {needed.total:.3g} bytes, "
            f"but the budget is {needed.budget:.3g}; raise it by memory= or the environment variable {BUDGET_VARIABLE}"
        )
