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

from lagbc.methods.sums import PATH_SUMS

Outputs = frozenset[str]
NOTHING: Outputs = frozenset()  # that needs path counts
DELTA: Outputs = frozenset({"dependency"})

_KERNELS = files("lagbc.methods.gpu") / "kernels"
_TYPES = {"float64": "double", "float32": "float", "uint32": "unsigned"}
_BYTES = {"float64": 8, "float32": 4, "uint32": 4}
# Types of dependencies, and of distances.
_FLOATS = ("float64", "float32")
# The type of half the bytes of a type of values, in which paths are counted as exactly while they fit.
NARROW = {"float64": "uint32"}
# Blocks of 256 threads that shall be resident on a multiprocessor, to which the compiler limits registers: measured;
# for DIAL_STRESS, DIAL_EDGES and those of DELTA that have SUMS, the most at which it keeps all in registers.
RESIDENT = {
    "LEVELS": 5,
    "LEVELS_STRESS": 4,
    "LEVELS_EDGES": 3,
    "FORWARD": 5,
    "BACKWARD": 6,
    "BACKWARD_SUMS": 4,
    "DIJKSTRA": 8,
    "DIAL": 4,
    "DIAL_STRESS": 3,
    "DIAL_EDGES": 2,
    "DELTA": 4,
    "DELTA_SUMS": 2,
    "STRICT": 4,
    "DELTA_DEEP": 6,
    "DELTA_DEEP_SUMS": 4,
}
THREADS = 256  # of a block: WARPS in batched.cuh
# Kernels leave out what a run does not ask for: by macros that are 1 where it asks for one of these sums.
MACROS = {"COUNTS": PATH_SUMS, "STRESS": {"stress"}, "EDGE_SUMS": {"edges"}}
# The sources that have them.
SWEEPS = {
    "batched_hops_levels_forward": ("COUNTS",),
    "batched_hops_levels_backward": ("STRESS", "EDGE_SUMS"),
    "batched_hops_deep": ("COUNTS", "STRESS", "EDGE_SUMS"),
    "delta_stepping_dial": ("COUNTS", "STRESS", "EDGE_SUMS"),
    "delta_stepping_levels": ("STRESS", "EDGE_SUMS"),
    "delta_stepping_deep": ("STRESS", "EDGE_SUMS"),
}
# Bytes of a row that a lane has at most, in the kernels that take a launch a level.
OWN_BYTES = {
    "batched_hops_levels_forward": 32,
    "batched_hops_levels_backward": 32,
    "delta_stepping_dial": 64,
    "delta_stepping_levels": 64,
}
# Where edges are summed, a warp has whole rows, and an edge's sum one owner: else its bits would depend on the order.
EDGES_OWN_BYTES = 64
# Bytes of a depth in the traversals.
DEPTH_BYTES = (1, 2, 4)
# Each source with the headers that it is compiled behind.
SOURCES = {
    "batched_hops_levels_forward": ("common.cuh", "batched.cuh", "batched_levels.cuh", "batched_gather.cuh"),
    "batched_hops_levels_backward": (
        *("common.cuh", "batched.cuh", "batched_levels.cuh", "path_sums.cuh", "batched_gather.cuh"),
    ),
    "batched_hops_deep": ("common.cuh", "batched.cuh", "group.cuh", "batched_deep.cuh"),
    "batched_hops_sums": ("common.cuh", "batched.cuh", "group.cuh"),
    "delta_stepping_dial": ("common.cuh", "batched.cuh", "batched_levels.cuh", "path_sums.cuh"),
    "delta_stepping_levels": ("common.cuh", "batched.cuh", "batched_levels.cuh", "path_sums.cuh", "distances.cuh"),
    "delta_stepping_deep": ("common.cuh", "batched.cuh", "group.cuh", "batched_deep.cuh", "distances.cuh"),
    "delta_stepping_sums": ("common.cuh", "batched.cuh", "distances.cuh"),
    "detours": ("common.cuh", "batched.cuh", "distances.cuh"),
    "breadth_first": ("common.cuh", "group.cuh"),
    "dijkstra": ("common.cuh", "batched.cuh"),
    "traversal_node_parallel": ("common.cuh", "group.cuh", "traversal.cuh", "traversal_scan.cuh"),
    "traversal_edge_parallel": ("common.cuh", "group.cuh", "traversal.cuh", "traversal_scan.cuh"),
    "traversal_work_efficient": ("common.cuh", "traversal.cuh", "traversal_queue.cuh"),
    "traversal_active_edge": ("common.cuh", "traversal.cuh", "traversal_queue.cuh"),
}
# Sums that make a difference: betweenness, what may come to it, and distances alone.
_SUMS = (*(DELTA | Outputs(more) for more in ((), ("stress",), ("edges",), ("stress", "edges"))), NOTHING)


def source(name: str) -> str:
    """Text of kernels/`name`.cu with what it shares, lines numbered as in the files."""
    parts = []
    for file in (*SOURCES[name], f"{name}.cu"):
        parts.append(f'#line 1 "lagbc/methods/gpu/kernels/{file}"\n{(_KERNELS / file).read_text(encoding="utf-8")}')
    return "\n".join(parts)


def own_columns(name: str, dtype: str, dist: str | None = None, outputs: Outputs = DELTA) -> int:
    """Columns of a lane, in the kernels that take a launch a level."""
    if not outputs & PATH_SUMS:
        return 8
    return min(8, (EDGES_OWN_BYTES if "edges" in outputs else OWN_BYTES[name]) // _BYTES[dist or dtype])


def options(
    name: str,
    dtype: str,
    *,
    depth_bytes: int | None = None,
    dist: str | None = None,
    count: str | None = None,
    outputs: Outputs = DELTA,
) -> tuple[str, ...]:
    """Compiler options of kernels/`name`.cu for values of `dtype`, and of what else it has: depths, distances, sums."""
    return (
        "-std=c++17",
        f"-DVALUE={_TYPES[dtype]}",
        *([] if depth_bytes is None else [f"-DDEPTH_BYTES={depth_bytes}"]),
        *([] if dist is None else [f"-DDIST={_TYPES[dist]}"]),
        *([] if count is None else [f"-DSIGMA={_TYPES[count]}"]),
        *([f"-DOWN_COLUMNS={own_columns(name, dtype, dist, outputs)}"] if name in OWN_BYTES else []),
        *(f"-D{macro}={int(bool(outputs & MACROS[macro]))}" for macro in SWEEPS.get(name, ())),
        *(f"-D{kernel}_RESIDENT={blocks}" for kernel, blocks in RESIDENT.items()),
    )


def variants() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield (label, source text, options) of everything that is ever compiled."""
    for name, headers in SOURCES.items():
        seen = set()
        dtypes = _TYPES if name == "batched_hops_levels_forward" else _FLOATS
        depths = DEPTH_BYTES if name.startswith("traversal") else (None,)
        distances = _FLOATS if "distances.cuh" in headers else (None,)
        sums = _SUMS if name in SWEEPS else (DELTA,)
        counts = _TYPES if name == "batched_hops_levels_backward" else (None,)
        for dtype, depth_bytes, dist, count, outputs in product(dtypes, depths, distances, counts, sums):
            if ("stress" in outputs and dtype == "float32") or (dtype == "uint32" and not outputs):
                continue  # never asked for; see `lagbc.run.plan` for the first
            if count and (not outputs or count not in (dtype, NARROW.get(dtype))):
                continue
            asked = sorted(outputs - DELTA) if outputs else ["distances"]
            label = ", ".join(str(part) for part in (dtype, depth_bytes, dist, count, *asked) if part)
            chosen = options(name, dtype, depth_bytes=depth_bytes, dist=dist, count=count, outputs=outputs)
            if chosen not in seen:
                yield f"{name}[{label}]", source(name), chosen
            seen.add(chosen)


def load(
    name: str,
    dtype: str,
    *,
    depth_bytes: int | None = None,
    dist: str | None = None,
    count: str | None = None,
    outputs: Outputs = DELTA,
    cooperative: bool = False,
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
    count : str, optional
        Type of path counts, where it may be another than that of values.
    outputs : frozenset of str
        Sums that are asked for, in the sources `SWEEPS`.
    cooperative : bool
        Whether the blocks of a launch wait for each other, so that all have to be resident at once.
    """
    import cupy

    chosen = options(name, dtype, depth_bytes=depth_bytes, dist=dist, count=count, outputs=outputs)
    return _load(name, chosen, cooperative, cupy.cuda.Device().id)


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
