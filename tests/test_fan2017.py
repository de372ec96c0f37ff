"""The benchmark of `dijkstra`: its graphs have lengths as it says, and its tables show what was measured."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

from benchmarks import fan2017, generators


def test_seeded_lengths_are_integers_and_alike_both_ways() -> None:
    pattern = generators.erdos_renyi(200, 6, seed=1)
    A = fan2017.with_lengths(pattern, directed=False)
    assert (fan2017.with_lengths(pattern, directed=False) != A).nnz == 0
    assert set(A.data) == set(range(1, fan2017.LONGEST + 1))
    assert ((A + A.T != 0) != pattern).nnz == 0
    assert A.nnz == pattern.nnz / 2


@pytest.mark.parametrize(
    ("values", "lengths"),
    [([2.0, 5.0, 3.0], "the file's, 2..5"), ([1.0, 1.0, 1.0], "random, 1..10"), ([2.0, -1.0, 3.0], "random, 1..10")],
)
def test_values_of_a_file_are_lengths_if_they_can_be(tmp_path: Path, values: list[float], lengths: str) -> None:
    mmwrite(tmp_path / "three.mtx", sp.coo_array((values, ([0, 1, 2], [1, 2, 0])), shape=(3, 3)))
    A, directed, told = fan2017.from_file(tmp_path / "three.mtx")
    assert directed
    assert told == lengths
    assert (A.data > 0).all()


def test_roots_have_out_edges() -> None:
    case = fan2017.Case("few", "low-degree", lambda: (sp.coo_array(([2.0], ([3], [1])), shape=(9, 9)), True, "two"))
    loaded = fan2017.load(case, 5)
    assert loaded.roots.tolist() == [3]
    assert not loaded.few[1].any()
    described = loaded.describe()
    assert (described["mean_degree"], described["max_degree"], described["roots"]) == (1, 1, 1)


def test_disagreement_sees_nan() -> None:
    assert fan2017.disagreement(np.array([np.nan, 9.0]), np.array([0.0, 9.0])) == np.inf


def test_unknown_graphs_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        fan2017.main(["--graphs", "atlantis"])
    assert "no graph atlantis; there are breast_coexpress" in capsys.readouterr().err
