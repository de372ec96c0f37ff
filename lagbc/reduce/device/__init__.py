"""`Columns` of contracted chains on a GPU, by the kernels of streams.cu: only the sums of a group leave the device."""

from lagbc.cuda.kernel import Kernels, Source

STREAMS = Kernels(Source("reduce/device/streams.cu", ("cuda/common.cuh", "reduce/one_chain.h")))
