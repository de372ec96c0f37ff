"""Dependencies of roots, a row a root, summed in a fixed order, which keeps the bits of the traversals."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc.methods.gpu.traversal.kernels import ROOTS
from lagbc.methods.sums import Sums

# Roots that are summed together. More take fewer additions to the run's sums, and a larger least batch.
ROOTS_OF_BLOCK = 32


def add_roots(delta: Any, times: Any, places: NDArray[np.int64], order: Any, sums: Sums) -> None:
    """Add rows of roots, in their order, to their blocks' rows of a batch's dependencies and, if asked for, squares.

    Of `delta` (rows, stride), in sweep order, the first entries count, as many as `order` has. `times` (rows,) says how
    often each root counts, as its row does already; None is once. `places` of the roots in the batch ascend.
    """
    if not len(places) or not len(order):
        return
    blocks = int(places[-1]) // ROOTS_OF_BLOCK + 1
    sums.require_rows(blocks, int(places[-1]) + 1)
    firsts = np.searchsorted(places, ROOTS_OF_BLOCK * np.arange(blocks + 1)).astype(np.int32)
    ROOTS.launch(
        "sum_roots",
        len(order),
        blocks,
        n=len(order),
        stride=delta.shape[1],
        firsts=cp.asarray(firsts),
        order=order,
        delta=delta,
        times=times,
        sums_stride=sums.dependency.shape[1],
        sums=sums.dependency,
        squares=sums.dependency_squares,
    )
