"""A graph dealt over a grid of ranks: each rank owns a piece of the vertices, and has a block of the edges.

Vertices are lined up by falling degree and dealt to the pieces back and forth, so that all pieces have about as many
vertices and edges. Rank (i, j) owns piece i * columns + j. The rows of its block are the pieces of grid row i, the
columns are the pieces of grid column j: the block has the edges from the latter to the former.

Trees of an undirected graph may be folded first. A vertex of degree one is a leaf; leaves are taken off until there are
none, and the rest is the core. The neighbour of a leaf is the exclusive or of the numbers of its neighbours, as it has
one, so that each round needs arrays of vertices alone.

Without a vertex v of a tree its component falls into branches b. Let the component have S roots and T targets, branch b
S_b and T_b, and v itself s and t. Then the pairs with v on their path, but not at an end, are

    (S - s) (T - t) - sum over b of S_b T_b

For a vertex of the core the pairs of two other branches of the core are left to the sweep, in which each vertex of the
core counts as often as its tree has roots and targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError, OutOfRangeError
from lagbc.graph.csr import index_type
from lagbc.graph.graph import Graph, Outline
from lagbc.graph.host import rows_of, transposed, weak_components
from lagbc.grid.communicator import Line, all_gather, now
from lagbc.methods.block import NOTHING, BlockSize, Way
from lagbc.native import core

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
# Bytes that a rank holds per vertex of the whole graph: degrees, order, numbers, positions. Bytes while the graph is
# dealt, per vertex (sorts, components beside trees), and per entry of a block (keys in an array that grows).
_HELD_PER_VERTEX, _DEALING_PER_VERTEX, _DEALING_PER_ENTRY = 80, 128, 40
# Edges that a rank sends at a time.
_AT_ONCE = 2**16
# Each pair of vertices has a key of 63 bits.
MOST_VERTICES = 3_037_000_499


class Shape(NamedTuple):
    """Rows and columns of a grid."""

    rows: int
    columns: int

    @property
    def size(self) -> int:
        """Ranks of the grid."""
        return self.rows * self.columns

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}"


def size_of_block(shape: Shape, n: int) -> BlockSize:
    """Return the size of the blocks of a graph with n vertices."""
    return BlockSize(32 * max(1, -(-n // (32 * shape.size))), shape.rows, shape.columns)


class Deal(NamedTuple):
    """The rank that owns each vertex, by an order of the vertices."""

    shape: Shape
    order: Ints  # (n,): the vertices as they are dealt

    @property
    def size(self) -> BlockSize:
        """The size of the block of each rank."""
        return size_of_block(self.shape, len(self.order))

    @property
    def length(self) -> int:
        """The places of a piece, a multiple of 32."""
        return self.size.length

    @property
    def numbers(self) -> Ints:
        """The number of each vertex: piece * length + place. Pieces take turns from first to last, then backwards."""
        turn, piece = np.divmod(np.arange(len(self.order)), self.shape.size)
        piece = np.where(turn % 2, self.shape.size - 1 - piece, piece)
        numbers = np.empty_like(self.order)
        numbers[self.order] = piece * self.length + turn
        return numbers


@dataclass(slots=True, eq=False)
class Block:
    """Edges of a rank in rows: these are vertices of its grid row, columns are vertices of its grid column."""

    indptr: Ints
    indices: NDArray[np.int32]

    @property
    def nnz(self) -> int:
        return len(self.indices)

    def transposed(self, columns: int) -> Block:
        """Return the block with rows and columns exchanged."""
        return Block(*transposed(columns, self.indptr, self.indices, None)[:2])

    def beside(self, other: Block) -> Block:
        """Return the block with the entries of both; an entry that both have is there twice."""
        places = np.argsort(np.concatenate([rows_of(one.indptr, one.indices) for one in (self, other)]), kind="stable")
        return Block(self.indptr + other.indptr, np.concatenate([self.indices, other.indices])[places])


class Blocks(NamedTuple):
    """The blocks of a rank."""

    into: Block  # rows are heads, columns tails
    out: Block  # rows are tails, columns heads
    reach: Block  # the transpose of `into`

    def bytes(self, way: Way) -> int:
        """Count the bytes of the blocks, and of the blocks that `swept` makes of them."""
        own = sum(block.indptr.nbytes + block.indices.nbytes for block in {*self})
        if way == "along":
            return own
        if way == "against":
            return own + self.reach.indptr.nbytes + self.out.indices.nbytes
        both = self.into.indices.nbytes + self.out.indices.nbytes
        return own + self.into.indptr.nbytes + self.reach.indptr.nbytes + 2 * both

    @classmethod
    def of(cls, into: Block, out: Block, columns: int) -> Blocks:
        """Make `reach` for blocks of so many columns."""
        return cls(into, out, into.transposed(columns))

    def swept(self, way: Way) -> Blocks:
        """Return the blocks for a sweep along the edges, against them, or either way."""
        if way == "along":
            return self
        into = self.out if way == "against" else self.into.beside(self.out)
        return Blocks.of(into, self.into if way == "against" else into, len(self.reach.indptr) - 1)


class Trees(NamedTuple):
    """Trees that were folded."""

    rounds: tuple[Ints, ...]  # the leaves taken off in each round
    parent: Ints  # (n,): the neighbour of each leaf as it was taken off; a vertex of the core is its own parent
    component: Ints  # (n,): the least vertex of the core in the component of each vertex

    @property
    def is_core(self) -> NDArray[np.bool_]:
        return self.parent == np.arange(len(self.parent))

    def folded(self, weights: Floats) -> Floats:
        """Return for each vertex the sum of the weights of itself and of all that hangs from it."""
        sums = weights.copy()
        for leaves in self.rounds:
            np.add.at(sums, self.parent[leaves], sums[leaves])
        return sums

    def through(self, roots: Floats, targets: Floats) -> Floats:
        """Return for each vertex the pairs with a path through it, without the pairs left to the sweep."""
        inner = self.folded(roots), self.folded(targets)  # of the vertex, and all that hangs from it
        branches, core = np.zeros(len(roots)), self.is_core
        for leaves in self.rounds:
            np.add.at(branches, self.parent[leaves], inner[0][leaves] * inner[1][leaves])
        outer_roots, outer_targets = (
            np.bincount(self.component[core], weights[core], len(roots))[self.component] - weights for weights in inner
        )
        hung_roots, hung_targets = inner[0] - roots, inner[1] - targets
        # (S - s) (T - t) - outer_roots outer_targets, without its cancellation
        return outer_roots * hung_targets + hung_roots * outer_targets + (hung_roots * hung_targets - branches)


@dataclass(eq=False, repr=False)
class Dealt(Outline):
    """A dealt graph, as a rank has it: the degrees of all vertices, and the edges of one block.

    It stands for a `Graph` in plans and files, which read `indptr`, from the degrees, and `indices`, here a digest of
    the edges and the shape of the grid.
    """

    indptr: Ints
    indices: Ints
    directed: bool
    deal: Deal
    blocks: Blocks
    entering: Ints  # edges that enter each vertex
    is_searched: NDArray[np.bool_]  # whether an edge of the blocks leaves each vertex
    trees: Trees | None
    hub: int  # the vertex from which `depth` is searched; -1 if nobody asks for it
    is_checked = True
    way: Way = "along"  # how the edges of the blocks are swept
    grids: Any = None  # the `Grids` that sweep it

    @property
    def n(self) -> int:
        return len(self.order)

    @property
    def nnz(self) -> int:
        """The count of edges, with folded ones; an undirected edge counts twice."""
        return int(self.indptr[-1])

    @property
    def order(self) -> Ints:
        return self.deal.order

    @property
    def order_in_words(self) -> str:
        return "vertices are dealt by falling degree, so that each rank has as many edges"

    @property
    def out_degrees(self) -> Ints:
        return np.diff(self.indptr)

    @property
    def in_degrees(self) -> Ints:
        return self.entering

    @property
    def transpose(self) -> Dealt:
        """The graph with every edge reversed, in the same blocks; itself if it is undirected."""
        if not self.directed:
            return self
        return replace(
            self,
            indptr=_pointers(self.entering),
            entering=self.out_degrees,
            is_searched=self.entering > 0,
            way="along" if self.way == "against" else "against",
        )

    @property
    def symmetric(self) -> Dealt:
        """The graph with every edge in both directions, in the same blocks; itself if it is undirected."""
        return replace(self, way="either") if self.directed else self

    @cached_property
    def depth(self) -> int:
        """A lower bound of the diameter, equal to `Graph.depth` of the same graph."""
        return self.grids.depth_of(self) if self.nnz else 0

    has_high_diameter = Graph.has_high_diameter  # by `depth` and `n`

    @property
    def components(self) -> Any:
        """ValueError: they are not known."""
        raise InvalidValueError(
            "an estimate with endpoints counts components, which are not known for a graph that is dealt over a grid; "
            "leave out endpoints, or grid="
        )

    @property
    def on_host(self) -> Any:
        """OverflowError: there is no such graph, and only sums in wider numbers ask for it."""
        raise OutOfRangeError(
            "weights of vertices are too far apart for float64, and a graph that is dealt over a grid has no wider "
            "numbers: scale them, or leave out grid="
        )

    def bytes_of_rank(self, *, on_gpu: bool) -> tuple[int, int]:
        """Return the bytes that this rank holds in the memory in which it sweeps, and the peak there while dealing."""
        blocks = self.blocks.bytes(self.way)
        if on_gpu:
            return blocks, blocks  # all else is on the host
        held = blocks + _HELD_PER_VERTEX * self.n
        return held, max(held, bytes_of_dealing(self.n, self.blocks.into.nnz))


def bytes_of_blocks(size: BlockSize, entries: int, *, directed: bool) -> int:
    """Return the bytes of `Blocks` with so many entries in each."""
    rows, columns = size.across * size.length + 1, size.down * size.length + 1
    return (1 + directed) * (8 * rows + 4 * entries) + 8 * columns + 4 * entries


def bytes_of_dealing(n: int, entries: int) -> int:
    """Bound the bytes of a rank while a graph of n vertices is dealt, with so many entries in its block."""
    return _DEALING_PER_VERTEX * n + _DEALING_PER_ENTRY * entries


class Edges(NamedTuple):
    """Edges of a rank, as int32 or int64."""

    tails: NDArray[Any]
    heads: NDArray[Any]

    @classmethod
    def of(cls, part: Graph | None) -> Edges:
        """Take the edges of a graph; None is no edge."""
        if part is None:
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))
        host = part.on_host
        return cls(host.rows, host.indices)

    def some(self, first: int, last: int) -> tuple[Ints, Ints]:
        return self.tails[first:last].astype(np.int64), self.heads[first:last].astype(np.int64)


def deal_graph(
    line: Line,
    part: Graph | None,
    n: int,
    shape: Shape,
    directed: bool,
    *,
    folds: bool = False,
    finds_hub: bool = False,
) -> Dealt:
    """Deal a graph over grids of a shape; each rank passes a part of the edges, and an edge in two parts counts once.

    With `folds` the trees of an undirected graph are folded; `finds_hub` prepares `Dealt.depth`.
    """
    edges = distinct(line, Edges.of(part), n, directed=directed)
    del part
    out, into = (line.combine(np.bincount(ends, minlength=n), "sum") for ends in (edges.tails, edges.heads))
    degrees, trees = out + into, None
    entering, leaving = (into, out) if directed else (degrees, degrees)
    hub = _hub(line, edges, degrees - _mutual(line, edges, n) if directed else degrees) if finds_hub and n else -1
    digest = np.concatenate([line.combine(_digest(edges), "sum"), shape])
    if folds and not directed:
        trees, kept, degrees = fold(line, edges.tails, edges.heads, degrees)
        edges = Edges(edges.tails[kept], edges.heads[kept])
    deal = Deal(shape, np.argsort(-degrees, kind="stable"))
    numbers = deal.numbers.astype(index_type(shape.size * deal.length))
    edges = Edges(numbers[edges.tails], numbers[edges.heads])
    del numbers
    into_block = _block(line, deal, edges, along=not directed)
    out_block = _block(line, deal, Edges(edges.heads, edges.tails)) if directed else into_block
    return Dealt(
        _pointers(leaving),
        digest,
        directed,
        deal=deal,
        blocks=Blocks.of(into_block, out_block, shape.rows * deal.length),
        entering=entering,
        is_searched=(leaving if directed else degrees) > 0,
        trees=trees,
        hub=hub,
    )


def fold(
    line: Line, tails: NDArray[Any], heads: NDArray[Any], degrees: Ints
) -> tuple[Trees | None, NDArray[np.bool_], Ints]:
    """Fold the trees of an undirected graph, which has each edge on one rank; None if there is no tree.

    Also return a mask of this rank's edges that are left, and the degrees in the core.
    """
    n, degrees = len(degrees), degrees.copy()
    ends, others = np.concatenate([tails, heads]), np.concatenate([heads, tails]).astype(np.int64)
    neighbours = np.zeros(n, np.int64)
    np.bitwise_xor.at(neighbours, ends, others)
    neighbours = line.combine(neighbours, "xor")
    parent, rounds = np.arange(n), list[Ints]()
    leaves = np.flatnonzero(degrees == 1)
    while len(leaves):
        hung = neighbours[leaves]
        last = (degrees[hung] == 1) & (hung > leaves)  # if two vertices are left, the smaller one is the core
        leaves, hung = leaves[~last], hung[~last]
        parent[leaves] = hung
        np.subtract.at(degrees, hung, 1)
        np.bitwise_xor.at(neighbours, hung, leaves)
        degrees[leaves] = 0
        rounds.append(leaves)
        hung = np.unique(hung)
        leaves = hung[degrees[hung] == 1]
    core = parent == np.arange(n)
    kept = core[tails] & core[heads]
    if not rounds:
        return None, kept, degrees
    component = components_of(line, tails[kept], heads[kept], n)
    for leaves in reversed(rounds):
        component[leaves] = component[parent[leaves]]
    return Trees(tuple(rounds), parent, component), kept, degrees


def components_of(line: Line, tails: NDArray[Any], heads: NDArray[Any], n: int) -> Ints:
    """Return the least vertex of the component of each vertex, by the edges of all ranks, sorted on each rank.

    A label is a vertex of the same component. In a turn each rank lowers the labels in each of its own components to
    their least. Then all ranks take the least label of each vertex on any rank, and the label of that label.
    """
    own = weak_components(np.searchsorted(tails, np.arange(n + 1)), heads)
    labels: Ints = np.arange(n)
    while True:
        least = np.full(n, n)
        np.minimum.at(least, own, labels)
        found = np.minimum(labels, least[own])
        np.minimum.at(found, labels, least[own])
        found = line.combine(found, "least")
        before, labels = labels, found[found]
        if np.array_equal(before, labels):
            return labels


def _hub(line: Line, edges: Edges, neighbours: Ints) -> int:
    """Return the vertex of most neighbours: of the largest component if its own has less than half of the vertices."""
    rows, component = _pointers(neighbours), components_of(line, edges.tails, edges.heads, len(neighbours))
    hub, connected = core.widest_row(rows, None)
    if 2 * np.count_nonzero(component == component[hub]) < connected:
        hub, _ = core.widest_row(rows, component)
    return hub


def _mutual(line: Line, edges: Edges, n: int) -> Ints:
    """Count the neighbours of each vertex to which edges go both ways."""
    keys, mutual = edges.tails.astype(np.int64) * n + edges.heads, np.zeros(n, np.int64)
    for first, last in slices(len(keys), _AT_ONCE):
        tails, heads = edges.some(first, last)
        against = heads * n + tails
        places = np.minimum(np.searchsorted(keys, against), len(keys) - 1)
        mutual += np.bincount(tails[keys[places] == against], minlength=n)
    return line.combine(mutual, "sum")


def distinct(line: Line, edges: Edges, n: int, *, directed: bool) -> Edges:
    """Share edges out over ranks without repeats; edges of one pair of vertices go to one rank.

    In an undirected graph the lower end becomes the tail.
    """

    def keys_of(first: int, last: int) -> tuple[Ints, NDArray[Any]]:
        tails, heads = edges.some(first, last)
        low, high = np.minimum(tails, heads), np.maximum(tails, heads)
        pairs, apart = low * n + high, low != high
        keys = tails * n + heads if directed else pairs
        return keys[apart], _mixed(pairs[apart]) % np.uint64(line.size)

    keys = _received(line, len(edges.tails), keys_of)
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
    kind = index_type(n)
    return Edges((keys // max(n, 1)).astype(kind), (keys % max(n, 1)).astype(kind))


def _mixed(keys: Ints) -> NDArray[np.uint64]:
    mixed = keys.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))


def _digest(edges: Edges) -> Ints:
    """Sum the hashes of edges: the same in any order."""
    total = np.zeros(1, np.uint64)
    for first, last in slices(len(edges.tails), _AT_ONCE):
        tails, heads = edges.some(first, last)
        total += _mixed(_mixed(tails).view(np.int64) + heads).sum(dtype=np.uint64)
    return total.view(np.int64)


def _received(line: Line, size: int, keys_of: Callable[[int, int], tuple[Ints, NDArray[Any]]]) -> Ints:
    """All-to-all: send the keys of edges, by `keys_of` with the rank of each; return the keys received, sorted."""
    rounds = -int(line.combine(np.array([-size // _AT_ONCE]), "least")[0])  # as many as the rank with most edges needs
    found, received = np.empty(_AT_ONCE, np.int64), 0
    for first in range(0, rounds * _AT_ONCE, _AT_ONCE):
        keys, to = keys_of(first, first + _AT_ONCE)
        order, counts = np.argsort(to, kind="stable"), np.bincount(to.astype(np.int64), minlength=line.size)
        for message in now(line.exchange(np.split(keys[order].view(np.uint8), 8 * counts.cumsum()[:-1]))):
            own = message.view(np.int64)
            if received + len(own) > len(found):  # one large array, as the heap keeps many small ones
                found = np.concatenate([found[:received], np.empty(received // 2 + len(own), np.int64)])
            found[received : received + len(own)] = own
            received += len(own)
    found = found[:received]
    found.sort()
    return found


def _block(line: Line, deal: Deal, edges: Edges, *, along: bool = False) -> Block:
    """Send each edge to the ranks of its block, and return the block of this rank; with `along` in both directions."""
    shape, length = deal.shape, deal.length
    width = shape.rows * length

    def keys_of(first: int, last: int) -> tuple[Ints, NDArray[Any]]:
        """Return each entry as its row in the block times `width` plus its column, and its rank in the grid."""
        columns, rows = edges.some(first, last)
        if along:
            columns, rows = np.concatenate([columns, rows]), np.concatenate([rows, columns])
        (row_piece, row), (column_piece, column) = np.divmod(rows, length), np.divmod(columns, length)
        cell = row_piece // shape.columns * shape.columns + column_piece % shape.columns
        keys = (row_piece % shape.columns * length + row) * width + column_piece // shape.columns * length + column
        return keys, cell

    keys = _received(line, len(edges.tails), keys_of)
    mates = line.split(line.rank % shape.size) if line.size > shape.size else None
    if mates is not None:
        keys = now(all_gather(mates, NOTHING if mates.rank else keys.view(np.uint8)))[0].view(np.int64).copy()
        mates.close()
    indptr = np.searchsorted(keys, np.arange(shape.columns * length + 1) * width)
    np.remainder(keys, width, out=keys)
    return Block(indptr, keys.astype(np.int32))


def _pointers(counts: Ints) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def slices(length: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut a length into slices of at most so many places."""
    for first in range(0, length, most):
        yield first, min(first + most, length)
