"""Sums over roots within cutoffs and decays, at a cost by the vertices within reach.

A panel of roots sums to `SparseSums`, which wait to be added in order (`lagbc.methods.sums.Waiting`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import phase
from lagbc.methods.contract import StopFlag, SumsWithin, new_state
from lagbc.methods.sums import DECAYING, OF_BOUNDS, OF_ROOTS, SparseSums, Sums, Waiting
from lagbc.plan.demand import plan_of_root
from lagbc.run.sweeps import into_range
from lagbc.run.work import Hand, Items, Piece, Reads, Span, StepWork, Total

# Times that a hand is given panels, at least, and roots at a time, at most: waiting for a thread takes as long as some
# 20 roots, and the sums of large panels take memory.
_TIMES, _ROOTS = 8, 256
# The kinds of rows of sparse sums, in a file.
_ROWS = ("vertices", "edges", "roots")


class Bounded(StepWork):
    """Sums over roots within bounds."""

    @cached_property
    def panel(self) -> int:
        """The panel of the method for this count of roots."""
        return cast("SumsWithin", self.module).blocks.size(len(self.items))

    @cached_property
    def batch(self) -> int:
        """Some small panels; each hand gets spans a few times."""
        panels = -(-len(self.items) // self.panel)
        return self.panel * max(1, min(panels // (_TIMES * self.hands), _ROOTS // self.panel))

    @property
    def portion(self) -> int:
        """A panel for each thread."""
        return self.panel * self.hands

    def prepare(self, stop: StopFlag) -> Hand:
        """Prepare a state for panels."""
        panels = _Panels(self, stop)
        return lambda cut, roots: [Piece(cut, panels.run(roots))]

    def cuts(self, span: Span) -> Iterator[Span]:
        """Cut a span into panels."""
        return self.spans(*span, self.panel)

    def add(self, total: Total, pieces: list[Piece]) -> Total:
        """Let the sums of panels wait."""
        found = [sparse for piece in pieces for sparse in piece.sums]
        waiting = self._part(total).plus(found)
        return Total(pieces[-1].span.last, None, waiting, tuple(pieces))

    def _part(self, total: Total) -> Waiting:
        if total.part is None:
            return Waiting(Sums.zeros(np, self.sweep.sums, self.graph.n, self.graph.nnz, self.sweep.bounds))
        return cast("Waiting", total.part)

    def finish(self, total: Total) -> Sums:
        """Add the waiting sums."""
        with phase("finish"):
            return self._part(total).whole()

    def pack(self, piece: Piece) -> dict[str, NDArray[Any]]:
        """Return the rows of each sparse sum, and its numbers."""
        arrays = dict[str, NDArray[Any]]()
        for number, sparse in enumerate(piece.sums):
            arrays |= {f"{number}/at_{name}": getattr(sparse, name) for name in _ROWS}
            arrays |= {f"{number}/{name}": array for name, array in sparse.sums}
        return arrays

    def unpack(self, span: Span, read: Reads) -> Piece:
        """Read all sparse sums of a piece."""
        found, shapes = list[SparseSums](), self._shapes
        while read.has(f"{(number := len(found))}/at_vertices"):
            places = [read(f"{number}/at_{name}", (None,), np.integer) for name in _ROWS]
            at = SparseSums(places[0], places[1], places[2], Sums())
            for name, (rows, *_) in shapes.items():
                places_of = at.rows(name)
                if len(places_of) and not 0 <= places_of.min() <= places_of.max() < rows:
                    raise IndexError(f"{name} has no such rows")
            sums = {name: read(f"{number}/{name}", (len(at.rows(name)), *shape[1:])) for name, shape in shapes.items()}
            found.append(replace(at, sums=Sums(**sums)))
        return Piece(span, found)

    @property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {
            name: (self.graph.nnz if name == "edges" else self.graph.n, self.sweep.columns(name))
            for name in self.sweep.sums
        }

    def pack_total(self, total: Total) -> dict[str, NDArray[Any]]:
        """Return the sums, the waiting ones added."""
        return dict(self._part(total).whole()) if total.done else {}

    def unpack_total(self, done: int, read: Reads) -> Total:
        """Read the sums."""
        if not done:
            return Total(done)
        return Total(done, None, Waiting(Sums(**{name: read(name, shape) for name, shape in self._shapes.items()})))


class _Panels:
    """Sums of panels in a state of their own, for one thread at a time; `into_range` scales the weights."""

    def __init__(self, work: Bounded, stop: StopFlag) -> None:
        self._graph, self._sweep, self._module = work.graph, work.sweep.with_flag(stop), cast("SumsWithin", work.module)
        scaled, self._beyond = into_range(self._sweep, work.graph.n)
        self._power = _exponent(self._sweep.omega) - _exponent(scaled.omega)
        with phase("prepare"):
            self._state = new_state(np, work.module, work.graph, scaled)

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

        for root in roots.tolist():
            sweep, graph = plan_of_root(self._sweep, root), self._graph.on_host
            bounds: Any = sweep.bounds
            sums = Sums.zeros(np, sweep.sums, graph.n, graph.nnz, bounds)
            for c, d, alone in bounds:
                names = sweep.sums if d == 0 else sweep.sums & DECAYING
                column = {
                    name: array if name in OF_ROOTS else array[None]
                    for name, array in sums.column(bounds, c, d)
                    if name in names
                }
                extended.add_root(graph, replace(sweep, bounds=alone, sums=names), root, Sums(**column), 0, root)
            vertices, edges = np.arange(graph.n), np.arange(graph.nnz)
            yield SparseSums(vertices, edges, vertices, sums)


def _exponent(omega: NDArray[np.float64] | None) -> int:
    return 0 if omega is None else int(np.frexp(omega.max())[1])
