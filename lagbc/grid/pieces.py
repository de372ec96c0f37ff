"""The piece that a dealt graph is: its plan, with the ranks as its method, and its works, which grids carry.

The functions of pieces have a case for it, each registered here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError, OutOfRangeError
from lagbc.grid.deal import Dealt
from lagbc.grid.sweep import SUMS, told
from lagbc.limits import Room
from lagbc.methods.block import Asked
from lagbc.methods.contract import Arrays, Batching, Counted, MethodModule, SweepPlan, bytes_of
from lagbc.methods.sums import DEPENDENCY, OF_EDGES, Sums
from lagbc.methods.table import Method
from lagbc.options import Settings
from lagbc.planning.plan import sweep_of
from lagbc.planning.sweep import Sweep, bytes_of_swept, fit_memory, row_of
from lagbc.reduce.pieces import Reduced, Whole, reduce, whole
from lagbc.request import Request
from lagbc.run.rounds import Rounds
from lagbc.run.run import work_of
from lagbc.run.sweeps import Sweeps, into_range
from lagbc.run.work import Carrier, Items, PieceWork, Span, Total

Floats = NDArray[np.float64]


@dataclass(slots=True, eq=False)
class Spread(Whole):
    """A graph that is dealt over ranks."""

    graph: Any
    beside: Floats | None = None  # dependencies of the pairs whose paths lead through trees that were folded

    def placed(self, method: Method) -> Any:
        """Return the graph as it is: ranks have it."""
        return self.graph

    def ordered(self, method: Method) -> Items:
        """Return the roots as they were dealt."""
        if self.lined_up is None:
            self.lined_up = _as_dealt(self.graph, self.request.roots)
        return self.lined_up


def _as_dealt(graph: Dealt, roots: Items) -> Items:
    """Put roots that edges leave into the order in which vertices were dealt."""
    are_roots = np.zeros(graph.n, np.bool_)
    are_roots[roots] = True
    return graph.order[(graph.is_searched & are_roots)[graph.order]]


@whole.register(Dealt)
def _(graph: Dealt, request: Request) -> Spread:
    """Take weights of folded trees to the vertices that they hang from."""
    trees = graph.trees
    if trees is None:
        return Spread(graph, request)
    if request.sums != DEPENDENCY or request.endpoints:
        raise InvalidValueError("a graph whose trees were folded gives betweenness alone; pass reduce='none'")
    roots, targets = np.zeros(graph.n), np.ones(graph.n) if request.omega is None else request.omega
    roots[request.roots] = 1 if request.root_weights is None else request.root_weights[request.roots]
    beside = trees.through(roots, targets) * (0.5 if request.weighs_pairs and not graph.directed else 1.0)
    roots, targets = trees.folded(roots) * trees.is_core, trees.folded(targets)
    inner = request._replace(omega=targets, root_weights=roots, roots=np.flatnonzero(roots))
    return Spread(graph, inner, beside=beside)


@reduce.register(Dealt)
def _(graph: Dealt, request: Request, settings: Settings, room: Room, *, swept: int | None = None) -> Reduced:
    """Leave the graph as it is."""
    return Reduced((whole(graph, request),))


@bytes_of_swept.register(Dealt)
def _(graph: Dealt, request: SweepPlan, device: str) -> tuple[int, int]:
    """Count those of a rank."""
    return graph.bytes_of_rank(on_gpu=device != "cpu")


@dataclass(frozen=True)
class OnGrid(Method):
    """A row of no table: the ranks of one dealt graph. Sums come to the host, whatever device they sweep on."""

    of_ranks: Any = None

    @property
    def available(self) -> bool:
        """Whether ranks have their device; they do."""
        return True

    @property
    def arrays(self) -> Any:
        """The module whose arrays are summed into."""
        return np

    def load(self) -> MethodModule:
        """Return all of a method that plans read."""
        module: MethodModule = self.of_ranks
        return module


class _OfRanks(NamedTuple):
    """All of a method that plans read: a worker is a batch in flight of a grid."""

    batching: Batching
    arrays: Callable[[Dealt, SweepPlan], Arrays]  # of a rank


@row_of.register(Spread)
def _row(piece: Spread, *_: object) -> OnGrid:
    """Return the row of the ranks."""
    site, size, columns = piece.graph.grids.site, piece.graph.deal.size, piece.graph.grids.site.columns

    def arrays(graph: Dealt, plan: SweepPlan) -> Arrays:
        return {name: Counted(group) for name, group in site.arrays(size, plan.sums).items()}

    batching = Batching(columns // site.groups, widest=columns, auto=columns, concurrent=True)
    ranks = _OfRanks(batching, arrays)
    return OnGrid(
        *("batched", "semiring", site.device, False, __name__),
        sums=(*SUMS, "depth"),
        options=site.options,
        of_ranks=ranks,
    )


@sweep_of.register(Spread)
def _(piece: Spread, settings: Settings, room: Room, label: str = "", seconds: float = 0, beside: int = 0) -> Sweep:
    """Plan the sweeps of ranks; ValueError if a grid does not make them."""
    _require_sweepable(piece.request, settings)
    graph, row, roots = piece.graph, _row(piece), len(piece.request.roots)
    batch = row.of_ranks.batching.round(max(1, roots))
    reason = f"{graph.deal.shape} grid of ranks has the graph in blocks{graph.grids.site}"
    if graph.trees is not None:
        reason += f", {int(np.count_nonzero(~graph.trees.is_core))} vertices of trees folded"
    in_flight = graph.grids.in_flight
    sweep = Sweep("roots", row.name, row.device, False, roots, batch, in_flight, reason, batch, beside=beside)
    return fit_memory(piece, sweep, room)


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


@work_of.register(Spread)
def _(piece: Spread, sweep: Sweep, room: Room | None, module: MethodModule | None = None) -> PieceWork:
    """Return a work that grids carry."""
    return SpreadSweeps(piece, sweep, room) if piece.drawn is None else SpreadRounds(piece, sweep, room)


class SpreadSweeps(Sweeps):
    """Sums over roots whose batches ranks sweep."""

    piece: Spread

    @property
    def own_carrier(self) -> Carrier:
        """The grids."""
        return self.graph.grids.carry  # type: ignore[attr-defined, no-any-return]

    def asked(self) -> Asked:
        """Return the request to the ranks."""
        deal = self.piece.graph.deal
        self._numbers = deal.numbers
        plan, self._beyond = into_range(self.plan, self.graph.n)
        self._times, omega = plan.root_weights, None
        if plan.omega is not None:
            omega = np.ones(deal.shape.size * deal.length)
            omega[self._numbers] = plan.omega
        levels = self.piece.graph.grids.site.arrays(deal.size, plan.sums)["passing"]["levels"]
        room = bytes_of({"levels": levels}) + (plan.growth or 0)
        self._asked = Asked(plan.sums, plan.endpoints, plan.linear, plan.sigma_limit, omega, self.piece.graph.way, room)
        return self._asked

    def told(self, span: Span) -> tuple[Items, Floats]:
        """Return the roots of a batch by their numbers, -1 for an absent one, and how often each counts."""
        roots, columns = self.items[span.place], self.piece.graph.grids.site.columns
        numbers, times, there = np.full(columns, -1), np.ones(columns), np.flatnonzero(roots >= 0)
        if self._beyond[roots[there]].any():
            _ = self.graph.on_host
        numbers[there] = self._numbers[roots[there]]
        if self._times is not None:
            times[there] = self._times[roots[there]]
        return numbers, times

    def rows(self, span: Span, found: list[Floats]) -> Sums:
        """Make the sums of a batch of those that the ranks of a grid have found, each of its vertices."""
        roots, grids = self.items[span.place], self.piece.graph.grids
        columns, groups, length = grids.site.columns, grids.site.groups, self.piece.graph.deal.length
        of_columns = np.array([one[-3 * columns :].reshape(3, columns) for one in found])
        overflowed = np.flatnonzero(of_columns[:, 2].sum(axis=0))
        if len(overflowed):
            raise OutOfRangeError(
                f"{len(overflowed)} roots of a batch, vertex {roots[overflowed[0]]} among them, have more shortest "
                "paths than float64 holds; a graph that is dealt over a grid has no wider numbers: leave out grid="
            )
        sums, block = self.zero_rows(np, len(roots)), columns // groups
        of_vertices = [one[: -3 * columns].reshape(-1, groups, length) for one in found]
        for number, name in enumerate(told(self._asked)):
            for group, row in enumerate(getattr(sums, name)):
                row[:] = np.concatenate([one[number, group] for one in of_vertices])[self._numbers]
        if sums.depth is not None:
            sums.depth += of_columns[:, 0, : len(roots)].max(axis=0)
        if self._asked.endpoints:
            there = np.flatnonzero(roots >= 0)
            sums.dependency[there // block, roots[there]] += of_columns[:, 1, there].sum(axis=0)
        return sums

    def finish(self, total: Total) -> Sums:
        """Return the sum of the chunks, and beside it the pairs through folded trees."""
        sums = super().finish(total)
        return sums if self.piece.beside is None else Sums(dependency=sums.dependency + self.piece.beside)


class SpreadRounds(SpreadSweeps, Rounds):
    """Sums over rounds whose batches ranks sweep."""

    def _near_together(self, roots: Items) -> Items:
        """Put roots as they were dealt: no rank knows which are near."""
        return _as_dealt(self.piece.graph, roots)


def depth_search(graph: Dealt) -> tuple[Spread, Sweep]:
    """Return the piece and the sweep of the search for the depth, from the hub."""
    root = np.array([graph.hub])
    piece = Spread(graph.symmetric, Request(frozenset({"depth"}), root), lined_up=root)
    row = _row(piece)
    return piece, Sweep("roots", row.name, row.device, False, 1, row.of_ranks.batching.block, 1, "", 1)
