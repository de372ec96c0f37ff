"""What commands print with ``--json``: one line, whose layout the page on the command line documents."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from commands import document, reason_of, succeed

import lagbc
from lagbc.call import sum_call
from lagbc.calls import PHASES
from lagbc.centrality import compute
from lagbc.methods.table import METHODS
from lagbc.scores.records import shared

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


@pytest.mark.parametrize("record", shared(), ids=lambda record: record.name)
def test_every_centrality(record):
    bounds = {"cutoff": [2.0, 3.0], "decay": 0.5} if "decay" in record.takes else {"cutoff": [2.0, 3.0]}
    typed = [f"--{name}={str(value).strip('[]')}" for name, value in bounds.items()]
    found = document(record.name, "example:karate", *typed)
    scores = getattr(lagbc, record.name)(lagbc.read_graph("example:karate"), **bounds)
    titles = [f"{record.name}_1", f"{record.name}_2"]
    assert found["command"] == record.name
    assert found["arguments"].items() >= bounds.items()
    assert found["columns"] == {
        title: {"centrality": record.name, "cutoff": cutoff, "decay": bounds.get("decay")}
        for title, cutoff in zip(titles, bounds["cutoff"], strict=True)
    }
    for title, column in zip(titles, scores if record.of_edges else scores.T, strict=True):
        if record.of_edges:
            rows, columns = found["scores"]["source"], found["scores"]["target"]
            assert len(rows) == 78
            column = column.toarray()[rows, columns]
        else:
            assert found["scores"]["vertex"] == list(range(34))
        assert found["scores"][title] == column.tolist()


def test_distances():
    graph = lagbc.read_graph("example:karate")
    found = document("distances", "example:karate", "--cutoff", "1,inf")
    columns = lagbc.distances(graph, cutoff=[1, np.inf])._asdict()
    assert found["command"] == "distances"
    assert found["estimate"] is None
    assert found["scores"] == {"cutoff": [1, "inf"]} | {name: list(columns[name]) for name in [*columns][2:]}
    found = document("distances", "example:karate", "--k", 20, "--seed", 3)
    expected, errors = lagbc.distances(graph, k=20, rng=3, standard_error=True)
    assert found["estimate"] == {"roots": 20, "seed": 3}
    assert found["scores"]["average"] == [expected.average]
    assert found["scores"]["average_error"] == [errors.average]


def test_communities(tmp_path):
    graph = lagbc.read_graph("example:karate")
    found, expected = document("girvan-newman", "example:karate"), lagbc.girvan_newman(graph)
    assert found["command"] == "girvan_newman"
    assert found["levels"]["communities"] == expected.counts.tolist()
    assert found["levels"]["removed"] == expected.removals.tolist()
    assert found["levels"]["modularity"] == expected.modularity.tolist()
    assert found["scores"] == {"vertex": [*range(34)], "community": expected.labels().tolist()}
    out, plot = tmp_path / "a.npy", tmp_path / "a.svg"
    given = ("--until", 4, "--communities", 3, "--at-once", 0.1, "--out", out, "--plot", plot)
    printed = succeed("girvan-newman", "example:karate", *given)
    expected = lagbc.girvan_newman(graph, until=4, at_once=0.1)
    np.testing.assert_array_equal(np.load(out)[0], expected.labels(3))
    assert f"3 communities: modularity {expected.modularity[2]:.6g}\n" in printed
    assert b"<svg" in plot.read_bytes()


def test_what_ran():
    found = document("bc", "example:lesmis", "--strength", "--k", 20, "--seed", 3, "--normalized")
    graph = {"name": "lesmis", "format": "Matrix Market", "recognised": "", "vertices": 77, "edges": 254}
    assert found["graph"] == graph | {"directed": False, "values": "strengths"}
    graph = lagbc.as_graph(lagbc.read_graph("example:lesmis"), strength=True)
    planned = lagbc.plan(graph, k=20, rng=3)
    assert found["method"] == {"name": planned.method, "device": "cpu", "reason": reason_of(graph, k=20, rng=3)}
    assert found["estimate"] == {"roots": 20, "seed": 3}
    assert found["arguments"] == {"normalized": True}
    assert found["columns"] == {"bc": {"centrality": "bc", "cutoff": None, "decay": None}}
    assert found["seconds"].keys() == {"total", *PHASES}
    assert found["seconds"]["total"] > 0
    known = [error for error in found["scores"]["error"] if error is not None]  # null where too few roots tell it
    assert known
    assert min(known) > 0
    assert document("bc", "example:lesmis")["estimate"] is None


@pytest.mark.parametrize("name", ["bc", "percolation"])
def test_the_method_is_that_which_ran(name, monkeypatch, write):
    """Roots, targets and weights of the call tell what is reduced and what a probe says."""
    ran = []
    monkeypatch.setattr(compute, "sum_call", lambda call: ran.append(call) or sum_call(call))
    weights = write("0,1\n5,2\n", "weights.csv")
    given = ["--states", weights] if name == "percolation" else ["--sources", "0,5", "--target-weights", weights]
    found = document(name, "example:power", *given, "--batch", 64)["method"]
    (taken,) = ran
    assert (found["name"], found["device"]) == (taken.plan.method, taken.plan.device)
    assert found["reason"] == taken.reason
    assert taken.plan.reason not in lagbc.plan(lagbc.read_graph("example:power")).reason


def test_info():
    found = document("info", "example:karate")
    assert found["shape"]["degrees"] == {"degree": {"min": 1, "mean": pytest.approx(156 / 34), "max": 17}}
    assert [row["name"] for row in found["methods"]] == [row.name for row in METHODS]
    graph = lagbc.as_graph(lagbc.read_graph("example:karate"), copy=False)
    assert found["memory"]["total"] == lagbc.plan(graph).memory.total
    assert found["time"]["roots"] == 34


@pytest.mark.parametrize("command", [["info"], ["compare", "--device", "cpu", "--roots", 2]])
def test_seconds_of_other_commands(command):
    name, *given = command
    seconds = document(name, "example:karate", *given)["seconds"]
    assert seconds.keys() == {"total", *(PHASES if name == "info" else ())}, "methods have their own"
    assert seconds["total"] > 0


def test_the_page_names_what_there_is(path_graph):
    """Every key of the documents is in the page, and the example there is what the command prints."""
    page = PAGE.read_text(encoding="utf-8")
    for command in (["bc"], ["info"], ["compare", "--device", "cpu"], ["group-bc", "--group", "10"]):
        for key in document(*command, path_graph):
            assert f"`{key}`" in page, key
    example = json.loads(re.search(r"```json\n(.*?)```", page, re.DOTALL)[1])
    found = document("bc", "example:karate", "--top", 2)
    assert found.keys() == example.keys()
    for same in ("layout", "command", "graph", "estimate", "arguments", "columns", "scores"):
        assert found[same] == example[same], same
    assert found["seconds"].keys() == example["seconds"].keys()
