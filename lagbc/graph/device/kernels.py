"""The kernels of graphs."""

from __future__ import annotations

from lagbc import tuning
from lagbc.cuda.compiler import Source
from lagbc.cuda.kernel import Kernels

_COMMON = "cuda/common.cuh"


def _landmarks() -> dict[str, object]:
    return {"LANDMARKS": tuning.LANDMARKS}


BREADTH_FIRST = Kernels(Source("graph/device/breadth_first.cu", (_COMMON, "cuda/group.cuh")), cooperative=True)
CSR = Kernels(Source("graph/device/csr.cu", (_COMMON,)))
ORDER = Kernels(Source("graph/device/order.cu", (_COMMON,)))
PROXIMITY = Kernels(Source("graph/device/proximity.cu", (_COMMON,)), constants=_landmarks)
SORT = Kernels(Source("graph/device/sort.cu", (_COMMON,)))
# In the order in which a graph needs them.
KERNELS = CSR, SORT, ORDER, BREADTH_FIRST, PROXIMITY
