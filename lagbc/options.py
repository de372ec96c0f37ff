"""The options of a run, which every public function takes: their defaults and their checks.

None of them changes a score. `config` sets defaults for all calls in a block. `OPTIONS` is their one table: the
checked options are made by it, and so are the options of the command line.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, wraps
from inspect import signature
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypedDict, TypeVar, Unpack, cast

from lagbc.errors import (
    CheckpointError,
    FileError,
    InvalidTypeError,
    InvalidValueError,
    did_you_mean,
    unknown_argument,
)
from lagbc.files import require_name
from lagbc.limits import parse_size, usable_cores

if TYPE_CHECKING:
    from lagbc.types import All, Auto, Devices, DTypeName, ReduceName, Stop


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run.

    Attributes
    ----------
    done, total : int
        Roots. Where a graph was reduced, those of all its pieces; small blocks count by slices of some 50 milliseconds.
        Or paths of an estimate, and how many are foreseen, which may be passed.
    seconds : float
        Since the run, or its resumption, began.
    gteps : float
        Billions of edges traversed in a second since then: an edge counts once for every root, in the undirected
        case as one edge.
    share : float
        Share of the work done, in roots times edges: pieces of a reduced graph have more or fewer edges.
    phase : str
        "standard errors" while these are computed, from other roots; "" while scores are.
    """

    done: int
    total: int
    seconds: float
    gteps: float
    share: float
    phase: str = ""


Reporter = Callable[[Progress], object]


class Options(TypedDict, total=False):
    """How a run is carried out: keyword arguments of every function, as in ``lagbc.bc(A, threads=2, memory="8GB")``.

    None of them changes the quantity that is computed. `lagbc.config` sets them for all calls in a block. Without them
    "auto" is taken where it is named below, and else None, "float64" or False.

    Attributes
    ----------
    method : str
        "auto", or the name of a row of `lagbc.METHODS`: "batched", "graphblas" or the traversals "work-efficient" in
        hops and "dijkstra" with lengths on the CPU, "batched", "spmm" or with lengths "delta-stepping" on the GPU, or
        there for comparison the traversals "work-efficient", "active-edge", "warp-centric", "edge-parallel", "node-
        parallel", "hybrid" and with lengths "dijkstra". A traversal on the GPU goes other ways after colons, as in
        "work-efficient:8" and "warp-centric:all-blocks:16": a number is that of threads that share the edges of a
        vertex, and "all-blocks" puts all thread blocks on one root; `Method.ways` has those of each. "auto" takes the
        one that a probe of the roots predicts to be the fastest, of those that fit into the memory: "batched" (on a GPU
        with lengths "delta-stepping"), or "work-efficient" (with lengths "dijkstra"). Each of these promises the same
        bits for every run; `lagbc.plan` tells the choice and its reason.
    device : str, int or list of int
        "auto", "cpu" or "cuda". "auto" takes the GPU if CuPy sees one and the run is large enough to gain. Or the
        number of a GPU, a list of numbers, or "all" for all GPUs: several share the roots, and change no bit of a
        method that promises bits. Cutoffs and decays, reach, gravity and straightness are summed on the CPU alone.
    reduce : str
        The reductions of the graph before the sweeps, whose part of the sums its structure gives in another way: "auto"
        takes the ones that pay, "none" no one, "all" each that applies. Scores differ by at most 1e-12 relative, in
        hops and with lengths that are whole numbers; docs/reductions.md describes the reductions and their conditions.
        Where the memory is too little for them, "auto" does nothing, and "all" is a MemoryError.
    threads : int or None
        CPU threads of the sweeps; None is one for each core that the process may use, no more than the CPU quota of its
        control groups grants, and fewer where each would have less than some 10 ms to do. They never change a bit of a
        method that promises bits. All cores read a large graph, put it in order and add long sums, whatever is given
        here.
    memory : str, int or None
        The most memory of the run: a size such as "8GB" or "512MiB", or a number of bytes. It counts all that the run
        takes by itself; the process before the call, with the matrix that is given, lies beside it. None is what the
        process leaves of the environment variable ``LAGBC_MEMORY``, which counts all that it holds (on the GPU the
        value itself), and without it half of the free memory, on the GPU 80 %.
    dtype : str
        Type of path counts: "float64", or on the GPU "float32", in which scores have a relative error of 1e-6 to 2e-5.
        Scores are always summed in float64. Counts past 2**126 are common on meshes and roads; each such root is
        recomputed in float64, so that float32 is no gain there. With `target_weights` or `demand` it is float64.
    bucket_width : float or "auto"
        Only with lengths: the width of the buckets of Delta-stepping, as a length. It changes the time, not the scores.
    progress : bool or callable
        True draws a bar with the time left; a callable gets a `lagbc.Progress` after every batch.
    checkpoint : path or None
        A file that is kept up to date every few seconds. The same call after a kill goes on from it, and ends with the
        scores of an uninterrupted run, by "batched" with the same bits. A finished file keeps standard errors, too.
    stop : threading.Event, callable or None
        Ends the run from another thread, as a server or a window does: once the event is set, or the callable returns
        True, the call raises `lagbc.StoppedError`. The run polls it where it polls Ctrl-C, within some 0.1 s during the
        sweeps, and between the steps before. The checkpoint holds the sums so far. Any thread of the run may call the
        callable, often. Workers of an executor end within 5 s, or are not waited for. With `comm` rank 0
        asks; on a `grid` each rank does.
    executor : concurrent.futures.Executor, an object with its `submit`, or None
        Sweeps on its workers: processes of this machine or of others, in which lagbc can be imported, from
        `ProcessPoolExecutor`, loky, ``dask.distributed.Client.get_executor()`` or ``mpi4py.futures.MPIPoolExecutor``.
        Scores have the bits of a run without it. `threads` and `memory` are then per worker, and None is one thread.
        docs/scale.md lists the data that are sent.
    comm : mpi4py.MPI.Comm or None
        Sweeps on the ranks of a program that was started by ``mpiexec``. All ranks make the same call, and all get its
        scores; the arguments of rank 0 count. `threads` is per rank, and None shares the cores of a machine among its
        ranks. It excludes `executor`.
    grid : (int, int), str or None
        With `comm`, how the graph is dealt over its ranks, for one that none of them holds: (2, 2) or "2x2" has 2 rows
        and 2 columns of ranks, each with a quarter of the entries; "auto" is the smallest grid whose parts fit. Each
        rank passes any part of the entries as A, or rank 0 all and the others None. More ranks than the grid has make
        up more grids, which share the roots. In hops, sums of vertices alone; docs/scale.md says more.
    overlap : bool
        With `grid`, whether each grid has two batches in flight, of which one computes while the other's messages are
        on their way; it takes twice the memory for numbers.
    """

    method: str
    device: Devices
    reduce: ReduceName
    threads: int | None
    memory: str | int | None
    dtype: DTypeName
    bucket_width: float | Auto
    progress: bool | Reporter
    checkpoint: str | os.PathLike[str] | None
    stop: Stop | None
    executor: Any
    comm: Any
    grid: tuple[int, int] | str | None
    overlap: bool


OPTION_NAMES = frozenset(Options.__annotations__)
# Arguments of some functions that have another name in other functions or programs.
_ELSEWHERE = {
    "weight": ("weighted",),
    "weights": ("weighted",),
    "length": ("weighted",),
    "lengths": ("weighted",),
    "distance": ("weighted",),
    "edge_length": ("weighted",),
    "radius": ("cutoff",),
    "radii": ("cutoff",),
    "distances": ("cutoff",),
    "seed": ("rng",),
    "random_state": ("rng",),
    "n_jobs": ("threads",),
    "nbunch": ("sources",),
    "vertices": ("u", "sources"),
    "eps": ("error",),
    "communities": ("until",),
    "centrality": ("which",),
    "pivots": ("sources",),
    "num_samples": ("k", "max_roots"),
    "sources": ("roots",),
    "k": ("roots", "max_roots"),
}
# Keywords that an argument by position may be meant for, by its type.
_MEANT = {
    str: ("weighted",),
    Real: ("cutoff", "k", "roots", "max_roots", "batch"),
    object: ("sources", "vertices", "cutoff"),
}
Function = TypeVar("Function", bound=Callable[..., Any])

_defaults: ContextVar[Options] = ContextVar("lagbc options")


@contextmanager
def config(**options: Unpack[Options]) -> Iterator[None]:
    """Set defaults of options for all calls in a block.

    Parameters
    ----------
    **options : as `lagbc.Options` has them

    Raises
    ------
    TypeError, ValueError
        An option does not exist, or its value is not allowed. Any string is taken as the `method`: the call that runs
        the method raises the error of a wrong name.

    Notes
    -----
    A call's own options come first, then those of the innermost block. A task of asyncio keeps the defaults of the
    block that created it. A new thread begins without them, unless Python copies the context of the thread that starts
    it (``sys.flags.thread_inherit_context``).

    Examples
    --------
    >>> with lagbc.config(threads=1, progress=True):  # doctest: +SKIP
    ...     lagbc.bc(A)
    """
    check_options("auto", options)
    token = _defaults.set({**_defaults.get({}), **options})
    try:
        yield
    finally:
        _defaults.reset(token)


class Option(NamedTuple):
    """An option of a run: the check of its value, and its form on the command line."""

    name: str
    parse: Callable[[str, Any], Any]
    default: Any = None  # None is not parsed
    help: str = ""  # an option without help is absent from the command line
    shown: str | tuple[str, ...] | None = None  # a word for its value there, or the allowed values


def parse_real(name: str, value: Any) -> float:
    """Return a real number as a float."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidTypeError(f"{name}={value!r} is not a real number")
    try:
        return float(value)
    except OverflowError:  # an integer beyond float64
        raise InvalidValueError(f"{name}={str(value)[:20]}... is beyond float64") from None


def parse_count(name: str, value: Any) -> int:
    """Return a positive integer."""
    if not isinstance(value, int):
        _refuse_masked(name, value)
    try:
        count = operator.index(value)
    except TypeError:
        raise InvalidTypeError(f"{name}={value!r} is not an integer") from None
    if isinstance(value, bool) or count < 1:
        raise InvalidValueError(f"{name}={value!r}: it is a count, 1 or more")
    return count


def _refuse_masked(name: str, value: Any) -> None:
    from lagbc.graph.given import refuse_masked  # the command line declares options without NumPy

    refuse_masked(name, value)


def _parse_batch(name: str, batch: Any) -> int | None:
    if isinstance(batch, str) and batch != "auto":
        raise InvalidTypeError(f"{name}={batch!r} is not an integer or 'auto'")
    return None if isinstance(batch, str) else parse_count(name, batch)


def _parse_width(name: str, width: Any) -> float | None:
    if isinstance(width, str):
        if width != "auto":
            raise InvalidTypeError(f"{name}={width!r} is neither 'auto' nor a length")
        return None
    length = parse_real(name, width)
    if not 0 < length < math.inf:
        raise InvalidValueError(f"{name}={width!r}: it is a length, finite and > 0, or 'auto'")
    return length


def _parse_device(name: str, device: Any) -> tuple[str, tuple[int, ...] | All | None]:
    """Return "auto", "cpu" or "cuda", and the GPUs: their numbers, "all", or None if the value names none."""
    if isinstance(device, str):
        named = _named_device(name, device)
        return ("cuda", "all") if named == "all" else (named, None)
    _refuse_masked(name, device)
    numbers: tuple[int, ...]
    try:
        numbers = (operator.index(device),)
    except TypeError:
        try:
            numbers = tuple(operator.index(number) for number in device)
        except TypeError:
            raise InvalidTypeError(
                f"{name}={device!r}: write 'auto', 'cpu', 'cuda', the number of a GPU, a list of such, or 'all'"
            ) from None
    if not numbers or any(number < 0 for number in numbers) or isinstance(device, bool):
        raise InvalidValueError(f"{name}={device!r}: GPUs are numbered from 0; name one or more, such as [0, 1]")
    return "cuda", numbers


def _parse_path(name: str, path: Any) -> Path:
    try:
        parsed = Path(path)
    except TypeError:
        raise InvalidTypeError(f"{name}={path!r} is not a path") from None
    try:
        require_name(parsed)
    except FileError as error:
        raise CheckpointError(f"{name} {error}") from None
    return parsed


def _parse_called(name: str, given: Any) -> Any:
    """Return a flag or a function; for an event, its function `is_set`."""
    if name == "progress" and type(given).__name__ in ("bool", "bool_"):  # Python's or NumPy's
        return bool(given)
    called = getattr(given, "is_set", given) if name == "stop" else given
    if not callable(called):
        raise InvalidTypeError(f"{name}={given!r} is neither {_CALLED[name]}")
    return called


def _parse_object(name: str, given: Any) -> Any:
    """Return an object that has the method which a run calls."""
    method, wanted = _METHOD[name]
    if not callable(getattr(given, method, None)):
        raise InvalidTypeError(f"{name} is a {type(given).__qualname__}{wanted}")
    return given


def _parse_grid(name: str, grid: Any) -> tuple[int, int] | str:
    """Return rows and columns, or "auto"."""
    if isinstance(grid, str):
        if grid == "auto":
            return grid
        grid = grid.lower().split("x")
        grid = [int(count) if count.isdecimal() else count for count in grid]
    try:
        rows, columns = (operator.index(count) for count in grid)
    except (TypeError, ValueError):
        raise InvalidTypeError(f"{name}: rows and columns of ranks, such as (2, 2) or '2x2', or 'auto'") from None
    if rows < 1 or columns < 1:
        raise InvalidValueError(f"{name}={grid!r}: rows and columns of ranks are 1 or more")
    return rows, columns


def parse_flag(name: str, flag: Any) -> bool:
    """Return a flag of Python or NumPy."""
    if type(flag).__name__ not in ("bool", "bool_"):
        raise InvalidTypeError(f"{name}={flag!r} is neither True nor False")
    return bool(flag)


def _one_of(*values: str, otherwise: str = "", **elsewhere: str) -> Callable[[str, Any], str]:
    """Make the parser of an option whose value is one of `values`; it returns the value, or raises an error.

    With `otherwise` the parser takes any string: `otherwise` names such strings in messages. `elsewhere` has words of
    other programs, each with the value that the error suggests in its place.
    """
    *others, last = [*map(repr, values), *filter(None, [otherwise])]

    def parse(name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise InvalidTypeError(f"{name}={value!r} is not a string; write {', '.join(others)} or {last}")
        if value not in values and not otherwise:
            meant = did_you_mean(value, elsewhere if value in elsewhere else values, "")
            raise InvalidValueError(
                f"{name}={value!r} is none of {', '.join(others)} and {last}{meant and '; '}{meant}"
            )
        return value

    return parse


_named_device = _one_of("auto", "cpu", "cuda", "all", gpu="cuda")
# The form of functions and objects, for messages.
_CALLED = {
    "progress": "True nor False nor a function",
    "stop": "a threading.Event nor a function that says whether to stop",
}
_SUBMIT = "pass a concurrent.futures.Executor, such as that of dask.distributed.Client.get_executor()"
_METHOD = {
    "executor": ("submit", f", which has no submit; {_SUBMIT}"),
    "comm": ("Get_rank", "; it is a communicator of mpi4py, such as MPI.COMM_WORLD"),
}
_WHERE = "Where to compute: cpu, cuda, all for all GPUs, or the numbers of some."
_LEFT = "What of the graph is not swept, as its structure gives it: what pays, nothing, or all that can be."
_REDUCE, _DTYPES, _A_METHOD = ("auto", "none", "all"), ("float64", "float32"), "the name of a row of lagbc.METHODS"
_BUCKETS = "Of Delta-stepping, with --weighted or --strength."
OPTIONS = (
    Option("method", _one_of("auto", otherwise=_A_METHOD), "auto", "A row of the table that lagbc info prints."),
    Option("device", _parse_device, "auto", _WHERE, "NAME|I[,I...]"),
    Option("reduce", _one_of(*_REDUCE), "auto", _LEFT, _REDUCE),
    Option("batch", _parse_batch, "auto", "Roots at a time.", "N|auto"),
    Option("threads", parse_count, None, "CPU threads.  [default: as many as there are cores]"),
    Option("memory", parse_size, None, "What the process may take, e.g. 8GB.  [default: half of what is free]", "SIZE"),
    Option("dtype", _one_of(*_DTYPES), "float64", "Type of path counts; float32 on the GPU only.", _DTYPES),
    Option("bucket_width", _parse_width, "auto", _BUCKETS, "LENGTH|auto"),
    Option("progress", _parse_called, False, "[default: on if stderr is a terminal]"),
    Option("checkpoint", _parse_path, None, "Keep the state here (.npz), and go on from it."),
    Option("stop", _parse_called),
    Option("executor", _parse_object),
    Option("comm", _parse_object),
    Option("grid", _parse_grid),
    Option("overlap", parse_flag, False),
)

_OF_NAME = {option.name: option for option in OPTIONS}


@cache
def _parsed_defaults() -> dict[str, Any]:
    """Parse the defaults of OPTIONS, not those of `config`; None stays None. All share the result: copy it."""
    return {
        option.name: None if option.default is None else option.parse(option.name, option.default) for option in OPTIONS
    }


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parse the given values, over a copy of the parsed defaults."""
    parsed = _parsed_defaults().copy()
    for name, value in given.items():
        option = _OF_NAME[name]
        if value is not option.default:
            parsed[name] = option.parse(name, value)
    return parsed


class Settings(NamedTuple):
    """Checked options, before a method is chosen; None is "auto" or a default."""

    batch: int | None
    method: str
    device: str
    devices: tuple[int, ...] | All | None  # the numbers of the GPUs asked for; None is CuPy's current one
    reduce: str
    threads: int | None  # as given; None leaves them to the plan, `usable_threads` at most
    memory: int | None  # in bytes
    dtype: str
    bucket_width: float | None
    progress: bool | Reporter
    checkpoint: Path | None
    stop: Callable[[], object] | None
    executor: Any
    comm: Any
    grid: tuple[int, int] | Auto | None
    overlap: bool

    @property
    def of_some_methods(self) -> dict[str, float]:
        """The given options that only some methods read."""
        return {} if self.bucket_width is None else {"bucket_width": self.bucket_width}

    @property
    def usable_threads(self) -> int:
        """Return the most threads of a run, or of each worker of an executor, which may know how many it has."""
        if self.threads is not None:
            return self.threads
        return usable_cores() if self.executor is None else getattr(self.executor, "threads", 1)

    @property
    def own_threads(self) -> int:
        """Return the most threads of this process."""
        return self.usable_threads if self.executor is None else usable_cores()


def check_options(batch: int | str, options: Options, own: Callable[[], Iterable[str]] = tuple) -> Settings:
    """Check options, with `config` filled in; TypeError or ValueError names one. `own` are the call's own keywords."""
    if not OPTION_NAMES.issuperset(options):
        refuse_unknown(options, own())
    given = with_defaults(options)
    if not given and isinstance(batch, str) and batch == "auto":
        return _usual_settings()
    return _settings({"batch": batch, **given})


@cache
def _usual_settings() -> Settings:
    """Return the settings of a call without options."""
    return _settings({})


def _settings(given: Mapping[str, Any]) -> Settings:
    """Check the given options together."""
    parsed = _checked(given)
    parsed["device"], devices = parsed["device"]
    if parsed["executor"] is not None and devices is not None:
        raise InvalidValueError(
            f"device={given['device']!r} names GPUs of one process, not of the workers of an executor"
        )
    return Settings(devices=devices, **parsed)


def with_defaults(options: Options) -> Options:
    """Fill in the options of `config`; ValueError if those that deal work to others do not go together."""
    given: Options = {**_defaults.get({}), **options}
    if not given:
        return given
    if given.get("grid") is not None and given.get("comm") is None:
        raise InvalidValueError(f"grid={given['grid']!r} deals a graph over the ranks of comm; pass comm=, too")
    if given.get("overlap") and given.get("grid") is None:
        raise InvalidValueError("overlap=True has two batches of a grid in flight; pass grid=, too, or leave it out")
    if given.get("executor") is not None and given.get("comm") is not None:
        raise InvalidValueError("executor and comm exclude each other: the ranks of comm are the workers")
    return given


def communicator(options: Options) -> Any:
    """Return the communicator, if there is one."""
    comm = with_defaults(options).get("comm")
    return None if comm is None else _parse_object("comm", comm)


class OfGrid(NamedTuple):
    """Options that each rank of a grid reads: the grid's own, and the stop of a run on any rank."""

    comm: Any
    grid: tuple[int, int] | Auto
    overlap: bool
    memory: int | None
    stop: Callable[[], object] | None
    reduce: str = "auto"
    device: tuple[str, tuple[int, ...] | All | None] = ("cpu", None)


def of_grid(options: Options) -> OfGrid | None:
    """Check the options of a grid; None without one."""
    given = with_defaults(options)
    if given.get("grid") is None:
        return None
    parsed = _checked({name: value for name, value in given.items() if name in OfGrid._fields})
    return OfGrid(*(parsed[name] for name in OfGrid._fields))


def refuse_unknown(options: Options, own: Iterable[str]) -> NoReturn:
    """Raise TypeError for a keyword argument of a call that is no option of a run; `own` are the call's other ones."""
    there, name, own = tuple(Options.__annotations__), min(options.keys() - OPTION_NAMES), tuple(own)
    taken = (*own, *there)
    if name == "top":  # no other name is like it
        raise InvalidTypeError(
            "there is no argument 'top'; closeness, harmonic and estimate take it; of other scores "
            "lagbc.table(A, {'score': scores}).nlargest(5, 'score') has the highest"
        )
    meant = next((one for one in _ELSEWHERE.get(name, ()) if one in taken), None)
    ours = f"this function takes {', '.join(own)}; " if own else ""
    raise unknown_argument(name, taken, meant, f"{ours}the options of a run are {', '.join(there)}")


def refuses_places(function: Function) -> Function:
    """Let a function raise TypeError for surplus arguments by position, with the keywords that may be meant."""
    parameters = signature(function).parameters
    *others, last = (name for name, one in parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD)
    most = len(others) + 1

    @wraps(function)
    def call(*given: Any, **keywords: Any) -> Any:
        if len(given) > most:
            surplus = given[most]
            meant = _MEANT[str if isinstance(surplus, str) else Real if isinstance(surplus, Real) else object]
            named = " or ".join(f"{name}=" for name in meant if name in parameters)
            instead = f"did you mean {named}?" if named else "name the others"
            raise InvalidTypeError(f"{function.__name__} takes no argument by position after {last}; {instead}")
        return function(*given, **keywords)

    return cast(Function, call)
