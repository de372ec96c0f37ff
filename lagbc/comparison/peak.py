"""Peaks of memory, on the host and on the device."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lagbc.limits import give_back


class PeakMemory:
    """The peak of memory in a block above its entry, in `bytes` after exit."""

    bytes: int | None = None

    def __init__(self, device: str) -> None:
        self._device = device

    def __enter__(self) -> PeakMemory:
        gc.collect()  # objects of python-graphblas are in reference cycles
        if self._device == "cuda":
            self._pool.free_all_blocks()
            self._before: int | None = self._pool.total_bytes()
        else:
            self._before = resident("VmRSS") if _trim() else None
        return self

    def __exit__(self, *_: object) -> None:
        after = self._pool.total_bytes() if self._device == "cuda" else resident("VmHWM")
        if self._before is not None and after is not None:
            self.bytes = max(after - self._before, 0)

    @property
    def _pool(self) -> Any:
        import cupy

        return cupy.get_default_memory_pool()


# More objects than Python sets apart by itself: 3.12 sets 375 apart.
OF_THE_INTERPRETER = 1000


@contextmanager
def old_objects_apart() -> Iterator[None]:
    """Set present objects apart from the collector, unless some are: each `PeakMemory` saves a tenth of a second."""
    apart = gc.get_freeze_count() <= OF_THE_INTERPRETER
    if apart:
        gc.collect()
        gc.freeze()
    try:
        yield
    finally:
        if apart:
            gc.unfreeze()


def _trim() -> bool:
    """Give free memory back, as the next method could use it unseen, and reset the peak; False where impossible."""
    if sys.platform != "linux" or not give_back():
        return False
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def resident(field: str) -> int | None:
    """Read ``VmRSS`` (resident now) or ``VmHWM`` (its peak) of this process, in bytes."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(field)), None)
