"""A dealt graph as a piece, `Spread`: its plan, whose method is the ranks, its works, and the `Grids` that carry them.

The functions of pieces have a case for it, each registered here. All ranks sweep batches in rounds. The first rank says
what is swept in a round, and receives the sums; within the round it does what all ranks do. An error of any rank ends
the round on all. The first rank raises it, and may have another round swept.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError, OutOfMemoryError, OutOfRangeError, StoppedError
from lagbc.grid.communicator import Grid, Line, ending_all, now, of_all, of_first, side_by_side
from lagbc.grid.deal import Dealt, Ints
from lagbc.grid.sites import EdgesOfRank, Site
from lagbc.grid.sweep import SUMS, Cell, Ended, told
from lagbc.limits import Room
from lagbc.methods.block import NOTHING, Asked, BlockPlan
from lagbc.methods.contract import Arrays, Batching, Counted, MethodModule, StopFlag, SweepPlan, bytes_of
from lagbc.methods.sums import DEPENDENCY, OF_EDGES, Sums
from lagbc.methods.table import Method
from lagbc.options import Settings
from lagbc.planning.plan import SWEEPS
from lagbc.planning.sweep import Sweep, bytes_of_swept, fit_memory
from lagbc.reduce.blocks import find_reaching_all
from lagbc.reduce.pieces import Whole, whole
from lagbc.request import Request
from lagbc.run.rounds import Rounds
from lagbc.run.run import WORKS, sum_piece
from lagbc.run.sweeps import Sweeps, into_range
from lagbc.run.tasks import portable
from lagbc.run.work import Carrier, Found, Items, Span, Total, retrying

Floats = NDArray[np.float64]
# Numbers of roots, -1 for an absent one, and how often each root counts.
Batch = tuple[Ints, Floats]


@dataclass(slots=True, eq=False)
class Spread(Whole):
    """A graph that is dealt over ranks."""

    graph: Any
    beside: Floats | None = None  # (n,): the dependencies that folded trees add to the sweep

    @property
    def own_row(self) -> OnGrid:  # type: ignore[override]
        return _row(self)

    def placed(self, method: Method) -> Any:
        return self.graph

    def ordered(self, method: Method) -> Items:
        if self.lined_up is None:
            self.lined_up = _as_dealt(self.graph, self.request.roots)
        return self.lined_up


def _as_dealt(graph: Dealt, roots: Items) -> Items:
    """Return the roots that edges leave, in the order in which vertices were dealt."""
    are_roots = np.zeros(graph.n, np.bool_)
    are_roots[roots] = True
    return graph.order[(graph.is_searched & are_roots)[graph.order]]


@whole.register(Dealt)
def _(graph: Dealt, request: Request) -> Spread:
    """Add the weights of folded trees to the vertices that they hang from."""
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


find_reaching_all.register(Dealt, lambda graph: None)  # no rank has all edges


@bytes_of_swept.register(Dealt)
def _(graph: Dealt, request: SweepPlan, device: str) -> tuple[int, int]:
    return graph.bytes_of_rank(on_gpu=device != "cpu")


@dataclass(frozen=True)
class OnGrid(Method):
    """The ranks of one dealt graph as a method, in no table. Sums are on the host, on whatever device ranks sweep."""

    of_ranks: Any = None

    @property
    def available(self) -> bool:
        return True

    @property
    def arrays(self) -> Any:
        return np

    def load(self) -> MethodModule:
        return self.of_ranks


def _row(piece: Spread) -> OnGrid:
    site, size, columns = piece.graph.grids.site, piece.graph.deal.size, piece.graph.grids.site.columns

    def arrays(graph: Dealt, plan: SweepPlan) -> Arrays:
        return {name: Counted(group) for name, group in site.arrays(size, plan.sums).items()}

    # The parts of a method that plans read; a batch in flight is a worker.
    batching = Batching(columns // site.groups, widest=columns, auto=columns, concurrent=True)
    return OnGrid(
        *("batched", "semiring", site.device, False, __name__),
        sums=(*SUMS, "depth"),
        options=site.options,
        of_ranks=SimpleNamespace(batching=batching, arrays=arrays),
    )


def _spread_sweep(
    piece: Spread, settings: Settings, room: Room, label: str = "", seconds: float = 0, beside: int = 0
) -> Sweep:
    """Plan the sweeps of ranks; ValueError if a grid cannot make them."""
    _require_sweepable(piece.request, settings)
    graph, row, roots = piece.graph, _row(piece), len(piece.request.roots)
    batch = row.of_ranks.batching.round(max(1, roots))
    reason = f"{graph.deal.shape} grid of ranks has the graph in blocks{graph.grids.site}"
    if graph.trees is not None:
        reason += f", {int(np.count_nonzero(~graph.trees.is_core))} vertices of trees folded"
    in_flight = graph.grids.in_flight
    sweep = Sweep("whole", row.name, row.device, False, roots, batch, in_flight, reason, batch, beside=beside)
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
        f"threads={settings.threads}": settings.threads is not None,
        f"reduce={settings.reduce!r}": settings.reduce not in ("auto", "none"),
        ", ".join(settings.of_some_methods): bool(settings.of_some_methods),
    }
    for name, is_asked in refused.items():
        if is_asked:
            raise InvalidValueError(
                f"{name}: not available for a graph that is dealt over a grid; leave it out, or grid="
            )


class SpreadSweeps(Sweeps):
    """Sums over roots, swept by ranks."""

    piece: Spread

    @property
    def own_carrier(self) -> Carrier:
        return self.graph.grids.carry  # type: ignore[attr-defined]

    def asked(self) -> Asked:
        """Return the request to the ranks; keep the numbers and weights of roots, which `told` reads."""
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
        """Return a batch as ranks take it."""
        roots, columns = self.items[span.place], self.piece.graph.grids.site.columns
        numbers, times, there = np.full(columns, -1), np.ones(columns), np.flatnonzero(roots >= 0)
        if self._beyond is not None and self._beyond[roots[there]].any():
            _ = self.graph.on_host
        numbers[there] = self._numbers[roots[there]]
        if self._times is not None:
            times[there] = self._times[roots[there]]
        return numbers, times

    def rows(self, span: Span, found: list[Floats]) -> Sums:
        """Make the sums of a batch from the arrays of `Cell.sweep` of all ranks of a grid."""
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
        sums = super().finish(total)
        return sums if self.piece.beside is None else Sums(dependency=sums.dependency + self.piece.beside)


class SpreadRounds(SpreadSweeps, Rounds):
    """Sums over rounds, swept by ranks."""

    def _near_together(self, roots: Items) -> Items:
        return _as_dealt(self.piece.graph, roots)  # no rank knows which roots are near


SWEEPS[Spread] = _spread_sweep
WORKS[Spread, "whole"], WORKS[Spread, "rounds"] = SpreadSweeps, SpreadRounds


class Grids:
    """All grids that the ranks make up: each sweeps at most `in_flight` batches at a time, in `room` bytes a rank.

    The first rank calls `carry`, `depth_of` and `end`. The others call `follow`, in which they take its steps.
    """

    def __init__(self, line: Line, graph: Dealt, site: Site, in_flight: int, room: int, stop: StopFlag) -> None:
        self.site, self.in_flight, self.room = site, in_flight, room
        self._line, self._deal, self._stop = line, graph.deal, stop
        self.grid = Grid.of(line, *graph.deal.shape, site.line)
        self._edges = EdgesOfRank(graph.blocks, graph.deal.length, site)
        self._contexts = [site.context() for _ in range(in_flight)]  # on a GPU each has a stream
        self._cells = list[Cell]()

    @property
    def _count(self) -> int:
        return self._line.size // self.grid.whole.size

    def carry(self, work: SpreadSweeps, first: int, last: int) -> Generator[Found]:
        """Carry a work: each round gives a batch to each grid, as often as the work has hands."""
        return retrying(self._rounds, work, first, last)

    def _rounds(self, work: SpreadSweeps, first: int, last: int) -> Generator[Found]:
        spans, size = work.batches(first, last), self.grid.whole.size
        try:
            self._have_all("_open", work.asked(), work.hands)
            while some := list(islice(spans, work.hands * self._count)):
                found = self._have_all("_sweep", [work.told(span) for span in some])
                for number, span in enumerate(some):
                    turn, grid = divmod(number, self._count)
                    yield span, work.rows(span, found[turn][grid * size : (grid + 1) * size])
        finally:
            self._have_all("_shut")

    def depth_of(self, graph: Dealt) -> int:
        """Return the greatest distance of a vertex from the hub, edges taken either way."""
        root = np.array([graph.hub])
        piece = Spread(graph.symmetric, Request(frozenset({"depth"}), root), lined_up=root)
        row = _row(piece)
        sweep = Sweep("whole", row.name, row.device, False, 1, row.of_ranks.batching.block, 1, "", 1)
        return int(sum_piece(piece, sweep, Room(self.room, self.room), carry=self.carry).depth[graph.hub])

    def follow(self) -> None:
        """Take the steps of the first rank until it ends."""
        with ending_all(self._line):
            while (told := of_first(self._line)) is not None:
                step, *given = told
                getattr(self, step)(*given)

    def end(self) -> None:
        """Let the others return from `follow`."""
        of_first(self._line)

    def close(self) -> None:
        """Drop the rows, and free the lines; on all ranks."""
        self._shut()
        self.grid.close()

    def _have_all(self, step: str, *given: Any) -> Any:
        """Have all ranks take a step; return the result of this rank, or raise the error of any."""
        with ending_all(self._line):
            of_first(self._line, (step, *given))
            found, error = getattr(self, step)(*given)
        if error is not None:
            raise error
        return found

    def _open(self, asked: Asked, in_flight: int) -> tuple[None, BaseException | None]:
        """Make the rows of this rank for so many batches in flight."""
        assert not self._cells
        error, deal, first = None, self._deal, self.grid.piece * self._deal.length
        if asked.omega is not None:
            asked = asked._replace(omega=asked.omega[first : first + deal.length])
        try:
            with self._contexts[0]():
                plan = BlockPlan(self._edges.swept(asked.way), deal.size, self.grid.row, asked, self._stop)
            for at in self._contexts[:in_flight]:
                with at():
                    self._cells.append(Cell(self.grid, self.site.block(plan), deal.length, asked, at))
        except MemoryError:
            error = OutOfMemoryError("a rank of the grid has too little memory for its part; take a larger grid")
        except BaseException as raised:
            error = raised
        return None, self._error_of_any(error)

    def _sweep(self, batches: list[Batch]) -> tuple[list[list[Floats]], BaseException | None]:
        """Sweep batches, which grids take in turns; the first rank returns the sums of all ranks, turn by turn."""
        own, found = batches[self.grid.number :: self._count], list[Floats]()
        cells = self._cells[: len(own)]
        with suppress(Ended):
            found = side_by_side([cell.sweep(*batch) for cell, batch in zip(cells, own, strict=True)])
        error = self._error_of_any(next((cell.error for cell in cells if cell.error is not None), None))
        if error is not None:
            return [], error
        of_all = list[list[Floats]]()
        for turn in range(-(-len(batches) // self._count)):
            sums = found[turn].view(np.uint8) if turn < len(own) else NOTHING
            received = now(self._line.exchange([sums] + [NOTHING] * (self._line.size - 1)))
            of_all.append([one.view(np.float64) for one in received])
        return of_all, None

    def _shut(self) -> tuple[None, None]:
        """Wait until no stream reads rows or edges, and drop the rows."""
        for at, _ in zip(self._contexts, self._cells, strict=False):
            with at():
                self.site.wait()
        self._cells.clear()
        return None, None

    def _error_of_any(self, error: BaseException | None) -> BaseException | None:
        """Return the same error of some rank on all: Ctrl-C rather than ``stop=``, and this rather than others."""
        if not self._line.combine(np.array([error is not None], np.int64), "or")[0]:
            return None
        errors = [one for one in of_all(self._line, None if error is None else portable(error)) if one is not None]
        first: BaseException = min(
            errors, key=lambda one: (isinstance(one, Exception), not isinstance(one, StoppedError))
        )
        return first
