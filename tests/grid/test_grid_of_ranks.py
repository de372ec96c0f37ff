"""Programs whose MPI ranks have a graph in blocks: the scores of one process, and errors, Ctrl-C and stop= of any."""

import gzip

import numpy as np
import pytest
from launcher import LAUNCHER, TESTS, printed, programs, run

import lagbc
from lagbc.methods.table import count_gpus

pytest.importorskip("mpi4py")
if LAUNCHER is None:
    pytest.skip("there is no mpiexec", allow_module_level=True)

BEGIN = f"""
import sys, time
sys.path[:0] = [{TESTS!r}, {TESTS + "/grid"!r}]
from mpi4py import MPI
import numpy as np
from on_threads import ALL, parts_of
from families import disjoint, grid, matrix, path, scale_free
import lagbc
from lagbc.methods.table import count_gpus

comm = MPI.COMM_WORLD
"""


@pytest.fixture
def program(tmp_path):
    return programs(tmp_path, BEGIN)


def test_all_grids_of_few_ranks(program):
    """Graphs of one batch and of three, of fewer vertices than ranks, of isolated vertices, and with empty blocks."""
    body = """
SHAPES = {2: [(2, 1)], 3: [(1, 3), (1, 1)], 4: [(1, 4), (4, 1), (2, 2), (2, 1)]}  # others: `test_grid_sweep`
graphs = [lagbc.read_graph("example:karate").matrix, scale_free(150, 900, seed=1)]  # three batches
graphs += [matrix(3, [(0, 1), (1, 2)]), matrix(6, [(0, 1)]), disjoint(path(3), grid(4, 5)), matrix(0, [])]
ways = [(A, {"directed": directed}) for A in graphs for directed in (True, False)]
by_one = [lagbc.centralities(A, ALL, reduce="none", device="cpu", **given) for A, given in ways]
for size, shapes in SHAPES.items():
    some = comm.Split(comm.Get_rank() < size)
    if comm.Get_rank() < size:
        for (A, given), expected in zip(ways, by_one):
            part = parts_of(A, size)[some.Get_rank()]
            for shape in shapes:
                found = lagbc.centralities(part, ALL, comm=some, grid=shape, **given)
                for name in ALL:
                    np.testing.assert_allclose(found[name], expected[name], rtol=1e-12, atol=1e-12)
            first = lagbc.bc(A if some.Get_rank() == 0 else None, comm=some, grid=shape, **given)
            again = lagbc.bc(part, comm=some, grid="x".join(map(str, shape)), overlap=True, **given)
            assert (first == again).all()
            np.testing.assert_allclose(first, found["bc"], rtol=1e-12, atol=1e-12)  # trees are folded for bc alone
    others = comm.Ibarrier()
    while not others.Test():  # a rank that waits in MPI takes a core
        time.sleep(0.01)
if comm.Get_rank() == 0:
    print("same")
"""
    assert printed(4, program(body)).split() == ["same"]


@pytest.mark.parametrize("ranks", [2, 4])
def test_estimates(program, ranks):
    """All ranks have the intervals of one process, to the same bits for the same grid."""
    body = """
from on_threads import ESTIMATES, Kind
for name, (A, *how) in ESTIMATES.items():
    if A.shape == (480, 480):  # a mesh, of less depth here: each level is a round of messages
        ESTIMATES[name] = Kind(grid(15, 12), *how)
ranks = comm.Get_size()
for kind, (A, name, directed) in ESTIMATES.items():
    given = {"directed": directed, "rng": 1, "max_roots": 130}
    expected = lagbc.estimate(A, name, reduce="none", device="cpu", **given)
    shape = (ranks // 2, 2)  # others on threads: `test_estimates_on_grid`
    found = lagbc.estimate(parts_of(A, ranks)[comm.Get_rank()], name, comm=comm, grid=shape, **given)
    again = lagbc.estimate(None if comm.Get_rank() else A, name, comm=comm, grid=shape, overlap=True, **given)
    assert (found.roots, found.reason) == (expected.roots, expected.reason)
    for one in ("scores", "lower", "upper"):
        np.testing.assert_allclose(getattr(found, one), getattr(expected, one), rtol=1e-12, atol=1e-15)
        assert (getattr(found, one) == getattr(again, one)).all()
try:
    lagbc.estimate(A, "edge_bc", comm=comm, grid=shape)
except ValueError as error:
    assert "sums of edges: not available" in str(error)
print(*comm.gather("same") or [], flush=True)
"""
    assert printed(ranks, program(body)).split() == ["same"] * ranks


@pytest.fixture
def lesmis(tmp_path):
    file = tmp_path / "lesmis.mtx"
    file.write_bytes(gzip.decompress(lagbc.example_path("lesmis").read_bytes()))
    return file


def require_refused(words, *arguments, ranks=2):
    """A command says so once, whatever the ranks."""
    status, _, stderr = run(ranks, "-m", "lagbc", *arguments, "--grid", "1x2")
    assert (status, stderr.count(words)) == (2, 1), stderr


def test_the_command_of_estimates(lesmis, tmp_path):
    estimate, out = ("estimate", lesmis, "--max-roots", 60), tmp_path / "scores.csv"
    stdout = printed(2, "-m", "lagbc", *estimate, "--grid", "1x2", "--out", out)
    assert stdout.count("60 of 77 roots were drawn") == 1
    found = np.loadtxt(out, delimiter=",", skiprows=1, usecols=(1, 2, 3)).T
    expected = lagbc.estimate(lagbc.read_graph(lesmis), rng=0, max_roots=60, reduce="none")
    for one, other in zip(found, (expected.scores, expected.lower, expected.upper), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)
    require_refused("sums of edges: not available", *estimate, "--which", "edge-bc")


def test_the_command(lesmis, tmp_path):
    """Each rank reads its part of the file; rank 0 prints and writes."""
    bc, out = ("bc", lesmis, "--top", 1, "--no-progress"), tmp_path / "scores.npy"
    stdout = printed(2, "-m", "lagbc", *bc, "--grid", "1x2", "--out", out)
    assert stdout.count("lesmis.mtx: ") == stdout.count("1x2 grid of ranks has the graph in blocks") == 1
    expected = lagbc.bc(lagbc.read_graph("example:lesmis"), reduce="none")
    np.testing.assert_allclose(np.load(out), expected, rtol=1e-12, atol=1e-12)
    require_refused("lagbc: error: there is no file", "bc", tmp_path / "nothing")
    bad = tmp_path / "bad.mtx"
    bad.write_text("\n".join([*lesmis.read_text().splitlines()[:-1], "12 abc"]) + "\n")  # which one rank alone reads
    require_refused("bad.mtx", "bc", bad, "--no-progress")
    require_refused("--plot draws", *bc, "--plot", "x.png")
    require_refused("--batch 8: not available", *bc, "--batch", "8")
    if not count_gpus():
        require_refused("sees no GPU", *bc, "--device", "cuda")
    require_refused("start them: mpiexec -n 4", *bc, ranks=1)


MESSAGES = [
    "ValueError grid=1x3 takes 3 ranks or a multiple; there are 2",
    "swept in hops; leave out lengths, or grid=",
    "sources holds 81",
    "all ranks of comm make the same call",
    "the run was stopped",
    "LAGBC_MEMORY='much' is not a size",
]


def test_errors_are_those_of_all(program):
    body = """
import os
said, A = [], grid(9, 9)
def attempt(A=A, **given):
    try:
        lagbc.bc(A, comm=comm, **{"grid": (1, 2), **given})
    except Exception as error:
        said.append(f"{type(error).__name__} {error}")

attempt(grid=(1, 3))
attempt("no matrix" if comm.Get_rank() else A)
attempt(weighted=True)
attempt(sources=[81])
attempt(grid=(1, 2) if comm.Get_rank() else (2, 1))
attempt(stop=lambda: comm.Get_rank() == 1)
os.environ["LAGBC_MEMORY"] = "much" if comm.Get_rank() else "1GB"
attempt()
for messages in comm.gather(said) or []:
    print(*messages, sep="\\n", flush=True)
"""
    stdout = printed(2, program(body))
    assert len(stdout.splitlines()) == 14, stdout
    for message in MESSAGES:
        assert stdout.count(message) == 2, stdout


FAILED = """
from lagbc.methods.cpu import block
finish, calls = block._HostRows.finish, []

def fail(*given):
    calls.append(given)
    if comm.Get_rank() == 1 and len(calls) == 7:
        raise ZeroDivisionError("of rank 1")
    return finish(*given)

block._HostRows.finish = fail
for overlap in (False, True):
    calls.clear()
    try:
        lagbc.bc(grid(9, 9), comm=comm, grid=(1, 2), overlap=overlap)
        told = "finished"
    except ZeroDivisionError as error:
        told = str(error)
    scores = lagbc.bc(grid(9, 9), comm=comm, grid=(1, 2), overlap=overlap)
    np.testing.assert_allclose(scores, lagbc.bc(grid(9, 9)), rtol=1e-12, atol=1e-9)
    for one in comm.gather(told) or []:
        print(one, flush=True)
"""


def test_an_error_in_a_sweep_is_one_of_all(program):
    """And the program goes on."""
    assert printed(2, program(FAILED)).splitlines() == ["of rank 1"] * 4


KILLED = FAILED.replace('raise ZeroDivisionError("of rank 1")', "os.kill(os.getpid(), 9)").replace(
    "from", "import os\nfrom", 1
)
# While a graph is dealt, ranks do not agree.
UNEQUAL = """
from lagbc.grid import deal

def fail(*given):
    if comm.Get_rank() == 1:
        raise ZeroDivisionError("of rank 1")
    return digest(*given)

digest, deal._digest = deal._digest, fail
lagbc.bc(grid(9, 9), comm=comm, grid=(1, 2))
print("of rank 1")
"""


@pytest.mark.parametrize(("body", "message"), [(UNEQUAL, "rank 1: ZeroDivisionError: of rank 1"), (KILLED, "")])
def test_a_rank_that_dies_ends_all(program, body, message):
    status, stdout, stderr = run(2, program(body))
    assert status != 0
    assert "of rank 1" not in stdout
    assert message in stderr


@pytest.mark.parametrize(("how", "error"), [("interrupt", "KeyboardInterrupt"), ("stop", "StoppedError")])
def test_a_rank_that_does_not_lead_ends_all(program, tmp_path, how, error):
    """The checkpoint of rank 0 is gone on with, to the same bits."""
    body = """
import os, signal, threading
event, A = threading.Event(), grid(20, 24)
signal.signal(signal.SIGINT, signal.default_int_handler)
rank, how, ranks = comm.Get_rank(), sys.argv[2], comm.allgather(os.getpid())

def report(progress):
    if progress.done == 128 and how == "interrupt":
        os.kill(ranks[1], signal.SIGINT)

def stop():
    return how == "stop" and rank == 1 and os.path.exists(sys.argv[1]) and event.wait(0.3) is False

try:
    lagbc.bc(A, comm=comm, grid=(1, 2), checkpoint=sys.argv[1], progress=report, stop=stop)
    told = "finished"
except (KeyboardInterrupt, lagbc.StoppedError) as error:
    told = type(error).__name__
for one in comm.gather(told) or []:
    print(one, flush=True)
done = int(np.load(sys.argv[1])["done"].sum())
assert done < 480, done
comm.Barrier()
scores = lagbc.bc(A, comm=comm, grid=(1, 2), checkpoint=sys.argv[1])
assert (scores == lagbc.bc(A, comm=comm, grid=(1, 2))).all()
if rank == 0:
    print("gone on")
"""
    assert printed(2, program(body), tmp_path / "run", how).split() == [error, error, "gone", "on"]
