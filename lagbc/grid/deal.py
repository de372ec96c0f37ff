"""How a graph is dealt over a grid: pieces of vertices, and blocks of entries.

Vertices are lined up by falling degree and dealt back and forth, so that each piece has as many, and as many edges.
Piece i * columns + j belongs to rank (i, j). Its block has the edges that lead to a vertex of a piece of grid row i
from one of grid column j: such pieces, each as long as all others, are the rows and the columns of the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.errors import InvalidValueError, OutOfRangeError
from lagbc.graph.csr import index_type
from lagbc.graph.graph import Graph, Outline
from lagbc.grid.communicator import Line, now
from lagbc.grid.fold import Trees, components_of, fold
from lagbc.methods.block import NOTHING, BlockSize, Way
from lagbc.native import core

Ints = NDArray[np.int64]
# Bytes per vertex of the whole graph that a rank holds: degrees, the order, numbers, positions. And per vertex, and per
# entry of a block, while the graph is dealt: sorts of vertices, components beside trees; keys in an array that grows.
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
    """Return the size of the blocks of n vertices."""
    return BlockSize(32 * max(1, -(-n // (32 * shape.size))), shape.rows, shape.columns)


@dataclass(slots=True, eq=False)
class Deal:
    """Which vertex belongs to whom."""

    shape: Shape
    n: int  # vertices
    length: int  # places of a piece, a multiple of 32
    order: Ints  # (n,): the vertices as they are dealt

    @classmethod
    def of(cls, degrees: Ints, shape: Shape) -> Deal:
        """Deal vertices of some degrees."""
        n = len(degrees)
        return cls(shape, n, size_of_block(shape, n).length, np.argsort(-degrees, kind="stable"))

    @property
    def size(self) -> BlockSize:
        """Of the block of each rank."""
        return BlockSize(self.length, self.shape.rows, self.shape.columns)

    @property
    def numbers(self) -> Ints:
        """The number of each vertex: its piece times the length, plus its place in the piece.

        Vertices go to the pieces from first to last, then from last to first.
        """
        turn, piece = np.divmod(np.arange(self.n), self.shape.size)
        piece = np.where(turn % 2, self.shape.size - 1 - piece, piece)
        numbers = np.empty(self.n, np.int64)
        numbers[self.order] = piece * self.length + turn
        return numbers


@dataclass(slots=True, eq=False)
class Block:
    """The entries of a rank: rows are vertices of its grid row, columns of its grid column."""

    indptr: Ints
    indices: NDArray[np.int32]

    @property
    def nnz(self) -> int:
        """How many entries."""
        return len(self.indices)

    @property
    def rows(self) -> NDArray[np.int32]:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.indptr) - 1, dtype=np.int32), np.diff(self.indptr))

    def transposed(self, columns: int) -> Block:
        """Return the block with rows and columns exchanged."""
        places = np.argsort(self.indices, kind="stable")
        return Block(_pointers(np.bincount(self.indices, minlength=columns)), self.rows[places])

    def beside(self, other: Block) -> Block:
        """Return the block with the entries of both; an entry that both have is there twice."""
        places = np.argsort(np.concatenate([self.rows, other.rows]), kind="stable")
        return Block(self.indptr + other.indptr, np.concatenate([self.indices, other.indices])[places])


class Blocks(NamedTuple):
    """The blocks of a rank: edges by their heads, by their tails, and by their heads with columns for rows."""

    into: Block
    out: Block
    reach: Block

    def bytes(self, way: Way) -> int:
        """Count the bytes of the blocks, and of the blocks that a sweep this way makes of them."""
        own = sum(block.indptr.nbytes + block.indices.nbytes for block in {*self})
        if way == "along":
            return own
        if way == "against":
            return own + self.reach.indptr.nbytes + self.out.indices.nbytes
        both = self.into.indices.nbytes + self.out.indices.nbytes
        return own + self.into.indptr.nbytes + self.reach.indptr.nbytes + 2 * both

    @classmethod
    def of(cls, into: Block, out: Block, columns: int) -> Blocks:
        """Take edges by their heads and by their tails, in so many columns."""
        return cls(into, out, into.transposed(columns))

    def swept(self, way: Way) -> Blocks:
        """Return the blocks of edges that are swept one way."""
        if way == "along":
            return self
        into = self.out if way == "against" else self.into.beside(self.out)
        return Blocks.of(into, self.into if way == "against" else into, len(self.reach.indptr) - 1)


@dataclass(eq=False, repr=False)
class Dealt(Outline):
    """A graph that is dealt, on one rank: it knows the degrees of all vertices, and has the edges of one block.

    A file of sums names it by `indptr`, each of whose rows is as long as it has edges, and `indices`, a digest of the
    edges and the shape of the grid.
    """

    indptr: Ints
    indices: Ints
    directed: bool
    deal: Deal
    blocks: Blocks
    entering: Ints  # edges that enter each vertex
    is_searched: NDArray[np.bool_]  # whether edges that are swept leave each vertex
    trees: Trees | None  # that were folded
    hub: int  # where a search for the depth begins; -1 if there is to be none
    is_checked = True  # when it was dealt
    way: Way = "along"  # that its edges are swept in its blocks
    grids: Any = None  # that sweep it, on the rank that asks them to

    @property
    def n(self) -> int:
        """Vertices."""
        return self.deal.n

    @property
    def nnz(self) -> int:
        """Edges, those of trees among them; an undirected edge counts twice."""
        return int(self.indptr[-1])

    @property
    def order(self) -> Ints:
        """The vertices as they are dealt."""
        return self.deal.order

    @property
    def order_in_words(self) -> str:
        """Why vertices are ordered as they are."""
        return "vertices are dealt by falling degree, so that each rank has as many edges"

    @property
    def out_degrees(self) -> Ints:
        """Edges that leave each vertex."""
        degrees: Ints = np.diff(self.indptr)
        return degrees

    @property
    def in_degrees(self) -> Ints:
        """Edges that enter each vertex."""
        return self.entering

    @property
    def transpose(self) -> Dealt:
        """The graph with every edge reversed, in the same blocks; itself if edges go both ways."""
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
        """The graph with every edge in both directions, for searches, in the same blocks; itself if they are."""
        return replace(self, way="either") if self.directed else self

    @cached_property
    def depth(self) -> int:
        """A lower bound of the diameter: that of a graph which is not dealt."""
        return self.grids.depth_of(self) if self.nnz else 0  # type: ignore[no-any-return]

    @cached_property
    def has_high_diameter(self) -> bool:
        """Whether the graph looks like a mesh or a road network, as of one that is not dealt."""
        return self.depth > tuning.HIGH_DIAMETER * log2(max(self.n, 2))

    @property
    def components(self) -> Any:
        """There are none: ValueError."""
        raise InvalidValueError(
            "components of a graph that is dealt over a grid are not known, which estimates with endpoints count; "
            "leave out endpoints, or grid="
        )

    @property
    def on_host(self) -> Any:
        """There is none: OverflowError, as roots ask for it that are to be computed in wider numbers."""
        raise OutOfRangeError(
            "weights of vertices are too far apart for float64, and a graph that is dealt over a grid has no wider "
            "numbers: scale them, or leave out grid="
        )

    def bytes_of_rank(self, *, on_gpu: bool) -> tuple[int, int]:
        """Count the bytes that a rank holds where it sweeps, and that dealing takes there at most."""
        blocks = self.blocks.bytes(self.way)
        if on_gpu:
            return blocks, blocks  # the rest is on the host
        held = blocks + _HELD_PER_VERTEX * self.n
        return held, max(held, bytes_of_dealing(self.n, self.blocks.into.nnz))


def bytes_of_blocks(size: BlockSize, entries: int, *, directed: bool) -> int:
    """Count the bytes of blocks with so many entries each."""
    rows, columns = size.across * size.length + 1, size.down * size.length + 1
    return (1 + directed) * (8 * rows + 4 * entries) + 8 * columns + 4 * entries


def bytes_of_dealing(n: int, entries: int) -> int:
    """Bound the bytes that a rank takes while a graph is dealt, of so many vertices and entries of a block."""
    return _DEALING_PER_VERTEX * n + _DEALING_PER_ENTRY * entries


class Edges(NamedTuple):
    """Edges that a rank has, of either type of integers."""

    tails: NDArray[Any]
    heads: NDArray[Any]

    @classmethod
    def of(cls, part: Graph | None) -> Edges:
        """Take the edges of a graph; None has none."""
        if part is None:
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))
        host = part.on_host
        return cls(host.rows, host.indices)

    def some(self, first: int, last: int) -> tuple[Ints, Ints]:
        """Return tails and heads of some of them."""
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
    """Deal the edges that ranks have, all or any in `part`, over the grids that they make up; each edge counts once.

    Where it `folds`, trees of a graph that is not directed are folded; `finds_hub` says that the depth will be asked
    for.
    """
    edges = distinct(line, Edges.of(part), n, directed=directed)
    del part
    out, into = (line.combine(np.bincount(ends, minlength=n), "sum") for ends in (edges.tails, edges.heads))
    degrees, trees = out + into, None
    entering, leaving = (into, out) if directed else (degrees, degrees)
    hub = -1
    if finds_hub and n:
        hub = _hub(line, edges, degrees - _mutual(line, edges, n) if directed else degrees)
    digest = np.concatenate([line.combine(_digest(edges), "sum"), shape])
    if folds and not directed:
        trees, kept, degrees = fold(line, edges.tails, edges.heads, degrees)
        edges = Edges(edges.tails[kept], edges.heads[kept])
    deal = Deal.of(degrees, shape)
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


def _hub(line: Line, edges: Edges, neighbours: Ints) -> int:
    """Return the vertex of most neighbours: of all, or of the largest component where that is not in a large one."""
    rows, component = _pointers(neighbours), components_of(line, edges.tails, edges.heads, len(neighbours))
    hub, connected = core.widest_row(rows, None)
    if 2 * np.count_nonzero(component == component[hub]) < connected:
        hub, _ = core.widest_row(rows, component)
    return hub


def _mutual(line: Line, edges: Edges, n: int) -> Ints:
    """Count the edges of each vertex that are there both ways."""
    keys, mutual = edges.tails.astype(np.int64) * n + edges.heads, np.zeros(n, np.int64)
    for first, last in slices(len(keys), _AT_ONCE):
        tails, heads = edges.some(first, last)
        against = heads * n + tails
        places = np.minimum(np.searchsorted(keys, against), len(keys) - 1)
        mutual += np.bincount(tails[keys[places] == against], minlength=n)
    return line.combine(mutual, "sum")


def distinct(line: Line, edges: Edges, n: int, *, directed: bool) -> Edges:
    """Share edges out over ranks, each once, and both ways of a pair together.

    Of an undirected graph the lower end is the tail.
    """

    def keys_of(first: int, last: int) -> tuple[Ints, NDArray[Any]]:
        tails, heads = edges.some(first, last)
        low, high = np.minimum(tails, heads), np.maximum(tails, heads)
        pairs, apart = low * n + high, low != high
        keys = tails * n + heads if directed else pairs
        return keys[apart], _mixed(pairs[apart]) % np.uint64(line.size)

    keys = _sent(line, len(edges.tails), keys_of)
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
    kind = index_type(n)
    return Edges((keys // max(n, 1)).astype(kind), (keys % max(n, 1)).astype(kind))


def _mixed(keys: Ints) -> NDArray[np.uint64]:
    """Mix the bits of numbers."""
    mixed = keys.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))


def _digest(edges: Edges) -> Ints:
    """Sum up numbers that stand for edges."""
    total = np.zeros(1, np.uint64)
    for first, last in slices(len(edges.tails), _AT_ONCE):
        tails, heads = edges.some(first, last)
        total += _mixed(_mixed(tails).view(np.int64) + heads).sum(dtype=np.uint64)
    return total.view(np.int64)


def _sent(line: Line, size: int, keys_of: Callable[[int, int], tuple[Ints, NDArray[Any]]]) -> Ints:
    """Send the keys of edges to ranks, some edges at a time; return those for this rank, in order."""
    rounds = -int(line.combine(np.array([-size // _AT_ONCE]), "least")[0])
    found, received = np.empty(_AT_ONCE, np.int64), 0
    for first in range(0, rounds * _AT_ONCE, _AT_ONCE):
        keys, to = keys_of(first, first + _AT_ONCE)
        order, counts = np.argsort(to, kind="stable"), np.bincount(to.astype(np.int64), minlength=line.size)
        for message in now(line.exchange(np.split(keys[order].view(np.uint8), 8 * counts.cumsum()[:-1]))):
            own = message.view(np.int64)
            if received + len(own) > len(found):  # one large array, as freed pieces stay with the process
                found = np.concatenate([found[:received], np.empty(received // 2 + len(own), np.int64)])
            found[received : received + len(own)] = own
            received += len(own)
    found = found[:received]
    found.sort()
    return found


def _block(line: Line, deal: Deal, edges: Edges, *, along: bool = False) -> Block:
    """Send entries to those who have the block that they are in, by heads, and with `along` by tails, too."""
    shape, length = deal.shape, deal.length
    width = shape.rows * length

    def keys_of(first: int, last: int) -> tuple[Ints, NDArray[Any]]:
        columns, rows = edges.some(first, last)
        if along:
            columns, rows = np.concatenate([columns, rows]), np.concatenate([rows, columns])
        (row_piece, row), (column_piece, column) = np.divmod(rows, length), np.divmod(columns, length)
        cell = row_piece // shape.columns * shape.columns + column_piece % shape.columns
        keys = (row_piece % shape.columns * length + row) * width + column_piece // shape.columns * length + column
        return keys, cell

    keys = _sent(line, len(edges.tails), keys_of)
    mates = line.split(line.rank % shape.size) if line.size > shape.size else None
    if mates is not None:
        keys = now(mates.all_gather(NOTHING if mates.rank else keys.view(np.uint8)))[0].view(np.int64).copy()
        mates.close()
    indptr = np.searchsorted(keys, np.arange(shape.columns * length + 1) * width)
    np.remainder(keys, width, out=keys)
    return Block(indptr, keys.astype(np.int32))


def _pointers(counts: Ints) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def slices(length: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut a piece into slices of so many rows at most."""
    for first in range(0, length, most):
        yield first, min(first + most, length)
