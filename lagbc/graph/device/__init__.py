"""Work on a graph's arrays on a GPU: rows in canonical form, transposes, searches and orders.

CuPy holds the memory and copies it. Its sorts, reductions and elementwise functions are not called: each takes one to
two seconds to compile, all kernels here half a second.
"""

from __future__ import annotations

from lagbc import tuning
from lagbc.cuda.kernel import Kernels, Source

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
