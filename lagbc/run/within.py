"""The loop over the roots of a run with bounds, at the cost of what they reach.

Roots are summed in blocks, which the roots alone fix, to `SparseSums`; these are added in order, so that bits do not
depend on threads. They wait until together they have as many rows as the sums of the run: to make new sums of the old
ones, which a checkpoint may hold, then costs no more than they did.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import MemoryWarning, warn
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import Blocks, MethodModule, SumsWithin, SweepPlan
from lagbc.methods.sums import DECAYING, OF_BOUNDS, OF_ROOTS, SparseSums, Sums
from lagbc.methods.table import Method
from lagbc.phases import phase
from lagbc.plan.demand import plan_of_root
from lagbc.plan.roots import order_roots
from lagbc.run.sweep import with_less_memory
from lagbc.run.threads import Elsewhere, Lender, pool_of
from lagbc.run.weights import into_range
from lagbc.run.workers import Summed

if TYPE_CHECKING:
    from lagbc.run.checkpoint import Progressed

Roots = NDArray[np.int64]


def sweep_within(
    graph: Graph,
    method: Method,
    plan: SweepPlan,
    roots: Roots,
    *,
    ordered: Roots | None = None,
    tell: Callable[[int], object] | None = None,
    checkpoint: Progressed | None = None,
    in_calling_thread: bool = False,
    elsewhere: Elsewhere | None = None,
    size: int | None = None,
    keep: Callable[[list[SparseSums]], object] | None = None,
) -> Sums:
    """Sum what the plan, which has bounds, asks for over all roots.

    Parameters and errors are those of `lagbc.run.sweep.sweep`. A unit of work for `elsewhere` is a block of roots.
    `size` is how many roots are summed together, by default as many as the method takes of all, and `keep` is called
    with what each block sums to.
    """
    ordered = order_roots(graph, method, roots) if ordered is None else ordered
    size = blocks_of(method).size(len(ordered)) if size is None else size
    blocks = [ordered[first : first + size] for first in range(0, len(ordered), size)]
    if checkpoint is not None:
        checkpoint.require_order(ordered, size)
    begun = Summed.nothing(np, plan, graph) if checkpoint is None else checkpoint.state
    run = _Run(graph, method, plan, checkpoint, tell, keep, _Held(begun))
    with phase("sweep"), ExitStack() as stack:
        stack.callback(run.keep)
        while run.held.done < len(ordered):
            try:
                left = blocks[-(-run.held.done // size) :]
                if elsewhere is None:
                    run.go_on(left, in_calling_thread=in_calling_thread)
                else:
                    run.take_from(elsewhere, left)
            except MemoryError as error:
                if elsewhere is not None:
                    raise  # whoever ran out of memory has made do with less before
                run.plan = with_less(run.graph, run.method, run.plan, error)
    with phase("finish"):
        return run.held.summed.total


def blocks_of(method: Method) -> Blocks:
    """Tell how a method sums roots within bounds."""
    return cast("SumsWithin", method.load()).blocks


def with_less(graph: Graph, method: Method, plan: SweepPlan, error: MemoryError) -> SweepPlan:
    """Give up a thread, or on a device half the roots under way, and say so; the error if there is nothing to give."""
    if method.device == "cuda":
        return with_less_memory(graph, method, plan, error)
    if plan.threads == 1:
        raise error
    warn(f"{method.name} ran out of memory; it goes on with threads={plan.threads - 1}", MemoryWarning)
    return replace(plan, threads=plan.threads - 1)


@dataclass(frozen=True, eq=False)
class _Held:
    """What is summed: up to some root, and parts of the roots that follow, which are not added yet."""

    summed: Summed
    waiting: list[tuple[int, list[SparseSums]]] = field(default_factory=list)

    @property
    def done(self) -> int:
        return self.summed.done + sum(roots for roots, _ in self.waiting)

    def added(self) -> _Held:
        """Add what waits."""
        total = self.summed.total.plus_sparse(part for _, parts in self.waiting for part in parts)
        return _Held(Summed(self.done, total, self.summed.part))


@dataclass(eq=False)
class _Run:
    """The loop; `held` is replaced as one, so that an interrupt cannot part what belongs together."""

    graph: Graph
    method: Method
    plan: SweepPlan
    checkpoint: Progressed | None
    tell: Callable[[int], object] | None
    keep_block: Callable[[list[SparseSums]], object] | None
    held: _Held
    rows: int = 0  # that wait
    saved: float = field(default_factory=time.perf_counter)

    def go_on(self, blocks: list[Roots], *, in_calling_thread: bool) -> None:
        """Sum the blocks that are left; at most two calls a worker are ahead of what is taken."""
        is_shared = self.method.load().batching.concurrent and not in_calling_thread
        threads, at_once = self.plan.threads if is_shared else 1, blocks_of(self.method).at_once
        plan, context = self.plan.with_own_flag(), self.method.context()
        workers = Lender(lambda: BlockWorker(self.graph, self.method, plan))
        pool = pool_of(threads, in_calling_thread=in_calling_thread)

        def run(some: list[Roots]) -> list[list[SparseSums]]:
            with context:
                return workers.use(lambda worker: worker.run(some))

        try:
            several = [blocks[first : first + at_once] for first in range(0, len(blocks), at_once)]
            for some, found in pool.in_order(run, several):
                for block, parts in zip(some, found, strict=True):
                    self._take(len(block), parts)
        finally:
            plan.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def take_from(self, elsewhere: Elsewhere, blocks: list[Roots]) -> None:
        """Have the blocks that are left summed elsewhere."""
        with closing(elsewhere(blocks)) as found:
            for block, parts in zip(blocks, found, strict=True):
                self._take(len(block), parts)

    def keep(self) -> None:
        """Add what waits, and save it."""
        self._add()
        if self.checkpoint is not None:
            self.checkpoint.state = self.held.summed
            self.checkpoint.save()
        self.saved = time.perf_counter()

    def _take(self, roots: int, parts: list[SparseSums]) -> None:
        if self.keep_block is not None:
            self.keep_block(parts)
        self.held.waiting.append((roots, parts))
        self.rows += sum(part.size for part in parts)
        if self.checkpoint is not None and time.perf_counter() - self.saved > tuning.CHECKPOINT_SECONDS:
            self.keep()
        elif self.rows > self.graph.n:
            self._add()
        if self.tell is not None:
            self.tell(self.held.done)

    def _add(self) -> None:
        if self.held.waiting:
            self.held = self.held.added()
        self.rows = 0


class BlockWorker:
    """Sums blocks in a state of its own, for one thread at a time; `lagbc.run.workers` has more on weights in range."""

    def __init__(self, graph: Graph, method: Method, plan: SweepPlan) -> None:
        module: MethodModule = method.load()
        self._graph, self._plan, self._module = graph, plan, cast("SumsWithin", module)
        scaled, self._beyond = into_range(plan, graph.n)
        self._power = _exponent(plan.omega) - _exponent(scaled.omega)
        with phase("prepare"):
            self._state = module.prepare(graph, scaled)

    def run(self, blocks: list[Roots]) -> list[list[SparseSums]]:
        """Sum blocks; roots that float64 does not hold are summed by themselves, after the others of theirs."""
        found = self._module.sum_within(self._state, [np.where(self._beyond[block], -1, block) for block in blocks])
        return [self._whole(block, *summed) for block, summed in zip(blocks, found, strict=True)]

    def _whole(self, block: Roots, near: SparseSums, overflowed: NDArray[np.bool_]) -> list[SparseSums]:
        with np.errstate(over="ignore"):
            for name, array in near.sums:
                if name in OF_BOUNDS and self._power:
                    np.ldexp(array, self._power, out=array)
        return [near, *(self._alone(int(root)) for root in block[overflowed | self._beyond[block]])]

    def _alone(self, root: int) -> SparseSums:
        from lagbc.methods.cpu import extended

        plan, graph = plan_of_root(self._plan, root), self._graph.on_host
        bounds: Any = plan.bounds
        sums = Sums.zeros(np, plan.sums, graph.n, graph.nnz, bounds)
        for c, d, alone in bounds:
            names = plan.sums if d == 0 else plan.sums & DECAYING
            column = {
                name: array if name in OF_ROOTS else array[None]
                for name, array in sums.column(bounds, c, d)
                if name in names
            }
            extended.add_root(graph, replace(plan, bounds=alone, sums=names), root, Sums(**column), 0, root)
        vertices, edges = np.arange(graph.n), np.arange(graph.nnz)
        return SparseSums(vertices, edges, vertices, sums)


def _exponent(omega: NDArray[np.float64] | None) -> int:
    return 0 if omega is None else int(np.frexp(omega.max())[1])
