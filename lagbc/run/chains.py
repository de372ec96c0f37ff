"""The loop over the junctions of a block whose chains are contracted.

Roots are summed in groups, which the graph alone fixes, and groups are added in order. So bits depend neither on
threads nor on the order in which groups are done.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import MemoryWarning, warn
from lagbc.methods import tuning
from lagbc.methods.contract import StopFlag, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import Method
from lagbc.phases import phase
from lagbc.reduce.chains import Contracted, edge_scores, scores
from lagbc.reduce.piece import NotContractible
from lagbc.reduce.streams import Flows, enter, leave
from lagbc.run.checkpoint import Progressed
from lagbc.run.threads import CallingThread, Threads
from lagbc.run.workers import Summed

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

# Roots of a group, a multiple of every method's block.
GROUP = 64
# Path counts are added and multiplied by weights; beyond this they might leave the range of float64.
_LARGEST_COUNT = 2.0**1000
# What methods are asked for: depths only because one that sums distances keeps them beside the path counts.
SUMS = frozenset({"dependency", "edges", "depth"})


def sum_chains(
    contracted: Contracted,
    method: Method,
    names: frozenset[str],
    *,
    threads: int = 1,
    tell: Callable[[int], object] | None = None,
    checkpoint: Progressed | None = None,
    in_calling_thread: bool = False,
) -> Sums:
    """Compute the exact sums of a block by sweeps from its junctions alone.

    Parameters
    ----------
    contracted : Contracted
        The block.
    method : Method
        A row with lengths, on the CPU, that takes target weights of single roots.
    names : frozenset of str
        Of "dependency", which is F of the block as `lagbc.reduce.piece.Piece` defines it, and "edges".
    threads : int
        Groups that are swept at a time, each with a state of its own.
    tell : callable, optional
        Called after every group with how many junctions are done.
    checkpoint : Progressed, optional
        Where to go on from and what to keep up to date.
    in_calling_thread : bool
        As for `lagbc.run.workers.Workers`.

    Raises
    ------
    NotContractible
        Path counts or weights leave the range that is summed here: sweep the block without contracting it.
    MemoryError
        Not even one worker fits.
    KeyboardInterrupt
        Ctrl-C; every worker has stopped, and the checkpoint holds the groups that were finished.
    """
    run = _Run(contracted, method, tell, checkpoint)
    with ExitStack() as stack:
        stack.enter_context(phase("sweep"))
        if checkpoint is not None:
            stack.callback(checkpoint.save)
        while not run.is_done:
            try:
                run.go_on(1 if in_calling_thread else threads, in_calling_thread)
            except MemoryError:
                if threads == 1:
                    raise
                threads -= 1
                warn(f"{method.name} ran out of memory; it goes on with threads={threads}", MemoryWarning)
    with phase("finish"):
        sums = run.dependency, run.junction, run.along
        if not all(np.isfinite(total).all() for total in sums):
            raise NotContractible("the weights sum to more than float64 holds")
        return Sums(
            dependency=scores(contracted, run.flows, *sums) if "dependency" in names else None,
            edges=edge_scores(contracted, run.flows, run.along) if "edges" in names else None,
        )


class _Run:
    """What is summed so far: of the groups that are done, in order."""

    def __init__(
        self,
        contracted: Contracted,
        method: Method,
        tell: Callable[[int], object] | None,
        checkpoint: Progressed | None,
    ) -> None:
        self.contracted, self.method, self.tell, self.checkpoint = contracted, method, tell, checkpoint
        self.groups = contracted.groups(GROUP)
        # One array has all that a checkpoint keeps; what leaves chains is written anew if a group is done again.
        self.held = np.zeros(contracted.held)
        self.done, self.saved = 0, time.perf_counter()
        if checkpoint is not None:
            checkpoint.require_order(np.concatenate([contracted.graph.order, contracted.roots]), GROUP)
            self.done = -(-checkpoint.state.done // GROUP)
            self.held[:] = _array_of(checkpoint.state.total)
        graph, inside = contracted.graph, len(contracted.inside)
        self.dependency, self.junction, self.along, *flows = np.split(
            self.held, np.cumsum([graph.n, graph.n, graph.nnz, 2 * inside, 2 * inside, inside])
        )
        out, around, within, onward = flows
        self.flows = Flows(out.reshape(2, inside), around.reshape(2, inside), within, onward)

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
        done = min(self.done * GROUP, len(self.contracted.roots))
        if self.checkpoint is not None:
            state = self.checkpoint.state
            names = [name for name, _ in state.total]
            kept = Sums(**dict.fromkeys(names, np.empty(0)) | {names[0]: self.held.copy()})
            self.checkpoint.state = Summed(done, kept, state.part)
            if time.perf_counter() - self.saved > tuning.CHECKPOINT_SECONDS:
                self.checkpoint.save()
                self.saved = time.perf_counter()
        if self.tell is not None:
            self.tell(done)


def _array_of(total: Sums) -> Floats:
    array: Floats = next(array for _, array in total if len(array))
    return array


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
        self._plan = SweepPlan(batch=GROUP, sums=SUMS, method=method.name, stop=stop)
        self._states: dict[str, Any] = {}

    def run(self, group: Rows) -> _GroupSums:
        """Sum the roots of a group."""
        graph, roots = self._contracted.graph, self._contracted.graph.order[group]
        blocks = self._module.batching.rows(0, len(roots)).stop
        sums = Sums.zeros_of_batch(np, SUMS, graph.n, graph.nnz, blocks, len(roots))
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
