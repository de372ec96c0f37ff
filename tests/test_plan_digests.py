"""Plans, call by call: the method, the device, batch and threads, how many bytes, and the reason that is told.

`data/plan_digests.json` holds them; ``python tests/test_plan_digests.py`` writes them anew, with ``--device cuda``
those of the GPU that is there, which `gpu/test_digests.py` compares. Threads and memory are stated, and costs are
constants of `lagbc.tuning`, so that a plan depends on nothing that a machine has.
"""

import os
import re
from functools import cache, partial
from itertools import product

import pytest
import recorded
from hashed import DEFAULT_SET, METHODS, network, trips

import lagbc
from lagbc import limits

STATED = {"threads": 2, "memory": "8GB"}
ASKED = {
    "bc": {},
    "five": {"which": DEFAULT_SET},
    "edges": {"which": "edge_bc"},
    "distances": {"which": ("closeness", "eccentricity")},
    "10 roots": {"roots": 10},
    "300 roots": {"roots": 300},
    "no root": {"roots": 0},
    "reduced": {"reduce": "all"},
    "as it is": {"reduce": "none"},
    "batch 65": {"batch": 65},
    "batch 4096": {"batch": 4096, "reduce": "none"},
    "one thread": {"threads": 1},
    "16 threads": {"threads": 16, "reduce": "none"},
    "little memory": {"memory": "3MB", "threads": 4},
    "too little memory": {"memory": 1000},
    "cutoffs": {"cutoff": [2, 5]},
    "decays": {"which": "gravity", "decay": [0.1, 0.2]},
    "demand": {},
}
# What a GPU does not sum.
OF_CPU = ("cutoffs", "decays")
ASKED_OF = {"cpu": ("batched", "traversal"), "cuda": ("batched", "traversal", "float32")}
NETWORKS = ("karate", "lesmis", "power", "us-airports", "ca-GrQc", "minnesota", "mesh", "chains", "closed twins")


def cases(device):
    """Yield a network, its lengths, whether edges have directions, and what is asked."""
    asked, both = [what for what in ASKED if device == "cpu" or what not in OF_CPU], (None, "lengths")
    asked += ASKED_OF[device]
    yield from product(NETWORKS, both, (False,), ("bc",))
    yield from product(("power",), both, (False,), asked)
    yield from product(("large web",), both, (True,), asked)
    yield from product(("chains", "hub"), both, (False,), ("reduced",))
    yield from product(("sparse web",), (None,), (False, True), ("bc", "as it is"))


def calls(device):
    """Return what makes each plan for a device, by its name."""
    return {
        f"{name}-{lengths or 'hops'}-{'directed' if directed else 'undirected'}-{what}": partial(
            plan, name, lengths, device, what, directed=directed
        )
        for name, lengths, directed, what in cases(device)
    }


def plans(device):
    return {name: make() for name, make in calls(device).items()}


@cache
def matrix(name, lengths):
    """Make a matrix of these tests alone: bytes count arrays that are no views, and SciPy may replace some."""
    return network.__wrapped__(name, lengths)


def plan(name, lengths, device, what, *, directed):
    """Return what is planned for a call, by the two functions that tell it."""
    A, weighted = matrix(name, lengths), lengths is not None
    given = {**STATED, **ASKED.get(what, {}), "device": device, "directed": directed, "weighted": weighted}
    if what == "demand":
        given["demand"] = trips(A.shape[0])
    elif what == "float32":
        given["dtype"] = what
    elif (what, device) in METHODS:
        given["method"] = METHODS[what, device][weighted]
    needed = lagbc.estimate_memory(A, **given)
    given.pop("batch", None)  # which chooses no method
    chosen = lagbc.select_method(A, **given)
    reason = re.sub(r"; on one of \d+ GPUs \(device='all' takes all\)", "", chosen.reason)
    told = {name: getattr(needed, name) for name in ("method", "device", "batch", "threads")}
    return {**told, "bytes": needed.total, "reason": reason}


@pytest.mark.filterwarnings("ignore:.*goes with the next release")
def test_plans():
    assert plans("cpu") == recorded.read("plan_digests")


@pytest.mark.filterwarnings("ignore:.*goes with the next release")
def test_plans_of_another_machine(monkeypatch):
    for name, lengths, _, _ in cases("cpu"):
        matrix(name, lengths)  # read with the memory that there is
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(7)), raising=False)
    monkeypatch.setattr(limits, "_available", lambda root: 10**6)
    assert plans("cpu") == recorded.read("plan_digests")


if __name__ == "__main__":
    recorded.write("plan_digests", calls)
