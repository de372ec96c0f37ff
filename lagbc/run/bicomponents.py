"""Works over the bicomponents of a reduced graph: `Junctions` of a contracted one, `Slices` of all small ones.

The junctions of a contracted bicomponent are swept in groups. A larger group has more of its far ends among its own
roots, and sweeps fewer others. On the CPU the graph alone fixes the size of a group, which is one panel. On a GPU the
memory fixes it, and a group has several panels, which are added one by one: so its size changes no bit.

A slice of small bicomponents is one call of a compiled sweep, of some 50 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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
from lagbc.reduce.chains import ADDED, Columns, Contracted, Flows, Ways, edge_scores, places_of, scores, widths
from lagbc.reduce.pieces import Chains, Small
from lagbc.reduce.weighted import NotContractible
from lagbc.run.work import Arrays, Hand, Items, MethodWork, PieceWork, Reads, Span, Total

Floats = NDArray[np.float64]

# Path counts are added and multiplied by weights. From larger ones the results might leave the range of float64.
_LARGEST_COUNT = 2.0**1000


class JunctionSums(NamedTuple):
    """The sums of a group of junctions, on the host."""

    rows: Sums  # of the sweeps, a row for each panel
    junction: Floats  # the demand that passes each junction as it leaves chains
    flows: tuple[Floats, ...]  # the parts of `Flows` that the group owns


class Junctions(MethodWork):
    """Sums over junctions: rows are added, and each number of `Flows` is written by the junction that owns it."""

    def __init__(self, piece: Chains, sweep: Sweep, room: Room | None, module: MethodModule | None = None) -> None:
        super().__init__(piece, sweep, room, module)
        self.contracted = piece.contracted
        self.items = self.contracted.roots  # rows of the junctions

    @property
    def order(self) -> Items:
        """The order of the graph, in which far ends are met, then the items."""
        return np.concatenate([self.graph.order, self.items])

    @property
    def panel(self) -> int:
        """A group; on a GPU the roots that the method sums at once."""
        batching = self.module.batching
        return self.batch if batching.concurrent else batching.block

    grain = panel

    @property
    def bytes_of_sums(self) -> int:
        return 8 * self.contracted.held

    def open(self, stop: StopFlag) -> Hand:
        contracted, flows = self.contracted, Flows.zeros(len(self.contracted.inside))
        groups = _Groups(contracted, self.row, flows, stop, self.batch)

        def run(_: Span, group: Items) -> JunctionSums:
            sums, junction = groups.run(group)
            return JunctionSums(sums, junction, tuple(array[at] for array, at in _owned(contracted.ways, flows, group)))

        return run

    def on(self, copied: Callable[[Graph], Graph]) -> Junctions:
        """Return the work itself: a state copies the chains to its device."""
        return self

    def add(self, total: Total, span: Span, sums: JunctionSums) -> Total:
        whole = np.zeros(self.contracted.held) if total.whole is None else total.whole.copy()
        held, group = Held.of(self.contracted, whole), self.items[span.place]
        for dependency, along in zip(sums.rows.dependency, sums.rows.edges, strict=True):
            np.add(held.dependency, dependency, out=held.dependency)
            np.add(held.along, along, out=held.along)
        held.junction[group] = sums.junction  # the same again where a group is run a second time
        for (array, at), flow in zip(_owned(self.contracted.ways, held.flows, group), sums.flows, strict=True):
            array[at] = flow
        return Total(span.last, whole)

    def finish(self, total: Total) -> Sums:
        """Make the sums of the bicomponent; NotContractible if they overflow float64."""
        with phase("finish"):
            contracted, asked = self.contracted, self.piece.request.sums
            held = Held.of(contracted, np.zeros(contracted.held) if total.whole is None else total.whole)
            sums = held.dependency, held.junction, held.along
            if not all(np.isfinite(array).all() for array in sums):
                raise NotContractible("the weights sum to more than float64 holds")
            return Sums(
                dependency=scores(contracted, held.flows, *sums) if "dependency" in asked else None,
                edges=edge_scores(contracted, held.flows, held.along) if "edges" in asked else None,
            )

    def pack(self, span: Span, sums: JunctionSums) -> Arrays:
        rows, junction, flows = sums
        return dict(rows) | {"junction": junction} | {f"flow/{number}": flow for number, flow in enumerate(flows)}

    def unpack(self, span: Span, read: Reads) -> JunctionSums:
        graph, group = self.graph, self.items[span.place]
        owned = _owned(self.contracted.ways, Flows.zeros(len(self.contracted.inside)), group)
        rows = Sums(dependency=read("dependency", (None, graph.n)), edges=read("edges", (None, graph.nnz)))
        flows = tuple(read(f"flow/{number}", array[at].shape) for number, (array, at) in enumerate(owned))
        return JunctionSums(rows, read("junction", (len(group),)), flows)

    def pack_total(self, total: Total) -> Arrays:
        return {"held": total.whole} if total.done else {}

    def unpack_total(self, done: int, read: Reads) -> Total:
        return Total(done, read("held", (self.contracted.held,)) if done else None)


class Held(NamedTuple):
    """The parts of the array that holds the total of junctions."""

    dependency: Floats  # of the rows of the contracted graph
    junction: Floats  # the demand that passes each junction as it leaves chains
    along: Floats  # of the edges of the contracted graph
    flows: Flows

    @classmethod
    def of(cls, contracted: Contracted, array: Floats) -> Held:
        graph, inside = contracted.graph, len(contracted.inside)
        ends = np.cumsum([graph.n, graph.n, graph.nnz, 2 * inside, 2 * inside, inside])
        dependency, junction, along, out, around, within, onward = np.split(array, ends)
        flows = Flows(out.reshape(2, inside), around.reshape(2, inside), within, onward)
        return cls(dependency, junction, along, flows)


def _owned(ways: Ways, flows: Flows, rows: Items) -> list[tuple[Floats, Any]]:
    """Return each array of flows, with the places that some junctions own.

    A row owns the demand that leaves a chain by it, as its first end also the demand within the chain. Vertices are
    numbered from the end that owns them.
    """
    halves = ways.halves[places_of(ways.first_halves, rows)]
    first, second = (places_of(ways.starts, halves[halves & 1 == side] >> 1) for side in (0, 1))
    of_first = (flows.around, (slice(None), first)), (flows.within, first), (flows.onward, first)
    return [(flows.out[0], first), (flows.out[1], second), *of_first]


class _Groups:
    """Sums of groups, in states of their own: some for the roots of a group, one for its far ends."""

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
        self._columns: Any = columns_on(method.device)(contracted.ways, flows, size, self._more)

    def run(self, group: Items) -> tuple[Sums, Floats]:
        """Search from a group, make M of its roots, and sweep backward with that as target weights.

        Return the rows of sums, and the demand that passes each junction as it leaves chains.
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

        The group and its far ends, many for a hub, are met in ascending order of rows, so that each root meets its own
        far ends in the same order, whatever the group.
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
        """Search from far ends outside the group, and sum the demand that leaves chains at the group for them."""
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
        """Sweep forward from some rows, and write their columns from number `first` on."""
        roots, class_sizes = self._contracted.graph.order[rows], self._contracted.class_sizes
        (levels,) = self._module.forward(state, roots)
        own = None if class_sizes is None else class_sizes[roots]
        largest = self._columns.write(first, self._module.paths(state, levels), own)
        if levels.overflowed.any() or largest > _LARGEST_COUNT:
            raise NotContractible("path counts are more than can be added, or a length is lost in the sum with others")
        return levels


def columns_on(device: str) -> Any:
    """Return the class of columns that works on a device."""
    if device == "cuda":
        from lagbc.reduce.device import columns

        return columns.Columns
    return Columns


class Slices(PieceWork):
    """Sums at the copies and entries of small bicomponents; each slice has copies and entries of its own."""

    panel = batch = 1  # a slice

    piece: Small

    def __init__(self, piece: Small, sweep: Sweep, *_: object) -> None:
        self.piece, self.sweep, self.hands = piece, sweep, sweep.threads
        self.items = np.arange(len(piece.blocks.ends))

    @property
    def order(self) -> Items:
        return self.piece.blocks.ends

    @property
    def bytes_of_sums(self) -> int:
        rows = self.piece.blocks.rows
        return 8 * (len(rows.sources) + len(rows.indices) * self.piece.edges) // max(1, len(self.items))

    def open(self, stop: StopFlag) -> Hand:
        """Return a hand with sums of its own, which looks at the flag before each slice."""
        blocks, sums = self.piece.blocks, self._zeros()
        blocks.prepare()

        def run(span: Span, _: Items) -> Sums:
            stop.check()
            of_slice = self._slice(sums, span)
            for _name, array in of_slice:
                array.fill(0)  # other slices have places between these
            blocks.add(span.first, sums.dependency, sums.edges)
            return of_slice.moved(np.copy)

        return run

    def _zeros(self) -> Sums:
        rows = self.piece.blocks.rows
        edges = np.zeros(len(rows.indices)) if self.piece.edges else None
        return Sums(dependency=np.zeros(len(rows.sources)), edges=edges)

    def _slice(self, sums: Sums, span: Span) -> Sums:
        """View the places of a slice."""
        copies, entries = self.piece.blocks.places(span.first)
        return Sums(dependency=sums.dependency[copies], edges=None if sums.edges is None else sums.edges[entries])

    def add(self, total: Total, span: Span, sums: Sums) -> Total:
        """Write the sums of a slice at its places, in the total itself; to write them again changes nothing."""
        whole = total.whole or self._zeros()
        for (_name, into), (_, array) in zip(self._slice(whole, span), sums, strict=True):
            into[:] = array
        return Total(span.last, whole)

    def finish(self, total: Total) -> Sums:
        """Return the sums of all copies and entries, 0 outside small bicomponents."""
        return total.whole or self._zeros()  # type: ignore[no-any-return]

    def pack(self, span: Span, sums: Sums) -> Arrays:
        return dict(sums)

    def unpack(self, span: Span, read: Reads) -> Sums:
        return _read_like(self._slice(self._zeros(), span), read)

    def pack_total(self, total: Total) -> Arrays:
        return dict(total.whole or ())

    def unpack_total(self, done: int, read: Reads) -> Total:
        return Total(done, _read_like(self._zeros(), read) if done else None)


def _read_like(like: Sums, read: Reads) -> Sums:
    return Sums(**{name: read(name, array.shape) for name, array in like})
