"""The loop over the junctions of a block whose chains are contracted.

Roots are summed in groups, which the graph alone fixes, and groups are added in order. So bits depend neither on
threads nor on the order in which groups are done.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
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
from lagbc.reduce.streams import Flows, enter, leave, turn
from lagbc.run.checkpoint import Progressed
from lagbc.run.threads import CallingThread, Threads
from lagbc.run.workers import Summed

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

# Most roots of a group, which share the columns of far ends, and most bytes of their distances; the least is a block.
GROUP, _BLOCK = 256, 64
_GROUP_BYTES = 2**27
# Path counts are added and multiplied by weights; beyond this they might leave the range of float64.
_LARGEST_COUNT = 2.0**1000
# What methods are asked for: depths only because one that sums distances keeps them beside the path counts.
_ADDED = frozenset({"dependency", "edges"})
SUMS = _ADDED | {"depth"}


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


def group_size(contracted: Contracted) -> int:
    """Return how many roots are a group, by the graph alone; a multiple of every method's block."""
    blocks = min(GROUP, _GROUP_BYTES // (8 * contracted.graph.n)) // _BLOCK
    return _BLOCK * max(1, blocks)


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
        self.size = group_size(contracted)
        self.groups = contracted.groups(self.size)
        # One array has all that a checkpoint keeps; what leaves chains is written anew if a group is done again.
        self.held = np.zeros(contracted.held)
        self.done, self.saved = 0, time.perf_counter()
        if checkpoint is not None:
            checkpoint.require_order(np.concatenate([contracted.graph.order, contracted.roots]), self.size)
            self.done = -(-checkpoint.state.done // self.size)
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
        self.dependency += summed.sums.dependency[0]
        self.along += summed.sums.edges[0]
        self.junction[self.groups[self.done]] = summed.junction
        self.done += 1
        done = min(self.done * self.size, len(self.contracted.roots))
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
    """Sums of the sweeps of a group, in one row, and the demand that passes its roots as it leaves chains."""

    sums: Sums
    junction: Floats


class _Worker:
    """Sweeps one group after the other, with a state for each of its blocks and one for far ends."""

    def __init__(self, contracted: Contracted, method: Method, flows: Flows, stop: StopFlag) -> None:
        self._contracted, self._flows = contracted, flows
        self._module: Any = method.load()
        self._block = self._module.batching.block
        sums = SUMS if contracted.members is None else _ADDED  # those that are made with members
        self._plan = SweepPlan(batch=self._block, sums=sums, members=contracted.members, method=method.name, stop=stop)
        self._states: list[Any] = []
        size, rows = group_size(contracted), len(contracted.vertices)
        # Of a group, and behind it room for a batch of far ends.
        self._dist, self._sigma = np.empty((2, size + self._block, rows))
        self._demand, self._through = np.empty((size, rows)), np.empty((size, len(contracted.ways.lengths)))

    def run(self, group: Rows) -> _GroupSums:
        """Sum the roots of a group; between its two sweeps the demand is made that the second one carries."""
        graph, rows = self._contracted.graph, len(self._contracted.vertices)
        blocks = [group[first : first + self._block] for first in range(0, len(group), self._block)]
        levels = [self._search(number, block, number * self._block) for number, block in enumerate(blocks)]
        junction = self._make_demand(group, len(blocks))
        sums = Sums.zeros_of_batch(np, _ADDED, graph.n, graph.nnz, 1, self._block)
        for number, found in enumerate(levels):
            omega = np.empty((rows, len(found.places)))
            turn(self._demand[number * self._block :][: len(found.places)], omega)
            try:
                self._module.backward(self._states[number], found, sums, omega)
            except OverflowError as error:
                raise NotContractible(str(error)) from None
        return _GroupSums(sums, junction)

    def _make_demand(self, group: Rows, far_state: int) -> Floats:
        """Make M of the roots of a group; return the demand that passes each root as it leaves chains.

        Far ends are searched one batch after the other: a hub has many.
        """
        ways, stop, count = self._contracted.ways, self._plan.stop, len(group)
        junction, column = np.zeros(count), np.full(len(self._contracted.vertices), -1)
        self._demand.fill(0)
        self._through.fill(0)
        column[group] = np.arange(count)
        found = self._dist, self._sigma
        made = self._demand, self._through, junction, stop.value
        far = self._contracted.far_ends(group)
        for first in range(0, max(len(far), 1), self._block):
            batch = far[first : first + self._block]
            if len(batch):
                self._search(far_state, batch, count)
                column[batch] = count + np.arange(len(batch))
            leave(ways, self._flows, group, *found, column, *made)
            stop.check()
            column.fill(-1)
        enter(ways, group, *found, *made)
        stop.check()
        return junction

    def _search(self, number: int, rows: Rows, first: int) -> Any:
        """Sweep forward from a block of rows in a state of its own; write their columns from `first` on."""
        if number == len(self._states):
            self._states.append(self._module.prepare(self._contracted.graph, self._plan))
        roots, state = self._contracted.graph.order[rows], self._states[number]
        (levels,) = self._module.forward(state, roots)
        dist, sigma = (columns[first : first + len(rows)] for columns in (self._dist, self._sigma))
        for found, columns in zip(self._module.paths(state, levels), (dist, sigma), strict=True):
            turn(found, columns)
        if self._contracted.members is not None:
            # A path that leaves a chain by a junction does so by each of its members.
            sigma *= self._contracted.members[roots][:, None]
        if levels.overflowed.any() or sigma.max() > _LARGEST_COUNT:
            raise NotContractible("path counts are more than can be added, or a length is lost in the sum with others")
        return levels
