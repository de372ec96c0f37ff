"""Memory that the host shares with kernels."""

from __future__ import annotations

import cupy as cp
import numpy as np
from numpy.typing import NDArray


def pinned_flag() -> NDArray[np.uint8]:
    """Make a flag, 0 at first, in memory that the host writes and kernels read."""
    memory = cp.cuda.alloc_pinned_memory(1)
    flag = np.frombuffer(memory, np.uint8, 1)
    flag[0] = 0
    return flag
