"""The progress of a run: reported to the caller's function, or drawn as a bar."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from lagbc.options import Progress, Reporter


class Stretch(NamedTuple):
    """A part of a run."""

    roots: int
    done: int  # of them, before
    edges: float  # that each root traverses; in the undirected case an edge counts once


class Meter:
    """The progress of a run over its stretches."""

    def __init__(
        self,
        stretches: Sequence[Stretch],
        report: Reporter | bool,
        note: str,
        stack: ExitStack,
        unit: str = "root",
    ) -> None:
        self._stretches = list(stretches)
        self._done = [stretch.done for stretch in stretches]
        self._begun = time.perf_counter()
        self._report = _reporter(report, self._state, note, stack, unit)

    def tell(self, number: int, done: int) -> None:
        """Take the count of finished roots of a stretch."""
        self._done[number] = done
        if self._report is not None:
            self._report(self._state())

    def begin_anew(self, number: int, stretch: Stretch) -> None:
        """Replace a stretch."""
        self._stretches[number], self._done[number] = stretch, stretch.done

    def _state(self) -> Progress:
        seconds = time.perf_counter() - self._begun
        pairs = list(zip(self._stretches, self._done, strict=True))
        traversed = sum((done - stretch.done) * stretch.edges for stretch, done in pairs)
        work = max(sum(stretch.roots * stretch.edges for stretch in self._stretches), 1e-300)
        share = sum(done * stretch.edges for stretch, done in pairs) / work
        total = sum(stretch.roots for stretch in self._stretches)
        return Progress(sum(self._done), total, seconds, traversed / max(seconds, 1e-9) / 1e9, share)


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
    bar = stack.enter_context(tqdm(total=before.total, initial=drawn(before), unit=unit, desc="lagbc"))

    def draw(progress: Progress) -> None:
        bar.total = progress.total
        bar.set_postfix_str(f"{progress.gteps:.3g} GTEPS{note}", refresh=False)
        bar.update(drawn(progress) - bar.n)

    return draw
