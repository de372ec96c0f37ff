"""The kernels of sums within cutoffs and decays."""

from lagbc.cuda.compiler import Source
from lagbc.methods.gpu.common.kernels import Kernels
from lagbc.methods.gpu.traversal.kernels import WAITING

_HERE = "methods/gpu/within"

# DIST, the type of distances, is given where edges have lengths.
WITHIN = Kernels(
    Source(f"{_HERE}/within.cu", (*WAITING, f"{_HERE}/search.cuh", f"{_HERE}/sums.cuh")),
    asks=("COUNTS",),
    dtypes=("float64",),
    dists=(None, "float64"),
)
