"""Sums over the bicomponents of a reduced graph: from the junctions of large ones, and in slices of small ones.

The chains of a large bicomponent are contracted. Its junctions are swept in groups, and groups are added in order, so
that bits depend neither on hands nor on the order in which groups end. On the CPU the graph alone fixes the groups. On
a GPU the memory fixes them, as most of the far ends of a large group are among its roots; its panels are added one by
one, so that bits do not depend on the groups either.

All small bicomponents are one work. A slice of them is one call of a compiled sweep, of some 50 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import phase
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.limits import Room
from lagbc.methods.contract import MethodModule, StopFlag, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import Method
from lagbc.planning.sweep import Sweep
from lagbc.reduce.chains import ADDED, Contracted, Flows, Ways, edge_scores, scores, widths
from lagbc.reduce.piece import NotContractible, Scores
from lagbc.reduce.pieces import Chains, Small
from lagbc.run.work import Arrays, Hand, Items, MethodWork, PieceWork, Reads, Span, Total

Floats = NDArray[np.float64]

# Path counts are added and multiplied by weights; beyond this they might leave the range of float64.
_LARGEST_COUNT = 2.0**1000


class JunctionSums(NamedTuple):
    """The sums of a group of junctions, on the host."""

    rows: Sums  # from the sweeps, a row for each panel
    junction: Floats  # the demand that passes each junction as it leaves chains
    # the group's part of the flows of chains: sums at the vertices inside the chains that begin or end at it
    flows: tuple[Floats, ...]


class Junctions(MethodWork):
    """Sums over junctions: rows that are added, and flows of chains that one junction each writes."""

    def __init__(self, piece: Chains, sweep: Sweep, room: Room | None, module: MethodModule | None = None) -> None:
        super().__init__(piece, sweep, room, module)
        self.contracted = piece.contracted
        self.items = self.contracted.roots  # rows of the junctions

    @property
    def order(self) -> Items:
        """The order of the graph before the items, as far ends are met in it."""
        return np.concatenate([self.graph.order, self.items])

    @property
    def panel(self) -> int:
        """A group; on a GPU the roots that the method sums at once."""
        batching = self.module.batching
        return self.batch if batching.concurrent else batching.block

    @property
    def grain(self) -> int:
        """A panel."""
        return self.panel

    @property
    def bytes_of_sums(self) -> int:
        """Bound the bytes of the sums over some of the junctions."""
        return 8 * self.contracted.held

    def open(self, stop: StopFlag) -> Hand:
        """Prepare a state for groups."""
        contracted, flows = self.contracted, Flows.zeros(len(self.contracted.inside))
        groups = _Groups(contracted, self.row, flows, stop, self.batch)

        def run(_: Span, group: Items) -> JunctionSums:
            sums, junction = groups.run(group)
            return JunctionSums(sums, junction, _flows_of(contracted.ways, flows, group))

        return run

    def on(self, copied: Callable[[Graph], Graph]) -> Junctions:
        """Return the work itself, as a state copies the chains."""
        return self

    def add(self, total: Total, span: Span, sums: JunctionSums) -> Total:
        """Add rows one after the other, and write flows."""
        held = Held.nothing(self.contracted) if total.whole is None else total.whole.copy()
        group = self.items[span.place]
        held.add(sums.rows)
        held.junction[group] = sums.junction
        _put_flows(self.contracted.ways, held.flows, group, sums.flows)
        return Total(span.last, held)

    def finish(self, total: Total) -> Sums:
        """Make the sums of the bicomponent; NotContractible if they overflow float64."""
        with phase("finish"):
            contracted, asked = self.contracted, self.piece.request.sums
            held = Held.nothing(contracted) if total.whole is None else total.whole
            sums = held.dependency, held.junction, held.along
            if not all(np.isfinite(array).all() for array in sums):
                raise NotContractible("the weights sum to more than float64 holds")
            return Sums(
                dependency=scores(contracted, held.flows, *sums) if "dependency" in asked else None,
                edges=edge_scores(contracted, held.flows, held.along) if "edges" in asked else None,
            )

    def pack(self, span: Span, sums: JunctionSums) -> Arrays:
        """Return rows, demand and flows."""
        rows, junction, flows = sums
        return dict(rows) | {"junction": junction} | {f"flow/{number}": flow for number, flow in enumerate(flows)}

    def unpack(self, span: Span, read: Reads) -> JunctionSums:
        """Read rows, demand and flows."""
        graph, group = self.graph, self.items[span.place]
        first, second = _owned(self.contracted.ways, group)
        sizes = (len(first),), (len(second),), (2, len(first)), (len(first),), (len(first),)
        rows = Sums(dependency=read("dependency", (None, graph.n)), edges=read("edges", (None, graph.nnz)))
        flows = tuple(read(f"flow/{number}", size) for number, size in enumerate(sizes))
        return JunctionSums(rows, read("junction", (len(group),)), flows)

    def pack_total(self, total: Total) -> Arrays:
        """Return the total in one array."""
        return {"held": total.whole.array} if total.done else {}

    def unpack_total(self, done: int, read: Reads) -> Total:
        """Read the array."""
        return Total(done, Held(self.contracted, read("held", (self.contracted.held,))) if done else None)


class Held:
    """The total of junctions, parts of one array: it begins with the sums of rows and ends with those inside chains.

    `dependency` and `along`, of rows and edges, are added up panel after panel. One group writes each number of
    `junction`, the demand that passes a junction as it leaves chains, and of `flows`, the demand that leaves chains; a
    second run of the group writes it anew.
    """

    def __init__(self, contracted: Contracted, array: Floats) -> None:
        graph, inside = contracted.graph, len(contracted.inside)
        self.array, self._contracted = array, contracted
        self.dependency, self.junction, self.along, *flows = np.split(
            array, np.cumsum([graph.n, graph.n, graph.nnz, 2 * inside, 2 * inside, inside])
        )
        out, around, within, onward = flows
        self.flows = Flows(out.reshape(2, inside), around.reshape(2, inside), within, onward)

    @classmethod
    def nothing(cls, contracted: Contracted) -> Held:
        """Return the total of no junction."""
        return cls(contracted, np.zeros(contracted.held))

    def copy(self) -> Held:
        """Return a copy."""
        return Held(self._contracted, self.array.copy())

    def add(self, rows: Sums) -> None:
        """Add the sums of a group, panel after panel."""
        for dependency, along in zip(rows.dependency, rows.edges, strict=True):
            self.dependency += dependency
            self.along += along


def _flows_of(ways: Ways, flows: Flows, rows: Items) -> tuple[Floats, ...]:
    """Copy the flows of some junctions."""
    first, second = _owned(ways, rows)
    return (
        flows.out[0, first],
        flows.out[1, second],
        flows.around[:, first],
        flows.within[first],
        flows.onward[first],
    )


def _put_flows(ways: Ways, flows: Flows, rows: Items, written: tuple[Floats, ...]) -> None:
    """Write flows copied by `_flows_of`."""
    first, second = _owned(ways, rows)
    out, back, around, within, onward = written
    flows.out[0, first], flows.out[1, second], flows.around[:, first] = out, back, around
    flows.within[first], flows.onward[first] = within, onward


def _owned(ways: Ways, rows: Items) -> tuple[Items, Items]:
    """Return the vertices inside the chains with a first end among some rows, and inside those with a second end.

    The rows own the demand of these vertices, the first end also that within a chain. Vertices of a second end are
    counted from that end on.
    """
    halves: Any = np.concatenate([ways.halves[ways.first_halves[row] : ways.first_halves[row + 1]] for row in rows])
    first, second = (_inside(ways, halves[halves & 1 == side] >> 1) for side in (0, 1))
    return first, second


def _inside(ways: Ways, chains: Items) -> Items:
    """Return the vertices inside some chains, one chain after the other."""
    counts = ways.starts[chains + 1] - ways.starts[chains]
    begins = np.cumsum(counts) - counts
    places: Items = np.arange(counts.sum()) + np.repeat(ways.starts[chains] - begins, counts)
    return places


class _Groups:
    """Sweeps of one group after the other, with states for its roots and one for far ends."""

    def __init__(self, contracted: Contracted, method: Method, flows: Flows, stop: StopFlag, size: int) -> None:
        self._contracted, self._arrays = contracted, method.arrays
        self._module: Any = method.load()
        self._width, self._more = widths(self._module.batching, size)
        self._plan = SweepPlan(
            batch=self._width,
            sums=ADDED,
            class_sizes=contracted.class_sizes,
            method=method.name,
            at_once=True,
            stop=stop,
        )
        self._states: list[Any] = []
        self._far_state: Any = None
        self._columns: Any = _columns_on(method.device)(contracted.ways, flows, size, self._more)

    def run(self, group: Items) -> tuple[Sums, Floats]:
        """Sum the rows of a group: search, make the demand of its roots, and sweep backward with it.

        Also return the demand that passes each junction as it leaves chains.
        """
        graph, columns = self._contracted.graph, self._columns
        columns.begin(group)
        levels: list[Any] = []
        for first in range(0, len(group), self._width):
            if first == self._width * len(self._states):
                self._states.append(self._prepared(self._width))
            levels.append(self._search(self._states[len(levels)], group[first : first + self._width], first))
        junction = self._make_demand(group)
        rows = self._module.batching.rows(0, self._width).stop
        sums = Sums.zeros_of_batch(self._arrays, ADDED, graph.n, graph.nnz, rows, self._width)
        for number, found in enumerate(levels):
            omega = columns.weights(number * self._width, len(found.places))
            try:
                self._module.backward(self._states[number], found, sums, omega)
            except OverflowError as error:
                raise NotContractible(str(error)) from None
        columns.save()
        return sums.moved(as_numpy), junction

    def _make_demand(self, group: Items) -> Floats:
        """Make M of the roots of a group; return the demand that passes each root as it leaves chains.

        Far ends, many for a hub, are searched batch after batch, in ascending order of rows and with the group in its
        place: each root meets its own far ends in the same order, whatever the group.
        """
        stop, far = self._plan.stop, self._contracted.far_ends(group)
        before, behind = np.split(far, [np.searchsorted(far, group[0])])
        self._leave_for(before, len(group))
        self._columns.leave(group, 0, stop.value)
        self._leave_for(behind, len(group))
        junction: Floats = self._columns.enter(stop.value)
        stop.check()
        return junction

    def _leave_for(self, far: Items, first: int) -> None:
        """Sum the demand that leaves chains of the group for far ends outside it."""
        if len(far) and self._far_state is None:
            self._far_state = self._prepared(self._more)
        for begin in range(0, len(far), self._more):
            rows = far[begin : begin + self._more]
            self._search(self._far_state, rows, first)
            self._columns.leave(rows, first, self._plan.stop.value)
            self._plan.stop.check()

    def _prepared(self, batch: int) -> Any:
        return self._module.prepare(self._contracted.graph, replace(self._plan, batch=batch))

    def _search(self, state: Any, rows: Items, first: int) -> Any:
        """Sweep forward from some rows; write their columns from number `first` on."""
        roots, class_sizes = self._contracted.graph.order[rows], self._contracted.class_sizes
        (levels,) = self._module.forward(state, roots)
        own = None if class_sizes is None else class_sizes[roots]
        largest = self._columns.write(first, self._module.paths(state, levels), own)
        if levels.overflowed.any() or largest > _LARGEST_COUNT:
            raise NotContractible("path counts are more than can be added, or a length is lost in the sum with others")
        return levels


def _columns_on(device: str) -> Any:
    """Return the class of the columns on a device."""
    return import_module("lagbc.reduce.device.columns" if device == "cuda" else "lagbc.reduce.chains").Columns


class OfSlice(NamedTuple):
    """The sums of a slice: at its copies, and at its entries if edges are summed."""

    copies: Scores
    entries: Scores | None


class Slices(PieceWork):
    """Sums at the copies and the entries of small bicomponents; a slice has copies and entries of its own."""

    panel = batch = 1  # a slice

    piece: Small

    def __init__(self, piece: Small, sweep: Sweep) -> None:
        self.piece, self.sweep, self.hands = piece, sweep, sweep.threads
        self.items = np.arange(len(piece.blocks.ends))

    @property
    def order(self) -> Items:
        """The ends of the slices."""
        return self.piece.blocks.ends

    @property
    def bytes_of_sums(self) -> int:
        """Bound the bytes of the sums of a slice."""
        rows = self.piece.blocks.rows
        return 8 * (len(rows.sources) + len(rows.indices) * self.piece.edges) // max(1, len(self.items))

    def open(self, stop: StopFlag) -> Hand:
        """Return a hand with sums of its own, which polls its stop flag before each slice."""
        blocks, sums = self.piece.blocks, self._zeros()
        blocks.prepare()

        def run(span: Span, _: Items) -> OfSlice:
            stop.check()
            copies, entries = blocks.places(span.first)
            sums.dependency[copies] = 0  # of another slice around this one's
            if sums.edges is not None:
                sums.edges[entries] = 0
            blocks.add(span.first, sums.dependency, sums.edges)
            return OfSlice(sums.dependency[copies].copy(), None if sums.edges is None else sums.edges[entries].copy())

        return run

    def _zeros(self) -> Sums:
        rows = self.piece.blocks.rows
        edges = np.zeros(len(rows.indices)) if self.piece.edges else None
        return Sums(dependency=np.zeros(len(rows.sources)), edges=edges)

    def add(self, total: Total, span: Span, sums: OfSlice) -> Total:
        """Write the sums of a slice at their places, where nothing else is written: an addition done again is none."""
        whole = total.whole or self._zeros()
        copies, entries = self.piece.blocks.places(span.first)
        whole.dependency[copies] = sums.copies
        if sums.entries is not None:
            whole.edges[entries] = sums.entries
        return Total(span.last, whole)

    def finish(self, total: Total) -> Sums:
        """Return the sums of all copies and entries, 0 outside small bicomponents."""
        return total.whole or self._zeros()  # type: ignore[no-any-return]

    def pack(self, span: Span, sums: OfSlice) -> Arrays:
        """Return the sums of a slice."""
        return {"dependency": sums.copies} | ({} if sums.entries is None else {"edges": sums.entries})

    def unpack(self, span: Span, read: Reads) -> OfSlice:
        """Read the sums of a slice."""
        copies, entries = self.piece.blocks.places(span.first)
        edges = read("edges", (entries.stop - entries.start,)) if self.piece.edges else None
        return OfSlice(read("dependency", (copies.stop - copies.start,)), edges)

    def pack_total(self, total: Total) -> Arrays:
        """Return the sums."""
        return dict(total.whole or ())

    def unpack_total(self, done: int, read: Reads) -> Total:
        """Read the sums."""
        shapes = {name: array.shape for name, array in self._zeros()}
        return Total(done, Sums(**{name: read(name, shape) for name, shape in shapes.items()}) if done else None)
