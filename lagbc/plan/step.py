"""A step of a plan: a graph with roots for one method, their order and chunks; and the methods of a resumed run."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import in_phase
from lagbc.frozen import frozen
from lagbc.graph.csr import as_numpy, module_of, ops_of
from lagbc.graph.graph import Graph
from lagbc.graph.host.order import length_order
from lagbc.methods import tuning
from lagbc.methods.contract import Batching, SweepPlan
from lagbc.methods.sums import DEPENDENCY
from lagbc.methods.table import Method
from lagbc.native import core

if TYPE_CHECKING:
    from lagbc.reduce.chains import Contracted


@frozen
class Drawn:
    """Items drawn at random, in rounds."""

    # the place after the last item of each round; items of -1 fill the rounds up to whole panels
    ends: NDArray[np.int64]
    sizes: NDArray[np.int64]  # roots drawn in each round
    # whether some root was drawn several times in a round; an item is a root and n for each time but the first
    repeats: bool = False
    label: str = ""  # the quantity that the sums are made into


@frozen
class Step:
    """A graph with roots that one method sweeps; a chunk of roots belongs to one step."""

    graph: Graph  # where the method reads it
    roots: NDArray[np.int64]
    method: Method
    sweep: SweepPlan
    ordered: NDArray[np.int64] | None = None  # in the order of their sweeps, where the choice of the method needed it
    contracted: Contracted | None = None  # the bicomponent with the vertices of the graph as its junctions
    asked: frozenset[str] = DEPENDENCY  # the sums that the call wants of the step
    drawn: Drawn | None = None  # the rounds of the items
    beside: int = 0  # bytes of arrays, where the sums are, of those who take them

    @cached_property
    def swept(self) -> int:
        """Count the roots that are swept: those with out-edges."""
        return int(np.count_nonzero(self.graph.out_degrees[self.roots]))

    @property
    def label(self) -> str:
        """The step's name in a checkpoint: name and device of the method, and whether chains are contracted."""
        return f"{'chains ' if self.contracted else ''}{self.method.name} {self.method.device}"

    @property
    def bytes_of_sums(self) -> int:
        """Bound the bytes of the sums over some of the roots."""
        if self.contracted is not None:
            return 8 * self.contracted.held
        return 8 * self.sweep.summed(self.graph)

    @property
    def work(self) -> int:
        """Return roots times edges, by which the steps of a plan share its time."""
        return self.swept * self.graph.nnz


class ResumedStep(NamedTuple):
    """The method of a step of a resumed run, by name and device, and whether chains were contracted."""

    name: str
    device: str
    chains: bool

    @classmethod
    def of(cls, label: str) -> ResumedStep:
        """Read the label of a step."""
        name, _, device = label.removeprefix("chains ").rpartition(" ")
        return cls(name, device, label.startswith("chains "))


@frozen
class Resumed:
    """The steps of a resumed run, and its roots, if they were a sample."""

    steps: tuple[ResumedStep, ...] = ()
    roots: NDArray[np.int64] | None = None

    def sample(self, count: int, n: int) -> NDArray[np.int64] | None:
        """Return the roots, if they are `count` distinct vertices of n, and so as good as another sample."""
        roots = self.roots
        if roots is None or len(roots) != count or not ((roots >= 0) & (roots < n)).all():
            return None
        return roots if len(np.unique(roots)) == count else None


NOTHING = Resumed()


def chunk_length(method: Method, batching: Batching) -> int:
    """Return the roots of a chunk: `tuning.CHUNK_ROOTS`, or the next multiple of the method's block."""
    return -(-tuning.CHUNK_ROOTS[method.device] // batching.block) * batching.block


@in_phase("order")
def order_roots(graph: Graph, method: Method, roots: NDArray[np.int64], least: int | None = None) -> NDArray[np.int64]:
    """Put roots, each given once, into the order of their batches: near ones, of many equal levels, lie together.

    On graphs of high diameter it is the sweep order, where neighbours lie together. On others with at least `least`
    roots it is by distances to the hubs (on a GPU in hops, even where edges have lengths), if the method groups them. A
    root without out-edges adds nothing and is left out.
    """
    least = tuning.GROUPED_ROOTS if least is None else least
    rank = core.line_up(graph.out_degrees, graph.position, roots)
    if len(rank) >= least and method.groups_roots and not graph.has_high_diameter:
        rank = _group(graph.reordered, method, rank)
    return graph.order[rank]


def _group(graph: Graph, method: Method, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Group vertices of a graph in sweep order by their distances to its hubs."""
    if method.device == "cpu" and graph.weighted:
        grouped = length_order(graph.csr, graph.transpose.csr, vertices)
    elif method.device == "cuda":
        distances = graph.on_device.hub_distances
        grouped = ops_of(distances).hub_order(distances, method.arrays.asarray(vertices))
    else:
        distances = graph.hub_distances
        grouped = ops_of(distances).hub_order(distances, module_of(graph.indptr).asarray(vertices))
    in_order: NDArray[np.int64] = as_numpy(grouped)
    return in_order
