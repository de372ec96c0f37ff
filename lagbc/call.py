"""The way of every call: read the graph, check the request, reduce, plan, run, and put the sums together.

All but the run is done by `prepare`: a `Call` is data, and nothing of it has run but searches that tell the costs of
methods.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from contextlib import ExitStack, suppress
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple, cast

from lagbc.arguments import NONE_GIVEN, Arguments, Read
from lagbc.calls import raise_if_stopped
from lagbc.errors import InvalidValueError, OutOfMemoryError
from lagbc.graph.given import is_sparse
from lagbc.graph.graph import Graph
from lagbc.graph.names import numbers_of
from lagbc.graph.validate import take_graph
from lagbc.limits import SMALL_RUN, TINY_RUN, Room, give_back, in_units, raised_by
from lagbc.methods.sums import Sums
from lagbc.options import Settings
from lagbc.planning.devices import begin_on_device, devices_of
from lagbc.planning.plan import Plan, make_plan, with_sweep
from lagbc.planning.sweep import over_budget, require_order
from lagbc.reduce.pieces import Chains, Reduced, Whole, reduce, restore, whole, without_chains
from lagbc.reduce.weighted import NotContractible
from lagbc.request import Request, make_request
from lagbc.run.partial import Checkpoint, digests_of
from lagbc.run.run import meter_of, stretch_of, tell_resumed, work_of
from lagbc.run.work import NONE_DONE, Carrier, MethodWork, PieceWork, inline, sum_over, threaded
from lagbc.scores.finish import Result
from lagbc.scores.records import Centrality, all_sums, require_decays, require_defined_sample


class Call(NamedTuple):
    """A call that is checked and planned."""

    graph: Graph
    request: Request
    settings: Settings
    room: Room
    reduced: Reduced
    plan: Plan
    kept: Checkpoint | None = None
    centralities: tuple[Centrality, ...] = ()
    arguments: Arguments = NONE_GIVEN  # with numbers of vertices in place of names

    @property
    def reason(self) -> str:
        """Why this method, and in which order vertices are swept."""
        return f"{self.plan.reason}; {self.graph.order_in_words}"


def prepare(
    A: Any,
    centralities: tuple[Centrality, ...],
    read: Read,
    settings: Settings,
    arguments: Arguments,
    labels: Sequence[str] = (),
) -> Call:
    """Read, check, reduce and plan a call; the methods of a run that goes on are those of its `labels`."""
    roots = partial(_count_asked_roots, A, arguments)
    uploads = partial(begin_on_device, A, roots, settings) if arguments.cutoff is None else None
    directed, weighted, strength = read
    graph = take_graph(A, directed=directed, weighted=weighted, strength=strength, uploads=uploads)
    raise_if_stopped()
    if arguments.sources is not None or arguments.targets is not None:
        arguments = _with_numbers(graph, arguments)
    for one in centralities:
        arguments = arguments if one.weigh is None else one.weigh(graph, arguments)
    kept = None if settings.checkpoint is None else Checkpoint(settings.checkpoint)
    request = make_request(graph, all_sums(centralities), arguments, None if kept is None else kept.sample)
    if request.bounds is not None:
        require_decays(centralities, arguments)
    if arguments.k == 1:
        require_defined_sample(graph.n, centralities, endpoints=arguments.endpoints)
    return plan_request(graph, request, settings, kept, labels, centralities=centralities, arguments=arguments)


def plan_request(
    graph: Graph,
    request: Request,
    settings: Settings,
    kept: Checkpoint | None = None,
    labels: Sequence[str] = (),
    beside: int = 0,
    centralities: tuple[Centrality, ...] = (),
    arguments: Arguments = NONE_GIVEN,
) -> Call:
    """Reduce and plan a request; the sums of a checkpoint of another call are refused.

    `beside` counts the bytes of arrays, where the sums are, of those who take them.
    """
    if graph.is_on_device:
        settings = on_device_of(graph, request, settings)
    if settings.grid is not None:
        raise InvalidValueError("grid: this function takes no graph that is dealt over ranks; leave it out")
    room = Room.of_call(settings.memory, graph)
    if settings.memory is None and room.host is not None:
        require_order(graph, request, settings, room)
    if kept is not None:
        kept.belong(digests_of(graph, request, settings.dtype), request.roots)
        labels = kept.labels
    reduced = reduce(graph, request, settings, room)
    reduced = _reduced_as(reduced, graph, request, settings, labels) if labels else reduced
    plan = make_plan(graph, request, reduced, settings, room, labels, beside=beside)
    may_be_whole = reduced.tree is not None and settings.reduce == "auto" and not labels
    if may_be_whole and plan.memory.total > plan.limit(room):
        reduced = Reduced((Whole(graph, request),))  # the pieces take memory, too
        over = f"not reduced, as that needs up to {in_units(plan.memory.total)}"
        plan = make_plan(graph, request, reduced, settings, room, labels, beside=beside)
        plan = plan._replace(reason=f"{over}; {plan.reason}")
    return Call(graph, request, settings, room, reduced, plan, kept, centralities, arguments)


def _reduced_as(reduced: Reduced, graph: Graph, request: Request, settings: Settings, labels: Sequence[str]) -> Reduced:
    """Leave a graph as it is, or chains whole, where a run that goes on did, by its labels."""
    if len(labels) == 1 and labels[0].startswith("whole ") and settings.reduce == "auto":
        return Reduced((whole(graph, request),))
    for number, (piece, label) in enumerate(zip(reduced.pieces, labels, strict=False)):
        if isinstance(piece, Chains) and not label.startswith("chains "):
            reduced = without_chains(reduced, number, settings)
    return reduced


def sum_call(call: Call) -> Result:
    """Run a call; a contracted piece that cannot be summed from its junctions is planned again, whole.

    MemoryError says that the call is over the budget, or that memory runs out with the smallest batch; CheckpointError,
    that the checkpoint belongs to another call. After any error all finished sums are in the checkpoint.
    """
    graph, request, settings, room, reduced, plan, kept, *_ = call
    raise_if_stopped()
    if room.host is not None or plan.memory.total > SMALL_RUN[plan.device]:
        require_memory(call)
    if plan.sweeps:
        plan.warn_of_less_memory(settings.batch)
    if room.host is not None and plan.memory.total > TINY_RUN:
        give_back()  # memory that the preparation freed
    works = works_of(call)
    totals = [NONE_DONE] * len(works)
    with ExitStack() as stack:
        if kept is not None:
            totals = kept.begin(works, totals)
            stack.push(kept.end)
            tell_resumed(works, totals, settings)
        carriers = carriers_of(plan, works, settings, stack)
        meter = meter_of(reduced, works, totals, settings, stack) if settings.progress else None
        keepers = [keeper.keep for keeper in (kept, meter) if keeper is not None]
        sums: list[Sums] = []
        while (number := len(sums)) < len(works):
            try:
                keeps = [partial(keep, number) for keep in keepers]
                totals[number] = sum_over(works[number], carriers[number], totals[number], keeps=keeps)
                sums.append(works[number].finish(totals[number]))
            except NotContractible:
                reduced = without_chains(reduced, number, settings)
                plan = with_sweep(graph, request, reduced, plan, number, settings, room)
                call = call._replace(reduced=reduced, plan=plan)
                require_memory(call)
                works[number], totals[number] = work_of(reduced.pieces[number], plan.sweeps[number], room), NONE_DONE
                carriers = carriers if settings.executor is not None else carriers_of(plan, works, settings, stack)
                if kept is not None:
                    totals = kept.begin(works, totals)
                if meter is not None:
                    meter.begin_anew(number, stretch_of(works[number], totals[number].done))
    return result_of(call, sums)


def works_of(call: Call) -> list[PieceWork]:
    """Return the works of the pieces of a call."""
    return list(map(work_of, call.reduced.pieces, call.plan.sweeps, repeat(call.room)))


def carriers_of(plan: Plan, works: Sequence[PieceWork], settings: Settings, stack: ExitStack) -> list[Carrier]:
    """Return the carrier of each work: an executor, its own, several devices, threads, or the calling thread."""
    if settings.executor is not None:
        from lagbc.run.tasks import Submit

        submit = stack.enter_context(Submit(settings.executor, settings.memory, settings.checkpoint))
        return [submit.carry] * len(works)
    carriers: list[Carrier] = []
    for work in works:
        carrier = work.own_carrier or (inline if plan.is_short else threaded)
        if settings.devices is not None and work.own_carrier is None and isinstance(work, MethodWork):
            from lagbc.run.gpus import over_devices

            devices = devices_of(settings, work.row)
            carrier = partial(over_devices, devices) if devices else carrier
        carriers.append(carrier)
    return carriers


def digests_of_call(call: Call) -> dict[str, str]:
    """Digest all that fixes the sums of a call but for its works."""
    return digests_of(call.graph, call.request, call.settings.dtype)


def result_of(call: Call, sums: list[Sums]) -> Result:
    """Put the sums of the pieces of a call together."""
    graph, request, reduced = call.graph, call.request, call.reduced
    is_once = graph.directed or request.demand is not None or (reduced.tree is None and request.weighs_pairs)
    whole = sums[0] if reduced.tree is None else restore(reduced, request, sums)
    return Result(whole, graph, request, 1 if is_once else 2, call.plan.sweeps)


def sum_request(graph: Graph, request: Request, settings: Settings) -> Result:
    """Reduce, plan and run a request."""
    return sum_call(plan_request(graph, request, settings))


def require_memory(call: Call) -> None:
    """Raise MemoryError if a call is over the budget; it names a method that would not be, if there is one."""
    if call.plan.memory.total <= call.plan.limit(call.room):
        return
    needed, instead = call.plan.estimate(call.room), ""
    if call.settings.method != "auto":
        with suppress(InvalidValueError):  # an option means nothing to other methods
            beside = max((sweep.beside for sweep in call.plan.sweeps), default=0)
            other = plan_request(call.graph, call.request, call.settings._replace(method="auto"), beside=beside)
            by_other = other.plan.estimate(other.room)
            if not by_other.is_over:
                instead = f", or pass method={by_other.method!r}, which needs up to {in_units(by_other.total)}"
    raise OutOfMemoryError(f"{over_budget(needed, needed.total, needed.budget)}; {raised_by()}{instead}")


def on_device_of(graph: Graph, request: Request, settings: Settings) -> Settings:
    """Keep to the device of the caller's matrix; within cutoffs and decays a copy on the host is swept."""
    if graph.uploaded or (request.bounds is not None and settings.device == "auto"):
        return settings
    if settings.device == "cpu":
        raise InvalidValueError("A is a CuPy matrix, but device='cpu' was asked for; pass A.get()")
    return settings._replace(device="cuda")


def _with_numbers(graph: Graph, arguments: Arguments) -> Arguments:
    """Replace names of vertices by their numbers."""
    sources, targets = (
        numbers_of(name, graph.names, getattr(arguments, name), in_order=False) for name in ("sources", "targets")
    )
    return arguments._replace(sources=sources, targets=targets)


def _count_asked_roots(A: Any, arguments: Arguments) -> int:
    """Count the roots of a call before its matrix is checked; 0 if the arguments do not tell."""
    if arguments.k is not None:
        return arguments.k
    if arguments.sources is not None:
        try:
            return len(cast(Sized, arguments.sources))
        except TypeError:  # `parse_vertices` has the better message
            return 0
    return A.shape[0] if is_sparse(A) else 0
