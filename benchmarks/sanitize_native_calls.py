"""Runs of one process that `benchmarks.sanitize --native` watches, with the modules of a folder.

    python -m benchmarks.sanitize_native_calls FOLDER RECORD KIND [NAME ...]

The kinds are `tests` (files of tests), `threads` (calls on several threads), `graphs`, `arguments` and `files`
(malformed ones, which have to be refused), `ending` (Python ends while kernels run) and `planted` (an error, by its
name). RECORD, of JSON, gets the names of the kernels that were called, and how many tests or calls there were.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial, wraps
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import numpy as np

from benchmarks.machine import ROOT

SEED = 28
GRAPHS, FILES = 3000, 1500
# How often each kernel is called with wrong arguments.
CALLS = 3
# Functions of the compiled module that are no kernels.
_NONE = "held_memory", "array", "poll", "free_slots"


class Finder:
    """Finds the compiled modules in a folder, and not where they are installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return how a module is loaded; None if it is no compiled one."""
        folder, _, module = name.rpartition(".")
        files = list(self.folder.glob(f"{module}.*so")) if folder in ("lagbc.native", "") else []
        return spec_from_file_location(name, files[0]) if files else None


def kernels() -> dict[str, Any]:
    """Name every kernel, with the module or the class that has it."""
    from lagbc.native import core

    found: dict[str, Any] = {}
    for name, of in vars(core).items():
        if isinstance(of, type):
            methods = (method for method, value in vars(of).items() if type(value).__name__ == "nb_method")
            found |= {
                f"{name}.{method}": of for method in methods if not method.startswith("__") and method not in _NONE
            }
        elif callable(of) and name not in _NONE:
            found[name] = core
    return found


def replace_kernels(wrapper: Callable[[str, Callable[..., Any]], Callable[..., Any]]) -> None:
    """Put functions in place of those of the compiled module."""
    for name, owner in kernels().items():
        of_owner = name.rpartition(".")[2]
        setattr(owner, of_owner, wrapper(name, getattr(owner, of_owner)))


def run_tests(*files: str) -> int:
    """Run tests; return how many passed."""
    import pytest

    class Count:
        passed = 0

        def pytest_runtest_logreport(self, report: Any) -> None:
            self.passed += report.when == "call" and report.passed

    count = Count()
    # It reads the levels of the installed module.
    without = ["--deselect=tests/native/test_native.py::test_level_is_forced"]
    # Reports are written to the stream of errors itself, and are lost with what captures it when a process ends.
    status = pytest.main(["-q", "-p", "no:cacheprovider", "--capture=sys", *without, *files], plugins=[count])
    if status or not count.passed:
        raise SystemExit(f"pytest ended with status {int(status)}, {count.passed} tests passed")
    return count.passed


def calls_on_threads() -> Iterator[Callable[[], Any]]:
    """Yield calls in which several threads run kernels at once, on arrays and graphs that they share."""
    from scipy import sparse

    import lagbc
    from benchmarks.generators import with_lengths
    from benchmarks.sanitize_calls import diamonds, few_levels, fractional, many_levels, subdivided, sums_of
    from lagbc import tuning

    tuning.GROUPED_ROOTS = 1
    on_cpu: dict[str, Any] = {"device": "cpu", "threads": 4}
    mesh, other = many_levels(), few_levels()
    for A, weighted in product((mesh, other), (False, True)):
        given = fractional(A) if weighted else A
        for method in ("batched", "dijkstra" if weighted else "work-efficient"):
            yield from sums_of(given, method, ["float64"], weighted=weighted, batch=64, **on_cpu)
    yield from sums_of(with_lengths(other), "batched", ["float64"], weighted=True, batch=64, **on_cpu)
    # Roots by themselves, and all those of a block together.
    for tuning.WITHIN_TOGETHER, A in product((0.0, 1e9), (mesh, fractional(mesh), with_lengths(mesh))):
        for directed, weighted in product((True, False), (A is not mesh,)):
            within: Any = {"weighted": weighted, "directed": directed, "cutoff": [1, 3], **on_cpu}
            yield partial(lagbc.centralities, A, ("bc", "closeness", "harmonic", "reach", "eccentricity"), **within)
            yield partial(lagbc.edge_bc, A, **within)
            yield partial(lagbc.gravity, A, decay=[0.5, 1.0], **within)
    for A in (subdivided(mesh[:100, :100], 3), other):
        for weighed, weighted in ((A, False), (with_lengths(A), True), (fractional(A), True)):
            for call, directed in product((lagbc.bc, lagbc.edge_bc), (True, False)):
                yield partial(call, weighed, weighted=weighted, directed=directed, reduce="all", **on_cpu)
    twins = sparse.csr_array(sparse.kron(other, np.ones((6, 6))))  # too many vertices to be swept as a small block
    for weighted in (False, True):
        yield partial(lagbc.bc, twins, weighted=weighted, reduce="all", **on_cpu)
    one_way = sparse.csr_array(
        sparse.triu(other) + sparse.random_array(other.shape, density=0.001, rng=np.random.default_rng(SEED))
    )
    for weighed, weighted in ((one_way, False), (one_way * 0.75, True)):
        yield partial(lagbc.bc, weighed, weighted=weighted, reduce="all", **on_cpu)
    # Counts that float64 does not hold.
    for call in (lagbc.bc, lagbc.edge_bc, partial(lagbc.stress, log2=True)):
        yield partial(call, diamonds(1100), sources=[0, 1, 2], **on_cpu)
    for A, directed in product((mesh, other, diamonds(2200)), (False, True)):
        yield partial(lagbc.estimate, A, samples="paths", directed=directed, error=0.1, rng=1, **on_cpu)
    # So many vertices are sorted in ranges of columns.
    large = sparse.random_array((70_000, 70_000), density=3e-5, rng=np.random.default_rng(SEED))
    for weighted, directed in product((False, True), (False, True)):
        yield partial(lagbc.bc, large, sources=[0, 1], weighted=weighted, directed=directed, **on_cpu)
    for weighed, weighted in ((other, False), (fractional(other), True)):
        yield partial(lagbc.group_bc, weighed, [[0, 1], [2, 3], [4, 5, 6]], weighted=weighted, threads=4)


def call_on_threads() -> int:
    """Make these calls, in which all work on graphs is shared out, with each type of indices; return how many."""
    from lagbc import native, tuning
    from lagbc.graph import csr

    native.SHARED_FROM = 1
    native.cores = lambda: 4
    count = 0
    for csr._MOST_IN_32_BITS in (2**31 - 1, 0):
        if not csr._MOST_IN_32_BITS:  # graphs that are surveyed have narrow indices
            tuning.SURVEYED = -1
        for call in calls_on_threads():
            call()
            count += 1
    return count


def read_graphs() -> int:
    """Let the public functions read malformed matrices, and unusual ones, which are read as SciPy does."""
    from scipy import sparse

    import lagbc
    from benchmarks.malformed import malformed, well_formed

    for number in range(GRAPHS):
        rng = np.random.default_rng([SEED, number])
        name, A, weighted = malformed(rng)
        given: Any = {"weighted": weighted or bool(rng.random() < 0.5), "directed": bool(rng.random() < 0.5)}
        try:
            lagbc.bc(A, **given)
        except (ValueError, TypeError):
            pass
        else:
            raise SystemExit(f"graph {number} is accepted, but {name}")
        A = well_formed(rng)
        plain = sparse.csr_array(A.tocoo())
        plain.sum_duplicates()
        plain.eliminate_zeros()  # as which padding is stored
        given["weighted"] = bool(rng.random() < 0.5)
        np.testing.assert_array_equal(lagbc.bc(A, **given), lagbc.bc(plain, **given), f"graph {number}")
    return 2 * GRAPHS


def refuse_arguments() -> int:
    """Call each kernel, as calls of lagbc do, with every argument in turn replaced by no array, object or number."""
    wrong = (object(), "text", np.zeros(3, complex), np.zeros((2, 2, 2)), [0, 1], np.zeros(4)[::2])
    calls = dict.fromkeys(kernels(), 0)
    refused = 0

    def refusing(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any) -> Any:
            nonlocal refused
            calls[name] += 1
            if calls[name] <= CALLS:
                for place, value in product(range(len(given)), wrong):
                    try:
                        kernel(*given[:place], value, *given[place + 1 :])
                    except (TypeError, ValueError):
                        refused += 1
                    else:
                        raise SystemExit(f"{name} takes {value!r} as argument {place}")
            return kernel(*given)

        return called

    replace_kernels(refusing)
    for call in calls_on_threads():
        call()
    return refused


def read_files() -> int:
    """Read malformed files, those of the fuzz among the tests; return how many there were."""
    sys.path.insert(0, str(ROOT / "tests" / "io"))
    fuzz_worker = import_module("fuzz_worker")

    with TemporaryDirectory() as folder:
        for form, number in product(fuzz_worker.SUFFIX, range(FILES)):
            path = Path(folder, f"graph{fuzz_worker.SUFFIX[form]}")
            data = fuzz_worker.make(form, number, SEED)
            path.write_bytes(data)
            found = fuzz_worker.outcome(form, path, data)
            if found not in ("accepted", "refused"):
                raise SystemExit(f"{form} {number}: {found}")
    return FILES * len(fuzz_worker.SUFFIX)


def end_early() -> int:
    """Leave kernels on daemon threads, which want the GIL back once Python has ended."""
    sys.path.insert(0, str(ROOT / "tests" / "native"))
    import_module("ending")
    return 1


def on_two_threads(function: Callable[..., Any], of_first: tuple[Any, ...], of_second: tuple[Any, ...]) -> None:
    """Call a function on two threads at once."""
    threads = [Thread(target=function, args=given) for given in (of_first, of_second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def make_planted_error(name: str) -> int:
    """Make an error that a sanitizer has to notice."""
    planted = import_module("planted")
    arrived, flag, sums = np.zeros(1, np.uint8), np.zeros(1, np.uint8), np.zeros(1000)
    arguments: dict[str, tuple[Any, ...]] = {
        "read_past_the_end": (np.ones(5),),
        "write_before_the_start": (np.ones(5),),
        "read_row_that_is_not_there": (np.ones((3, 64)),),
        "read_buffer_that_moved": (100,),
        "read_freed_buffer": (100,),
        "read_none": (None,),
        "shift_by_all_bits": (64,),
        "count_beyond_32_bits": (2**31 - 1,),
        "read_misaligned": (np.zeros(16, np.uint8),),
        "read_column_64": (64,),
        "cast_beyond_64_bits": (1e19,),
    }
    function = getattr(planted, name)
    if name in arguments:
        function(*arguments[name])
    elif name == "add_to_one_sum":
        on_two_threads(function, (sums, arrived), (sums, arrived))
    else:
        on_two_threads(function, (flag, arrived, True), (flag, arrived, False))
    return 1


KINDS: dict[str, Callable[..., int]] = {
    "tests": run_tests,
    "threads": call_on_threads,
    "graphs": read_graphs,
    "arguments": refuse_arguments,
    "files": read_files,
    "ending": end_early,
    "planted": make_planted_error,
}


def main(folder: Path, record: Path, kind: str, *names: str) -> None:
    """Run a kind, and record the kernels that it calls and how many tests or calls there were."""
    sys.meta_path.insert(0, Finder(folder))  # type: ignore[arg-type]
    warnings.simplefilter("ignore")
    called = set[str]()

    def noted(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(kernel)
        def call(*given: Any, **named: Any) -> Any:
            called.add(name)
            return kernel(*given, **named)

        return call

    if kind != "planted":
        replace_kernels(noted)
    count = 0
    try:
        count = KINDS[kind](*names)
    finally:
        record.write_text(json.dumps({"kernels": sorted(called), "count": count}), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
