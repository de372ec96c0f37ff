"""The kernels of graphs."""

from __future__ import annotations

from lagbc import tuning
from lagbc.cuda.compiler import Source
from lagbc.cuda.kernel import Program

_COMMON = "cuda/common.cuh"


def _landmarks() -> dict[str, object]:
    return {"LANDMARKS": tuning.LANDMARKS}


BREADTH_FIRST = Program(Source("graph/device/breadth_first.cu", (_COMMON, "cuda/group.cuh")), cooperative=True)
CSR = Program(Source("graph/device/csr.cu", (_COMMON,)))
ORDER = Program(Source("graph/device/order.cu", (_COMMON,)))
PROXIMITY = Program(Source("graph/device/proximity.cu", (_COMMON,)), _landmarks)
SORT = Program(Source("graph/device/sort.cu", (_COMMON,)))
# In the order in which a graph needs them.
PROGRAMS = CSR, SORT, ORDER, BREADTH_FIRST, PROXIMITY
