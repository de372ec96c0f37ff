"""The kernels of graphs, and their launches: a thread an item, or threads that take many items each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from lagbc.cuda import compiler
from lagbc.cuda.compiler import THREADS, Source
from lagbc.cuda.kernel import Kernel, kernel_of
from lagbc.graph import tuning

_COMMON = "cuda/common.cuh"
BREADTH_FIRST = Source("graph/device/breadth_first.cu", (_COMMON, "cuda/group.cuh"))
CSR = Source("graph/device/csr.cu", (_COMMON,))
ORDER = Source("graph/device/order.cu", (_COMMON,))
PROXIMITY = Source("graph/device/proximity.cu", (_COMMON,))
SORT = Source("graph/device/sort.cu", (_COMMON,))
SOURCES = BREADTH_FIRST, CSR, ORDER, PROXIMITY, SORT

# Thread blocks of a launch whose threads take many items each.
STRIDING_BLOCKS = 1024


def options(source: Source) -> tuple[str, ...]:
    """Return the options with which a source is compiled."""
    return compiler.macro_options({"LANDMARKS": tuning.LANDMARKS} if source is PROXIMITY else {})


def variants() -> Iterator[tuple[str, Source, tuple[str, ...]]]:
    """Yield (label, source, options) of every source."""
    for source in SOURCES:
        yield source.name, source, options(source)


def begin_compile(*sources: Source) -> None:
    """Begin to compile sources, side by side, in the background."""
    for source in sources:
        compiler.begin_compile(source, options(source), cooperative=source is BREADTH_FIRST)


def kernel(source: Source, name: str) -> Kernel:
    """Return a kernel, loaded on the current device."""
    module = compiler.load(source, options(source), cooperative=source is BREADTH_FIRST)
    return _kernel(module, source, name)


def launch(source: Source, name: str, items: int, /, **arguments: Any) -> None:
    """Launch a kernel with a thread an item."""
    if items:
        kernel(source, name)((-(-items // THREADS),), THREADS, **arguments)


def launch_striding(source: Source, name: str, items: int, /, **arguments: Any) -> None:
    """Launch a kernel whose threads take many items each."""
    if items:
        kernel(source, name)((min(-(-items // THREADS), STRIDING_BLOCKS),), THREADS, **arguments)


@cache
def _kernel(module: Any, source: Source, name: str) -> Kernel:
    return kernel_of(module, source, name, {})
