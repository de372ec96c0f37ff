"""The process of a command: the ranks that an MPI launcher started, and the signals that end it.

Rank 0 reads, prints and writes, and the other ranks compute with it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, NoReturn

from lagbc.errors import MissingDependencyError

# Variables in which launchers give the number of processes: Open MPI; MPICH, Intel MPI and srun --mpi=pmi2.
_SIZES = "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"
# srun --mpi=pmix gives a rank, and the number of tasks of its step.
_PMIX_RANK, _SIZE_OF_STEP = "PMIX_RANK", "SLURM_STEP_NUM_TASKS"


def on_all_ranks(command: Callable[[], Any], *, dealt: bool = False) -> Any:
    """Run a command; if a launcher has started several ranks, on rank 0, with all ranks as workers of its runs.

    If a graph is `dealt` over the ranks, each rank runs the command, and only rank 0 prints.
    """
    if _count_launched() < 2:
        return command()
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise MissingDependencyError(
            "an MPI launcher has started several processes, for which mpi4py is needed, and that cannot be imported "
            f"({error}): pip install mpi4py; or pip install 'lagbc[mpi]', in a checkout '.[mpi]'"
        ) from None
    if dealt:
        return _on_each_rank(command, MPI.COMM_WORLD)
    from lagbc.options import config
    from lagbc.run.ranks import on_ranks

    def lead(executor: Any) -> Any:
        with config(executor=executor):
            return command()

    comm = MPI.COMM_WORLD
    try:
        return on_ranks(comm, "lagbc", lead)
    except BaseException:
        if comm.Get_rank() == 0:
            raise
        return None  # rank 0 raises it


def _on_each_rank(command: Callable[[], Any], comm: Any) -> Any:
    if comm.Get_rank() == 0:
        return command()
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        try:
            return command()
        except Exception:
            return None  # rank 0 raises it, too


def ranks() -> Any:
    """Return the communicator of all ranks that a launcher has started; None if there is one rank."""
    if _count_launched() < 2:
        return None
    from mpi4py import MPI

    return MPI.COMM_WORLD


def _count_launched() -> int:
    names = (*_SIZES, *[_SIZE_OF_STEP] * (_PMIX_RANK in os.environ))
    sizes = (os.environ.get(name, "") for name in names)
    return max((int(size) for size in sizes if size.isdecimal()), default=1)


class Terminated(KeyboardInterrupt):
    """The process was asked to end; files are closed and checkpoints written, as at Ctrl-C."""


@contextmanager
def signals_raise() -> Iterator[None]:
    """Let SIGINT and SIGTERM raise in the main thread, unless they have other handlers; ignore a second SIGTERM.

    A signal that an import loses, or turns into an ImportError, is raised at the end.
    """
    received: list[KeyboardInterrupt] = []

    def handle(number: int, _: object) -> NoReturn:
        received.append(Terminated() if number == signal.SIGTERM else KeyboardInterrupt())
        if number == signal.SIGTERM:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise received[-1]

    before: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    in_main = threading.current_thread() is threading.main_thread()
    taken = [number for number, handler in before.items() if in_main and signal.getsignal(number) is handler]
    for number in taken:
        signal.signal(number, handle)
    try:
        yield
    except Exception:
        if not received:
            raise
    finally:
        for number in taken:
            signal.signal(number, before[number])
    if received:
        raise received[-1]
