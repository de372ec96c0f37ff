"""The loop over the chunks of a part: order of the roots, checkpoint, retry with less memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lagbc.budget import BUDGET_VARIABLE
from lagbc.errors import MemoryWarning, OutOfMemoryError, warn
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import MethodModule, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import Method
from lagbc.phases import phase
from lagbc.plan import memory
from lagbc.plan.roots import order_roots
from lagbc.run.threads import Elsewhere
from lagbc.run.workers import Part, Roots, Summed, Workers, cut

if TYPE_CHECKING:
    from lagbc.run.checkpoint import Progressed


def sweep(
    graph: Graph,
    method: Method,
    plan: SweepPlan,
    roots: NDArray[np.int64],
    *,
    ordered: NDArray[np.int64] | None = None,
    tell: Callable[[int], None] | None = None,
    checkpoint: Progressed | None = None,
    module: MethodModule | None = None,
    in_calling_thread: bool = False,
    elsewhere: Elsewhere | None = None,
    length: int | None = None,
    keep: Callable[[Sums], object] | None = None,
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
    tell : callable, optional
        Called after every batch with how many roots are done.
    checkpoint : Progressed, optional
        Where to go on from and what to keep up to date.
    module : MethodModule, optional
        Stands in for the method's own, for instance to watch it.
    in_calling_thread : bool
        As for `Workers`.
    elsewhere : callable, optional
        Sums chunks in the place of workers of this thread's device, and yields their sums in order, on the host. A unit
        of its work is a chunk, how many of its roots are done, and their sums or None.
    length : int, optional
        As for `cut`.
    keep : callable, optional
        Called with the sums of each chunk, on the method's device, before they are added.

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
    chunks, length = cut(ordered, method, module.batching, length)
    if checkpoint is not None:
        checkpoint.require_order(ordered, length)
    arrays = np if elsewhere is not None else method.arrays
    summed = Summed.nothing(arrays, plan, graph) if checkpoint is None else checkpoint.state.moved(arrays.asarray)
    with phase("sweep"), ExitStack() as stack:
        saved = time.perf_counter()
        if checkpoint is not None:
            stack.callback(checkpoint.save)
        while summed.done < len(ordered):
            try:
                whole, done = divmod(summed.done, length)
                left = chunks[whole:], done, summed.part
                if elsewhere is None:
                    workers = Workers(graph, method, plan, module, in_calling_thread=in_calling_thread)
                    found = _sum_here(workers, *left)
                else:
                    found = _sum_elsewhere(elsewhere, *left)
                with closing(found) as parts:
                    for part in parts:
                        if keep is not None and part.is_whole:
                            keep(part.sums)
                        summed = summed.plus(part)
                        if checkpoint is not None:
                            checkpoint.state = summed.moved(as_numpy)
                            if time.perf_counter() - saved > tuning.CHECKPOINT_SECONDS:
                                checkpoint.save()
                                saved = time.perf_counter()
                        if tell is not None:
                            tell(summed.done)
            except MemoryError as error:
                if elsewhere is not None:
                    raise  # whoever ran out of memory has made do with less before
                plan = with_less_memory(graph, method, plan, error)
    with phase("finish"):
        return summed.total.moved(as_numpy)


def _sum_here(workers: Workers, chunks: Sequence[Roots], done: int, begun: Sums) -> Generator[Part]:
    with workers:
        yield from workers.sum(chunks, done, begun)


def _sum_elsewhere(elsewhere: Elsewhere, chunks: Sequence[Roots], done: int, begun: Sums) -> Generator[Part]:
    firsts = [done, *[0] * (len(chunks) - 1)]
    units = [(chunk, first, begun if first else None) for chunk, first in zip(chunks, firsts, strict=True)]
    with closing(elsewhere(units)) as found:
        for number, (sums, (chunk, first, _)) in enumerate(zip(found, units, strict=True)):
            yield Part(number, len(chunk), len(chunk) - first, True, sums)


def with_less_memory(
    graph: Graph,
    method: Method,
    plan: SweepPlan,
    error: MemoryError,
    say: Callable[[str], object] = lambda message: warn(message, MemoryWarning),
) -> SweepPlan:
    """Give up what `memory.smaller` does, and say so; MemoryError if there is nothing to give up."""
    smaller = memory.smaller(graph, method, plan)
    if smaller is None:
        ran_out = f"{method.name} on {method.device} ran out of memory with the smallest batch, {plan.batch}"
        if plan.budget is not None:
            ran_out += f"; it may take {plan.budget:.3g} bytes, which memory= or {BUDGET_VARIABLE} raises"
        raise OutOfMemoryError(ran_out) from error
    counts = ", without rows for path counts" if smaller.in_place else ""
    say(
        f"{method.name} on {method.device} ran out of memory; it goes on with batch={smaller.batch} and "
        f"threads={smaller.threads}{counts}"
    )
    return smaller
