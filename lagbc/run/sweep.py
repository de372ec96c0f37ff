"""The loop over batches of roots: workers, order of summation, progress, interrupt, checkpoint, retry."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import MemoryWarning, warn
from lagbc.graph.csr import as_numpy, module_of
from lagbc.graph.graph import Graph
from lagbc.graph.order.hubs import group_by_hubs, group_by_length
from lagbc.methods.contract import MethodModule, StopFlag, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import Method
from lagbc.run.checkpoint import Checkpoint
from lagbc.run.threads import Threads
from lagbc.run.weights import into_range

# Seconds between two writes of a checkpoint.
CHECKPOINT_SECONDS = 5.0
# Roots from which they are grouped on graphs of few levels. On the CPU that took as long as 30 to 2000 of them gained.
GROUPED_ROOTS = 1024


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
    report: Reporter | bool = False,
    checkpoint: Checkpoint | None = None,
    module: MethodModule | None = None,
) -> Sums:
    """Sum what the plan asks for over all roots.

    Blocks of ``method.block`` roots are summed each on its own, then added to the total in the order of the roots, so
    that neither threads nor batches change a bit of the result.

    Parameters
    ----------
    graph : Graph
    method : Method
    plan : SweepPlan
    roots : ndarray of int64
        Distinct vertices.
    report : bool or callable
        True draws a progress bar; a callable is called with a `Progress` after every batch.
    checkpoint : Checkpoint, optional
        Where to go on from and what to keep up to date.
    module : MethodModule, optional
        Stands in for the method's own three functions, for instance to watch them.

    Returns
    -------
    raw : Sums
        On the host.

    Raises
    ------
    MemoryError
        Not even one block fits.
    KeyboardInterrupt
        Ctrl-C; every worker has stopped, and the checkpoint holds all batches that were finished.
    """
    ordered = line_up(graph, method, roots)
    zeros = Sums.zeros(np, plan.sums, graph.n, graph.nnz)
    done, host = (0, zeros) if checkpoint is None else checkpoint.state
    module = module or method.load()
    total = Sums(**{name: method.arrays.asarray(array) for name, array in host})
    with ExitStack() as stack:
        tell = _reporter(report, len(ordered), done, stack)
        begun, first, saved = time.perf_counter(), done, time.perf_counter()
        if checkpoint is not None:
            stack.callback(checkpoint.save)
        while done < len(ordered):
            try:
                for sums, batch in _batches(graph, method, module, plan, ordered[done:]):
                    done, total = done + len(batch), total.plus(sums, batch)
                    if checkpoint is not None:
                        checkpoint.state = done, _on_host(total)
                        if time.perf_counter() - saved > CHECKPOINT_SECONDS:
                            checkpoint.save()
                            saved = time.perf_counter()
                    tell(_progress(graph, first, done, len(ordered), time.perf_counter() - begun))
            except MemoryError:
                plan = _smaller(method, plan)
    return _on_host(total)


def line_up(graph: Graph, method: Method, roots: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put roots into the order in which they are batched: those that see most vertices at the same levels are together.

    On deep graphs that is the sweep order, in which neighbours are neighbours in the graph; on others, where there are
    many roots, by their distances to the hubs (on a GPU in hops, even where edges have lengths). A root without
    out-edges adds nothing and is left out.
    """
    rank = np.flatnonzero(np.isin(graph.order, roots[graph.out_degrees[roots] > 0]))
    if not graph.has_high_diameter and len(rank) >= GROUPED_ROOTS:
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


def _on_host(sums: Sums) -> Sums:
    return Sums(**{name: as_numpy(array) for name, array in sums})


def _batches(
    graph: Graph, method: Method, module: MethodModule, plan: SweepPlan, roots: NDArray[np.int64]
) -> Iterator[tuple[Sums, NDArray[np.int64]]]:
    """Yield the sums of each batch and its roots, in order; at most two batches a worker are ahead.

    However the iteration ends, no worker is running when it has ended.
    """
    plan = replace(plan, stop=StopFlag())
    scaled, beyond = into_range(plan, graph.n)
    context = method.context()
    batches = [roots[i : i + plan.batch] for i in range(0, len(roots), plan.batch)]
    workers = min(plan.threads, len(batches)) if method.concurrent else 1
    idle = [_Worker(graph, method, module, plan, scaled, beyond)]

    def run(batch: NDArray[np.int64]) -> Sums:
        with context:
            try:
                worker = idle.pop()
            except IndexError:
                worker = _Worker(graph, method, module, plan, scaled, beyond)
            sums = worker.run(batch)
        idle.append(worker)
        return sums

    pending: deque[Future[Sums]] = deque()
    with Threads(workers) as pool:
        try:
            waiting = iter(batches)
            for batch in batches:
                while len(pending) < 2 * workers and (ahead := next(waiting, None)) is not None:
                    pending.append(pool.submit(run, ahead))
                yield pool.wait_for(pending.popleft()), batch
        finally:
            plan.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


class _Worker:
    """Sums batches, one after the other, in a state of its own for each dtype that it needs.

    The method has the plan with weights in range; roots beyond it add nothing to its sums over paths.
    """

    def __init__(
        self,
        graph: Graph,
        method: Method,
        module: MethodModule,
        plan: SweepPlan,
        scaled: SweepPlan,
        beyond: NDArray[np.bool_],
    ) -> None:
        self._graph, self._method, self._module = graph, method, module
        self._plan, self._scaled, self._beyond = plan, scaled, beyond
        self._states = {plan.dtype: module.prepare(graph, scaled)}

    def run(self, roots: NDArray[np.int64]) -> Sums:
        """Sum one batch, a row for each block of roots; roots that float64 does not hold are computed again."""
        with np.errstate(over="ignore"):  # what sums to more than float64 holds is infinite
            return self._run(roots)

    def _run(self, roots: NDArray[np.int64]) -> Sums:
        sums, overflowed = self._sweep(self._plan.dtype, roots)
        if overflowed.any() and self._plan.dtype == "float32":
            in_float64, overflowed = self._sweep("float64", np.where(overflowed, roots, -1))
            sums.add(in_float64)
        again = overflowed | self._beyond[roots]
        if again.any():
            from lagbc.methods.cpu import extended

            recomputed = self._zeros(np, len(roots))
            for i in np.flatnonzero(again).tolist():
                missing = recomputed if overflowed[i] else recomputed.of_paths()
                extended.add_root(self._graph.on_host, self._plan, int(roots[i]), missing, self._block_of(i), i)
            asarray = self._method.arrays.asarray
            sums.add(Sums(**{name: asarray(array) for name, array in recomputed}))
        return sums

    def _block_of(self, place: Any) -> Any:
        return place // self._method.block if self._method.block > 1 else 0 * place

    def _zeros(self, arrays: Any, roots: int) -> Sums:
        blocks = self._block_of(roots - 1) + 1
        return Sums.zeros_of_batch(arrays, self._plan.sums, self._graph.n, self._graph.nnz, blocks, roots)

    def _sweep(self, dtype: str, roots: NDArray[np.int64]) -> tuple[Sums, NDArray[np.bool_]]:
        """Return the sums of the roots in range, and which are not; a root of -1 is an absent one."""
        if dtype not in self._states:
            self._states[dtype] = self._module.prepare(self._graph, replace(self._scaled, dtype=dtype))
        sums = self._zeros(self._method.arrays, len(roots))
        state, overflowed = self._states[dtype], np.zeros(len(roots), np.bool_)
        for levels in self._module.forward(state, roots):
            self._module.backward(state, levels, sums)
            overflowed[levels.places] = levels.overflowed
        return sums, overflowed


def _smaller(method: Method, plan: SweepPlan) -> SweepPlan:
    """Give up one worker, or half the batch; MemoryError if there is nothing to give up."""
    if method.concurrent and plan.threads > 1:
        smaller = replace(plan, threads=plan.threads - 1)
    elif plan.batch > method.block:
        smaller = replace(plan, batch=method.round_batch(plan.batch // 2))
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


def _reporter(report: Reporter | bool, total: int, done: int, stack: ExitStack) -> Reporter:
    if callable(report):
        return report
    if not report:
        return lambda progress: None
    from tqdm.auto import tqdm

    bar = stack.enter_context(tqdm(total=total, initial=done, unit="root", desc="lagbc"))

    def draw(progress: Progress) -> None:
        bar.set_postfix_str(f"{progress.gteps:.3g} GTEPS", refresh=False)
        bar.update(progress.done - bar.n)

    return draw
