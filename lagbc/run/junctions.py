"""What the junctions of a contracted block sum to, and the sums of the block that are made of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lagbc.methods.sums import Sums
from lagbc.phases import phase
from lagbc.reduce.chains import Contracted, edge_scores, scores
from lagbc.reduce.piece import NotContractible
from lagbc.reduce.streams import Flows

Floats = NDArray[np.float64]


class Held:
    """What junctions sum to: parts of one array, which is all that a checkpoint keeps.

    Attributes
    ----------
    array : ndarray of float64, shape (contracted.held,)
        It begins with the sums of rows and ends with those inside chains.
    dependency, along : ndarray of float64
        A number a row, and an edge; they are added up, block after block.
    junction : ndarray of float64
        The demand that passes each junction as it leaves chains.
    flows : Flows
        What leaves chains. Each number of `junction` and of these is written by one group, anew if it is done again.
    """

    def __init__(self, contracted: Contracted, array: Floats) -> None:
        graph, inside = contracted.graph, len(contracted.inside)
        self.array = array
        self.dependency, self.junction, self.along, *flows = np.split(
            array, np.cumsum([graph.n, graph.n, graph.nnz, 2 * inside, 2 * inside, inside])
        )
        out, around, within, onward = flows
        self.flows = Flows(out.reshape(2, inside), around.reshape(2, inside), within, onward)

    @classmethod
    def nothing(cls, contracted: Contracted) -> Held:
        """No junction is done."""
        return cls(contracted, np.zeros(contracted.held))

    @property
    def of_groups(self) -> Floats:
        """All that single groups write, zeros where none has, shape (contracted.held - n - nnz,)."""
        return np.concatenate([self.junction, *map(np.ravel, self.flows)])

    def add_of_groups(self, of_others: Floats) -> None:
        """Add what other groups have written."""
        arrays = [self.junction, *map(np.ravel, self.flows)]
        for array, other in zip(arrays, np.split(of_others, np.cumsum([len(a) for a in arrays[:-1]])), strict=True):
            array += other

    def add(self, blocks: Sums) -> None:
        """Add the sums of a group, block after block."""
        for dependency, along in zip(blocks.dependency, blocks.edges, strict=True):
            self.dependency += dependency
            self.along += along


def finish_chains(contracted: Contracted, names: frozenset[str], held: Held) -> Sums:
    """Make the sums of a block of what all its junctions sum to; NotContractible if float64 does not hold that."""
    with phase("finish"):
        sums = held.dependency, held.junction, held.along
        if not all(np.isfinite(total).all() for total in sums):
            raise NotContractible("the weights sum to more than float64 holds")
        return Sums(
            dependency=scores(contracted, held.flows, *sums) if "dependency" in names else None,
            edges=edge_scores(contracted, held.flows, held.along) if "edges" in names else None,
        )
