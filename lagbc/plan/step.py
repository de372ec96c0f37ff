"""A step of a plan: a graph with roots for one method; and the methods of a resumed run's steps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import DEPENDENCY
from lagbc.methods.table import Method

if TYPE_CHECKING:
    from lagbc.reduce.chains import Contracted


@dataclass(frozen=True, eq=False)
class Drawn:
    """Items drawn at random, in rounds."""

    # the place after the last item of each round; items of -1 fill the rounds up to whole panels
    ends: NDArray[np.int64]
    sizes: NDArray[np.int64]  # roots drawn in each round
    # whether some root was drawn several times in a round; an item is a root and n for each time but the first
    repeats: bool = False
    label: str = ""  # the quantity that the sums are made into


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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
