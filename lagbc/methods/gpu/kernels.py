"""The kernels of the methods: sources with what they are compiled for, by types of numbers and the sums asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from lagbc import tuning
from lagbc.cuda.kernel import NARROW, PLAIN, Kernels, Macro, Source, Variant
from lagbc.graph.device import KERNELS as OF_GRAPHS

if TYPE_CHECKING:  # wheels/cubins.py reads this table where no kernel of the CPU is compiled yet
    from lagbc.methods.contract import SweepPlan

# Types of dependencies, and of distances.
FLOATS = ("float64", "float32")
# Bytes of a depth, in the traversals.
DEPTH_BYTES = (1, 2, 4)
_MADE = {
    "stress": Macro.STRESS,
    "edges": Macro.EDGE_SUMS,
    "dependency_squares": Macro.SQUARES,
    "edges_squares": Macro.EDGE_SQUARES,
}
_ALL_SUMS = Macro.STRESS | Macro.EDGE_SUMS | Macro.SQUARES | Macro.EDGE_SQUARES
_WEIGHTS = Macro.OMEGA_BY_COLUMN | Macro.CLASS_SIZES


def sums_made(plan: SweepPlan) -> Macro:
    """Return the sums over paths that a plan asks for."""
    made = Macro.COUNTS if plan.counts_paths else Macro.NONE
    for name in plan.sums & _MADE.keys():
        made |= _MADE[name]
    return made


def variant_of(
    plan: SweepPlan,
    sums: Macro | None = None,
    *,
    dtype: str | None = None,
    dist: str | None = None,
    sigma: str | None = None,
    by_column: bool = False,
) -> Variant:
    """Choose by a plan: its dtype and its sums if none are named, and whether it has class sizes."""
    macros = sums_made(plan) if sums is None else sums
    if by_column:
        macros |= Macro.OMEGA_BY_COLUMN
    if plan.class_sizes is not None:
        macros |= Macro.CLASS_SIZES
    return Variant(dtype or plan.dtype, dist, sigma, macros=macros)


def _resident(*kernels: str) -> Callable[[], Mapping[str, object]]:
    """Name the blocks that a multiprocessor shall hold of kernels, KERNEL_RESIDENT."""
    return lambda: {f"{kernel}_RESIDENT": tuning.RESIDENT[kernel] for kernel in kernels}


# Headers of kernels whose columns are roots.
COMMON, GROUP, VALUES = "cuda/common.cuh", "cuda/group.cuh", "methods/gpu/common/values.cuh"
COLUMNS = "methods/gpu/common/columns.cuh"
COLUMN_HEADERS = (COMMON, VALUES, COLUMNS)
LAUNCH_PER_LEVEL = (*COLUMN_HEADERS, "methods/gpu/common/launch_per_level.cuh")
PATH_SUMS_HEADER = "methods/gpu/common/path_sums.cuh"
ONE_LAUNCH = (*COLUMN_HEADERS, GROUP, "methods/gpu/common/one_launch.cuh")

# Work on arrays around the sweeps.
ARRAYS = Kernels(Source("methods/gpu/common/arrays.cu", (COMMON, COLUMNS)))

# Masked products on bit rows, in hops.
_BATCHED = "methods/gpu/batched"
_GATHER = f"{_BATCHED}/gather.cuh"
FORWARD = Kernels(
    Source(f"{_BATCHED}/launch_per_level_forward.cu", (*LAUNCH_PER_LEVEL, _GATHER)),
    Macro.COUNTS | Macro.CLASS_SIZES,
    _resident("LEVELS"),
    dtypes=(*FLOATS, *NARROW.values()),
)
BACKWARD = Kernels(
    Source(f"{_BATCHED}/launch_per_level_backward.cu", (*LAUNCH_PER_LEVEL, PATH_SUMS_HEADER, _GATHER)),
    _ALL_SUMS | _WEIGHTS,
    _resident("LEVELS", "LEVELS_STRESS", "LEVELS_EDGES"),
    dtypes=FLOATS,
    sigmas=(*FLOATS, *NARROW.values()),
)
HOPS_IN_ONE_LAUNCH = Kernels(
    Source(f"{_BATCHED}/one_launch.cu", ONE_LAUNCH),
    Macro.COUNTS | _ALL_SUMS | _WEIGHTS,
    _resident("FORWARD", "BACKWARD", "BACKWARD_SUMS"),
    dtypes=FLOATS,
    cooperative=True,
)
HOPS_SUMS = Kernels(Source(f"{_BATCHED}/sums.cu", (*COLUMN_HEADERS, GROUP)), dtypes=FLOATS)
HOPS_SUMS_IN_ONE_LAUNCH = HOPS_SUMS._replace(cooperative=True)
BLOCK = Kernels(
    Source(f"{_BATCHED}/block.cu", (*LAUNCH_PER_LEVEL, PATH_SUMS_HEADER)), Macro.SQUARES, dtypes=("float64",)
)

# Delta-stepping.
_DELTA_STEPPING = "methods/gpu/delta_stepping"
_DISTANCES = f"{_DELTA_STEPPING}/distances.cuh"
DELTA_PER_ROUND = Kernels(
    Source(
        f"{_DELTA_STEPPING}/launch_per_round.cu",
        (*LAUNCH_PER_LEVEL, PATH_SUMS_HEADER, _DISTANCES, f"{_DELTA_STEPPING}/edges_in_reach.cuh"),
    ),
    _ALL_SUMS | _WEIGHTS,
    _resident("DELTA", "DELTA_SUMS"),
    dtypes=FLOATS,
    dists=FLOATS,
)
DELTA_IN_ONE_LAUNCH = Kernels(
    Source(f"{_DELTA_STEPPING}/one_launch.cu", (*ONE_LAUNCH, _DISTANCES)),
    _ALL_SUMS | _WEIGHTS,
    _resident("DELTA_ONE_LAUNCH", "DELTA_ONE_LAUNCH_SUMS"),
    dtypes=FLOATS,
    dists=FLOATS,
    cooperative=True,
)
_OF_DISTANCES = (*COLUMN_HEADERS, _DISTANCES)
DELTA_SUMS = Kernels(Source(f"{_DELTA_STEPPING}/sums.cu", _OF_DISTANCES), dtypes=FLOATS, dists=FLOATS)
PRUNING = Kernels(Source(f"{_DELTA_STEPPING}/pruning.cu", _OF_DISTANCES), dtypes=FLOATS, dists=FLOATS)

# The traversals of the literature.
_TRAVERSAL = "methods/gpu/traversal"
_SCAN = (COMMON, VALUES, GROUP, f"{_TRAVERSAL}/search.cuh", f"{_TRAVERSAL}/scan.cuh")
_QUEUE = (COMMON, VALUES, f"{_TRAVERSAL}/search.cuh", f"{_TRAVERSAL}/queue.cuh")
TRAVERSALS = {
    name: Kernels(Source(f"{_TRAVERSAL}/{name}.cu", headers), dtypes=FLOATS, depth_bytes=DEPTH_BYTES)
    for name, headers in (
        ("node_parallel", _SCAN),
        ("edge_parallel", _SCAN),
        ("work_efficient", _QUEUE),
        ("active_edge", _QUEUE),
    )
}
_LENGTHS = (COMMON, VALUES, f"{_TRAVERSAL}/lengths.cuh")
# By the ways of the method.
DIJKSTRA = {
    way: Kernels(Source(f"{_TRAVERSAL}/{name}.cu", _LENGTHS), constants=_resident("DIJKSTRA"), dtypes=FLOATS)
    for way, name in (("work-efficient", "dijkstra"), ("node-parallel", "dijkstra_node_parallel"))
}
ROOTS = Kernels(Source(f"{_TRAVERSAL}/roots.cu", (COMMON,)))

PROBE = Kernels(Source("methods/gpu/probe.cu", (COMMON, GROUP)), cooperative=True)

KERNELS: tuple[Kernels, ...] = (
    *(ARRAYS, FORWARD, BACKWARD, HOPS_IN_ONE_LAUNCH, HOPS_SUMS, BLOCK),
    *(DELTA_PER_ROUND, DELTA_IN_ONE_LAUNCH, DELTA_SUMS, PRUNING),
    *TRAVERSALS.values(),
    *DIJKSTRA.values(),
    *(ROOTS, PROBE),
)


_ALWAYS = ((PROBE, PLAIN), (ARRAYS, PLAIN))
_IN_HOPS = ((FORWARD, Variant("uint32")), (BACKWARD, Variant("float64", sigma="uint32")))
_WITH_LENGTHS = ((DIJKSTRA["work-efficient"], Variant("float64")), (ROOTS, PLAIN))
_OF_DEEP_GRAPHS = (
    (HOPS_IN_ONE_LAUNCH, Variant("float64")),
    (TRAVERSALS["work_efficient"], Variant("float64", depth_bytes=2)),
    (DELTA_PER_ROUND, Variant("float64", "float32")),
    (DELTA_IN_ONE_LAUNCH, Variant("float64", "float32")),
)
# The kernels of most runs of betweenness, which wheels bring compiled.
SHIPPED = (*((kernels, PLAIN) for kernels in OF_GRAPHS), *_ALWAYS, *_IN_HOPS, *_WITH_LENGTHS, *_OF_DEEP_GRAPHS)


def begin_common(*, weighted: bool) -> None:
    """Begin to load or compile, in other threads, the kernels with which most runs of betweenness begin."""
    for kernels, variant in (*_ALWAYS, *(_WITH_LENGTHS if weighted else _IN_HOPS)):
        kernels.begin_compile(variant)
