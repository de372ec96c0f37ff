"""The host's side of a rank's rows on a GPU, by kernels in NumPy, in a process whose CuPy is a stand-in."""

import subprocess
import sys

import pytest
from launcher import TESTS

PROGRAM = """
import sys
sys.path[:0] = [{tests!r}, {tests!r} + "/grid"]
import gpu_stand_in
import numpy as np
from on_threads import ALL, on_grid
from families import disjoint, grid, path, scale_free, star
import lagbc
from lagbc.grid.sites import Site
from lagbc.methods import table
from lagbc import tuning
import lagbc.grid.run

lagbc.grid.run._site = lambda *given: Site(0)
table.count_gpus = lambda: 0
lagbc.grid.run.budget = lambda device: 10**10


def found(shape, A, names=ALL, directed=True, given={{}}, **options):
    call = lambda graph: lagbc.centralities(graph, names, **given)
    return on_grid(shape, A, call, directed=directed, memory=10**10, **options)


def same(one, other, rtol=1e-12):
    for name in other:
        np.testing.assert_allclose(one[name], other[name], rtol=rtol, atol=rtol, err_msg=name)


def expected(A, names=ALL, **given):
    return lagbc.centralities(A, names, reduce="none", device="cpu", **given)

{body}
print("same")
"""
BODIES = {
    "estimates": """
from on_threads import ESTIMATES, Kind, estimated
ESTIMATES.update(small=Kind(scale_free(90, 300, seed=2)), ways=Kind(scale_free(90, 300, seed=2), directed=True),
    harmonic=Kind(scale_free(90, 300, seed=2), "harmonic"), closeness=Kind(grid(5, 8), "closeness", True))
for kind in ("small", "ways", "harmonic", "closeness"):
    A, name, directed = ESTIMATES[kind]
    for shape in ((2, 2), (1, 1)):
        ours = estimated(kind, shape, {"max_roots": 60}, memory=10**10)
        theirs = lagbc.estimate(A, name, rng=1, directed=directed, reduce="none", device="cpu", max_roots=60)
        for one in ("scores", "lower", "upper"):
            np.testing.assert_allclose(getattr(ours, one), getattr(theirs, one), rtol=1e-12, atol=1e-15)
device = on_grid((1, 2), grid(4, 5), lambda graph: lagbc.plan(graph).device, memory=10**10)
assert device == "cuda", device
""",
    "sums": """
for A in (scale_free(50, 170, seed=2), disjoint(star(40), path(5), grid(4, 5))):
    for shape, directed in (((2, 1), True), ((2, 2), False), ((1, 3), True)):
        same(found(shape, A, directed=directed), expected(A, directed=directed))
same(found((2, 2), grid(5, 6), ["closeness"]), expected(grid(5, 6), ["closeness"]))
""",
    "groups": """
A = scale_free(280, 600, seed=3)
whole = found((2, 2), A)
same(whole, expected(A))
tuning.GRID_GROUPS = 1
same(found((2, 2), A), whole, 0)
tuning.GRID_GROUPS, tuning.GRID_SLICE_ON_GPU = 2, 32
same(found((2, 2), A), whole, 0)
same(found((2, 2), A, ranks=8, overlap=True), whole, 0)
for small in (0, 10**6):
    tuning.SMALL_LEVEL = small
    same(found((2, 1), A), expected(A))
""",
    "rooms": """
def refused(**given):
    try:
        on_grid((1, 2), grid(4, 5), lagbc.bc, **given)
    except MemoryError as error:
        return str(error)

rooms = dict(cpu=1000, cuda=10**10)
lagbc.grid.run.budget = rooms.get
assert "B of its host for its part, but may take 1 kB" in refused()
rooms["cpu"] = 10**6
assert refused() is None
rooms["cuda"] = 10**6
assert "host" not in refused()
""",
    "faults": """
from lagbc.methods.gpu.batched import block
from on_threads import HERE

A, add, calls = scale_free(60, 300, seed=2), block._DeviceRows.add, []

def fail(*how, **named):
    calls.extend([0] * (HERE.rank == 3))
    if HERE.rank == 3 and len(calls) == 4:
        raise ZeroDivisionError("of rank 3")
    return add(*how, **named)

def call(graph):
    try:
        lagbc.bc(graph)
    except ZeroDivisionError as error:
        assert str(error) == "of rank 3"
        return lagbc.centralities(graph, ALL)

block._DeviceRows.add = fail
same(on_grid((2, 2), A, call, memory=10**10, overlap=True), expected(A))
""",
    "drops": """
from weakref import finalize
events, block = [], Site.block
gpu_stand_in.Stream.synchronize = lambda stream: events.append("waited")

def noted(site, plan):
    rows = block(site, plan)
    finalize(rows, events.append, "dropped")
    events.clear()  # uploads wait, too
    return rows

Site.block = noted
found((1, 1), scale_free(60, 200, seed=2))
assert events == ["waited", "dropped"], events
""",
    "arguments": """
A = scale_free(40, 150, seed=2)
for given in (
    {"k": 20, "rng": 3},
    {"targets": [5, 7]},
    {"endpoints": True, "normalized": True},
    {"source_weights": np.arange(40) % 4, "target_weights": 0.5 + np.arange(40) % 3},
):
    for directed in (True, False):
        same(found((2, 2), A, ["bc"], directed, given), expected(A, ["bc"], directed=directed, **given))
""",
}


@pytest.mark.parametrize("name", BODIES)
def test_sums_of_one_process(name):
    program = PROGRAM.format(tests=TESTS, body=BODIES[name])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == ["same"]
