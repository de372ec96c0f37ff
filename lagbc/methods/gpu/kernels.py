"""The kernels of the methods: sources with their compile variants, by types of numbers and the sums asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from lagbc import tuning
from lagbc.cuda import compiler
from lagbc.cuda.compiler import Source
from lagbc.cuda.kernel import Kernel, Program, kernel_of
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import DEPENDENCY, PATH_SUMS, SQUARES

# No sum that needs path counts.
DISTANCES_ALONE: frozenset[str] = frozenset()

_TYPES = {"float64": "double", "float32": "float", "uint32": "unsigned"}
_BYTES = {"float64": 8, "float32": 4, "uint32": 4}
# Types of dependencies, and of distances.
FLOATS = ("float64", "float32")
# The type of half the bytes of a type of values, in which paths are counted as exactly while they fit.
NARROW = {"float64": "uint32"}
# The type in which path counts are summed, where it differs from the type of values.
_SUM_OF = {"uint32": "uint64"}
# Kernels leave out the sums that a run does not ask for: macros are 1 where it asks for one of these sums.
_MACROS = {
    "COUNTS": PATH_SUMS,
    "STRESS": {"stress"},
    "EDGE_SUMS": {"edges"},
    "SQUARES": {"dependency_squares"},
    "EDGE_SQUARES": {"edges_squares"},
}
# Sums that make a difference: betweenness, additions to it, and distances alone.
_MORE = (), ("stress",), ("edges",), ("stress", "edges"), ("dependency_squares",), ("edges", "edges_squares")
_SUMS = (*(DEPENDENCY | set(more) for more in _MORE), DISTANCES_ALONE)
# Bytes of a depth, in the traversals.
DEPTH_BYTES = (1, 2, 4)
# Headers of kernels whose columns are roots.
COMMON, GROUP, VALUES = "cuda/common.cuh", "cuda/group.cuh", "methods/gpu/common/values.cuh"
COLUMNS = "methods/gpu/common/columns.cuh"
COLUMN_HEADERS = (COMMON, VALUES, COLUMNS)
LAUNCH_PER_LEVEL = (*COLUMN_HEADERS, "methods/gpu/common/launch_per_level.cuh")
PATH_SUMS_HEADER = "methods/gpu/common/path_sums.cuh"
ONE_LAUNCH = (*COLUMN_HEADERS, GROUP, "methods/gpu/common/one_launch.cuh")


@dataclass(slots=True, eq=False)
class Variant:
    """A compile variant of a source."""

    # dtype, dist, count: types of values, distances and path counts; None where the source has no macro for the last
    # two
    dtype: str = "float64"
    dist: str | None = None
    count: str | None = None
    depth_bytes: int | None = None  # bytes of a depth, in the traversals
    sums: frozenset[str] = DEPENDENCY  # sums that are asked for
    by_column: bool = False  # whether each column has targets of its own
    class_sizes: bool = False  # whether vertices stand for several

    @classmethod
    def of(cls, plan: SweepPlan, sums: frozenset[str] | None = None, **chosen: Any) -> Variant:
        """Choose by a plan: its dtype, whether it has class sizes, and its sums if none are named."""
        class_sizes = plan.class_sizes is not None
        return cls(
            **{"dtype": plan.dtype, "sums": plan.sums if sums is None else sums, "class_sizes": class_sizes, **chosen}
        )


PLAIN = Variant()


class Kernels(NamedTuple):
    """A source, and the macros that it reads besides VALUE, the type of values."""

    source: Source
    asks: tuple[str, ...] = ()  # macros for the sums asked for: COUNTS, STRESS, EDGE_SUMS, SQUARES or EDGE_SQUARES
    resident: tuple[str, ...] = ()  # names in `lagbc.tuning.RESIDENT`
    # dtypes, dists, counts: Types of values; of distances, DIST; of path counts, SIGMA, where they may differ from
    # values. None is no such macro.
    dtypes: tuple[str, ...] = FLOATS
    dists: tuple[str | None, ...] = (None,)
    counts: tuple[str | None, ...] = (None,)
    depth_bytes: tuple[int | None, ...] = (None,)  # bytes of a depth
    # by_column, class_sizes: whether there may be targets of each column, OMEGA_BY_COLUMN, and vertices that stand for
    # several, CLASS_SIZES
    by_column: bool = False
    class_sizes: bool = False

    def own_columns(self, variant: Variant) -> int:
        """Return the columns of a lane, in the kernels that take a launch a level."""
        if not variant.sums & PATH_SUMS:
            return 8
        own_bytes = tuning.EDGES_OWN_BYTES if "edges" in variant.sums else tuning.OWN_BYTES[self.source.name]
        return min(8, own_bytes // _BYTES[variant.dist or variant.dtype])

    def options(self, variant: Variant) -> tuple[str, ...]:
        """Return the compiler's options for a variant."""
        macros: dict[str, object] = {"VALUE": _TYPES[variant.dtype]}
        if variant.depth_bytes is not None:
            macros["DEPTH_BYTES"] = variant.depth_bytes
        if variant.dist is not None:
            macros["DIST"] = _TYPES[variant.dist]
        if variant.count is not None:
            macros["SIGMA"] = _TYPES[variant.count]
        if self.source.name in tuning.OWN_BYTES:
            macros["OWN_COLUMNS"] = self.own_columns(variant)
        macros |= {macro: int(bool(variant.sums & _MACROS[macro])) for macro in self.asks}
        chosen = ("OMEGA_BY_COLUMN", variant.by_column), ("CLASS_SIZES", variant.class_sizes)
        macros |= {name: 1 for name, wanted in chosen if wanted}
        macros |= {f"{kernel}_RESIDENT": tuning.RESIDENT[kernel] for kernel in self.resident}
        return compiler.macro_options(macros)

    def begin_compile(self, variant: Variant = PLAIN, *, cooperative: bool = False) -> None:
        """Begin to compile a variant in another thread; `cooperative` if its thread blocks wait for each other."""
        compiler.begin_compile(self.source, self.options(variant), cooperative=cooperative)

    def kernel(self, name: str, variant: Variant = PLAIN, *, cooperative: bool = False) -> Kernel:
        """Return one of its kernels, on the current device."""
        numbers = {"value": variant.dtype, "sum": _SUM_OF.get(variant.dtype, variant.dtype)}
        if variant.dist:
            numbers["dist"] = variant.dist
        module = compiler.load(self.source, self.options(variant), cooperative=cooperative)
        return kernel_of(module, self.source, name, numbers)

    def variants(self) -> Iterator[tuple[str, Source, tuple[str, ...]]]:
        """Yield (label, source, options) of each compiled variant of the source."""
        seen = set()
        asked_for = _SUMS if self.asks else (DEPENDENCY,)
        # Targets by column and class sizes; no run asks for both.
        besides = [(False, False), *[(True, False)] * self.by_column, *[(False, True)] * self.class_sizes]
        for dtype, depth_bytes, dist, count, sums, (by_column, class_sizes) in product(
            self.dtypes, self.depth_bytes, self.dists, self.counts, asked_for, besides
        ):
            if (sums & (SQUARES | {"stress"}) and dtype == "float32") or (dtype == "uint32" and not sums):
                continue  # never asked for; see `lagbc.planning.plan` and `lagbc.estimate` for the first
            if by_column and sums & SQUARES:
                continue  # the same
            if (by_column or class_sizes) and (not sums or "stress" in sums or dtype == "float32"):
                continue  # the same
            if count and (not sums or count not in (dtype, NARROW.get(dtype))):
                continue
            asked = sorted(sums - DEPENDENCY) if sums else ["distances"]
            asked += ["targets by column"] * by_column + ["class sizes"] * class_sizes
            label = ", ".join(str(part) for part in (dtype, depth_bytes, dist, count, *asked) if part)
            chosen = self.options(Variant(dtype, dist, count, depth_bytes, sums, by_column, class_sizes))
            if chosen not in seen:
                yield f"{self.source.name}[{label}]", self.source, chosen
            seen.add(chosen)


# Work on arrays around the sweeps.
ARRAYS = Program(Source("methods/gpu/common/arrays.cu", (COMMON, COLUMNS)))

# Masked products on bit rows, in hops.
_BATCHED = "methods/gpu/batched"
_GATHER = f"{_BATCHED}/gather.cuh"
_ALL_SUMS = ("STRESS", "EDGE_SUMS", "SQUARES", "EDGE_SQUARES")
FORWARD = Kernels(
    Source(f"{_BATCHED}/launch_per_level_forward.cu", (*LAUNCH_PER_LEVEL, _GATHER)),
    asks=("COUNTS",),
    resident=("LEVELS",),
    dtypes=(*FLOATS, *NARROW.values()),
    class_sizes=True,
)
BACKWARD = Kernels(
    Source(f"{_BATCHED}/launch_per_level_backward.cu", (*LAUNCH_PER_LEVEL, PATH_SUMS_HEADER, _GATHER)),
    asks=_ALL_SUMS,
    resident=("LEVELS", "LEVELS_STRESS", "LEVELS_EDGES"),
    counts=(*FLOATS, *NARROW.values()),
    by_column=True,
    class_sizes=True,
)
HOPS_IN_ONE_LAUNCH = Kernels(
    Source(f"{_BATCHED}/one_launch.cu", ONE_LAUNCH),
    asks=("COUNTS", *_ALL_SUMS),
    resident=("FORWARD", "BACKWARD", "BACKWARD_SUMS"),
    by_column=True,
    class_sizes=True,
)
HOPS_SUMS = Kernels(Source(f"{_BATCHED}/sums.cu", (*COLUMN_HEADERS, GROUP)))
BLOCK = Kernels(
    Source(f"{_BATCHED}/block.cu", (*LAUNCH_PER_LEVEL, PATH_SUMS_HEADER)), asks=("SQUARES",), dtypes=("float64",)
)

# Delta-stepping.
_DELTA_STEPPING = "methods/gpu/delta_stepping"
_DISTANCES = f"{_DELTA_STEPPING}/distances.cuh"
DELTA_PER_ROUND = Kernels(
    Source(
        f"{_DELTA_STEPPING}/launch_per_round.cu",
        (*LAUNCH_PER_LEVEL, PATH_SUMS_HEADER, _DISTANCES, f"{_DELTA_STEPPING}/edges_in_reach.cuh"),
    ),
    asks=_ALL_SUMS,
    resident=("DELTA", "DELTA_SUMS"),
    dists=FLOATS,
    by_column=True,
    class_sizes=True,
)
DELTA_IN_ONE_LAUNCH = Kernels(
    Source(f"{_DELTA_STEPPING}/one_launch.cu", (*ONE_LAUNCH, _DISTANCES)),
    asks=_ALL_SUMS,
    resident=("DELTA_ONE_LAUNCH", "DELTA_ONE_LAUNCH_SUMS"),
    dists=FLOATS,
    by_column=True,
    class_sizes=True,
)
DELTA_SUMS = Kernels(Source(f"{_DELTA_STEPPING}/sums.cu", (*COLUMN_HEADERS, _DISTANCES)), dists=FLOATS)
PRUNING = Kernels(Source(f"{_DELTA_STEPPING}/pruning.cu", (*COLUMN_HEADERS, _DISTANCES)), dists=FLOATS)

# The traversals of the literature.
_TRAVERSAL = "methods/gpu/traversal"
_SCAN = (COMMON, VALUES, GROUP, f"{_TRAVERSAL}/search.cuh", f"{_TRAVERSAL}/scan.cuh")
_QUEUE = (COMMON, VALUES, f"{_TRAVERSAL}/search.cuh", f"{_TRAVERSAL}/queue.cuh")
TRAVERSALS = {
    name: Kernels(Source(f"{_TRAVERSAL}/{name}.cu", headers), depth_bytes=DEPTH_BYTES)
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
    way: Kernels(Source(f"{_TRAVERSAL}/{name}.cu", _LENGTHS), resident=("DIJKSTRA",))
    for way, name in (("work-efficient", "dijkstra"), ("node-parallel", "dijkstra_node_parallel"))
}
ROOTS = Program(Source(f"{_TRAVERSAL}/roots.cu", (COMMON,)))

PROBE = Program(Source("methods/gpu/probe.cu", (COMMON, GROUP)), cooperative=True)

KERNELS: tuple[Kernels | Program, ...] = (
    *(ARRAYS, FORWARD, BACKWARD, HOPS_IN_ONE_LAUNCH, HOPS_SUMS, BLOCK),
    *(DELTA_PER_ROUND, DELTA_IN_ONE_LAUNCH, DELTA_SUMS, PRUNING),
    *TRAVERSALS.values(),
    *DIJKSTRA.values(),
    *(ROOTS, PROBE),
)
