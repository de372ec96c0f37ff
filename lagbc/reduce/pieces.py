"""The pieces into which the graph of a request falls: each is summed by itself. A graph as it is, is one piece."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.graph.graph import Graph
from lagbc.methods.roots import order_roots
from lagbc.methods.table import Method
from lagbc.reduce.chains import Contracted
from lagbc.reduce.piece import Piece as Weighted
from lagbc.reduce.small import SmallBlocks
from lagbc.reduce.twins import Classes
from lagbc.request import Request


class Drawn(NamedTuple):
    """Roots drawn at random, in rounds."""

    # the place after the last item of each round; items of -1 fill the rounds up to whole panels
    ends: NDArray[np.int64]
    sizes: NDArray[np.int64]  # roots drawn in each round
    # whether some root was drawn several times in a round; an item is a root and n for each time but the first
    repeats: bool = False
    label: str = ""  # the quantity that the sums are made into


@dataclass(slots=True, eq=False)
class Whole:
    """A graph that is swept from the roots of a request."""

    graph: Graph
    request: Request
    classes: Classes | None = None  # of the twins that were merged
    lined_up: NDArray[np.int64] | None = None  # the roots in the order of their batches, once it is known
    drawn: Drawn | None = None  # the rounds of these

    def placed(self, method: Method) -> Graph:
        """Return the graph where a method reads it: on the host, or on the device if it is there or large."""
        graph = self.graph
        if method.device == "cpu":
            return graph.on_host
        return graph.on_device if graph.is_on_device or graph.nnz > tuning.HOST_EDGES else graph

    def ordered(self, method: Method) -> NDArray[np.int64]:
        """Return the roots in the order of their batches; the first method that asks fixes it."""
        if self.lined_up is None:
            self.lined_up = order_roots(self.placed(method), method, self.request.roots)
        return self.lined_up

    @property
    def work(self) -> int:
        """Roots times edges."""
        return len(self.request.roots) * self.graph.nnz


@singledispatch
def whole(graph: Any, request: Request) -> Whole:
    """Return the piece of a graph that is not taken apart."""
    return Whole(graph, request)


@dataclass(slots=True, eq=False)
class Chains:
    """A bicomponent that is contracted to its junctions, which are its roots."""

    contracted: Contracted
    request: Request  # of the whole graph
    device: str  # where junctions are swept
    part: Weighted  # the same bicomponent, which is swept whole where numbers leave the range of chains

    @property
    def graph(self) -> Graph:
        """The graph of the junctions."""
        return self.contracted.graph

    def placed(self, method: Method) -> Graph:
        """Return the graph where a method reads it: on the host, from which a state copies it."""
        return self.graph

    @property
    def work(self) -> int:
        """Roots times edges."""
        return len(self.contracted.roots) * self.graph.nnz


@dataclass(slots=True, eq=False)
class Small:
    """All small bicomponents: each is summed by one call of a compiled sweep."""

    blocks: SmallBlocks
    edges: bool  # whether edges are summed, beside vertices

    @property
    def work(self) -> int:
        """Roots times edges."""
        return int(self.blocks.work.sum())


Piece = Whole | Chains | Small
