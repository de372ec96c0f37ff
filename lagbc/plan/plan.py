"""The one way from a request and options to a plan: device, method, fall-back, memory, and what fits together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from lagbc.errors import InvalidValueError, MemoryWarning, warn
from lagbc.graph import tuning
from lagbc.graph.graph import Graph
from lagbc.methods import table
from lagbc.methods import tuning as methods_tuning
from lagbc.methods.contract import SweepPlan
from lagbc.methods.probe import Probe, probe
from lagbc.methods.sums import PATH_SUMS
from lagbc.methods.table import Method
from lagbc.phases import in_phase
from lagbc.plan import memory
from lagbc.plan.choose import Selection, choose
from lagbc.plan.devices import gpu_numbers
from lagbc.plan.memory import MemoryEstimate
from lagbc.plan.options import Options, Settings, settle
from lagbc.plan.reduction import Reduction, reduce_request
from lagbc.plan.request import Request
from lagbc.plan.resumed import NOTHING, Begun, Resumed
from lagbc.plan.roots import chunk_length, order_roots
from lagbc.plan.step import Step

if TYPE_CHECKING:
    from lagbc.reduce.chains import Contracted


@dataclass(frozen=True, eq=False)
class Plan:
    """What a run will do.

    Attributes
    ----------
    request : Request
    graph : Graph
        Of the call.
    steps : tuple of Step
        What is swept: the graph, or pieces that a reduction left of it.
    reduction : Reduction or None
        What makes sums of the graph out of those of its pieces.
    selection : Selection
        The method of the part with most work, and why.
    memory : MemoryEstimate
        What the run allocates; it may be over the budget.
    settings : Settings
    without_chains : callable
        Makes the plan that contracts no chains, for where the counts of one turn out too large for it.
    too_large : MemoryEstimate or None
        What was over the budget of the GPU, where the CPU takes over.
    """

    request: Request
    graph: Graph
    steps: tuple[Step, ...]
    reduction: Reduction | None
    selection: Selection
    memory: MemoryEstimate
    settings: Settings
    without_chains: Callable[[], Plan]
    too_large: MemoryEstimate | None = None

    @property
    def is_short(self) -> bool:
        """Whether one thread sweeps it, in some 10 ms: to start another is felt, and to wait with a Ctrl-C is not."""
        if self.memory.is_small:
            return True
        work = sum(len(part.roots) * part.graph.nnz for part in self.steps)
        return work <= methods_tuning.THREAD_WORK and all(part.sweep.threads == 1 for part in self.steps)

    def warn_of_less_memory(self) -> None:
        """Warn where the memory budget takes the CPU in place of the GPU, or a smaller batch than was asked for."""
        if self.too_large is not None:
            message = f"{memory.over_budget(self.too_large)}; taking {self.memory.method} on {self.memory.device}"
            warn(message, MemoryWarning)
        asked = self.settings.batch
        if asked is None:
            return
        for part in self.steps:
            batching, roots = part.method.load().batching, len(part.roots)
            batch = _batch(part.method, roots, _threads(part.graph, part.method, roots, self.settings), self.settings)
            if part.sweep.batch < memory.widest(part.method, batching, batch, roots):
                warn(f"batch={asked} is over the memory budget; taking {part.sweep.batch}", MemoryWarning)
                return


@in_phase("prepare")
def plan_run(
    graph: Graph,
    request: Request,
    batch: int | str,
    options: Options,
    *,
    chains: bool = True,
    resumed: Resumed = NOTHING,
) -> Plan:
    """Plan a run, as all functions do it.

    No state is prepared. Where "auto" has a choice to make, the graph is put in order and a probe searches it; parts
    of a run that is `resumed` go on as they were.

    Raises
    ------
    TypeError, ValueError
        An option is wrong, or means nothing to the method; the message names it.
    MissingDependencyError
        A method was asked for whose library is not installed.
    """
    settings = _on_device_of(graph, request, settle(batch, options))
    request = _without_weightless(_as_drawn_before(request, graph.n, resumed))
    begun = list(resumed.steps)
    chains = chains and (not begun or any(one.chains for one in begun))
    reduction = reduce_request(graph, request, settings, chains=chains)
    if reduction is not None:
        _require_options(_usual(graph, request, settings), _given(request, settings), settings)
    places = _places(graph, request, reduction, settings, begun if settings.method == "auto" else [])
    again = partial(plan_run, graph, request, batch, options, chains=False)
    return _together(graph, request, reduction, settings, places, again)


def _places(
    graph: Graph, request: Request, reduction: Reduction | None, settings: Settings, begun: list[Begun]
) -> list[_Place]:
    """Choose methods for what is swept; each part that a checkpoint has begun goes on with its own."""
    if reduction is None:
        return [_place(graph, request, settings, *begun[:1])]
    before = [[one] for one in begun] if len(begun) == len(reduction.rests) else [[]] * len(reduction.rests)
    return [
        _place(rest.piece.graph, reduction.request_of(rest), settings, *one)
        if rest.contracted is None
        else _place_chains(rest.contracted, request, settings, rest.device)
        for rest, one in zip(reduction.rests, before, strict=True)
    ]


def _place_chains(contracted: Contracted, request: Request, settings: Settings, device: str) -> _Place:
    """Choose a method that sweeps from junctions, some of them at a time, with target weights of their own.

    On a GPU groups are halved until they fit into the memory; where "auto" chose one that is too small, the CPU is
    taken.
    """
    from lagbc.plan.junctions import ADDED, group_size

    graph = contracted.graph
    roots = graph.order[contracted.roots]
    ordered = roots[graph.out_degrees[roots] > 0]
    selection = choose(
        graph,
        method=settings.method,
        device=device,
        roots=len(roots),
        sums=ADDED,
        demand=True,
        look=lambda method: probe(graph, ordered),
    )
    size, batching = group_size(contracted, device), selection.method.load().batching
    if device == "cuda":  # a group for each GPU
        share = -(-len(roots) // max(1, len(gpu_numbers(settings.devices))))
        size = min(size, -(-share // batching.block) * batching.block)
    if not batching.concurrent and settings.batch is not None:
        size = min(size, batching.round(settings.batch))
    threads = min(settings.threads, max(1, -(-len(roots) // size)))
    sweep = SweepPlan(batch=size, threads=threads, sums=ADDED, roots=len(roots), method=selection.method.name)
    sweep, needed = memory.fit_chains(contracted, selection.method, sweep, settings.memory)
    if needed.is_over and device == "cuda" and settings.device == settings.method == "auto":
        return _place_chains(contracted, request, settings, "cpu")._replace(too_large=needed)
    reason = f"junctions by {selection.reason}"
    part = Step(graph, roots, selection.method, sweep, ordered, contracted, request.sums)
    return _Place(Selection(selection.method, reason), part, needed)


def _together(
    graph: Graph,
    request: Request,
    reduction: Reduction | None,
    settings: Settings,
    places: list[_Place],
    again: Callable[[], Plan],
) -> Plan:
    """Make one plan of the places of its parts."""
    if reduction is None:
        (place,) = places
        return Plan(
            request, graph, (place.part,), None, place.selection, place.needed, settings, again, place.too_large
        )
    if not places:  # nothing is left
        usual = _usual(graph, request, settings)
        needed = memory.of_graph(graph, usual, edges="edges" in request.sums, limit=settings.memory)
        return Plan(request, graph, (), reduction, Selection(usual, str(reduction)), needed, settings, again)
    largest = max(places, key=lambda place: place.part.work)
    selection = Selection(largest.selection.method, f"{reduction}; {largest.selection.reason}")
    parts_needed, edges = [place.needed for place in places], "edges" in request.sums
    needed = memory.together(graph, parts_needed, largest.needed, edges=edges, limit=settings.memory)
    too_large = next((place.too_large for place in places if place.too_large is not None), None)
    parts = tuple(place.part for place in places)
    return Plan(request, graph, parts, reduction, selection, needed, settings, again, too_large)


def _usual(graph: Graph, request: Request, settings: Settings) -> Method:
    """Tell the method of a whole graph, as far as no probe is needed: it says which options mean something."""
    given = frozenset(_given(request, settings))
    roots, device = len(request.roots), settings.device
    return choose(graph, method=settings.method, device=device, roots=roots, sums=request.sums, options=given).method


def _on_device_of(graph: Graph, request: Request, settings: Settings) -> Settings:
    """Keep to the device that the caller's matrix is on; within cutoffs and decays a copy on the host is swept."""
    if not graph.is_on_device or graph.uploaded or (request.bounds is not None and settings.device == "auto"):
        return settings
    if settings.device == "cpu":
        raise InvalidValueError("A is a CuPy matrix, but device='cpu' was asked for; pass A.get()")
    return replace(settings, device="cuda")


def _as_drawn_before(request: Request, n: int, resumed: Resumed) -> Request:
    """Take the sample of a resumed run in place of one that was drawn without a seed: it is as good."""
    before = resumed.sample(len(request.roots), n) if request.is_redrawn else None
    return request if before is None else replace(request, roots=before)


def _plan_sweep(graph: Graph, method: Method, request: Request, settings: Settings) -> SweepPlan:
    """Say what a run asks of its method, with the batch and the threads that were asked for."""
    roots, batching = len(request.roots), method.load().batching
    threads = _threads(graph, method, roots, settings)
    batch = _batch(method, roots, threads, settings)
    return SweepPlan(
        batch=batch,
        threads=memory.busy(batching, roots, batch, threads),
        dtype="float64" if _takes_float64(request) else settings.dtype,
        endpoints=request.endpoints,
        omega=request.omega,
        multiplicity=request.multiplicity,
        members=request.members,
        demand=request.demand,
        bounds=request.bounds,
        # Halved on the way, as twice a score may leave the range that the score is in.
        exponent=-1 if request.weighs_pairs and not graph.directed else 0,
        rtol=request.rtol,
        bucket_width=settings.bucket_width,
        sums=request.sums,
        roots=roots,
        variant=settings.variant,
        virtual_warp=settings.virtual_warp,
        method=method.name,
    )


def _threads(graph: Graph, method: Method, roots: int, settings: Settings) -> int:
    """Tell how many threads there are: those asked for, or so many that each has some work."""
    if settings.threads_asked or method.device == "cuda":
        return settings.threads
    return min(settings.threads, 1 + int(roots * graph.nnz / methods_tuning.THREAD_WORK))


def _batch(method: Method, roots: int, threads: int, settings: Settings) -> int:
    """Tell the batch for so many roots, of which a worker has one chunk after the other."""
    shared = roots if settings.executor is None else min(roots, chunk_length(method, method.load().batching))
    return memory.usual(method, shared, threads, settings.batch)


def _takes_float64(request: Request) -> bool:
    """Whether targets or stress may leave the range of float32."""
    return request.weighs_targets or "stress" in request.sums


def _without_weightless(request: Request) -> Request:
    """Leave out the roots of weight 0, if nothing is summed that is not weighed."""
    if request.multiplicity is None or not request.sums <= PATH_SUMS:
        return request
    return replace(request, roots=request.roots[request.multiplicity[request.roots] > 0])


class _Place(NamedTuple):
    """A method and what it sweeps, why it was taken, what it needs, and what a GPU was too small for."""

    selection: Selection
    part: Step
    needed: MemoryEstimate
    too_large: MemoryEstimate | None = None


def _place(graph: Graph, request: Request, settings: Settings, begun: Begun | None = None) -> _Place:
    """Choose method and device; where "auto" meets a GPU that is too small, a method of the CPU that does the same.

    The method that a checkpoint was begun with is gone on with.
    """
    if begun and _is_there(begun, graph, request, settings):
        name, device, _ = begun
        place = _place_on(graph, request, replace(settings, method=name, device=device))
        reason = f"{name} on {device} (the checkpoint was begun with it)"
        return place._replace(selection=Selection(place.selection.method, reason))
    place = _place_on(graph, request, settings)
    is_too_large = place.part.method.device == "cuda" and place.needed.is_over
    if settings.device == "auto" and is_too_large and _can_fall_back(graph, request, settings):
        return _place_on(graph, request, replace(settings, device="cpu"))._replace(too_large=place.needed)
    return place


def _place_on(graph: Graph, request: Request, settings: Settings) -> _Place:
    ordered, given = None, _given(request, settings)

    def placed(method: Method) -> Graph:
        if method.device == "cpu":
            return graph.on_host
        return graph.on_device if graph.is_on_device or graph.nnz > tuning.HOST_EDGES else graph

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
        demand=request.demand is not None,
        bounds=request.bounds is not None,
        options=frozenset(given),
        look=look,
    )
    method, there = selection.method, placed(selection.method)
    selection = Selection(method, f"{selection.reason}{_gpus(method, settings)}")
    asked = _plan_sweep(graph, method, request, settings)
    _require_options(method, given, settings)
    sweep, needed = memory.fit(there, method, asked, settings.memory)
    return _Place(selection, Step(there, request.roots, method, sweep, ordered), needed)


def _gpus(method: Method, settings: Settings) -> str:
    """Say which of several GPUs sweep the roots."""
    if method.device == "cpu" or table.gpus() < 2:
        return ""
    numbers = gpu_numbers(settings.devices)
    if len(numbers) > 1:
        return f"; GPUs {', '.join(map(str, numbers))} share the roots"
    return f"; on one of {table.gpus()} GPUs (device='all' takes all)"


def _is_there(begun: Begun, graph: Graph, request: Request, settings: Settings) -> bool:
    """Whether the method of a checkpoint may be taken for the request."""
    return any(
        row.key == (begun.name, begun.device, graph.weighted) and row.available
        for row in table.METHODS
        if _offers(row, request) and settings.device in ("auto", row.device)
    )


def _can_fall_back(graph: Graph, request: Request, settings: Settings) -> bool:
    """Whether a method of the CPU does what is asked for."""
    return settings.dtype == "float64" and any(
        row.device == "cpu" and row.weighted == graph.weighted and settings.method in ("auto", row.name)
        for row in table.METHODS
        if _offers(row, request)
    )


def _offers(row: Method, request: Request) -> bool:
    """Whether a method makes what is asked for."""
    return row.offers(request.sums, demand=request.demand is not None, bounds=request.bounds is not None)


def _require_options(method: Method, given: dict[str, Any], settings: Settings) -> None:
    """Raise ValueError if an option means nothing to the method; `given` are those that only some methods read."""
    if settings.dtype != "float64" and method.device == "cpu":
        raise InvalidValueError(
            f"dtype={settings.dtype!r}: {method.name} on cpu counts paths in 'float64'; device='cuda' takes 'float32', "
            "too"
        )
    for name, value in given.items():
        if not method.reads(name):
            rows = [row for row in table.METHODS if row.reads(name)]
            taking = [f"{row.name} on {row.device}{' with lengths' * row.weighted}" for row in rows]
            raise InvalidValueError(
                f"{name}={value!r} means nothing to {method.name} on {method.device}"
                f"{'' if method.weighted else ' without lengths'}; "
                + (f"it goes with: {', '.join(taking)}" if taking else "no method that is available takes it")
            )


def _given(request: Request, settings: Settings) -> dict[str, Any]:
    """Options that only some methods read."""
    asked: dict[str, Any] = {"rtol": request.rtol or None, "members": request.members}
    return {name: value for name, value in asked.items() if value is not None} | settings.of_some_methods


def uncontracted(plan: Plan, number: int) -> Plan:
    """Return the plan in which the step of this number is not contracted."""
    raise NotImplementedError
