"""Bytes of a worker's state, method by method, for a table of graphs and of plans.

`data/footprints.json` holds them, those of GPUs, too: no array is made to count them, so that a module which stands for
CuPy is enough. ``python tests/methods/test_footprints.py`` writes them anew.
"""

import json
import subprocess
import sys
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import import_module
from itertools import accumulate, product
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest

TESTS = Path(__file__).parents[1]
sys.path.append(str(TESTS))

import recorded  # noqa: E402 (a script, too)
from hashed import network, trips  # noqa: E402
from states import bytes_of_sums, uncollected  # noqa: E402

import lagbc  # noqa: E402
from lagbc.graph.validate import as_graph  # noqa: E402
from lagbc.methods.contract import Counted, SweepPlan, bytes_of  # noqa: E402
from lagbc.methods.cpu.traversal import columns_of_sums  # noqa: E402
from lagbc.methods.sums import OF_BOUNDS, SQUARES, Bounds  # noqa: E402
from lagbc.native import core  # noqa: E402

NETWORKS = ("karate", "minnesota", "int64 web", "closed twins", "large web")
SUMS = (("dependency",), ("dependency", "stress"), ("depth",), ("reached", "distance"), ("edges",), "all")
BATCHES = {"cpu": (64, 300), "cuda": (256, 4096)}
BOUNDED = Bounds(np.array([2.0, 5.0]), np.array([0.0, 0.1]))


def plans(row, graph):
    """Yield a name, and the arguments of a plan, of all that change what a method allocates."""
    for sums in SUMS:
        names = frozenset(row.sums) - SQUARES if sums == "all" else frozenset(sums)
        if names <= frozenset(row.sums):
            for batch in BATCHES[row.device]:
                yield f"{'+'.join(sums) if sums != 'all' else sums}-{batch}", {"sums": names, "batch": batch}
    batch = {"batch": BATCHES[row.device][0]}
    if frozenset(row.sums) >= SQUARES:
        yield "squares", {**batch, "sums": frozenset(row.sums)}
        yield "squares of distances", {**batch, "sums": frozenset({"distance", "distance_squares"})}
    ones = np.ones(graph.n)
    others = {"10 roots": {"roots": 10}, "omega": {"omega": ones, "root_weights": ones}}
    others |= {"members": {"class_sizes": ones}, "tolerance": {"rtol": 1e-9}, "endpoints": {"endpoints": True}}
    if row.device == "cuda":
        others |= {"in place": {"in_place": True}, "float32": {"dtype": "float32"}}
        others |= {"one block": {"variant": "one-block"}, "node-parallel": {"variant": "node-parallel"}}
    for name, given in others.items():
        yield name, batch | given
    if row.bounds:
        for sums in SUMS:
            names = frozenset(row.sums) - SQUARES | OF_BOUNDS if sums == "all" else frozenset(sums)
            xy = np.zeros((2, graph.n)) if "straight" in names else None
            called = "+".join(sorted(names)) if len(names) < 3 else "all"
            yield f"bounds-{called}", {**batch, "sums": names, "bounds": BOUNDED, "xy": xy}
        yield "trips", {**batch, "bounds": BOUNDED, "demand": trips(graph.n)}


def footprints(device):
    """Return the bytes of all methods of a device."""
    found = {}
    for name, lengths, directed in product(NETWORKS, (None, "lengths"), (False, True)):
        graph = as_graph(network(name, lengths), directed=directed, weighted=lengths is not None)
        of_graph = f"{name}-{lengths or 'hops'}-{'directed' if directed else 'undirected'}"
        for row in lagbc.METHODS:
            if row.device == device and row.weighted == graph.weighted and has_library(row):
                arrays = import_module(row.module).arrays
                found[f"{of_graph}-{row.device}-{row.name}"] = {
                    plan: bytes_of(arrays(graph, SweepPlan(method=row.name, **given)))
                    for plan, given in plans(row, graph)
                }
    return found


def has_library(row):
    return row.device == "cuda" or row.available


def footprints_of_gpus():
    """Count what GPUs would hold, in a process whose CuPy is a stand-in."""
    ran = subprocess.run([sys.executable, __file__, "cuda"], capture_output=True, text=True, check=False)
    assert not ran.returncode, ran.stderr
    return json.loads(ran.stdout)


def stand_in_for_cupy():
    for name in ("cupy.cuda.device", "cupy_backends.cuda.libs", "cupyx.cusparse", "cupyx.scipy.sparse"):
        for module in accumulate(name.split("."), "{}.{}".format):
            sys.modules.setdefault(module, MagicMock())


def test_footprints():
    pytest.importorskip("graphblas")
    assert footprints("cpu") == {name: of for name, of in recorded.read("footprints").items() if "-cpu-" in name}


def test_footprints_on_gpus():
    assert footprints_of_gpus() == {name: of for name, of in recorded.read("footprints").items() if "-cuda-" in name}


def arrays_of(one, seen):
    """List the arrays of NumPy that an object holds at any depth, but for objects and arrays in `seen`."""
    if id(one) in seen or one is None:
        return []
    seen[id(one)] = one
    if isinstance(one, np.ndarray):
        return [one] * bool(one.nbytes) if one.base is None else arrays_of(one.base, seen)
    if isinstance(one, dict):
        members = one.values()
    elif isinstance(one, tuple | list):
        members = one
    elif isinstance(one, partial):
        members = one.args
    elif is_dataclass(one):
        members = [getattr(one, of.name) for of in fields(one)] + list(getattr(one, "__dict__", {}).values())
    elif type(one).__module__ == core.__name__:
        members = [getattr(one, name) for name in dir(one) if not name.startswith("_")]
    else:
        members = getattr(one, "__dict__", {}).values()
    return [array for member in members for array in arrays_of(member, seen)]


@pytest.mark.parametrize("row", [row for row in lagbc.METHODS if row.device == "cpu"], ids=lambda row: str(row.key))
@pytest.mark.parametrize("name", ["karate", "int64 web", "closed twins"])
@uncollected()
def test_a_state_holds_the_arrays_that_are_stated(row, name, directed):
    """No other one, but for those of graph and plan; C++ takes what is counted alone, but the copies of a batch."""
    pytest.importorskip(row.requires or "numpy")
    module = row.load()
    graph = as_graph(network(name, "lengths" if row.weighted else None), directed=directed, weighted=row.weighted)
    for given in dict(plans(row, graph)).values():
        plan, seen, state = SweepPlan(method=row.name, **given), {}, None
        stated = module.arrays(graph, plan)
        module.prepare(graph, plan)  # the graph is reordered once
        before, _ = core.held_memory()
        state = module.prepare(graph, plan)
        taken = core.held_memory()[0] - before
        for known in (graph, plan):
            arrays_of(known, seen)
        own = arrays_of(state, seen)
        assert taken == (0 if row.name == "graphblas" else counted_alone(stated) - bytes_of_copies(row, graph, plan))
        assert sum(array.nbytes for array in own) == bytes_of(stated) - counted_alone(stated)


def bytes_of_copies(row, graph, plan):
    """Count the bytes that a batch takes beside its state: its sums, or copies of those within bounds."""
    if row.name == "batched":
        return bytes_of_sums(graph, plan.sums)
    if plan.bounds is None:
        return 0
    rows = graph.n, graph.nnz, max(graph.n, row.load().blocks.least)
    return 8 * sum(count * width for count, width in zip(rows, columns_of_sums(plan)[1], strict=True))


def counted_alone(stated):
    """Count the bytes that are not allocated for a state."""
    total = 0
    for one in stated.values():
        if isinstance(one, Counted):
            total += bytes_of(one.arrays)
        elif isinstance(one, dict):
            total += counted_alone(one)
        elif isinstance(one, int):
            total += one
    return total


if __name__ == "__main__":
    if sys.argv[1:] == ["cuda"]:
        stand_in_for_cupy()
        print(json.dumps(footprints("cuda")))
    else:
        found = footprints("cpu") | footprints_of_gpus()
        recorded.file_of("footprints", "cpu").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
