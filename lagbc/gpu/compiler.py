"""CUDA sources as text, and as compiled modules, one a device and set of options.

A kernel file is compiled behind the headers that it names in `SOURCES`, which are put before it as text: a compiler's
cache sees the whole source.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

_KERNELS = files("lagbc.gpu") / "kernels"
_TYPES = {"float64": "double", "float32": "float"}
# Blocks of 256 threads that shall be resident on a multiprocessor, to which the compiler limits registers: measured.
LEVELS_RESIDENT = 5
DEEP_RESIDENT = {"FORWARD": 5, "BACKWARD": 6}
DIJKSTRA_RESIDENT = 8
THREADS = 256  # of a block: WARPS in batched.cuh
# Bytes of a depth in the traversals.
DEPTH_BYTES = (1, 2, 4)
# Each source with the headers that it is compiled behind.
SOURCES = {
    "batched_hops_levels": ("common.cuh", "batched.cuh"),
    "batched_hops_deep": ("common.cuh", "batched.cuh", "group.cuh"),
    "breadth_first": ("common.cuh", "group.cuh"),
    "dijkstra": ("common.cuh", "batched.cuh"),
    "traversal_node_parallel": ("common.cuh", "group.cuh", "traversal.cuh", "traversal_scan.cuh"),
    "traversal_edge_parallel": ("common.cuh", "group.cuh", "traversal.cuh", "traversal_scan.cuh"),
    "traversal_work_efficient": ("common.cuh", "traversal.cuh", "traversal_queue.cuh"),
    "traversal_active_edge": ("common.cuh", "traversal.cuh", "traversal_queue.cuh"),
}


def source(name: str) -> str:
    """Text of kernels/`name`.cu with what it shares, lines numbered as in the files."""
    parts = []
    for file in (*SOURCES[name], f"{name}.cu"):
        parts.append(f'#line 1 "lagbc/gpu/kernels/{file}"\n{(_KERNELS / file).read_text(encoding="utf-8")}')
    return "\n".join(parts)


def options(dtype: str, depth_bytes: int | None = None) -> tuple[str, ...]:
    """Compiler options for values of `dtype`, in the traversals for depths of so many bytes."""
    return (
        "-std=c++17",
        f"-DVALUE={_TYPES[dtype]}",
        f"-DLEVELS_RESIDENT={LEVELS_RESIDENT}",
        *(f"-D{sweep}_RESIDENT={blocks}" for sweep, blocks in DEEP_RESIDENT.items()),
        f"-DDIJKSTRA_RESIDENT={DIJKSTRA_RESIDENT}",
        *([] if depth_bytes is None else [f"-DDEPTH_BYTES={depth_bytes}"]),
    )


def variants() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield (label, source text, options) of everything that is ever compiled."""
    for name in SOURCES:
        for depth_bytes in DEPTH_BYTES if name.startswith("traversal") else (None,):
            for dtype in _TYPES:
                label = dtype if depth_bytes is None else f"{dtype}, depths of {depth_bytes}"
                yield f"{name}[{label}]", source(name), options(dtype, depth_bytes)


def load(name: str, dtype: str, *, depth_bytes: int | None = None, cooperative: bool = False) -> Any:
    """Return the cupy.RawModule of kernels/`name`.cu on the current device.

    Parameters
    ----------
    name : str
        One of `SOURCES`.
    dtype : str
        Type of values.
    depth_bytes : int, optional
        Bytes of a depth, in the traversals.
    cooperative : bool
        Whether the blocks of a launch wait for each other, so that all have to be resident at once.
    """
    import cupy

    return _load(name, dtype, depth_bytes, cooperative, cupy.cuda.Device().id)


def resident_blocks(threads: int, *kernels: Any) -> int:
    """Blocks of so many threads that the device holds at once, of whichever of some kernels takes most registers."""
    import cupy

    limits = cupy.cuda.Device().attributes
    registers = max(kernel.num_regs for kernel in kernels)
    by_registers = limits["MaxRegistersPerMultiprocessor"] // (-(-registers // 8) * 8 * threads)
    by_threads = limits["MaxThreadsPerMultiProcessor"] // threads
    return int(limits["MultiProcessorCount"] * min(by_registers, by_threads))


@cache
def _load(name: str, dtype: str, depth_bytes: int | None, cooperative: bool, device: int) -> Any:
    import cupy

    return cupy.RawModule(code=source(name), options=options(dtype, depth_bytes), enable_cooperative_groups=cooperative)
