"""CUDA sources as text, and as compiled modules, one a device and set of options.

A kernel file is compiled behind common.cuh, which is put before it as text: a compiler's cache sees the whole source.
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
SOURCES = ("batched_hops_levels", "batched_hops_deep", "breadth_first", "dijkstra")
# Sources whose kernels wait for each other: all their blocks have to be resident.
_COOPERATIVE = ("batched_hops_deep", "breadth_first")
THREADS = 256  # of a block: WARPS in common.cuh


def source(name: str) -> str:
    """Text of kernels/`name`.cu with what it shares, lines numbered as in the files."""
    parts = []
    for file in ("common.cuh", f"{name}.cu"):
        parts.append(f'#line 1 "lagbc/gpu/kernels/{file}"\n{(_KERNELS / file).read_text(encoding="utf-8")}')
    return "\n".join(parts)


def options(dtype: str) -> tuple[str, ...]:
    """Compiler options for values of `dtype`."""
    return (
        "-std=c++17",
        f"-DVALUE={_TYPES[dtype]}",
        f"-DLEVELS_RESIDENT={LEVELS_RESIDENT}",
        *(f"-D{sweep}_RESIDENT={blocks}" for sweep, blocks in DEEP_RESIDENT.items()),
        f"-DDIJKSTRA_RESIDENT={DIJKSTRA_RESIDENT}",
    )


def variants() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield (label, source text, options) of everything that is ever compiled."""
    for name in SOURCES:
        for dtype in _TYPES:
            yield f"{name}[{dtype}]", source(name), options(dtype)


def load(name: str, dtype: str) -> Any:
    """Return the cupy.RawModule of kernels/`name`.cu for values of `dtype`, on the current device."""
    import cupy

    return _load(name, dtype, cupy.cuda.Device().id)


def resident_blocks(kernel: Any) -> int:
    """Blocks of a kernel that the current device holds at once."""
    import cupy

    limits = cupy.cuda.Device().attributes
    by_registers = limits["MaxRegistersPerMultiprocessor"] // (-(-kernel.num_regs // 8) * 8 * THREADS)
    by_threads = limits["MaxThreadsPerMultiProcessor"] // THREADS
    return int(limits["MultiProcessorCount"] * min(by_registers, by_threads))


@cache
def _load(name: str, dtype: str, device: int) -> Any:
    import cupy

    return cupy.RawModule(code=source(name), options=options(dtype), enable_cooperative_groups=name in _COOPERATIVE)
