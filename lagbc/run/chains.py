"""The loop over the junctions of a block whose chains are contracted.

Roots are summed in groups, which the graph alone fixes, and groups are added in order. So bits depend neither on
threads nor on the order in which groups are done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import MemoryWarning, warn
from lagbc.methods.contract import StopFlag, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import Method
from lagbc.phases import phase
from lagbc.reduce.chains import Contracted, NotContractible, contract, edge_scores, scores
from lagbc.reduce.piece import Piece
from lagbc.reduce.streams import Flows, enter, leave
from lagbc.run.threads import CallingThread, Threads

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

# Roots of a group, a multiple of every method's block.
GROUP = 64
# Path counts are added and multiplied by weights; beyond this they might leave the range of float64.
_LARGEST_COUNT = 2.0**1000
# The depths are asked for only because a method that sums distances keeps them beside the path counts.
_SUMS = frozenset({"dependency", "edges", "depth"})


@dataclass(frozen=True, eq=False)
class ChainSums:
    """What a block sums to.

    Attributes
    ----------
    scores : ndarray of float64, shape (n,)
        F of the piece, as `lagbc.reduce.piece.Piece` defines it.
    edges : ndarray of float64, shape (nnz,), or None
        Sums of the edges, in the order of ``graph.indices``; each of two directions has half of what goes either way.
    """

    scores: Floats
    edges: Floats | None


def sum_chains(
    piece: Piece,
    method: Method,
    *,
    threads: int = 1,
    edges: bool = False,
    report: Callable[[int, int], object] | None = None,
    in_calling_thread: bool = False,
) -> ChainSums:
    """Compute the exact scores of a block by sweeps from its junctions alone.

    Parameters
    ----------
    piece : Piece
        As for `lagbc.reduce.chains.contract`.
    method : Method
        A row with lengths, on the CPU, that takes target weights by column.
    threads : int
        Groups that are swept at a time, each with a state of its own.
    edges : bool
        Whether sums of edges are asked for.
    report : callable, optional
        Called with the number of junctions that are done, and of all, after every group.
    in_calling_thread : bool
        As for `lagbc.run.workers.Workers`.

    Raises
    ------
    NotContractible
        Path counts or weights leave the range that is summed here: sweep the piece without contracting it.
    ValueError
        The piece is no 2-connected undirected graph of 3 vertices or more.
    MemoryError
        Not even one worker fits.
    KeyboardInterrupt
        Ctrl-C; every worker has stopped.
    """
    with phase("prepare"):
        contracted = contract(piece)
    run = _Run(contracted, method, report)
    with phase("sweep"):
        while not run.is_done:
            try:
                run.go_on(1 if in_calling_thread else threads, in_calling_thread)
            except MemoryError:
                if threads == 1:
                    raise
                threads -= 1
                warn(f"{method.name} ran out of memory; it goes on with threads={threads}", MemoryWarning)
    sums = run.dependency, run.junction, run.along
    if not all(np.isfinite(total).all() for total in sums):
        raise NotContractible("the weights sum to more than float64 holds")
    of_edges = edge_scores(contracted, run.flows, run.along) if edges else None
    return ChainSums(scores(contracted, run.flows, *sums), of_edges)


class _Run:
    """What is summed so far: of the groups that are done, in order."""

    def __init__(self, contracted: Contracted, method: Method, report: Callable[[int, int], object] | None) -> None:
        graph = contracted.graph
        self.contracted, self.method, self.report = contracted, method, report
        self.groups = contracted.groups(GROUP)
        self.done = 0
        self.dependency, self.along = np.zeros(graph.n), np.zeros(graph.nnz)
        self.junction = np.zeros(graph.n)
        self.flows = Flows.zeros(len(contracted.inside))

    @property
    def is_done(self) -> bool:
        return self.done == len(self.groups)

    def go_on(self, threads: int, in_calling_thread: bool) -> None:
        """Sum the groups that are left; at most two a worker are ahead of what is added."""
        stop = StopFlag()
        idle = [_Worker(self.contracted, self.method, self.flows, stop)]
        pool = CallingThread() if in_calling_thread else Threads(threads)

        def run(group: Rows) -> _GroupSums:
            with self.method.context():
                try:
                    worker = idle.pop()
                except IndexError:
                    worker = _Worker(self.contracted, self.method, self.flows, stop)
                summed = worker.run(group)
            idle.append(worker)
            return summed

        waiting, pending = iter(self.groups[self.done :]), deque[Future[_GroupSums]]()
        try:
            while True:
                while len(pending) < 2 * threads and (group := next(waiting, None)) is not None:
                    pending.append(pool.submit(run, group))
                if not pending:
                    return
                self._add(pool.wait_for(pending.popleft()))
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def _add(self, summed: _GroupSums) -> None:
        for block in summed.sums.dependency:
            self.dependency += block
        for block in summed.sums.edges:
            self.along += block
        self.junction[self.groups[self.done]] = summed.junction
        self.done += 1
        if self.report is not None:
            roots = len(self.contracted.roots)
            self.report(min(self.done * GROUP, roots), roots)


@dataclass(frozen=True, eq=False)
class _GroupSums:
    """Sums of the sweeps of a group, a row a block, and the demand that passes its roots as it leaves chains."""

    sums: Sums
    junction: Floats


@dataclass(frozen=True, eq=False)
class _Columns:
    """Distances and path counts from some rows, shape (columns, rows); those of members of a row together."""

    rows: Rows
    dist: Floats
    sigma: Floats


class _Worker:
    """Sweeps one group after the other, with one state for its roots and one for far ends."""

    def __init__(self, contracted: Contracted, method: Method, flows: Flows, stop: StopFlag) -> None:
        self._contracted, self._flows = contracted, flows
        self._module: Any = method.load()
        self._plan = SweepPlan(batch=GROUP, sums=_SUMS, method=method.name, stop=stop)
        self._states: dict[str, Any] = {}

    def run(self, group: Rows) -> _GroupSums:
        """Sum the roots of a group."""
        graph, roots = self._contracted.graph, self._contracted.graph.order[group]
        blocks = self._module.batching.rows(0, len(roots)).stop
        sums = Sums.zeros_of_batch(np, _SUMS, graph.n, graph.nnz, blocks, len(roots))
        junction = np.zeros(len(roots))
        state = self._state("near")
        for levels in self._module.forward(state, roots):
            near = self._columns(state, levels, group[levels.places])
            demand, junction[levels.places] = self._demand(near)
            try:
                self._module.backward(state, levels, sums, omega=demand.T)
            except OverflowError as error:
                raise NotContractible(str(error)) from None
        return _GroupSums(sums, junction)

    def _demand(self, near: _Columns) -> tuple[Floats, Floats]:
        """Return M of some roots, shape (roots, rows), and the demand that passes each as it leaves chains."""
        ways, count = self._contracted.ways, len(near.rows)
        demand, through = np.zeros(near.dist.shape), np.zeros((count, len(ways.lengths)))
        junction, stop = np.zeros(count), self._plan.stop
        for far in (near, *self._far_columns(near.rows)):
            column = np.full(len(self._contracted.vertices), -1)
            column[far.rows] = np.arange(len(far.rows))
            own = near.rows, near.dist, near.sigma
            leave(ways, self._flows, *own, column, far.dist, far.sigma, demand, through, junction, stop.value)
            stop.check()
        enter(ways, near.rows, near.dist, near.sigma, demand, through, junction, stop.value)
        stop.check()
        return demand, junction

    def _far_columns(self, rows: Rows) -> Iterator[_Columns]:
        """Sweep forward from the other ends of chains, some at a time: a hub has many."""
        far = self._contracted.far_ends(rows)
        for first in range(0, len(far), GROUP):
            batch = far[first : first + GROUP]
            state = self._state("far")
            for levels in self._module.forward(state, self._contracted.graph.order[batch]):
                yield self._columns(state, levels, batch[levels.places])

    def _columns(self, state: Any, levels: Any, rows: Rows) -> _Columns:
        """Read distances and path counts; NotContractible if they are too large to be added."""
        dist, sigma = (np.ascontiguousarray(found.T) for found in self._module.paths(state, levels))
        if self._contracted.members is not None:
            sigma *= self._contracted.members[rows][:, None]  # a path that leaves by a junction does so by each member
        if levels.overflowed.any() or sigma.max() > _LARGEST_COUNT:
            raise NotContractible("path counts are more than ties of chains can be shared out by")
        return _Columns(rows, dist, sigma)

    def _state(self, which: str) -> Any:
        """Make a state at its first use: that of the roots is still needed when far ends are swept."""
        if which not in self._states:
            self._states[which] = self._module.prepare(self._contracted.graph, self._plan)
        return self._states[which]
