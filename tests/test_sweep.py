"""The loop around the methods: progress, interrupt, checkpoint, memory, and that nothing is left behind."""

import dataclasses
import functools
import os
import signal
import subprocess
import sys
import threading
import tracemalloc
import types

import numpy as np
import pytest
import scipy.sparse as sp
from killed import Killed, kill_after
from states import prepare
from strategies import cycle, diamonds, disjoint, grid, oracle, path, scale_free, star, with_lengths

import lagbc
from lagbc import limits
from lagbc.graph.validate import as_graph
from lagbc.limits import SMALL_RUN, budget
from lagbc.methods import table as methods
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu import batched as batched_method
from lagbc.methods.cpu import extended
from lagbc.methods.sums import Bounds, Sums
from lagbc.native import core
from lagbc.planning import sweep as planned
from lagbc.planning.sweep import _own_bytes, host_graph_bytes
from lagbc.run.work import sum_over

A = scale_free(500, 4000, seed=1)
LENGTHS = with_lengths(A, np.arange(1, 11))
# Roots for several batches of any method, of this size.
MANY, BATCH = scale_free(1600, 8000, seed=1), 256
MANY_LENGTHS = with_lengths(MANY, np.arange(1, 11))


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    before = set(threading.enumerate())
    yield
    # tqdm keeps a daemon of its own, and threads that compile kernels are kept for the process.
    left = {thread for thread in threading.enumerate() if not thread.daemon} - before
    assert not {thread for thread in left if not thread.name.startswith("lagbc compiles")}


def batched(A, **options):
    return lagbc.bc(A, method="batched", device="cpu", **options)


# Progress


def test_bar(any_bc, capsys):
    any_bc(LENGTHS, progress=True)
    stderr = capsys.readouterr().err
    assert "lagbc: 100%" in stderr
    assert "root/s" in stderr
    assert "GTEPS" in stderr
    any_bc(LENGTHS)
    assert capsys.readouterr() == ("", "")


def test_callable(any_bc):
    told = []
    any_bc(MANY_LENGTHS, batch=BATCH, progress=told.append, threads=2, reduce="none")
    done = [progress.done for progress in told]
    with_edges = np.count_nonzero(as_graph(MANY).out_degrees)
    assert done == sorted(set(done))
    assert len(done) > 3
    assert {progress.total for progress in told} == {done[-1]} == {with_edges}
    seconds = [progress.seconds for progress in told]
    assert seconds == sorted(seconds)
    assert all(progress.gteps > 0 for progress in told)


@pytest.mark.parametrize("error", [RuntimeError("mine"), KeyboardInterrupt()])
def test_callable_that_raises(bc, error):
    def report(progress):
        raise error

    with pytest.raises(type(error)) as caught:
        bc(A, progress=report, threads=2)
    assert caught.value is error
    np.testing.assert_allclose(bc(A), oracle(A), rtol=1e-12)


# Checkpoint


@pytest.mark.parametrize(
    "options",
    [{}, {"endpoints": True, "normalized": True}, {"directed": False}, {"k": 1500, "rng": 1, "reduce": "none"}],
    ids=["plain", "factors", "undirected", "sample"],
)
def test_resume(any_bc, tmp_path, options):
    if options and any_bc.keywords["weighted"]:
        pytest.skip("arguments and factors know nothing of lengths")
    file, call = tmp_path / "run", functools.partial(any_bc, MANY_LENGTHS, **options)
    expected = call(batch=BATCH)
    for threads in (1, 2, 3):
        with pytest.raises(Killed):
            call(checkpoint=file, progress=kill_after(1), threads=threads)
    done, told = int(np.load(file)["done"].sum()), []
    scores = call(checkpoint=file, progress=told.append)
    assert told[0].done > done >= 64, "it went on from where it was"
    np.testing.assert_allclose(scores, expected, rtol=1e-12 if any_bc.keywords["method"] == "graphblas" else 0)


def test_finished_checkpoint_returns_at_once(bc, tmp_path):
    first = bc(A, checkpoint=tmp_path / "run")
    told = []
    again = bc(A, checkpoint=tmp_path / "run", progress=told.append)
    assert told == []
    np.testing.assert_array_equal(again, first)
    again += 1
    np.testing.assert_array_equal(bc(A, checkpoint=tmp_path / "run"), first)
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


def test_sample_without_a_seed_resumes_with_its_roots(tmp_path):
    file = tmp_path / "run"
    with pytest.raises(Killed):
        batched(A, k=200, checkpoint=file, progress=kill_after(1))
    roots = np.load(file)["roots"]
    scores = batched(A, k=200, checkpoint=file)
    np.testing.assert_array_equal(np.load(file)["roots"], roots)
    expected = batched(A, sources=roots) * 499 / 200
    expected[roots] *= 200 / 199
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


WEIGHTED = {"A": LENGTHS, "weighted": True}
ONES, OF_VERTICES = with_lengths(A, [1]), np.arange(500.0)
# What a file was begun with, what it is to go on with, and what that belongs to.
OTHERS = {
    "other edges": ({}, {"A": scale_free(500, 4000, seed=2)}, "another graph"),
    "a vertex more": ({}, {"A": scale_free(501, 4000, seed=1)}, "another graph"),
    "undirected": ({}, {"directed": False}, "another graph"),
    "endpoints": ({}, {"endpoints": True}, "other options"),
    "target weights": ({}, {"target_weights": OF_VERTICES}, "other options"),
    "source weights": ({}, {"source_weights": OF_VERTICES}, "other options"),
    "weights of the other kind": ({"target_weights": OF_VERTICES}, {"source_weights": OF_VERTICES}, "other options"),
    "a sample": ({}, {"k": 100}, "other options"),
    "a sample of all": ({}, {"k": 500, "rng": 1}, "other options"),
    "sources": ({}, {"sources": np.arange(499)}, "other roots"),
    "another seed": ({"k": 100, "rng": 1}, {"k": 100, "rng": 2}, "other roots"),
    "a larger sample": ({"k": 100, "rng": 1}, {"k": 101}, "other roots"),
    "other lengths": (WEIGHTED, WEIGHTED | {"A": with_lengths(A, np.arange(1, 11), seed=1)}, "another graph"),
    "hops": (WEIGHTED, {"A": LENGTHS}, "another graph"),
    "lengths of one": ({"A": ONES}, {"A": ONES, "weighted": True}, "another graph"),
    "undirected, with lengths": (WEIGHTED, WEIGHTED | {"directed": False}, "another graph"),
    "rtol": (WEIGHTED, WEIGHTED | {"rtol": 1e-9}, "other options"),
}


@pytest.mark.parametrize(("begun", "other", "whose"), OTHERS.values(), ids=OTHERS)
def test_checkpoint_of_something_else(tmp_path, begun, other, whose):
    file = tmp_path / "run"
    batched(**{"A": A} | begun, checkpoint=file)
    before = file.read_bytes()
    with pytest.raises(lagbc.CheckpointError, match=f"run belongs to {whose}.*name another file, or delete it"):
        batched(**{"A": A} | other, checkpoint=file)
    assert file.read_bytes() == before


def test_factors_may_change(tmp_path):
    """`normalized` is applied to what the checkpoint holds, so the same file serves both."""
    scores = batched(A, checkpoint=tmp_path / "run")
    np.testing.assert_allclose(batched(A, checkpoint=tmp_path / "run", normalized=True), scores / (499 * 498))


# Interrupt


def test_interrupt_anywhere_keeps_the_checkpoint_consistent(tmp_path, monkeypatch):
    """Raise KeyboardInterrupt at every single instruction of the loop in turn; going on must give the same bits."""
    monkeypatch.setattr("lagbc.tuning.CHECKPOINT_SECONDS", 0)
    B = scale_free(150, 400, seed=1)
    roots = np.flatnonzero(as_graph(B).out_degrees)
    expected = batched(B, sources=roots, threads=1)
    step = 0
    while True:
        step += 1
        file = tmp_path / f"{step}"
        if not _interrupted_at(step, lambda file=file: batched(B, sources=roots, checkpoint=file, threads=1)):
            break
        np.testing.assert_array_equal(batched(B, sources=roots, checkpoint=file, threads=1), expected)
    assert step > 50


def _interrupted_at(step, call):
    count = 0

    def count_down(frame, event, argument):
        nonlocal count
        if event == "opcode":
            count += 1
            if count == step:
                raise KeyboardInterrupt
        return count_down

    def trace(frame, event, argument):
        if frame.f_code is not sum_over.__code__:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        sys.settrace(trace)  # from Python 3.12 on, only a function that is set after this traces opcodes
        return count_down

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


SCRIPT = """
import os, signal, sys
import numpy as np
sys.path.insert(0, {tests!r})
from strategies import grid, scale_free, with_lengths
import lagbc, lagbc.tuning
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell starts with it ignored
{body}
"""


def start(body):
    code = SCRIPT.format(tests=os.path.dirname(__file__), body=body)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_kill(tmp_path):
    """SIGKILL in the third batch; the checkpoint has two at least, and going on gives the bits of an unbroken run."""
    file = tmp_path / "run"
    process = start(
        f"""
lagbc.tuning.CHECKPOINT_SECONDS = 0
def report(progress):
    if progress.done > 128:
        os.kill(os.getpid(), signal.SIGKILL)
A = scale_free(500, 4000, seed=1)
lagbc.bc(A, method="batched", device="cpu", threads=2, progress=report, checkpoint={str(file)!r})
"""
    )
    process.communicate(timeout=100)
    assert process.returncode == -signal.SIGKILL
    assert int(np.load(file)["done"].sum()) >= 128
    np.testing.assert_array_equal(batched(A, checkpoint=file), batched(A))


# Memory


@pytest.fixture
def failing(monkeypatch):
    """Add a row to METHODS that is method "batched" with functions of its own in place of some of the three."""

    def add(batching=(), **functions):
        module = types.ModuleType("failing_method")
        vars(module).update(vars(batched_method) | functions)
        module.batching = batched_method.batching._replace(**dict(batching))
        monkeypatch.setitem(sys.modules, "failing_method", module)
        row = next(row for row in lagbc.METHODS if (row.name, row.device) == ("batched", "cpu"))
        row = dataclasses.replace(row, name="failing", module="failing_method")
        monkeypatch.setattr(methods, "METHODS", (*lagbc.METHODS, row))

    return add


def test_worker_out_of_memory_gives_up_a_thread(failing):
    second = threading.Event()
    states = []

    def prepare(graph, plan):
        if plan.threads > 1:
            states.append(plan.threads)
            if len(states) % 2 == 0:
                second.set()
                raise MemoryError
        return batched_method.prepare(graph, plan)

    def forward(state, roots):
        assert second.wait(60), "the first worker sweeps nothing before there is a second one"
        return batched_method.forward(state, roots)

    failing(prepare=prepare, forward=forward)
    left = "failing on cpu ran out of memory; it goes on with batch=64 and threads"
    with pytest.warns(lagbc.MemoryWarning, match=left):
        scores = lagbc.bc(A, method="failing", threads=2)
    np.testing.assert_array_equal(scores, batched(A))


@pytest.mark.parametrize("where", ["prepare", "forward", "backward"])
def test_out_of_memory_halves_the_batch(failing, where):
    """Partial sums of the batch that failed must not count."""
    batches = []

    def prepare(graph, plan):
        batches.append(plan.batch)
        if where == "prepare" and plan.batch > 64:
            raise MemoryError
        return batched_method.prepare(graph, plan)

    def forward(state, roots):
        if len(roots) > 64:
            if where == "forward":
                raise MemoryError
            yield types.SimpleNamespace(places=np.arange(len(roots)), overflowed=np.zeros(len(roots), bool))
        else:
            yield from batched_method.forward(state, roots)

    def backward(state, levels, sums):
        if not isinstance(levels, batched_method.Levels):
            sums.dependency[:] += 1e9
            raise MemoryError
        batched_method.backward(state, levels, sums)

    failing({"concurrent": False, "widest": None}, prepare=prepare, forward=forward, backward=backward)
    with pytest.warns(lagbc.MemoryWarning, match="ran out of memory; it goes on") as warned:
        scores = lagbc.bc(A, batch=256, method="failing", threads=2)
    # A batch that was waiting may begin before the run is stopped.
    assert list(dict.fromkeys(batches)) == [256, 128, 64]
    assert len(warned) == 2
    np.testing.assert_array_equal(scores, batched(A))


def test_out_of_memory_midway_keeps_what_is_done(failing):
    calls = []

    def forward(state, roots):
        calls.append(len(roots))
        if len(calls) == 4:
            raise MemoryError
        return batched_method.forward(state, roots)

    told = []
    failing(forward=forward)
    with pytest.warns(lagbc.MemoryWarning):
        scores = lagbc.bc(A, method="failing", threads=2, progress=told.append)
    done = [progress.done for progress in told]
    assert done == sorted(set(done))
    np.testing.assert_array_equal(scores, batched(A))


@pytest.mark.filterwarnings("ignore::lagbc.MemoryWarning")
@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        ("prepare", MemoryError(), "failing on cpu ran out of memory with the smallest batch, 64"),
        ("forward", ZeroDivisionError("of the method"), "of the method"),
    ],
)
def test_error_in_a_worker(failing, tmp_path, where, error, message):
    """Of memory there is nothing left to give up."""

    def fail(*arguments):
        raise error

    failing(**{where: fail})
    with pytest.raises(type(error), match=message):
        lagbc.bc(A, method="failing", threads=3, checkpoint=tmp_path / "run")


SIZES = {"8GB": 8e9, "512MiB": 2**29, "2e9": 2e9, "1.5k": 1500, " 3 TB ": 3e12, "4ki": 4096, "1000": 1000, "7B": 7}


@pytest.mark.parametrize(("text", "size"), SIZES.items())
def test_budget(monkeypatch, text, size, empty_process):
    monkeypatch.setenv("LAGBC_MEMORY", text)
    assert budget("cpu") == size


@pytest.mark.parametrize("text", ["", "much", "-1GB", "1..5GB", "8 gigabytes", "GB", "nan", "inf", "1e400", "1e308T"])
def test_bad_budget(monkeypatch, text):
    monkeypatch.setenv("LAGBC_MEMORY", text)
    with pytest.raises(ValueError, match=f"LAGBC_MEMORY='{text}' is not a size; write e.g. 8GB"):
        lagbc.bc(A)


def test_budget_is_half_of_what_is_free(monkeypatch):
    monkeypatch.delenv("LAGBC_MEMORY", raising=False)
    monkeypatch.setattr(limits, "_available", lambda root: 1000)
    assert budget("cpu") == 500
    needed = lagbc.plan(A, method="batched", device="cpu", threads=1).memory.total
    assert needed <= SMALL_RUN["cpu"], "which looks for no budget"
    np.testing.assert_allclose(batched(A, threads=2), oracle(A), rtol=1e-12)
    with pytest.raises(MemoryError, match="the budget is 500"):
        batched(scale_free(5000, 30000, seed=1), threads=2)


def test_over_budget(bc, monkeypatch, empty_process):
    monkeypatch.setenv("LAGBC_MEMORY", "10kB")
    needed = rf"on {bc.keywords['device']} with batch=\d+ needs up to .*, but the budget is 10 kB.*LAGBC"
    with pytest.raises(MemoryError, match=needed):
        bc(A)


def test_batch_shrinks(failing, monkeypatch, empty_process):
    failing({"block": 16, "widest": None, "auto": 64, "concurrent": False})
    small = lagbc.plan(A, batch=16, method="failing").memory
    monkeypatch.setenv("LAGBC_MEMORY", str(small.total))
    assert lagbc.plan(A, method="failing").sweeps[0].batch == 16
    assert lagbc.plan(A, batch=64, method="failing").sweeps[0].batch == 16
    np.testing.assert_allclose(lagbc.bc(A, method="failing"), oracle(A), rtol=1e-12)
    monkeypatch.setenv("LAGBC_MEMORY", str(small.total - 1))
    with pytest.raises(MemoryError, match="batch=16 needs"):
        lagbc.bc(A, method="failing")


SHAPES = {
    "grid": grid(30, 60),
    "path": path(260),
    "star": star(8000),
    "diamonds": diamonds(90, 3),
    "scale-free": scale_free(3000, 60_000, seed=1),
    "dense": sp.random_array((500, 500), density=0.4, rng=1, format="csr"),
    "band": sp.diags_array([1.0] * 10, offsets=range(1, 11), shape=(1200, 1200)),
    "no edges": sp.coo_array((9000, 9000)),
}


@functools.cache
def shape_with_lengths(name):
    return with_lengths(SHAPES[name], np.arange(1, 11))


@functools.cache
def load(method, weighted, directed):
    for small in (grid(12, 12), path(144)):
        options = {"weighted": weighted, "directed": directed, "threads": 2, "reduce": "none"}
        lagbc.bc(small, sources=np.arange(128), method=method, device="cpu", **options)


def peak_of(bc, given, **options):
    """Most bytes that a run with 128 roots allocates, after small ones that load what it calls."""
    n = given.shape[0]
    load(bc.keywords["method"], bc.keywords["weighted"], options["directed"])
    return most_memory(functools.partial(bc, given, sources=np.arange(n // 2, n // 2 + 128), **options))


def most_memory(run):
    """Most bytes that Python and NumPy allocate, and kernels."""
    before, _ = core.held_memory()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1] + core.held_memory()[1] - before
    finally:
        tracemalloc.stop()


# The others are the same both ways.
ONE_WAY = ("diamonds", "scale-free", "dense", "band")


@pytest.mark.parametrize(
    ("shape", "directed"), [*((shape, True) for shape in SHAPES), *((shape, False) for shape in ONE_WAY)]
)
def test_estimate_is_an_upper_bound(any_bc, shape, directed):
    if any_bc.keywords["device"] != "cpu":
        pytest.skip("what is traced is memory of the host; `tests/gpu` holds the estimates of its own")
    options = {"directed": directed, "threads": 2, "reduce": "none"}
    given = shape_with_lengths(shape)
    estimate = lagbc.plan(given, k=128, rng=0, **options, **any_bc.keywords).memory
    # Interpreter objects of a run, whatever its size, are not in the estimate.
    assert peak_of(any_bc, given, **options) <= estimate.total + 300_000


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        ("dependency", {}),
        ("dependency stress reached distance inverse depth", {}),
        ("edges", {}),
        ("dependency dependency_squares", {"linear": True}),
        ("dependency dependency_squares edges edges_squares", {}),
        ("dependency stress", {"omega": True}),
        ("dependency edges gravity", {"bounds": Bounds(np.array([900.0]), np.array([1e-4]))}),
    ],
)
def test_bytes_of_a_root_beyond_float64_are_bound(asked, options, weighted):
    """What the routine of single roots takes beside the sums."""
    given = with_lengths(diamonds(2500, 3), np.arange(1, 3))
    graph, sums = as_graph(given, weighted=weighted), frozenset(asked.split())
    options = {**options, "omega": np.ones(graph.n) * 2 if "omega" in options else None}
    plan = SweepPlan(batch=16, sums=sums, **options)
    of_batch = Sums.zeros_of_batch(np, sums, graph.n, graph.nnz, 1, 16)
    run = functools.partial(extended.add_root, graph, plan, 0, of_batch, 0, 0)
    run()
    bound = extended.bytes_of_root(graph, plan)
    assert 0.6 * bound < most_memory(run) <= bound + 50_000


@pytest.mark.parametrize("shape", ["directed", "undirected", "mesh"])
def test_a_graph_in_order_takes_what_is_counted(shape, weighted):
    given = grid(100, 100) if shape == "mesh" else scale_free(3000, 40_000, seed=1)
    graph = as_graph(with_lengths(given, np.arange(1, 11)), directed=shape == "directed", weighted=weighted)
    own, plan = _own_bytes(graph), SweepPlan(batch=64, roots=64)
    load("work-efficient", False, True)

    def order():
        assert graph.reordered.transpose.nnz == graph.nnz

    peak = own + most_memory(order)
    assert 0.5 * peak < host_graph_bytes(graph, plan)[0]
    # The most of Python's arrays and the most of the kernels' are those of two moments.
    assert peak <= 1.05 * host_graph_bytes(graph, plan)[1] + 80_000


def test_roots_beyond_float64_keep_to_the_budget():
    """No estimate counts them: the run goes on with less, or raises MemoryError, where the budget leaves too little."""
    given, options = diamonds(3000, 2), {"method": "work-efficient", "device": "cpu", "directed": False}
    options |= {"sources": np.arange(64), "reduce": "none", "threads": 2}
    plenty = lagbc.bc(given, **options)
    for stated, left in ((3_700_000, "batch=32 and threads=1"), (3_200_000, "batch=16 and threads=1")):
        found = []
        with pytest.warns(lagbc.MemoryWarning, match=f"it goes on with {left}"):
            peak = most_memory(lambda: found.append(lagbc.bc(given, memory=stated, **options)))  # noqa: B023
        assert peak <= stated
        np.testing.assert_array_equal(found[0], plenty)
    with pytest.raises(MemoryError, match="smallest batch, 16"), pytest.warns(lagbc.MemoryWarning):
        lagbc.bc(given, memory=2_600_000, **options)


def test_a_queue_grows_within_the_budget(monkeypatch, weighted):
    """What a queue needs beyond its first room is taken from another worker, and if there is none, it is an error."""
    given = with_lengths(grid(60, 90), np.arange(1, 11)) if weighted else grid(60, 90)
    run = functools.partial(batched, given, sources=np.arange(2700, 2828), weighted=weighted, reduce="none")
    expected = run()
    monkeypatch.setattr(batched_method, "first_entries", lambda graph, plan: graph.n)
    monkeypatch.setattr(planned, "TINY_RUN", 1000)
    options = {"method": "batched", "device": "cpu", "weighted": weighted, "reduce": "none", "k": 128}
    one, two = (lagbc.plan(given, threads=threads, **options).memory.total for threads in (1, 2))
    with pytest.raises(MemoryError, match=r"smallest batch, 64; it may take .*B, which memory= or LAGBC_MEMORY"):
        run(threads=1, memory=one)
    with pytest.warns(lagbc.MemoryWarning, match="goes on with batch=64 and threads=1"):
        np.testing.assert_array_equal(run(threads=2, memory=two), expected)


@pytest.mark.parametrize("sums", [("bc",), ("bc", "closeness", "stress"), ("closeness",)], ids=len)
@pytest.mark.parametrize("shape", ["grid", "path", "scale-free", "two rings"])
def test_a_queue_that_grows_changes_no_bit(monkeypatch, shape, weighted, sums):
    given = {**SHAPES, "two rings": disjoint(cycle(150), cycle(90)), "grid": grid(20, 30), "path": path(200)}[shape]
    given = with_lengths(given, np.arange(1, 11)) if weighted else given
    options = {"which": sums, "weighted": weighted, "method": "batched", "device": "cpu", "k": 190, "rng": 1}
    prepare, made = batched_method.prepare, []

    def watch(graph, plan):
        made.append(prepare(graph, plan))
        return made[-1]

    monkeypatch.setattr(batched_method, "prepare", watch)
    expected = lagbc.centralities(given, **options)
    made.clear()
    monkeypatch.setattr(batched_method, "first_entries", lambda graph, plan: graph.n)
    scores = lagbc.centralities(given, **options)
    assert any(len(state.sweep.queue[0]) > state.graph.n for state in made) == (not weighted or sums != ("closeness",))
    for name, array in expected.items():
        np.testing.assert_array_equal(scores[name], array)


def test_more_roots_than_columns_are_refused(weighted):
    """Kernels write without a check."""
    row = next(row for row in lagbc.METHODS if row.key == ("batched", "cpu", weighted))
    graph, module = as_graph(with_lengths(grid(9, 9), [1, 2]), directed=True, weighted=weighted), row.load()
    state = prepare(module, graph, SweepPlan(batch=81))
    with pytest.raises(ValueError, match="a batch has 65 roots; a state has 64 columns"):
        next(module.forward(state, np.arange(65)))
