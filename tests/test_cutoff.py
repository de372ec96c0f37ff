"""Cutoffs and decays: each centrality against the oracle and igraph, columns, weights, counts of any size, errors."""

import numpy as np
import pytest
from families import diamonds, grid, lengths_of, path, scale_free, with_lengths
from hypothesis import given
from hypothesis import strategies as st
from killed import Killed
from scipy.sparse.csgraph import shortest_path
from states import prepare
from strategies import adjacency, arrays, examples, expected, oracle, rational, remembered, weighted_graphs

import lagbc
from lagbc import reference, tuning
from lagbc.errors import InvalidValueError
from lagbc.graph.validate import as_graph
from lagbc.methods import table
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import LEAST, Bounds

ALL = ("bc", "edge_bc", "closeness", "harmonic", "eccentricity", "eccentricity_centrality", "stress", "reach")
CUTOFFS = st.lists(st.sampled_from([0, 0.5, 1, 2, 3, 5.5, 7, 12, np.inf]), min_size=1, max_size=3, unique=True)
DECAYS = st.lists(st.sampled_from([0, 0.1, 0.7]), min_size=1, unique=True)
TRAVERSALS = [row for row in table.METHODS if row.bounds and row.device == "cpu"]


@pytest.fixture(scope="module", params=[0.0, 1e9], ids=["root by root", "roots together"])
def together(request):
    """Let roots with lengths be summed one by one, or all of a block together, however large its ball is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "WITHIN_TOGETHER", request.param)
        yield request.param


def as_columns(scores, name):
    """Scores as an array with a column each; of edges dense."""
    return np.stack([matrix.toarray() for matrix in scores], axis=-1) if name == "edge_bc" else scores


def assert_columns(ours, name, A, directed, weighted, columns):
    """Hold columns against the oracle, each with its cutoff and more."""
    found = as_columns(ours, name)
    assert found.shape[-1] == len(columns)
    for j, options in enumerate(columns):
        theirs = expected(A, name, directed=directed, weighted=weighted, **options)
        np.testing.assert_allclose(found[..., j], theirs[name], rtol=1e-11, atol=1e-13, err_msg=f"{name}, {options}")


@given(weighted_graphs(), st.booleans(), st.booleans(), CUTOFFS)
def test_every_centrality_with_cutoffs(together, A, directed, weighted, cutoffs):
    ours = lagbc.centralities(A, ALL, directed=directed, weighted=weighted, cutoff=cutoffs)
    assert list(ours) == list(ALL)
    for name in ALL:
        assert_columns(ours[name], name, A, directed, weighted, [{"cutoff": cutoff} for cutoff in cutoffs])


@given(weighted_graphs(), st.booleans(), st.booleans(), CUTOFFS, DECAYS)
def test_decays_and_weights(together, A, directed, weighted, cutoffs, decays):
    """Demand-weighted betweenness and gravity, and reach beside them, which does not decay."""
    targets, sources = np.arange(A.shape[0]) % 3 + 0.5, np.arange(A.shape[0]) % 2 + 0.25
    weighed, how = {"target_weights": targets}, {"directed": directed, "weighted": weighted, "cutoff": cutoffs}
    paths = lagbc.centralities(A, ("bc", "edge_bc"), **how, decay=decays, source_weights=sources, **weighed)
    ours = paths | lagbc.centralities(A, ("reach", "gravity"), **how, decay=decays, **weighed)
    pairs = [weighed | {"cutoff": cutoff, "decay": decay} for cutoff in cutoffs for decay in decays]
    assert_columns(ours["gravity"], "gravity", A, directed, weighted, pairs)
    assert_columns(ours["reach"], "reach", A, directed, weighted, [weighed | {"cutoff": cutoff} for cutoff in cutoffs])
    pairs = [column | {"source_weights": sources} for column in pairs]
    assert_columns(ours["bc"], "bc", A, directed, weighted, pairs)
    for matrix, column in zip(ours["edge_bc"], pairs, strict=True):
        how = {"directed": directed, "weighted": weighted} | column
        often = how.pop("source_weights")
        theirs = sum(often[s] * expected(A, "edge_bc", sources=[s], **how)["edge_bc"] for s in range(A.shape[0]))
        np.testing.assert_allclose(matrix.toarray(), theirs, rtol=1e-11, atol=1e-13)


@examples(10)
@given(weighted_graphs(min_n=2), st.booleans(), st.booleans(), st.data())
def test_other_arguments(together, A, directed, weighted, data):
    n, cutoff = A.shape[0], data.draw(st.sampled_from([1, 2, 4, 9]))
    chosen = st.lists(st.integers(0, n - 1), unique=True, min_size=1)
    sources, targets = data.draw(chosen), data.draw(chosen)
    how = {"directed": directed, "weighted": weighted, "cutoff": cutoff}
    omega = np.isin(np.arange(n), targets).astype(float)
    for ours, theirs in (
        ({"sources": sources, "endpoints": True}, {"sources": sources, "endpoints": True}),
        ({"sources": sources, "targets": targets}, {"sources": sources, "target_weights": omega}),
        ({"rtol": 0.3 * weighted}, {"rtol": 0.3 * weighted}),
        ({"k": n, "rng": 1}, {}),
    ):
        scores = lagbc.bc(A, **ours, **how)
        np.testing.assert_allclose(scores, oracle(A, **theirs, **how), rtol=1e-11, atol=1e-13)
    reached = expected(A, "reach", target_weights=omega, **how)["reach"]
    np.testing.assert_allclose(lagbc.reach(A, targets=targets, **how), reached)


def test_igraph(together, directed, weighted):
    igraph = pytest.importorskip("igraph")
    A = with_lengths(scale_free(120, 360, seed=3), [1.0, 2.0, 3.0, 5.0])
    ends = sorted(edge for edge in lengths_of(A, directed=directed) if directed or edge[0] < edge[1])
    known = lengths_of(A, directed=directed)
    G = igraph.Graph(n=120, edges=ends, directed=directed)
    how = {"weights": [known[edge] for edge in ends] if weighted else None}
    names, cutoffs = ("bc", "edge_bc", "closeness", "harmonic"), [1, 2, 4, 7]
    ours = lagbc.centralities(A, names, directed=directed, weighted=weighted, cutoff=cutoffs, wf_improved=False)
    for j, cutoff in enumerate(cutoffs):
        theirs = {
            "bc": G.betweenness(cutoff=cutoff, **how),
            "closeness": np.nan_to_num(G.closeness(cutoff=cutoff, mode="in", **how)),
            "harmonic": np.nan_to_num(G.harmonic_centrality(cutoff=cutoff, mode="in", **how)) * 119,
        }
        for name, scores in theirs.items():
            np.testing.assert_allclose(ours[name][:, j], scores, rtol=1e-11, atol=1e-12, err_msg=name)
        matrix = ours["edge_bc"][j].tocsr()
        of_edges = G.edge_betweenness(cutoff=cutoff, **how)
        np.testing.assert_allclose([matrix[edge] for edge in ends], of_edges, rtol=1e-11, atol=1e-12)


# Columns


def test_a_column_each_or_none():
    A = path(6)
    assert lagbc.bc(A, cutoff=2).shape == lagbc.gravity(A, decay=0.5).shape == lagbc.reach(A).shape == (6,)
    assert lagbc.bc(A, cutoff=[2]).shape == lagbc.bc(A, decay=[0.5]).shape == (6, 1)
    assert lagbc.bc(A, cutoff=[1, 2, 3], decay=[0, 1]).shape == (6, 6)
    assert lagbc.bc(A, cutoff=np.array([1, 2, 3]), decay=1).shape == (6, 3)
    assert lagbc.edge_bc(A, cutoff=2).shape == (6, 6)
    assert [matrix.shape for matrix in lagbc.edge_bc(A, cutoff=[2, 3])] == [(6, 6)] * 2
    several = lagbc.centralities(A, ("reach", "gravity"), cutoff=2, decay=[0, 1])
    assert (several["reach"].shape, several["gravity"].shape) == ((6,), (6, 2))


def test_same_bits(together, weighted):
    A = with_lengths(scale_free(500, 1500, seed=4), [1.0, 2.5])
    names, how = (*ALL, "gravity"), {"weighted": weighted, "cutoff": [2, 5], "decay": [0.1, 0.2]}
    one = lagbc.centralities(A, names, threads=1, **how)
    for options in ({"threads": 3}, {"threads": 2, "batch": 16}):
        other = lagbc.centralities(A, names, **options, **how)
        for name in names:
            np.testing.assert_array_equal(as_columns(one[name], name), as_columns(other[name], name), err_msg=name)


# The cost is that of what is reached


@pytest.mark.parametrize("row", TRAVERSALS, ids=lambda row: row.name)
def test_nothing_beyond_the_radius_is_searched_or_kept(together, row):
    A = with_lengths(grid(60, 60), [1.0, 2.0])
    graph, module = as_graph(A, weighted=row.weighted), row.load()
    roots = np.array([0, 1, -1, 60])
    plan = SweepPlan(
        batch=64, sums=frozenset({"dependency", "reached"}), bounds=Bounds(np.array([3.0, 5.0]), np.zeros(1))
    )
    state = prepare(module, graph, plan)
    for _ in range(2):  # what a block leaves does not go into the next
        ((sums, overflowed),) = module.sum_within(state, [roots])
        count = np.unique(np.nonzero(sums.sums.reached)[0]).size
        dist = np.array([reference._search(*arrays(A, weighted=row.weighted), s)[3] for s in (0, 1, 60)])
        inside = ((dist >= 0) & (dist <= 5)).any(axis=0)
        assert sorted(sums.vertices) == np.flatnonzero(inside).tolist()
        assert count == len(sums.vertices)
        assert sums.roots.tolist() == [0, 1, 60]
        assert not overflowed.any()


def test_decays_end_a_search():
    """What counts less than 2**-500 counts nothing; sums that do not decay go on to their cutoff."""
    decay = -np.log(LEAST) / 20.5
    A = path(60)
    found = lagbc.centralities(A, ("reach", "gravity"), decay=decay)
    np.testing.assert_array_equal(found["reach"], np.full(60, 59))
    bounds = Bounds(np.array([np.inf]), np.array([decay]))
    assert bounds.radius(frozenset({"gravity"})) == pytest.approx(20.5)
    assert bounds.radius(frozenset({"gravity", "targets"})) == np.inf
    np.testing.assert_allclose(found["gravity"][0], sum(np.exp(-decay * d) for d in range(1, 21)), rtol=1e-12)


# Counts and weights of any size

edge_scores = remembered(reference.edge_scores)


@pytest.mark.filterwarnings("error")
def test_counts_that_float64_does_not_hold(together, weighted):
    """3**660 paths within the cutoff; with a decay the limit is lower, and also with tiny weights of targets.

    Scores below the normal numbers are as exact as float64 has them.
    """
    A, sources = diamonds(700, 3), [0, 1, 30, 400]
    n, (indptr, indices) = A.shape[0], adjacency(A)
    tails = np.repeat(np.arange(n), np.diff(indptr))
    for cutoff, decay, weights in ((1320, 0.0, None), (1000, 0.2, None), (1380, 0.1, 1e-300)):
        how = {"sources": sources, "decay": decay, "target_weights": None if weights is None else np.full(n, weights)}
        ours = lagbc.centralities(A, ("bc", "edge_bc"), cutoff=[5, cutoff], weighted=weighted, **how)
        for j, each in enumerate((5, cutoff)):
            theirs = {"cutoff": each, "number": rational, **how}
            np.testing.assert_allclose(ours["bc"][:, j], oracle(A, **theirs), rtol=1e-10, atol=1e-318)
            raw = [float(x) for x in edge_scores(indptr, indices, **theirs)]
            found = ours["edge_bc"][j].tocsr()[tails, indices]
            np.testing.assert_allclose(np.asarray(found).ravel(), raw, rtol=1e-10, atol=1e-318)


def test_all_sums_of_a_root_that_overflows():
    """3**350 paths, more than a run with decays counts in float64."""
    A = diamonds(350, 3)
    names, cutoffs, decays = (*ALL, "gravity"), [4, 690], [0.0, 0.01]
    ours = lagbc.centralities(A, names, log2=True, cutoff=cutoffs, decay=decays)
    dist = shortest_path(A, unweighted=True)
    np.fill_diagonal(dist, np.inf)
    for j, cutoff in enumerate(cutoffs):
        near = np.where(dist <= cutoff, dist, np.inf)
        np.testing.assert_allclose(ours["harmonic"][:, j], (1 / near).sum(axis=0), rtol=1e-12)
        np.testing.assert_array_equal(ours["eccentricity"][:, j], np.where(near < np.inf, near, 0).max(axis=1))
        np.testing.assert_array_equal(ours["reach"][:, j], (near < np.inf).sum(axis=1))
        for k, decay in enumerate(decays):
            counted = np.where(near < np.inf, np.exp(-decay * np.where(near < np.inf, near, 0)), 0)
            np.testing.assert_allclose(ours["gravity"][:, 2 * j + k], counted.sum(axis=1), rtol=1e-12)
        np.testing.assert_allclose(ours["bc"][:, 2 * j], lagbc.bc(A, cutoff=cutoff), rtol=1e-12)
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(ours["stress"][:, j], np.log2(lagbc.stress(A, cutoff=cutoff)), rtol=1e-12)


@pytest.mark.parametrize("weights", [[1e-300, 1e300], [1e-310, 1.0], [2e-3, 5e8]])
def test_weights_of_targets_may_be_far_apart(weights):
    A = path(40)
    omega = np.resize(weights, 40)
    ours = lagbc.bc(A, cutoff=[3, 8], target_weights=omega)
    reach = lagbc.reach(A, cutoff=[3, 8], target_weights=omega)
    for j, cutoff in enumerate([3, 8]):
        theirs = expected(A, "bc", "reach", cutoff=cutoff, target_weights=omega)
        np.testing.assert_allclose(ours[:, j], theirs["bc"], rtol=1e-12, atol=0)
        np.testing.assert_allclose(reach[:, j], theirs["reach"], rtol=1e-12, atol=0)


def test_a_length_that_rounding_absorbs_is_named(together):
    A = with_lengths(path(4), [1.0])
    A.data[:] = [1e18 if {i, j} == {0, 1} else 1.0 for i, j in zip(A.row, A.col, strict=True)]
    with pytest.raises(ValueError, match="is lost to rounding"):
        lagbc.bc(A, weighted=True, cutoff=2e18)
    assert lagbc.bc(A, weighted=True, cutoff=5).tolist() == [0, 0, 2, 0]


# Runs that are stopped


def test_a_checkpoint_goes_on_to_the_same_bits(together, tmp_path, monkeypatch):
    A, file = with_lengths(scale_free(600, 1800, seed=5), [1.0, 2.0]), tmp_path / "run"
    how = {"weighted": True, "cutoff": [3, 6], "threads": 1, "checkpoint": file}
    whole = lagbc.bc(A, **how | {"checkpoint": None})
    seen = []

    def stop(progress):
        seen.append(progress.done)
        if len(seen) == 5:
            raise Killed

    with pytest.raises(Killed):
        lagbc.bc(A, progress=stop, **how)
    for other in ({"cutoff": [3, 7]}, {"decay": 0.1}):
        with pytest.raises(lagbc.CheckpointError, match=r"other options|is not a lagbc checkpoint"):
            lagbc.bc(A, **how | other)
    monkeypatch.setattr(tuning, "CHECKPOINT_SECONDS", 0.0)  # saves after every block, too
    resumed = []
    np.testing.assert_array_equal(lagbc.bc(A, progress=lambda progress: resumed.append(progress.done), **how), whole)
    assert resumed[0] > seen[-1]
    np.testing.assert_array_equal(lagbc.bc(A, **how), whole)


# Errors


@pytest.mark.parametrize("how", [{"device": "cuda"}, {"device": [0]}, {"device": "cuda", "dtype": "float32"}])
def test_a_gpu_sums_none(how, weighted, monkeypatch):
    """Whether there is one or not; what to do is said before what is missing."""
    for gpus in (0, 1):
        monkeypatch.setattr(table, "_count_visible", lambda count=gpus: count)
        for call, asked in (
            (lagbc.bc, {"cutoff": 1}),
            (lagbc.edge_bc, {"decay": 0.1}),
            (lagbc.closeness, {"cutoff": [1, 2]}),
            (lagbc.reach, {}),
            (lagbc.gravity, {"decay": 1.0}),
            (lagbc.straightness, {"coordinates": [(0, 0), (0, 1), (0, 2)]}),
        ):
            with pytest.raises(InvalidValueError, match=r"are summed on the CPU alone.*pass device='auto' or"):
                call(path(3), weighted=weighted, **asked, **how)


def test_methods_of_a_gpu_take_none():
    """Where the device is left open, the methods are named that do."""
    with pytest.raises(ValueError, match=r"^spmm on cuda takes no cutoff or decay.*these do: work-efficient on cpu$"):
        lagbc.bc(path(3), cutoff=1, method="spmm")
    assert lagbc.plan(path(3), cutoff=1).reason.startswith("work-efficient on cpu (it runs on cpu alone; ")


def test_a_centrality_that_was_added():
    """It is finished once for each cutoff; decays would change its sums unseen."""
    added = lagbc.Centrality(
        "load", frozenset({"dependency", "reached"}), lambda result, _: result.sums.dependency + result.sums.reached,
        frozenset({"cutoff"}), "dependencies, and who reaches it",
    )  # fmt: skip
    lagbc.register_centrality(added)
    try:
        A = path(9)
        found = lagbc.centralities(A, ("bc", "load"), cutoff=[1, 4])
        for j, cutoff in enumerate([1, 4]):
            reached = [len(d) for d in reference.distances_into(*adjacency(A), cutoff=cutoff)]
            np.testing.assert_allclose(found["load"][:, j], found["bc"][:, j] + reached)
        with pytest.raises(ValueError, match="decay changes sums of load, which takes none"):
            lagbc.centralities(A, ("bc", "load"), cutoff=2, decay=1)
    finally:
        lagbc.unregister_centrality("load")


def test_what_a_call_would_do():
    A = grid(30, 30)
    assert lagbc.plan(A, cutoff=3).method == "work-efficient"
    assert lagbc.plan(A, "reach").method == "work-efficient"
    assert lagbc.plan(A, weighted=True, decay=[1, 2]).method == "dijkstra"
    one, three = (lagbc.plan(A, cutoff=cutoffs).memory for cutoffs in (3, [1, 2, 3]))
    assert three.scores == 3 * one.scores
    assert three.workspace > one.workspace
