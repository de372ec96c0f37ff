"""The piece and the sweep of a graph that is dealt over a grid, with the grid as its method."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError
from lagbc.grid.deal import DealtGraph
from lagbc.methods.sums import DEPENDENCY, OF_EDGES
from lagbc.options import Settings
from lagbc.planning import memory
from lagbc.planning.sweep import Sweep
from lagbc.reduce.pieces import Whole
from lagbc.reduce.reduced import Reduced
from lagbc.request import Request
from lagbc.room import Room


def reduce_dealt(graph: DealtGraph, request: Request, settings: Settings) -> Reduced:
    """Make the piece of a dealt graph, whose trees may be folded; ValueError if a grid does not sweep it."""
    _require_sweepable(request, settings)
    trees, beside = graph.trees, None
    roots, targets = np.zeros(graph.n), np.ones(graph.n) if request.omega is None else request.omega
    roots[request.roots] = 1 if request.root_weights is None else request.root_weights[request.roots]
    inner = request
    if trees is not None:
        if request.sums != DEPENDENCY or request.endpoints:
            raise InvalidValueError("a graph whose trees were folded gives betweenness alone; pass reduce='none'")
        beside = trees.through(roots, targets) * (0.5 if request.weighs_pairs and not graph.directed else 1.0)
        roots, targets = trees.folded(roots) * trees.is_core, trees.folded(targets)
        inner = request._replace(omega=targets, root_weights=roots, roots=np.flatnonzero(roots))
    return Reduced((Whole(graph, inner, lined_up=_order(graph, roots > 0)),), beside=beside)


def _order(graph: DealtGraph, are_roots: NDArray[np.bool_]) -> NDArray[np.int64]:
    order = graph.deal.order
    return order[(graph.is_searched & are_roots)[order]]


def sweep_of_dealt(piece: Whole, settings: Settings, room: Room, beside: int) -> Sweep:
    """Plan the sweeps of a dealt graph, in the room that ranks agreed on."""
    graph, request = piece.graph, piece.request
    assert isinstance(graph, DealtGraph)
    _require_sweepable(request, settings)
    method, roots = graph.method, len(request.roots)
    batch = method.batching.round(max(1, min(roots, method.batching.auto)))
    reason = f"{graph.deal.shape} grid of ranks has the graph in blocks{method.site}"
    if graph.trees is not None:
        reason += f", {int(np.count_nonzero(~graph.trees.is_core))} vertices of trees folded"
    row = method.row()
    sweep = Sweep("roots", row.name, row.device, False, roots, batch, method.hands, reason, batch, beside=beside)
    return memory.fit(piece, sweep, room)


def depth_search(graph: DealtGraph) -> tuple[Whole, Sweep]:
    """Return the piece and the sweep of the search for the depth."""
    root, row = np.array([graph.hub]), graph.method.row()
    piece = Whole(graph.symmetric, Request(frozenset({"depth"}), root), lined_up=root)
    return piece, Sweep("roots", row.name, row.device, False, 1, graph.method.batching.block, 1, "", 1)


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
