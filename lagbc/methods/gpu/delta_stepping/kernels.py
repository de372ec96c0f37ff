"""The kernels of Delta-stepping."""

from lagbc.cuda.compiler import Source
from lagbc.methods.gpu.common.kernels import (
    COLUMN_HEADERS,
    FLOATS,
    LAUNCH_PER_LEVEL,
    ONE_LAUNCH,
    PATH_SUMS_HEADER,
    Kernels,
)

_HERE = "methods/gpu/delta_stepping"
_DISTANCES = f"{_HERE}/distances.cuh"

PER_ROUND = Kernels(
    Source(
        f"{_HERE}/launch_per_round.cu",
        (*LAUNCH_PER_LEVEL, PATH_SUMS_HEADER, _DISTANCES, f"{_HERE}/edges_in_reach.cuh"),
    ),
    asks=("STRESS", "EDGE_SUMS", "SQUARES", "EDGE_SQUARES"),
    resident=("DELTA", "DELTA_SUMS", "STRICT"),
    dists=FLOATS,
    by_column=True,
    class_sizes=True,
)
IN_ONE_LAUNCH = Kernels(
    Source(f"{_HERE}/one_launch.cu", (*ONE_LAUNCH, _DISTANCES)),
    asks=("STRESS", "EDGE_SUMS", "SQUARES", "EDGE_SQUARES"),
    resident=("DELTA_ONE_LAUNCH", "DELTA_ONE_LAUNCH_SUMS"),
    dists=FLOATS,
    by_column=True,
    class_sizes=True,
)
SUMS = Kernels(Source(f"{_HERE}/sums.cu", (*COLUMN_HEADERS, _DISTANCES)), dists=FLOATS)
PRUNING = Kernels(Source(f"{_HERE}/pruning.cu", (*COLUMN_HEADERS, _DISTANCES)), dists=FLOATS)

KERNELS = PER_ROUND, IN_ONE_LAUNCH, SUMS, PRUNING
