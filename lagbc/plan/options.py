"""How a run is carried out: the options that every public function takes, their defaults, and their checks.

None of them changes what is computed. `config` sets defaults for all calls in a block.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from lagbc.budget import parse_size
from lagbc.errors import CheckpointError, FileError, InvalidTypeError, InvalidValueError
from lagbc.files import require_name
from lagbc.graph.given import refuse_masked
from lagbc.limits import usable_cores
from lagbc.stopping import stopping_by

if TYPE_CHECKING:
    from lagbc.types import All, Auto, Devices, DTypeName, MethodName, ReduceName, Stop


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    done, total : int
        Roots. Where a graph was reduced, of all its pieces.
    seconds : float
        Since the run, or its resumption, began.
    gteps : float
        Billions of edges traversed in a second since then: an edge counts once for every root, in the undirected
        case as one edge.
    share : float
        Of the work, that is of roots times edges: pieces of a reduced graph have more or fewer edges.
    """

    done: int
    total: int
    seconds: float
    gteps: float
    share: float


Reporter = Callable[[Progress], object]


class Options(TypedDict, total=False):
    """How a run is carried out: keyword arguments of every function, as in ``lagbc.bc(A, threads=2, memory="8GB")``.

    None of them changes what is computed. `lagbc.config` sets them for all calls in a block. Without them "auto" is
    taken where it is named below, and else None, "float64" or False.

    Attributes
    ----------
    method : str
        "auto", or the name of a row of `lagbc.METHODS`: "batched", "graphblas" or the traversals "work-efficient" in
        hops and "dijkstra" with lengths on the CPU, "batched", "spmm" or with lengths "delta-stepping" on the GPU, or
        there for comparison the traversals "work-efficient", "active-edge", "warp-centric", "edge-parallel",
        "node-parallel", "hybrid" and with lengths "dijkstra". "auto" takes the one that a probe of
        the roots predicts to be the fastest: "batched" (on a GPU with lengths "delta-stepping"), or "work-efficient"
        (with lengths "dijkstra"), all of which promise the same bits for every run; `lagbc.select_method` says which,
        and why.
    device : str, int or list of int
        "auto", "cpu" or "cuda". "auto" takes the GPU if CuPy sees one and the run is large enough to gain. Or the
        number of a GPU, a list of numbers, or "all" for all GPUs: several share the roots, and change no bit of what
        promises bits. Cutoffs and decays, and reach and gravity, are summed on the CPU alone.
    reduce : str
        What of the graph is not swept, as its structure gives it in another way: "auto" is what pays, "none" nothing,
        "all" whatever applies. Scores differ by at most 1e-12 relative, in hops and with lengths that are whole
        numbers; docs/reductions.md says what is done, and when nothing is. Where a stated memory is too little for it,
        "auto" does nothing, and "all" is a MemoryError.
    threads : int or None
        CPU threads of the sweeps; None is one for each core that the process may use, or fewer where each would have
        less than some 10 ms to do. They never change a bit of what promises bits. A large graph is put in order before
        by all cores, whatever is given here.
    memory : str, int or None
        What the run may take: a size such as "8GB" or "512MiB", or a number of bytes. None is what the environment
        variable ``LAGBC_MEMORY`` says, and without it half of what is free, on the GPU 80 %.
    dtype : str
        Type of path counts: "float64", or on the GPU "float32", in which scores have a relative error of 1e-6 to 2e-5.
        Scores are always summed in float64. Counts past 2**126 are common on meshes and roads; each such root is
        recomputed in float64, so that float32 is no gain there. With `target_weights` or `demand` it is float64.
    bucket_width : float or "auto"
        Only with lengths: the width of the buckets of Delta-stepping, as a length. It changes the time, not the scores.
    variant : str or None
        Which of a traversal's ways on the GPU is taken. "all-blocks" puts all blocks of the GPU on one root,
        "one-block" one ("node-parallel", "warp-centric", "edge-parallel"); "work-efficient" and "node-parallel" are
        those of "dijkstra". None lets the method choose.
    virtual_warp : int or None
        Threads that share the edges of a vertex in the traversals "warp-centric", "work-efficient", "hybrid" and
        "dijkstra": a power of two up to 32. None lets the method choose.
    progress : bool or callable
        True draws a bar with the time left; a callable gets a `lagbc.Progress` after every batch.
    checkpoint : path or None
        A file that is kept up to date every few seconds. The same call after a kill goes on from it, and ends with the
        scores of an uninterrupted run, by "batched" with the same bits.
    stop : threading.Event, callable or None
        Ends the run from another thread, as a server or a window does: once the event is set, or the callable returns
        True, the call raises `lagbc.StoppedError`. It is looked for where Ctrl-C is, within some 0.1 s while roots are
        swept, and between the steps before. The checkpoint holds what was done. The callable is called often, from any
        thread of the run. Workers of an executor end within 5 s, or are not waited for; with `comm` it is that of rank
        0 that counts.
    executor : concurrent.futures.Executor, or what has its `submit`; or None
        Sweeps on its workers: processes of this machine or of others, in which lagbc can be imported, such as those of
        `ProcessPoolExecutor`, loky, ``dask.distributed.Client.get_executor()`` or ``mpi4py.futures.MPIPoolExecutor``.
        Scores have the bits of a run without it. `threads` and `memory` are then those of each worker, and None is one
        thread. Small pieces of a reduced graph are computed here. docs/scale.md says what is sent.
    comm : mpi4py.MPI.Comm or None
        Sweeps on the ranks of a program that was started by ``mpiexec``. All ranks make the same call, and all get its
        scores; it is the arguments of rank 0 that count. `threads` are those of each rank, and None shares the cores of
        a machine among its ranks. It excludes `executor`.
    """

    method: MethodName | Auto
    device: Devices
    reduce: ReduceName
    threads: int | None
    memory: str | int | None
    dtype: DTypeName
    bucket_width: float | Auto
    variant: str | None
    virtual_warp: int | None
    progress: bool | Reporter
    checkpoint: str | os.PathLike[str] | None
    stop: Stop | None
    executor: Any
    comm: Any


# What other programs call arguments.
_ELSEWHERE = {
    "weight": "weighted",
    "weights": "weighted",
    "seed": "rng",
    "random_state": "rng",
    "n_jobs": "threads",
    "nbunch": "sources",
    "pivots": "sources",
    "num_samples": "k",
    "sources": "roots",
    "k": "roots",
}

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
        There is no such option, or its value is none. A method is looked up by the call that is to run it.

    Notes
    -----
    A call's own options come first, then those of the innermost block. Threads and tasks started in a block have their
    own context, as `contextvars` says.

    Examples
    --------
    >>> with lagbc.config(threads=1, progress=True):  # doctest: +SKIP
    ...     lagbc.bc(A)
    """
    settle("auto", options)
    token = _defaults.set({**_defaults.get({}), **options})
    try:
        yield
    finally:
        _defaults.reset(token)


@dataclass(frozen=True)
class Settings:
    """Options, checked as far as no method is chosen; None is "auto" or a default.

    Attributes
    ----------
    batch : int or None
    method, device, dtype : str
    devices : tuple of int, "all", or None
        Numbers of the GPUs that are asked for; None is CuPy's current one.
    threads : int
    threads_asked : bool
        Whether they were given; else they are the most that are taken.
    memory : int or None
        Bytes.
    bucket_width : float or None
    variant : str or None
    virtual_warp : int or None
    progress : bool or callable
    checkpoint : Path or None
    executor : object with `submit`, or None
    """

    batch: int | None
    method: str
    device: str
    reduce: str
    threads: int
    threads_asked: bool
    memory: int | None
    dtype: str
    bucket_width: float | None
    variant: str | None
    virtual_warp: int | None
    progress: bool | Reporter
    checkpoint: Path | None
    devices: tuple[int, ...] | All | None = None
    executor: Any = None

    @property
    def own_threads(self) -> int:
        """Threads of this process: `threads` is how many each worker of an executor has."""
        return self.threads if self.executor is None else usable_cores()

    @property
    def of_some_methods(self) -> dict[str, Any]:
        """Options given that only some methods read."""
        options = {"bucket_width": self.bucket_width, "variant": self.variant, "virtual_warp": self.virtual_warp}
        return {name: value for name, value in options.items() if value is not None}


def settle(batch: int | str, options: Options) -> Settings:
    """Check options, those of `config` filled in.

    Raises
    ------
    TypeError, ValueError
        The message names the option.
    """
    require_known(options)
    given = with_defaults(options)
    parse_stop(given)
    memory, executor = given.get("memory"), parse_executor(given)
    device, devices = _parse_device(given.get("device", "auto"))
    if executor is not None and devices is not None:
        raise InvalidValueError(
            f"device={given['device']!r} names GPUs of one process, not of the workers of an executor"
        )
    return Settings(
        batch=_parse_batch(batch),
        method=_parse_method(given.get("method", "auto")),
        device=device,
        reduce=_one_of("reduce", given.get("reduce", "auto"), ("auto", "none", "all")),
        threads=_parse_threads(given.get("threads"), executor),
        threads_asked=given.get("threads") is not None,
        memory=None if memory is None else parse_size("memory", memory),
        dtype=_one_of("dtype", given.get("dtype", "float64"), ("float64", "float32")),
        bucket_width=_parse_width(given.get("bucket_width", "auto")),
        variant=given.get("variant"),
        virtual_warp=_parse_virtual_warp(given.get("virtual_warp")),
        progress=_parse_progress(given.get("progress", False)),
        checkpoint=parse_checkpoint(given.get("checkpoint")),
        devices=devices,
        executor=executor,
    )


def with_defaults(options: Options) -> Options:
    """Fill in the options of `config`."""
    return {**_defaults.get({}), **options}


def devices_in(options: Options) -> tuple[int, ...] | All | None:
    """Return the GPUs that options ask for, those of `config` filled in: their numbers, all, or those there are."""
    return _parse_device(with_defaults(options).get("device", "auto"))[1]


def require_known(options: Options, own: Iterable[str] = ()) -> None:
    """Raise TypeError if one of the keyword arguments of a call is no option of a run; `own` are the call's others."""
    if options.keys() <= Options.__annotations__.keys():
        return
    from difflib import get_close_matches

    there = tuple(Options.__annotations__)
    for name in sorted(options.keys() - there):
        taken = (*own, *there)
        meant = _ELSEWHERE.get(name) or next(iter(get_close_matches(name, taken, 1)), None)
        instead = f"did you mean {meant}=?" if meant in taken else f"the options of a run are {', '.join(there)}"
        raise InvalidTypeError(f"there is no argument {name!r}; {instead}")


def _one_of(name: str, value: Any, values: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in values:
        return value
    *others, last = map(repr, values)
    if not isinstance(value, str):
        raise InvalidTypeError(f"{name}={value!r} is not a string; write {', '.join(others)} or {last}")
    raise InvalidValueError(f"{name}={value!r} is none of {', '.join(others)} and {last}")


def _parse_device(device: Any) -> tuple[str, tuple[int, ...] | All | None]:
    """Return the kind of device, and which ones of GPUs."""
    if isinstance(device, str):
        if device == "all":
            return "cuda", "all"
        return _one_of("device", device, ("auto", "cpu", "cuda", "all")), None
    refuse_masked("device", device)
    numbers: tuple[int, ...]
    try:
        numbers = (operator.index(device),)
    except TypeError:
        try:
            numbers = tuple(operator.index(number) for number in device)
        except TypeError:
            raise InvalidTypeError(
                f"device={device!r}: write 'auto', 'cpu', 'cuda', the number of a GPU, a list of such, or 'all'"
            ) from None
    if not numbers or any(number < 0 for number in numbers) or isinstance(device, bool):
        raise InvalidValueError(f"device={device!r}: GPUs are numbered from 0; name one or more, such as [0, 1]")
    return "cuda", numbers


def _parse_batch(batch: int | str) -> int | None:
    if isinstance(batch, str) and batch != "auto":
        raise InvalidTypeError(f"batch={batch!r} is not an integer or 'auto'")
    return None if isinstance(batch, str) else parse_count("batch", batch)


def _parse_method(method: Any) -> str:
    if not isinstance(method, str):
        raise InvalidTypeError(f"method={method!r} is not a string; write 'auto' or the name of a row of lagbc.METHODS")
    return method


def parse_checkpoint(checkpoint: Any) -> Path | None:
    """Return the path of a checkpoint; TypeError or CheckpointError if it is none."""
    if checkpoint is None:
        return None
    try:
        path = Path(checkpoint)
    except TypeError:
        raise InvalidTypeError(f"checkpoint={checkpoint!r} is not a path") from None
    try:
        require_name(path)
    except FileError as error:
        raise CheckpointError(f"checkpoint {error}") from None
    return path


def _parse_threads(threads: int | None, executor: Any) -> int:
    """Return the threads of this process, or of each worker of an executor, which may know how many it has."""
    if threads is not None:
        return parse_count("threads", threads)
    return usable_cores() if executor is None else getattr(executor, "threads", 1)


def parse_executor(given: Options) -> Any:
    """Return the executor, if there is one; it excludes a communicator."""
    executor, comm = given.get("executor"), given.get("comm")
    if executor is not None and comm is not None:
        raise InvalidValueError("executor and comm exclude each other: the ranks of comm are the workers")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InvalidTypeError(
            f"executor is a {type(executor).__qualname__}, which has no submit; pass a concurrent.futures.Executor, "
            "such as that of dask.distributed.Client.get_executor()"
        )
    if comm is not None and not callable(getattr(comm, "Get_rank", None)):
        raise InvalidTypeError(
            f"comm is a {type(comm).__qualname__}; it is a communicator of mpi4py, such as MPI.COMM_WORLD"
        )
    return executor


def parse_stop(given: Options) -> Callable[[], object] | None:
    """Return what tells whether the run shall end, if something does."""
    stop = given.get("stop")
    asked: Any = getattr(stop, "is_set", stop)
    if stop is not None and not callable(asked):
        raise InvalidTypeError(f"stop={stop!r} is neither a threading.Event nor a function that says whether to stop")
    return asked  # type: ignore[no-any-return]


def stopping(options: Options) -> AbstractContextManager[None]:
    """Let a call end where its options, those of `config` filled in, ask for it."""
    given = with_defaults(options)
    return stopping_by(parse_stop(given), given.get("checkpoint"))


def _parse_width(bucket_width: Any) -> float | None:
    if isinstance(bucket_width, str) and bucket_width == "auto":
        return None
    width = parse_real("bucket_width", bucket_width)
    if not 0 < width < np.inf:
        raise InvalidValueError(f"bucket_width={bucket_width!r}: it is a length, finite and > 0, or 'auto'")
    return width


def _parse_virtual_warp(threads: Any) -> int | None:
    if threads is None:
        return None
    count = parse_count("virtual_warp", threads)
    if count > 32 or count & (count - 1):
        raise InvalidValueError(f"virtual_warp={threads!r}: it is a power of two up to 32")
    return count


def _parse_progress(progress: Any) -> bool | Reporter:
    if isinstance(progress, bool | np.bool_):
        return bool(progress)
    if not callable(progress):
        raise InvalidTypeError(f"progress={progress!r} is neither True nor False nor a function")
    report: Callable[..., object] = progress
    return report


def parse_real(name: str, value: Any) -> float:
    """Return a real number as a float."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidTypeError(f"{name}={value!r} is not a real number")
    return float(value)


def parse_count(name: str, value: Any) -> int:
    """Return a positive integer."""
    refuse_masked(name, value)
    try:
        count = operator.index(value)
    except TypeError:
        raise InvalidTypeError(f"{name}={value!r} is not an integer") from None
    if isinstance(value, bool) or count < 1:
        raise InvalidValueError(f"{name}={value!r}: it is a count, 1 or more")
    return count
