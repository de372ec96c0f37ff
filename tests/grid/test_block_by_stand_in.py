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
from every_call import assert_same
from on_threads import ALL, ESTIMATES, GRAPHS, HERE, Kind, on_grid, require_close, require_estimate_of_one_process
from on_threads import require_scores_of_one_process, require_sums_of_one_process, scores
from families import disjoint, grid, path, scale_free, star
import lagbc
from lagbc.grid.sites import Site
from lagbc.methods import table
from lagbc import tuning
import lagbc.grid.run

lagbc.grid.run._site = lambda *given: Site(0)
table.count_gpus = lambda: 0
lagbc.grid.run.budget = lambda device: 10**10


def found(shape, A, names=ALL, **options):
    return on_grid(shape, A, scores(names), memory=10**10, **options)

{body}
print("same")
"""
BODIES = {
    "estimates": """
A = scale_free(90, 300, seed=2)
ESTIMATES.update(bc=Kind(A), ways=Kind(A, directed=True), harmonic=Kind(A, "harmonic"),
    closeness=Kind(grid(5, 8), "closeness", True))
for kind in ("bc", "ways", "harmonic", "closeness"):
    for shape in ((2, 2), (1, 1)):
        require_estimate_of_one_process(kind, shape, {"max_roots": 60}, memory=10**10)
device = on_grid((1, 2), grid(4, 5), lambda graph: lagbc.plan(graph).device, memory=10**10)
assert device == "cuda", device
""",
    "sums": """
for A in (scale_free(50, 170, seed=2), disjoint(star(40), path(5), grid(4, 5))):
    for shape, directed in (((2, 1), True), ((2, 2), False), ((1, 3), True)):
        require_sums_of_one_process(shape, A, directed=directed, memory=10**10)
require_sums_of_one_process((2, 2), grid(5, 6), ["closeness"], directed=True, memory=10**10)
""",
    "groups": """
A = scale_free(280, 600, seed=3)
require_sums_of_one_process((2, 2), A, directed=True, memory=10**10)
whole = found((2, 2), A)
tuning.GRID_GROUPS = 1
assert_same(found((2, 2), A), whole)
tuning.GRID_GROUPS, tuning.GRID_SLICE_ON_GPU = 2, 32
assert_same(found((2, 2), A), whole)
assert_same(found((2, 2), A, ranks=8, overlap=True), whole)
for small in (0, 10**6):
    tuning.SMALL_LEVEL = small
    require_sums_of_one_process((2, 1), A, directed=True, memory=10**10)
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
expected = lagbc.centralities(A, ALL, reduce="none", device="cpu")
require_close(on_grid((2, 2), A, call, memory=10**10, overlap=True), expected)
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
GRAPHS[0] = scale_free(40, 150, seed=2)
weights = {"source_weights": np.arange(40) % 4, "target_weights": 0.5 + np.arange(40) % 3}
for given in ({"k": 20, "rng": 3}, {"targets": [5, 7]}, {"endpoints": True, "normalized": True}, weights):
    for directed in (True, False):
        require_scores_of_one_process(given, directed=directed, memory=10**10)
""",
}


@pytest.mark.parametrize("name", BODIES)
def test_sums_of_one_process(name):
    program = PROGRAM.format(tests=TESTS, body=BODIES[name])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == ["same"]
