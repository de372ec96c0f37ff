"""The table of all methods, and the choice of one.

A method is a module with three functions:

    prepare(graph, plan) -> state       once per run and worker: transpose, order, allocate
    forward(state, roots) -> levels     dist and sigma of this batch; levels.overflowed marks roots out of range
    backward(state, levels, sums)       adds this batch's sums, a row a block, to the record of those asked for

A combination of formulation, device and weights that has no row here does not exist.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from lagbc.errors import MissingDependencyError
from lagbc.graph.graph import Graph
from lagbc.graph.tuning import HOST_EDGES
from lagbc.methods.contract import MethodModule
from lagbc.methods.sums import Sums
from lagbc.types import DeviceName, MethodName


@dataclass(frozen=True)
class Method:
    """One row of `METHODS`.

    Attributes
    ----------
    name, formulation, device : str
        What the user asks for by ``method=`` and ``device=``, and how the literature calls the formulation.
    weighted : bool
        Whether edges have lengths.
    module : str
        Where the three functions are; imported on use.
    requires, extra : str
        The library it needs ("" for none), and the extra of lagbc that installs it ("" for those lagbc always has).
    block : int
        A batch is a multiple of this many roots, which are summed before they are added to the total.
    widest : int or None
        Largest batch of one worker, in roots; None is no limit.
    auto_batch : int
        The batch of ``batch="auto"`` where memory allows it.
    concurrent : bool
        Whether batches run side by side, one a thread; else one after the other, on the device.
    bytes_per_entry : float
        Bytes of a worker's state per vertex and root of a batch, at most.
    bytes_per_edge : float
        Bytes of shared or worker state per stored edge, besides the graph itself.
    bytes_per_edge_and_root : float
        Bytes of a worker's state per stored edge and root of a batch, at most.
    bytes_per_stress : float
        The same besides, if stress is asked for.
    bytes_per_distance : float
        The same besides, if both path counts and distances are summed.
    bytes_per_edge_sum : float
        Bytes of a worker's state per stored edge besides, if edges are asked for.
    sums : tuple of str
        The sums that it makes: names of fields of `Sums`, in ``lagbc/methods/sums.py``.
    takes : tuple of str
        Options of `SweepPlan` that only some methods read, and this one does, such as "rtol".
    """

    name: MethodName
    formulation: str
    device: DeviceName
    weighted: bool
    module: str
    requires: str
    extra: str
    block: int
    widest: int | None
    auto_batch: int
    concurrent: bool
    bytes_per_entry: float
    bytes_per_edge: float
    bytes_per_edge_and_root: float = 0.0
    bytes_per_stress: float = 0
    bytes_per_distance: float = 0
    bytes_per_edge_sum: float = 0
    sums: tuple[str, ...] = ("dependency",)
    takes: tuple[str, ...] = ()

    @property
    def available(self) -> bool:
        """Whether the library it needs is installed, and sees a device if it needs one."""
        return not self.missing

    @property
    def missing(self) -> str:
        """What it needs and has not got, and how to get it; empty if it is available."""
        if self.requires and not _is_installed(self.requires):
            package = _PACKAGES.get(self.requires, self.requires)
            extra = f"; or pip install 'lagbc[{self.extra}]', in a checkout '.[{self.extra}]'" if self.extra else ""
            return f"{self.requires}, which is not installed: pip install {package}{extra}"
        if self.device == "cuda" and not _sees_gpu():
            return "an NVIDIA GPU, and CuPy sees none"
        return ""

    @property
    def arrays(self) -> Any:
        """The module whose arrays the method sums into: numpy or cupy."""
        return import_module("numpy" if self.device == "cpu" else "cupy")

    def context(self) -> AbstractContextManager[Any]:
        """Return a context in which another thread works on this thread's current device and stream."""
        if self.device == "cpu":
            return nullcontext()
        from cupy.cuda import Device, get_current_stream

        return _Both(Device(), get_current_stream())

    def load(self) -> MethodModule:
        """Import the module.

        Raises
        ------
        MissingDependencyError
            The library that it needs is not installed, or there is no GPU; the message says how to get it.
        """
        if not self.available:
            raise MissingDependencyError(f"method {self.name!r} on {self.device} needs {self.missing}")
        return import_module(self.module)  # type: ignore[return-value]

    def round_batch(self, batch: int) -> int:
        """Round a batch up to the method's multiple, and down to the widest it takes."""
        rounded = -(-batch // self.block) * self.block
        return rounded if self.widest is None else min(rounded, self.widest)


class _Both(ExitStack):
    """A device and a stream as one context."""

    def __init__(self, device: Any, stream: Any) -> None:
        super().__init__()
        self._parts = (device, stream)

    def __enter__(self) -> _Both:
        super().__enter__()
        for part in self._parts:
            self.enter_context(part)
        return self


# What pip calls the libraries that methods need, where that is another name.
_PACKAGES = {
    "graphblas": "python-graphblas",
    "cupy": "cupy-cuda13x (cupy-cuda12x where the driver is one for CUDA 12)",
}


def _is_installed(library: str) -> bool:
    """Whether a library can be imported; a folder of its name on the path is not one."""
    spec = find_spec(library)
    return spec is not None and spec.origin is not None


@cache
def _sees_gpu() -> bool:
    try:
        cuda = import_module("cupy").cuda
    except ImportError:
        return False  # installed, but without the CUDA libraries that it needs
    try:
        return bool(cuda.runtime.getDeviceCount() > 0)
    except cuda.runtime.CUDARuntimeError:
        return False


def _why_no_gpu() -> str:
    """Say why no method runs on a GPU."""
    return "CuPy sees no GPU" if _is_installed("cupy") else "CuPy is not installed"


ALL_SUMS = tuple(field.name for field in fields(Sums))

# Bytes per entry and edge, and options. At most 8 of values and 4 of depth; 8 of sums (edges); 4 of queue and 4 of its
# levels; 8 of offsets.
_OF_THE_LITERATURE: tuple[tuple[MethodName, int, int, tuple[str, ...]], ...] = (
    ("node-parallel", 12, 4, ("variant",)),
    ("warp-centric", 12, 4, ("variant", "virtual_warp")),
    ("edge-parallel", 20, 8, ("variant",)),
    ("work-efficient", 20, 4, ("virtual_warp",)),
    ("active-edge", 36, 4, ()),
    ("hybrid", 20, 8, ("virtual_warp",)),
)

METHODS: tuple[Method, ...] = (
    Method(
        name="batched",
        formulation="semiring",
        device="cpu",
        weighted=False,
        module="lagbc.methods.cpu.batched.hops",
        requires="numba",
        extra="",
        block=64,
        widest=64,
        auto_batch=64,
        concurrent=True,
        # 8 of values, 4 * 8 / 64 of bit rows, 65 * 12 / 64 of queue (a row is live at no more levels than columns, and
        # one more entry a row is kept free), and order and omega.
        bytes_per_entry=21,
        bytes_per_edge=0,
        bytes_per_stress=8,
        sums=ALL_SUMS,
    ),
    Method(
        name="graphblas",
        formulation="semiring",
        device="cpu",
        weighted=False,
        module="lagbc.methods.cpu.graphblas.hops",
        requires="graphblas",
        extra="graphblas",
        block=1,
        widest=None,
        auto_batch=64,
        concurrent=True,
        # At most 9 of P, 8 of level patterns, 9 of c on all levels, and 48 of C, T and delta, or 9 of S and 32 of X and
        # Y; the rest while a matrix changes its format. D, at 9, and 1 / D are gone before, and stress comes after.
        bytes_per_entry=100,
        bytes_per_edge=20,
        # E, its successor and what is added to it.
        bytes_per_edge_sum=48,
        sums=ALL_SUMS,
    ),
    Method(
        name="batched",
        formulation="semiring",
        device="cpu",
        weighted=True,
        module="lagbc.methods.cpu.batched.lengths",
        requires="numba",
        extra="",
        block=64,
        widest=64,
        auto_batch=64,
        concurrent=True,
        # 8 of values, 2 * 8 / 64 of bit rows, 65 * 12 / 64 of queue, and lists, starts, order and omega.
        bytes_per_entry=22,
        # A mask and an end of each edge that is tight, by its tail and by its head.
        bytes_per_edge=24,
        bytes_per_stress=8,
        bytes_per_distance=8,
        sums=ALL_SUMS,
        takes=("rtol", "bucket_width"),
    ),
    Method(
        name="graphblas",
        formulation="semiring",
        device="cpu",
        weighted=True,
        module="lagbc.methods.cpu.graphblas.lengths",
        requires="graphblas",
        extra="graphblas",
        block=1,
        widest=None,
        auto_batch=128,
        concurrent=True,
        # For distances 8 of D, 9 of S, 18 of the mask, and N, F and Q at 16, each twice while it changes; for counts P,
        # W and c at 9, levels at 8, row pointers at 16, and F, Q and Z, later C, T and delta, at 16.
        bytes_per_entry=150,
        # 28 of the edges, as arrays and in GraphBLAS, and 50 while those of one root are tested.
        bytes_per_edge=78,
        # If all edges are tight, three times their heads while they are put together.
        bytes_per_edge_and_root=24,
        # E and X at 16, each twice while it changes, and 9 of one root's tight edges; 50 of the above are free by then.
        bytes_per_edge_sum=24,
        sums=ALL_SUMS,
        takes=("rtol", "bucket_width"),
    ),
    Method(
        name="batched",
        formulation="semiring",
        device="cuda",
        weighted=False,
        module="lagbc.methods.gpu.batched.hops",
        requires="cupy",
        extra="cuda13",
        block=256,
        widest=None,
        auto_batch=4096,
        concurrent=False,
        # 8 of values and 5 * 32 / 256 of bit rows; and either 4 of counts and 97 levels' bit rows, or a queue of at
        # first 24 entries a row, 36 bytes each, and up to 54 where it has grown twice.
        bytes_per_entry=25,
        bytes_per_edge=12,
        bytes_per_stress=8,
        sums=ALL_SUMS,
    ),
    Method(
        name="spmm",
        formulation="semiring",
        device="cuda",
        weighted=False,
        module="lagbc.methods.gpu.spmm",
        requires="cupy",
        extra="cuda13",
        block=1,
        widest=None,
        auto_batch=256,
        concurrent=False,
        # 3 * 8 of values, 1 to 4 of depth, and a copy of it while it widens.
        bytes_per_entry=30,
        bytes_per_edge=24,
    ),
    Method(
        name="delta-stepping",
        formulation="semiring",
        device="cuda",
        weighted=True,
        module="lagbc.methods.gpu.delta_stepping.lengths",
        requires="cupy",
        extra="cuda13",
        block=256,
        widest=None,
        auto_batch=2048,
        concurrent=False,
        # 8 of distances and 8 of values, 64 * 32 / 256 of the levels' bit rows and 1 of others, and 4 while they grow;
        # or a queue of at first 32 entries a row, 44 bytes each.
        bytes_per_entry=29,
        # Indices and lengths, both ways, of all edges and of those that are kept, and their ends and ranks meanwhile.
        bytes_per_edge=64,
        bytes_per_stress=8,
        sums=ALL_SUMS,
        takes=("rtol", "bucket_width"),
    ),
    # After the other weighted methods of its device, so that "auto" takes it only where it is asked for by name.
    Method(
        name="dijkstra",
        formulation="traversal",
        device="cuda",
        weighted=True,
        module="lagbc.methods.gpu.traversal.dijkstra",
        requires="cupy",
        extra="cuda13",
        block=1,
        widest=None,
        auto_batch=2048,
        concurrent=False,
        # 3 * 8 of distances, counts and dependencies, 3 * 4 of queues and the ends of levels.
        bytes_per_entry=36,
        bytes_per_edge=24,
        takes=("variant", "virtual_warp"),
    ),
    *(
        # The kernels of the literature: behind the batched method, so that "auto" takes none but as `_best_alone` says.
        Method(
            name=name,
            formulation="traversal",
            device="cuda",
            weighted=False,
            module="lagbc.methods.gpu.traversal.hops",
            requires="cupy",
            extra="cuda13",
            block=1,
            widest=None,
            # About four times as many as an H100 searches from at a time, so that it is seldom idle at the end.
            auto_batch=2048,
            concurrent=False,
            bytes_per_entry=entry,
            bytes_per_edge=edge,
            takes=takes,
        )
        for name, entry, edge, takes in _OF_THE_LITERATURE
    ),
)


@dataclass(frozen=True)
class Selection:
    """A method and the sentence that says why it was taken."""

    method: Method
    reason: str

    def __str__(self) -> str:
        return self.reason


# Roots times nnz from which a run goes to the GPU. An H100 was level with 16 cores at 1e7 (5 ms a run) once CuPy was
# loaded and the kernels compiled, which takes about a second: at 1e8 it gained 3 times, at 4e9 11 times.
GPU_WORK = 1e8
# Where an H100 is faster from one root after the other (`ALONE`) than from batches of them, measured on 54 networks.
# On deep graphs, where few of the vertices are roots: far from each other, they share few rows. 1.2 to 7 times from a
# thousandth of the vertices of meshes and roads, about level at a thirtieth.
ALONE = "work-efficient"
FEW_ROOTS = 1 / 32
# On others, up to so many roots times vertices and times edges: a run of two or three milliseconds, most of them
# between launches.
SMALL_RUN = 4e6, 2e8


def choose(
    graph: Graph,
    *,
    method: str,
    device: str,
    roots: int | None = None,
    outputs: frozenset[str] = frozenset({"dependency"}),
) -> Selection:
    """Choose a row of `METHODS` for a graph that offers all sums asked for, from so many roots, if not all."""
    if device not in ("auto", "cpu", "cuda"):
        raise ValueError(f"device={device!r} is none of 'auto', 'cpu' and 'cuda'")
    rows = [
        row
        for row in METHODS
        if row.weighted == graph.weighted and method in ("auto", row.name) and device in ("auto", row.device)
    ]
    if not rows:
        if any(row.name == method and device in ("auto", row.device) for row in METHODS):
            takes = "no lengths: leave out weighted=True" if graph.weighted else "lengths: pass weighted=True"
            problem = f"method={method!r} takes {takes}"
        else:
            problem = f"there is no method={method!r} with device={device!r}{' for weights' if graph.weighted else ''}"
        raise ValueError(
            f"{problem}; there are: "
            + "; ".join(f"{row.name} on {row.device}{' (weighted)' if row.weighted else ''}" for row in METHODS)
        )
    rows = _that_offer(outputs, rows, graph.weighted)
    ready = [row for row in rows if row.available]
    if not ready:
        rows[0].load()  # says what is missing
    on_cpu = next((row for row in ready if row.device == "cpu"), None)
    on_gpu = next((row for row in ready if row.device == "cuda"), None)
    roots = graph.n if roots is None else roots
    work = roots * graph.nnz
    row = on_gpu if on_gpu and (on_cpu is None or work >= GPU_WORK) else on_cpu
    assert row is not None
    if len({row.device for row in rows}) == 1:
        where = f"{rows[0].device} asked for" if device != "auto" else f"it runs on {rows[0].device} alone"
    elif on_gpu is None:
        where = _why_no_gpu()
    else:
        where = f"roots * nnz = {work:.2g}, and a GPU pays from {GPU_WORK:.0g}"
    which = "asked for" if method != "auto" else "the fastest there as a rule"
    alone = next((other for other in ready if other.name == ALONE), None)
    if method == "auto" and row.device == "cuda" and alone and (why := _best_alone(graph, roots)):
        row, which = alone, why
    return Selection(row, f"{row.name} on {row.device} ({where}; {which})")


def _best_alone(graph: Graph, roots: int) -> str | None:
    """Say why a GPU is faster from one root after the other; None if it is not."""
    is_small = roots * graph.n < SMALL_RUN[0] and roots * graph.nnz < SMALL_RUN[1]
    is_sparse = roots < FEW_ROOTS * graph.n
    if not (is_small or is_sparse):
        return None
    if (graph.on_device if graph.nnz > HOST_EDGES else graph).has_high_diameter:
        return "so few roots of a deep graph are far from each other" if is_sparse else None
    return "a run so small is mostly launches" if is_small else None


def _that_offer(outputs: frozenset[str], rows: list[Method], weighted: bool) -> list[Method]:
    """Keep the rows that offer all sums asked for; ValueError, with the rows there are, if none does."""
    offering = [row for row in rows if outputs <= set(row.sums)]
    if not offering:
        there = [row for row in METHODS if row.weighted == weighted and outputs <= set(row.sums)]
        asked = ", ".join(f"{row.name} on {row.device}" for row in rows)
        weights = " with weighted=True" if weighted else ""
        raise ValueError(
            f"{asked} does not sum {', '.join(sorted(outputs))}{weights}; "
            + (f"these do: {', '.join(f'{row.name} on {row.device}' for row in there)}" if there else "no method does")
        )
    return offering
