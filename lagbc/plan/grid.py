"""The plan of a graph that is dealt over a grid: one step, with the grid as its method."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError
from lagbc.frozen import frozen
from lagbc.grid.deal import DealtGraph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import DEPENDENCY, OF_EDGES, Sums
from lagbc.plan import memory
from lagbc.plan.choose import Selection
from lagbc.plan.options import Settings
from lagbc.plan.plan import Choice, Plan, plan_of
from lagbc.plan.request import Request
from lagbc.plan.step import Resumed, Step


@frozen
class DealtPlan(Plan):
    """A plan of a graph in blocks; no hand of it is in the calling thread, which other processes wait for."""

    beside: NDArray[np.float64] | None = None  # what is added to the dependencies of the step

    @property
    def is_short(self) -> bool:
        """Whether one thread sweeps it: never."""
        return False

    def completed(self, sums: Sums) -> Sums:
        """Return the sums of the graph, of those of its step."""
        if self.beside is None:
            return sums
        return Sums(dependency=sums.dependency + self.beside * 2.0 ** self.steps[0].sweep.exponent)


@plan_of.register(DealtGraph)
def _(graph: DealtGraph, request: Request, settings: Settings, resumed: Resumed) -> Plan:
    """Plan a run over a graph that lies on ranks in blocks."""
    step, reason = _step(graph, request, settings)
    step, needed = memory.fit(step)  # in the room that ranks agreed on
    choice, selection = Choice(reason, needed, step.sweep.batch), Selection(step.method, reason)
    beside = None if graph.trees is None else graph.trees.through(*_weights_of(request, graph.n))
    return DealtPlan(request, graph, (step,), (choice,), None, selection, needed, settings, beside)


def depth_step(graph: DealtGraph) -> Step:
    """Make the step of the search for the depth."""
    root, method = np.array([graph.hub]), graph.method
    sweep = SweepPlan(batch=method.batching.block, sums=frozenset({"depth"}), roots=1)
    return Step(graph.symmetric, root, method.row(), sweep, ordered=root)


def _step(graph: DealtGraph, request: Request, settings: Settings) -> tuple[Step, str]:
    """Make the step of a dealt graph, and its reason; ValueError if a grid does not sweep it."""
    _require_sweepable(request, settings)
    method, deal, trees = graph.method, graph.deal, graph.trees
    row, omega, root_weights = method.row(), request.omega, request.root_weights
    roots, targets = _weights_of(request, graph.n)
    if trees is not None:
        if request.sums != DEPENDENCY or request.endpoints:
            raise InvalidValueError("a graph whose trees were folded gives betweenness alone; pass reduce='none'")
        roots, targets = trees.folded(roots) * trees.is_core, trees.folded(targets)
        omega, root_weights = targets, roots
    sweep = SweepPlan(
        batch=method.batching.round(max(1, min(len(request.roots), method.batching.auto))),
        threads=method.hands,
        endpoints=request.endpoints,
        omega=omega,
        root_weights=root_weights,
        exponent=-1 if request.weighs_pairs and not graph.directed else 0,
        sums=request.sums,
        roots=len(request.roots),
        method=row.name,
    )
    searched = graph.is_searched & (roots > 0)
    ordered = deal.order[searched[deal.order]]
    step = Step(graph, np.flatnonzero(roots), row, sweep, ordered)
    reason = f"{deal.shape} grid of ranks has the graph in blocks{method.site}"
    if trees is not None:
        reason += f", {int(np.count_nonzero(~trees.is_core))} vertices of trees folded"
    return step, reason


def _weights_of(request: Request, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how often each vertex counts as a root, and as a target."""
    roots, targets = np.zeros(n), np.ones(n) if request.omega is None else request.omega
    roots[request.roots] = 1 if request.root_weights is None else request.root_weights[request.roots]
    return roots, targets


def _require_sweepable(request: Request, settings: Settings) -> None:
    refused = {
        "cutoff and decay": request.bounds is not None,
        "demand": request.demand is not None,
        "sums of edges": bool(request.sums & OF_EDGES),
        "rtol": bool(request.rtol),
        f"method={settings.method!r}": settings.method not in ("auto", "batched"),
        f"dtype={settings.dtype!r}": settings.dtype != "float64",
        f"batch={settings.batch}": settings.batch is not None,
        f"threads={settings.threads}": settings.threads_asked,
        f"reduce={settings.reduce!r}": settings.reduce not in ("auto", "none"),
        ", ".join(settings.of_some_methods): bool(settings.of_some_methods),
    }
    for name, is_asked in refused.items():
        if is_asked:
            raise InvalidValueError(f"{name}: not made of a graph that is dealt over a grid; leave it out, or grid=")
