"""How far apart a pair of vertices may be to count, and how much less it counts the farther it is.

A column of the sums has a cutoff r and a decay b: the target t of root s counts exp(-b d(s, t)) where d(s, t) <= r. One
search, to the farthest that any column counts, serves all. Columns of sums that do not decay are the cutoffs; those of
`lagbc.methods.sums.DECAYING` are the pairs of a cutoff and a decay, cutoffs major.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from lagbc.methods.sums import DECAYING

# A target that counts less than this counts nothing: so the search ends, and a weight over a path count is a number.
LEAST = 2.0**-500


@dataclass(frozen=True, eq=False)
class Bounds:
    """Cutoffs and decays of a run.

    Attributes
    ----------
    cutoffs : ndarray of float64, shape (C,)
        In hops or lengths, >= 0; inf is none.
    decays : ndarray of float64, shape (D,)
        Per hop or unit of length, finite and >= 0; 0 is none.
    """

    cutoffs: NDArray[np.float64]
    decays: NDArray[np.float64]

    def columns(self, name: str) -> int:
        """Count the columns of a sum."""
        return len(self.cutoffs) * (len(self.decays) if name in DECAYING else 1)

    @property
    def radii(self) -> NDArray[np.float64]:
        """How far each column of a sum that decays counts: to its cutoff, or to where a target counts `LEAST`."""
        with np.errstate(divide="ignore", over="ignore"):
            ends = -log(LEAST) / self.decays
        return np.minimum.outer(self.cutoffs, ends).ravel()

    def radius(self, sums: frozenset[str]) -> float:
        """How far is to be searched for some sums."""
        return float((self.radii if sums <= DECAYING else self.cutoffs).max())

    @property
    def least(self) -> float:
        """The least that a target counts."""
        return LEAST if self.decays.any() else 1.0

    def weights(self, dist: NDArray[np.float64]) -> NDArray[np.float64]:
        """How much targets count at some distances, inf where none is, if there is one cutoff and one decay."""
        (radius,), (decay,) = self.radii, self.decays
        weights, counted = np.zeros(len(dist)), np.isfinite(dist) & (dist <= radius)
        weights[counted] = np.exp(-decay * dist[counted])
        return weights

    def __iter__(self) -> Iterator[tuple[int, int, Bounds]]:
        """Each cutoff and decay: their numbers, and bounds of these alone."""
        for c, cutoff in enumerate(self.cutoffs):
            for d, decay in enumerate(self.decays):
                yield c, d, Bounds(np.array([cutoff]), np.array([decay]))
