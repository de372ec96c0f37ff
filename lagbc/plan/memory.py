"""How much memory a run takes, how much it may take, and the batch and threads that keep to it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lagbc.budget import BUDGET_VARIABLE, host_budget, stated_budget
from lagbc.errors import OutOfMemoryError
from lagbc.graph.graph import Graph
from lagbc.limits import most_threads
from lagbc.methods.contract import Batching, SweepPlan
from lagbc.methods.table import Method
from lagbc.plan.demand import demand_bytes
from lagbc.plan.graph_memory import decomposition_bytes, device_graph_bytes, host_graph_bytes
from lagbc.plan.roots import chunk_length

if TYPE_CHECKING:
    from lagbc.reduce.chains import Contracted

# Share of the device's memory free at the start of a run that it may take, unless the variable says otherwise.
_DEVICE_SHARE = 0.8
# Peak bytes per vertex, and per entry of the pattern taken both ways, while a graph is read, ordered and copied on a
# device. On twelve kinds of graphs this was 1.1 to 3 times what was measured.
_GRAPH_BYTES_PER_VERTEX, _GRAPH_BYTES_PER_ENTRY = 160, 32
# The same for lengths, of which a few copies are held while those of both directions are compared.
_LENGTH_BYTES_PER_ENTRY = 32
# A run that takes no more is over in milliseconds: it may take that without a look at what is free, which takes longer
# than a small graph.
SMALL_RUN = 2**19


@dataclass(frozen=True)
class MemoryEstimate:
    """Estimate of the memory that a run allocates, in bytes; the caller's matrix and the libraries are not in it.

    Queues of `batched` and `delta-stepping` begin with the room that graphs of such a depth were seen to need. Where
    one has to grow by more than the budget leaves, and by more than 512 KiB, the run goes on with fewer threads, or
    half the batch; where there is nothing to give up it raises MemoryError.

    Attributes
    ----------
    method, device : str
    batch, threads : int
        What the run would use.
    graph : int
        The pattern, its transpose, their reordered copies, and what it takes to make them beyond what workspace and
        scores take later.
    workspace : int
        Rows of all workers.
    scores : int
        The sums.
    budget : int
        What the run may take. A run of up to 512 KiB may take that, if nothing else was stated.
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
    def is_small(self) -> bool:
        """Whether it is at most 512 KiB."""
        return self.total <= SMALL_RUN

    @property
    def total(self) -> int:
        """All of it, in bytes."""
        return self.graph + self.workspace + self.scores


def estimate(graph: Graph, method: Method, plan: SweepPlan, limit: int | None = None) -> MemoryEstimate:
    """Estimate the memory of a run of `method`, and hold it against a limit, by default what it may take."""
    module, sums = method.load(), plan.sums
    workers = plan.threads if module.batching.concurrent else 1
    # Within bounds a block of roots is no batch: its sums are those of what it has touched, at most one of each.
    blocks = 1 if plan.bounds is not None else module.batching.rows(0, plan.batch).stop
    batches = -(-(graph.n if plan.roots is None else plan.roots) // max(plan.batch, 1))
    # Sums of vertices and of edges: in the total, the part of a chunk, the successors of both and zeros for the next;
    # and of batches, done and in work.
    summed = sum(plan.columns(name) * (graph.nnz if name == "edges" else graph.n) for name in sums)
    workspace = workers * module.footprint(graph, plan)
    if plan.demand is not None:
        workspace += demand_bytes(plan.demand, 0 if plan.bounds is not None else plan.batch, workers)
    scores = 8 * summed * (5 + blocks * min(2 * workers, batches))
    held, most = (host_graph_bytes if method.device == "cpu" else device_graph_bytes)(graph, plan)
    of_graph = max(held, most - workspace - scores)
    if limit is None:
        is_small = of_graph + workspace + scores <= SMALL_RUN
        limit = SMALL_RUN if is_small and stated_budget() is None else budget(method.device)
    return MemoryEstimate(
        method=method.name,
        device=method.device,
        batch=plan.batch,
        threads=plan.threads,
        graph=of_graph,
        workspace=workspace,
        scores=scores,
        budget=limit,
    )


def to_reduce(graph: Graph, *, edges: bool) -> int:
    """Bound the memory that it takes to reduce a graph, with the graph; `edges` says whether edges are summed."""
    whole = graph_bytes(graph.n, _entries_both_ways(graph), weighted=graph.weighted)
    return whole + decomposition_bytes(graph, edges=edges)


def together(
    graph: Graph, parts: list[MemoryEstimate], largest: MemoryEstimate, *, edges: bool, limit: int | None = None
) -> MemoryEstimate:
    """Bound the memory of pieces that run one after the other, beside the graph that they are of, and to make them."""
    whole = graph_bytes(graph.n, _entries_both_ways(graph), weighted=graph.weighted)
    workspace = max(part.workspace for part in parts)
    scores = 8 * graph.n + sum(part.scores for part in parts)
    if limit is None:
        limit = budget(largest.device) if largest.budget == SMALL_RUN else largest.budget
    return replace(
        largest,
        graph=max(whole + sum(part.graph for part in parts), to_reduce(graph, edges=edges) - workspace - scores),
        workspace=workspace,
        scores=scores,
        budget=limit,
    )


def of_chains(contracted: Contracted, method: Method, plan: SweepPlan, limit: int | None = None) -> MemoryEstimate:
    """Bound the memory of a run from junctions, whose plan has a group of roots as its batch.

    Each worker has a state for each block of a group, and one for far ends; on a GPU one state has all of a group. Of a
    group there are distances, path counts and target weights, and what enters each chain; besides, columns of far ends,
    and copies of what is swept at a time. On a GPU there are the chains themselves, too.
    """
    from lagbc.plan.junctions import widths

    graph, chains, batching = contracted.graph, len(contracted.ways.lengths), method.load().batching
    width, more = widths(batching, plan.batch)
    needed = estimate(graph, method, plan, limit)
    columns = 3 * plan.batch + 2 * more
    if batching.concurrent:
        numbers = (columns + 4 * width) * graph.n + plan.batch * chains
        return replace(needed, workspace=(plan.batch // width + 1) * needed.workspace + 8 * plan.threads * numbers)
    far = estimate(graph, method, replace(plan, batch=more), limit).workspace
    numbers = (columns + 6 * plan.batch) * graph.n + 3 * plan.batch * chains + 20 * len(contracted.inside)
    return replace(needed, workspace=needed.workspace + far + 8 * numbers)


def fit_chains(
    contracted: Contracted, method: Method, plan: SweepPlan, limit: int | None = None
) -> tuple[SweepPlan, MemoryEstimate]:
    """Halve the groups until they keep to the budget, where bits do not depend on them; also return the estimate."""
    batching = method.load().batching
    needed = of_chains(contracted, method, plan, limit)
    while needed.is_over and not batching.concurrent and plan.batch > batching.block:
        plan = replace(plan, batch=batching.round(plan.batch // 2))
        needed = of_chains(contracted, method, plan, needed.budget)
    return plan, needed


def of_graph(graph: Graph, method: Method, *, edges: bool, limit: int | None = None) -> MemoryEstimate:
    """Bound the memory of a run that sweeps nothing, as a reduction left nothing."""
    return MemoryEstimate(
        method=method.name,
        device=method.device,
        batch=1,
        threads=1,
        graph=to_reduce(graph, edges=edges),
        workspace=0,
        scores=8 * graph.n,
        budget=budget("cpu") if limit is None else limit,
    )


def graph_bytes(n: int, entries: int, *, weighted: bool) -> int:
    """Bound the bytes of a graph with so many entries both ways, while it is read, ordered and copied."""
    return n * _GRAPH_BYTES_PER_VERTEX + entries * (_GRAPH_BYTES_PER_ENTRY + weighted * _LENGTH_BYTES_PER_ENTRY)


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


def fit(graph: Graph, method: Method, plan: SweepPlan, limit: int | None = None) -> tuple[SweepPlan, MemoryEstimate]:
    """Choose batch and threads that keep to the budget, or come as near to it as they can.

    Parameters
    ----------
    plan : SweepPlan
        The batch asked for, which need not be wider than there are roots, and at most so many threads: no more are
        taken than there are batches, or than the address space has room for. Batches that run side by side are the
        first thing given up.
    limit : int, optional
        Bytes that the run may take; by default the budget of `MemoryEstimate`.

    Returns
    -------
    plan : SweepPlan
        With the batch and the threads chosen.
    needed : MemoryEstimate
    """
    batching = method.load().batching
    roots = graph.n if plan.roots is None else plan.roots
    batch = widest(method, batching, plan.batch, plan.roots)
    threads = busy(batching, roots, batch, plan.threads)
    if (batch, threads) != (plan.batch, plan.threads):
        plan = replace(plan, batch=batch, threads=threads)
    needed = estimate(graph, method, plan, limit)
    if not needed.is_over:
        return held(plan, method, needed), needed
    limit = needed.budget
    if batching.concurrent:
        more = range(2, threads)
        threads = 1 + bisect_left(
            more, True, key=lambda count: estimate(graph, method, replace(plan, threads=count), limit).is_over
        )
        plan = replace(plan, threads=threads)
        needed = estimate(graph, method, plan, limit)
    while needed.is_over and plan.batch > batching.block:
        plan = replace(plan, batch=batching.round(plan.batch // 2))
        needed = estimate(graph, method, plan, limit)
    if needed.is_over and (in_place := _in_place(graph, method, plan)) is not None:
        plan = in_place
        needed = estimate(graph, method, plan, limit)
    return held(plan, method, needed), needed


def _in_place(graph: Graph, method: Method, plan: SweepPlan) -> SweepPlan | None:
    """Have path counts kept in place; None if that takes no less."""
    in_place, footprint = replace(plan, in_place=True), method.load().footprint
    return in_place if footprint(graph, in_place) < footprint(graph, plan) else None


def held(plan: SweepPlan, method: Method, needed: MemoryEstimate) -> SweepPlan:
    """Share what is left of the budget among the workers, for what grows on demand; 512 KiB, if less is left.

    Runs of up to 512 KiB are not held to it, where nothing else was stated.
    """
    if needed.budget == SMALL_RUN:
        return plan
    workers = plan.threads if method.load().batching.concurrent else 1
    return replace(plan, budget=needed.budget, growth=max(SMALL_RUN, needed.budget - needed.total) // workers)


def smaller(graph: Graph, method: Method, plan: SweepPlan) -> SweepPlan | None:
    """Give up one worker, half the batch, or rows of path counts; None if there is nothing to give up."""
    batching = method.load().batching
    if batching.concurrent and plan.threads > 1:
        plan = replace(plan, threads=plan.threads - 1)
    elif plan.batch > batching.block:
        plan = replace(plan, batch=batching.round(plan.batch // 2))
    elif (in_place := _in_place(graph, method, plan)) is not None:
        plan = in_place
    else:
        return None
    return plan if plan.budget is None else held(plan, method, estimate(graph, method, plan, plan.budget))


def usual(method: Method, roots: int, threads: int, asked: int | None = None) -> int:
    """Tell the batch: the one asked for, or the method's; of few roots a thread's share, in whole blocks."""
    batching = method.load().batching
    most = batching.auto if asked is None else asked
    if not batching.concurrent or batching.block == 1:
        return most
    return min(most, batching.round(max(-(-roots // threads), 1)))


def busy(batching: Batching, roots: int, batch: int, threads: int) -> int:
    """Tell how many threads there are batches for, and room in the address space."""
    if not batching.concurrent:
        return threads
    return most_threads(min(threads, max(-(-roots // batch), 1)))


def widest(method: Method, batching: Batching, batch: int, roots: int | None = None) -> int:
    """Tell the batch that runs where memory is no matter: whole blocks, of which each is in one chunk."""
    most = chunk_length(method, batching) if batching.block == 1 else batch  # all roots of a batch are one block
    return batching.round(max(1, min(batch, most, batch if roots is None else roots)))


def require(needed: MemoryEstimate) -> None:
    """Raise MemoryError, with both figures, if a run is over the budget."""
    if needed.is_over:
        raise OutOfMemoryError(
            f"{over_budget(needed)}; raise it by memory= or the environment variable {BUDGET_VARIABLE}"
        )


def over_budget(needed: MemoryEstimate) -> str:
    """Say what a run needs, and what it may take."""
    return (
        f"{needed.method} on {needed.device} with batch={needed.batch} needs up to {needed.total:.3g} bytes, but the "
        f"budget is {needed.budget:.3g}"
    )
