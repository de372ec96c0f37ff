"""Host memory that running kernels read: the flag by which a run is stopped."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray


def pinned_flag() -> NDArray[np.uint8]:
    """Return a zero of shape (1,) in pinned memory, which the host writes and kernels poll."""
    memory = cp.cuda.alloc_pinned_memory(1)
    flag = np.frombuffer(memory, np.uint8, 1)
    flag[0] = 0
    return flag


def host_pointer(array: NDArray[np.uint8]) -> Any:
    """Address of pinned memory, which is the same on the device."""
    return np.intp(array.ctypes.data)
