"""The types of public arguments name what there is, and a type checker tells right calls from wrong ones."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest
from numpy.typing import NDArray

import lagbc
from lagbc import types
from lagbc.scores.records import shared


def test_names_are_those_of_the_tables():
    assert set(get_args(types.DeviceName)) == {row.device for row in lagbc.METHODS}
    assert (
        set(get_args(types.CentralityName))
        == set({one.name for one in shared()})
        == set(types.Scores.__annotations__)
        == set(types.ColumnsOfScores.__annotations__)
    )
    of_edges = {one.name for one in shared() if one.of_edges}
    for scores in (types.Scores, types.ColumnsOfScores):
        kinds = get_type_hints(scores)
        assert {name for name, kind in kinds.items() if kind != NDArray[np.float64]} == of_edges


def test_type_checkers_are_told_the_names_that_there_are():
    """They read imports that nothing runs: `import lagbc` loads none of these modules."""
    source = Path(lagbc.__file__).read_text(encoding="utf-8")
    told = set(re.findall(r"^    from lagbc\.?(\S*) import (\w+) as \2$", source, re.MULTILINE))
    homes = vars(lagbc)["_HOMES"] | {"": vars(lagbc)["_MODULES"]}
    assert told == {(home, name) for home, names in homes.items() for name in names}


# A line that ends in "# error: CODE" is one that a type checker has to refuse, for that reason and no other.
CALLS = """
import networkx as nx
import numpy as np
import scipy.sparse as sp
from typing import Any, assert_type
from numpy.typing import NDArray
import lagbc
from lagbc.types import ColumnsOfScores, EdgeScores, GraphLike, Scores, ScoresAndErrors

dense: NDArray[np.float64] = np.eye(3)
sparse = sp.eye_array(3)
graph: nx.Graph = nx.path_graph(3)


class Graph:  # as igraph has it, with types
    def is_directed(self, *, cached: bool = True) -> bool: return True
    def vcount(self) -> int: return 3
    def get_edgelist(self) -> list[tuple[int, int]]: return []


class RustworkxGraph:
    def node_indices(self) -> list[int]: return []
    def weighted_edge_list(self) -> list[tuple[int, int, float]]: return []


columns = lagbc.graph_from_edges(["ann"], np.array(["bob"]), [2.5], directed=True)
lagbc.graph_from_edges(["ann"], ["bob"])  # error: call-arg
lagbc.bc((dense, dense), sources=[0])
lagbc.bc((dense, dense, dense), weighted=True)
lagbc.bc((dense,))  # error: arg-type
for A in (dense, sparse, graph, Graph(), RustworkxGraph(), columns, lagbc.read_graph("example:karate")):
    lagbc.bc(A, batch=64, weighted="length", method="batched", device="cpu", threads=2)
for row in lagbc.METHODS:
    lagbc.bc(dense, method=row.name, device=row.device)
assert_type(lagbc.bc(dense, demand=sparse), NDArray[np.float64])
lagbc.bc(graph, demand={"a": {"b": 2.0}}, cutoff=2, strength="often")
lagbc.bc(graph, demand=(["a", "b"], dense))
lagbc.bc(dense, demand="trips.npz")  # error: call-overload
assert_type(lagbc.bc(dense), NDArray[np.float64])
assert_type(lagbc.edge_bc(dense), EdgeScores)
assert_type(lagbc.edge_bc(dense).nnz, int)
assert_type(lagbc.edge_bc(dense, batch=64, cutoff=2, decay=0.5, threads=2), EdgeScores)
assert_type(lagbc.edge_bc(dense, cutoff=np.float32(2), weighted="length"), EdgeScores)
assert_type(lagbc.edge_bc(dense, cutoff=np.int64(2)), EdgeScores)
assert_type(lagbc.edge_bc(dense, cutoff=[2, 3], k=5, rng=1), list[EdgeScores])
assert_type(lagbc.edge_bc(dense, cutoff=np.array([2.0, 3.0]), decay=0.5), list[EdgeScores])
assert_type(lagbc.edge_bc(dense, cutoff=2, decay=(0.5, 1), directed=False), list[EdgeScores])
assert_type(lagbc.bc(dense, cutoff=[2, 3]), NDArray[np.float64])
assert_type(lagbc.bc(dense, k=2, standard_error=True), ScoresAndErrors)
assert_type(lagbc.stress(dense, k=2, standard_error=False), NDArray[np.float64])
for one in (lagbc.closeness, lagbc.harmonic, lagbc.stress):
    assert_type(one(dense, k=2, standard_error=True), ScoresAndErrors)
assert_type(lagbc.edge_bc(dense, k=2, standard_error=True), tuple[EdgeScores, EdgeScores])
assert_type(lagbc.edge_bc(dense, k=2, cutoff=[2], standard_error=True), tuple[list[EdgeScores], list[EdgeScores]])
assert_type(lagbc.centralities(dense, k=2, standard_error=True), tuple[Scores, Scores])
assert_type(lagbc.centralities(dense, "edge_bc", cutoff=2)["edge_bc"], EdgeScores)
assert_type(lagbc.centralities(dense, cutoff=[2, 3], log2=True), ColumnsOfScores)
assert_type(lagbc.centralities(dense, "edge_bc", decay=np.arange(3))["edge_bc"], list[EdgeScores])
assert_type(lagbc.centralities(dense), Scores)
assert_type(lagbc.centralities(dense, ("bc", "stress"))["stress"], NDArray[np.float64])
assert_type(lagbc.shortest_path_counts(dense, [0])[0], NDArray[np.float64])
assert_type(lagbc.plan(dense).method == "batched", bool)
assert_type(lagbc.plan(dense).memory.total, int)
assert_type(lagbc.__version__, str)
lagbc.plots.plot_comparison
lagbc.compare(dense, weighted="length")

lagbc.nope  # error: attr-defined
lagbc.bc("graph")  # error: call-overload
lagbc.as_graph("graph")  # error: arg-type
lagbc.compare("graph")  # error: arg-type
lagbc.closeness([[0, 1], [1, 0]])  # error: call-overload
lagbc.edge_bc([[0, 1], [1, 0]])  # error: call-overload
lagbc.edge_bc(dense, cutoff="near")  # error: arg-type
lagbc.edge_bc(dense, thread=2)  # error: call-overload
lagbc.edge_bc(dense, cutoff=[2, 3]).nnz  # error: attr-defined
lagbc.bc(dense, reduce="al")  # error: call-overload
lagbc.bc(dense, device="tpu")  # error: arg-type
lagbc.closeness(dense, dtype="float16")  # error: call-overload
lagbc.bc(dense, k=2, standard_error="yes")  # error: call-overload
lagbc.bc(dense, batch="many")  # error: call-overload
lagbc.bc(dense, 64)  # error: call-overload
lagbc.estimate(dense, "bc", 64)  # error: call-arg
lagbc.bc(dense, thread=2)  # error: call-overload
lagbc.centralities(dense, "betweenness")  # error: arg-type
lagbc.bc(dense, progress="yes")  # error: call-overload
"""


SCRIPT = Path(__file__).with_name("user_script.py")


def test_a_type_checker_reads_the_public_functions(tmp_path):
    """With the settings of the checkout, so that a check of the package beside the tests leaves little to read."""
    pytest.importorskip("mypy")
    file = tmp_path / "calls.py"
    file.write_text(CALLS, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(file), str(SCRIPT)]
    checkout = {"cwd": Path(lagbc.__file__).parents[1], "env": os.environ | {"MYPYPATH": "."}}
    done = subprocess.run(command, capture_output=True, text=True, check=False, **checkout)
    found = re.findall(r"^(.*?):(\d+): error: .*\[(.*)\]$", done.stdout, re.MULTILINE)
    told = {(Path(name).name, int(line)): code for name, line, code in found}
    wanted = enumerate(CALLS.splitlines(), 1)
    expected = {(file.name, line): text.split("# error: ")[1] for line, text in wanted if "# error: " in text}
    assert told == expected, done.stdout


def test_pyright_finds_nothing_in_the_script(tmp_path):
    """Where it is installed: with the Node that it needs, it is three times as large as all else that tests take."""
    pyright = shutil.which("pyright") or shutil.which("basedpyright")
    if pyright is None:
        pytest.skip("pyright is not installed")
    file = tmp_path / "script.py"
    file.write_text(SCRIPT.read_text(encoding="utf-8") + 'lagbc.bc("graph")\n', encoding="utf-8")
    settings = {
        "include": [file.name],
        "extraPaths": [str(Path(lagbc.__file__).parents[1])],
        "typeCheckingMode": "standard",
        "pythonVersion": "3.11",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [pyright, "--project", str(tmp_path), "--pythonpath", sys.executable, "--outputjson"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    lines = [one["range"]["start"]["line"] for one in found["generalDiagnostics"] if one["severity"] == "error"]
    assert lines == [len(SCRIPT.read_text(encoding="utf-8").splitlines())], "the line that is wrong, and no other"


def test_the_script_runs(capsys):
    runpy.run_path(str(SCRIPT))
    assert capsys.readouterr().out.startswith("1.0 ")
