"""The loop over the chunks of a run: order of the roots, progress, checkpoint, retry with less memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import MemoryWarning, warn
from lagbc.graph.csr import as_numpy, module_of
from lagbc.graph.graph import Graph
from lagbc.graph.order.hubs import group_by_hubs, group_by_length
from lagbc.methods import tuning
from lagbc.methods.contract import Batching, MethodModule, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import Method
from lagbc.phases import in_phase, phase
from lagbc.run.checkpoint import Checkpoint
from lagbc.run.workers import Summed, Workers, cut


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    done, total : int
        Roots.
    seconds : float
        Since the run, or its resumption, began.
    gteps : float
        Billions of edges traversed in a second since then: an edge counts once for every root, in the undirected
        case as one edge.
    """

    done: int
    total: int
    seconds: float
    gteps: float


Reporter = Callable[[Progress], object]


def sweep(
    graph: Graph,
    method: Method,
    plan: SweepPlan,
    roots: NDArray[np.int64],
    *,
    ordered: NDArray[np.int64] | None = None,
    report: Reporter | bool = False,
    checkpoint: Checkpoint | None = None,
    module: MethodModule | None = None,
    in_calling_thread: bool = False,
) -> Sums:
    """Sum what the plan asks for over all roots.

    Roots are summed in chunks, as `lagbc.run.workers` says, and the chunks are added in the order of the roots, so that
    neither threads nor batches change a bit of the result.

    Parameters
    ----------
    graph : Graph
    method : Method
    plan : SweepPlan
    roots : ndarray of int64
        Distinct vertices.
    ordered : ndarray of int64, optional
        What `order_roots` makes of them, if that is known.
    report : bool or callable
        True draws a progress bar; a callable is called with a `Progress` after every batch.
    checkpoint : Checkpoint, optional
        Where to go on from and what to keep up to date.
    module : MethodModule, optional
        Stands in for the method's own, for instance to watch it.
    in_calling_thread : bool
        As for `Workers`.

    Returns
    -------
    raw : Sums
        On the host.

    Raises
    ------
    MemoryError
        Not even one block fits.
    CheckpointError
        The checkpoint holds roots that were summed in another order.
    KeyboardInterrupt
        Ctrl-C; every worker has stopped, and the checkpoint holds all batches that were finished.
    """
    ordered = order_roots(graph, method, roots) if ordered is None else ordered
    module = module or method.load()
    chunks, length = cut(ordered, method, module.batching)
    if checkpoint is not None:
        checkpoint.require_order(ordered, length)
    if checkpoint is None:
        start = Summed.nothing(method.arrays, plan, graph)
    else:
        start = checkpoint.state.moved(method.arrays.asarray)
    summed = start
    with ExitStack() as stack:
        stack.enter_context(phase("sweep"))
        tell = _reporter(report, len(ordered), start.done, len(roots), stack)
        begun = saved = time.perf_counter()
        if checkpoint is not None:
            stack.callback(checkpoint.save)
        while summed.done < len(ordered):
            try:
                with Workers(graph, method, plan, module, in_calling_thread=in_calling_thread) as workers:
                    whole, done = divmod(summed.done, length)
                    for part in workers.sum(chunks[whole:], done, summed.part):
                        summed = summed.plus(part)
                        if checkpoint is not None:
                            checkpoint.state = summed.moved(as_numpy)
                            if time.perf_counter() - saved > tuning.CHECKPOINT_SECONDS:
                                checkpoint.save()
                                saved = time.perf_counter()
                        tell(_progress(graph, start.done, summed.done, len(ordered), time.perf_counter() - begun))
            except MemoryError:
                plan = _smaller(method, module.batching, plan)
    with phase("finish"):
        return summed.total.moved(as_numpy)


@in_phase("order")
def order_roots(graph: Graph, method: Method, roots: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put roots into the order in which they are batched: those that see most vertices at the same levels are together.

    On graphs of high diameter that is the sweep order, in which neighbours are neighbours in the graph; on others,
    where there are many roots, by their distances to the hubs (on a GPU in hops, even where edges have lengths). A root
    without out-edges adds nothing and is left out.
    """
    is_searched = np.zeros(graph.n, np.bool_)
    is_searched[roots] = graph.out_degrees[roots] > 0
    rank = np.flatnonzero(is_searched[graph.order])
    if not graph.has_high_diameter and len(rank) >= tuning.GROUPED_ROOTS:
        rank = _group(graph.reordered, method, rank)
    return graph.order[rank]


def _group(graph: Graph, method: Method, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Group vertices of a graph in sweep order by their distances to its hubs."""
    if method.device == "cpu" and graph.weighted:
        grouped = group_by_length(graph.transpose.matrix, vertices)
    else:
        graph = graph.on_device if method.device == "cuda" else graph
        grouped = group_by_hubs(graph.indptr, graph.indices, module_of(graph.indptr).asarray(vertices))
    in_order: NDArray[np.int64] = as_numpy(grouped)
    return in_order


def _smaller(method: Method, batching: Batching, plan: SweepPlan) -> SweepPlan:
    """Give up one worker, or half the batch; MemoryError if there is nothing to give up."""
    if batching.concurrent and plan.threads > 1:
        smaller = replace(plan, threads=plan.threads - 1)
    elif plan.batch > batching.block:
        smaller = replace(plan, batch=batching.round(plan.batch // 2))
    else:
        raise MemoryError(f"{method.name} on {method.device} ran out of memory with the smallest batch, {plan.batch}")
    warn(
        f"{method.name} on {method.device} ran out of memory; it goes on with batch={smaller.batch} and "
        f"threads={smaller.threads}",
        MemoryWarning,
    )
    return smaller


def _progress(graph: Graph, first: int, done: int, total: int, seconds: float) -> Progress:
    edges = graph.nnz if graph.directed else graph.nnz / 2
    return Progress(done, total, seconds, edges * (done - first) / max(seconds, 1e-9) / 1e9)


def _reporter(report: Reporter | bool, total: int, done: int, asked: int, stack: ExitStack) -> Reporter:
    if callable(report):
        return report
    if not report:
        return lambda progress: None
    from tqdm.auto import tqdm

    bar = stack.enter_context(tqdm(total=total, initial=done, unit="root", desc="lagbc"))
    left_out = f"; {asked - total} of {asked} have no out-edges" if total < asked else ""

    def draw(progress: Progress) -> None:
        bar.set_postfix_str(f"{progress.gteps:.3g} GTEPS{left_out}", refresh=False)
        bar.update(progress.done - bar.n)

    return draw
