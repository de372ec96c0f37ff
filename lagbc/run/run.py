"""The work of each piece of a plan, its sums, and the progress of a run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from lagbc.calls import logger
from lagbc.graph.graph import Graph
from lagbc.limits import Room
from lagbc.methods.contract import MethodModule
from lagbc.methods.sums import Sums
from lagbc.options import Progress, Reporter, Settings
from lagbc.planning.sweep import Sweep
from lagbc.reduce.pieces import Chains, Piece, Reduced, Small, Whole
from lagbc.run.bicomponents import Junctions, Slices
from lagbc.run.rounds import Rounds
from lagbc.run.sweeps import Sweeps, Within
from lagbc.run.work import Carrier, PieceWork, Total, sum_over, threaded

# The works of pieces, by the classes of the pieces and the works of their sweeps.
WORKS: dict[tuple[type, str], Callable[..., PieceWork]] = {
    (Small, "small"): Slices,
    (Chains, "chains"): Junctions,
    (Whole, "whole"): Sweeps,
    (Whole, "roots"): Sweeps,
    (Whole, "within"): Within,
    (Whole, "rounds"): Rounds,
}


def work_of(piece: Any, sweep: Sweep, room: Room | None, module: MethodModule | None = None) -> PieceWork:
    """Return the work of a piece; `module` may stand in for the module of its method."""
    return WORKS[type(piece), sweep.work](piece, sweep, room, module)


def sum_piece(
    piece: Piece, sweep: Sweep, room: Room | None, module: MethodModule | None = None, carry: Carrier = threaded
) -> Sums:
    """Return the sums of one piece, on the host."""
    work = work_of(piece, sweep, room, module)
    return work.finish(sum_over(work, carry))


class Stretch(NamedTuple):
    """A part of a run."""

    roots: int
    done: int  # of them, before
    edges: float  # that each root traverses; in the undirected case an edge counts once


def stretch_of(work: PieceWork, done: int = 0) -> Stretch:
    """Return the part of the progress that a work is."""
    if isinstance(work, Slices):
        return Stretch(len(work.items), done, work.piece.work / max(1, len(work.items)))
    return Stretch(len(work.items), done, edges_of(work.graph))


def edges_of(graph: Graph) -> float:
    """Count the edges that each root traverses; in the undirected case an edge counts once."""
    return graph.nnz if graph.directed else graph.nnz / 2


class Meter:
    """The progress of a run over its stretches."""

    def __init__(
        self,
        stretches: Sequence[Stretch],
        report: Reporter | bool,
        note: str,
        stack: ExitStack,
        unit: str = "root",
        phase: str = "",
    ) -> None:
        self._stretches, self._phase = list(stretches), phase
        self._done = [stretch.done for stretch in stretches]
        self._begun = time.perf_counter()
        self._report = _reporter(report, self._state, note, stack, unit)

    def keep(self, number: int, total: Total) -> None:
        """Take a new total of a stretch."""
        self.tell(number, total.done)

    def tell(self, number: int, done: int) -> None:
        """Take the count of finished roots of a stretch."""
        self._done[number] = done
        if self._report is not None:
            self._report(self._state())

    def begin_anew(self, number: int, stretch: Stretch) -> None:
        self._stretches[number], self._done[number] = stretch, stretch.done

    def _state(self) -> Progress:
        seconds = time.perf_counter() - self._begun
        pairs = list(zip(self._stretches, self._done, strict=True))
        traversed = sum((done - stretch.done) * stretch.edges for stretch, done in pairs)
        total = sum(stretch.roots for stretch in self._stretches)
        gteps, share = traversed / max(seconds, 1e-9) / 1e9, _share_of(self._stretches, self._done)
        return Progress(sum(self._done), total, seconds, gteps, share, self._phase)


def _share_of(stretches: Sequence[Stretch], done: Sequence[int]) -> float:
    """Return the share of the work that is done, in roots times edges."""
    work = sum(stretch.roots * stretch.edges for stretch in stretches)
    return sum(roots * stretch.edges for roots, stretch in zip(done, stretches, strict=True)) / max(work, 1e-300)


def _reporter(
    report: Reporter | bool, state: Callable[[], Progress], note: str, stack: ExitStack, unit: str
) -> Reporter | None:
    if callable(report):
        return report
    if not report:
        return None
    from tqdm.auto import tqdm

    def drawn(progress: Progress) -> int:
        return progress.total if progress.done == progress.total else int(progress.share * progress.total)

    before = state()
    title = f"lagbc: {before.phase}" if before.phase else "lagbc"
    bar = stack.enter_context(tqdm(total=before.total, initial=drawn(before), unit=unit, desc=title))

    def draw(progress: Progress) -> None:
        bar.total = progress.total
        bar.set_postfix_str(f"{progress.gteps:.3g} GTEPS{note}", refresh=False)
        bar.update(drawn(progress) - bar.n)

    return draw


def meter_of(
    reduced: Reduced, works: Sequence[PieceWork], totals: Sequence[Total], settings: Settings, stack: ExitStack
) -> Meter:
    """Return the meter of a call that asks for progress."""
    stretches = [stretch_of(work, total.done) for work, total in zip(works, totals, strict=True)]
    return Meter(stretches, settings.progress, _note(reduced), stack)


def tell_resumed(works: Sequence[PieceWork], totals: Sequence[Total], settings: Settings) -> None:
    """Say in the log, and above a bar, how much of a run its checkpoint has."""
    done = [total.done for total in totals]
    if not any(done):
        return
    stretches = list(map(stretch_of, works))
    roots = f"{sum(done):,} of {sum(stretch.roots for stretch in stretches):,} roots"
    told = f"resumed at {_share_of(stretches, done):.0%}: {settings.checkpoint} has {roots}"
    logger.info(told)
    if settings.progress and not callable(settings.progress):
        print(f"lagbc: {told}", file=sys.stderr)


def _note(reduced: Reduced) -> str:
    """Return the note of a progress bar beside the rate."""
    if reduced.tree is not None:
        return f"; {reduced.in_short}"
    (piece,) = reduced.large
    roots = len(piece.request.roots)
    idle = roots - int(np.count_nonzero(piece.graph.out_degrees[piece.request.roots]))
    return f"; {idle} of {roots} have no out-edges" if idle else ""
