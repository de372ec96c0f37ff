"""Sums of squares of single roots on a GPU, in every schedule, against the CPU; and estimates made of them."""

import numpy as np
import pytest
import scipy.sparse as sp
from batches import by_the_cpu
from gpu_schedules import NAMES
from strategies import diamonds, grid, scale_free, with_lengths
from swept import summed

import lagbc
from lagbc.graph.csr import as_numpy
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan

ASKED = frozenset({"dependency", "dependency_squares"})
OF_EDGES = frozenset({"edges", "edges_squares"})
DISTANCES = frozenset({"distance", "inverse", "distance_squares", "inverse_squares"})


def on_gpu(schedule, cupy, A, roots, sums, **weights):
    found = schedule.summed(cupy, *schedule.prepared(A, sums=sums, **weights), roots)
    return {name: as_numpy(array).sum(axis=0) for name, array in found}


def often(n):
    return {"root_weights": np.arange(n) % 3 + 1.0, "omega": np.arange(n) % 4 + 1.0}


def merged(n):
    return {"class_sizes": np.arange(n) % 2 + 1.0}


GIVEN = {
    "paths that count often": (ASKED, often),
    "paths of members": (ASKED, merged),
    "paths of edges": (OF_EDGES, often),
    "distances": (DISTANCES, lambda n: {}),
    "all": (ASKED | OF_EDGES | DISTANCES, lambda n: {}),
}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("name", NAMES)
def test_squares_are_those_of_the_cpu(schedule, cupy, name, given):
    """Of two groups."""
    A, (sums, weights) = schedule.graphs[name], GIVEN[given]
    n = A.shape[0]
    roots = np.random.default_rng(1).permutation(n)[: min(n, 300)]
    ours = on_gpu(schedule, cupy, A, roots, sums, **weights(n))
    theirs = by_the_cpu(A, sums, weighted=schedule.weighted, roots=roots, **weights(n))
    for name, array in ours.items():
        np.testing.assert_allclose(array, getattr(theirs, name), rtol=1e-11, atol=1e-11, err_msg=name)


def test_squares_of_many_paths(schedule, cupy):
    """8^175 paths: the square of their number is beyond a double, that of a dependency is not."""
    A = with_lengths(diamonds(175, 8), [1]) if schedule.weighted else diamonds(175, 8)
    roots = np.array([0, A.shape[0] // 2])
    ours = on_gpu(schedule, cupy, A, roots, OF_EDGES)
    theirs = by_the_cpu(A, OF_EDGES, weighted=schedule.weighted, roots=roots)
    assert np.isfinite(ours["edges_squares"]).all()
    np.testing.assert_allclose(ours["edges_squares"], theirs.edges_squares, rtol=1e-11)


@pytest.mark.parametrize(("sum_asked", "beside"), [("dependency", ASKED), ("edges", OF_EDGES)])
@pytest.mark.parametrize("name", NAMES)
def test_scores_beside_squares(schedule, cupy, name, sum_asked, beside):
    """Those of kernels of their own, which round products otherwise in places."""
    A = schedule.graphs[name]
    roots = np.arange(min(A.shape[0], 300))
    beside = on_gpu(schedule, cupy, A, roots, beside)[sum_asked]
    alone = on_gpu(schedule, cupy, A, roots, frozenset({sum_asked}))[sum_asked]
    np.testing.assert_allclose(beside, alone, rtol=1e-13, atol=0)


TRAVERSALS = [row for row in lagbc.METHODS if row.device == "cuda" and row.formulation == "traversal"]


@pytest.mark.parametrize("counts", ["once", "often"])
@pytest.mark.parametrize("row", TRAVERSALS, ids=lambda row: f"{row.name}-{'lengths' if row.weighted else 'hops'}")
def test_squares_of_traversals_are_those_of_the_cpu(cupy, row, counts):
    A = with_lengths(scale_free(300, 900, seed=2), [1, 2, 3])
    graph = as_graph(A, directed=True, weighted=row.weighted)
    roots = np.random.default_rng(1).permutation(graph.n)[:100]
    given = often(graph.n) if counts == "often" else {}
    ours = summed(graph, roots, row, SweepPlan(batch=64, sums=ASKED, **given))
    theirs = by_the_cpu(A, ASKED, weighted=row.weighted, roots=roots, **given)
    for name, array in ours:
        np.testing.assert_allclose(array, getattr(theirs, name), rtol=1e-11, atol=1e-11, err_msg=name)


# Estimates

KINDS = {
    "hops": ("bc", scale_free(3000, 20000, seed=2), {"directed": False}),
    "directed": ("bc", scale_free(3000, 20000, seed=2), {"directed": True}),
    "mesh": ("bc", grid(50, 60), {"directed": False, "reduce": "none"}),
    "folded": ("bc", scale_free(3000, 6000, seed=4), {"directed": False, "reduce": "all"}),
    "harmonic": ("harmonic", scale_free(3000, 20000, seed=2), {"directed": True}),
    "closeness": ("closeness", grid(50, 60), {"directed": False}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_scores_lie_within_their_intervals(cupy, kind):
    name, A, how = KINDS[kind]
    normal = {"normalized": True} if name == "bc" else {}
    scores = getattr(lagbc, name)(A, device="cpu", **how, **normal)
    found = lagbc.estimate(A, name, rng=1, max_roots=1500, device="cuda", **how)
    assert not found.exact
    slack = 1e-9 * scores.max()
    assert ((found.lower <= scores + slack) & (scores <= found.upper + slack)).all()
    again = lagbc.estimate(A, name, rng=1, max_roots=1500, device="cuda", batch=512, **how)
    assert again.upper.tobytes() == found.upper.tobytes()


@pytest.mark.parametrize(
    ("kind", "goal"),
    [
        ("hops", {"error": 0.06}),
        ("hops", {"relative_error": 0.4, "top": 3, "tie": 0.05}),
        ("mesh", {"relative_error": 0.4}),
    ],
)
def test_it_stops_where_intervals_are_narrow_enough(cupy, kind, goal):
    """The sequence is on the device until then."""
    name, A, how = KINDS[kind]
    scores = lagbc.bc(A, device="cpu", normalized=True, **how)
    found = lagbc.estimate(A, name, rng=1, device="cuda", **goal, **how)
    assert "max_roots" not in found.reason
    assert isinstance(found.upper, np.ndarray)
    assert ((found.lower <= scores + 1e-9) & (scores <= found.upper + 1e-9)).all()


def test_a_checkpoint_goes_on(cupy, tmp_path):
    name, A, how = KINDS["folded"]
    given = {"rng": 1, "max_roots": 1500, "device": "cuda", "checkpoint": tmp_path / "rounds", **how}
    first = lagbc.estimate(A, name, **given)
    done = []
    again = lagbc.estimate(A, name, progress=done.append, **given)
    assert not done
    assert again.upper.tobytes() == first.upper.tobytes()


def test_a_cupy_matrix_has_cupy_scores(cupy):
    from cupyx.scipy import sparse

    A = scale_free(3000, 20000, seed=2)
    found = lagbc.estimate(sparse.csr_matrix(sp.csr_matrix(A)), directed=False, rng=1, max_roots=1500)
    assert isinstance(found.scores, cupy.ndarray)
    scores = lagbc.bc(A, directed=False, normalized=True)
    assert ((found.lower.get() <= scores + 1e-9) & (scores <= found.upper.get() + 1e-9)).all()


def test_roots_that_overflow_are_computed_into_their_round(cupy):
    A = diamonds(1100, 2)
    scores = lagbc.bc(A, directed=False, normalized=True, device="cpu")
    found = lagbc.estimate(A, directed=False, max_roots=300, rng=1, reduce="none", device="cuda")
    assert ((found.lower <= scores + 1e-9) & (scores <= found.upper + 1e-9)).all()


def test_edges(cupy, weighted):
    A = with_lengths(scale_free(1500, 6000, seed=2), [1, 2, 3])
    how = {"directed": False, "weighted": weighted}
    scores = lagbc.edge_bc(A, normalized=True, device="cpu", **how)
    found = lagbc.estimate(A, "edge_bc", max_roots=700, rng=1, device="cuda", **how)
    assert not found.exact
    assert ((found.lower.data <= scores.data + 1e-9) & (scores.data <= found.upper.data + 1e-9)).all()


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ({"sums": frozenset({"edges_squares"})}, "edges_squares: made beside 'edges'"),
        ({"sums": ASKED, "dtype": "float32"}, "dependency_squares: counted in float64, not in float32"),
    ],
)
def test_squares_that_are_not_made(schedule, cupy, plan, reason):
    with pytest.raises(ValueError, match=reason):
        schedule.prepared(schedule.graphs[NAMES[0]], **plan)
