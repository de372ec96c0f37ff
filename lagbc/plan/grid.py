"""The plan of a graph that is dealt over a grid: one step, with the grid as its method."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError
from lagbc.grid.deal import DealtGraph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import DEPENDENCY, OF_EDGES
from lagbc.plan.options import Settings
from lagbc.plan.request import Request
from lagbc.plan.step import Step


def step_on_grid(graph: DealtGraph, request: Request, settings: Settings) -> tuple[Step, str]:
    """Make the step of a dealt graph, and its reason; ValueError if a grid does not sweep it."""
    _require_sweepable(request, settings)
    method, deal, trees = graph.method, graph.deal, graph.trees
    row, omega, root_weights = method.row(), request.omega, request.root_weights
    roots, targets = weights_of(request, graph.n)
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


def weights_of(request: Request, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how often each vertex counts as a root, and as a target."""
    roots, targets = np.zeros(n), np.ones(n) if request.omega is None else request.omega
    roots[request.roots] = 1 if request.root_weights is None else request.root_weights[request.roots]
    return roots, targets


def through_trees(graph: DealtGraph, request: Request) -> NDArray[np.float64] | None:
    """Sum up the pairs that the sweep of a dealt graph does not count, as trees were folded."""
    return None if graph.trees is None else graph.trees.through(*weights_of(request, graph.n))


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
