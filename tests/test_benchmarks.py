"""The benchmarks' graphs are what they are called, rivals keep one convention, and every program ends in a page."""

import json
import time
from dataclasses import replace
from importlib.util import find_spec
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner
from scipy.io import mmwrite
from scipy.sparse import coo_array, csr_array, kron, tril

import lagbc
from benchmarks import (
    agreement_reductions,
    block_costs,
    calls,
    choice,
    communities,
    cutoff,
    estimates,
    fan2017,
    first_call,
    generators,
    graphs,
    large,
    machine,
    nx_groups,
    nx_priority,
    planned,
    reductions,
    rivals,
    rivals_worker,
    run,
    survey,
    tune,
)
from benchmarks.blocks import necklace
from benchmarks.peers import PEERS, competitor
from benchmarks.survey import Network
from lagbc import tuning
from lagbc.graph.validate import as_graph
from lagbc.planning import choose

GENERATED = {
    "rmat": lambda seed: generators.rmat(8, 8, seed),
    "delaunay": lambda seed: generators.delaunay(300, seed),
    "holed_grid": lambda seed: generators.holed_grid(12, 15, seed),
    "barabasi_albert": lambda seed: generators.barabasi_albert(200, 4, seed),
    "road_like": lambda seed: generators.road_like(300, seed),
    "erdos_renyi": lambda seed: generators.erdos_renyi(201, 6, seed),
}


def small_graph(directed, degree=2):
    """Sparse, with isolated vertices and several components."""
    A = generators.erdos_renyi(40, degree, seed=3)
    if not directed:
        return A
    entries = A.tocoo()
    kept = (entries.row - entries.col) % 3 != 1  # never drops both directions
    return coo_array((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=A.shape).tocsr()


# A cycle with few chords, and a graph whose vertices are all there twice.
CHAINS = csr_array(necklace(2500, 2.25, seed=1) + necklace(2500, 2.25, seed=1).T).astype(bool)
TWINS = csr_array(kron(generators.erdos_renyi(600, 8, seed=1), np.ones((2, 2)))).astype(bool)


def invoke(main, *options):
    result = CliRunner().invoke(main, [str(option) for option in options])
    assert result.exit_code == 0, result.output
    return result.output


# Graphs


@pytest.mark.parametrize("make", GENERATED.values(), ids=GENERATED)
def test_generated_graphs_are_symmetric_patterns_with_lengths_alike_both_ways(make):
    A, B = make(1), generators.with_lengths(make(1), seed=2, largest=7)
    assert A.dtype == bool
    assert A.data.all()
    assert A.indices.dtype == A.indptr.dtype == np.int32
    assert A.has_canonical_format
    assert graphs.is_symmetric(A)
    assert not A.diagonal().any()
    assert (make(1) != A).nnz == 0
    assert (make(2) != A).nnz > 0
    assert graphs.is_symmetric(B)
    np.testing.assert_array_equal(B.indices, A.indices)
    assert set(B.data.tolist()) == set(range(1, 8))
    assert not np.array_equal(B.data, generators.with_lengths(make(1), seed=3, largest=7).data)


def test_a_folder_outside_git_has_the_commit_of_its_archive(tmp_path):
    assert machine.commit(tmp_path) is None
    for written, commit in (("$Format:%H$", None), ("ab" * 20, "ab" * 20)):
        (tmp_path / ".git_archival.txt").write_text(written + "\n")
        assert machine.commit(tmp_path) == commit


def test_graphs_of_files(tmp_path):
    mmwrite(tmp_path / "three.mtx", coo_array(([5.0, 0.5, 2.0], ([0, 1, 2], [1, 2, 2])), shape=(3, 3)))
    known = graphs.table(tmp_path)
    assert list(known) == [graph.name for graph in graphs.SYNTHETIC] + ["three"]
    assert known["three"].load().toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    with_lengths = graphs.table(tmp_path, weighted=True)
    assert with_lengths["three"].load().toarray().tolist() == [[0, 5, 0], [0, 0, 0.5], [0, 0, 0]]
    assert set(with_lengths["holed-grid-100"].load().data.tolist()) == set(range(1, 11))
    for values, told in (([2.0, 5.0, 3.0], "the file's, 2..5"), ([2.0, -1.0, 3.0], "random, 1..10")):
        mmwrite(tmp_path / "three.mtx", coo_array((values, ([0, 1, 2], [1, 2, 0])), shape=(3, 3)))
        A, directed, said = fan2017.from_file(tmp_path / "three.mtx")
        assert (directed, said) == (True, told)
        assert (A.data > 0).all()


def matrix(indptr, indices):
    return csr_array((np.ones(len(indices), bool), indices, indptr), shape=(len(indptr) - 1,) * 2)


def test_large_graphs(monkeypatch):
    monkeypatch.setattr(large, "PIECE", 1000)
    indptr, indices = large.rmat(10, 16, 1, np)
    A = matrix(indptr, indices)
    assert A.has_canonical_format
    assert 0.6 * (16 << 10) < A.nnz < 16 << 10
    degrees = np.diff(lagbc.as_graph(A, directed=False).indptr)
    assert degrees.max() > 10 * degrees.mean()
    np.testing.assert_array_equal(large.rmat(10, 16, 1, np)[1], indices)
    with pytest.raises(ValueError, match="more than two edges away"):
        large.of_circulant(15, 8, np.arange(3))
    assert large.difference(np.array([1.0, np.nan]), np.array([1.0, 2.0])) > 1


@pytest.mark.parametrize(("n", "degree"), [(14, 8), (20, 12), (21, 14), (41, 38)])
def test_circulant_graphs_and_their_closed_form(monkeypatch, n, degree):
    monkeypatch.setattr(large, "PIECE", 3 * degree)
    A = matrix(*large.circulant(n, degree, np))
    along = np.abs(np.arange(n)[:, None] - np.arange(n))
    near = np.minimum(along, n - along)
    np.testing.assert_array_equal(A.toarray(), (near > 0) & (near <= degree // 2))
    roots = np.arange(0, n, 3)
    scores = lagbc.bc(A, sources=roots, device="cpu", reduce="none")
    assert large.difference(scores, large.of_circulant(n, degree, roots)) < 1e-14


# Rivals


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("peer", PEERS.values(), ids=PEERS)
def test_peers_keep_lagbc_convention(peer, sampled, directed, weighted):
    if find_spec(peer.module) is None:
        pytest.skip(f"{peer.module} is not installed")
    if peer.name == "lagraph":
        pytest.skip("its GraphBLAS may not share a process with lagbc's; the end-to-end test runs it in its own")
    if sampled and not peer.takes_sources:
        pytest.skip(f"{peer.name} has no exact partial sums over given roots")
    if weighted and not peer.takes_lengths:
        pytest.skip(f"{peer.name} has no lengths of edges")
    A = small_graph(directed, degree=6)
    if weighted:
        A = A.astype(float)
        A.data[:] = 1 + (A.tocoo().row + A.tocoo().col) % 3
    sources = np.array([1, 5, 9]) if sampled else None
    expected = lagbc.bc(A, directed=directed, weighted=weighted, sources=sources)
    assert not np.allclose(expected, lagbc.bc(A, directed=directed, sources=sources)) or not weighted
    np.testing.assert_allclose(peer(A, sources, 1, directed), expected, rtol=peer.tolerance, atol=peer.tolerance)


def test_disagreement_sees_nan_and_unknown_names_are_told(tmp_path):
    with pytest.raises(ValueError, match=r"no competitor 'boost'; there are igraph, .*lagbc-METHOD"):
        competitor("boost")
    y = np.array([0.0, 9.0])
    assert run.disagreement(np.array([0.0, 10.0]), y) == pytest.approx(0.1)
    assert run.disagreement(np.array([np.nan, 9.0]), y) == fan2017.disagreement(np.array([np.nan, 9.0]), y) == np.inf
    expected = np.array([0.0, 4.0, 8.0])
    assert reductions.largest_difference(expected + np.array([0, -2, 1]), expected) == 0.25
    for main, options, said in (
        (run.cli, ("cpu", "--graphs", "atlantis"), "no graph atlantis; there are rmat-12-16"),
        (run.cli, ("cpu", "--roots", "some"), "'some' is neither a positive number nor all nor auto"),
        (survey.main, ("--data", tmp_path, "--only", "atlantis"), "no network atlantis"),
        (tune.main, ("--only", "NO_SUCH"), "NO_SUCH"),
        (first_call.main, ("--device", "cuda", "--install", "wheel"), "leave out --device"),
    ):
        result = CliRunner().invoke(main, [str(option) for option in options], terminal_width=200)
        assert (result.exit_code, said in result.output) == (2, True), result.output


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """The largest component of a graph with lengths, as rivals get it."""
    folder = tmp_path_factory.mktemp("rivals")
    mmwrite(folder / "tiny.mtx", small_graph(directed=True, degree=3).astype(np.int8))
    return rivals.save(folder / "tiny.mtx", folder / "tiny.npz")


def cases_of_rivals():
    """Scores that installed programs have, of all vertices and from some roots."""
    return [
        pytest.param(rival, measure, roots, id=f"{rival.name}-{measure}-{roots}")
        for rival in rivals_worker.RIVALS.values()
        if all(machine.package_version(need) for need in rival.needs)
        for measure in rival.measures
        for roots in ([None, 3] if measure in rival.sampled else [None])
    ]


@pytest.mark.parametrize(("rival", "measure", "roots"), cases_of_rivals())
def test_rivals_have_one_convention(rival, measure, roots, network, monkeypatch):
    """All give lagbc's scores."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    graph = rivals_worker.load(str(network))
    own = rival.convert(rival.given(graph), measure == "weighted")
    some = None if roots is None else graph.roots(roots)
    found = rivals_worker.scores_of(rival.score(own, measure, some), graph, measure, rival.name, own)
    references = rivals.References()
    if roots is None:
        A = rivals_worker.to_scipy(graph, measure == "weighted")
        function = lagbc.bc if measure == "weighted" else getattr(lagbc, measure)
        expected = function(A, directed=False, weighted=measure == "weighted")
        if measure == "edge_bc":
            expected = expected[graph.tails, graph.heads]
        references.kept[network, measure, None] = np.asarray(expected)
    assert references.judge(found, "another", network, measure, roots) == "ok"
    found[0] += 1
    assert references.judge(found, "another", network, measure, roots).startswith("wrong: off by ")
    found[0] = np.nan
    assert references.judge(found, "another", network, measure, roots) == f"NaN or infinite at 1 of {len(found)}"


def test_a_table_of_rivals_says_who_is_ahead_and_who_is_wrong():
    row = {"threads": 1, "network": "karate", "convert": 1e-3, "roots": None}
    rows = [
        {"machine": {"cpu": "c", "cores": 2, "commit": "0"}, "limit": 5.0, "command": "x", "python": "3", "date": "d"}
        | {"minutes": 1.0},
        {"name": "karate", "n": 34, "edges": 78},
        *({"program": name, "own": 1, "total": 2} for name in ("lagbc", "networkit")),
        row | {"rival": "lagbc", "measure": "bc", "seconds": 3e-3, "status": "ok"},
        row | {"rival": "networkit", "measure": "bc", "seconds": 1e-3, "status": "ok"},
        row | {"rival": "lagbc", "measure": "edge_bc", "seconds": 3e-3, "status": "ok"},
        row | {"rival": "networkit", "measure": "edge_bc", "seconds": 1e-3, "status": "wrong: off by 1e+00"},
        row | {"rival": "lagbc", "measure": "closeness", "seconds": 40.0, "status": "ok", "roots": 4},
        {"rival": "networkit", "threads": 1, "network": "karate", "measure": "closeness", "status": "over"},
    ]
    page = rivals.page(rows)
    assert "| karate | betweenness | 4.00 ms | 2.00 ms |" in page
    assert "| karate | edge betweenness | 4.00 ms | wrong |" in page
    assert "| karate | closeness | ~40.0 s | > 5 |" in page
    assert "- karate, betweenness, 1 thread: lagbc 4.00 ms, networkit 2.00 ms (2.0 times)" in page
    assert page.count("networkit 2.00 ms") == 1, "wrong scores are not ahead"
    assert "- networkit, edge betweenness: wrong: off by 1e+00: karate (1 thread)" in page


# Programs: of a folder of networks they make lines, a page of them, and some a figure


@pytest.fixture
def folder(tmp_path):
    """A small network, one with lengths, one with chains, and one that is directed."""
    mmwrite(tmp_path / "tiny.mtx", tril(small_graph(directed=False)).astype(np.int8), symmetry="symmetric")
    mmwrite(tmp_path / "near.mtx", tril(generators.with_lengths(small_graph(directed=False))), symmetry="symmetric")
    mmwrite(tmp_path / "chains.mtx", CHAINS.astype(np.int8))
    one_way = np.triu(generators.erdos_renyi(90, 3, seed=1).toarray(), -3)
    mmwrite(tmp_path / "oneway.mtx", csr_array(one_way).astype(np.int8))
    return tmp_path


def kept(folder, *names):
    for file in folder.glob("*.mtx"):
        if file.stem not in names:
            file.unlink()
    return ("--data", folder)


def rows_of(out):
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_peers_beside_each_other(folder):
    out = folder / "out.jsonl"
    options = ("--roots", 5, "--repeat", 2, "--threads", 1, "--peers", "igraph,networkx,networkit", "--out", out)
    invoke(run.cli, "cpu", *kept(folder, "tiny"), "--graphs", "tiny", "--methods", "batched", *options)
    rows = {row["competitor"]: row for row in rows_of(out)}
    assert list(rows) == ["igraph", "networkx", "networkit", "lagbc-batched"]
    assert rows["networkit"]["status"].startswith("not applicable")
    for name in ("igraph", "networkx", "lagbc-batched"):
        row = rows[name]
        assert (row["status"], row["seconds"], len(row["seconds_all"])) == ("ok", min(row["seconds_all"]), 2)
        assert (row["graph"], row["n"], row["roots"], row["directed"]) == ("tiny", 40, 5, False)
        assert row["mteps"] == pytest.approx(row["nnz"] / 2 * 5 / row["seconds"] / 1e6)
    assert "| tiny | 40 | 80 | 5 | lagbc-batched" in out.with_suffix(".md").read_text()
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    case = run.make_case(graphs.table(folder)["tiny"], "all", seed=1)
    [stopped] = run.measure(case, [run.Entry("igraph", 1)], repeat=1, timeout=0.001)
    assert stopped["status"] == "stopped: no answer in 0.001 s"


def test_peers_with_lengths(folder):
    out = folder / "out.jsonl"
    options = ("--weighted", "--graphs", "near", "--repeat", 1, "--threads", 1, "--out", out)
    invoke(run.cli, "cpu", *kept(folder, "near"), *options, "--peers", "igraph,networkx", "--methods", "dijkstra")
    found = {row["competitor"]: (row["status"], row["weighted"]) for row in rows_of(out)}
    assert found == dict.fromkeys(("igraph", "networkx", "lagbc-dijkstra"), ("ok", True))


def test_rivals_in_one_table(tmp_path, monkeypatch):
    """Each in a process of its own; one that is not there is listed, with the reason."""
    pytest.importorskip("igraph")
    monkeypatch.setattr(rivals, "STARTS", 1)
    monkeypatch.setattr(machine, "package_version", lambda name: None if name == "cityseer" else "1")
    out = tmp_path / "out.jsonl"
    options = ("--networks", "karate", "--threads", 1, "--rivals", "lagbc,igraph,cityseer", "--out", out)
    invoke(rivals.main, "--data", graphs.shipped_data(), *options)
    measured = [row for row in rows_of(out) if "measure" in row]
    assert [row["rival"] for row in measured] == ["lagbc"] * 5 + ["igraph"] * 5
    assert {row["status"] for row in measured} == {"ok"}
    assert "| cityseer | - | - | - | - | cityseer is not installed |" in out.with_suffix(".md").read_text()


def test_a_survey(folder):
    """What is there is not measured again, and what takes too long is skipped."""
    out, of = folder / "survey.jsonl", kept(folder, "oneway")
    options = (*of, "--threads", 1, "--seconds", 0, "--methods", "auto,batched", "--out", out)
    invoke(survey.main, *options, "--only", "oneway", "--prediction")
    rows = rows_of(out)
    assert len({survey.key(row) for row in rows}) == len(rows) == 2 * (2 * 3 + 1)
    assert {row["status"] for row in rows} == {"ok"}
    assert "| hops, 256 random roots, 1 thread | oneway | 90 |" in out.with_suffix(".md").read_text()
    invoke(survey.main, *options, "--prediction")
    assert rows_of(out) == rows
    options = (*of, "--threads", 1, "--limit", 0, "--methods", "batched", "--choice", "--out", folder / "none.jsonl")
    invoke(survey.main, *options)
    assert all(row["status"].startswith("skipped: ") for row in rows_of(folder / "none.jsonl"))


def timed(A, budget, threads=1):
    options = {"device": "cpu", "threads": threads}
    return planned.time_run(lambda: as_graph(A, directed=False), options, time.process_time, budget)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("A", "word"), [(CHAINS, "junctions"), (TWINS, "classes of twins")])
def test_a_run_is_timed_whole_or_near_roots_of_its_parts(A, word, threads):
    whole, some = timed(A, np.inf, threads), timed(A, 0.0, threads)
    assert word in str(whole.call.reduced)
    np.testing.assert_allclose(whole.sums.dependency / 2, lagbc.bc(A, directed=False, reduce="none"), rtol=1e-11)
    assert some.sums is None
    assert (some.roots, some.timed) == (whole.roots, 256 * threads)
    assert whole.timed == whole.roots < A.shape[0]


def test_what_reductions_save(folder):
    out, of = folder / "out.jsonl", kept(folder, "chains", "oneway")
    chains, twins = (reductions.work_left(as_graph(A, directed=False))["left"] for A in (CHAINS, TWINS))
    assert chains["all"] == chains["chains"] < 0.5
    assert twins["all"] == twins["twins"] < 0.3 < twins["chains"]
    invoke(reductions.main, *of, "--out", out)
    rows = rows_of(out)
    assert [row["graph"] for row in rows] == ["chains", "oneway"]
    assert all(row["difference"] < 1e-12 for row in rows)
    invoke(reductions.main, *of, "--out", out, "--directed", "--budget", 0)
    assert [(row["graph"], row["directed"]) for row in rows_of(out)[2:]] == [("oneway", True)], "the others are there"
    assert "| chains | 2,500 |" in out.with_suffix(".md").read_text()


def test_scores_agree_with_and_without_reductions(folder, monkeypatch):
    out, of = folder / "agreement.jsonl", kept(folder, "chains", "oneway")
    invoke(agreement_reductions.main, *of, "--out", out)
    assert all(row["largest_relative_difference"] < 1e-12 for row in rows_of(out))
    monkeypatch.setattr(agreement_reductions, "largest_difference", lambda *_: 1.0)
    found = CliRunner().invoke(agreement_reductions.main, [*map(str, of), "--out", str(folder / "other.jsonl")])
    assert (found.exit_code, "12 differ by more than 1e-12" in found.output) == (1, True)


def test_what_blocks_are_predicted_to_cost(folder):
    out = folder / "costs.jsonl"
    told = invoke(block_costs.main, *kept(folder, "chains"), "--out", out, "--budget", 0, "--rounds", 1).splitlines()
    assert [line.split(" | ")[:2] for line in told] == [["| chains", "hops"], ["| chains", "1 to 10"]]
    fitted = invoke(block_costs.main, "--no-measure", "--fit", "--out", out).splitlines()
    assert [line.split(":")[0] for line in fitted] == ["BLOCK_COSTS", "JUNCTION_COSTS"] * 2


def test_phases_of_calls(folder):
    out = folder / "calls.md"
    invoke(calls.main, *kept(folder, "tiny"), "--graphs", "tiny", "--roots", 20, "--rounds", 1, "--out", out)
    lines = [line for line in out.read_text().splitlines() if line.startswith("| tiny | 40 | 80 |")]
    assert len(lines) == 8
    for line in lines:
        total, *parts = map(float, line.strip("| ").split(" | ")[8:])
        assert sum(parts) <= total * 1.05


def test_groups_beside_networkx(folder):
    """Both programs agree, and NetworkX may be given fewer groups."""
    options = ["--network", "tiny", "--small", "30", "--groups", "3", "--their-groups", "2", "--rounds", "1", "--out"]
    invoke(nx_groups.main, *kept(folder, "tiny"), *options, folder / "out.md")
    assert "| 3 groups of 2; NetworkX 2 of them |" in (folder / "out.md").read_text()


def test_communities_beside_others(tmp_path):
    pytest.importorskip("igraph")
    out = tmp_path / "out.md"
    for part in ("karate", "none"):
        options = ("--networks", "karate", "--part", part, "--more", 1, "--out", out)
        invoke(communities.main, "--data", graphs.shipped_data(), *options)
    assert "| karate | 5: 0.4013 | 5: 0.4013 | 5: 0.4013 |" in out.read_text()


def test_cutoffs_beside_igraph(tmp_path):
    """A cutoff reaches as many as it is to, and a run ends in a table, once the scores agree."""
    pytest.importorskip("igraph")
    mmwrite(tmp_path / "grid.mtx", generators.holed_grid(20, 25, 1))
    A = graphs.read_streets(tmp_path / "grid.mtx")
    reached = lagbc.reach(A, weighted=True, cutoff=cutoff.cutoffs_that_reach(A, (5, 20))[1])
    assert reached.mean() == pytest.approx(20, rel=0.1)
    head, *_, said = cutoff.measure("grid", A, (5, 20), 1)
    assert head.startswith("| grid | ")
    assert "grid: 2 cutoffs take" in said


def test_processes_and_first_calls(tmp_path, monkeypatch):
    karate = "`lagbc bc example:karate`"
    monkeypatch.setattr(first_call, "PROCESSES", {"nothing": ["-c", "pass"], karate: first_call.PROCESSES[karate]})
    monkeypatch.setattr(first_call, "CALLS", {"hops": first_call.CALLS["hops"]})
    page = tmp_path / "page.md"
    page.write_text("former head\nInstalled with [plot]: 1 MB.\n")
    given = ("--rounds", 1, "--longest", 2, "--former", machine.ROOT, "--out", page)
    invoke(first_call.main, *given)
    lines = page.read_text().splitlines()
    rows = [line.split(" | ") for line in lines if line.startswith(("| nothing", f"| {karate}", "| hops", "| `"))]
    assert [len(row) for row in rows] == [5, 5, 7, 2, 2]
    assert lines[-1] == "Installed with [plot]: 1 MB."
    with pytest.raises(SystemExit, match="ZeroDivisionError"):
        first_call.run(["-c", "1 / 0"], machine.ROOT)
    done = CliRunner().invoke(first_call.main, ["--former", str(tmp_path), "--out", str(page)])
    assert f"not the lagbc of {tmp_path}" in " ".join(done.output.replace("│", " ").split())


# Notes how many kernels are kept, and keeps one more a process.
CUPY = """
import os, pathlib, types
kernels = pathlib.Path(os.environ["CUPY_CACHE_DIR"])
kernels.mkdir(exist_ok=True)
log = open({log!r}, "a")
print(len(list(kernels.iterdir())), file=log)
(kernels / str(os.getpid())).touch()
__version__ = "99"
zeros = range
device = types.SimpleNamespace(synchronize=lambda: None)
runtime = types.SimpleNamespace(getDeviceProperties=lambda _: {{"name": b"a stand-in"}})
cuda = types.SimpleNamespace(Device=lambda: device, runtime=runtime)
"""


def test_first_calls_on_a_gpu(tmp_path, monkeypatch):
    """A stand-in for CuPy tells that one of two processes begins without kernels, and the other with those of one."""
    (tmp_path / "cupy.py").write_text(CUPY.format(log=str(tmp_path / "log")))
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    monkeypatch.setattr(first_call, "verify", lambda checkout: None)
    call = "print(lagbc.bc(A, k=2, rng=1, device='cpu').shape, file=cupy.log)"
    monkeypatch.setattr(first_call, "ON_GPU", {"ten": (lambda: csr_array(np.eye(10, k=1)), call)})
    page = tmp_path / "page.md"
    page.write_text("former head\n\n## Notes\n\nThese stay.\n")
    invoke(first_call.main, "--device", "cuda", "--rounds", 1, "--out", page)
    calls = ["(10,)"] * 2
    assert (tmp_path / "log").read_text().split() == ["0", *calls, "1", *calls] * 2, "in the round before, too"
    text = page.read_text()
    assert "on a stand-in, CuPy 99" in text
    assert text.endswith("|\n\n## Notes\n\nThese stay.\n")
    assert "former head" not in text
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ten")]
    assert [row[1:3] for row in rows] == [["this", "none"], ["this", "all"]]
    for row in rows:
        whole, imports, context, first, _ = (float(cell.removesuffix(" |")) for cell in row[3:])
        assert whole == pytest.approx(imports + context + first, abs=0.021)


# Constants


def predicted(device, cases):
    """Lines of a file, of times that today's constants predict; two networks have some numbers of roots each."""
    rng = np.random.default_rng(1)
    made = []
    for number in range(cases):
        counted = dict(zip(choose.TERMS, [1.0, *rng.lognormal(6, 3, len(choose.TERMS) - 1)], strict=True))
        common = {"graph": str(number % 2), "n": 5000, "roots": "random", "terms": counted}
        common |= {"count": 64 + number // 2, "device": device, "threads": 1, "commit": "0", "hardware": "none"}
        for (name, on, weighted), constants in tuning.COSTS.items():
            if on == device:
                seconds = 1e-3 * sum(constants[term] * counted[term] for term in constants)
                made.append(common | {"weighted": weighted, "competitor": name, "seconds": seconds})
    return made


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_fit_chooses_as_the_constants_that_made_the_times(device):
    key = choice.Key(device, False, 1)
    these = choice.measured(predicted(device, 30), key)
    constants = choice.fit_few(these)
    assert ((constants > 0).sum(1) <= choice.MOST_TERMS[device]).all()
    assert choice.regret(these, constants)[1].max() < 1.1
    assert choice.regret(these, choice.today(these, key))[1].max() == 1


def test_choices_are_measured_and_fitted(tmp_path):
    out = tmp_path / "choice.jsonl"
    out.write_text("".join(f"{json.dumps(row)}\n" for row in predicted("cpu", 6)))
    assert '    ("dijkstra", "cpu", True): {"run": ' in invoke(choice.main, "--no-measure", "--fit", "--out", out)
    assert "| cpu, hops | 6 | 1.000 |" in out.with_suffix(".md").read_text()
    for weighted in (False, True):
        case = choice.cases("cpu", 2, weighted=weighted)[-1]
        found = list(choice.measure(Network(graphs.table()["karate"], weighted=weighted), case, 0.0))
        assert [row["competitor"] for row in found] == [row.name for row in choice.candidates(case)]


TINY = tune.Constant("BATCHED_PULL_SHARE", (0.5, 1.0), graphs=("karate",), roots=8)


def test_every_constant_is_measured_or_named():
    names = {name for name in vars(tuning) if name.isupper()}
    assert {constant.home[0] for constant in tune.CONSTANTS} | tune.NOT_MEASURED == names
    kernels = {constant.home[1] for constant in tune.CONSTANTS if constant.home[0] == "RESIDENT"}
    assert kernels == set(tuning.RESIDENT)


@pytest.mark.parametrize("constant", tune.CONSTANTS, ids=lambda constant: constant.name)
def test_constants_are_set_for_a_while(constant):
    today = constant.today
    for value in constant.values:
        with constant.set_to(value):
            assert constant.today == value
    assert constant.today == today
    assert set(constant.graphs) <= set(tune.table())


def test_a_constant_that_changes_scores_is_not_timed(monkeypatch):
    monkeypatch.setattr(tune, "CONSTANTS", (TINY, replace(TINY, name="BATCHED_WIDTH", longest=10)))
    said = invoke(tune.main, "--seconds", 0, "--only", "BATCHED_PULL_SHARE")
    assert said.count("| BATCHED_PULL_SHARE | karate | ") == 1
    depends = type("Depends", (), {"centralities": lambda *_, **__: {"bc": np.full(3, tuning.BATCHED_PULL_SHARE)}})
    monkeypatch.setattr(tune, "lagbc", depends)
    with pytest.raises(AssertionError, match=r"BATCHED_PULL_SHARE = 0\.5 on karate"):
        tune.measure(TINY, "karate", 0)


def test_networkx_with_lagbc_in_its_priority(tmp_path, monkeypatch):
    """Errors agree, and the table says who ran a call; how long calls take is not asserted."""
    monkeypatch.setattr(nx_priority, "MOST", float("inf"))
    monkeypatch.setattr(nx_priority, "ROUNDS", 2)
    out = tmp_path / "out.md"
    result = CliRunner().invoke(nx_priority.main, ["--most-nodes", "34", "--out", str(out)])
    assert result.exit_code == 0, result.output
    rows = [line.split(" | ") for line in out.read_text().splitlines() if line.startswith("| ")][1:]
    ran = {(row[0][2:], row[3]): row[-1] for row in rows}
    assert nx_priority.measure(nx.cycle_graph(80), "diameter", (), {})[-1] == "lagbc", "of the eccentricities"
    assert ran["karate", "center, lengths"] == "NetworkX |"
    monkeypatch.setattr(nx_priority, "MOST", -float("inf"))
    assert CliRunner().invoke(nx_priority.main, ["--most-nodes", "3", "--out", str(out)]).exit_code == 1


@pytest.mark.parametrize("score", ["closeness", "harmonic"])
def test_the_highest_beside_networkit(tmp_path, score):
    """The two agree on edges one way, into which distances lead; ties may fall otherwise."""
    pytest.importorskip("networkit", reason="the benchmark beside NetworKit needs it: pip install networkit")
    from benchmarks import top_closeness

    mmwrite(tmp_path / "a.mtx", tril(generators.barabasi_albert(60, 2, 1)))
    _, ours = top_closeness.by_lagbc(tmp_path / "a.mtx", score)
    for bounds in (True, False):
        _, theirs = top_closeness.by_networkit(tmp_path / "a.mtx", score, bounds)
        assert len({*ours} & {*theirs}) >= 9


def test_the_highest_estimates_beside_kadabra(tmp_path, monkeypatch):
    """A stand-in for KADABRA reports one of the two highest; rows of other networks and sections stay."""
    exact = lagbc.bc(lagbc.read_graph("example:karate"), normalized=True)
    two = np.argsort(-exact)[[0, 5]]
    run = SimpleNamespace(
        topkNodesList=lambda: two.tolist(),
        topkScoresList=lambda: 2 * exact[two] * 32 / 34,  # of pairs with ends, each both ways
        getNumberOfIterations=lambda: 77,
    )
    monkeypatch.setattr(estimates, "kadabra", lambda *arguments, k: (1.0, 1.0, run))
    out = tmp_path / "page.md"
    out.write_text("\n## Sums\n\nStay.\n\n## The k highest\n\n| jazz | 1 | 1 | 0.1 | 5 | stays |\n")
    given = f"--data {graphs.shipped_data()} --parts ranks --networks karate --errors 0.1 --highest 2 --out {out}"
    invoke(estimates.main, *given.split())
    page = out.read_text()
    assert "## Sums\n\nStay." in page
    assert "| jazz | 1 | 1 | 0.1 | 5 | stays |" in page
    (row,) = (line.split(" | ") for line in page.splitlines() if line.startswith("| karate"))
    assert row[1:6] == ["34", "78", "0.1", "2", "1"]
    assert row[8:13] == ["34, all roots", "77 paths", "2", "1", "0"]
    assert float(row[13]) < 1e-12


def test_streets_beside_cityseer(tmp_path):
    """The two agree, or a run ends in an error, and a row says how many threads they took."""
    pytest.importorskip("cityseer", reason="the benchmark beside cityseer needs it: pip install cityseer")
    from benchmarks import cityseer

    mmwrite(tmp_path / "grid.mtx", generators.holed_grid(12, 15, 1))
    row, said = cityseer.measure(tmp_path / "grid.mtx", 1, 1)
    assert row.startswith(f"| grid | {graphs.read(tmp_path / 'grid.mtx').shape[0]} | ")
    assert said.startswith("betweenness is ")
    theirs = {400: np.array([1.0, 2]), 800: np.array([2.0, 4]), 1600: np.array([4.0, 8])}
    assert cityseer.difference(np.array([[1.0, 2, 4], [2, 4, 6]]), theirs) == 0.25
    row, said = cityseer.measure_angles(1, 1)
    assert row.startswith("| minnesota | 3299 | 1 | ")
    assert said.startswith("sums of angles are ")
