"""The table of all methods, METHODS. A method is a module that keeps to `lagbc.methods.contract`.

Callers look METHODS up in this module each time: rows may be added.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, fields
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from lagbc.calls import phase, whole_import
from lagbc.errors import InvalidTypeError, InvalidValueError, MissingDependencyError
from lagbc.graph.validate import is_cupy
from lagbc.methods.contract import MethodModule, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.types import All, DeviceName


@dataclass(frozen=True)
class Method:
    """One row of `METHODS`.

    Attributes
    ----------
    name, formulation, device : str
        The values for ``method=`` and ``device=``, and the name of the formulation in the literature.
    weighted : bool
        Whether edges have lengths.
    module : str
        The module of its functions, by the contract of ``lagbc/methods/contract.py``; imported on use.
    requires : str
        The library it needs, "" for none.
    sums : tuple of str
        The sums that it makes: names of fields of `Sums`, in ``lagbc/methods/sums.py``.
    options : tuple of str
        The fields of `SweepPlan`, in ``lagbc/methods/contract.py``, that only some methods read, and this one does.
    demand : bool
        Whether its `backward` takes target weights of single roots, and its `sum_within` the demand of its plan.
    bounds : bool
        Whether it has a `sum_within`, which takes cutoffs and decays and makes all sums, whatever `sums` are.
    ways : tuple of tuple of str
        Its ways: a tuple of words, a tuple of whole numbers, or both. One of each follows the name, after colons:
        ``method="work-efficient:8"``. The plan has the word as ``variant``, and the number as ``virtual_warp``.
    """

    name: str
    formulation: str
    device: DeviceName
    weighted: bool
    module: str
    requires: str = ""
    sums: tuple[str, ...] = ("dependency",)
    options: tuple[str, ...] = ()
    demand: bool = False
    bounds: bool = False
    ways: tuple[tuple[str, ...], ...] = ()

    @property
    def available(self) -> bool:
        """Whether the library it needs is installed, and sees a GPU if it needs one."""
        has_library = not self.requires or _is_installed(self.requires)
        return has_library and (self.device == "cpu" or _count_visible() > 0)

    @property
    def missing(self) -> str:
        """The requirement that is not met, and how to meet it; empty if the method is available."""
        if self.requires and not _is_installed(self.requires):
            gpu = "an NVIDIA GPU and " if self.device == "cuda" else ""
            return f"{gpu}{self.requires}, which is not installed: {_how_to_install(self.requires)}"
        return "" if self.available else "an NVIDIA GPU, and CuPy sees none"

    @cached_property
    def key(self) -> tuple[str, str, bool]:
        """The key of the row, unique in the table: name, device, and whether edges have lengths."""
        return self.name, self.device, self.weighted

    @property
    def arrays(self) -> Any:
        """The module whose arrays the method sums into: numpy or cupy."""
        return np if self.device == "cpu" else import_module("cupy")

    def load(self) -> MethodModule:
        """Import the module.

        Raises
        ------
        MissingDependencyError
            The library that it needs is not installed, or there is no GPU; the message says how to get it.
        """
        if _loaded.get(self.key) is not self or self.module not in sys.modules:
            if not self.available:
                missing = self.missing
                _is_installed.cache_clear()  # it may be installed before the next call
                raise MissingDependencyError(f"method {self.name!r} on {self.device} needs {missing}")
            with phase("compile"):
                whole_import(self.module)
            _loaded[self.key] = self
        return sys.modules[self.module]  # type: ignore[return-value]

    def goes(self, ways: Sequence[str]) -> bool:
        """Whether it takes these ways together."""
        kinds = [kind for way in ways for kind, named in enumerate(self.ways) if way in named]
        return len(ways) == len(kinds) == len(set(kinds))

    def offers(self, sums: frozenset[str], *, demand: bool = False, bounds: bool = False) -> bool:
        """Whether it makes these sums, and takes a demand, or cutoffs and decays, where the call has them."""
        makes_them = self.bounds if bounds else sums <= self._made
        return makes_them and (self.demand or not demand)

    @cached_property
    def _made(self) -> frozenset[str]:
        return frozenset(self.sums)

    def reads(self, option: str) -> bool:
        """Whether it is available and reads an option of `SweepPlan`, such as "rtol"."""
        return self.available and option in self.options


# The rows that were available, and whose modules are imported: to ask for that takes 5 us, and each call asks twice.
_loaded: dict[tuple[str, str, bool], Method] = {}
_NOTHING = nullcontext()


class Both(ExitStack):
    """A device and a stream as one context, for several threads in turn."""

    def __init__(self, device: Any, stream: Any) -> None:
        super().__init__()
        self._parts = (device, stream)

    def __enter__(self) -> Both:
        super().__enter__()
        for part in self._parts:
            self.enter_context(part)
        return self


# The name for pip of a library that methods need, where it differs.
_PACKAGES = {
    "graphblas": "python-graphblas",
    "cupy": "cupy-cuda13x (cupy-cuda12x where the driver is one for CUDA 12)",
}
# The extra of lagbc that installs a library; the others are always there.
EXTRAS = {"graphblas": "graphblas", "cupy": "cuda13"}


def _how_to_install(library: str) -> str:
    package = f"pip install {_PACKAGES.get(library, library)}"
    extra = EXTRAS.get(library)
    return f"{package}; or pip install 'lagbc[{extra}]', in a checkout '.[{extra}]'" if extra else package


@cache
def _is_installed(library: str) -> bool:
    """Whether a library can be imported; a folder of its name on the path is not one."""
    spec = find_spec(library)
    return spec is not None and spec.origin is not None


def count_gpus() -> int:
    """Count the GPUs that CuPy sees; none where it is not installed."""
    return _count_visible() if _is_installed("cupy") else 0


def gpus_in_words() -> str:
    """List the GPUs, or say why there is none."""
    names = gpu_names()
    if not names:
        return f"no GPU ({why_no_gpu()})"
    numbered = ", ".join(f"{number} {name}" for number, name in enumerate(names))
    return f"{len(names)} GPU{'s' * (len(names) > 1)}: {numbered}"


def gpu_names() -> list[str]:
    """Name the GPUs that CuPy sees, in the order of their numbers."""
    count = count_gpus()
    if not count:
        return []
    from cupy.cuda import runtime

    return [runtime.getDeviceProperties(number)["name"].decode() for number in range(count)]


@cache
def _count_visible() -> int:
    from lagbc.cuda import provide_folder

    provide_folder()
    try:
        cuda = import_module("cupy").cuda
    except ImportError:
        return 0  # installed, but without the CUDA libraries that it needs
    try:
        return int(cuda.runtime.getDeviceCount())
    except cuda.runtime.CUDARuntimeError:
        return 0


def why_no_gpu() -> str:
    """Say why no method runs on a GPU; nothing where one does."""
    if not _is_installed("cupy"):
        return "CuPy is not installed"
    return "" if _count_visible() else "CuPy sees no GPU"


def gpu_numbers(devices: tuple[int, ...] | All | None) -> tuple[int, ...]:
    """Return the numbers of the GPUs asked for, none where CuPy decides; ValueError for a number without a GPU."""
    count = count_gpus()
    if devices is None or not count:  # without a GPU the choice of a method raises the error
        return ()
    numbers = tuple(range(count)) if devices == "all" else devices
    for number in numbers:
        if number >= count:
            there = "there is one GPU, 0" if count == 1 else f"there are {count} GPUs, 0 to {count - 1}"
            raise InvalidValueError(f"device={number}: {there}")
    return numbers


def reading_gpu(A: Any, devices: tuple[int, ...] | All | None) -> AbstractContextManager[Any]:
    """Return the context of the GPU that reads a graph: the first asked for, or its own; ValueError if they differ."""
    at = A.data.device.id if is_cupy(A) else None
    if devices is None and at is None:
        return _NOTHING
    numbers = gpu_numbers(devices)
    if at is not None and numbers and numbers[0] != at:
        raise InvalidValueError(
            f"A is a CuPy matrix on GPU {at}, but device={numbers[0]} was asked for; name {at} first"
        )
    if at is None and not numbers:
        return _NOTHING
    from cupy import cuda

    return cuda.Device(numbers[0] if numbers else at)


# Estimates need the sums of squares.
_SQUARES = ("dependency_squares", "edges_squares", "distance_squares", "inverse_squares")
_ALL_SEVEN = ("dependency", "stress", "reached", "distance", "inverse", "edges", "depth")
_WITH_SQUARES = (*_ALL_SEVEN, *_SQUARES)
_OF_TRAVERSALS = ("dependency", "dependency_squares")
_CPU, _GPU = "lagbc.methods.cpu", "lagbc.methods.gpu"
# The kernels of the literature, in hops.
_TRAVERSALS = "node-parallel", "warp-centric", "edge-parallel", "work-efficient", "active-edge", "hybrid"

# One thread block a root, or all thread blocks; counts of threads that share the edges of a vertex.
_BLOCKS, _WARPS = ("one-block", "all-blocks"), ("1", "2", "4", "8", "16", "32")
_OF_DIJKSTRA = ("work-efficient", "node-parallel"), ("1", "4", "8", "16", "32")
_WAYS: dict[str, tuple[tuple[str, ...], ...]]
_WAYS = {
    "node-parallel": (_BLOCKS,),
    "warp-centric": (_BLOCKS, _WARPS),
    "edge-parallel": (_BLOCKS,),
    "work-efficient": (_WARPS,),
    "hybrid": (_WARPS,),
}

# Of rows without predicted costs, "auto" takes the first that fits (`lagbc.planning.choose`).
METHODS: tuple[Method, ...] = (
    Method(
        *("batched", "semiring", "cpu", False, f"{_CPU}.batched"),
        sums=_WITH_SQUARES,
        options=("class_sizes", "linear"),
        demand=True,
    ),
    Method("graphblas", "semiring", "cpu", False, f"{_CPU}.graphblas.hops", "graphblas", _ALL_SEVEN),
    Method(
        *("work-efficient", "traversal", "cpu", False, f"{_CPU}.traversal"),
        sums=_WITH_SQUARES,
        options=("class_sizes", "linear", "demand"),
        demand=True,
        bounds=True,
    ),
    Method(
        *("batched", "semiring", "cpu", True, f"{_CPU}.batched"),
        sums=_WITH_SQUARES,
        options=("rtol", "bucket_width", "class_sizes"),
        demand=True,
    ),
    Method(
        *("graphblas", "semiring", "cpu", True, f"{_CPU}.graphblas.lengths", "graphblas"),
        sums=_ALL_SEVEN,
        options=("rtol", "bucket_width"),
    ),
    Method(
        *("dijkstra", "traversal", "cpu", True, f"{_CPU}.traversal"),
        sums=_WITH_SQUARES,
        options=("rtol", "class_sizes", "linear", "demand"),
        demand=True,
        bounds=True,
    ),
    Method(
        *("batched", "semiring", "cuda", False, f"{_GPU}.batched.hops", "cupy"),
        sums=_WITH_SQUARES,
        options=("class_sizes",),
        demand=True,
    ),
    Method("spmm", "semiring", "cuda", False, f"{_GPU}.spmm", "cupy"),
    Method(
        *("delta-stepping", "semiring", "cuda", True, f"{_GPU}.delta_stepping.lengths", "cupy"),
        sums=_WITH_SQUARES,
        options=("rtol", "bucket_width", "class_sizes"),
        demand=True,
    ),
    Method(
        *("dijkstra", "traversal", "cuda", True, f"{_GPU}.traversal.dijkstra", "cupy", _OF_TRAVERSALS),
        ways=_OF_DIJKSTRA,
    ),
    *(
        Method(
            *(name, "traversal", "cuda", False, f"{_GPU}.traversal.hops", "cupy", _OF_TRAVERSALS),
            ways=_WAYS.get(name, ()),
        )
        for name in _TRAVERSALS
    ),
)


def methods_of(*, weighted: bool, method: str = "auto", device: str = "auto") -> list[Method]:
    """Return the rows for graphs with lengths, or without, of a method, which may name ways, and a device."""
    rows = [row for row in METHODS if row.weighted == weighted]
    if method != "auto":
        name, *ways = method.split(":")
        rows = [row for row in rows if row.name == name and row.goes(ways)]
    return rows if device == "auto" else [row for row in rows if row.device == device]


def ways_of(method: str) -> tuple[str | None, int | None]:
    """Return the word and the number among the ways of a value for ``method=``, None if it has none."""
    schedule = threads = None
    for way in method.split(":")[1:]:
        if way.isdecimal():
            threads = int(way)
        else:
            schedule = way
    return schedule, threads


def register_method(method: Method) -> None:
    """Add a method of your own; every function of this process then takes it by its name, `lagbc.compare` measures it.

    Parameters
    ----------
    method : Method
        A row whose module keeps to the contract of ``lagbc/methods/contract.py``: it has ``batching``, ``arrays``,
        ``prepare``, ``forward`` and ``backward``. "auto" never prefers it to a method of lagbc. The
        program ``lagbc`` is a process of its own, which does not know it.

    Raises
    ------
    ValueError
        There is a method of this name for this device and these weights, or a sum, an option or the device has an
        unknown name.
    TypeError
        The module lacks something of the contract; it is imported if the method is available.
    ImportError
        There is no such module.

    Examples
    --------
    The row of a method that repeats "batched":

    >>> import lagbc
    >>> lagbc.register_method(
    ...     lagbc.Method(
    ...         name="mine",
    ...         formulation="semiring",
    ...         device="cpu",
    ...         weighted=False,
    ...         module=lagbc.METHODS[0].module,
    ...         sums=("dependency",),
    ...     )
    ... )
    >>> import scipy.sparse as sp
    >>> path = sp.diags_array([1.0, 1.0], offsets=1, shape=(3, 3))
    >>> lagbc.bc(path, method="mine")
    array([0., 1., 0.])
    >>> lagbc.unregister_method("mine")
    """
    global METHODS
    if any(row.key == method.key for row in METHODS):
        weights = " with lengths" if method.weighted else ""
        raise InvalidValueError(f"there is a method {method.name!r} on {method.device}{weights} already")
    if method.device not in ("cpu", "cuda"):
        raise InvalidValueError(f"device={method.device!r} of method {method.name!r} is neither 'cpu' nor 'cuda'")
    if ":" in method.name:
        raise InvalidValueError(f"name={method.name!r}: a colon is put before a way of a method")
    ways: Any = method.ways
    kinds = [isinstance(kind, tuple) and {isinstance(way, str) and way.isdecimal() for way in kind} for kind in ways]
    if kinds not in ([], [{False}], [{True}], [{False}, {True}], [{True}, {False}]) or not all(map(all, ways)):
        raise InvalidValueError(f"ways={ways!r}: they are a tuple of words, a tuple of whole numbers, or both")
    for name, given, of in ("sums", method.sums, Sums), ("options", method.options, SweepPlan):
        there = {field.name for field in fields(of)}
        if unknown := set(given) - there:
            raise InvalidValueError(
                f"{name}: there is no {', '.join(sorted(unknown))}; there are: {', '.join(sorted(there))}"
            )
    if method.available:
        module = method.load()
        members = (*_MEMBERS, "blocks", "sum_within") if method.bounds else _MEMBERS
        if lacking := [name for name in members if not hasattr(module, name)]:
            raise InvalidTypeError(
                f"{method.module} lacks {', '.join(lacking)}; lagbc/methods/contract.py says what they are"
            )
    METHODS = (*METHODS, method)


def unregister_method(name: str) -> None:
    """Remove the rows of an added method; ValueError if none of this name was added."""
    global METHODS
    added = [row for row in METHODS[_OF_LAGBC:] if row.name == name]
    if not added:
        raise InvalidValueError(f"there is no method {name!r} that was added")
    METHODS = tuple(row for row in METHODS if row not in added)


_MEMBERS = ("batching", "arrays", "prepare", "forward", "backward")
_OF_LAGBC = len(METHODS)
