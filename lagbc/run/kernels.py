"""All CUDA sources of lagbc, and all their compiled variants."""

from __future__ import annotations

from collections.abc import Iterator

from lagbc.cuda.compiler import Source
from lagbc.cuda.kernel import Program
from lagbc.graph.device.kernels import PROGRAMS
from lagbc.methods.gpu.batched.kernels import KERNELS as BATCHED
from lagbc.methods.gpu.common.kernels import ARRAYS, Kernels
from lagbc.methods.gpu.delta_stepping.kernels import KERNELS as DELTA_STEPPING
from lagbc.methods.gpu.probe import PROBE
from lagbc.methods.gpu.traversal.kernels import KERNELS as TRAVERSAL
from lagbc.reduce.device.kernels import STREAMS

_ALL: tuple[Kernels | Program, ...]
_ALL = (*PROGRAMS, ARRAYS, *BATCHED, *DELTA_STEPPING, *TRAVERSAL, PROBE, STREAMS)
SOURCES = tuple(kernels.source for kernels in _ALL)


def variants() -> Iterator[tuple[str, Source, tuple[str, ...]]]:
    """Yield (label, source, options) of each compiled variant."""
    for kernels in _ALL:
        yield from kernels.variants()
