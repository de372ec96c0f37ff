"""The one way from a request and options to a plan: device, method, fall-back, memory, and what fits together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import MemoryWarning, warn
from lagbc.graph.graph import Graph
from lagbc.graph.tuning import HOST_EDGES
from lagbc.methods import table
from lagbc.methods.choose import Selection, choose
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import PATH_SUMS
from lagbc.methods.table import Method
from lagbc.run import memory
from lagbc.run.options import Options, Settings, settle
from lagbc.run.request import Request


@dataclass(frozen=True, eq=False)
class Part:
    """A graph with roots that one method sweeps; a chunk of roots belongs to one part.

    Attributes
    ----------
    graph : Graph
        On the host or on a device, as the method takes it.
    roots : ndarray of int64
    method : Method
    sweep : SweepPlan
    """

    graph: Graph
    roots: NDArray[np.int64]
    method: Method
    sweep: SweepPlan


@dataclass(frozen=True, eq=False)
class Plan:
    """What a run will do.

    Attributes
    ----------
    request : Request
    parts : tuple of Part
    selection : Selection
        The method, and why.
    memory : MemoryEstimate
        What the run allocates; it may be over the budget.
    settings : Settings
    """

    request: Request
    parts: tuple[Part, ...]
    selection: Selection
    memory: memory.MemoryEstimate
    settings: Settings

    def warn_of_smaller_batch(self) -> None:
        """Warn where the memory budget takes a smaller batch than was asked for."""
        (part,), asked = self.parts, self.settings.batch
        if asked is None:
            return
        if self.memory.batch < part.method.load().batching.round(min(asked, max(len(part.roots), 1))):
            message = f"batch={asked} is over the memory budget; taking {self.memory.batch}"
            warn(message, MemoryWarning)


def plan_run(graph: Graph, request: Request, batch: int | str, options: Options) -> Plan:
    """Plan a run, as all functions do it; nothing is allocated or compiled.

    Raises
    ------
    TypeError, ValueError
        An option is wrong, or means nothing to the method; the message names it.
    MissingDependencyError
        A method was asked for whose library is not installed.
    """
    settings = settle(batch, options)
    request = _without_weightless(request)
    selection, placed, needed = _place(graph, request, settings)
    method = selection.method
    _require_options(method, request, settings)
    sweep = SweepPlan(
        batch=needed.batch,
        threads=needed.threads,
        # Weights of targets may leave the range of float32, and so may what stress counts.
        dtype="float64" if request.omega is not None or "stress" in request.sums else settings.dtype,
        endpoints=request.endpoints,
        omega=request.omega,
        multiplicity=request.multiplicity,
        # Halved on the way, as twice a score may leave the range that the score is in.
        exponent=-1 if request.weighs_pairs and not graph.directed else 0,
        rtol=request.rtol,
        bucket_width=settings.bucket_width,
        sums=request.sums,
        roots=len(request.roots),
        variant=settings.variant,
        virtual_warp=settings.virtual_warp,
        method=method.name,
    )
    return Plan(request, (Part(placed, request.roots, method, sweep),), selection, needed, settings)


def _without_weightless(request: Request) -> Request:
    """Leave out the roots of weight 0, if nothing is summed that is not weighed."""
    if request.multiplicity is None or not request.sums <= PATH_SUMS:
        return request
    return replace(request, roots=request.roots[request.multiplicity[request.roots] > 0])


def _place(graph: Graph, request: Request, settings: Settings) -> tuple[Selection, Graph, memory.MemoryEstimate]:
    """Choose method and device; where "auto" meets a GPU that is too small, a method of the CPU that does the same."""
    device = settings.device
    if graph.is_on_device:
        if device == "cpu":
            raise ValueError("A is a CuPy matrix, but device='cpu' was asked for; pass A.get()")
        device = "cuda"
    chosen = _place_on(device, graph, request, settings)
    is_too_large = chosen[0].method.device == "cuda" and chosen[2].is_over
    if device == "auto" and is_too_large and _can_fall_back(graph, request, settings):
        return _place_on("cpu", graph, request, settings)
    return chosen


def _place_on(
    device: str, graph: Graph, request: Request, settings: Settings
) -> tuple[Selection, Graph, memory.MemoryEstimate]:
    roots = len(request.roots)
    selection = choose(graph, method=settings.method, device=device, roots=roots, outputs=request.sums)
    method = selection.method
    placed = graph.on_device if method.device == "cuda" and graph.nnz > HOST_EDGES else graph
    needed = memory.fit(placed, method, settings.batch, settings.threads, roots, request.sums, limit=settings.memory)
    return selection, placed, needed


def _can_fall_back(graph: Graph, request: Request, settings: Settings) -> bool:
    """Whether a method of the CPU does what is asked for."""
    return settings.dtype == "float64" and any(
        row.device == "cpu" and row.weighted == graph.weighted and settings.method in ("auto", row.name)
        for row in table.METHODS
        if request.sums <= set(row.sums)
    )


def _require_options(method: Method, request: Request, settings: Settings) -> None:
    """Raise ValueError if an option means nothing to the method."""
    if settings.dtype != "float64" and method.device == "cpu":
        raise ValueError(
            f"dtype={settings.dtype!r}: {method.name} on cpu counts paths in 'float64'; device='cuda' takes 'float32', "
            "too"
        )
    options: dict[str, Any] = {
        "rtol": request.rtol or None,
        **{name: getattr(settings, name) for name in ("bucket_width", "variant", "virtual_warp")},
    }
    for name, value in options.items():
        if value is not None and not method.reads(name):
            rows = [row for row in table.METHODS if row.reads(name)]
            taking = [f"{row.name} on {row.device}{' with lengths' * row.weighted}" for row in rows]
            raise ValueError(
                f"{name}={value!r} means nothing to {method.name} on {method.device}"
                f"{'' if method.weighted else ' without lengths'}; "
                + (f"it goes with: {', '.join(taking)}" if taking else "no method that is available takes it")
            )
