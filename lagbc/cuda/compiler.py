"""CUDA sources as text, and as compiled modules, one a device and set of options.

A source is compiled behind the headers that it names, which are put before it as text: a compiler's cache sees all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

THREADS = 256  # of a block: WARPS of the kernels, times 32


@dataclass(frozen=True)
class Source:
    """A CUDA source, and the headers that are put before it: paths within lagbc."""

    path: str
    headers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Folder and file, such as "graph/breadth_first"."""
        return "/".join(self.path.removesuffix(".cu").split("/")[-2:])

    @property
    def text(self) -> str:
        """All of it, lines numbered as in the files."""
        package = files("lagbc")
        return "\n".join(
            f'#line 1 "lagbc/{path}"\n{(package / path).read_text(encoding="utf-8")}'
            for path in (*self.headers, self.path)
        )


def options(macros: Mapping[str, object]) -> tuple[str, ...]:
    """Options of the compiler that define some macros."""
    return "-std=c++17", *(f"-D{name}={text}" for name, text in macros.items())


def load(source: Source, chosen: tuple[str, ...], *, cooperative: bool = False) -> Any:
    """Return the cupy.RawModule of a source on the current device.

    Parameters
    ----------
    source : Source
    chosen : tuple of str
        Its options.
    cooperative : bool
        Whether the blocks of a launch wait for each other, so that all have to be resident at once.
    """
    import cupy

    return _load(source, chosen, cooperative, cupy.cuda.Device().id)


def resident_blocks(threads: int, *kernels: Any) -> int:
    """Blocks of so many threads that the device holds at once, of whichever of some kernels takes most registers."""
    import cupy

    limits = cupy.cuda.Device().attributes
    registers = max(kernel.num_regs for kernel in kernels)
    by_registers = limits["MaxRegistersPerMultiprocessor"] // (-(-registers // 8) * 8 * threads)
    by_threads = limits["MaxThreadsPerMultiProcessor"] // threads
    return int(limits["MultiProcessorCount"] * min(by_registers, by_threads))


@cache
def _load(source: Source, chosen: tuple[str, ...], cooperative: bool, device: int) -> Any:
    import cupy

    return cupy.RawModule(code=source.text, options=chosen, enable_cooperative_groups=cooperative)
