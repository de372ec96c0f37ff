"""CUDA sources as text, and as compiled modules, one a device and set of options.

A kernel file is compiled behind the headers that it names in `SOURCES`, which are put before it as text: a compiler's
cache sees the whole source.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

_KERNELS = files("lagbc.gpu") / "kernels"
_TYPES = {"float64": "double", "float32": "float"}
_BYTES = {"float64": 8, "float32": 4}
# Blocks of 256 threads that shall be resident on a multiprocessor, to which the compiler limits registers: measured.
RESIDENT = {
    "LEVELS": 5,
    "FORWARD": 5,
    "BACKWARD": 6,
    "DIJKSTRA": 8,
    "DIAL": 4,
    "DELTA": 3,
    "STRICT": 2,
    "DELTA_DEEP": 5,
}
THREADS = 256  # of a block: WARPS in batched.cuh
# Bytes of a row that a lane has at most, in the kernels that take a launch a level.
OWN_BYTES = {"batched_hops_levels": 32, "delta_stepping_dial": 64, "delta_stepping_levels": 64}
# Bytes of a depth in the traversals.
DEPTH_BYTES = (1, 2, 4)
# Each source with the headers that it is compiled behind.
SOURCES = {
    "batched_hops_levels": ("common.cuh", "batched.cuh", "batched_levels.cuh"),
    "batched_hops_deep": ("common.cuh", "batched.cuh", "group.cuh", "batched_deep.cuh"),
    "delta_stepping_dial": ("common.cuh", "batched.cuh", "batched_levels.cuh"),
    "delta_stepping_levels": ("common.cuh", "batched.cuh", "batched_levels.cuh", "distances.cuh"),
    "delta_stepping_deep": ("common.cuh", "batched.cuh", "group.cuh", "batched_deep.cuh", "distances.cuh"),
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


def own_columns(name: str, dtype: str, dist: str | None = None) -> int:
    """Columns of a lane, in the kernels that take a launch a level."""
    return min(8, OWN_BYTES[name] // _BYTES[dist or dtype])


def options(name: str, dtype: str, *, depth_bytes: int | None = None, dist: str | None = None) -> tuple[str, ...]:
    """Compiler options of kernels/`name`.cu for values of `dtype`, and depths and distances where it has them."""
    return (
        "-std=c++17",
        f"-DVALUE={_TYPES[dtype]}",
        *([] if depth_bytes is None else [f"-DDEPTH_BYTES={depth_bytes}"]),
        *([] if dist is None else [f"-DDIST={_TYPES[dist]}"]),
        *([f"-DOWN_COLUMNS={own_columns(name, dtype, dist)}"] if name in OWN_BYTES else []),
        *(f"-D{kernel}_RESIDENT={blocks}" for kernel, blocks in RESIDENT.items()),
    )


def variants() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield (label, source text, options) of everything that is ever compiled."""
    for name, headers in SOURCES.items():
        depths = DEPTH_BYTES if name.startswith("traversal") else (None,)
        distances = _TYPES if "distances.cuh" in headers else (None,)
        for dtype, depth_bytes, dist in product(_TYPES, depths, distances):
            label = ", ".join(str(part) for part in (dtype, depth_bytes, dist) if part)
            yield f"{name}[{label}]", source(name), options(name, dtype, depth_bytes=depth_bytes, dist=dist)


def load(
    name: str, dtype: str, *, depth_bytes: int | None = None, dist: str | None = None, cooperative: bool = False
) -> Any:
    """Return the cupy.RawModule of kernels/`name`.cu on the current device.

    Parameters
    ----------
    name : str
        One of `SOURCES`.
    dtype : str
        Type of values.
    depth_bytes : int, optional
        Bytes of a depth, in the traversals.
    dist : str, optional
        Type of distances, where the source has them.
    cooperative : bool
        Whether the blocks of a launch wait for each other, so that all have to be resident at once.
    """
    import cupy

    return _load(name, options(name, dtype, depth_bytes=depth_bytes, dist=dist), cooperative, cupy.cuda.Device().id)


def resident_blocks(threads: int, *kernels: Any) -> int:
    """Blocks of so many threads that the device holds at once, of whichever of some kernels takes most registers."""
    import cupy

    limits = cupy.cuda.Device().attributes
    registers = max(kernel.num_regs for kernel in kernels)
    by_registers = limits["MaxRegistersPerMultiprocessor"] // (-(-registers // 8) * 8 * threads)
    by_threads = limits["MaxThreadsPerMultiProcessor"] // threads
    return int(limits["MultiProcessorCount"] * min(by_registers, by_threads))


@cache
def _load(name: str, chosen: tuple[str, ...], cooperative: bool, device: int) -> Any:
    import cupy

    return cupy.RawModule(code=source(name), options=chosen, enable_cooperative_groups=cooperative)
