"""The input and the output of a reduction: a graph with weights of vertices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import OutOfRangeError
from lagbc.graph.graph import Graph

Scores = NDArray[np.float64]

# Weights and their sums lie within two to minus and plus this exponent, so that products, and shares by path counts of
# bicomponents computed at once, are normal numbers.
_EXPONENT = 400


class NotContractible(Exception):  # noqa: N818 (an answer, not an error: the caller sweeps the piece as it is)
    """Numbers of this piece leave the range in which chains can be summed: it is swept without contraction."""


class NotReducible(Exception):  # noqa: N818 (an answer, not an error: the caller sweeps the piece as it is)
    """Taking the piece apart may take as long as a part of its sweeps: it is swept whole."""


class Piece(NamedTuple):
    r"""A graph whose vertices stand for several, as sources, as targets and inside paths.

    Its score is the demand through all members of v together, over ordered pairs,

    .. math:: F(v) = \sum_{s \ne v \ne t \ne s} S(s) T(t) \sigma_{st}(v) / \sigma_{st},

    where a path counts once for each choice of members of the vertices in its interior.
    """

    graph: Graph  # on the host
    # sources, targets: (n,): S and T: how much each vertex counts as a root, and as a target; finite, >= 0
    sources: NDArray[np.float64]
    targets: NDArray[np.float64]
    # (n,): m, how many equal vertices each vertex stands for inside a path, whole numbers >= 1; None is one each
    class_sizes: NDArray[np.float64] | None = None
    # (n,): the number of each vertex in the larger graph; None where it has no such vertices
    vertices: NDArray[np.int64] | None = None
    # (nnz,): the number of each stored edge in the larger graph; None where nobody asked, or where it has no such edges
    edges: NDArray[np.int64] | None = None


def check_range(piece: Piece) -> None:
    """Raise OverflowError for weights whose products leave the normal numbers of float64."""
    for name, given in (("sources", piece.sources), ("targets", piece.targets)):
        with np.errstate(over="ignore"):
            total = given.sum()
        smallest = given[given > 0].min(initial=1.0)
        if not (total <= 2.0**_EXPONENT and smallest >= 2.0**-_EXPONENT):
            raise OutOfRangeError(
                f"{name} of a piece are from {smallest} on, {total} in all: reductions take weights within "
                f"2**-{_EXPONENT} to 2**{_EXPONENT}"
            )
