"""What one run asks of a method: one frozen record, read by `prepare`, `forward` and `backward`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Interrupted(Exception):  # noqa: N818 (a request, not an error)
    """Raised by a method that saw the stop flag between two levels; its state may be thrown away."""


class UnlikeBlocks(Exception):  # noqa: N818 (a request, not an error)
    """Raised by a method that cannot sweep some blocks of a batch with the others: each kind has to come by itself.

    Attributes
    ----------
    apart : ndarray of bool
        For each block of the batch, whether it is of the second kind.
    levels : object or None
        What the forward sweep left for the blocks of the first kind, if it is done with them: they need not come again.
    """

    def __init__(self, apart: NDArray[np.bool_], levels: Any = None) -> None:
        super().__init__()
        self.apart = apart
        self.levels = levels


class StopFlag:
    """A flag that running kernels poll once a level.

    Attributes
    ----------
    value : ndarray of uint8, shape (1,)
        Nonzero once the run shall stop; the array itself is what compiled code polls.
    """

    def __init__(self) -> None:
        self.value: NDArray[np.uint8] = np.zeros(1, np.uint8)

        self._mirrors: list[NDArray[np.uint8]] = []

    def mirror(self, flag: NDArray[np.uint8]) -> None:
        """Let `flag`, in memory that a device can read, be set with this one."""
        self._mirrors.append(flag)

    def set(self) -> None:
        """Ask every worker to stop at its next level."""
        for flag in (self.value, *self._mirrors):
            flag[0] = 1

    def check(self) -> None:
        """Raise `Interrupted` if the flag is set."""
        if self.value[0]:
            raise Interrupted


@dataclass(frozen=True, eq=False)
class Plan:
    """How a run is to be carried out.

    Attributes
    ----------
    batch : int
        Roots (columns) in one batch.
    threads : int
        CPU threads in all.
    dtype : str
        Type of path counts and dependencies; scores are always float64.
    endpoints : bool
        Whether the ends of a path count as vertices on it.
    omega : ndarray of float64, shape (n,), or None
        How many targets each vertex stands for; None is one each.
    multiplicity : ndarray of float64, shape (n,), or None
        How often each vertex counts as a root; None is once each.
    rtol : float
        Relative difference up to which two path lengths count as equal.
    outputs : frozenset of str
        The sums asked for: names of fields of `lagbc.sums.Sums`.
    delta : float or None
        Width of the buckets of Delta-stepping; None lets the method choose.
    method : str
        Name of the row of METHODS that is run; what a module that serves several rows goes by.
    roots : int or None
        How many the run has, in all batches; None if that is not known.
    variant : str or None
        Which of a traversal's ways is taken: "all-blocks" puts all blocks of a GPU on one root, "one-block" one;
        "work-efficient" and "node-parallel" are those of dijkstra. None lets the method choose.
    virtual_warp : int or None
        Traversals: threads that share the edges of a vertex, a power of two up to 32; None lets the method choose.
    stop : StopFlag
        Polled once a level.
    """

    batch: int
    threads: int = 1
    dtype: str = "float64"
    endpoints: bool = False
    omega: NDArray[np.float64] | None = None
    multiplicity: NDArray[np.float64] | None = None
    rtol: float = 0.0
    delta: float | None = None
    outputs: frozenset[str] = frozenset({"delta"})
    roots: int | None = None
    variant: str | None = None
    method: str = ""
    virtual_warp: int | None = None
    stop: StopFlag = field(default_factory=StopFlag)

    @property
    def sigma_limit(self) -> float:
        """The largest path count that leaves omega / sigma a normal number; roots with larger ones are recomputed."""
        largest = 2.0**126 if self.dtype == "float32" else 2.0**1022
        if self.omega is None or not self.omega.any():
            return largest
        return largest * min(1.0, float(self.omega[self.omega > 0].min()))
