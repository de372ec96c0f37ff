"""The one way from a request and options to a plan: device, method, fall-back, batch and threads that fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import singledispatch
from typing import TYPE_CHECKING, Any, NamedTuple

from lagbc.calls import in_phase
from lagbc.errors import InvalidValueError, MemoryWarning, quantity, warn
from lagbc.frozen import frozen
from lagbc.graph.graph import Graph
from lagbc.graph.names import size_in_words
from lagbc.limits import in_units
from lagbc.methods import table, tuning
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import PATH_SUMS, Sums
from lagbc.methods.table import Method
from lagbc.plan import memory
from lagbc.plan.choose import Probing, Selection, ranked
from lagbc.plan.devices import gpu_numbers
from lagbc.plan.memory import MemoryEstimate
from lagbc.plan.options import Settings
from lagbc.plan.reduce import Reduction, reduce_request
from lagbc.plan.request import Request
from lagbc.plan.step import NOTHING, Resumed, ResumedStep, Step, chunk_length

if TYPE_CHECKING:
    from lagbc.reduce.chains import Contracted


class Choice(NamedTuple):
    """The reason of a step, its memory, and its batch."""

    reason: str  # of its method
    needed: MemoryEstimate
    batch: int  # without a bound on memory
    too_large: MemoryEstimate | None = None  # of the GPU, in whose place the CPU is taken


@frozen
class Plan:
    """All that a run will do, as data."""

    request: Request
    graph: Graph  # of the call
    steps: tuple[Step, ...]  # for the graph, or for the pieces that a reduction left
    choices: tuple[Choice, ...]  # of each step
    reduction: Reduction | None  # makes the sums of the graph from those of its pieces
    selection: Selection  # of the step with most work
    memory: MemoryEstimate  # of the run; it may be over the budget
    settings: Settings

    @property
    def is_short(self) -> bool:
        """Whether one thread sweeps the plan in some 10 ms: starting another is felt, delaying a Ctrl-C is not."""
        if self.memory.is_small:
            return True
        work = sum(len(step.roots) * step.graph.nnz for step in self.steps)
        if self.reduction is not None:
            work += int(self.reduction.blocks.small.work.sum())
        return work <= tuning.THREAD_WORK and all(step.sweep.threads == 1 for step in self.steps)

    def __str__(self) -> str:
        size = size_in_words(self.graph.n, self.graph.nnz, directed=self.graph.directed)
        roots = quantity(len(self.request.roots), "root")
        return f"{size}; {roots}; {self.selection.reason}; up to {in_units(self.memory.total)} of memory"

    def completed(self, sums: Sums) -> Sums:
        """Return the sums of the graph, of those of its one step, where it was not reduced."""
        return sums

    def require_memory(self) -> None:
        """Raise MemoryError if the run is over the budget; it names a method that would not be, if there is one."""
        instead = ""
        if self.memory.is_over and self.settings.method != "auto":
            with suppress(InvalidValueError):  # an option means nothing to other methods
                other = make_plan(self.graph, self.request, self.settings._replace(method="auto")).memory
                if not other.is_over:
                    instead = f", or pass method={other.method!r}, which needs up to {in_units(other.total)}"
        memory.require_memory(self.memory, instead)

    def warn_of_less_memory(self) -> None:
        """Warn where the memory budget takes the CPU in place of the GPU, or a smaller batch than was asked for."""
        for choice in self.choices:
            if choice.too_large is not None:
                message = f"{memory.over_budget(choice.too_large)}; taking {self.memory.method} on {self.memory.device}"
                warn(message, MemoryWarning)
                break
        asked = self.settings.batch
        for step, choice in zip(self.steps, self.choices, strict=True):
            if asked is not None and step.sweep.batch < choice.batch:
                warn(f"batch={asked} is over the memory budget; taking {step.sweep.batch}", MemoryWarning)
                return


@in_phase("prepare")
def make_plan(graph: Graph, request: Request, settings: Settings, resumed: Resumed = NOTHING) -> Plan:
    """Plan a run, for all functions.

    No state is prepared. Where "auto" has a choice, the graph is put in order and a probe searches it; a `resumed` run
    keeps the methods of its steps. ValueError names an option that means nothing to the method.
    """
    if graph.is_on_device:
        settings = _on_device_of(graph, request, settings)
    if request.is_redrawn or request.root_weights is not None:
        request = _with_roots(request, graph.n, resumed)
    if settings.grid is not None:
        raise InvalidValueError("grid: this function takes no graph that is dealt over ranks; leave it out")
    settings = memory.settled(settings, graph)
    memory.require_order(graph, request, settings)
    return plan_of(graph, request, settings, resumed)


@singledispatch
def plan_of(graph: Graph, request: Request, settings: Settings, resumed: Resumed) -> Plan:
    """Plan a run over the roots that are known; a kind of graphs may have a plan of its own."""
    reduction = reduce_request(graph, request, settings)
    if reduction is not None and resumed.steps:
        reduction = _as_resumed(reduction, graph, request, settings, resumed.steps)
    steps: Sequence[ResumedStep | None] = resumed.steps if settings.method == "auto" else ()
    if reduction is None:
        step, choice = _step(graph, request, settings, *steps[:1])
        chosen = Selection(step.method, choice.reason)
        return Plan(request, graph, (step,), (choice,), None, chosen, choice.needed, settings)
    _require_options(_ranked(graph, request, settings)[0].method, request, settings)
    if len(steps) != len(reduction.remainders):
        steps = [None] * len(reduction.remainders)
    made = [_step_of(reduction, number, settings, one) for number, one in enumerate(steps)]
    plan = _planned(graph, reduction, settings, made)
    if plan.memory.is_over and settings.reduce == "auto" and not resumed.steps:  # the pieces take memory, too
        return plan_of(graph, request, settings._replace(reduce="none"), resumed)
    return plan


@in_phase("prepare")
def uncontracted(plan: Plan, number: int) -> Plan:
    """Return the plan with one contracted step swept whole; the other steps stay the same objects."""
    assert plan.reduction is not None
    assert plan.steps[number].contracted is not None
    reduction = plan.reduction.uncontracted(number, plan.settings)
    made = list(zip(plan.steps, plan.choices, strict=True))
    made[number] = _step_of(reduction, number, plan.settings)
    return _planned(plan.graph, reduction, plan.settings, made)


def _as_resumed(
    reduction: Reduction, graph: Graph, request: Request, settings: Settings, resumed: Sequence[ResumedStep]
) -> Reduction | None:
    """Leave chains whole that the resumed run could not contract."""
    if len(resumed) != len(reduction.remainders):
        if any(one.chains for one in resumed):
            return reduction
        return reduce_request(graph, request, settings, chains=False)
    for number, one in enumerate(resumed):
        if reduction.remainders[number].contracted is not None and not one.chains:
            reduction = reduction.uncontracted(number, settings)
    return reduction


def _planned(graph: Graph, reduction: Reduction, settings: Settings, made: Sequence[tuple[Step, Choice]]) -> Plan:
    """Make the plan of a reduced graph from its steps."""
    request = reduction.request
    edges = "edges" in request.sums
    needed = [choice.needed for _, choice in made]
    if not made:  # nothing is left
        selection = Selection(_ranked(graph, request, settings)[0].method, str(reduction))
        limit = settings.room_on(selection.method.device)
        whole = memory.estimate_call(graph, needed, selection.method, edges=edges, limit=limit)
    else:
        step, choice = max(made, key=lambda one: one[0].work)
        selection = Selection(step.method, f"{reduction}; {choice.reason}")
        limit = settings.room_on(step.method.device)
        whole = memory.estimate_call(graph, needed, choice.needed, edges=edges, limit=limit)
    steps, choices = tuple(step for step, _ in made), tuple(choice for _, choice in made)
    return Plan(request, graph, steps, choices, reduction, selection, whole, settings)


def _on_device_of(graph: Graph, request: Request, settings: Settings) -> Settings:
    """Keep to the device of the caller's matrix; within cutoffs and decays a copy on the host is swept."""
    if graph.uploaded or (request.bounds is not None and settings.device == "auto"):
        return settings
    if settings.device == "cpu":
        raise InvalidValueError("A is a CuPy matrix, but device='cpu' was asked for; pass A.get()")
    return settings._replace(device="cuda")


def _with_roots(request: Request, n: int, resumed: Resumed) -> Request:
    """Take a resumed run's sample in place of one drawn without a seed: it is as good.

    Leave out the roots of weight 0, if all sums are weighed by roots.
    """
    if request.is_redrawn and (before := resumed.sample(len(request.roots), n)) is not None:
        request = replace(request, roots=before)
    if request.root_weights is None or not request.sums <= PATH_SUMS:
        return request
    return replace(request, roots=request.roots[request.root_weights[request.roots] > 0])


def _step_of(
    reduction: Reduction, number: int, settings: Settings, resumed: ResumedStep | None = None
) -> tuple[Step, Choice]:
    """Make the step of the remainder of a bicomponent."""
    remainder = reduction.remainders[number]
    if remainder.contracted is None:
        return _step(remainder.piece.graph, reduction.request_of(remainder), settings, resumed)
    return _junctions(remainder.contracted, reduction.request.sums, settings, remainder.device)


def _step(
    graph: Graph, request: Request, settings: Settings, resumed: ResumedStep | None = None
) -> tuple[Step, Choice]:
    """Choose method and device; where "auto" meets a GPU that is too small, a method of the CPU that does the same.

    A method that a checkpoint began with is kept.
    """
    if (
        resumed
        and settings.device in ("auto", resumed.device)
        and _is_offered(graph, request, resumed.name, resumed.device)
    ):
        step, choice = _step_on(graph, request, settings._replace(method=resumed.name, device=resumed.device))
        return step, choice._replace(reason=f"{resumed.name} on {resumed.device} (the checkpoint was begun with it)")
    step, choice = _step_on(graph, request, settings)
    is_too_large = step.method.device == "cuda" and choice.needed.is_over
    may_fall_back = settings.device == "auto" and settings.dtype == "float64"
    if is_too_large and may_fall_back and _is_offered(graph, request, settings.method, "cpu"):
        step, on_cpu = _step_on(graph, request, settings._replace(device="cpu"))
        return step, on_cpu._replace(too_large=choice.needed)
    return step, choice


def _step_on(graph: Graph, request: Request, settings: Settings) -> tuple[Step, Choice]:
    """Choose a method on the devices that the settings leave, and a batch and threads that fit."""
    probing = Probing(graph, request.roots, seconds=request.probe_seconds)

    def fit(selection: Selection) -> tuple[Step, Choice]:
        method, reason = selection.method, selection.reason
        _require_options(method, request, settings)
        if method.device == "cuda":
            reason += _gpus(settings)
        there = probing.placed(method)
        step = Step(
            there, request.roots, method, _sweep(there, method, request, settings), probing.items, beside=request.beside
        )
        fitted, needed = memory.fit(step, settings.room_on(method.device))
        return fitted, Choice(reason, needed, step.sweep.batch)

    return _first_within(_ranked(graph, request, settings, probing), fit)


def _first_within(
    selections: Sequence[Selection], fit: Callable[[Selection], tuple[Step, Choice]]
) -> tuple[Step, Choice]:
    """Return the step of the first selection that fits into the memory; the first of all if none does."""
    step, first = fit(selections[0])
    if first.needed.is_over:
        for other, choice in map(fit, selections[1:]):
            if not choice.needed.is_over:
                return other, choice._replace(reason=f"{choice.reason}; {memory.over_budget(first.needed)}")
    return step, first


def _junctions(contracted: Contracted, sums: frozenset[str], settings: Settings, device: str) -> tuple[Step, Choice]:
    """Choose a method that sweeps from junctions, a group at a time, with target weights for each root.

    On a GPU groups are halved until they fit into the memory; where "auto" chose a GPU that is too small, the CPU is
    taken.
    """
    from lagbc.plan.junctions import ADDED, group_size

    graph = contracted.graph
    roots = graph.order[contracted.roots]
    probing = Probing(graph, roots, roots[graph.out_degrees[roots] > 0])

    def fit(selection: Selection) -> tuple[Step, Choice]:
        method = selection.method
        size, batching = group_size(contracted, device), method.load().batching
        if device == "cuda":  # a group for each GPU
            share = -(-len(roots) // max(1, len(gpu_numbers(settings.devices))))
            size = min(size, -(-share // batching.block) * batching.block)
        if not batching.concurrent and settings.batch is not None:
            size = min(size, batching.round(settings.batch))
        threads = min(settings.threads, max(1, -(-len(roots) // size)))
        sweep = SweepPlan(batch=size, threads=threads, sums=ADDED, roots=len(roots), method=method.name)
        step = Step(graph, roots, method, sweep, probing.items, contracted, sums)
        fitted, needed = memory.fit(step, settings.room_on(method.device))
        return fitted, Choice(f"junctions by {selection.reason}", needed, step.sweep.batch)

    selections = ranked(
        graph, method=settings.method, device=device, roots=len(roots), sums=ADDED, demand=True, probing=probing
    )
    step, choice = _first_within(selections, fit)
    if choice.needed.is_over and device == "cuda" and settings.device == settings.method == "auto":
        step, on_cpu = _junctions(contracted, sums, settings, "cpu")
        return step, on_cpu._replace(too_large=choice.needed)
    return step, choice


def _ranked(graph: Graph, request: Request, settings: Settings, probing: Probing | None = None) -> list[Selection]:
    """Rank the methods for a request; without probing, by rule: the first decides the options that mean something."""
    return ranked(
        graph,
        method=settings.method,
        device=settings.device,
        roots=len(request.roots),
        sums=request.sums,
        demand=request.demand is not None,
        bounds=request.bounds is not None,
        options=frozenset(_given(request, settings)),
        probing=probing,
    )


def _sweep(graph: Graph, method: Method, request: Request, settings: Settings) -> SweepPlan:
    """Make the request of a run to its method, with the batch and the threads asked for."""
    roots, batching, threads = len(request.roots), method.load().batching, settings.threads
    if not settings.threads_asked and method.device == "cpu":  # as many as have some work each
        threads = min(threads, 1 + int(roots * graph.nnz / tuning.THREAD_WORK))
    # A worker of an executor has one chunk after the other.
    shared = roots if settings.executor is None else min(roots, chunk_length(method, batching))
    batch = memory.most_batch(method, batching, roots, -(-shared // threads), settings.batch)
    # Sums of targets, or stress, may leave the range of float32.
    is_wide = request.omega is not None or request.demand is not None or request.bounds is not None
    is_wide = is_wide or "stress" in request.sums
    return SweepPlan(
        batch=batch,
        threads=memory.busy_threads(batching, roots, batch, threads),
        dtype="float64" if is_wide else settings.dtype,
        endpoints=request.endpoints,
        omega=request.omega,
        root_weights=request.root_weights,
        class_sizes=request.class_sizes,
        demand=request.demand,
        bounds=request.bounds,
        # Halved during the sweep: twice a score may leave the range of the score.
        exponent=-1 if request.weighs_pairs and not graph.directed else 0,
        rtol=request.rtol,
        bucket_width=settings.bucket_width,
        sums=request.sums,
        roots=roots,
        variant=settings.variant,
        virtual_warp=settings.virtual_warp,
        method=method.name,
    )


def _gpus(settings: Settings) -> str:
    """Say which of several GPUs sweep the roots."""
    if table.count_gpus() < 2:
        return ""
    numbers = gpu_numbers(settings.devices)
    if len(numbers) > 1:
        return f"; GPUs {', '.join(map(str, numbers))} share the roots"
    return f"; on one of {table.count_gpus()} GPUs (device='all' takes all)"


def _is_offered(graph: Graph, request: Request, method: str, device: str) -> bool:
    """Whether an available method of this name makes the sums of a request."""
    given = {"demand": request.demand is not None, "bounds": request.bounds is not None}
    rows = table.methods_of(weighted=graph.weighted, method=method, device=device)
    return any(row.available and row.offers(request.sums, **given) for row in rows)


def _require_options(method: Method, request: Request, settings: Settings) -> None:
    """Raise ValueError if an option means nothing to the method."""
    if settings.dtype != "float64" and method.device == "cpu":
        raise InvalidValueError(
            f"dtype={settings.dtype!r}: {method.name} on cpu counts paths in 'float64'; device='cuda' takes 'float32', "
            "too"
        )
    for name, value in _given(request, settings).items():
        if not method.reads(name):
            rows = [row for row in table.METHODS if row.reads(name)]
            taking = [f"{row.name} on {row.device}{' with lengths' * row.weighted}" for row in rows]
            hops = "" if method.weighted else " without lengths"
            are_missing = bool(rows) and all(row.weighted for row in rows) and not method.weighted
            raise InvalidValueError(
                f"{name}={value!r} means nothing to {method.name} on {method.device}{hops}; "
                + (f"it goes with: {', '.join(taking)}" if taking else "no method that is available takes it")
                + "; weighted=True takes the values of edges for lengths" * are_missing
            )


def _given(request: Request, settings: Settings) -> dict[str, Any]:
    """Return the given options that only some methods read."""
    given: dict[str, Any] = {"rtol": request.rtol} if request.rtol else {}
    if request.class_sizes is not None:
        given["class_sizes"] = request.class_sizes
    return given | dict(settings.of_some_methods)
