"""The command `lagbc`: what it prints and writes, and how it ends when something is wrong."""

import gzip
import importlib.metadata
import signal
import subprocess
import sys
import time
import warnings

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner

import lagbc
from lagbc.errors import MemoryWarning, MissingDependencyError
from lagbc.interfaces.cli import main
from lagbc.io.examples import example_names, example_path
from lagbc.io.read import read_graph
from lagbc.methods.table import METHODS


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def succeed(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def fail(*arguments):
    """Return the one line that the command ends with."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit), "no traceback"
    (line,) = result.stderr.splitlines()
    assert line.startswith("lagbc: error: ")
    return line


@pytest.fixture
def path_graph(tmp_path):
    """The path 20 -> 10 -> 30 -> 40 as an edge list."""
    path = tmp_path / "path.txt"
    path.write_text("20 10\n10 30\n30 40\n")
    return path


def karate_scores(**options):
    G = nx.Graph(nx.karate_club_graph().edges)
    scores = nx.betweenness_centrality(G, **{"normalized": False, **options})
    return np.array([scores[v] for v in range(34)])


# ---- lagbc bc


def test_bc_prints_the_graph_the_method_and_the_top():
    lines = succeed("bc", "example:karate", "--top", 3).splitlines()
    assert lines[0] == "karate: 34 vertices, 78 undirected edges"
    choice = lagbc.select_method(read_graph(example_path("karate")).matrix, directed=False)
    assert lines[1].startswith(f"method: {choice.method.name} on {choice.method.device}")
    assert choice.reason in lines[1]
    table = [line.split() for line in lines[3:7]]
    assert table == [
        ["rank", "vertex", "score", "degree"],
        ["1", "0", "231.07143", "16"],
        ["2", "33", "160.55159", "17"],
        ["3", "32", "76.690476", "12"],
    ]
    assert lines[-1].startswith("time: ")
    assert lines[-1].endswith(" s")


def test_bc_directed_uses_the_ids_of_the_file(path_graph):
    lines = succeed("bc", path_graph).splitlines()
    assert lines[0] == "path.txt: 4 vertices, 3 directed edges"
    assert [line.split() for line in lines[3:8]] == [
        ["rank", "vertex", "score", "out-degree", "in-degree"],
        ["1", "10", "2", "1", "1"],
        ["2", "30", "2", "1", "1"],
        ["3", "20", "0", "1", "0"],
        ["4", "40", "0", "0", "1"],
    ]


def test_top_0_prints_no_table(path_graph):
    assert "rank" not in succeed("bc", path_graph, "--top", 0)


def test_undirected_overrides_the_file(path_graph, tmp_path):
    out = succeed("bc", path_graph, "--undirected", "--out", tmp_path / "scores.npy")
    assert out.startswith("path.txt: 4 vertices, 3 undirected edges")
    assert np.load(tmp_path / "scores.npy").tolist() == [2, 0, 2, 0]


def test_directed_overrides_the_file(tmp_path):
    out = succeed("bc", "example:karate", "--directed", "--out", tmp_path / "scores.npy")
    assert out.startswith("karate: 34 vertices, 156 directed edges")
    np.testing.assert_allclose(np.load(tmp_path / "scores.npy"), 2 * karate_scores(), rtol=1e-13)


@pytest.mark.parametrize("options", [{}, {"normalized": True}, {"endpoints": True}])
def test_npy_holds_the_scores_of_networkx(tmp_path, options):
    flags = [f"--{name}" for name in options]
    out = succeed("bc", "example:karate", *flags, "--out", tmp_path / "scores.npy")
    assert f"scores: {tmp_path / 'scores.npy'}" in out.splitlines()
    scores = np.load(tmp_path / "scores.npy")
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, karate_scores(**options), rtol=1e-13)


def test_csv_has_every_bit_in_matrix_order(tmp_path):
    for suffix in ("npy", "csv"):
        succeed("bc", "example:karate", "--out", tmp_path / f"scores.{suffix}")
    header, *rows = (tmp_path / "scores.csv").read_bytes().decode("ascii").split("\n")[:-1]
    assert header == "vertex,score"
    vertices, scores = zip(*(row.split(",") for row in rows), strict=True)
    assert list(map(int, vertices)) == list(range(34))
    assert np.array_equal(np.array(scores, dtype=float), np.load(tmp_path / "scores.npy"))


def test_csv_has_the_ids_of_the_file(path_graph, tmp_path):
    succeed("bc", path_graph, "--out", tmp_path / "scores.csv")
    assert (tmp_path / "scores.csv").read_text() == "vertex,score\n10,2.0\n20,0.0\n30,2.0\n40,0.0\n"


def test_compressed_file(path_graph, tmp_path):
    packed = tmp_path / "packed.txt.gz"
    packed.write_bytes(gzip.compress(path_graph.read_bytes()))
    assert succeed("bc", packed).splitlines()[3:8] == succeed("bc", path_graph).splitlines()[3:8]


def test_sources_draws_an_estimate_from_the_seed(tmp_path):
    def estimate(name, *options):
        out = succeed("bc", "example:karate", "--sources", 5, *options, "--out", tmp_path / name)
        return out, np.load(tmp_path / name)

    out, first = estimate("a.npy", "--seed", 3)
    assert "estimate from 5 random roots of 34 (seed 3)" in out.splitlines()
    assert np.array_equal(first, estimate("b.npy", "--seed", 3)[1])
    assert not np.array_equal(first, estimate("c.npy", "--seed", 4)[1])
    assert np.array_equal(estimate("d.npy")[1], estimate("e.npy", "--seed", 0)[1])


def test_all_options_reach_bc(monkeypatch, tmp_path):
    def bc(A, batch, **options):
        seen.update(options, n=A.n, batch=batch)
        return np.zeros(A.n)

    seen = {}
    monkeypatch.setattr(lagbc, "bc", bc)
    checkpoint = tmp_path / "run.npz"
    arguments = "--batch 64 --threads 2 --sources 7 --seed 5 --normalized --endpoints --device cpu --progress"
    succeed("bc", "example:karate", *arguments.split(), "--checkpoint", checkpoint)
    assert seen == {
        "n": 34,
        "batch": 64,
        "directed": False,
        "weighted": False,
        "k": 7,
        "rng": 5,
        "normalized": True,
        "endpoints": True,
        "method": "auto",
        "device": "cpu",
        "progress": True,
        "checkpoint": checkpoint,
        "threads": 2,
    }
    succeed("bc", "example:karate")
    defaults = {"batch": "auto", "k": None, "rng": None, "progress": False, "checkpoint": None, "threads": None}
    assert {name: seen[name] for name in defaults} == defaults


def test_plot_is_written(tmp_path):
    pytest.importorskip("matplotlib")
    out = succeed("bc", "example:karate", "--plot", tmp_path / "karate.png")
    assert f"plot: {tmp_path / 'karate.png'}" in out.splitlines()
    assert (tmp_path / "karate.png").read_bytes().startswith(b"\x89PNG")


def test_plot_names_the_graph_and_the_unit(tmp_path):
    pytest.importorskip("matplotlib")
    succeed("bc", "example:karate", "--normalized", "--plot", tmp_path / "karate.svg")
    svg = (tmp_path / "karate.svg").read_text()
    assert "<!-- karate: 34 vertices, 78 undirected edges -->" in svg
    assert "<!-- betweenness (fraction of vertex pairs) -->" in svg


def test_weights_are_not_ignored_silently():
    ignored = "ignored"
    assert any("weights" in line and ignored in line for line in succeed("bc", "example:us-airports").splitlines())
    assert any("weights" in line and ignored in line for line in succeed("info", "example:us-airports").splitlines())
    assert "weights" not in succeed("bc", "example:karate")


# ---- lengths


@pytest.fixture
def detour(tmp_path):
    """Edges 0-1 and 1-2 of weight 1, and 0-2 of weight 3: as lengths, the way over 1 is shorter."""
    path = tmp_path / "detour.txt"
    path.write_text("0 1 1\n1 2 1\n0 2 3\n")
    return path


def scores_of(tmp_path, *arguments):
    out = succeed("bc", *arguments, "--out", tmp_path / "scores.npy")
    return np.load(tmp_path / "scores.npy").tolist(), out.splitlines()


def test_weighted_takes_the_values_as_lengths(detour, tmp_path):
    hops, lines = scores_of(tmp_path, detour)
    assert hops == [0, 0, 0]
    assert "weights: ignored; paths are counted in hops (--weighted takes them as lengths)" in lines
    scores, lines = scores_of(tmp_path, detour, "--weighted")
    assert scores == [0, 1, 0]
    assert "weights: lengths of edges" in lines
    choice = lagbc.select_method(read_graph(detour).matrix, weighted=True)
    assert f"method: {choice.reason}" in lines
    assert scores_of(tmp_path, detour, "--weighted", "--undirected")[0] == [0, 1, 0]


def test_strength_takes_one_over_the_values(detour, tmp_path):
    """The tie of strength 3 is the shortest way."""
    scores, lines = scores_of(tmp_path, detour, "--strength", "--undirected")
    assert scores == [0, 0, 0]
    assert "weights: strengths w, taken as lengths 1 / w" in lines
    # 1 / 1 + 1 / 1 = 1 / 0.5
    detour.write_text("0 1 1\n1 2 1\n0 2 0.5\n")
    assert scores_of(tmp_path, detour, "--strength")[0] == [0, 0.5, 0]


@pytest.mark.parametrize("directed", [True, False])
def test_strengths_of_a_network_against_networkx(tmp_path, directed):
    A = read_graph(example_path("lesmis")).matrix
    G = nx.from_scipy_sparse_array(A, create_using=nx.DiGraph if directed else nx.Graph)
    for *_, edge in G.edges(data=True):
        edge["length"] = 1 / edge["weight"]
    theirs = nx.betweenness_centrality(G, weight="length", normalized=False)
    flag = "--directed" if directed else "--undirected"
    ours = scores_of(tmp_path, "example:lesmis", "--strength", flag)[0]
    np.testing.assert_allclose(ours, [theirs[v] for v in range(77)], rtol=1e-12)


def test_of_repeated_edges_the_shortest_is_taken_or_the_strongest(tmp_path):
    """From 0 to 2 straight, or over 1 by two steps of length 1; 0.25 + 5 would be long, and 0.25 a weak edge."""
    file = tmp_path / "repeated.txt"
    file.write_text("0 2 0.25\n0 1 1\n1 2 1\n0 2 5\n")
    for flag, kept in (("--weighted", "the smallest value, its length"), ("--strength", "the largest value")):
        assert scores_of(tmp_path, file, flag)[0] == [0, 0, 0]
        shown = CliRunner().invoke(main, ["bc", str(file), flag]).stderr
        assert shown.startswith(f"lagbc: warning: {file}: 1 entry repeats an edge; of each edge {kept}")
    single = tmp_path / "single.txt"
    single.write_text("0 2 5.25\n0 1 1\n1 2 1\n")
    assert scores_of(tmp_path, single, "--weighted")[0] == [0, 1, 0]


def test_weights_of_a_pattern_are_ones(tmp_path):
    hops = scores_of(tmp_path, "example:karate")[0]
    for flag in ("--weighted", "--strength"):
        np.testing.assert_allclose(scores_of(tmp_path, "example:karate", flag)[0], hops, rtol=1e-13)
        assert "weights: all are the same; the file may have none" in succeed("bc", "example:karate", flag)
    assert "the file may have none" not in succeed("bc", "example:lesmis", "--weighted")


@pytest.mark.parametrize(
    ("flag", "weight", "shown"),
    [
        ("--weighted", "-2", "-2.0"),
        ("--weighted", "0", "0.0"),
        ("--strength", "-2", "-0.5"),
        ("--strength", "0", "inf"),
    ],
)
def test_values_that_are_no_lengths(detour, flag, weight, shown):
    detour.write_text(f"0 1 1\n1 2 {weight}\n0 2 3\n")
    line = fail("bc", detour, flag)
    assert f"1 of the 3 lengths of A are not finite and > 0, the first at (1, 2): {shown}" in line


def test_absorbed_length_is_one_line(detour):
    detour.write_text("0 1 1e18\n1 2 1\n")
    assert "the length 1.0 of the edge (1, 2) is lost to rounding" in fail("bc", detour, "--weighted")


def test_weighted_reaches_bc(monkeypatch, detour):
    def bc(A, batch, *, weighted, **options):
        seen.append((weighted, A.weighted, None if A.weights is None else A.weights.tolist()))
        return np.zeros(A.n)

    seen = []
    monkeypatch.setattr(lagbc, "bc", bc)
    for flags in ((), ("--weighted",), ("--strength",)):
        succeed("bc", detour, *flags)
    assert seen == [(False, False, None), (True, True, [1, 3, 1]), (True, True, [1, 1 / 3, 1])]


def test_plot_with_strengths(detour, tmp_path):
    pytest.importorskip("matplotlib")
    out = succeed("bc", detour, "--strength", "--plot", tmp_path / "detour.png")
    assert f"plot: {tmp_path / 'detour.png'}" in out.splitlines()


# ---- lagbc info


def test_info_counts(tmp_path):
    path = tmp_path / "graph.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n7 7 5\n1 2\n2 1\n1 3\n3 3\n5 6\n")
    out = succeed("info", path)
    facts = dict(line.strip().split("  ", 1) for line in out.splitlines()[1:9])
    assert out.splitlines()[0] == "graph.mtx: 7 vertices, 4 directed edges"
    assert {name: value.strip() for name, value in facts.items()} == {
        "format": "Matrix Market",
        "weights": "none",
        "stored entries": "5",
        "self loops": "1 (ignored)",
        "isolated vertices": "2",
        "weak components": "4 (largest 3 vertices)",
        "out-degree": "min 0, mean 0.571, max 2",
        "in-degree": "min 0, mean 0.571, max 1",
    }
    undirected = succeed("info", path, "--undirected").splitlines()
    assert undirected[0] == "graph.mtx: 7 vertices, 3 undirected edges"
    assert undirected[7].split() == ["degree", "min", "0,", "mean", "0.857,", "max", "2"]


def test_info_tells_memory_and_method():
    out = succeed("info", "example:karate")
    A = read_graph(example_path("karate")).matrix
    memory, choice = lagbc.estimate_memory(A, directed=False), lagbc.select_method(A, directed=False)
    (line,) = [line for line in out.splitlines() if line.startswith("memory: ")]
    assert f"with batch {memory.batch}, threads {memory.threads}" in line
    assert f"method: {choice.method.name} on {choice.method.device}" in out
    assert choice.reason in out


def test_info_lists_every_method():
    lines = succeed("info", "example:karate").splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["method", "formulation"])
    table = [line.split()[:4] for line in lines[start + 1 :]]
    yes = {True: "yes", False: "no"}
    assert table == [[row.name, row.formulation, row.device, yes[row.weighted]] for row in METHODS]


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 * 2**30, "3 GiB"), (2**50, "1024 TiB")]
)
def test_sizes_are_readable(count, text):
    from lagbc.interfaces.cli import _size

    assert _size(count) == text


# ---- errors


def test_missing_file_names_the_shipped_networks():
    line = fail("bc", "nothing.mtx")
    assert "there is no file 'nothing.mtx'" in line
    for name in example_names():
        assert f"example:{name}" in line


@pytest.mark.parametrize("command", ["bc", "info"])
def test_unknown_example_lists_those_there_are(command):
    assert "called 'nope'; there are: ca-GrQc, karate" in fail(command, "example:nope")


def test_malformed_file(tmp_path):
    (tmp_path / "bad.txt").write_text("1 2\n3\n")
    assert f"{tmp_path / 'bad.txt'}, line 2: 1 column" in fail("info", tmp_path / "bad.txt")


def test_directory(tmp_path):
    assert str(tmp_path) in fail("bc", tmp_path)


def test_unknown_method():
    assert "nonsense" in fail("bc", "example:karate", "--method", "nonsense")


@pytest.mark.parametrize(
    ("option", "name", "part"),
    [
        ("--out", "scores.txt", "a .npy or a .csv file"),
        ("--plot", "scores.xyz", "suffix '.xyz'"),
        ("--out", "nowhere/scores.npy", "there is no directory"),
        ("--plot", "nowhere/scores.png", "there is no directory"),
    ],
)
def test_outputs_are_checked_before_the_computation(monkeypatch, tmp_path, option, name, part):
    if option == "--plot":
        pytest.importorskip("matplotlib")
    monkeypatch.setattr(lagbc, "bc", lambda *args, **kwargs: pytest.fail("computed in vain"))
    assert part in fail("bc", "example:karate", option, tmp_path / name)


@pytest.mark.parametrize("error", [ValueError, TypeError, MissingDependencyError, OverflowError])
def test_errors_of_bc_are_one_line(monkeypatch, error):
    monkeypatch.setattr(lagbc, "bc", raiser(error("bad\nvalue")))
    assert fail("bc", "example:karate") == "lagbc: error: bad value"


def test_out_of_memory(monkeypatch):
    monkeypatch.setattr(lagbc, "bc", raiser(MemoryError("8 GiB")))
    assert fail("bc", "example:karate") == "lagbc: error: out of memory: 8 GiB"


def test_a_fault_of_lagbc_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr(lagbc, "bc", raiser(ZeroDivisionError()))
    assert isinstance(run("bc", "example:karate").exception, ZeroDivisionError)


@pytest.mark.parametrize("batch", ["0", "-3", "many", "1.5"])
def test_batch_is_an_integer_or_auto(batch):
    result = run("bc", "example:karate", "--batch", batch)
    assert result.exit_code == 2
    assert f"{batch!r} is neither 'auto' nor an integer from 1 on" in result.stderr


def test_warnings_are_one_line(monkeypatch):
    def bc(A, batch, **options):
        warnings.warn(MemoryWarning("smaller\nbatch"), stacklevel=1)
        return np.zeros(A.n)

    monkeypatch.setattr(lagbc, "bc", bc)
    result = run("bc", "example:karate")
    assert (result.exit_code, result.stderr) == (0, "lagbc: warning: smaller batch\n")


@pytest.mark.parametrize(
    ("arguments", "written", "says"),
    [
        ([], False, "with --checkpoint a run can go on"),
        (["--checkpoint"], True, "keeps the roots that are done"),
        (["--checkpoint"], False, "was not written"),
    ],
)
def test_interrupt(monkeypatch, tmp_path, arguments, written, says):
    checkpoint = tmp_path / "run.npz"

    def bc(A, batch, **options):
        if written:
            checkpoint.write_bytes(b"")
        raise KeyboardInterrupt

    monkeypatch.setattr(lagbc, "bc", bc)
    result = run("bc", "example:karate", *(part for flag in arguments for part in (flag, checkpoint)))
    assert result.exit_code == 130
    (line,) = result.stderr.splitlines()
    assert line.startswith("lagbc: interrupted: ")
    assert says in line


# ---- the program itself


def program(*arguments, **options):
    command = [sys.executable, "-c", "from lagbc.interfaces.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


def test_program(path_graph, tmp_path):
    done = program("bc", path_graph, "--undirected", "--out", tmp_path / "scores.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert "path.txt: 4 vertices, 3 undirected edges" in done.stdout
    assert (tmp_path / "scores.csv").read_text() == "vertex,score\n10,2.0\n20,0.0\n30,2.0\n40,0.0\n"
    done = program("bc", tmp_path / "nothing")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("lagbc: error: there is no file")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_control_c_ends_the_program():
    code = (
        "import signal, time, lagbc\n"
        # A background job of a shell starts with the signal ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "lagbc.bc = lambda *args, **options: time.sleep(60)\n"
        "from lagbc.interfaces.cli import main\n"
        "main(['bc', 'example:karate'])"
    )
    with subprocess.Popen(
        [sys.executable, "-u", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while not process.stdout.readline().startswith("method: "):
            assert process.poll() is None
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stderr == "lagbc: interrupted: nothing is kept; with --checkpoint a run can go on where it was stopped\n"


def test_help_loads_nothing_heavy_on_top_of_lagbc_itself():
    code = (
        "import sys, click.testing, lagbc\n"
        "before = set(sys.modules)\n"
        "from lagbc.interfaces.cli import main\n"
        "assert click.testing.CliRunner().invoke(main, ['bc', '--help']).exit_code == 0\n"
        "heavy = {'numpy', 'scipy', 'numba', 'matplotlib', 'graphblas', 'cupy', 'lagbc.io.read', 'lagbc.plots'}\n"
        "print(sorted(heavy & set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"


def test_help_names_every_command():
    out = succeed("--help")
    assert {"bc", "info"} <= {line.split()[0] for line in out.partition("Commands:")[2].splitlines() if line}
    assert "example:NAME" in succeed("bc", "--help")


def test_version():
    assert succeed("--version") == f"lagbc {importlib.metadata.version('lagbc')}\n"


def raiser(error):
    def bc(A, batch, **options):
        raise error

    return bc
