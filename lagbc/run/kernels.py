"""All CUDA sources of lagbc, and all their compiled variants."""

from __future__ import annotations

from collections.abc import Iterator

from lagbc.cuda.compiler import Source
from lagbc.graph.device import kernels as of_graphs
from lagbc.methods.gpu.batched.kernels import KERNELS as BATCHED
from lagbc.methods.gpu.common.kernels import ARRAYS
from lagbc.methods.gpu.delta_stepping.kernels import KERNELS as DELTA_STEPPING
from lagbc.methods.gpu.probe import PROBE
from lagbc.methods.gpu.traversal.kernels import KERNELS as TRAVERSAL
from lagbc.reduce.device import kernels as of_reductions

_METHODS = ARRAYS, *BATCHED, *DELTA_STEPPING, *TRAVERSAL, PROBE
SOURCES: tuple[Source, ...] = (
    *of_graphs.SOURCES,
    *(kernels.source for kernels in _METHODS),
    *of_reductions.SOURCES,
)


def variants() -> Iterator[tuple[str, Source, tuple[str, ...]]]:
    """Yield (label, source, options) of each compiled variant."""
    yield from of_graphs.variants()
    for kernels in _METHODS:
        yield from kernels.variants()
    yield from of_reductions.variants()
