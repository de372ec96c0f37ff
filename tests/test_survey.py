"""The survey of networks: its roots, its rows and what is told from them; whole calls, split into phases."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.io import mmwrite
from scipy.sparse import csr_array

from benchmarks import calls, survey
from benchmarks.generators import erdos_renyi
from lagbc.calls import PHASES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A network that is directed."""
    mmwrite(tmp_path / "tiny.mtx", erdos_renyi(90, 3, seed=1).astype(np.int8))
    return tmp_path


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
