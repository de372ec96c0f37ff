"""A plan carried out: its parts swept, their sums on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.sums import Sums
from lagbc.plan import memory
from lagbc.plan.devices import devices_of
from lagbc.plan.options import Settings
from lagbc.plan.plan import Plan, uncontracted
from lagbc.plan.step import Step
from lagbc.reduce.piece import NotContractible
from lagbc.run.sweep import sweep
from lagbc.run.threads import Elsewhere
from lagbc.stopping import raise_if_stopped

if TYPE_CHECKING:
    from lagbc.run.checkpoint import Checkpoint, Progressed
    from lagbc.run.executors import Engine


@dataclass(frozen=True, eq=False)
class Result:
    """What a run summed.

    Attributes
    ----------
    sums : Sums
        On the host, of the graph of the call.
    plan : Plan
    """

    sums: Sums
    plan: Plan

    @property
    def graph(self) -> Graph:
        """The graph of the call."""
        return self.plan.graph

    @property
    def roots(self) -> NDArray[np.int64]:
        """A checkpoint may hold others than were drawn for this call."""
        return self.plan.request.roots

    def columns(self, *, decays: bool) -> Iterator[Result]:
        """Each column as the result of a run by itself: for each cutoff, with `decays` for each of these, too."""
        bounds = self.plan.request.bounds
        if bounds is None:
            yield self
            return
        for c, d, alone in bounds:
            if decays or d == 0:
                part = replace(self.part, sweep=replace(self.part.sweep, bounds=alone))
                yield Result(self.sums.column(bounds, c, d), replace(self.plan, steps=(part,)))

    @property
    def pairs(self) -> int:
        """How often the sums over paths count a pair of vertices: twice in an undirected graph, unless weighed."""
        if self.graph.directed or self.plan.request.demand is not None:
            return 1
        if self.plan.reduction is None and self.part.sweep.exponent:
            return 1
        return 2

    @property
    def part(self) -> Step:
        """The part that was swept, where the graph was not reduced."""
        (part,) = self.plan.steps
        return part


def execute(plan: Plan) -> Result:
    """Sum over the roots of a plan.

    Raises
    ------
    MemoryError
        The plan is over the memory budget, or memory runs out with the smallest batch.
    CheckpointError
        The checkpoint belongs to something else, or cannot be written.
    KeyboardInterrupt, StoppedError
        Ctrl-C, or ``stop=``; what is finished is in the checkpoint.
    """
    try:
        return _execute(plan)
    except NotContractible:
        if plan.settings.checkpoint is not None:
            plan.settings.checkpoint.resolve().unlink(missing_ok=True)  # of a link, the file
        for number, step in enumerate(plan.steps):
            plan = plan if step.contracted is None else uncontracted(plan, number)
        return _execute(plan)


def _execute(plan: Plan) -> Result:
    raise_if_stopped()
    memory.require(plan.memory)
    plan.warn_of_less_memory()
    settings, kept = plan.settings, None
    if settings.checkpoint is not None and plan.steps:
        from lagbc.run.checkpoint import open_checkpoint

        kept = open_checkpoint(settings.checkpoint, plan.steps, plan.request.roots, sampled=plan.request.is_sample)
    with ExitStack() as stack:
        tells = _tells(plan, kept, stack)
        engine = None if settings.executor is None else stack.enter_context(_engine(settings))
        sums = [
            _sum(
                part,
                tells[number],
                None if kept is None else kept.parts[number],
                in_calling_thread=plan.is_short,
                elsewhere=elsewhere_of(settings, part) if engine is None else partial(engine.each, part),
            )
            for number, part in enumerate(plan.steps)
        ]
        return Result(whole_sums(plan, sums), plan)


def elsewhere_of(settings: Settings, part: Step) -> Elsewhere | None:
    """Return who sweeps a part in the place of one device, if several are asked for."""
    devices = devices_of(settings, part)
    if not devices:
        return None
    from lagbc.run.crew import Crew

    return Crew(devices, part).each


def whole_sums(plan: Plan, sums: list[Sums]) -> Sums:
    """Make the sums of the graph of a call of those of the parts of its plan."""
    if plan.reduction is not None:
        return plan.reduction.sums(sums, plan.settings.own_threads)
    (whole,) = sums
    return whole


def _engine(settings: Settings) -> Engine:
    from lagbc.run.executors import Engine

    return Engine(settings.executor, settings.memory, settings.checkpoint)


def _sum(
    part: Step,
    tell: Callable[[int], None] | None,
    checkpoint: Progressed | None,
    *,
    in_calling_thread: bool,
    elsewhere: Elsewhere | None,
) -> Sums:
    if part.contracted is None:
        return _loop(part)(
            part.graph,
            part.method,
            part.sweep,
            part.roots,
            ordered=part.ordered,
            tell=tell,
            checkpoint=checkpoint,
            in_calling_thread=in_calling_thread,
            elsewhere=elsewhere,
        )
    from lagbc.run.chains import sum_chains

    return sum_chains(
        part.contracted,
        part.method,
        part.asked,
        size=part.sweep.batch,
        threads=part.sweep.threads,
        tell=tell,
        checkpoint=checkpoint,
        in_calling_thread=in_calling_thread,
        elsewhere=elsewhere,
    )


def _loop(part: Step) -> Callable[..., Sums]:
    """Return the loop over the roots of a part."""
    if part.sweep.bounds is None:
        return sweep
    from lagbc.run.within import sweep_within

    return sweep_within


def _tells(plan: Plan, kept: Checkpoint | None, stack: ExitStack) -> list[Callable[[int], None] | None]:
    """Return for each part what takes how many of its roots are done; None where nobody asks."""
    if not plan.settings.progress:
        return [None] * len(plan.steps)
    from lagbc.run.progress import Meter, Stretch

    stretches = [
        Stretch(part.swept, kept.parts[number].state.done if kept else 0, edges_of(part))
        for number, part in enumerate(plan.steps)
    ]
    meter = Meter(stretches, plan.settings.progress, _note(plan), stack)
    return [meter.of(number) for number in range(len(stretches))]


def edges_of(part: Step) -> float:
    """Count the edges that each root traverses; in the undirected case an edge counts once."""
    return part.graph.nnz if part.graph.directed else part.graph.nnz / 2


def _note(plan: Plan) -> str:
    """Return what a progress bar says beside the rate."""
    if plan.reduction is not None:
        return f"; {plan.reduction.in_short}"
    (part,) = plan.steps
    idle = len(part.roots) - part.swept
    return f"; {idle} of {len(part.roots)} have no out-edges" if idle else ""
