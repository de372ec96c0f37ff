"""The survey of networks: its roots, its rows and what is told from them; whole calls, split into phases."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.io import mmwrite
from scipy.sparse import csr_array

from benchmarks import calls, graphs, survey, survey_report
from benchmarks.generators import erdos_renyi, holed_grid
from lagbc.calls import PHASES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A network that is directed."""
    mmwrite(tmp_path / "tiny.mtx", erdos_renyi(90, 3, seed=1).astype(np.int8))
    return tmp_path


def network(make: Any, *, weighted: bool = False) -> survey.Network:
    return survey.Network(graphs.NamedGraph("g", "file", make), weighted=weighted)


def test_near_roots_are_blocks_of_the_order_of_a_run_from_all() -> None:
    grid = network(partial(holed_grid, 30, 40))
    roots = grid.roots(survey.Case(False, "near", 256, "cpu", 1))
    assert len(np.unique(roots)) == 256
    place = {vertex: i for i, vertex in enumerate(grid.order.tolist())}
    places = np.array([place[root] for root in roots.tolist()]).reshape(4, 64)
    assert (np.diff(places, axis=1) == 1).all()
    assert (places[:, 0] % 64 == 0).all()
    assert places[-1, 0] > len(grid.order) // 2
    everything = grid.roots(survey.Case(False, "near", 2048, "cpu", 1))
    np.testing.assert_array_equal(everything, grid.order)


def test_random_roots_have_out_edges_and_are_the_same_with_lengths() -> None:
    hops, lengths = (network(partial(erdos_renyi, 200, 1, 1), weighted=weighted) for weighted in (False, True))
    case = survey.Case(False, "random", 64, "cpu", 1)
    roots = hops.roots(case)
    assert len(np.unique(roots)) == 64
    assert hops.graph.out_degrees[roots].all()
    np.testing.assert_array_equal(roots, lengths.roots(case))
    assert set(lengths.matrix.data.tolist()) == set(range(1, 11))


def test_from_a_folder_to_a_report(folder: Path) -> None:
    out = folder / "survey.jsonl"
    options = f"--data {folder} --threads 1 --seconds 0 --methods auto,batched --out {out}".split()
    result = CliRunner().invoke(survey.main, [*options, "--only", "tiny", "--prediction"])
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len({survey.key(row) for row in rows}) == len(rows) == 2 * (2 * 3 + 1)
    assert {row["status"] for row in rows} == {"ok"}
    assert all(row["timed"] <= 90 and row["seconds"] > 0 for row in rows)
    page = out.with_suffix(".md").read_text()
    assert "| hops, 256 random roots, 1 thread | tiny | 90 |" in page
    assert "Within a factor of two" in (folder / "survey-prediction.md").read_text()
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")

    reduced = CliRunner().invoke(survey.main, [*options, "--reduce"])
    assert reduced.exit_code == 0, reduced.output
    added = [json.loads(line) for line in out.read_text().splitlines()][len(rows) :]
    assert [(row["competitor"], row["roots"], row["weighted"]) for row in added] == [
        ("reduced", "near", False),
        ("reduced", "near", True),
    ]
    assert all(row["seconds"] == row["planning"] + row["sweeping"] and row["timed"] <= 90 for row in added)
    rows += added

    again = CliRunner().invoke(survey.main, [*options, "--prediction", "--reduce"])
    assert again.exit_code == 0, again.output
    assert len(out.read_text().splitlines()) == len(rows), "what is there is not measured again"


def test_igraph_is_timed_on_many_roots_however_long_they_take() -> None:
    grid, case = network(partial(holed_grid, 20, 20)), survey.Case(False, "near", 2048, "cpu", 1)
    [found] = survey.measure(grid, case, ["igraph"], 0.0, 1.0)
    assert found["timed"] == 256 < len(grid.roots(case))
    assert found["rounds"] == 1


def test_what_takes_too_long_is_skipped(folder: Path) -> None:
    out = folder / "survey.jsonl"
    options = f"--data {folder} --threads 1 --limit 0 --methods batched --choice --out {out}".split()
    assert CliRunner().invoke(survey.main, options).exit_code == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {(row["roots"], row["count"]) for row in rows} == {
        ("near", 2048),
        ("random", 64),
        ("random", 256),
        ("random", 1024),
    }
    assert all(row["status"].startswith("skipped: ") and row["seconds"] is None for row in rows)


def test_unknown_networks_are_named(folder: Path) -> None:
    result = CliRunner().invoke(survey.main, ["--data", str(folder), "--only", "atlantis"], terminal_width=200)
    assert result.exit_code == 2
    assert "no network atlantis; there are tiny" in result.output


def row(network: str, competitor: str, per_root: float, n: int = 2000, **other: Any) -> survey.Row:
    case = {"weighted": False, "device": "cpu", "threads": 1, "roots": "near", "count": 2048, "chose": "batched"}
    timed = {"status": "ok", "seconds": 10 * per_root, "timed": 10, "commit": "c"}
    return {"graph": network, "n": n, "competitor": competitor} | case | timed | other


def test_ratios_to_igraph_are_by_the_root() -> None:
    rows = [row("a", "igraph", 6.0, timed=20, seconds=120.0), row("a", "auto", 2.0), row("a", "batched", 3.0)]
    rows += [row("b", "igraph", 6.0), row("b", "auto", 0.5), row("b", "batched", 0.4)]
    rows += [
        row("small", "igraph", 6.0, n=999),
        row("small", "auto", 100.0, n=999),
        row("small", "batched", 1.0, n=999),
    ]
    [(cell, ratios)] = survey_report.against_igraph(rows).items()
    assert cell.title == "hops, 2,048 near roots, 1 thread"
    assert ratios[0].others == pytest.approx({"auto": 3, "batched": 2, "best": 2})
    assert survey_report.summary(ratios, "auto") == "| 2 | 6.00 | 0 | a 3.00, b 12.00 |"
    assert survey_report.summary(ratios, "batched") == "| 2 | 5.48 | 0 | a 2.00, b 15.00 |"
    assert survey_report.summary(ratios, "dijkstra") == "| 0 | - | - | - |"


def test_reduced_runs_are_no_method() -> None:
    rows = [row("a", "igraph", 6.0), row("a", "reduced", 1.0), row("a", "auto", 3.0), row("a", "batched", 3.0)]
    [(_, [ratio])] = survey_report.against_igraph(rows).items()
    assert ratio.value == pytest.approx(2)
    assert ratio.others == pytest.approx({"auto": 2, "batched": 2, "best": 2, "reduced": 6})
    assert not survey_report.of_choice(rows)


def test_all_threads_are_compared_with_igraph_on_one() -> None:
    rows = [row("a", "igraph", 6.0), row("a", "batched", 1.5, threads=2)]
    [(cell, ratios)] = survey_report.against_igraph(rows).items()
    assert (cell.threads, ratios[0].value) == (2, pytest.approx(4))


def test_the_choice_is_compared_with_the_best() -> None:
    rows = [row("a", "batched", 3.0), row("a", "work-efficient", 2.0), row("a", "auto", 9.0)]
    rows += [row("b", "batched", 1.0), row("b", "work-efficient", 2.0), row("c", "batched", 1.0)]
    [(_, ratios)] = survey_report.of_choice(rows).items()
    assert [(ratio.network, ratio.value) for ratio in ratios] == [("a", pytest.approx(1.5)), ("b", 1)]
    page = "\n".join(survey_report.choice_page({survey_report.Cell(False, "cpu", 1, "near", 2048): ratios}))
    assert "| 2 | 1.25 | a 1.50 | 1 | 0 | 0 | 1 | 0 |" in page


def test_calls_are_split_into_phases(tmp_path: Path) -> None:
    A = csr_array(erdos_renyi(60, 3, seed=1))
    mmwrite(tmp_path / "tiny.mtx", A.astype(np.int8))
    out = tmp_path / "calls.md"
    options = f"--data {tmp_path} --graphs tiny --roots 20 --rounds 1 --out {out}".split()
    result = CliRunner().invoke(calls.main, options)
    assert result.exit_code == 0, result.output
    lines = [line for line in out.read_text().splitlines() if line.startswith("| tiny | 60 | 180 |")]
    assert len(lines) == 4
    for line in lines:
        total, *parts = map(float, line.strip("| ").split(" | ")[7:])
        assert len(parts) == len(PHASES)
        assert sum(parts) <= total * 1.05
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
