"""Sums over roots within cutoffs and decays, at a cost by the vertices within reach.

A panel of roots sums to `SparseSums`, which wait to be added in order (`lagbc.methods.sums.Waiting`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import phase
from lagbc.demand import plan_of_root
from lagbc.methods.contract import MethodModule, StopFlag, SumsWithin, SweepPlan
from lagbc.methods.sums import DECAYING, OF_BOUNDS, OF_ROOTS, SparseSums, Sums, Waiting
from lagbc.planning.sweep import Sweep
from lagbc.reduce.pieces import Whole
from lagbc.room import Room
from lagbc.run.sweeps import into_range
from lagbc.run.work import Arrays, Hand, Items, MethodWork, Reads, Span, Total

# Times that a hand is given panels, at least, and roots at a time, at most: waiting for a thread takes as long as some
# 20 roots, and the sums of large panels take memory.
_TIMES, _ROOTS = 8, 256
# The kinds of rows of sparse sums, in a file.
_ROWS = ("vertices", "edges", "roots")


class Within(MethodWork):
    """Sums over roots within bounds: the sums of panels wait, and are added in order."""

    panel: int = 0

    def __init__(self, piece: Whole, sweep: Sweep, room: Room | None, module: MethodModule | None = None) -> None:
        self.items, self.panel = np.zeros(0, np.int64), 1
        super().__init__(piece, sweep, room, module)
        self.items = piece.ordered(self.row)
        self.panel = cast("SumsWithin", self.module).blocks.size(len(self.items))
        self.take(sweep, self.plan)

    def take(self, sweep: Sweep, plan: SweepPlan) -> None:
        """Take some small panels at a time; each hand gets spans a few times."""
        super().take(sweep, plan)
        panels = -(-len(self.items) // self.panel)
        self.batch = self.panel * max(1, min(panels // (_TIMES * self.hands), _ROOTS // self.panel))

    @property
    def portion(self) -> int:
        """A panel for each thread."""
        return self.panel * self.hands

    @property
    def grain(self) -> int:
        """A panel."""
        return self.panel

    def open(self, stop: StopFlag) -> Hand:
        """Prepare a state for panels."""
        panels = _Panels(self, stop)

        def run(span: Span, roots: Items) -> list[SparseSums]:
            found = list[SparseSums]()
            for first in range(0, len(roots), self.panel):
                found += panels.run(roots[first : first + self.panel])
            return found

        return run

    def add(self, total: Total, span: Span, sums: list[SparseSums]) -> Total:
        """Let the sums of panels wait."""
        return Total(span.last, None, self._part(total).plus(sums))

    def _part(self, total: Total) -> Waiting:
        if total.part is None:
            return Waiting(Sums.zeros(np, self.plan.sums, self.graph.n, self.graph.nnz, self.plan.bounds))
        return cast("Waiting", total.part)

    def finish(self, total: Total) -> Sums:
        """Add the waiting sums."""
        with phase("finish"):
            return self._part(total).whole()

    def pack(self, span: Span, sums: list[SparseSums]) -> Arrays:
        """Return the rows of each sparse sum, and its numbers."""
        arrays = Arrays()
        for number, sparse in enumerate(sums):
            arrays |= {f"{number}/at_{name}": getattr(sparse, name) for name in _ROWS}
            arrays |= {f"{number}/{name}": array for name, array in sparse.sums}
        return arrays

    def unpack(self, span: Span, read: Reads) -> list[SparseSums]:
        """Read all sparse sums of a span."""
        found, shapes = list[SparseSums](), self._shapes
        while read.has(f"{(number := len(found))}/at_vertices"):
            places = [read(f"{number}/at_{name}", (None,), np.integer) for name in _ROWS]
            at = SparseSums(places[0], places[1], places[2], Sums())
            for name, (rows, *_) in shapes.items():
                places_of = at.rows(name)
                if len(places_of) and not 0 <= places_of.min() <= places_of.max() < rows:
                    raise IndexError(f"{name} has no such rows")
            sums = {name: read(f"{number}/{name}", (len(at.rows(name)), *shape[1:])) for name, shape in shapes.items()}
            found.append(at._replace(sums=Sums(**sums)))
        return found

    @property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {
            name: (self.graph.nnz if name == "edges" else self.graph.n, self.plan.columns(name))
            for name in self.plan.sums
        }

    def pack_total(self, total: Total) -> Arrays:
        """Return the sums, the waiting ones added."""
        return dict(self._part(total).whole()) if total.done else {}

    def unpack_total(self, done: int, read: Reads) -> Total:
        """Read the sums."""
        if not done:
            return Total(done)
        return Total(done, None, Waiting(Sums(**{name: read(name, shape) for name, shape in self._shapes.items()})))


class _Panels:
    """Sums of panels in a state of their own, for one thread at a time; `into_range` scales the weights."""

    def __init__(self, work: Within, stop: StopFlag) -> None:
        self._graph, self._plan, self._module = work.graph, work.plan.with_flag(stop), cast("SumsWithin", work.module)
        scaled, self._beyond = into_range(self._plan, work.graph.n)
        self._power = _exponent(self._plan.omega) - _exponent(scaled.omega)
        with phase("prepare"):
            self._state = work.module.prepare(work.graph, scaled)

    def run(self, roots: Items) -> list[SparseSums]:
        """Sum a panel; roots whose sums overflow float64 are summed by themselves, after the others."""
        ((near, overflowed),) = self._module.sum_within(self._state, [np.where(self._beyond[roots], -1, roots)])
        with np.errstate(over="ignore"):
            for name, array in near.sums:
                if name in OF_BOUNDS and self._power:
                    np.ldexp(array, self._power, out=array)
        return [near, *self._alone(roots[overflowed | self._beyond[roots]])]

    def _alone(self, roots: Items) -> Iterator[SparseSums]:
        from lagbc.methods.cpu import extended

        if len(roots):
            rows = self._plan.summed(self._graph) + 2 * self._graph.n + self._graph.nnz
            self._plan.require_growth(8 * rows + extended.bytes_of_root(self._graph, self._plan))
        for root in roots.tolist():
            plan, graph = plan_of_root(self._plan, root), self._graph.on_host
            bounds: Any = plan.bounds
            sums = Sums.zeros(np, plan.sums, graph.n, graph.nnz, bounds)
            for c, d, alone in bounds:
                names = plan.sums if d == 0 else plan.sums & DECAYING
                column = {
                    name: array if name in OF_ROOTS else array[None]
                    for name, array in sums.column(bounds, c, d)
                    if name in names
                }
                extended.add_root(graph, replace(plan, bounds=alone, sums=names), root, Sums(**column), 0, root)
            vertices, edges = np.arange(graph.n), np.arange(graph.nnz)
            yield SparseSums(vertices, edges, vertices, sums)


def _exponent(omega: NDArray[np.float64] | None) -> int:
    return 0 if omega is None else int(np.frexp(omega.max())[1])
