"""A plan carried out: the work of each piece, summed one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.sums import Sums
from lagbc.options import Settings
from lagbc.planning.devices import devices_of
from lagbc.planning.plan import Plan
from lagbc.planning.sweep import Sweep
from lagbc.reduce.piece import NotContractible
from lagbc.reduce.reduced import Reduced
from lagbc.request import Request
from lagbc.run.loop import Carrier, inline, sum_over, threaded
from lagbc.run.small import Slices
from lagbc.run.work import MethodWork, PieceWork, Total

if TYPE_CHECKING:
    from lagbc.run.checkpoint import Checkpoint
    from lagbc.run.progress import Meter, Stretch


class Result(NamedTuple):
    """The sums of a call."""

    sums: Sums  # on the host, of the graph of the call
    graph: Graph
    request: Request
    pairs: int  # how often sums over paths count a pair: twice in an undirected graph, unless weighed
    sweeps: tuple[Sweep, ...]  # of the pieces of the graph

    @property
    def roots(self) -> NDArray[np.int64]:
        """The roots of the run; a checkpoint may hold others than were drawn for this call."""
        return self.request.roots

    def columns(self, *, decays: bool) -> Iterator[Result]:
        """Yield each column as the result of a run: one for each cutoff, with `decays` one for each pair of both."""
        bounds = self.request.bounds
        assert bounds is not None
        for c, d, alone in bounds:
            if decays or d == 0:
                yield self._replace(sums=self.sums.column(bounds, c, d), request=self.request._replace(bounds=alone))


class NotSummed(Exception):  # noqa: N818 (an answer, not an error: the caller sweeps the piece whole)
    """A contracted piece cannot be summed from its junctions."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def run(
    works: Sequence[PieceWork],
    carriers: Sequence[Carrier],
    totals: list[Total],
    keep: Callable[[int, Total], object] | None = None,
) -> list[Sums]:
    """Return the sums of each work, from the totals on, which are replaced as the loop goes."""
    found = list[Sums]()
    for number, (work, carry) in enumerate(zip(works, carriers, strict=True)):
        try:
            of_work = None if keep is None else partial(keep, number)
            totals[number] = sum_over(work, carry, totals[number], keep=of_work)
            found.append(work.finish(totals[number]))
        except NotContractible as error:
            raise NotSummed(number) from error
    return found


def carriers_of(plan: Plan, works: Sequence[PieceWork], settings: Settings, stack: ExitStack) -> list[Carrier]:
    """Return the carrier of each work: an executor, its own, several devices, threads, or the calling thread."""
    if settings.executor is not None:
        from lagbc.run.submit import Submit

        submit = stack.enter_context(Submit(settings.executor, settings.memory, settings.checkpoint))
        return [submit.carry] * len(works)
    return [_carrier_here(work, plan, settings) for work in works]


def _carrier_here(work: PieceWork, plan: Plan, settings: Settings) -> Carrier:
    """Return the work's own carrier, or one over several devices, where the method of the work is shared by some."""
    if work.own_carrier is not None:
        return work.own_carrier  # type: ignore[no-any-return]
    devices = devices_of(settings, work.row) if isinstance(work, MethodWork) else []
    if not devices:
        return inline if plan.is_short else threaded
    from lagbc.run.gpus import over_devices

    return partial(over_devices, devices)


def meter_of(
    reduced: Reduced, works: Sequence[PieceWork], totals: Sequence[Total], settings: Settings, stack: ExitStack
) -> Meter:
    """Return the meter of a call that asks for progress."""
    from lagbc.run.progress import Meter

    stretches = [stretch_of(work, total.done) for work, total in zip(works, totals, strict=True)]
    return Meter(stretches, settings.progress, _note(reduced), stack)


def stretch_of(work: PieceWork, done: int = 0) -> Stretch:
    """Return the part of the progress that a work is."""
    from lagbc.run.progress import Stretch

    if isinstance(work, Slices):
        return Stretch(len(work.items), done, work.piece.work / max(1, len(work.items)))
    return Stretch(len(work.items), done, edges_of(work.graph))


def edges_of(graph: Graph) -> float:
    """Count the edges that each root traverses; in the undirected case an edge counts once."""
    return graph.nnz if graph.directed else graph.nnz / 2


def _note(reduced: Reduced) -> str:
    """Return the note of a progress bar beside the rate."""
    if reduced.tree is not None:
        return f"; {reduced.in_short}"
    (piece,) = reduced.large
    roots = len(piece.request.roots)
    idle = roots - int(np.count_nonzero(piece.graph.out_degrees[piece.request.roots]))
    return f"; {idle} of {roots} have no out-edges" if idle else ""


def keep_total(kept: Checkpoint | None, meter: Meter | None, number: int, total: Total) -> None:
    """Take a new total, for a file and for the progress."""
    if kept is not None:
        kept.keep(number, total)
    if meter is not None:
        meter.tell(number, total.done)
