"""A plan carried out: its steps summed one after the other, their sums on the host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import raise_if_stopped
from lagbc.frozen import frozen
from lagbc.graph.graph import Graph
from lagbc.methods.sums import Sums
from lagbc.plan.devices import devices_of
from lagbc.plan.options import Settings
from lagbc.plan.plan import Plan, uncontracted
from lagbc.plan.step import Step
from lagbc.reduce.piece import NotContractible
from lagbc.run.loop import Carrier, Inline, Threads, sum_over, work_of
from lagbc.run.small import SmallBicomponents
from lagbc.run.work import StepWork, Total

if TYPE_CHECKING:
    from lagbc.run.partial import Checkpoint
    from lagbc.run.progress import Meter, Stretch
    from lagbc.run.submit import Submit


@frozen
class Result:
    """The sums of a run."""

    sums: Sums  # on the host, of the graph of the call
    plan: Plan

    @property
    def graph(self) -> Graph:
        """The graph of the call."""
        return self.plan.graph

    @property
    def roots(self) -> NDArray[np.int64]:
        """The roots of the run; a checkpoint may hold others than were drawn for this call."""
        return self.plan.request.roots

    def columns(self, *, decays: bool) -> Iterator[Result]:
        """Yield each column as the result of a run: one for each cutoff, with `decays` one for each pair of both."""
        bounds = self.plan.request.bounds
        assert bounds is not None
        for c, d, alone in bounds:
            if decays or d == 0:
                step = replace(self.step, sweep=replace(self.step.sweep, bounds=alone))
                yield Result(self.sums.column(bounds, c, d), replace(self.plan, steps=(step,)))

    @property
    def pairs(self) -> int:
        """How often the sums over paths count a pair of vertices: twice in an undirected graph, unless weighed."""
        if self.graph.directed or self.plan.request.demand is not None:
            return 1
        if self.plan.reduction is None and self.step.sweep.exponent:
            return 1
        return 2

    @property
    def step(self) -> Step:
        """The one step of a run whose graph was not reduced."""
        (step,) = self.plan.steps
        return step


def execute(plan: Plan) -> Result:
    """Sum over the roots of a plan.

    MemoryError says that the plan is over the budget, or that memory runs out with the smallest batch; CheckpointError,
    that the checkpoint belongs to another graph or call. After any error all finished sums are in the checkpoint.
    """
    raise_if_stopped()
    plan.require_memory()
    plan.warn_of_less_memory()
    works = list(map(work_of, plan.steps))
    with ExitStack() as stack:
        kept = open_checkpoint(plan, works, stack) if works and plan.settings.checkpoint is not None else None
        carrier = None if plan.settings.executor is None else stack.enter_context(submitting(plan.settings))
        meter = meter_of(plan, works, kept, stack) if plan.settings.progress else None
        sums: list[Sums] = []
        for number, work in enumerate(works):
            try:
                found = work.finish(total_of(plan, number, work, kept, meter, carrier))
            except NotContractible:
                plan = uncontracted(plan, number)
                plan.require_memory()
                another = work_of(plan.steps[number])
                if kept is not None:
                    kept.drop(number, plan, another)
                if meter is not None:
                    meter.begin_anew(number, _stretch(another))
                found = another.finish(total_of(plan, number, another, kept, meter, carrier))
            sums.append(found)
        return Result(whole_sums(plan, sums), plan)


def open_checkpoint(plan: Plan, works: Sequence[StepWork], stack: ExitStack) -> Checkpoint:
    """Open the checkpoint of a plan; the stack saves it at its end."""
    from lagbc.run.partial import Checkpoint

    assert plan.settings.checkpoint is not None
    kept = Checkpoint.open(plan.settings.checkpoint, plan, works)
    stack.callback(kept.save)
    return kept


def total_of(
    plan: Plan,
    number: int,
    work: StepWork,
    kept: Checkpoint | None,
    meter: Meter | None,
    carrier: Carrier[StepWork] | None = None,
) -> Total:
    """Sum the work of one step, from the total of its checkpoint on."""
    carrier = carrier or carrier_of(plan, work.step)
    if kept is None and meter is None:
        return sum_over(work, carrier)

    def keep(total: Total) -> None:
        if kept is not None:
            kept.keep(number, total)
        if meter is not None:
            meter.tell(number, total.done)

    resumed = None if kept is None else kept.totals[number]
    return sum_over(work, carrier, resumed, keep=keep)


def carrier_of(plan: Plan, step: Step) -> Carrier[StepWork]:
    """Return the carrier of a step in this process: a thread, several, or several devices."""
    if devices := devices_of(plan.settings, step):
        from lagbc.run.gpus import Gpus

        return Gpus(devices)
    return Inline() if plan.is_short else Threads()


def submitting(settings: Settings) -> Submit:
    """Return the carrier of an executor."""
    from lagbc.run.submit import Submit

    return Submit(settings.executor, settings.memory, settings.checkpoint)


def whole_sums(plan: Plan, sums: list[Sums]) -> Sums:
    """Make the sums of the graph of a call from the sums of its plan's steps."""
    if plan.reduction is not None:
        small = SmallBicomponents(plan.reduction.blocks.small, plan.settings.own_threads)
        sum_over(small, Inline() if plan.is_short else Threads())
        return plan.reduction.sums(sums)
    (whole,) = sums
    return plan.completed(whole)


def meter_of(plan: Plan, works: Sequence[StepWork], kept: Checkpoint | None, stack: ExitStack) -> Meter:
    """Return the meter of a run whose call asks for progress."""
    from lagbc.run.progress import Meter

    done = [0] * len(works) if kept is None else [total.done for total in kept.totals]
    return Meter(list(map(_stretch, works, done)), plan.settings.progress, _note(plan), stack)


def _stretch(work: StepWork, done: int = 0) -> Stretch:
    from lagbc.run.progress import Stretch

    return Stretch(len(work.items), done, edges_of(work.graph))


def edges_of(graph: Graph) -> float:
    """Count the edges that each root traverses; in the undirected case an edge counts once."""
    return graph.nnz if graph.directed else graph.nnz / 2


def _note(plan: Plan) -> str:
    """Return the note of a progress bar beside the rate."""
    if plan.reduction is not None:
        return f"; {plan.reduction.in_short}"
    (step,) = plan.steps
    idle = len(step.roots) - step.swept
    return f"; {idle} of {len(step.roots)} have no out-edges" if idle else ""
