"""The benchmark of `dijkstra`: its graphs have lengths as it says, and its tables show what was measured."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

from benchmarks import fan2017, generators


def measured(graph: str, variant: str, width: int, ms: float, status: str = "ok") -> fan2017.Row:
    machine = {"packages": {"numpy": "2", "scipy": "1"}, "python": "3", "commit": "abc"}
    return {
        **{"graph": graph, "kind": "low-degree", "n": 4, "nnz": 6, "mean_degree": 1.5, "max_degree": 3},
        **{"lengths": "random, 1..10", "roots": 2, "levels": 7, "variant": variant, "virtual_warp": width},
        **{"ms_per_root": ms, "gteps": 1 / ms, "status": status, "device": "a device", "date": "2000-01-01"},
        **{"cuda": 13, "cupy": "14", "machine": machine},
    }


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


def test_tables() -> None:
    rows = [measured("g", "node-parallel", 1, 8.0), measured("g", "node-parallel", 4, 6.0)]
    rows += [measured("g", "work-efficient", 1, 4.0), measured("g", "work-efficient", 8, 2.0)]
    rows += [measured("h", "work-efficient", 1, 4.0, "failed: no memory")]
    page = fan2017.markdown(rows, "g.png")
    assert "| 7 | 8.0000 | 4.0000 | 2.0 | 6.0000 (4) | 2.0000 (8) | 4.0 | 0.50 |" in page
    assert "| work-efficient | 4.0000 | - | **2.0000** | - | - |" in page
    assert "| node-parallel | 8.0000 | **6.0000** | - | - | - |" in page
    assert "- h, work-efficient 1: failed: no memory" in page
    assert "| h |" not in page


def test_figure() -> None:
    pytest.importorskip("matplotlib")
    rows = [measured(graph, variant, 4, 6.0) for graph in ("g", "h") for variant in fan2017.VARIANTS]
    panels = fan2017.figure(rows).axes
    assert [len(axes.lines) for axes in panels] == [2, 2]


def test_disagreement_sees_nan() -> None:
    assert fan2017.disagreement(np.array([np.nan, 9.0]), np.array([0.0, 9.0])) == np.inf


def test_unknown_graphs_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        fan2017.main(["--graphs", "atlantis"])
    assert "no graph atlantis; there are breast_coexpress" in capsys.readouterr().err
