"""How far a run is: told to a function of the caller's, or drawn as a bar."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from lagbc.plan.options import Progress, Reporter


@dataclass(frozen=True)
class Stretch:
    """A part of a run, in its order: how many roots it has, how many were done before, and edges that each traverses.

    In the undirected case an edge counts once.
    """

    roots: int
    done: int
    edges: float


class Meter:
    """Follows a run over its stretches."""

    def __init__(self, stretches: Sequence[Stretch], report: Reporter | bool, idle: str, stack: ExitStack) -> None:
        self._stretches = stretches
        self._done = [stretch.done for stretch in stretches]
        self._begun = time.perf_counter()
        self._total = sum(stretch.roots for stretch in stretches)
        self._work = max(sum(stretch.roots * stretch.edges for stretch in stretches), 1e-300)
        self._report = _reporter(report, self._total, self._state, idle, stack)

    def of(self, number: int) -> Callable[[int], None]:
        """Return a function that takes how many roots of a stretch are done, and tells it."""

        def tell(done: int) -> None:
            self._done[number] = done
            if self._report is not None:
                self._report(self._state())

        return tell

    def _state(self) -> Progress:
        seconds = time.perf_counter() - self._begun
        pairs = list(zip(self._stretches, self._done, strict=True))
        traversed = sum((done - stretch.done) * stretch.edges for stretch, done in pairs)
        share = sum(done * stretch.edges for stretch, done in pairs) / self._work
        return Progress(sum(self._done), self._total, seconds, traversed / max(seconds, 1e-9) / 1e9, share)


def _reporter(
    report: Reporter | bool, total: int, state: Callable[[], Progress], note: str, stack: ExitStack
) -> Reporter | None:
    if callable(report):
        return report
    if not report:
        return None
    from tqdm.auto import tqdm

    def drawn(progress: Progress) -> int:
        return total if progress.done == total else int(progress.share * total)

    bar = stack.enter_context(tqdm(total=total, initial=drawn(state()), unit="root", desc="lagbc"))

    def draw(progress: Progress) -> None:
        bar.set_postfix_str(f"{progress.gteps:.3g} GTEPS{note}", refresh=False)
        bar.update(drawn(progress) - bar.n)

    return draw
