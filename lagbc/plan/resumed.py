"""How a run was planned that goes on: by a checkpoint, or by the parts that are merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Begun(NamedTuple):
    """How a step was begun: name and device of its method, and whether chains were contracted."""

    name: str
    device: str
    chains: bool

    @classmethod
    def of(cls, label: str) -> Begun:
        """Read the label of a step."""
        name, _, device = label.removeprefix("chains ").rpartition(" ")
        return cls(name, device, label.startswith("chains "))


@dataclass(frozen=True, eq=False)
class Resumed:
    """The steps of a run that goes on, and its roots, if they were a sample.

    Attributes
    ----------
    steps : tuple of Begun
    roots : ndarray of int64 or None
    """

    steps: tuple[Begun, ...] = ()
    roots: NDArray[np.int64] | None = None

    def sample(self, count: int, n: int) -> NDArray[np.int64] | None:
        """Return the roots, if they are so many distinct vertices of n, which another sample is no better than."""
        roots = self.roots
        if roots is None or len(roots) != count or not ((roots >= 0) & (roots < n)).all():
            return None
        return roots if len(np.unique(roots)) == count else None


NOTHING = Resumed()
