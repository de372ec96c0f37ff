"""The loop of the traversals over the roots of a batch: blocks of roots, each searched and summed by one compiled call.

The search of a root and its sums follow each other while its trail is in the cache. So `forward` makes both, block by
block, and `backward` adds what a block has summed to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import Batching, Blocks, Interrupted, SweepPlan
from lagbc.methods.cpu.in_order import add_in_order
from lagbc.methods.cpu.traversal.dependencies import Totals, Trail
from lagbc.methods.cpu.traversal.near import Near, room, room_bytes, take
from lagbc.methods.sums import PATH_SUMS, SparseSums, Sums
from lagbc.methods.targets import columns_into_range

# Roots that are summed together, by one thread. 16 let 256 roots keep 16 threads at work; 64 took up to 10 % less time
# with one thread, but a third less where roots reach little, as a block costs passes over all vertices. Another number
# is another order of the sums. Results: cpu_traversal.md.
BLOCK = 16
batching = Batching(block=BLOCK, auto=64, concurrent=True)
# Within bounds a root that reaches nothing took 1.4 microseconds in blocks of 256 and 1.1 in blocks of 1024, one that
# reaches 50 vertices about 3; more keep fewer threads at work.
blocks = Blocks(most=1024, least=BLOCK, enough=64)


@dataclass(frozen=True, eq=False)
class Found:
    """What a kernel says of each root of a block.

    Attributes
    ----------
    reached : ndarray of int64
        How many vertices, the root among them; 0 if it is absent.
    depth : ndarray of float64
        How far the farthest of them is; 0 if the root is absent or overflowed.
    overflowed : ndarray of bool
    """

    reached: NDArray[np.int64]
    depth: NDArray[np.float64]
    overflowed: NDArray[np.bool_]

    @classmethod
    def room(cls, roots: int) -> Found:
        """Make it for so many roots, all of them absent."""
        return cls(np.zeros(roots, np.int64), np.zeros(roots), np.zeros(roots, np.bool_))


@dataclass(eq=False)
class State:
    """One worker's arrays; vertices are numbered in sweep order.

    Attributes
    ----------
    graph : Graph
        In the caller's order.
    plan : SweepPlan
    kernel : function
        Compiled. ``kernel(*search, roots, omega, members, times, limit, endpoints, trail, totals, reached, depth,
        overflowed, stop, radius, near)`` searches each of the roots (int64, in sweep order; -1 is an absent one) and
        adds it to the totals, if no path count is above the limit. `omega` has a row of target weights for each root,
        one for all, or none; `members` is that of this state; `times` says how often each root counts; then come those
        of `Found`. With `near`, that of this state, it adds to this in place of the totals. Nothing beyond the radius
        is searched. It
        returns whether it finished: False if it saw the stop flag, which it polls once a level,
        and then all arrays may be left in disorder.
    search : tuple
        What it searches, and its own arrays.
    trail : Trail
    totals : Totals
        Of the block at hand.
    omega : ndarray of float64, shape (1, n) or (0, n)
        Target weights of the plan.
    members : ndarray of float64, shape (n,), or None
        How many vertices each stands for. Where it is None, kernels are compiled without what belongs to it.
    near : Near or None
        Room for what is summed within the bounds of the plan, if it has some.
    """

    graph: Graph
    plan: SweepPlan
    kernel: Callable[..., bool]
    search: tuple[Any, ...]
    trail: Trail
    totals: Totals
    omega: NDArray[np.float64]
    members: NDArray[np.float64] | None
    near: Near | None


@dataclass(frozen=True, eq=False)
class Levels:
    """A block of roots, searched and summed.

    Attributes
    ----------
    roots : ndarray of int64
    first : int
        Place of the first of them in the batch.
    found : Found
    """

    roots: NDArray[np.int64]
    first: int
    found: Found

    @property
    def places(self) -> NDArray[np.int64]:
        """Of all roots of the block."""
        return np.arange(self.first, self.first + len(self.roots))

    @property
    def depth(self) -> int:
        """How far the farthest vertex is from its root, rounded down: its level, or with lengths the units to it."""
        return int(self.found.depth.max(initial=0))

    @property
    def overflowed(self) -> NDArray[np.bool_]:
        """Which of them left the range of float64."""
        return self.found.overflowed


def trail_bytes(graph: Graph, plan: SweepPlan, edges: int) -> int:
    """Return the bytes of what a `State` holds but its search, with room for so many tight edges of a root."""
    n, nnz, index = graph.n, graph.nnz, graph.indices.dtype.itemsize
    has_paths, has_stress, has_edges = bool(plan.sums & PATH_SUMS), "stress" in plan.sums, "edges" in plan.sums
    trail = n * (index + 8 * 4) + edges * (2 * index + 8 * has_edges)
    distances = len(plan.sums - PATH_SUMS - {"depth"})
    totals = 8 * (n * (has_paths + has_stress + distances) + nnz * has_edges)
    members = 2 * n * (plan.members is not None)  # by vertex and by place
    if plan.bounds is not None:
        totals = room_bytes(graph, plan, edges)
    return trail + totals + 8 * (n * (plan.omega is not None) + members)


def one_way(graph: Graph) -> int:
    """Count the edges that can be tight for one root: of an edge in both directions, the one that leads away."""
    return graph.nnz // 2 if graph.transpose is graph else graph.nnz


def prepare(graph: Graph, plan: SweepPlan, kernel: Callable[..., bool], search: tuple[Any, ...], edges: int) -> State:
    """Allocate one worker's arrays, besides those of its search, with room for so many tight edges of a root."""
    n, nnz, asked = graph.n, graph.nnz, plan.sums
    of_blocks = asked if plan.bounds is None else frozenset[str]()
    number = unsigned(graph.indices).dtype
    trail = Trail(
        order=np.empty(n, number),
        dist=np.empty(n),
        sigma=np.empty(n),
        tails=np.empty(edges, number),
        heads=np.empty(edges, number),
        edges=np.empty(edges if "edges" in asked else 0, np.uint64),
        own=np.empty(n),
        onward=np.empty(n),
        members=np.empty(0 if plan.members is None else n),
    )
    totals = Totals(
        dependency=np.empty(n if of_blocks & PATH_SUMS else 0),
        edges=np.empty(nnz if "edges" in of_blocks else 0),
        **{name: np.empty(n if name in of_blocks else 0) for name in ("stress", "reached", "distance", "inverse")},
    )
    omega = np.empty((0, n)) if plan.omega is None else plan.omega[None, graph.order]
    members = None if plan.members is None else plan.members[graph.order]
    near = None if plan.bounds is None else room(graph, plan, blocks.most, edges)
    return State(graph, plan, kernel, search, trail, totals, omega, members, near)


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Search and sum the roots of a batch, a block at a time; the sums stay in the state."""
    for first in range(0, len(roots), BLOCK):
        block = roots[first : first + BLOCK]
        yield Levels(block, first, _run(state, block, state.omega, state.totals))


def backward(state: State, levels: Levels, sums: Sums, omega: NDArray[np.float64] | None = None) -> None:
    """Add what the roots of a block sum to, to their row of `sums`.

    Target weights by column are of another sum, so that the block is swept once more.
    """
    state.plan.stop.check()
    if omega is not None:
        scaled, times = columns_into_range(omega, _multiplicities(state.plan, levels.roots), "float64")
        _run(state, levels.roots, np.ascontiguousarray(scaled.T, np.float64), state.totals, times)
    row = levels.first // BLOCK
    for name, total in sums:
        if name == "depth":
            total[levels.places] += levels.found.depth
        else:
            order = state.graph.edge_order if name == "edges" else state.graph.order
            add_in_order(total[row], getattr(state.totals, name), order)


def sum_within(state: State, blocks: Sequence[NDArray[np.int64]]) -> Iterator[tuple[SparseSums, NDArray[np.bool_]]]:
    """Sum blocks of roots within the bounds of the plan."""
    assert state.near is not None
    for roots in blocks:
        found = _run(state, roots, state.omega, state.totals)
        yield take(state.near, state.graph, state.plan, roots), found.overflowed


def paths(state: State, levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return dist and sigma of the roots, shape (n, columns), rows being vertices in sweep order.

    dist is inf where a vertex is not reached, and sigma is 0. They are copies. Each root is searched once more.
    """
    shape = state.graph.n, len(levels.roots)
    dist, sigma = np.full(shape, np.inf), np.zeros(shape)
    nothing = Totals(*(np.empty(0) for _ in Totals._fields))
    for k in range(len(levels.roots)):
        found = _run(state, levels.roots[k : k + 1], state.omega, nothing)
        count = found.reached[0]
        order = state.trail.order[:count]
        dist[order, k], sigma[order, k] = state.trail.dist[:count], state.trail.sigma[:count]
    return dist, sigma


def unsigned(integers: NDArray[Any]) -> NDArray[Any]:
    """View integers, none of them negative, as unsigned ones; see `dependencies`."""
    return integers.view(f"u{integers.dtype.itemsize}")


def _multiplicities(plan: SweepPlan, roots: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.ones(len(roots)) if plan.multiplicity is None else plan.multiplicity[roots]


def _run(
    state: State,
    roots: NDArray[np.int64],
    omega: NDArray[np.float64],
    totals: Totals,
    times: NDArray[np.float64] | None = None,
) -> Found:
    """Search some roots, and sum them into totals, from zero; `times` stands in for the plan's multiplicities."""
    plan, found = state.plan, Found.room(len(roots))
    for total in totals:
        total.fill(0)
    finished = state.kernel(
        *state.search,
        np.where(roots < 0, -1, state.graph.position[roots]),
        omega,
        state.members,
        _multiplicities(plan, roots) if times is None else times,
        plan.sigma_limit if plan.sums & PATH_SUMS else np.inf,
        plan.endpoints,
        state.trail,
        totals,
        found.reached,
        found.depth,
        found.overflowed,
        plan.stop.value,
        plan.radius,
        state.near,
    )
    if not finished:
        raise Interrupted
    return found
