"""The kernels of streams."""

from lagbc.cuda.compiler import Source
from lagbc.cuda.kernel import Program

STREAMS = Program(Source("reduce/device/streams.cu", ("cuda/common.cuh", "reduce/one_chain.h")))
