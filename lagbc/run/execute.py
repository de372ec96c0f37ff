"""A plan carried out: its parts swept, their sums on the host."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.sums import Sums
from lagbc.run import memory
from lagbc.run.checkpoint import open_checkpoint
from lagbc.run.plan import Part, Plan
from lagbc.run.sweep import sweep


@dataclass(frozen=True, eq=False)
class Result:
    """What a run summed.

    Attributes
    ----------
    sums : Sums
        On the host.
    roots : ndarray of int64
        A checkpoint may hold others than were drawn for this call.
    plan : Plan
    """

    sums: Sums
    roots: NDArray[np.int64]
    plan: Plan

    @property
    def graph(self) -> Graph:
        """The graph of the call."""
        return self.part.graph

    @property
    def pairs(self) -> int:
        """How often the sums over paths count a pair of vertices: twice in an undirected graph, unless weighed."""
        return 1 if self.graph.directed or self.part.sweep.exponent else 2

    @property
    def part(self) -> Part:
        """The part that was swept."""
        (part,) = self.plan.parts
        return part


def execute(plan: Plan) -> Result:
    """Sum over the roots of a plan.

    Raises
    ------
    MemoryError
        The plan is over the memory budget, or memory runs out with the smallest batch.
    CheckpointError
        The checkpoint belongs to something else, or cannot be written.
    KeyboardInterrupt
        Ctrl-C; what is finished is in the checkpoint.
    """
    memory.require(plan.memory)
    plan.warn_of_less_memory()
    (part,) = plan.parts
    settings, roots, ordered, resumed = plan.settings, part.roots, part.ordered, None
    if settings.checkpoint is not None:
        resumed = open_checkpoint(
            settings.checkpoint,
            part.graph,
            part.method,
            part.sweep,
            roots,
            sampled=plan.request.is_sample,
            redraw=plan.request.is_redrawn,
        )
        if resumed.roots is not roots:
            roots, ordered = resumed.roots, None
    sums = sweep(
        part.graph,
        part.method,
        part.sweep,
        roots,
        ordered=ordered,
        report=settings.progress,
        checkpoint=resumed,
        in_calling_thread=plan.memory.is_small,
    )
    return Result(sums, roots, plan)
