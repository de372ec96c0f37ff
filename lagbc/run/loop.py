"""The one loop: a work summed over its items, in order, by any carrier."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TypeVar

from lagbc.methods.contract import MethodModule
from lagbc.methods.sums import Sums
from lagbc.phases import phase
from lagbc.plan.step import Step
from lagbc.run.carriers import Carrier, Threads
from lagbc.run.sweeps import Sweeps
from lagbc.run.work import StepWork, Total, Work

Carried = TypeVar("Carried", bound=Work)


def sum_over(
    work: Carried,
    carrier: Carrier[Carried],
    resumed: Total | None = None,
    last: int | None = None,
    keep: Callable[[Total], object] | None = None,
) -> Total:
    """Sum a work over its items, in order, from `resumed` on, until its total is enough, or to before the place `last`.

    `keep` is called with each new total. MemoryError says that the memory is too little for the smallest batch. After
    KeyboardInterrupt or StoppedError no hand is at work, and `keep` has had all finished items.
    """
    total, last = resumed or Total(0), len(work.items) if last is None else last
    with phase("sweep"):
        while total.done < last:
            try:
                with closing(carrier.each(work, work.spans(total.done, last, carrier.length(work)))) as found:
                    for pieces in found:
                        total = work.add(total, pieces)
                        if keep is not None:
                            keep(total)
                        if work.is_enough(total):
                            return total
            except MemoryError as error:
                if carrier.makes_do:
                    raise
                work = work.smaller(error)
    return total


def work_of(step: Step, module: MethodModule | None = None) -> StepWork:
    """Make the work of a step; `module` may replace the module of its method."""
    module = module or step.method.load()
    if step.contracted is not None:
        from lagbc.run.junctions import Junctions

        return Junctions(step, module)
    if step.drawn is not None:
        from lagbc.run.rounds import Rounds

        return Rounds(step, module)
    if step.sweep.bounds is not None:
        from lagbc.run.bounded import Bounded

        return Bounded(step, module)
    return Sweeps(step, module)


def sum_step(step: Step, module: MethodModule | None = None, carrier: Carrier[StepWork] | None = None) -> Sums:
    """Return the sums of a step, on the host."""
    work = work_of(step, module)
    return work.finish(sum_over(work, carrier or Threads()))
