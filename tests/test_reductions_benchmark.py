"""What reductions save: runs that are timed whole or in part, the work that is left, pages, and scores both ways."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.io import mmwrite
from scipy.sparse import block_diag, csr_array, kron

import lagbc
from benchmarks import agreement_reductions, block_costs, planned, reductions, reductions_report
from benchmarks.blocks import necklace
from benchmarks.generators import erdos_renyi
from lagbc import tuning
from lagbc.graph.validate import as_graph
from lagbc.reduce.blocks import SmallBlocks
from lagbc.reduce.pieces import Chains
from lagbc.run.bicomponents import _Groups

# A cycle with few chords, and a graph whose vertices are all there twice.
CHAINS = csr_array(necklace(2500, 2.25, seed=1) + necklace(2500, 2.25, seed=1).T).astype(bool)
TWINS = csr_array(kron(erdos_renyi(600, 8, seed=1), np.ones((2, 2)))).astype(bool)


def timed(A: csr_array, budget: float, threads: int = 1, **options: Any) -> planned.Timed:
    options |= {"device": "cpu", "threads": threads}
    return planned.time_run(lambda: as_graph(A, directed=False), options, time.process_time, budget)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("A", "word"), [(CHAINS, "junctions"), (TWINS, "classes of twins")])
def test_a_run_is_timed_whole_or_near_roots_of_its_parts(A: csr_array, word: str, threads: int) -> None:
    whole, some = timed(A, np.inf, threads), timed(A, 0.0, threads)
    assert word in str(whole.call.reduced)
    assert whole.sums is not None
    np.testing.assert_allclose(whole.sums.dependency / 2, lagbc.bc(A, directed=False, reduce="none"), rtol=1e-11)
    assert some.sums is None
    assert (some.roots, some.timed) == (whole.roots, 256 * threads)
    assert whole.timed == whole.roots < A.shape[0]
    assert min(whole.planning, whole.sweeping, some.planning, some.sweeping) > 0


def test_some_roots_are_scaled_to_all_and_small_blocks_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    A = csr_array(block_diag([CHAINS, TWINS, *(necklace(60, 3.0, seed) != 0 for seed in range(9))]))
    monkeypatch.setattr(tuning, "SLICE_WORK", 1)
    ticks = itertools.count()
    with (
        mock.patch.object(_Groups, "run", autospec=True, side_effect=_Groups.run) as groups,
        mock.patch.object(SmallBlocks, "add", autospec=True, side_effect=SmallBlocks.add) as slices,
    ):
        found = planned.time_run(
            lambda: as_graph(A, directed=False), {"device": "cpu", "threads": 1}, lambda: float(next(ticks)), 0.0
        )
    # The first one is timed before all are.
    assert [call.args[1] for call in slices.call_args_list] == [0, *range(9)]
    (chains, of_chains), (_, of_twins) = sorted(planned.parts_of(found.call), key=lambda part: part[1].work)
    assert isinstance(chains, Chains)
    assert sum(len(call.args[1]) for call in groups.call_args_list) == 1 + 64 + 256
    # Each stretch takes a second of this clock.
    assert found.sweeping == pytest.approx((of_chains.roots + of_twins.roots) / 256 + 1)
    assert timed(A, np.inf).timed == found.roots == of_chains.roots + of_twins.roots


def test_what_sweeps_the_same_is_timed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = timed(TWINS, 0.0, reduce="none")
    monkeypatch.setattr(planned, "time_call", lambda *_: None)

    def make() -> Any:
        return as_graph(TWINS, directed=False)

    options = {"device": "cpu", "threads": 1}
    again = planned.time_run(make, options | {"reduce": "none"}, time.process_time, 0.0, [first])
    assert (again.sweeping, again.call is first.call) == (first.sweeping, False)
    assert planned.time_run(make, options, time.process_time, 0.0, [first]) is None


def test_the_work_that_is_left() -> None:
    chains, twins = (reductions.work_left(as_graph(A, directed=False)) for A in (CHAINS, TWINS))
    assert (chains["count"], chains["large"]) == (1, 1)
    assert chains["left"]["all"] == chains["left"]["chains"] < 0.5
    assert twins["left"]["all"] == twins["left"]["twins"] < 0.3 < twins["left"]["chains"]
    tree = csr_array(([1, 1, 1], ([0, 1, 1], [1, 2, 3])), shape=(4, 4))
    assert reductions.work_left(as_graph(tree, directed=False))["left"] == dict.fromkeys(reductions_report.LEFT, 0)
    with reductions.only_blocks():
        assert timed(TWINS, 0.0).call.reduced.tree is None
    assert timed(TWINS, 0.0).call.reduced.tree is not None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One network with chains, and one that is directed."""
    mmwrite(tmp_path / "chains.mtx", CHAINS.astype(np.int8))
    mmwrite(tmp_path / "tiny.mtx", csr_array(np.triu(erdos_renyi(90, 3, seed=1).toarray(), -3)).astype(np.int8))
    return tmp_path


def test_what_blocks_are_predicted_to_cost(folder: Path) -> None:
    out = folder / "costs.jsonl"
    told = run(block_costs.main, "--data", folder, "--out", out, "--budget", 0, "--rounds", 1).splitlines()
    assert len(told) == 2, "the other network has no block with chains"
    table = out.with_suffix(".md").read_text().splitlines()[2:]
    assert table[2:] == told
    assert len({line.count("|") for line in table}) == 1
    for line, lengths in zip(told, ("hops", "1 to 10"), strict=True):
        name, kind, vertices, _, junctions, *figures = (cell.strip() for cell in line.strip("|").split("|"))
        assert (name, kind) == ("chains", lengths)
        assert int(junctions) < int(vertices.replace(",", "")) / 3
        assert min(map(float, figures)) > 0
    fitted = run(block_costs.main, "--no-measure", "--fit", "--out", out).splitlines()
    assert [line.split(":")[0] for line in fitted] == ["BLOCK_COSTS", "JUNCTION_COSTS"] * 2


def test_constants_of_costs_are_found_again() -> None:
    costs = ({"pair": 3.0, "level": 0.1, "most": 9.0, "pair_edge": 0.4}, {"pair": 8, "pair_edge": 2, "evaluation": 12})
    rows = []
    for n, depth, share, ratio in itertools.product((1000, 20000), (5, 40, 300), (0.1, 0.3, 0.8), (1.5, 3)):
        junctions, edges = int(n * share), int(n * share * ratio)
        work = {"junctions": junctions, "edges": edges, "far_columns": 0, "evaluations": int(n**2 * (1 - share))}
        whole = n * (n * min(3 + 0.1 * depth, 9) + 2 * n * ratio * 0.4)
        contracted = junctions * (junctions * 8 + 2 * edges * 2) + 12 * work["evaluations"]
        taken = {"as it is": whole / 1e9, "contracted": contracted / 1e9}
        row = {"weighted": False, "n": n, "nnz": 2 * n * ratio, "depth": depth, "work": work, "seconds": taken}
        rows.append(row)
    for found, expected in zip(block_costs.fit(rows, weighted=False), costs, strict=True):
        assert found == pytest.approx(expected, rel=0.01)


def run(main: Any, *arguments: object) -> str:
    found = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert found.exit_code == 0, found.output
    return found.output


def test_from_a_folder_to_a_report(folder: Path) -> None:
    out = folder / "out.jsonl"
    run(reductions.main, "--data", folder, "--out", out, "--former", Path(lagbc.__file__).parent.parent)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["graph"], row["directed"]) for row in rows] == [("chains", False), ("tiny", False)]
    assert all(row["difference"] < 1e-12 for row in rows)
    assert rows[0]["junctions"] > 100
    assert all(row["runs"]["former"]["sweeping"] > 0 for row in rows)
    run(reductions.main, "--data", folder, "--out", out, "--directed", "--budget", 0)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["graph"], row["directed"]) for row in rows[2:]] == [("tiny", True)], "what is there is not done again"
    assert rows[2]["difference"] is None
    page = out.with_suffix(".md").read_text()
    assert page.index("## Undirected") < page.index("| chains | 2,500 |") < page.index("## Directed")
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


def test_the_cells_of_a_page() -> None:
    ran = {"status": "ok", "planning": 1.0, "sweeping": 3.0, "swept": 100, "timed": 100}
    runs = {"plain": ran | {"sweeping": 39.0, "timed": 64}, "unreduced": ran | {"sweeping": 7.0}}
    runs |= {"blocks": {"status": "skipped: no memory"}, "all": ran}
    row = {"graph": "a", "n": 2000, "nnz": 6000, "directed": False, "count": 7, "classes": 0, "junctions": 1234}
    row |= {"left": {"blocks": 0.5, "twins": 0.5, "chains": 0.25, "all": 0.25}, "runs": runs, "difference": 2e-15}
    cells = ["a", "2,000", "3,000", "7", "-", "1,234", "50", "50", "25", "25"]
    times, last = ["40*", "8", "-", "4"], ["10", "2", "1", "25 %", "2.0e-15"]
    assert reductions_report.cells(row) == [*cells, "-", *times, "-", *last]
    runs["former"] = ran | {"planning": 0.0, "sweeping": 60.0, "timed": 64, "commit": "0123"}
    assert reductions_report.cells(row) == [*cells, "60*", *times, "15", *last]
    assert reductions_report.summary([row, row | {"n": 999}])[1:] == [
        "former / reduced: 15.00 (1 networks, 15.00 to 15).",
        "plain / reduced: 10.00 (1 networks, 10.00 to 10).",
        "best unreduced / reduced: 2.00 (1 networks, 2.00 to 2).",
    ]


def test_scores_agree_with_and_without_reductions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, options = folder / "agreement.jsonl", ["--data", folder, "--out", folder / "agreement.jsonl"]
    run(agreement_reductions.main, *options, "--networks", "tiny")
    run(agreement_reductions.main, *options, "--most-work", 0)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["graph"] for row in rows] == ["tiny"] * 8 + ["chains"] * 4, "what is there is not done again"
    assert len({agreement_reductions.key(row) for row in rows}) == len(rows)
    assert all(row["largest_relative_difference"] < 1e-12 for row in rows)
    assert all(row["reduction"] for row in rows[:8])
    assert not any("junctions" in (row["reduction"] or "") for row in rows)

    monkeypatch.setattr(agreement_reductions, "largest_difference", lambda *_: 1.0)
    other = ["--data", str(folder), "--out", str(folder / "other.jsonl")]
    found = CliRunner().invoke(agreement_reductions.main, other)
    assert found.exit_code == 1
    assert "12 differ by more than 1e-12" in found.output


def test_largest_differences_are_relative_to_the_largest_score() -> None:
    expected = np.array([0.0, 4.0, 8.0])
    assert reductions.largest_difference(expected + np.array([0, -2, 1]), expected) == 0.25
    assert reductions.largest_difference(np.zeros(2), np.zeros(2)) == 0
