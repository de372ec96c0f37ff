"""CUDA sources as text, and as compiled modules, one a device and set of options.

A kernel file is compiled behind common.cuh, which is put before it as text: a compiler's cache sees the whole source.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

_KERNELS = files("lagbc.gpu") / "kernels"
_TYPES = {"float64": "double", "float32": "float"}
# Blocks of 256 threads that shall be resident on a multiprocessor, to which the compiler limits registers: measured.
LEVELS_RESIDENT = 5
DEEP_RESIDENT = {"FORWARD": 5, "BACKWARD": 6}
# Each source, and the constants that it is compiled with.
SOURCES: dict[str, tuple[dict[str, int], ...]] = {
    "batched_hops_levels": ({},),
    "batched_hops_deep": ({"TEAM": 16}, {"TEAM": 32}),
    "breadth_first": ({},),
}
# Sources whose kernels wait for each other: all their blocks have to be resident.
_COOPERATIVE = ("batched_hops_deep", "breadth_first")
THREADS = 256  # of a block: WARPS in common.cuh


def source(name: str) -> str:
    """Text of kernels/`name`.cu with what it shares, lines numbered as in the files."""
    parts = []
    for file in ("common.cuh", f"{name}.cu"):
        parts.append(f'#line 1 "lagbc/gpu/kernels/{file}"\n{(_KERNELS / file).read_text(encoding="utf-8")}')
    return "\n".join(parts)


def options(dtype: str, constants: dict[str, int]) -> tuple[str, ...]:
    """Compiler options for values of `dtype`."""
    return (
        "-std=c++17",
        f"-DVALUE={_TYPES[dtype]}",
        f"-DLEVELS_RESIDENT={LEVELS_RESIDENT}",
        *(f"-D{sweep}_RESIDENT={blocks}" for sweep, blocks in DEEP_RESIDENT.items()),
        *(f"-D{constant}={value}" for constant, value in constants.items()),
    )


def variants() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield (label, source text, options) of everything that is ever compiled."""
    for name, all_constants in SOURCES.items():
        for dtype, constants in product(_TYPES, all_constants):
            label = ", ".join([dtype, *(f"{constant}={value}" for constant, value in constants.items())])
            yield f"{name}[{label}]", source(name), options(dtype, constants)


def load(name: str, dtype: str, **constants: int) -> Any:
    """Return the cupy.RawModule of kernels/`name`.cu for values of `dtype`, on the current device."""
    import cupy

    assert constants in SOURCES[name], f"{name} is not compiled with {constants}"
    return _load(name, dtype, tuple(constants.items()), cupy.cuda.Device().id)


def resident_blocks(kernel: Any) -> int:
    """Blocks of a kernel that the current device holds at once."""
    import cupy

    limits = cupy.cuda.Device().attributes
    by_registers = limits["MaxRegistersPerMultiprocessor"] // (-(-kernel.num_regs // 8) * 8 * THREADS)
    by_threads = limits["MaxThreadsPerMultiProcessor"] // THREADS
    return int(limits["MultiProcessorCount"] * min(by_registers, by_threads))


@cache
def _load(name: str, dtype: str, constants: tuple[tuple[str, int], ...], device: int) -> Any:
    import cupy

    flags = options(dtype, dict(constants))
    return cupy.RawModule(code=source(name), options=flags, enable_cooperative_groups=name in _COOPERATIVE)
