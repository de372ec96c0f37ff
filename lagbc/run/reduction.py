"""What of a request the structure of its graph makes unnecessary, before anything is swept.

A request for sums over paths is a piece: its graph, with the roots as sources and what each vertex counts as a target.
`lagbc.reduce` takes it apart; the pieces that are left are requests again, which the run sweeps; their sums come back
the same way. Whether it pays is told by the work that is left, roots times edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods.sums import Sums
from lagbc.phases import phase
from lagbc.reduce import tuning
from lagbc.reduce.blocks import Blocks, split
from lagbc.reduce.piece import Piece, Scores
from lagbc.run.options import Settings
from lagbc.run.request import Request

# The sums that reductions know the way back of.
_REDUCIBLE = frozenset({"dependency", "edges"})


@dataclass(frozen=True, eq=False)
class Reduction:
    """What a graph was reduced to, and the way back.

    Attributes
    ----------
    request : Request
    graph : Graph
        On the host.
    blocks : Blocks
    """

    request: Request
    graph: Graph
    blocks: Blocks

    @property
    def requests(self) -> list[tuple[Graph, Request]]:
        """The pieces that are left, and what is asked of each."""
        return [(piece.graph, _request_of(piece, self.request)) for piece in self.blocks.pieces]

    @property
    def work(self) -> float:
        """Roots times edges that are left."""
        return float(self.blocks.small.work.sum()) + sum(map(_work, self.blocks.pieces))

    @property
    def share(self) -> float:
        """Which part of the work is left."""
        return self.work / max(_work_of(self.graph, self.request.roots), 1.0)

    def __str__(self) -> str:
        """Say what was reduced to what."""
        large = max((piece.graph.n for piece in self.blocks.pieces), default=0)
        pieces, small = len(self.blocks.pieces), len(self.blocks.small.work)
        left = f"{pieces} large block{'s' * (pieces != 1)} (up to {large:,} vertices)" if pieces else "no large block"
        return f"{self.graph.n:,} vertices -> {left} and {small:,} small ones; {self.in_short}"

    @property
    def in_short(self) -> str:
        """Say how much work is left."""
        return f"{100 * self.share:.2g} % of the work"

    def sums(self, swept: Sequence[Sums], threads: int) -> Sums:
        """Make sums of the graph out of those of its pieces.

        Raises
        ------
        KeyboardInterrupt
            Ctrl-C; it is looked for every 50 milliseconds or so.
        """
        with phase("sweep"):
            for _ in self.blocks.small.steps(threads):
                pass
        with phase("finish"):
            sums = Sums()
            if "dependency" in self.request.sums:
                sums.dependency = self.blocks.scores([part.dependency for part in swept])
                if self.request.endpoints:
                    sums.dependency += _ends(self.graph, self.request)
            if self.blocks.edge_scores is not None:
                sums.edges = self.blocks.edge_scores([part.edges for part in swept])
            return sums


def reduce_request(graph: Graph, request: Request, settings: Settings) -> Reduction | None:
    """Reduce the graph of a request, if that is asked for, can be done, and, with "auto", pays.

    The choice depends on graph, request and device, and on nothing that changes from run to run.
    """
    if settings.reduce == "none" or not _applies(graph, request, settings):
        return None
    if settings.reduce == "auto" and not _may_pay(graph, request, settings):
        return None
    host = graph.on_host
    try:
        blocks = split(_piece(host, request), edges="edges" in request.sums)
    except OverflowError:
        return None
    reduction = Reduction(request, host, blocks)
    if len(blocks.pieces) == 1 and blocks.pieces[0].graph is host:
        return None
    return reduction if settings.reduce == "all" or reduction.share <= tuning.MOST_LEFT else None


def _applies(graph: Graph, request: Request, settings: Settings) -> bool:
    """Whether sums over the pieces of a graph give what is asked for.

    A tolerance is relative to the whole length of a path, and endpoints of directed paths need what each vertex
    reaches. Trips between single pairs are no weights of vertices. In float32 a run has no weights of targets.
    """
    return (
        request.sums <= _REDUCIBLE
        and not request.rtol
        and request.demand is None
        and not (request.endpoints and graph.directed)
        and settings.dtype == "float64"
        and len(request.roots) > 0
    )


def _may_pay(graph: Graph, request: Request, settings: Settings) -> bool:
    """Whether a run is long enough for a look at its graph, which is of the host."""
    on_gpu = settings.device == "cuda" or graph.is_on_device
    roots = len(request.roots)
    least = tuning.LEAST_ROOTS["cuda" if on_gpu else "cpu"]
    return roots >= least and roots * graph.nnz >= tuning.LEAST_WORK


def _piece(graph: Graph, request: Request) -> Piece:
    sources = np.zeros(graph.n)
    sources[request.roots] = 1.0 if request.multiplicity is None else request.multiplicity[request.roots]
    if request.omega is not None:
        return Piece(graph, sources, request.omega)
    # The same array where they are alike: weights of branches are summed once.
    return Piece(graph, sources, sources if (sources == 1).all() else np.ones(graph.n))


def _request_of(piece: Piece, request: Request) -> Request:
    """Ask for the sums of a piece."""
    roots = np.flatnonzero(piece.sources)
    return Request(
        sums=request.sums,
        roots=roots,
        omega=None if (piece.targets == 1).all() else piece.targets,
        multiplicity=None if (piece.sources[roots] == 1).all() else piece.sources,
        is_sample=request.is_sample,
    )


def _work(piece: Piece) -> float:
    return _work_of(piece.graph, np.flatnonzero(piece.sources))


def _work_of(graph: Graph, roots: NDArray[np.int64]) -> float:
    return float(np.count_nonzero(graph.out_degrees[roots])) * graph.nnz


def _ends(graph: Graph, request: Request) -> Scores:
    """Count how often each vertex is an end of a path of an undirected graph.

    With S roots and T targets in a component, v has S(v) (T - T(v)) as a root and T(v) (S - S(v)) as a target.
    """
    piece, component = _piece(graph, request), as_numpy(graph.components)
    sources, targets = (np.bincount(component, given)[component] for given in (piece.sources, piece.targets))
    ends: Scores = piece.sources * (targets - piece.targets) + piece.targets * (sources - piece.sources)
    return ends
