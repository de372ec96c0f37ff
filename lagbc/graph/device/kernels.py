"""The kernels of graphs."""

from __future__ import annotations

from collections.abc import Iterator

from lagbc.cuda.compiler import Source
from lagbc.cuda.kernel import Program
from lagbc.graph import tuning

_COMMON = "cuda/common.cuh"


def _landmarks() -> dict[str, object]:
    return {"LANDMARKS": tuning.LANDMARKS}


BREADTH_FIRST = Program(Source("graph/device/breadth_first.cu", (_COMMON, "cuda/group.cuh")), cooperative=True)
CSR = Program(Source("graph/device/csr.cu", (_COMMON,)))
ORDER = Program(Source("graph/device/order.cu", (_COMMON,)))
PROXIMITY = Program(Source("graph/device/proximity.cu", (_COMMON,)), _landmarks)
SORT = Program(Source("graph/device/sort.cu", (_COMMON,)))
PROGRAMS = BREADTH_FIRST, CSR, ORDER, PROXIMITY, SORT
SOURCES = tuple(program.source for program in PROGRAMS)


def variants() -> Iterator[tuple[str, Source, tuple[str, ...]]]:
    """Yield (label, source, options) of every source."""
    for program in PROGRAMS:
        yield from program.variants()
