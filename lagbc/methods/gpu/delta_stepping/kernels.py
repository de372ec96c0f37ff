"""The kernels of Delta-stepping."""

from lagbc.cuda.compiler import Source
from lagbc.methods.gpu.common import kernels as common
from lagbc.methods.gpu.common.kernels import LAUNCH_PER_LEVEL, PATH_SUMS_HEADER, Kernels

_HERE = "methods/gpu/delta_stepping"
_DISTANCES = f"{_HERE}/distances.cuh"

PER_ROUND = Kernels(
    Source(
        f"{_HERE}/launch_per_round.cu",
        (*LAUNCH_PER_LEVEL, PATH_SUMS_HEADER, _DISTANCES, f"{_HERE}/edges_in_reach.cuh"),
    ),
    asks=("STRESS", "EDGE_SUMS", "SQUARES", "EDGE_SQUARES"),
    resident=("DELTA", "DELTA_SUMS"),
    dists=common.FLOATS,
    by_column=True,
    class_sizes=True,
)
IN_ONE_LAUNCH = Kernels(
    Source(f"{_HERE}/one_launch.cu", (*common.ONE_LAUNCH, _DISTANCES)),
    asks=("STRESS", "EDGE_SUMS", "SQUARES", "EDGE_SQUARES"),
    resident=("DELTA_ONE_LAUNCH", "DELTA_ONE_LAUNCH_SUMS"),
    dists=common.FLOATS,
    by_column=True,
    class_sizes=True,
)
SUMS = Kernels(Source(f"{_HERE}/sums.cu", (*common.COLUMN_HEADERS, _DISTANCES)), dists=common.FLOATS)
PRUNING = Kernels(Source(f"{_HERE}/pruning.cu", (*common.COLUMN_HEADERS, _DISTANCES)), dists=common.FLOATS)

KERNELS = PER_ROUND, IN_ONE_LAUNCH, SUMS, PRUNING
