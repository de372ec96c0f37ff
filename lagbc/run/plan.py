"""The one way from a request and options to a plan: device, method, fall-back, memory, and what fits together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import MemoryWarning, warn
from lagbc.graph import tuning
from lagbc.graph.graph import Graph
from lagbc.methods import table
from lagbc.methods.choose import Selection, choose
from lagbc.methods.contract import SweepPlan
from lagbc.methods.probe import Probe, probe
from lagbc.methods.sums import PATH_SUMS
from lagbc.methods.table import Method
from lagbc.phases import in_phase
from lagbc.run import memory
from lagbc.run.checkpoint import method_of
from lagbc.run.memory import MemoryEstimate
from lagbc.run.options import Options, Settings, settle
from lagbc.run.request import Request
from lagbc.run.sweep import order_roots


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
    ordered : ndarray of int64, or None
        The roots as `lagbc.run.sweep.order_roots` lines them up, where the choice of the method needed that.
    """

    graph: Graph
    roots: NDArray[np.int64]
    method: Method
    sweep: SweepPlan
    ordered: NDArray[np.int64] | None = None


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
    too_large : MemoryEstimate or None
        What was over the budget of the GPU, where the CPU takes over.
    """

    request: Request
    parts: tuple[Part, ...]
    selection: Selection
    memory: MemoryEstimate
    settings: Settings
    too_large: MemoryEstimate | None = None

    def warn_of_less_memory(self) -> None:
        """Warn where the memory budget takes the CPU in place of the GPU, or a smaller batch than was asked for."""
        (part,), asked = self.parts, self.settings.batch
        if self.too_large is not None:
            message = f"{memory.over_budget(self.too_large)}; taking {part.method.name} on {part.method.device}"
            warn(message, MemoryWarning)
        if asked is None:
            return
        if self.memory.batch < memory.widest(part.method, asked, len(part.roots)):
            message = f"batch={asked} is over the memory budget; taking {self.memory.batch}"
            warn(message, MemoryWarning)


@in_phase("prepare")
def plan_run(graph: Graph, request: Request, batch: int | str, options: Options) -> Plan:
    """Plan a run, as all functions do it.

    No state is prepared. Where "auto" has a choice to make, the graph is put in order and a probe searches it.

    Raises
    ------
    TypeError, ValueError
        An option is wrong, or means nothing to the method; the message names it.
    MissingDependencyError
        A method was asked for whose library is not installed.
    """
    settings = settle(batch, options)
    request = _without_weightless(request)
    place = _place(graph, request, settings)
    _require_options(place.part.method, request, settings)
    return Plan(request, (place.part,), place.selection, place.needed, settings, place.too_large)


def _plan_sweep(graph: Graph, method: Method, request: Request, settings: Settings) -> SweepPlan:
    """Say what a run asks of its method, with the batch and the threads that were asked for."""
    return SweepPlan(
        batch=memory.usual(method, len(request.roots), settings.threads) if settings.batch is None else settings.batch,
        threads=settings.threads,
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


def _without_weightless(request: Request) -> Request:
    """Leave out the roots of weight 0, if nothing is summed that is not weighed."""
    if request.multiplicity is None or not request.sums <= PATH_SUMS:
        return request
    return replace(request, roots=request.roots[request.multiplicity[request.roots] > 0])


class _Place(NamedTuple):
    """A method and what it sweeps, why it was taken, what it needs, and what a GPU was too small for."""

    selection: Selection
    part: Part
    needed: MemoryEstimate
    too_large: MemoryEstimate | None = None


def _place(graph: Graph, request: Request, settings: Settings) -> _Place:
    """Choose method and device; where "auto" meets a GPU that is too small, a method of the CPU that does the same.

    The method that a checkpoint was begun with is gone on with.
    """
    if graph.is_on_device and not graph.uploaded:
        if settings.device == "cpu":
            raise ValueError("A is a CuPy matrix, but device='cpu' was asked for; pass A.get()")
        settings = replace(settings, device="cuda")
    begun = method_of(settings.checkpoint) if settings.checkpoint and settings.method == "auto" else None
    if begun and _is_there(begun, graph, request, settings):
        name, device = begun
        place = _place_on(graph, request, replace(settings, method=name, device=device))
        reason = f"{name} on {device} (the checkpoint was begun with it)"
        return place._replace(selection=Selection(place.selection.method, reason))
    place = _place_on(graph, request, settings)
    is_too_large = place.part.method.device == "cuda" and place.needed.is_over
    if settings.device == "auto" and is_too_large and _can_fall_back(graph, request, settings):
        return _place_on(graph, request, replace(settings, device="cpu"))._replace(too_large=place.needed)
    return place


def _place_on(graph: Graph, request: Request, settings: Settings) -> _Place:
    ordered = None

    def placed(method: Method) -> Graph:
        if method.device == "cpu":
            return graph.on_host
        return graph.on_device if graph.nnz > tuning.HOST_EDGES else graph

    def look(method: Method) -> Probe:
        nonlocal ordered
        ordered = order_roots(placed(method), method, request.roots)
        return probe(placed(method), ordered)

    selection = choose(
        graph,
        method=settings.method,
        device=settings.device,
        roots=len(request.roots),
        sums=request.sums,
        options=frozenset(_given(request, settings)),
        look=look,
    )
    method, there = selection.method, placed(selection.method)
    asked = _plan_sweep(graph, method, request, settings)
    sweep, needed = memory.fit(there, method, asked, settings.memory)
    return _Place(selection, Part(there, request.roots, method, sweep, ordered), needed)


def _is_there(begun: tuple[str, str], graph: Graph, request: Request, settings: Settings) -> bool:
    """Whether the method of a checkpoint may be taken for the request."""
    return any(
        row.key == (*begun, graph.weighted) and row.available
        for row in table.METHODS
        if request.sums <= set(row.sums) and settings.device in ("auto", row.device)
    )


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
    for name, value in _given(request, settings).items():
        if not method.reads(name):
            rows = [row for row in table.METHODS if row.reads(name)]
            taking = [f"{row.name} on {row.device}{' with lengths' * row.weighted}" for row in rows]
            raise ValueError(
                f"{name}={value!r} means nothing to {method.name} on {method.device}"
                f"{'' if method.weighted else ' without lengths'}; "
                + (f"it goes with: {', '.join(taking)}" if taking else "no method that is available takes it")
            )


def _given(request: Request, settings: Settings) -> dict[str, Any]:
    """Options that only some methods read."""
    options: dict[str, Any] = {
        "rtol": request.rtol or None,
        **{name: getattr(settings, name) for name in ("bucket_width", "variant", "virtual_warp")},
    }
    return {name: value for name, value in options.items() if value is not None}
