"""Memory that the host shares with kernels, and pointers to pass to them."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray


def pinned_flag() -> NDArray[np.uint8]:
    """Make a flag, 0 at first, in memory that the host writes and kernels read."""
    memory = cp.cuda.alloc_pinned_memory(1)
    flag = np.frombuffer(memory, np.uint8, 1)
    flag[0] = 0
    return flag


def host_pointer(array: NDArray[Any]) -> Any:
    """Address of pinned memory, which is the same on the device."""
    return np.intp(array.ctypes.data)


def null() -> Any:
    """Give a kernel a null pointer."""
    return np.intp(0)


def pointer(array: Any) -> Any:
    """Give a kernel an array, or a null pointer for None."""
    return null() if array is None else array
