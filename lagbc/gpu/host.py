"""What methods do around their launches: memory that the host shares with kernels, and how many blocks are resident."""

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


def resident_blocks(threads: int, *kernels: Any) -> int:
    """Blocks of so many threads that the device holds at once, of whichever of some kernels takes most registers."""
    limits = cp.cuda.Device().attributes
    registers = max(kernel.num_regs for kernel in kernels)
    by_registers = limits["MaxRegistersPerMultiprocessor"] // (-(-registers // 8) * 8 * threads)
    by_threads = limits["MaxThreadsPerMultiProcessor"] // threads
    return int(limits["MultiProcessorCount"] * min(by_registers, by_threads))
