"""The kernels of masked products on bit rows in hops."""

from lagbc.cuda.compiler import Source
from lagbc.methods.gpu.common import kernels as common
from lagbc.methods.gpu.common.kernels import LAUNCH_PER_LEVEL, PATH_SUMS_HEADER, Kernels

_HERE = "methods/gpu/batched"
_GATHER = f"{_HERE}/gather.cuh"

FORWARD = Kernels(
    Source(f"{_HERE}/launch_per_level_forward.cu", (*LAUNCH_PER_LEVEL, _GATHER)),
    asks=("COUNTS",),
    resident=("LEVELS",),
    dtypes=(*common.FLOATS, *common.NARROW.values()),
    class_sizes=True,
)
BACKWARD = Kernels(
    Source(f"{_HERE}/launch_per_level_backward.cu", (*LAUNCH_PER_LEVEL, PATH_SUMS_HEADER, _GATHER)),
    asks=("STRESS", "EDGE_SUMS", "SQUARES", "EDGE_SQUARES"),
    resident=("LEVELS", "LEVELS_STRESS", "LEVELS_EDGES"),
    counts=(*common.FLOATS, *common.NARROW.values()),
    by_column=True,
    class_sizes=True,
)
IN_ONE_LAUNCH = Kernels(
    Source(f"{_HERE}/one_launch.cu", common.ONE_LAUNCH),
    asks=("COUNTS", "STRESS", "EDGE_SUMS", "SQUARES", "EDGE_SQUARES"),
    resident=("FORWARD", "BACKWARD", "BACKWARD_SUMS"),
    by_column=True,
    class_sizes=True,
)
SUMS = Kernels(Source(f"{_HERE}/sums.cu", (*common.COLUMN_HEADERS, common.GROUP)))
BLOCK = Kernels(
    Source(f"{_HERE}/block.cu", (*LAUNCH_PER_LEVEL, PATH_SUMS_HEADER)), asks=("SQUARES",), dtypes=("float64",)
)

KERNELS = FORWARD, BACKWARD, IN_ONE_LAUNCH, SUMS, BLOCK
