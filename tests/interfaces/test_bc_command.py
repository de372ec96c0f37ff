"""The command `lagbc bc`: what it prints and writes."""

from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from commands import document, fail, reason_in, reason_of, run, succeed

import lagbc
from lagbc import limits, plots
from lagbc.arguments import Read
from lagbc.centrality import compute
from lagbc.interfaces.cli import task
from lagbc.methods import table


def test_bc_prints_the_reason_of_the_method():
    """`test_recorded_faces.py` has the other lines."""
    printed = succeed("bc", "example:karate", "--top", 3)
    lines = printed.splitlines()
    graph = lagbc.as_graph(lagbc.read_graph("example:karate"))
    planned = lagbc.plan(graph)
    assert lines[1] == f"method: {planned.method} on {planned.device}"
    assert reason_in(printed) == reason_of(graph)
    reason = lines[2 : lines.index("")]
    assert len(reason) > 1
    assert all(line.count("(") == line.count(")") for line in reason)
    assert lines[-1].endswith(" s")


def test_csv_has_every_bit_in_matrix_order(scores_of, tmp_path):
    scores = scores_of("bc", "example:karate").tolist()
    succeed("bc", "example:karate", "--out", tmp_path / "scores.csv")
    lines = [f"{vertex},{score!r}\n" for vertex, score in enumerate(scores)]
    assert (tmp_path / "scores.csv").read_bytes().decode("ascii") == "".join(["vertex,score\n", *lines])


@pytest.fixture
def calls(monkeypatch):
    """The graphs, options and arguments of calls, each of which is planned."""
    made, plan_call = [], compute.plan_call

    def planned(graph, which, batch, read, options, arguments):
        given = {name: getattr(arguments, name) for name in arguments.given}
        assert read == Read(), "it is read, as the graph says"
        seen = {"batch": batch, "stated": limits.stated_budget(), **options, **given}
        made.append((graph, seen))
        return plan_call(graph, which, batch, read, options, arguments)

    monkeypatch.setattr(compute, "plan_call", planned)
    return made


def test_all_options_reach_the_call(calls, monkeypatch, tmp_path):
    monkeypatch.setenv("LAGBC_MEMORY", "200GB")
    checkpoint = tmp_path / "run.npz"
    arguments = "--batch 64 --threads 2 --k 7 --seed 5 --no-error --normalized --endpoints --device cpu --memory 100GB"
    succeed("bc", "example:karate", "--progress", *arguments.split(), "--checkpoint", checkpoint)
    ((graph, seen),) = calls
    assert (graph.n, graph.directed, graph.weighted) == (34, False, False)
    given = {"batch": 64, "threads": 2, "k": 7, "rng": 5, "normalized": True, "endpoints": True, "device": "cpu"}
    given |= {"stated": 10**11, "progress": True, "checkpoint": checkpoint}
    assert seen == given | {"method": "auto", "reduce": "auto", "bucket_width": "auto", "dtype": "float64"}
    succeed("bc", "example:karate")
    _, (_, seen) = calls
    assert seen["stated"] == 2 * 10**11, "of the environment, as before"
    assert "k" not in seen
    defaults = {"batch": "auto", "progress": False, "checkpoint": None, "threads": None}
    assert {name: seen[name] for name in defaults} == defaults


def test_plot_names_the_graph_and_the_unit(tmp_path):
    succeed("bc", "example:karate", "--normalized", "--plot", tmp_path / "karate.svg")
    svg = (tmp_path / "karate.svg").read_text()
    assert "<!-- karate: 34 vertices, 78 undirected edges -->" in svg
    assert "<!-- betweenness (fraction of vertex pairs) -->" in svg


def test_an_edge_list_without_a_direction_is_said_to_be_directed(path_graph, tmp_path):
    sp.save_npz(tmp_path / "path.npz", sp.csr_array(([1.0], ([0], [1])), shape=(2, 2)))
    said = "lagbc: note: the format, {}, tells no direction: edges go one way (--undirected takes them both ways)\n"
    for command in (["info"], ["compare", "--methods", "batched", "--device", "cpu"]):
        assert run(*command, path_graph).stderr == said.format("edge list")
    assert run("bc", tmp_path / "path.npz").stderr == said.format("SciPy npz")
    for said in ((path_graph, "--directed"), (path_graph, "--undirected"), ("example:karate",)):
        assert run("bc", *said).stderr == ""


def test_the_bar_says_why_it_counts_fewer_roots(path_graph):
    assert "1 of 4 have no out-edges" in run("bc", path_graph, "--directed", "--progress").stderr


def test_an_estimate_has_its_standard_error(tmp_path):
    """`test_recorded_faces.py` has the table."""
    out = succeed("bc", "example:lesmis", "--k", 40, "--seed", 3, "--top", 2, "--out", tmp_path / "scores.npy")
    scores, errors = lagbc.bc(lagbc.read_graph("example:lesmis"), k=40, rng=3, standard_error=True)
    assert np.array_equal(np.load(tmp_path / "scores.npy"), scores)
    assert f" ± {errors[scores.argmax()]:.2g} " in out
    assert "lagbc: standard errors: 100%" in run("bc", "example:lesmis", "--k", 40, "--progress").stderr


def test_an_error_that_cannot_be_told_is_no_number(write):
    """No root scores the ends of a path."""
    path = write("".join(f"{i} {i + 1}\n" for i in range(99)))
    wanted = ("--undirected", "--k", 50, "--top", 100)
    (row,) = [line.split() for line in succeed("bc", path, *wanted).splitlines() if line.split()[1:3] == ["0", "0"]]
    assert row[3] == "-"
    scores = document("bc", path, *wanted)["scores"]
    assert scores["error"][scores["vertex"].index(0)] is None


def test_scores_are_written_before_their_error_is_computed(monkeypatch, tmp_path):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(compute, "errors_of", interrupt)
    assert run("bc", "example:karate", "--k", 9, "--out", tmp_path / "scores.npy").exit_code == 130
    assert (tmp_path / "scores.npy").exists()


def test_the_time_told_has_that_of_the_standard_error(monkeypatch):
    clock, ordinary = [0], compute.errors_of
    monkeypatch.setattr(task, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    monkeypatch.setattr(compute, "errors_of", lambda *given: clock.__setitem__(0, 100) or ordinary(*given))
    assert "\ntime: 100 s\n" in succeed("bc", "example:karate", "--k", 9)


# ---- lengths


@pytest.fixture
def detour(write):
    """Edges 0-1 and 1-2 of weight 1, and 0-2 of weight 3: as lengths, the way over 1 is shorter."""
    return write("0 1 1\n1 2 1\n0 2 3\n")


@pytest.mark.parametrize("option", [["--weighted"], ["--length", 3]], ids=["all", "a column"])
def test_values_are_taken_as_lengths(detour, scores_of, option):
    assert scores_of("bc", detour, *option).tolist() == [0, 1, 0]
    graph = lagbc.as_graph(lagbc.read_graph(detour), directed=True, weighted=True)
    assert reason_in(succeed("bc", detour, *option)) == reason_of(graph)


@pytest.mark.parametrize(
    "options", ["bc", "bc --k 30", "bc --part 1/2 --out part.npz", "estimate", "group-bc --group 1,2"]
)
def test_ties_that_rounding_breaks_are_warned_of_once(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(15, 15))
    tenths = np.random.default_rng(0).integers(1, 11, grid.number_of_edges()) / 10
    Path("grid").write_text("".join(f"{u} {v} {length}\n" for (u, v), length in zip(grid.edges, tenths, strict=True)))
    command, *rest = options.split()
    for given, count in ([], 1), (["--rtol", "1e-9"], 0):
        told = run(command, "grid", "--weighted", "--undirected", *rest, *given).stderr
        assert told.count("long: rounding keeps them, and maybe others, from a tie; --rtol 1e-9 takes them") == count


def test_bucket_width_reaches_the_call(calls, detour):
    run("bc", detour, "--weighted", "--bucket-width", "2.5")  # of a GPU alone
    succeed("bc", detour, "--weighted")
    assert [given["bucket_width"] for _, given in calls] == [2.5, "auto"]


@pytest.mark.parametrize(("device", "taken"), [("1", [1]), ("0, 2", [0, 2]), ("all", "all"), ("cuda", "cuda")])
def test_gpus_are_named_by_their_numbers(monkeypatch, device, taken):
    given = []

    def fail_here(graph, which, batch, read, options, arguments):
        given.append(options["device"])
        raise ValueError("that is enough")

    monkeypatch.setattr(compute, "plan_call", fail_here)

    assert fail("bc", "example:karate", "--device", device) == "lagbc: error: that is enough"
    assert given == [taken]


def test_gpus_that_there_are_not(monkeypatch):
    monkeypatch.setattr(table, "count_gpus", lambda: 2)
    assert fail("bc", "example:karate", "--device", "0,5") == "lagbc: error: --device 5: there are 2 GPUs, 0 to 1"


def test_memory_bounds_reading(monkeypatch):
    monkeypatch.setattr(limits, "held_memory", lambda: 99_000)
    said = fail("bc", "example:karate", "--memory", "100kB", status=1)
    assert "to be read, but the budget is 1 kB; raise it" in " ".join(said.split())


# ---- maps


@pytest.fixture
def drawn(monkeypatch):
    """What a command draws."""
    figures, plot_map = [], plots.plot_map
    monkeypatch.setattr(plots, "plot_map", lambda *given, **how: figures.append(plot_map(*given, **how)))
    return figures


def test_several_cutoffs_are_side_by_side(tmp_path, drawn):
    path = tmp_path / "map.svg"
    printed = succeed("bc", "example:minnesota", "--cutoff", "2,3", "--decay", "0.5", "--plot-map", path)
    assert printed.endswith(f"map: {path}\n")
    assert path.read_text().startswith("<?xml")
    (figure,) = drawn
    assert [axes.get_title() for axes in figure.axes[:2]] == ["cutoff 2, decay 0.5", "cutoff 3, decay 0.5"]
    assert figure.axes[2].get_ylabel() == "betweenness (vertex pairs)"
    assert figure.axes[0].get_aspect() == pytest.approx(1.45, abs=0.01)
    assert figure.get_suptitle() == "minnesota: 2,642 vertices, 3,303 edges"


def test_edges_and_a_table_of_coordinates(write, tmp_path, drawn):
    edges = write("from,to,length\na,b,1\nb,c,2\n")
    table = write("vertex,x,y\nc,2,1\nb,2,0\na,0,0\n", "xy.csv")
    succeed("edge-bc", edges, "--coordinates", table, "--plot-map", tmp_path / "map.png")
    (figure,) = drawn
    (lines,) = figure.axes[0].collections
    assert sorted(ends.tolist() for ends in lines.get_segments()) == [[[0, 0], [2, 0]], [[2, 0], [2, 1]]]
    assert figure.axes[1].get_ylabel() == "edge betweenness (vertex pairs)"


def test_names_are_on_the_map(tmp_path, drawn):
    G = nx.path_graph(["a", "b", "c"])
    for i, v in enumerate(G):
        G.nodes[v].update(x=i, y=0)
    nx.write_graphml(G, tmp_path / "g.graphml")
    succeed("closeness", tmp_path / "g.graphml", "--plot-map", tmp_path / "map.png")
    assert "b" in [text.get_text() for text in drawn[0].axes[0].texts]
