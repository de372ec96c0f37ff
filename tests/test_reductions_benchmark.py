"""What reductions save: runs that are timed whole or in part, the work that is left, pages, and scores both ways."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.io import mmwrite
from scipy.sparse import csr_array, kron

import lagbc
from benchmarks import agreement_reductions, block_costs, planned, reductions, reductions_report
from benchmarks.blocks import necklace
from benchmarks.generators import erdos_renyi
from lagbc.graph.validate import as_graph

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
