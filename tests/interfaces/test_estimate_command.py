"""`lagbc estimate`."""

import csv

import numpy as np
from click.testing import CliRunner

import lagbc
from lagbc.interfaces.cli import main

GRAPH = "example:ca-GrQc"


def run(*arguments):
    return CliRunner().invoke(main, ["estimate", *arguments])


def test_rounds_are_told_and_the_highest_are_shown(tmp_path):
    out = tmp_path / "scores.csv"
    done = run(GRAPH, "--top", "3", "--tie", "0.03", "--error", "0.05", "--out", str(out), "--threads", "1")
    assert done.exit_code == 0, done.output
    found = lagbc.estimate(
        lagbc.read_graph(lagbc.example_path("ca-GrQc")).matrix,
        directed=False,
        top=3,
        tie=0.03,
        error=0.05,
        rng=0,
        threads=1,
    )
    assert "roots: width" in done.stderr
    assert found.reason in done.stdout
    with out.open() as file:
        rows = list(csv.DictReader(file))
    np.testing.assert_array_equal([float(row["upper"]) for row in rows], found.upper)


def test_wrong_options_end_with_one_line():
    done = run(GRAPH, "--confidence", "2")
    assert done.exit_code == 1
    assert "--confidence" in done.stderr
    assert run(GRAPH, "--which", "stress").exit_code == 1
