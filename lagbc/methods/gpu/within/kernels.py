"""The kernel of sums within cutoffs and decays."""

from lagbc.cuda.compiler import Source
from lagbc.methods.gpu.common.kernels import COMMON, Kernels

# DIST, the type of distances, is given where edges have lengths.
WITHIN = Kernels(
    Source("methods/gpu/within/within.cu", (COMMON,)),
    asks=("COUNTS",),
    dtypes=("float64",),
    dists=(None, "float64"),
)
