"""Estimates from paths: their intervals hold, they are the same for all threads, and they are taken where they pay."""

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from strategies import disjoint, grid, scale_free, times, with_lengths
from test_estimate import SOCIAL, after, count_seconds, half_width, holds, same_bits

import lagbc
from lagbc import tuning
from lagbc.errors import OutOfMemoryError, StoppedError
from lagbc.estimates import paths as by_paths
from lagbc.estimates.aim import Sequence
from lagbc.graph import csr
from lagbc.native import core

ONE_WAY = sp.triu(scale_free(600, 3000, seed=6)) + sp.random_array((600, 600), density=0.002, rng=1)
KINDS = {
    "hops": (SOCIAL, {"directed": False}),
    "directed": (ONE_WAY, {"directed": True}),
    "raw": (SOCIAL, {"directed": False, "normalized": False}),
    "endpoints": (disjoint(SOCIAL, grid(6, 9)), {"directed": False, "endpoints": True}),
    "components": (disjoint(grid(12, 9), scale_free(200, 500, seed=1)), {"directed": False}),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def exact(kind):
    A, how = KINDS[kind]
    return lagbc.bc(A, **{"normalized": True, **how})


def estimated(kind, **given):
    A, how = KINDS[kind]
    return lagbc.estimate(A, **{**how, "rng": 1, "samples": "paths", **given})


def test_scores_lie_within_their_intervals(kind):
    scores, found = exact(kind), estimated(kind, error=0.05)
    assert found.paths > 1000
    assert (found.roots, found.exact) == (0, False)
    assert found.reason.startswith(f"after {found.paths} paths every score is within 0.05")
    assert holds(found, scores)
    n, (_, how) = len(scores), KINDS[kind]
    pairs = 1 if how.get("normalized", True) else (n - 1) * (n - 2) / 2
    assert np.abs(found.scores - scores).max() <= 0.05 * pairs
    assert half_width(found) <= 0.05 * pairs
    assert found.upper.max() > 1.3 * found.lower.max() > 0


@pytest.mark.parametrize("width", [1.0, 0.2])
def test_coverage(monkeypatch, width):
    """Of 40 runs at most 2 have a score outside; of narrower intervals more have."""
    runs, half, scores = times(40), Sequence.half_width.fget, exact("hops")
    monkeypatch.setattr(Sequence, "half_width", property(lambda sequence: width * half(sequence)))
    found = (estimated("hops", rng=seed, error=0.05) for seed in range(runs))
    missed = islice((one for one in found if not holds(one, scores)), runs // 20 + 1)  # no more are asked for
    assert (len(list(missed)) <= runs // 20) == (width == 1)


@pytest.mark.parametrize("how", [{"threads": 3}, {"threads": 2, "memory": "64MB"}], ids=str)
def test_the_same_bits_for_all_threads(kind, how):
    one = estimated(kind, error=0.05, threads=1)
    assert same_bits(one, estimated(kind, error=0.05, **how))
    assert (one.scores != estimated(kind, error=0.05, rng=2).scores).any()


def test_wide_indices_have_the_same_bits(monkeypatch):
    one = estimated("hops", error=0.05)
    monkeypatch.setattr(csr, "_MOST_IN_32_BITS", 0)
    monkeypatch.setattr(tuning, "SURVEYED", 0)  # small graphs are surveyed with narrow columns
    assert one.upper.tobytes() == estimated("hops", error=0.05).upper.tobytes()


@pytest.mark.parametrize("n", [3, 4, 6])
def test_searches_that_meet_every_vertex(n):
    """The halves of a pair of ends fill the arrays that they share; what one writes must not be the other's."""
    line = sp.diags_array(np.ones(n - 1), offsets=1, shape=(n, n))
    found = lagbc.estimate(line, directed=False, error=0.03, rng=1, samples="paths")
    assert holds(found, lagbc.bc(line, directed=False, normalized=True))


def test_single_vertices_and_the_highest():
    scores = exact("hops")
    chosen = np.argsort(scores)[[-1, 3, -2]]
    found = estimated("hops", vertices=chosen, error=0.05)
    assert found.scores.shape == (3,)
    assert holds(found, scores[chosen])
    top = estimated("hops", top=2, tie=0.05)
    least = min(row.lower for row in top.top)
    assert np.delete(top.upper, [row.vertex for row in top.top]).max() - least <= 0.05
    assert "2 highest" in top.reason
    normal = estimated("hops", error=0.03, guarantee=False)
    assert not normal.guaranteed
    assert normal.paths < estimated("hops", error=0.03).paths


def test_the_cheaper_samples_are_taken():
    """Few roots are swept at once; else it is the error that decides."""
    one, other = (estimated("hops", samples=samples, error=0.05) for samples in ("auto", "paths"))
    assert one.upper.tobytes() == other.upper.tobytes()
    assert estimated("hops", samples="auto", error=1e-5).exact
    assert estimated("components", samples="auto", error=0.05).paths == 0
    mesh = grid(40, 40)
    given = {"directed": False, "error": 0.02, "rng": 1}
    assert lagbc.estimate(mesh, **given).roots == lagbc.estimate(mesh, samples="roots", **given).roots > 0


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"centrality": "harmonic"}, "harmonic"),
        ({"centrality": "edge_bc"}, "edge_bc"),
        ({"weighted": True}, "lengths"),
        ({"max_roots": 300}, "max_roots"),
        ({"batch": 64}, "batch"),
        ({"method": "work-efficient"}, "method"),
        ({"reduce": "all"}, "reduce='all'"),
        ({"checkpoint": "rounds.npz"}, "checkpoint"),
    ],
    ids=str,
)
def test_other_arguments_keep_roots(tmp_path, monkeypatch, given, name):
    monkeypatch.chdir(tmp_path)
    A = with_lengths(SOCIAL, [1, 2]) if "weighted" in given else SOCIAL
    given = {"directed": False, "error": 0.05, "rng": 1, **given}
    with pytest.raises(ValueError, match=f"samples='paths' does not go with {name}: .* or pass samples='roots'"):
        lagbc.estimate(A, samples="paths", **given)
    assert lagbc.estimate(A, **given).paths == 0


def test_stop_ends_a_run_that_would_not_end():
    with pytest.raises(StoppedError):
        estimated("hops", error=1e-9, stop=after(40))


def test_seconds_end_it_with_the_rounds_that_are_whole(monkeypatch):
    for seconds, least, most in ((1e-6, 128, 128), (60, 129, 10**6)):
        count_seconds(monkeypatch)
        found = estimated("hops", max_seconds=seconds, error=1e-4)
        assert least <= found.paths <= most
        assert "max_seconds" in found.reason
        assert holds(found, exact("hops"))


def test_memory_is_kept_to(monkeypatch):
    graph = lagbc.as_graph(SOCIAL, directed=False)
    of_thread = by_paths.needed_bytes(graph, 2) - by_paths.needed_bytes(graph, 1)
    assert of_thread == core.PathSampler32.bytes(graph.n) + 16 * (graph.n + 3)  # counts of a mantissa and an exponent
    monkeypatch.setattr(by_paths, "PathCounts", lambda graph, seed, hands: pytest.fail(f"{hands} hands"))
    for hands in (1, 2):
        room = by_paths.needed_bytes(graph, hands + 1) - 1
        with pytest.raises(pytest.fail.Exception, match=f"{hands} hands"):
            estimated("hops", threads=3, memory=max(room, 2**19 + 1))
    with pytest.raises(OutOfMemoryError, match="paths need up to"):
        estimated("hops", threads=3, memory=2**16)


def test_progress_is_told():
    told = []
    found = estimated("hops", error=0.03, progress=told.append)
    assert [one.done for one in told] == sorted(one.done for one in told)
    assert told[-1].done == found.paths
    assert told[0].total > 1000


OUT_STAR = sp.coo_array((np.ones(1999), (np.zeros(1999, int), np.arange(1, 2000))), shape=(2000, 2000))
FEW, COMPLETE = sp.coo_array(([1.0], ([0], [1])), (2000, 2000)), sp.csr_array(np.ones((1100, 1100)))


@pytest.mark.parametrize("A", [FEW, OUT_STAR, COMPLETE])
def test_graphs_in_which_paths_lead_through_no_vertex(A):
    """A part of the highest score, which may be 0, is no goal for paths."""
    found = lagbc.estimate(A, directed=True, rng=1)
    assert (found.exact, found.paths) == (True, 0)
    with pytest.raises(ValueError, match="paths led through a vertex, so that the highest score may be 0; pass error="):
        lagbc.estimate(A, directed=True, rng=1, samples="paths")
    assert lagbc.estimate(A, directed=True, rng=1, samples="paths", error=0.05).paths > 0


@pytest.mark.parametrize("n", [0, 1, 2, 2000])
def test_graphs_without_a_vertex_between_others(n):
    assert lagbc.estimate(sp.coo_array((n, n)), samples="paths").exact
