"""The totals of blocks of roots, as lagbc/native/kernels/traversal/totals.h takes, keeps and clears them.

Where the roots of a block reach few vertices, and few edges are tight for them, the block is kept as entries: nothing
takes time by the number of all vertices or edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.arrays import FLOAT, INTEGER, Array
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import OF_EDGES, OF_ROW, PATH_SUMS, SparseSums, Sums
from lagbc.native import core

# A block is kept if its roots have reached at most one vertex in so many, all roots counted, and one edge in so many is
# tight: to add entries takes about as many times as long as to add rows.
SPARSITY = 8
# Vertices or edges, and their sums.
Named: TypeAlias = tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]
_NOTHING: Named = np.zeros(0, np.int64), {}
# Kinds of totals, by the names of their entries among the fields of all totals.
VERTICES, EDGES = "of_vertices", "of_edges"


def totals_arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State the totals of a plan, and the lists of touched vertices and edges."""
    sizes = {VERTICES: graph.n, EDGES: graph.nnz}
    totals = {name: Array((sizes[_kind(name)],), FLOAT, 0) for name in plan.sums - {"depth"}}
    if plan.sums & PATH_SUMS:
        totals.setdefault("dependency", Array((graph.n,), FLOAT, 0))
    kinds = set(map(_kind, totals))
    touched = {kind: Array((size // SPARSITY,), INTEGER) for kind, size in sizes.items() if kind in kinds}
    return {"totals": totals, "touched": touched}


def _kind(name: str) -> str:
    return EDGES if name in OF_EDGES else VERTICES


class TotalsOfBlocks:
    """The totals of the block at hand, and the entries of kept blocks; without arrays, as within bounds, none."""

    def __init__(self, arrays: dict[str, Any], asked: frozenset[str], block: int) -> None:
        totals, lists = arrays.get("totals", {}), arrays.get("touched", {})
        self._touched = {kind: core.Touched(names=array) for kind, array in lists.items()}
        fields: dict[str, Any] = {**totals, **self._touched}
        self.totals = core.Totals(block=block, **fields)
        # The totals of a kind in the order of their rows of entries; None is not asked for.
        self._named = {
            kind: [name if name in asked else None for name in OF_ROW if name in totals and _kind(name) == kind]
            for kind in lists
        }

    def make_room(self, blocks: int) -> None:
        """Make room for so many blocks, at most as much as the rows of their sums take."""
        for kind, touched in self._touched.items():
            room = blocks * len(touched.names)
            touched.kept_names = np.empty(room, np.int64)
            touched.kept_sums = np.empty((len(self._named[kind]), room))
            touched.kept_ends = np.empty(blocks, np.int64)

    def kept(self, graph: Graph, roots: Sequence[NDArray[np.int64]]) -> list[SparseSums]:
        """Return the sums of the kept blocks, which have these roots each, but for depths."""
        vertices = self._kept_of(VERTICES, graph.order, len(roots))
        edges: Iterator[Named] = repeat(_NOTHING)
        if EDGES in self._touched:
            edges = self._kept_of(EDGES, graph.edge_order, len(roots))
        return [
            SparseSums(at, along, of_block, Sums(**sums, **of_edges))
            for of_block, (at, sums), (along, of_edges) in zip(roots, vertices, edges, strict=False)
        ]

    def _kept_of(self, kind: str, order: NDArray[np.int64], blocks: int) -> Iterator[Named]:
        """Yield the entries of a kind in each block."""
        rows = {name: row for row, name in enumerate(self._named[kind]) if name is not None}
        touched = self._touched[kind]
        assert touched.kept_ends is not None
        assert touched.kept_names is not None
        assert touched.kept_sums is not None
        ends = [0, *touched.kept_ends[:blocks].tolist()]
        names, values = order[touched.kept_names[: ends[-1]]], touched.kept_sums[:, : ends[-1]].copy()
        for first, last in pairwise(ends):
            sums = {name: values[row, first:last] for name, row in rows.items()}
            yield (names[first:last], sums) if sums else _NOTHING
