"""The loop over the junctions of a block whose chains are contracted.

Roots are summed in groups, and groups are added in order. So bits depend neither on threads nor on the order in which
groups are done. On the CPU the graph alone fixes the groups. On a GPU they are as large as memory has room for, as most
of the far ends of a large group are among its roots; blocks of them are added one by one, so that bits do not depend on
the groups either.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import MemoryWarning, OutOfMemoryError, warn
from lagbc.graph.csr import as_numpy
from lagbc.methods import tuning
from lagbc.methods.contract import StopFlag, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import Method
from lagbc.phases import phase
from lagbc.plan.junctions import ADDED, group_size, widths
from lagbc.reduce.chains import Contracted
from lagbc.reduce.piece import NotContractible
from lagbc.reduce.streams import Flows
from lagbc.run.chain_flows import flows_of, put_flows
from lagbc.run.checkpoint import Progressed
from lagbc.run.junctions import Held, finish_chains
from lagbc.run.threads import Elsewhere, Lender, pool_of
from lagbc.run.workers import Summed

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

# Path counts are added and multiplied by weights; beyond this they might leave the range of float64.
_LARGEST_COUNT = 2.0**1000


def sum_chains(
    contracted: Contracted,
    method: Method,
    names: frozenset[str],
    *,
    size: int | None = None,
    threads: int = 1,
    tell: Callable[[int], object] | None = None,
    checkpoint: Progressed | None = None,
    in_calling_thread: bool = False,
    elsewhere: Elsewhere | None = None,
) -> Sums:
    """Compute the exact sums of a block by sweeps from its junctions alone.

    Parameters
    ----------
    contracted : Contracted
        The block.
    method : Method
        A row with lengths that takes target weights of single roots, and whose module reads paths.
    names : frozenset of str
        Of "dependency", which is F of the block as `lagbc.reduce.piece.Piece` defines it, and "edges".
    size : int, optional
        Roots of a group, a multiple of the method's block; that of `group_size`, if it is not given.
    threads : int
        Groups that are swept at a time, each with a state of its own, where the method does so; a GPU sweeps one.
    tell : callable, optional
        Called after every group with how many junctions are done.
    checkpoint : Progressed, optional
        Where to go on from and what to keep up to date.
    in_calling_thread : bool
        As for `lagbc.run.workers.Workers`.
    elsewhere : callable, optional
        Sums groups in the place of workers of this process, as `GroupWorker` does.

    Raises
    ------
    NotContractible
        Path counts or weights leave the range that is summed here: sweep the block without contracting it.
    MemoryError
        Not even one worker fits.
    KeyboardInterrupt
        Ctrl-C; every worker has stopped, and the checkpoint holds the groups that were finished.
    """
    size = group_size(contracted, method.device) if size is None else size
    held = sweep_chains(
        contracted,
        method,
        slice(0, len(contracted.roots)),
        size=size,
        threads=threads,
        tell=tell,
        checkpoint=checkpoint,
        in_calling_thread=in_calling_thread,
        elsewhere=elsewhere,
    )
    return finish_chains(contracted, names, held)


def sweep_chains(
    contracted: Contracted,
    method: Method,
    roots: slice,
    *,
    size: int,
    threads: int,
    tell: Callable[[int], object] | None = None,
    checkpoint: Progressed | None = None,
    in_calling_thread: bool = False,
    elsewhere: Elsewhere | None = None,
    keep: Callable[[Sums], object] | None = None,
) -> Held:
    """Sweep from some of the junctions, whole groups of them; parameters and errors are those of `sum_chains`.

    `keep` is called with the sums of each group, a row a block, before they are added.
    """
    run = _Run(contracted, method, roots, size, tell, checkpoint, keep)
    with phase("sweep"), ExitStack() as stack:
        if checkpoint is not None:
            stack.callback(checkpoint.save)
        threads = threads if run.batching.concurrent and not in_calling_thread else 1
        while not run.is_done:
            try:
                if elsewhere is None:
                    run.go_on(threads, in_calling_thread)
                else:
                    run.take_from(elsewhere)
            except MemoryError as error:
                if elsewhere is not None:
                    raise
                if threads > 1:
                    threads -= 1
                    warn(f"{method.name} ran out of memory; it goes on with threads={threads}", MemoryWarning)
                else:
                    run.size = halved(method, run.size, error)
                    warn(f"{method.name} ran out of memory; it goes on with {run.size} roots at a time", MemoryWarning)
    return run.held


class _Run:
    """What is summed so far: of the groups that are done, in order."""

    def __init__(
        self,
        contracted: Contracted,
        method: Method,
        roots: slice,
        size: int,
        tell: Callable[[int], object] | None,
        checkpoint: Progressed | None,
        keep: Callable[[Sums], object] | None,
    ) -> None:
        self.contracted, self.method, self.roots, self.size = contracted, method, contracted.roots[roots], size
        self.tell, self.checkpoint, self.keep = tell, checkpoint, keep
        self.batching = method.load().batching
        self.held = Held.nothing(contracted)
        self.done, self.saved = 0, time.perf_counter()
        if checkpoint is not None:
            added = size if self.batching.concurrent else self.batching.block
            checkpoint.require_order(np.concatenate([contracted.graph.order, contracted.roots]), added)
            self.done = checkpoint.state.done
            self.held.array[:] = _array_of(checkpoint.state.total)

    @property
    def is_done(self) -> bool:
        return self.done == len(self.roots)

    @property
    def groups(self) -> Iterator[Rows]:
        """Those that are left."""
        return (self.roots[first : first + self.size] for first in range(self.done, len(self.roots), self.size))

    def go_on(self, threads: int, in_calling_thread: bool) -> None:
        """Sum the groups that are left; at most two a worker are ahead of what is added."""
        stop, context = StopFlag(), self.method.context()
        workers = Lender(lambda: _Worker(self.contracted, self.method, self.held.flows, stop, self.size))
        pool = pool_of(threads, in_calling_thread=in_calling_thread)

        def run(group: Rows) -> _GroupSums:
            with context:
                return workers.use(lambda worker: worker.run(group))

        try:
            for group, summed in pool.in_order(run, self.groups):
                self._add(group, summed)
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def take_from(self, elsewhere: Elsewhere) -> None:
        """Have the groups that are left summed elsewhere."""
        groups = list(self.groups)
        with closing(elsewhere(groups)) as found:
            for group, (summed, written) in zip(groups, found, strict=True):
                put_flows(self.contracted.ways, self.held.flows, group, written)
                self._add(group, summed)

    def _add(self, group: Rows, summed: _GroupSums) -> None:
        if self.keep is not None:
            self.keep(summed.sums)
        self.held.add(summed.sums)
        self.held.junction[group] = summed.junction
        self.done += len(group)
        if self.checkpoint is not None:
            state = self.checkpoint.state
            names = [name for name, _ in state.total]
            kept = Sums(**dict.fromkeys(names, np.empty(0)) | {names[0]: self.held.array.copy()})
            self.checkpoint.state = Summed(self.done, kept, state.part)
            if time.perf_counter() - self.saved > tuning.CHECKPOINT_SECONDS:
                self.checkpoint.save()
                self.saved = time.perf_counter()
        if self.tell is not None:
            self.tell(self.done)


def _array_of(total: Sums) -> Floats:
    array: Floats = next(array for _, array in total if len(array))
    return array


@dataclass(frozen=True, eq=False)
class _GroupSums:
    """Sums of the sweeps of a group, on the host, and the demand that passes its roots as it leaves chains."""

    sums: Sums
    junction: Floats


class _Worker:
    """Sweeps one group after the other, with states for its roots and one for far ends."""

    def __init__(self, contracted: Contracted, method: Method, flows: Flows, stop: StopFlag, size: int) -> None:
        self._contracted, self._arrays = contracted, method.arrays
        self._module: Any = method.load()
        self._width, self._more = widths(self._module.batching, size)
        self._plan = SweepPlan(
            batch=self._width, sums=ADDED, members=contracted.members, method=method.name, at_once=True, stop=stop
        )
        self._states: list[Any] = []
        self._far_state: Any = None
        self._columns: Any = _columns_on(method.device)(contracted.ways, flows, size, self._more)

    def run(self, group: Rows) -> _GroupSums:
        """Sum the roots of a group; between its two sweeps the demand is made that the second one carries."""
        graph, columns = self._contracted.graph, self._columns
        columns.begin(group)
        levels: list[Any] = []
        for first in range(0, len(group), self._width):
            if first == self._width * len(self._states):
                self._states.append(self._prepared(self._width))
            levels.append(self._search(self._states[len(levels)], group[first : first + self._width], first))
        junction = self._make_demand(group)
        rows = self._module.batching.rows(0, self._width).stop
        sums = Sums.zeros_of_batch(self._arrays, ADDED, graph.n, graph.nnz, rows, self._width)
        for number, found in enumerate(levels):
            omega = columns.weights(number * self._width, len(found.places))
            try:
                self._module.backward(self._states[number], found, sums, omega)
            except OverflowError as error:
                raise NotContractible(str(error)) from None
        columns.save()
        return _GroupSums(sums.moved(as_numpy), junction)

    def _make_demand(self, group: Rows) -> Floats:
        """Make M of the roots of a group; return the demand that passes each root as it leaves chains.

        Far ends are searched one batch after the other: a hub has many. In ascending order of rows, with the group in
        its place, so that each root meets its own far ends in the same order, whatever the group.
        """
        stop, far = self._plan.stop, self._contracted.far_ends(group)
        before, behind = np.split(far, [np.searchsorted(far, group[0])])
        self._leave_for(before, len(group))
        self._columns.leave(group, 0, stop.value)
        self._leave_for(behind, len(group))
        junction: Floats = self._columns.enter(stop.value)
        stop.check()
        return junction

    def _leave_for(self, far: Rows, first: int) -> None:
        """Sum what leaves chains of the group whose far ends are not among its roots."""
        if len(far) and self._far_state is None:
            self._far_state = self._prepared(self._more)
        for begin in range(0, len(far), self._more):
            rows = far[begin : begin + self._more]
            self._search(self._far_state, rows, first)
            self._columns.leave(rows, first, self._plan.stop.value)
            self._plan.stop.check()

    def _prepared(self, batch: int) -> Any:
        return self._module.prepare(self._contracted.graph, replace(self._plan, batch=batch))

    def _search(self, state: Any, rows: Rows, first: int) -> Any:
        """Sweep forward from some rows; write their columns from number `first` on."""
        roots, members = self._contracted.graph.order[rows], self._contracted.members
        (levels,) = self._module.forward(state, roots)
        own = None if members is None else members[roots]
        largest = self._columns.write(first, self._module.paths(state, levels), own)
        if levels.overflowed.any() or largest > _LARGEST_COUNT:
            raise NotContractible("path counts are more than can be added, or a length is lost in the sum with others")
        return levels


class GroupWorker:
    """Sums groups elsewhere than where they are added up, with flows of its own; of a larger group a part at a time."""

    def __init__(self, contracted: Contracted, method: Method, size: int, stop: StopFlag) -> None:
        self._ways, self._flows, self._size = contracted.ways, Flows.zeros(len(contracted.inside)), size
        self._worker = _Worker(contracted, method, self._flows, stop, size)

    def run(self, group: Rows) -> tuple[_GroupSums, tuple[Floats, ...]]:
        """Sum the roots of a group; also return what they write of the flows."""
        summed = [self._worker.run(group[first : first + self._size]) for first in range(0, len(group), self._size)]
        return _joined(summed), flows_of(self._ways, self._flows, group)


def _joined(parts: list[_GroupSums]) -> _GroupSums:
    """Put the blocks of parts of a group one behind the other."""
    if len(parts) == 1:
        return parts[0]
    sums = {name: np.concatenate([getattr(part.sums, name) for part in parts]) for name in ADDED}
    return _GroupSums(Sums(**sums), np.concatenate([part.junction for part in parts]))


def halved(method: Method, size: int, error: MemoryError) -> int:
    """Return half the size of a group, where bits do not depend on it; MemoryError if there is nothing to give up."""
    batching = method.load().batching
    smaller = batching.round(-(-size // 2))
    if batching.concurrent or smaller == size:
        raise OutOfMemoryError(
            f"{method.name} on {method.device} ran out of memory with {size} roots at a time"
        ) from error
    return smaller


def _columns_on(device: str) -> Any:
    """Return the class of the columns on a device."""
    return import_module("lagbc.reduce.device.columns" if device == "cuda" else "lagbc.reduce.columns").Columns
