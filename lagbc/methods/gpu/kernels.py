"""All CUDA sources of lagbc, and everything that is ever compiled of them."""

from __future__ import annotations

from collections.abc import Iterator

from lagbc.cuda.compiler import Source, options
from lagbc.graph.order.search import BREADTH_FIRST
from lagbc.methods.gpu.batched.kernels import KERNELS as BATCHED
from lagbc.methods.gpu.delta_stepping.kernels import KERNELS as DELTA_STEPPING
from lagbc.methods.gpu.traversal.kernels import KERNELS as TRAVERSAL

_METHODS = *BATCHED, *DELTA_STEPPING, *TRAVERSAL
SOURCES: tuple[Source, ...] = (BREADTH_FIRST, *(kernels.source for kernels in _METHODS))


def variants() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield (label, source text, options) of everything that is ever compiled."""
    yield BREADTH_FIRST.name, BREADTH_FIRST.text, options({})
    for kernels in _METHODS:
        yield from kernels.variants()
