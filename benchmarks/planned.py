"""Time a run from all roots as it is planned: whole, or near roots of each of its parts.

A reduced run has parts of its own graphs and roots, beside blocks that are computed at once. Near roots of a part are
whole blocks of the order in which a run takes them, from all over it; what they take is scaled to all of the part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.sums import DEPENDENCY, Sums
from lagbc.options import Options, check_options
from lagbc.plan.plan import Plan, make_plan, uncontracted
from lagbc.request import Request
from lagbc.methods.roots import order_roots
from lagbc.plan.step import Step
from lagbc.reduce.chains import Contracted
from lagbc.reduce.piece import NotContractible
from lagbc.reduce.small import SmallBlocks
from lagbc.run.execute import execute
from lagbc.run.loop import Threads, sum_over, sum_step
from lagbc.run.small import SmallBicomponents

Roots = NDArray[np.int64]
Clock = Callable[[], float]
Result = TypeVar("Result")

# Near roots are runs of as many as a block of `batched` has, at even distances; junctions are runs of whole groups.
RUN = {"cpu": 64, "cuda": 256}
# Runs that stand for a part, for each thread, however short the budget: those near the hubs take longer than others.
LEAST_RUNS = 4


def near(order: Roots, count: int, length: int) -> Roots:
    """Take about so many roots, in runs of some length, from all over the order; all where there are no more."""
    if len(order) <= count:
        return order
    runs = max(1, count // length)
    starts = np.arange(runs) * (len(order) // length) // runs * length
    return np.concatenate([order[start : start + length] for start in starts])


@dataclass(frozen=True, eq=False)
class Timed:
    """What a run from all roots takes.

    Attributes
    ----------
    plan : Plan
    planning : float
        Seconds of the reduction, the choice of methods, and putting in order and transposing what is swept.
    sweeping : float
        Seconds of the rest, scaled to all roots where not all were timed.
    roots, timed : int
        How many are to be swept, and how many of them were.
    sums : Sums or None
        Of the run, if it was whole.
    """

    plan: Plan
    planning: float
    sweeping: float
    roots: int
    timed: int
    sums: Sums | None

    def describe(self) -> dict[str, Any]:
        """Give the columns of a line of results."""
        parts, reduction = self.plan.steps, self.plan.reduction
        return {
            "planning": self.planning,
            "sweeping": self.sweeping,
            "swept": self.roots,
            "timed": self.timed,
            "methods": sorted({f"{'chains, ' if part.contracted else ''}{part.method.name}" for part in parts}),
            "reduction": None if reduction is None else str(reduction),
            "share": 1.0 if reduction is None else reduction.share,
        }


def prepare(make: Callable[[], Graph], options: Any, clock: Clock, *, chains: bool = True) -> tuple[Plan, float]:
    """Plan a run from all roots of a graph that is new, and do all that comes before its sweeps.

    Twice, as the first time compiles; return the plan, and seconds of the faster one.
    """
    taken = []
    for _ in range(2):
        graph = make()
        begun = clock()
        request = Request(DEPENDENCY, np.arange(graph.n))
        plan = make_plan(graph, request, check_options("auto", cast(Options, options)))
        for number, step in enumerate(plan.steps):
            plan = plan if chains or step.contracted is None else uncontracted(plan, number)
        parts = tuple(replace(part, ordered=_line_up(part)) for part in plan.steps)
        taken.append(clock() - begun)
    return replace(plan, steps=parts), min(taken)


def time_run(
    make: Callable[[], Graph], options: Any, clock: Clock, budget: float, known: Iterable[Timed] = ()
) -> Timed:
    """Time a run from all roots: whole if that takes less than the budget in seconds, else as many as it has time for.

    Kernels are compiled before the clock runs. What would sweep the same as a run that is known takes as long.
    """
    plan, planning = prepare(make, options, clock)
    for other in known:
        if _swept(other.plan) == _swept(plan):
            return replace(other, plan=plan, planning=planning)
    try:
        return time_plan(plan, planning, clock, budget)
    except NotContractible:
        plan, again = prepare(make, options, clock, chains=False)
        return time_plan(plan, planning + again, clock, budget)


def time_plan(plan: Plan, planning: float, clock: Clock, budget: float) -> Timed:
    """Time what is planned, as `time_run` does."""
    threads, small = plan.settings.threads, None if plan.reduction is None else plan.reduction.blocks.small
    roots = sum(len(_roots_of(part)) for part in plan.steps)
    expected = 0.0 if small is None else _expect_small(small, threads, clock)
    for part in plan.steps:
        _sum_some(part, _roots_of(part)[:1])
        expected += _time_some(part, threads * RUN["cpu"], clock)[0]
    if expected <= budget:
        taken, result = _time(clock, lambda: execute(plan))
        return Timed(plan, planning, taken, roots, roots, result.sums)
    least, share = LEAST_RUNS * threads * RUN["cpu"], budget / expected
    parts = [_time_some(part, max(int(len(_roots_of(part)) * share), least), clock) for part in plan.steps]
    sweeping = sum(taken for taken, _ in parts)
    if small is not None:
        work = SmallBicomponents(small, threads)
        sweeping += _time(clock, lambda: sum_over(work, Threads()))[0]
    return Timed(plan, planning, sweeping, roots, sum(timed for _, timed in parts), None)


@dataclass(frozen=True, eq=False)
class _Some(Contracted):
    """A contracted block of which only some junctions are roots."""

    some: Roots

    @property
    def roots(self) -> Roots:
        return self.some


def _swept(plan: Plan) -> tuple[Any, ...]:
    """Tell which sweeps a plan makes from those of other plans of the same network."""
    parts = ((part.method, part.graph.n, part.graph.nnz, part.label, len(part.roots)) for part in plan.steps)
    return plan.reduction is None, *parts


def _line_up(part: Step) -> Roots:
    _ = part.graph.reordered.transpose
    return order_roots(part.graph, part.method, part.roots) if part.ordered is None else part.ordered


def _roots_of(part: Step) -> Roots:
    """Return the roots of a part that is lined up, in order: vertices, or rows of junctions where it is contracted."""
    if part.contracted is not None:
        return part.contracted.roots
    assert part.ordered is not None
    return part.ordered


def _time_some(part: Step, count: int, clock: Clock) -> tuple[float, int]:
    """Time about so many near roots; return what all take by that, and how many were timed."""
    every = _roots_of(part)
    some = near(every, count, RUN["cpu"] if part.contracted is None else min(count, part.sweep.batch))
    taken, _ = _time(clock, lambda: _sum_some(part, some))
    return taken * len(every) / max(len(some), 1), len(some)


def _sum_some(part: Step, roots: Roots) -> Sums:
    if part.contracted is None:
        return sum_step(replace(part, roots=roots, ordered=roots))
    whole = {field.name: getattr(part.contracted, field.name) for field in fields(part.contracted)}
    return sum_step(replace(part, contracted=_Some(**whole, some=roots)))


def _expect_small(small: SmallBlocks, threads: int, clock: Clock) -> float:
    """Tell from the first slices what all take; none is done for good."""
    trial = replace(small, scores=np.zeros_like(small.scores), edge_scores=np.zeros_like(small.edge_scores))
    work = SmallBicomponents(trial, threads)
    some = min(threads, len(work.items))
    taken, _ = _time(clock, lambda: sum_over(work, Threads(), last=some))
    return taken * len(work.items) / some if some else 0.0


def _time(clock: Clock, work: Callable[[], Result]) -> tuple[float, Result]:
    begun = clock()
    result = work()
    return clock() - begun, result
