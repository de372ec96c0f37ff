"""The command that fits the constants of predicted costs finds those that made the times, and writes its page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import choice
from benchmarks.graphs import table
from benchmarks.survey import Network
from lagbc import tuning
from lagbc.planning import choose


def rows(device: str, cases: int = 30) -> list[choice.Row]:
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
def test_a_fit_chooses_as_the_constants_that_made_the_times(device: str) -> None:
    key = choice.Key(device, False, 1)
    these = choice.measured(rows(device), key)
    assert these.times.shape == (30, 2)
    constants = choice.fit_few(these)
    assert ((constants > 0).sum(1) <= choice.MOST_TERMS[device]).all()
    _, ratios = choice.regret(these, constants)
    assert ratios.max() < 1.1
    _, ratios = choice.regret(these, choice.today(these, key))
    assert ratios.max() == 1


def test_the_page_is_written(tmp_path: Path) -> None:
    out = tmp_path / "choice.jsonl"
    out.write_text("".join(f"{json.dumps(row)}\n" for row in rows("cpu", 6)))
    done = CliRunner().invoke(choice.main, ["--no-measure", "--fit", "--out", str(out)], catch_exceptions=False)
    assert '    ("dijkstra", "cpu", True): {"run": ' in done.output
    text = out.with_suffix(".md").read_text()
    assert "| cpu, hops | 6 | 1.000 |" in text
    assert "| 0 | 1.000, 1.00 | 1.000, 1.00 |" in text, "a network, in hops and with lengths"
    assert out.with_suffix(".png").exists()


@pytest.mark.parametrize("weighted", [False, True])
def test_a_case_is_measured(weighted: bool) -> None:
    network = Network(table()["karate"], weighted=weighted)
    before = tuning.GROUPED_ROOTS
    for case in choice.cases("cpu", 2, weighted=weighted)[-1:]:
        found = list(choice.measure(network, case, 0.0))
        assert [row["competitor"] for row in found] == [row.name for row in choice.candidates(case)]
        assert all(row["seconds"] > 0 and tuple(row["terms"]) == choose.TERMS for row in found)
    assert before == tuning.GROUPED_ROOTS
