"""Sums over roots by a method, a batch at a time: forward and backward sweeps, or searches within cutoffs and decays.

Sums of few vertices (`lagbc.methods.sums.SparseSums`) wait to be added in order. Within bounds a panel of roots sums to
these alone, so that the cost is by the vertices within reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import in_phase, phase
from lagbc.demand import plan_of_root, weights_of_columns, without_far_apart
from lagbc.graph.csr import as_numpy, module_of
from lagbc.limits import Room
from lagbc.methods.contract import MethodModule, StopFlag, SumsWithin, SweepPlan
from lagbc.methods.sums import DECAYING, OF_BOUNDS, OF_ROOTS, SparseSums, Sums, Waiting, shift_into_range
from lagbc.planning.sweep import Sweep
from lagbc.reduce.pieces import Whole
from lagbc.run.work import Arrays, Found, Hand, Items, MethodWork, Reads, Span, Total


class Added(NamedTuple):
    """The sums of a span whose panels are added."""

    sums: Sums


# The sums of a span: a row for each panel, or the sums of each panel at the vertices that it touches, or added ones.
Rows: TypeAlias = Sums | list[SparseSums]
# The sums of the chunk at hand.
Part: TypeAlias = Sums | Waiting
# Prefixes of the names of sums with a row for each panel, and of the sums of the chunk at hand.
_PANELS, _CHUNK = "panels/", "chunk/"

# Within bounds: times that a hand is given panels, at least, and roots at a time, at most. Waiting for a thread takes
# as long as some 20 roots, and the sums of large panels take memory.
_TIMES, _ROOTS = 8, 256
# The kinds of rows of sparse sums, in a file.
_ROWS_OF = ("vertices", "edges", "roots")


class Sweeps(MethodWork):
    """Sums over roots, in chunks of panels."""

    chunk: int = 0

    def __init__(self, piece: Whole, sweep: Sweep, room: Room | None, module: MethodModule | None = None) -> None:
        super().__init__(piece, sweep, room, module)
        self.items = piece.ordered(self.row)
        self.chunk = self.module.batching.chunk(self.row.device)

    @property
    def panel(self) -> int:
        """The roots that the method sums at once; where these are all of a batch, a chunk."""
        block = self.module.batching.block
        return self.chunk if block == 1 else block

    @property
    def cut(self) -> int:
        """A chunk, whose panels are added before they are sent."""
        return self.chunk

    @property
    def portion(self) -> int:
        """A chunk: a hand passes on its sum alone."""
        return self.chunk

    @in_phase("prepare")
    def open(self, stop: StopFlag) -> Hand:
        return Batches(self, stop).run

    def add(self, total: Total, span: Span, sums: Rows | Added) -> Total:
        """Add panels to the chunk at hand, and a whole chunk to the chunks before it."""
        part = self._plus(total.part, sums, self.items[span.first : span.last])
        if span.last % self.chunk and span.last != len(self.items):
            return Total(span.last, total.whole, part)
        chunk = part if isinstance(part, Sums) else part.whole()
        return Total(span.last, chunk if total.whole is None else _like(total.whole, chunk).plus(chunk))

    def _plus(self, part: Part | None, sums: Rows | Added, roots: Items) -> Part:
        """Add the panels of a span to its chunk; sums of few vertices wait."""
        if isinstance(sums, list):
            before = part if isinstance(part, Waiting) else Waiting(part or self._zeros(np))
            return before.plus(sums)
        if isinstance(sums, Added):
            return sums.sums if part is None else _like(part, sums.sums).plus(sums.sums)
        return sums.added_to(None if part is None else _like(part, sums), self.graph.n, roots)

    def _zeros(self, arrays: Any) -> Sums:
        return Sums.zeros(arrays, self.plan.sums, self.graph.n, self.graph.nnz)

    def zero_rows(self, arrays: Any, roots: int) -> Sums:
        """Make the zero sums of a batch of so many roots, a row a panel; `arrays` is numpy, cupy, or counts shapes."""
        blocks = self.module.batching.rows(0, roots).stop
        return Sums.zeros_of_batch(arrays, self.plan.sums, self.graph.n, self.graph.nnz, blocks, roots)

    def as_rows(self, sums: Rows, roots: int) -> Sums:
        """Return the sums of so many roots as rows of all vertices."""
        return sums if isinstance(sums, Sums) else self.zero_rows(np, roots).add_blocks(sums)

    def sent(self, found: list[Found], items: Items, to_host: Callable[[Any], NDArray[Any]] = as_numpy) -> list[Found]:
        """Add the panels of spans that begin a chunk, and bring all to the host."""
        sent, first = list[Found](), found[0][0].first
        for span, sums in found:
            begins = span.first % self.chunk == 0
            if begins or (sent and isinstance(sent[-1][1], Added) and sent[-1][0].last % self.chunk):
                before, part = (span, None) if begins else sent.pop()
                roots = items[span.first - first : span.last - first]
                whole = self._plus(None if part is None else part.sums, sums, roots)
                whole = whole.whole() if isinstance(whole, Waiting) else whole
                sent.append((Span(before.first, span.last), Added(whole)))
            else:
                sent.append((span, sums))
        return [(span, on_host(sums, to_host)) for span, sums in sent]

    def finish(self, total: Total) -> Sums:
        whole: Sums = self._zeros(np) if total.whole is None else total.whole
        if self.row.device == "cpu":
            return whole
        with phase("finish"):
            return whole.moved(as_numpy)

    def pack(self, span: Span, sums: Rows | Added) -> Arrays:
        if isinstance(sums, Added):
            return {name: as_numpy(array) for name, array in sums.sums}
        rows = self.as_rows(sums, span.last - span.first)
        return {f"{_PANELS}{name}": as_numpy(array) for name, array in rows}

    def unpack(self, span: Span, read: Reads) -> Rows | Added:
        """Read added sums, or sums with a row for each panel."""
        if not read.has(f"{_PANELS}{min(self.plan.sums)}"):
            return Added(Sums(**{name: read(name, shape) for name, shape in self._zeros(_Shapes)}))
        like = self.zero_rows(_Shapes, span.last - span.first)
        return Sums(**{name: read(f"{_PANELS}{name}", shape) for name, shape in like})

    def pack_total(self, total: Total) -> Arrays:
        """Return the sums of whole chunks, and of the chunk at hand."""
        part = total.part.whole() if isinstance(total.part, Waiting) else total.part
        of = {"": total.whole or Sums(), _CHUNK: part or Sums()}
        return {f"{prefix}{name}": as_numpy(array) for prefix, sums in of.items() for name, array in sums}

    def unpack_total(self, done: int, read: Reads) -> Total:
        """Read the sums of whole chunks and of the chunk at hand, as far as `done` roots make them."""
        is_last = done == len(self.items) > 0

        def sums(prefix: str) -> Sums:
            return Sums(**{name: read(f"{prefix}{name}", shape) for name, shape in self._zeros(_Shapes)})

        return Total(
            done,
            sums("") if done >= self.chunk or is_last else None,
            sums(_CHUNK) if done % self.chunk and not is_last else None,
        )


class _Shapes:
    """A stand-in for numpy whose arrays are shapes."""

    @staticmethod
    def zeros(shape: Any) -> tuple[int, ...]:
        return shape if isinstance(shape, tuple) else (shape,)


def on_host(sums: Rows | Added, to_host: Callable[[Any], NDArray[Any]] = as_numpy) -> Rows | Added:
    """Return sums on the host; sums of few vertices are there."""
    if isinstance(sums, Added):
        return Added(sums.sums.moved(to_host))
    return sums if isinstance(sums, list) else sums.moved(to_host)


def _like(part: Part, others: Sums) -> Sums:
    """Bring the sums of a chunk, with all that waits, to the device of others."""
    sums = part.whole() if isinstance(part, Waiting) else part
    (_, array), (_, other) = next(iter(sums)), next(iter(others))
    if type(array) is type(other):
        return sums
    return sums.moved(as_numpy if isinstance(other, np.ndarray) else module_of(other).asarray)


class Batches:
    """Sums of batches, one after the other, in a state for each dtype.

    The method has the request with weights in range; roots out of range add nothing to its sums over paths. MemoryError
    says that the state does not fit; NotImplementedError, that the method does not read the request's class_sizes.
    """

    def __init__(self, work: Sweeps, stop: StopFlag) -> None:
        self._work, self._graph, self._module, self._plan, row = work, work.graph, work.module, work.plan, work.row
        if self._plan.class_sizes is not None and "class_sizes" not in row.options:
            raise NotImplementedError(f"{row.name} on {row.device} takes no vertices that stand for several")
        scaled, self._beyond = into_range(self._plan, self._graph.n)
        self._scaled, self._arrays = scaled if stop is scaled.stop else scaled.with_flag(stop), row.arrays
        if (drawn := work.piece.drawn) is not None and drawn.repeats:
            # An array of its own, in which a batch's roots count as often as they were drawn in its round.
            self._times = np.ones(self._graph.n)
            self._scaled = replace(self._scaled, root_weights=self._times)
            self._plan = replace(self._plan, root_weights=self._times)
        self._touched = getattr(self._module, "touched", None)
        self._demand = None if "demand" in row.options else scaled.demand
        self._states = {self._plan.dtype: self._module.prepare(self._graph, self._scaled)}

    def run(self, _: Span, roots: Items, counts: Items | None = None) -> Rows:
        """Sum one batch, its panels apart; roots that overflow float64 are computed again."""
        if counts is not None:
            self._times[roots[roots >= 0]] = counts[roots >= 0]
        sums, overflowed = self._sum(self._plan.dtype, roots)
        if self._plan.dtype == "float32" and overflowed.any():
            in_float64, overflowed = self._sum("float64", np.where(overflowed, roots, -1))
            sums = self._work.as_rows(sums, len(roots))
            sums.add(self._work.as_rows(in_float64, len(roots)))
        again = overflowed if self._beyond is None else overflowed | self._beyond[roots]
        if np.count_nonzero(again):
            sums = self._work.as_rows(sums, len(roots))
            sums.add(self._recomputed(roots, again, overflowed))
        return sums

    @np.errstate(over="ignore")  # sums beyond float64 are infinite
    def _recomputed(self, roots: Items, again: NDArray[np.bool_], overflowed: NDArray[np.bool_]) -> Sums:
        """Sum some roots by the routine of single roots; of those that did not overflow, over paths alone.

        Few graphs need it, so that no estimate counts its memory: it has to fit in the rest of the budget.
        """
        from lagbc.methods.cpu import extended

        if self._work.row.device == "cpu":
            rows = self._work.module.batching.rows(0, len(roots)).stop * self._plan.summed(self._graph)
            self._plan.require_growth(8 * rows + extended.bytes_of_root(self._graph, self._plan))
        recomputed = self._work.zero_rows(np, len(roots))
        for i in np.flatnonzero(again).tolist():
            missing = recomputed if overflowed[i] else recomputed.of_paths()
            row = self._module.batching.rows(i, i + 1).start
            root = int(roots[i])
            plan = plan_of_root(self._plan, root).with_flag(self._scaled.stop)
            extended.add_root(self._graph.on_host, plan, root, missing, row, i)
        return recomputed.moved(self._arrays.asarray)

    def _sum(self, dtype: str, roots: Items) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the sums of the roots in range, and a mask of the others; a root of -1 is absent."""
        if dtype not in self._states:
            self._states[dtype] = self._module.prepare(self._graph, replace(self._scaled, dtype=dtype))
        state, touched = self._states[dtype], self._touched
        sparse: list[SparseSums] = []
        rows = self._work.zero_rows(self._arrays, len(roots)) if touched is None else None
        overflowed = np.zeros(len(roots), np.bool_)
        for levels in self._module.forward(state, roots):
            beyond = levels.overflowed
            if len(beyond) == len(roots):
                overflowed = beyond
            else:
                overflowed[levels.places] = beyond
            if rows is None:
                if touched is not None and (of_few := touched(state, levels)) is not None:
                    sparse += of_few
                    continue
                rows = self._work.as_rows(sparse, len(roots))
            if self._demand is None:
                self._module.backward(state, levels, rows)
            else:
                omega = weights_of_columns(self._demand, self._graph, roots[levels.places], self._arrays)
                self._module.backward(state, levels, rows, omega)
        return rows or sparse or self._work.zero_rows(self._arrays, len(roots)), overflowed


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
        return self.panel

    def open(self, stop: StopFlag) -> Hand:
        panels = _Panels(self, stop)

        def run(span: Span, roots: Items) -> list[SparseSums]:
            found = list[SparseSums]()
            for first in range(0, len(roots), self.panel):
                found += panels.run(roots[first : first + self.panel])
            return found

        return run

    def add(self, total: Total, span: Span, sums: list[SparseSums]) -> Total:
        return Total(span.last, None, self._part(total).plus(sums))

    def _part(self, total: Total) -> Waiting:
        if total.part is None:
            return Waiting(Sums.zeros(np, self.plan.sums, self.graph.n, self.graph.nnz, self.plan.bounds))
        return cast("Waiting", total.part)

    def finish(self, total: Total) -> Sums:
        with phase("finish"):
            return self._part(total).whole()

    def pack(self, span: Span, sums: list[SparseSums]) -> Arrays:
        """Return the rows of each sparse sum, and its numbers."""
        arrays = Arrays()
        for number, sparse in enumerate(sums):
            arrays |= {f"{number}/at_{name}": getattr(sparse, name) for name in _ROWS_OF}
            arrays |= {f"{number}/{name}": array for name, array in sparse.sums}
        return arrays

    def unpack(self, span: Span, read: Reads) -> list[SparseSums]:
        found, shapes = list[SparseSums](), self._shapes
        while read.has(f"{(number := len(found))}/at_vertices"):
            places = [read(f"{number}/at_{name}", (None,), np.integer) for name in _ROWS_OF]
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
        return dict(self._part(total).whole()) if total.done else {}

    def unpack_total(self, done: int, read: Reads) -> Total:
        if not done:
            return Total(done)
        return Total(done, None, Waiting(Sums(**{name: read(name, shape) for name, shape in self._shapes.items()})))


class _Panels:
    """Sums of panels in a state of their own, for one thread at a time; `into_range` scales the weights."""

    def __init__(self, work: Within, stop: StopFlag) -> None:
        self._graph, self._plan, self._module = work.graph, work.plan.with_flag(stop), cast("SumsWithin", work.module)
        scaled, beyond = into_range(self._plan, work.graph.n)
        self._beyond = np.zeros(work.graph.n, np.bool_) if beyond is None else beyond
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


def into_range(plan: SweepPlan, n: int) -> tuple[SweepPlan, NDArray[np.bool_] | None]:
    """Scale the weights of a plan so that float64 holds all numbers that a method makes of them.

    Weights are scaled as in `lagbc.methods.sums`, all roots by one shift. Roots without such a shift are left to the
    routine of single roots, in which every number has an exponent of its own: a mask of them is returned beside the
    plan, in which they have weight 0, or no demand; None where no weights are scaled. A plan with weights has no
    endpoints, as the ends of a path are not weighed by omega; with a demand it has no omega, root_weights or exponent.
    """
    if plan.demand is not None:
        demand, beyond = without_far_apart(plan.demand)
        return replace(plan, demand=demand), beyond
    omega, shift = plan.omega, 0
    if omega is not None and omega.any():
        shift = int(shift_into_range(omega[omega > 0].min(), omega.max()))
    if not shift and not plan.exponent:
        return plan, None
    times = np.ones(n) if plan.root_weights is None else plan.root_weights
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(times, shift + plan.exponent)
        beyond = np.ldexp(scaled, -shift - plan.exponent) != times
        if omega is not None and shift:
            scaled_omega = np.ldexp(omega, -shift)
            beyond |= bool((np.ldexp(scaled_omega, shift) != omega).any())
            omega = scaled_omega
    scaled[beyond] = 0
    return replace(plan, omega=omega, root_weights=scaled, exponent=0), beyond
