"""The command that measures tuned constants knows them all, sets them, and prints a line a graph."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import lagbc
from benchmarks import tune
from lagbc import tuning

TINY = tune.Constant("BATCHED_PULL_SHARE", (0.5, 1.0), graphs=("karate",), roots=8)


def test_every_constant_is_measured_or_named() -> None:
    names = {name for name in vars(tuning) if name.isupper()}
    assert {constant.home[0] for constant in tune.CONSTANTS} | tune.NOT_MEASURED == names
    kernels = {constant.home[1] for constant in tune.CONSTANTS if constant.home[0] == "RESIDENT"}
    assert kernels == set(tuning.RESIDENT)


@pytest.mark.parametrize("constant", tune.CONSTANTS, ids=lambda constant: constant.name)
def test_constants_are_set_for_a_while(constant: tune.Constant) -> None:
    today = constant.today
    for value in constant.values:
        with constant.set_to(value):
            assert constant.today == value
    assert constant.today == today
    assert set(constant.graphs) <= set(tune.table())


def test_a_line_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tune, "CONSTANTS", (TINY, replace(TINY, name="BATCHED_WIDTH", longest=10)))
    done = CliRunner().invoke(tune.main, ["--seconds", "0", "--only", "BATCHED_PULL_SHARE"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    today, number = f"{tuning.BATCHED_PULL_SHARE:g}", r"\d+\.\d+"
    (line,) = [line for line in done.output.splitlines() if line.startswith("| BATCHED")]
    expected = rf"\| BATCHED_PULL_SHARE \| karate \| {number} \| {today} \| 0\.5: {number}, 1: {number} \| (\S+) \|"
    found = re.fullmatch(expected, line)
    assert found, line
    assert found[1] in (today, "0.5", "1")


def test_unknown_constants_are_named() -> None:
    done = CliRunner().invoke(tune.main, ["--only", "NO_SUCH"])
    assert done.exit_code == 2
    assert "NO_SUCH" in done.output


def test_values_are_used_and_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that changes the scores is not timed."""
    monkeypatch.setattr(tune, "lagbc", _Depends)
    with pytest.raises(AssertionError, match=r"BATCHED_PULL_SHARE = 0\.5 on karate"):
        tune.measure(TINY, "karate", 0)


class _Depends:
    @staticmethod
    def centralities(graph: Any, which: Any, **options: Any) -> dict[str, Any]:
        return {"bc": np.full(3, tuning.BATCHED_PULL_SHARE)}


def test_lengths_are_taken() -> None:
    _, graph = tune.load("karate", 10)
    seconds, scores = tune.scores(replace(TINY, longest=10), "karate", 0.1)
    assert seconds >= 0
    sources = graph.order[13:21]
    np.testing.assert_array_equal(scores, lagbc.bc(graph, directed=False, weighted=True, sources=sources))
