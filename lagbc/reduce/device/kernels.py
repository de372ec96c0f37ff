"""The kernels of streams, and their launch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from lagbc.cuda import compiler
from lagbc.cuda.compiler import THREADS, Source
from lagbc.cuda.kernel import Kernel, declared, kernel_of

STREAMS = Source("reduce/device/streams.cu", ("cuda/common.cuh",))
SOURCES = (STREAMS,)
OPTIONS = compiler.macro_options({})


def variants() -> Iterator[tuple[str, Source, tuple[str, ...]]]:
    """Yield (label, source, options) of each compiled variant."""
    yield STREAMS.name, STREAMS, OPTIONS


def begin_compile() -> None:
    """Begin to compile the kernels in another thread."""
    compiler.begin_compile(STREAMS, OPTIONS)


def parameters(name: str) -> frozenset[str]:
    """Return the names of the parameters of a kernel."""
    return frozenset(parameter for parameter, *_ in declared(STREAMS, name))


def launch(name: str, grid: tuple[int, ...], /, **arguments: Any) -> None:
    """Launch a grid of thread blocks."""
    _kernel(compiler.load(STREAMS, OPTIONS), name)(grid, THREADS, **arguments)


@cache
def _kernel(module: Any, name: str) -> Kernel:
    return kernel_of(module, STREAMS, name, {})
