"""The input and the output of each reduction: a graph whose vertices have weights as roots and as targets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import OutOfRangeError
from lagbc.graph.graph import Graph

Scores = NDArray[np.float64]

# Weights and their sums are within 2**-400 to 2**400, so that products of two, and shares of these by path counts in
# small bicomponents, are normal numbers.
_EXPONENT = 400


class NotContractible(Exception):  # noqa: N818 (an answer, not an error: the caller sweeps the graph as it is)
    """Numbers leave the range in which chains can be summed."""


class NotReducible(Exception):  # noqa: N818 (an answer, not an error: the caller sweeps the graph as it is)
    """To take the graph apart may take as long as its sweeps."""


class Weighted(NamedTuple):
    r"""A graph whose vertices stand for several: as sources, as targets and inside paths.

    The score of v is the demand through all members of v together, over ordered pairs,

    .. math:: F(v) = \sum_{s \ne v \ne t \ne s} S(s) T(t) \sigma_{st}(v) / \sigma_{st},

    where a path counts once for each choice of members of the vertices in its interior.
    """

    graph: Graph  # on the host
    # sources, targets: (n,): S and T, the weight of each vertex as a root and as a target; finite, >= 0
    sources: NDArray[np.float64]
    targets: NDArray[np.float64]
    # (n,): m, how many members each vertex has inside a path, whole numbers >= 1; None is one each
    class_sizes: NDArray[np.float64] | None = None


def check_range(piece: Weighted) -> None:
    """Raise OverflowError for weights whose products are no normal numbers of float64."""
    for name, given in (("sources", piece.sources), ("targets", piece.targets)):
        with np.errstate(over="ignore"):
            total = given.sum()
        smallest = given[given > 0].min(initial=1.0)
        if not (total <= 2.0**_EXPONENT and smallest >= 2.0**-_EXPONENT):
            raise OutOfRangeError(
                f"{name} of a piece are from {smallest} on, {total} in all: reductions take weights within "
                f"2**-{_EXPONENT} to 2**{_EXPONENT}"
            )
