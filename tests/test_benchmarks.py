"""The benchmarks' graphs are what they are called, the peers keep one convention, and a run ends in a report."""

from __future__ import annotations

import json
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner
from scipy.io import mmwrite
from scipy.sparse import coo_array, csr_array, tril
from scipy.sparse.csgraph import connected_components

import lagbc
from benchmarks import generators, graphs, machine, nx_groups, nx_priority, report, rivals, rivals_worker, run
from benchmarks.peers import PEERS, Competitor, competitor

GENERATED = {
    "rmat": lambda seed: generators.rmat(8, 8, seed),
    "delaunay": lambda seed: generators.delaunay(300, seed),
    "holed_grid": lambda seed: generators.holed_grid(12, 15, seed),
    "barabasi_albert": lambda seed: generators.barabasi_albert(200, 4, seed),
    "road_like": lambda seed: generators.road_like(300, seed),
    "erdos_renyi": lambda seed: generators.erdos_renyi(201, 6, seed),
}


def small_graph(directed: bool, degree: float = 2) -> csr_array:
    """Sparse, with isolated vertices and several components."""
    A = generators.erdos_renyi(40, degree, seed=3)
    if not directed:
        return A
    entries = A.tocoo()
    kept = (entries.row - entries.col) % 3 != 1  # never drops both directions
    return coo_array((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=A.shape).tocsr()


@pytest.mark.parametrize("make", GENERATED.values(), ids=GENERATED)
def test_generated_graphs_are_symmetric_patterns_without_loops(make: Any) -> None:
    A = make(1)
    assert isinstance(A, csr_array)
    assert A.dtype == bool
    assert A.data.all()
    assert A.indices.dtype == A.indptr.dtype == np.int32
    assert A.has_canonical_format
    assert graphs.is_symmetric(A)
    assert not A.diagonal().any()


@pytest.mark.parametrize("make", GENERATED.values(), ids=GENERATED)
def test_a_seed_reproduces_its_graph_and_no_other(make: Any) -> None:
    assert (make(1) != make(1)).nnz == 0
    assert (make(1) != make(2)).nnz > 0


def test_graph_names_are_unique_and_files_are_read(tmp_path: Path) -> None:
    weighted = coo_array(([5.0, 0.0, 2.0], ([0, 1, 2], [1, 2, 2])), shape=(3, 3))
    mmwrite(tmp_path / "three.mtx", weighted)
    known = graphs.table(tmp_path)
    assert list(known) == [graph.name for graph in graphs.SYNTHETIC] + ["three"]
    A = known["three"].load()
    assert A.toarray().tolist() == [[False, True, False], [False, False, True], [False, False, False]]
    assert not graphs.is_symmetric(A)


@pytest.mark.parametrize("make", GENERATED.values(), ids=GENERATED)
def test_lengths_are_the_same_both_ways(make: Any) -> None:
    A, B = make(1), generators.with_lengths(make(1), seed=2, largest=7)
    assert B.dtype == np.float64
    assert B.has_canonical_format
    assert graphs.is_symmetric(B)
    np.testing.assert_array_equal(B.indptr, A.indptr)
    np.testing.assert_array_equal(B.indices, A.indices)
    assert set(B.data.tolist()) == set(range(1, 8))
    np.testing.assert_array_equal(B.data, generators.with_lengths(make(1), seed=2, largest=7).data)
    assert not np.array_equal(B.data, generators.with_lengths(make(1), seed=3, largest=7).data)


def test_graphs_with_lengths(tmp_path: Path) -> None:
    mmwrite(tmp_path / "three.mtx", coo_array(([5.0, 0.5, 2.0], ([0, 1, 2], [1, 2, 2])), shape=(3, 3)))
    known = graphs.table(tmp_path, weighted=True)
    assert list(known) == list(graphs.table(tmp_path))
    A = known["three"].load()
    assert A.toarray().tolist() == [[0, 5, 0], [0, 0, 0.5], [0, 0, 0]]
    assert graphs.is_weighted(A)
    assert not graphs.is_weighted(graphs.table(tmp_path)["three"].load())
    assert set(known["holed-grid-100"].load().data.tolist()) == set(range(1, 11))


def test_the_shipped_networks_are_known() -> None:
    karate = graphs.table()["karate"].load()
    assert karate.shape == (34, 34)
    assert karate.nnz == 2 * 78
    assert graphs.is_symmetric(karate)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("peer", PEERS.values(), ids=PEERS)
def test_peers_keep_lagbc_convention(peer: Competitor, sampled: bool, directed: bool, weighted: bool) -> None:
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


def test_unknown_competitors_are_named() -> None:
    with pytest.raises(ValueError, match=r"no competitor 'boost'; there are igraph, .*lagbc-METHOD"):
        competitor("boost")


def test_roots_have_edges_and_follow_the_seed() -> None:
    graph = graphs.NamedGraph("g", "scale-free", lambda: generators.rmat(8, 4, 1))
    degree = np.diff(graph.load().indptr)
    few, again, other = (np.asarray(run.make_case(graph, "20", seed).sources) for seed in (1, 1, 2))
    assert len(np.unique(few)) == 20
    assert degree[few].all()
    assert np.array_equal(few, again)
    assert not np.array_equal(few, other)
    for roots in ("all", "auto", "100000"):
        case = run.make_case(graph, roots, seed=1)
        assert case.sources is None
        assert case.roots == np.count_nonzero(degree)


def test_disagreement_sees_nan() -> None:
    y = np.array([0.0, 9.0])
    assert run.disagreement(y, y) == 0
    assert run.disagreement(np.array([0.0, 10.0]), y) == pytest.approx(0.1)
    assert run.disagreement(np.array([np.nan, 9.0]), y) == np.inf


def test_from_a_graph_to_a_report(tmp_path: Path) -> None:
    mmwrite(tmp_path / "tiny.mtx", tril(small_graph(directed=False)).astype(np.int8), symmetry="symmetric")
    out = tmp_path / "out.jsonl"
    options = f"--data {tmp_path} --graphs tiny --roots 5 --repeat 2 --threads 1 --out {out}".split()
    result = CliRunner().invoke(
        run.cli, ["cpu", *options, "--peers", "igraph,networkx,networkit,lagraph", "--methods", "batched"]
    )
    assert result.exit_code == 0, result.output
    rows = {row["competitor"]: row for row in map(json.loads, out.read_text().splitlines())}
    assert list(rows) == ["igraph", "networkx", "networkit", "lagraph", "lagbc-batched"]
    assert rows["networkit"]["status"].startswith("not applicable")
    assert rows["lagraph"]["status"] == ("ok" if find_spec("lagraph") else "absent: no module lagraph")
    for name in ("igraph", "networkx", "lagbc-batched"):
        row = rows[name]
        assert row["status"] == "ok"
        assert row["seconds"] == min(row["seconds_all"])
        assert len(row["seconds_all"]) == 2
        assert row["seconds_with_conversion"] >= row["seconds"]
        assert (row["graph"], row["n"], row["roots"], row["directed"]) == ("tiny", 40, 5, False)
        assert row["mteps"] == pytest.approx(row["nnz"] / 2 * 5 / row["seconds"] / 1e6)
        assert row["reference"] == (None if name == "igraph" else "igraph")
    page = out.with_suffix(".md").read_text()
    assert "| tiny | 40 | 80 | 5 | lagbc-batched" in page
    assert "- tiny, networkit, 1 threads: not applicable" in page
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


def test_from_a_graph_with_lengths_to_a_report(tmp_path: Path) -> None:
    mmwrite(tmp_path / "tiny.mtx", tril(generators.with_lengths(small_graph(directed=False))), symmetry="symmetric")
    out = tmp_path / "out.jsonl"
    options = f"--weighted --data {tmp_path} --graphs tiny --repeat 1 --threads 1 --out {out}".split()
    result = CliRunner().invoke(run.cli, ["cpu", *options, "--peers", "igraph,networkx,lagraph"])
    assert result.exit_code == 0, result.output
    rows = {row["competitor"]: row for row in map(json.loads, out.read_text().splitlines())}
    assert rows["lagraph"]["status"] == "not applicable: no lengths of edges"
    for name in ("igraph", "networkx", *(f"lagbc-{method}" for method in run.cpu_methods(weighted=True))):
        assert (rows[name]["status"], rows[name]["weighted"]) == ("ok", True)
    assert report.LENGTHS in out.with_suffix(".md").read_text()


def test_a_run_that_takes_too_long_is_given_up_and_the_others_go_on() -> None:
    case = run.make_case(graphs.NamedGraph("g", "file", partial(small_graph, False)), "all", seed=1)
    [stopped] = run.measure(case, [run.Entry("igraph", 1)], repeat=1, timeout=0.001)
    assert stopped["status"] == "stopped: no answer in 0.001 s"
    host = {"cpu": "c", "cores": 1, "system": "s", "python": "3", "packages": {}, "commit": None}
    row = stopped | {"device": "cpu", "date": "2000-01-01", "seed": 1, "machine": host}
    assert "- g, igraph, 1 threads: stopped" in report.markdown([row], "g.png")
    report.figure([row])


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--graphs", "atlantis", "no graph atlantis; there are rmat-12-16"),
        ("--roots", "some", "'some' is neither a positive number nor all nor auto"),
        ("--threads", "1,x", "'1,x' is not a comma-separated list of positive numbers"),
        ("--python", "graph-tool", "'graph-tool' is not of the form PEER=INTERPRETER"),
    ],
)
def test_wrong_options_are_refused_with_a_reason(option: str, value: str, message: str) -> None:
    result = CliRunner().invoke(run.cli, ["cpu", option, value], terminal_width=200)
    assert result.exit_code == 2
    assert message in result.output


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The largest component of a graph with lengths, as rivals get it."""
    folder = tmp_path_factory.mktemp("rivals")
    mmwrite(folder / "tiny.mtx", small_graph(directed=True, degree=3).astype(np.int8))
    return rivals.save(folder / "tiny.mtx", folder / "tiny.npz")


def cases_of_rivals() -> list[Any]:
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


def test_scores_that_take_long_are_predicted_from_some_roots(network, monkeypatch):
    monkeypatch.setattr(rivals_worker, "SAMPLE_SECONDS", 0.0)
    asked = []
    rival = rivals_worker.RIVALS["igraph"]._replace(score=lambda *arguments: asked.append(arguments[-1]))
    graph = rivals_worker.load(str(network))
    seconds, roots, _ = rivals_worker.measured(rival, graph, None, "bc", 0.0, None)
    assert asked == [graph.roots(1), graph.roots(4)], "two, of which the difference tells what a root takes"
    assert roots == 4
    assert seconds > 0
    rivals_worker.measured(rival, graph, None, "bc", 1e9, None)
    assert asked[3:] == [None], "all, as that is quick"
    lagbc_itself = rivals_worker.RIVALS["lagbc"]._replace(expect=lambda *_: 7.0)
    assert rivals_worker.measured(lagbc_itself, graph, None, "bc", 6.0, None) == (7.0, 0, None), "by its own plan"


def test_rivals_in_one_table(tmp_path, monkeypatch):
    """Each in a process of its own; one that is not there is listed, with the reason."""
    pytest.importorskip("igraph")
    monkeypatch.setattr(rivals, "STARTS", 1)
    monkeypatch.setattr(machine, "package_version", lambda name: None if name == "cityseer" else "1")
    out = tmp_path / "out.jsonl"
    options = f"--data {graphs.shipped_data()} --networks karate --threads 1 --rivals lagbc,igraph,cityseer --out {out}"
    result = CliRunner().invoke(rivals.main, options.split())
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    measured = [row for row in rows if "measure" in row]
    assert [row["rival"] for row in measured] == ["lagbc"] * 5 + ["igraph"] * 5
    assert all(row["status"] == "ok" and row["roots"] is None for row in measured)
    page = out.with_suffix(".md").read_text()
    assert "| cityseer | - | - | - | - | cityseer is not installed |" in page
    assert "| karate | 34 | 78 |" in page


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


def test_groups_beside_networkx(tmp_path):
    """Both programs agree, and NetworkX may be given fewer groups."""
    mmwrite(tmp_path / "tiny.mtx", small_graph(directed=False).astype(np.int8))
    out = tmp_path / "out.md"
    options = f"--data {tmp_path} --network tiny --small 30 --groups 3 --their-groups 2 --rounds 1 --out {out}".split()
    result = CliRunner().invoke(nx_groups.main, options)
    assert result.exit_code == 0, result.output
    assert "| 3 groups of 2 |" in out.read_text()
    assert "| 3 groups of 2; NetworkX 2 of them |" in out.read_text()


def test_communities_beside_others(tmp_path):
    pytest.importorskip("igraph")
    from benchmarks import communities

    out = tmp_path / "out.md"
    for part in ("karate", "none"):
        options = f"--data {graphs.shipped_data()} --networks karate --part {part} --more 1 --out {out}".split()
        result = CliRunner().invoke(communities.main, options)
        assert result.exit_code == 0, result.output
        text = out.read_text()
        assert "| karate | 34 | 78 | 78 |" in text or part == "karate"
        assert ("| karate | 5: 0.4013 | 5: 0.4013 | 5: 0.4013 |" in text) == (part == "none")


def test_cutoffs_beside_igraph(tmp_path):
    """A cutoff reaches as many as it is to, and a run ends in a table, once the scores agree."""
    pytest.importorskip("igraph")
    from benchmarks import cutoff

    mmwrite(tmp_path / "grid.mtx", generators.holed_grid(20, 25, 1))
    A = graphs.read_streets(tmp_path / "grid.mtx")
    assert lagbc.reach(A, weighted=True, cutoff=cutoff.cutoffs_that_reach(A, (5, 20))[1]).mean() == pytest.approx(
        20, rel=0.1
    )
    head, *_, said = cutoff.measure("grid", A, (5, 20), 1)
    assert head.startswith("| grid | ")
    assert "grid: 2 cutoffs take" in said
    part = cutoff.neighbourhood(A, 30)
    assert part.shape == (30, 30)
    assert connected_components(part)[0] == 1


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
