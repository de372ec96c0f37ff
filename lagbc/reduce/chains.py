"""Chains of vertices of degree 2: a bicomponent is contracted to its junctions, and their sums are spread over chains.

A *junction* is a vertex of degree 3 or more, or with several members (`Weighted.class_sizes`). A *chain* leads from a
junction over vertices of degree 2 to another junction; an edge between junctions is a chain with no vertex inside. The
contracted graph has the junctions as vertices, and for each chain an edge of its length. Only junctions are swept:

    demand   M(a, v) = sum of S(s) T(t) over the share of the shortest s-t paths that leave the chain of s by its end a
             and enter the chain of t by its end v; a junction s leaves by itself, a junction t is entered by itself
    sweep    from each root a with target weights M(a, .): dependencies of junctions, sums along contracted edges
    chains   a vertex inside a chain is passed by the demand along the whole chain, by the demand that vertices behind
             it send or receive, and by paths within the chain

Junctions are swept in groups. For each group `Columns` makes M, and the demand that leaves each vertex inside a chain
by either end; lagbc/native/kernels/reduce/streams.h has the kernels, `leave_chains` and `enter_chains`. They meet each
pair of vertices from both of its ends. M adds it once for each direction. Other sums have both directions together: by
symmetry as much demand enters as leaves. `lagbc.run.bicomponents` sums over groups.

Of parallel chains, a longer one never carries a path between junctions, and its edge is left out. If several are the
shortest, all but one have a *midpoint* in the contracted graph: a vertex without weights, about half way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError
from lagbc.graph.graph import Graph
from lagbc.methods.contract import Batching
from lagbc.native import core, csr
from lagbc.reduce.weighted import NotContractible, Weighted

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A group on a CPU has at most GROUP roots, a multiple of _BLOCK, and distances of at most so many bytes.
GROUP, _BLOCK = 256, 64
_GROUP_BYTES = 2**27
# A group on a GPU has a multiple of so many roots, and distances of at most so many bytes.
_GPU_BLOCK, _GPU_GROUP_BYTES = 256, 2**31
# The sums that junctions need of a method.
ADDED = frozenset({"dependency", "edges"})


class Ways(NamedTuple):
    """The chains with vertices inside, as compiled code reads them.

    Arrays of two rows have each chain from its first end on, and from its second end on. The vertices inside chain c
    have places ``starts[c]:starts[c + 1]``, in a row that begins at its end; the sums of the first 0, 1, ... of them
    begin at ``starts[c] + c``. Half 2 c + side is chain c seen from an end.
    """

    ends: Any  # int64 (2, chains): rows of the contracted graph
    lengths: Any  # float64 (chains,)
    starts: Any  # int64 (chains + 1,)
    in_hops: bool  # whether all edges are of length 1
    distances: Any  # float64 (2, inside): from the end
    sources: Any  # sources, targets: float64 (2, inside): S and T of the vertices inside
    targets: Any
    source_sums: Any  # source_sums, target_sums: float64 (2, inside + chains)
    target_sums: Any
    row_sources: Any  # row_sources, row_targets: float64 (rows,): S and T of the junctions, 0 for midpoints
    row_targets: Any
    halves: Any  # int64 (2 * chains,): sorted by their first row, and then by their last
    first_halves: Any  # int64 (rows + 1,)


class Flows(NamedTuple):
    """Demand, both directions together, at the vertices inside chains."""

    # float64 (2, inside): from each vertex by an end to junctions and other chains; each row begins at its own end
    out: Any
    # float64 (2, inside): from each vertex by an end to vertices of its own chain; both rows begin at the first end
    around: Any
    within: Any  # float64 (inside,): straight inside the chain, with the vertex in its interior
    onward: Any  # float64 (inside,): straight inside the chain, along the edge from the vertex to the next one

    @classmethod
    def zeros(cls, inside: int) -> Flows:
        """Return no demand at so many vertices."""
        return cls(np.zeros((2, inside)), np.zeros((2, inside)), np.zeros(inside), np.zeros(inside))


class JunctionWork(NamedTuple):
    """The work of summing a contracted bicomponent."""

    junctions: int  # roots, swept forward and backward
    edges: int  # undirected edges of the contracted graph
    far_columns: int  # far ends, swept forward only
    # pairs of an end of a chain and a junction or chain, and of a root and a chain; some nanoseconds each
    evaluations: int


def find_junctions(piece: Weighted) -> NDArray[np.bool_]:
    """Return a mask of the junctions: vertices of degree 3 or more, or with several members; in a cycle, any two."""
    are_junctions: NDArray[np.bool_] = piece.graph.out_degrees >= 3
    if piece.class_sizes is not None:
        are_junctions |= piece.class_sizes > 1
    are_junctions[np.flatnonzero(~are_junctions)[: max(0, 2 - np.count_nonzero(are_junctions))]] = True
    return are_junctions


def expect_work(piece: Weighted) -> JunctionWork:
    """Predict the work of a bicomponent, without contracting it; O(n).

    Parallel chains are taken to have edges of their own; far columns are left out.
    """
    graph, are_junctions = piece.graph, find_junctions(piece)
    inside = np.flatnonzero(~are_junctions)
    first = graph.indptr[inside]
    # A chain with k vertices inside has k - 1 edges between them.
    between = sum(int(np.count_nonzero(~are_junctions[graph.indices[first + k]])) for k in (0, 1)) // 2
    junctions, chains = graph.n - len(inside), len(inside) - between
    return JunctionWork(junctions, graph.nnz // 2 - len(inside), 0, count_evaluations(junctions, junctions, chains))


def count_evaluations(junctions: int, rows: int, chains: int) -> int:
    """Return `JunctionWork.evaluations` of so many junctions, rows of the contracted graph, and chains."""
    return 2 * chains * (rows + chains) + junctions * chains


@dataclass(slots=True, eq=False)
class Contracted:
    """A bicomponent contracted to its junctions.

    Rows are vertices of `graph` in sweep order. Chains with vertices inside come first; `Ways` has no others.
    """

    piece: Weighted
    graph: Graph  # junctions, and behind them midpoints; undirected, with lengths
    class_sizes: Floats | None  # (rows,): members of each vertex of `graph`, in matrix order
    vertices: Integers  # (rows,): the vertex of the piece of each row; -1 for a midpoint
    ways: Ways
    inside: Integers  # vertices of the piece inside chains, in the order of ``ways.starts``
    # (chains, 2): two edges of `graph`, whose sums add up to the demand along each chain; -1 if its edge is left out
    arcs: Integers
    steps: Integers  # edges of the piece along each chain, from its first end on, one chain after the other

    @property
    def roots(self) -> Integers:
        """The rows of the junctions."""
        return np.flatnonzero(self.vertices >= 0)

    @property
    def held(self) -> int:
        """The count of the numbers in the total of a run: of rows, of edges, and inside chains."""
        return 2 * self.graph.n + self.graph.nnz + 6 * len(self.inside)

    def far_ends(self, rows: Integers) -> Integers:
        """Return the other ends of the chains that begin at some rows, ascending, without these rows."""
        at = self.ways.halves[places_of(self.ways.first_halves, rows)]
        return np.setdiff1d(self.ways.ends[1 - (at & 1), at >> 1], rows)

    def work(self, size: int) -> JunctionWork:
        """Count the work of a run in groups of this size."""
        roots, chains = self.roots, len(self.ways.lengths)
        groups = (roots[first : first + size] for first in range(0, len(roots), size))
        return JunctionWork(
            junctions=len(roots),
            edges=self.graph.nnz // 2,
            far_columns=sum(len(self.far_ends(group)) for group in groups),
            evaluations=count_evaluations(len(roots), len(self.vertices), chains),
        )


def contract(piece: Weighted) -> Contracted:
    """Contract a 2-connected undirected graph of at least 3 vertices to its junctions; O(n + nnz log nnz).

    Sums of lengths are rounded, so that ties are exact only if sums are, as of integers. Raises ValueError for another
    graph, if walks along its chains show it, and NotContractible if a length is lost in the sum of a chain, or weights
    are too far apart.
    """
    graph, n = piece.graph, piece.graph.n
    degrees = graph.out_degrees
    if graph.directed or n < 3 or degrees.min() < 2:
        raise InvalidValueError("chains are contracted in one 2-connected undirected graph of at least 3 vertices")
    for weights in (piece.sources, piece.targets):  # products of two are normal numbers, with room for sums and shares
        positive = weights[weights > 0]
        if len(positive) and not 2.0**-200 <= positive.min() <= positive.max() <= 2.0**200:
            raise NotContractible("weights of vertices are too large, too small or too far apart")
    is_junction = find_junctions(piece)
    junctions = np.flatnonzero(is_junction)
    chains = _find_chains(graph, junctions, is_junction)
    graph, arcs, midpoints = _contracted_graph(piece, chains, len(junctions))
    class_sizes = None
    if piece.class_sizes is not None:
        class_sizes = np.concatenate([piece.class_sizes[junctions], np.ones(midpoints)])
    vertices = np.concatenate([junctions, np.full(midpoints, -1)])[graph.order]
    ends = graph.position[chains.ends]
    order = np.lexsort((*ends.T[::-1], chains.counts == 0))
    chains, arcs = chains.in_order(order), arcs[order]
    return Contracted(
        piece=piece,
        graph=graph,
        class_sizes=class_sizes,
        vertices=vertices,
        ways=_ways(piece, chains, ends[order], vertices),
        inside=chains.inside,
        arcs=arcs,
        steps=chains.steps,
    )


def scores(contracted: Contracted, flows: Flows, dependency: Floats, junction: Floats, edges: Floats) -> Floats:
    """Return F of the piece.

    `dependency` and `edges` are the sums over all roots at the vertices and edges of the contracted graph, `junction`
    the demand that passes each row as it leaves chains.
    """
    ways = contracted.ways
    rows = dependency[contracted.graph.order] + junction
    around = np.concatenate([[0.0], np.cumsum(flows.around[0])])
    for ends in ways.ends:
        rows += np.bincount(ends, np.diff(around[ways.starts]), len(rows))
    passed, _ = _spread(contracted, flows, edges)
    of_piece = np.empty(contracted.piece.graph.n)
    of_piece[contracted.vertices[contracted.roots]] = rows[contracted.roots]
    of_piece[contracted.inside] = passed
    return of_piece


def edge_scores(contracted: Contracted, flows: Flows, edges: Floats) -> Floats:
    """Return E of the piece, half of it in each direction, in the order of its edges; arguments as in `scores`."""
    along = _along(contracted, edges)
    _, parts = _spread(contracted, flows, edges)
    halves = np.concatenate([parts, along[len(contracted.ways.lengths) :]]) / 2
    of_piece = np.empty(contracted.piece.graph.nnz)
    of_piece[contracted.steps] = halves
    against = np.empty(len(of_piece), np.int64)  # the place of the other direction of each edge
    against[np.argsort(contracted.piece.graph.indices, kind="stable")] = np.arange(len(against))
    of_piece[against[contracted.steps]] = halves
    return of_piece


def _along(contracted: Contracted, edges: Floats) -> Floats:
    """Return the demand along each whole chain, both directions together."""
    return np.where(contracted.arcs >= 0, edges[contracted.arcs], 0.0).sum(axis=1)


def _spread(contracted: Contracted, flows: Flows, edges: Floats) -> tuple[Floats, Floats]:
    """Return the demand through each vertex inside chains, and along each edge of these chains."""
    chains, inside = len(contracted.ways.lengths), len(contracted.inside)
    passed, parts = np.empty(inside), np.empty(inside + chains)
    core.spread_flows(contracted.ways, flows, _along(contracted, edges)[:chains], passed, parts)
    return passed, parts


class _Chains(NamedTuple):
    """Chains in the order in which walks find them."""

    ends: Integers  # (chains, 2): numbers of junctions
    lengths: Floats
    counts: Integers  # of vertices inside
    inside: Integers  # vertices inside, chain by chain
    distances: Floats  # of these from the first end
    steps: Integers  # edges, chain by chain

    def in_order(self, order: Integers) -> _Chains:
        """Return the chains in another order."""
        starts = np.concatenate([[0], np.cumsum(self.counts)])
        inside, steps = places_of(starts, order), places_of(starts + np.arange(len(starts)), order)
        return _Chains(
            self.ends[order],
            self.lengths[order],
            self.counts[order],
            self.inside[inside],
            self.distances[inside],
            self.steps[steps],
        )


def places_of(starts: Integers, rows: Integers) -> Integers:
    """Return the places of some rows, one row after the other; row r has the places ``starts[r]:starts[r + 1]``."""
    counts = starts[rows + 1] - starts[rows]
    begins = np.cumsum(counts) - counts
    return np.arange(counts.sum()) + np.repeat(starts[rows] - begins, counts)


def _find_chains(graph: Graph, junctions: Integers, is_junction: NDArray[np.bool_]) -> _Chains:
    """Walk from each junction along each of its edges to the next junction; keep a chain from its smaller end."""
    n, chains = graph.n, int(graph.out_degrees[junctions].sum()) // 2
    inside = n - len(junctions)
    found = _Chains(
        ends=np.empty((chains, 2), np.int64),
        lengths=np.empty(chains),
        counts=np.empty(chains, np.int64),
        inside=np.empty(inside, np.int64),
        distances=np.empty(inside),
        steps=np.empty(inside + chains, np.int64),
    )
    number = np.full(n, -1)
    number[junctions] = np.arange(len(junctions))
    reached = core.walk_chains(csr(*graph.csr), number, *found)
    if reached != inside:
        raise InvalidValueError(
            "the graph is not 2-connected: chains do not reach all vertices, or end where they begin"
        )
    return found


def _contracted_graph(piece: Weighted, chains: _Chains, junctions: int) -> tuple[Graph, Integers, int]:
    """Make the graph of junctions and midpoints; return `Contracted.arcs`, and the count of midpoints, too."""
    ends, lengths = chains.ends, chains.lengths
    order = np.lexsort((chains.counts, lengths, ends[:, 1], ends[:, 0]))
    parallel = np.zeros(len(order), np.bool_)
    parallel[1:] = (ends[order[1:]] == ends[order[:-1]]).all(axis=1)
    first = np.maximum.accumulate(np.where(parallel, 0, np.arange(len(order))))
    shortest = lengths[order] == lengths[order[first]]
    alone, doubled = order[~parallel], order[parallel & shortest]
    middle = junctions + np.arange(len(doubled))
    # Each chain has first one direction, then the other.
    tails = np.concatenate([ends[alone].ravel(), ends[doubled].ravel(), np.repeat(middle, 2)])
    heads = np.concatenate([ends[alone][:, ::-1].ravel(), np.repeat(middle, 2), ends[doubled].ravel()])
    # Whole lengths, here 2 or more, stay whole.
    half = np.where(lengths[doubled] < 2, lengths[doubled] / 2, np.floor(lengths[doubled] / 2))
    halves = np.stack([half, lengths[doubled] - half], axis=1).ravel()
    along = np.concatenate([np.repeat(lengths[alone], 2), halves, halves])
    rows = junctions + len(doubled)
    by_row = np.lexsort((heads, tails))
    places = np.empty(len(by_row), np.int64)
    places[by_row] = np.arange(len(by_row))
    arcs = np.full((len(order), 2), -1)
    arcs[np.concatenate([alone, doubled])] = places[: 2 * (len(alone) + len(doubled))].reshape(-1, 2)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=rows))]).astype(np.int64)
    indices = heads[by_row].astype(piece.graph.indices.dtype)
    return Graph(indptr, indices, directed=False, weights=along[by_row]), arcs, len(doubled)


def _ways(piece: Weighted, chains: _Chains, ends: Integers, vertices: Integers) -> Ways:
    """Make `Ways` of chains in their final order."""
    count = int(np.count_nonzero(chains.counts))
    counts, ends, lengths = chains.counts[:count], ends[:count], chains.lengths[:count]
    starts = np.concatenate([[0], np.cumsum(counts)])
    chain = np.repeat(np.arange(count), counts)
    mirrored = starts[chain] + starts[chain + 1] - 1 - np.arange(starts[-1])
    from_first = chains.distances
    from_second = (lengths[chain] - from_first)[mirrored]
    inner = np.diff(chain) == 0
    if any((np.diff(row)[inner] <= 0).any() or (row <= 0).any() for row in (from_first, from_second)):
        raise NotContractible("a length is lost in the sum of those before it")

    def both_ways(weights: Floats) -> tuple[Floats, Floats]:
        """Return the weights of the vertices inside, and their sums from each end on."""
        of_inside = np.stack([weights[chains.inside], weights[chains.inside][mirrored]])
        sums = np.empty((2, starts[-1] + count))
        core.sum_inside(starts, of_inside, sums)
        return of_inside, sums

    sources, source_sums = both_ways(piece.sources)
    targets, target_sums = both_ways(piece.targets)
    halves = np.lexsort((ends[:, ::-1].ravel(), ends.ravel()))
    of_rows = np.where(vertices >= 0, (piece.sources[vertices], piece.targets[vertices]), 0.0)
    return Ways(
        ends=np.ascontiguousarray(ends.T),
        lengths=lengths,
        starts=starts,
        in_hops=piece.graph.weights is None,
        distances=np.stack([from_first, from_second]),
        sources=sources,
        targets=targets,
        source_sums=source_sums,
        target_sums=target_sums,
        row_sources=of_rows[0].copy(),
        row_targets=of_rows[1].copy(),
        halves=halves,
        first_halves=np.searchsorted(ends.ravel()[halves], np.arange(len(vertices) + 1)),
    )


# ---- Groups of junctions that are swept together


def group_size(contracted: Contracted, device: str = "cpu") -> int:
    """Return the count of the roots of a group, by the graph alone; on a GPU groups are about equal."""
    if device == "cuda":
        roots = len(contracted.roots)
        groups = -(-8 * contracted.graph.n * roots // _GPU_GROUP_BYTES)
        return -(-roots // (groups * _GPU_BLOCK)) * _GPU_BLOCK
    blocks = min(GROUP, _GROUP_BYTES // (8 * contracted.graph.n)) // _BLOCK
    return _BLOCK * max(1, blocks)


def widths(batching: Batching, size: int) -> tuple[int, int]:
    """Return how many roots of a group are swept at a time, and how many far ends."""
    return (batching.block, batching.block) if batching.concurrent else (size, batching.round(-(-size // 4)))


class Columns:
    """Columns of distances and path counts from the roots of a group and its far ends, and M of the group.

    A column has an entry for each row of the contracted graph. First are the columns of the group, at most `size`, then
    the columns of far ends, at most `more`. For each group the methods are called in order:

        begin     with its roots
        write     with columns of the group, and of far ends
        leave     with the group and all its far ends, in ascending order of rows, to sum the demand that leaves chains
        enter     to finish M
        weights   for M as target weights of a sweep

    Each root adds its chains in the order of their far ends, so that M has the same bits whatever the groups. Sums of
    chains are written to `flows`.
    """

    def __init__(self, ways: Ways, flows: Flows, size: int, more: int) -> None:
        self._ways, self._flows = ways, flows
        rows, chains = len(ways.row_sources), len(ways.lengths)
        self._dist = np.empty((size + more, rows), np.int32 if ways.in_hops else np.float64)
        self._sigma = np.empty((size + more, rows))
        self._demand, self._through = np.empty((size, rows)), np.empty((size, chains))
        self._weights = np.empty(0)

    def begin(self, group: Integers) -> None:
        """Begin a group: M has the demand from its roots to junctions."""
        self._group, self._junction = group, np.zeros(len(group))
        demand = self._demand[: len(group)]
        np.multiply.outer(self._ways.row_sources[group], self._ways.row_targets, out=demand)
        demand[np.arange(len(group)), group] = 0
        self._through.fill(0)

    def write(self, first: int, paths: tuple[Any, Any], class_sizes: Floats | None) -> float:
        """Write columns from number `first` on, of dist and sigma (rows, columns); return the largest path count.

        `class_sizes` are the members of the roots: a path that leaves a chain by a root counts once for each.
        """
        dist, sigma = (columns[first : first + paths[0].shape[1]] for columns in (self._dist, self._sigma))
        core.turn_back(paths[0], dist)
        core.turn_back(paths[1], sigma)
        if class_sizes is not None:
            sigma *= class_sizes[:, None]
        return float(sigma.max())

    def leave(self, rows: Integers, first: int, stop: NDArray[np.uint8]) -> None:
        """Sum the demand that leaves chains at the roots for far ends `rows`, whose columns begin at number `first`."""
        column = np.full(len(self._ways.row_sources), -1)
        column[rows] = first + np.arange(len(rows))
        found, made = (self._dist, self._sigma), (self._demand, self._through, self._junction)
        core.leave_chains(self._ways, self._flows, self._group, *found, column, *made, stop)

    def enter(self, stop: NDArray[np.uint8]) -> Floats:
        """Finish M; return the demand that passes each root as it leaves chains."""
        made = self._demand, self._through, self._junction
        core.enter_chains(self._ways, self._group, self._dist, self._sigma, *made, stop)
        return self._junction

    def weights(self, first: int, count: int) -> Any:
        """Return M of `count` roots as target weights (rows, count), valid until the next call."""
        rows = self._demand.shape[1]
        if len(self._weights) < count * rows:
            self._weights = np.empty(count * rows)
        weights = self._weights[: count * rows].reshape(rows, count)
        core.turn(self._demand[first : first + count], weights)
        return weights

    def save(self) -> None:
        """Bring `flows` up to date on the host, where they are here."""
