"""Estimates with intervals: they hold, they are the same whoever sweeps, and they stop when they are asked to."""

import tracemalloc
import warnings
from contextlib import suppress
from dataclasses import fields, replace
from itertools import count, islice
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from strategies import diamonds, grid, path, scale_free, times, with_lengths

import lagbc
from lagbc.errors import CheckpointError, OutOfMemoryError, StoppedError
from lagbc.estimates import roots as by_roots
from lagbc.estimates.aim import Sequence, gap, highest
from lagbc.estimates.estimate import Ranked
from lagbc.methods.contract import bytes_of
from lagbc.planning import choose
from lagbc.planning.population import arrays_of_sequence, plan_rounds
from lagbc.planning.sweep import request_to, row_of
from lagbc.reduce.pieces import Whole
from lagbc.run.rounds import Rounds

SOCIAL = scale_free(1500, 9000, seed=2)
LENGTHS = with_lengths(scale_free(1200, 6000, seed=3), [1, 2, 3])
# A tree, whose branches are folded, with a block in which roots are drawn; and twins.
BRANCHED = scale_free(3000, 6000, seed=4)
KINDS = {
    "hops": ("bc", SOCIAL, {"directed": False}),
    "directed": ("bc", SOCIAL, {"directed": True}),
    "lengths": ("bc", LENGTHS, {"directed": False, "weighted": True}),
    "folded": ("bc", BRANCHED, {"directed": False, "reduce": "all"}),
    "raw": ("bc", SOCIAL, {"directed": False, "normalized": False}),
    "endpoints": ("bc", SOCIAL, {"directed": False, "endpoints": True}),
    "edges": ("edge_bc", SOCIAL, {"directed": False}),
    "directed edges": ("edge_bc", LENGTHS, {"directed": True, "weighted": True}),
    "harmonic": ("harmonic", SOCIAL, {"directed": True}),
    "harmonic with lengths": ("harmonic", LENGTHS, {"directed": False, "weighted": True}),
    "closeness": ("closeness", grid(25, 40), {"directed": False}),
    "work-efficient": ("bc", SOCIAL, {"directed": False, "method": "work-efficient", "reduce": "none"}),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def exact(kind, **given):
    name, A, how = KINDS[kind]
    normal = {"normalized": how.get("normalized", True)} if name in ("bc", "edge_bc") else {}
    return values(getattr(lagbc, name)(A, **{**how, **normal, **given}))


def values(scores):
    return scores.tocsr().data if sp.issparse(scores) else scores


def estimated(kind, **given):
    name, A, how = KINDS[kind]
    return lagbc.estimate(A, name, **{**how, "rng": 1, "samples": "roots", **given})


def holds(found, scores):
    slack = 1e-12 * scores.max()
    return bool(((values(found.lower) <= scores + slack) & (scores <= values(found.upper) + slack)).all())


def half_width(found):
    return np.maximum(found.upper - found.scores, found.scores - found.lower).max()


def same_bits(one, other):
    return one.roots == other.roots and all(
        values(getattr(one, name)).tobytes() == values(getattr(other, name)).tobytes()
        for name in ("scores", "lower", "upper")
    )


def after(polls):
    """Stop once it was asked for so often."""
    asked = count()
    return lambda: next(asked) >= polls


def count_seconds(monkeypatch):
    """Let each look at the clock take a second."""
    clock = SimpleNamespace(perf_counter=count().__next__)
    for module in ("aim", "estimate", "roots", "paths"):
        monkeypatch.setattr(f"lagbc.estimates.{module}.time", clock)


def test_scores_lie_within_their_intervals(kind):
    scores = exact(kind)
    for most in (300, 700):
        found = estimated(kind, max_roots=most)
        assert not found.exact
        assert holds(found, scores)
        assert holds(found, values(found.scores))
    whole = estimated(kind, max_roots=5000, relative_error=1e-9)
    assert whole.exact
    np.testing.assert_allclose(values(whole.scores), scores, rtol=1e-9, atol=1e-12 * scores.max())


def test_intervals_are_as_narrow_as_is_asked_for():
    found, scores = estimated("hops", relative_error=0.3), exact("hops")
    assert not found.exact
    assert half_width(found) <= 0.3 * found.lower.max()
    assert "within 0.3 of the highest" in found.reason
    found = estimated("hops", error=0.06)
    assert half_width(found) <= 0.06
    assert np.abs(found.scores - scores).max() <= 0.06


def test_a_fraction_of_all_pairs_is_that_of_scores_that_are_not_normalized():
    """And a mean over n (n - 1) pairs is a score over (n - 1) (n - 2)."""
    one, other = (estimated("hops", error=0.06, normalized=normalized) for normalized in (True, False))
    n = SOCIAL.shape[0]
    assert one.roots == other.roots
    np.testing.assert_allclose(other.scores, one.scores * (n - 1) * (n - 2) / 2, rtol=1e-12)
    np.testing.assert_allclose(other.upper, one.upper * (n - 1) * (n - 2) / 2, rtol=1e-12)


@pytest.mark.parametrize("width", [1.0, 0.3])
def test_coverage(monkeypatch, width):
    """Of 40 runs on each of two networks at most 2 have a score outside; of narrower intervals more have."""
    runs = times(40)
    half = Sequence.half_width.fget
    monkeypatch.setattr(Sequence, "half_width", property(lambda sequence: width * half(sequence)))
    for kind in ("hops", "lengths"):
        scores = exact(kind)
        found = (estimated(kind, rng=seed, relative_error=0.3, max_roots=900) for seed in range(runs))
        missed = islice((one for one in found if not holds(one, scores)), runs // 20 + 1)  # no more are asked for
        assert (len(list(missed)) <= runs // 20) == (width == 1)


def test_rounds_that_a_batch_spans():
    """Roots that several rounds draw count in each as often as it draws them."""
    A = scale_free(1500, 3000, seed=4)
    how = {"directed": False, "reduce": "all", "method": "work-efficient", "max_roots": 1200, "rng": 1}
    assert same_bits(*(lagbc.estimate(A, batch=batch, **how) for batch in (64, 512)))


@pytest.mark.parametrize("how", [{"threads": 3}, {"batch": 640, "threads": 2}, {"memory": "64MB"}], ids=str)
def test_the_same_bits_whoever_sweeps(kind, how):
    assert same_bits(estimated(kind, max_roots=700, threads=1), estimated(kind, max_roots=700, **how))


def test_max_roots_give_the_intervals_of_the_error_that_they_reach():
    """Not those on the way to the narrower ones that are asked for."""
    reached = estimated("hops", error=0.08)
    cut = estimated("hops", error=0.001, max_roots=reached.roots)
    assert not cut.exact
    widest = [(found.upper - found.lower).max() for found in (reached, cut)]
    assert widest[1] < 1.15 * widest[0]


def test_another_seed_draws_other_roots():
    assert (estimated("hops", max_roots=300).scores != estimated("hops", max_roots=300, rng=2).scores).any()


def test_all_roots_are_swept_where_they_take_no_longer():
    found = estimated("hops", error=1e-5)
    assert found.exact
    assert "no longer" in found.reason
    np.testing.assert_array_equal(found.scores, exact("hops"))
    assert found.lower.tobytes() == found.scores.tobytes()
    tiny = lagbc.estimate(path(4), directed=False)
    assert tiny.exact
    assert tiny.scores.tolist() == [0, 2 / 3, 2 / 3, 0]


def test_branches_are_exact():
    """Vertices outside of the block in which roots are drawn have no width."""
    found, scores = estimated("folded", max_roots=300), exact("folded")
    leaves = np.flatnonzero(lagbc.as_graph(BRANCHED, directed=False).out_degrees == 1)
    assert len(leaves) > 100
    assert not (found.upper - found.lower)[leaves].any()
    np.testing.assert_allclose(found.scores[leaves], scores[leaves], atol=1e-12)


def test_the_highest_are_certain_or_tied():
    found, scores = estimated("hops", top=3, tie=0.05), exact("hops")
    assert not found.exact
    assert [row.score for row in found.top] == sorted((row.score for row in found.top), reverse=True)
    least = min(row.lower for row in found.top)
    chosen = [row.vertex for row in found.top]
    assert np.delete(found.upper, chosen).max() - least <= 0.05
    assert np.sort(scores)[-3] - scores[chosen].min() <= 0.05
    assert "3 highest" in found.reason
    one = estimated("hops", top=1, tie=0.0)
    assert one.top[0].vertex == scores.argmax()
    assert not one.top[0].tied
    several = estimated("hops", top=3, tie=0.5)
    assert any(row.tied for row in several.top)
    assert str(several).count("  tied") == sum(row.tied for row in several.top)


def test_rows_of_a_run_that_was_cut_off_are_uncertain():
    found = estimated("hops", top=3, tie=0.0, max_roots=20)
    assert "as max_roots= asks for" in found.reason
    assert str(found).count("  uncertain") == 3
    assert "tied" not in str(found)


def test_single_vertices_take_fewer_roots():
    chosen, scores = np.argsort(exact("hops"))[[-1, 3, -2]], exact("hops")
    found, all_of_them = estimated("hops", vertices=chosen, error=0.05), estimated("hops", error=0.05)
    assert found.scores.shape == (3,)
    assert holds(found, scores[chosen])
    assert found.roots <= all_of_them.roots
    assert {row.vertex for row in found.top} == set(chosen.tolist())
    folded = np.arange(0, 3000, 7)
    assert holds(estimated("folded", vertices=folded, max_roots=300), exact("folded")[folded])


def test_normal_intervals_say_so_and_take_fewer_roots():
    sure, normal = estimated("hops", error=0.04), estimated("hops", error=0.04, guarantee=False)
    assert normal.roots < sure.roots
    assert sure.guaranteed
    assert not normal.guaranteed
    assert "normal" in normal.reason


def test_names_of_a_networkx_graph():
    graph = nx.relabel_nodes(nx.barabasi_albert_graph(400, 2, seed=1), "v{}".format)
    found = lagbc.estimate(graph, max_roots=200, rng=1, vertices=["v7", "v0"])
    assert {row.vertex for row in found.top} == {"v7", "v0"}
    assert found.scores.shape == (2,)


def test_it_prints_a_table():
    found = estimated("hops", max_roots=300, top=3)
    assert str(found).startswith("bc: 300 of ")
    assert len(str(found).splitlines()) == 5
    ranked = Ranked("a name of many letters", 1.0, 0.5, 2.0, False)
    _, head, row = str(replace(found, top=(ranked,))).splitlines()
    assert len(head.rstrip()) == len(row)
    assert head.index("vertex") + len("vertex") == row.index("letters") + len("letters")


def test_a_notebook_shows_a_table():
    found = estimated("hops", max_roots=300, top=3)
    shown = found._repr_html_()
    assert shown.startswith(f"<table><caption>bc: {found.reason}</caption><tr><td>rank</td><td>vertex</td>")
    assert shown.count("<tr>") == 4
    assert f"<td>{found.top[2].vertex}</td><td>{found.top[2].score:.6g}</td>" in shown
    named = replace(found, top=(Ranked("<b>", 1.0, 0.5, 2.0, False),))
    assert "<td>&lt;b&gt;</td>" in named._repr_html_()


# Ends, and files


def test_a_checkpoint_goes_on_to_the_same_bits(tmp_path, kind):
    given = {"max_roots": 700, "relative_error": 1e-6}
    file, whole, done = tmp_path / "rounds", estimated(kind, **given), []
    with suppress(StoppedError):
        estimated(kind, **given, checkpoint=file, stop=after(25))
    assert same_bits(estimated(kind, **given, checkpoint=file), whole)
    estimated(kind, **given, checkpoint=file, progress=done.append)
    assert not done


def test_a_checkpoint_without_a_seed_keeps_its_order(tmp_path):
    file = tmp_path / "rounds"
    assert same_bits(*(estimated("hops", rng=None, max_roots=500, checkpoint=file) for _ in range(2)))


@pytest.mark.parametrize("other", [{"relative_error": 0.2}, {"confidence": 0.9}, {"rng": 2}, {"top": 3}], ids=str)
def test_a_checkpoint_of_another_estimate_is_refused(tmp_path, other):
    given = {"max_roots": 500, "relative_error": 1e-6, "checkpoint": tmp_path / "rounds"}
    estimated("hops", **given)
    with pytest.raises(CheckpointError, match="belongs to"):
        estimated("hops", **{**given, **other})


def test_stop_ends_it():
    with pytest.raises(StoppedError):
        estimated("hops", stop=lambda: True)


@pytest.mark.parametrize(("kind", "least"), [("hops", 16), ("work-efficient", 4), ("closeness", 16)])
def test_seconds_end_it_with_the_rounds_that_are_whole(monkeypatch, tmp_path, kind, least):
    """Of a first round of 128 roots a quarter of the time takes a part; with a checkpoint it is whole."""
    given = {"relative_error": 1e-6, "threads": 1, "method": "work-efficient" if least == 4 else "batched"}
    for seconds, roots in ((1e-6, [least]), (8, range(least + 1, 128)), (20, range(129, 1000))):
        count_seconds(monkeypatch)
        found = estimated(kind, max_seconds=seconds, **given)
        assert found.roots in roots
        assert not found.exact
        assert "max_seconds" in found.reason
        assert holds(found, exact(kind))
    assert estimated(kind, max_seconds=1e-6, checkpoint=tmp_path / "rounds", **given).roots == 128


def test_roots_that_overflow_are_computed_into_their_round():
    """1100 diamonds in a row have more shortest paths than float64 counts."""
    A = diamonds(1100, 2)
    found = lagbc.estimate(A, directed=False, max_roots=300, rng=1, reduce="none")
    assert holds(found, lagbc.bc(A, directed=False, normalized=True))
    assert found.lower.max() > 0.1


def test_arrays_of_a_sequence_are_counted():
    """Their names are those of its fields, and they are as many as NumPy allocates for a round."""
    n = 100_000
    arrays = arrays_of_sequence(n)
    names = {field.name for field in fields(Sequence)} - {"population", "drawn"}
    assert set(arrays["before"]) == set(arrays["after"]) == names
    of_round = np.random.default_rng(1).random(n)
    sequence = Sequence.of_pilot(10**6, 128, of_round, of_round / 2).priced(0.01, 0.05)
    tracemalloc.start()
    sequence.plus(sequence.rates(0.01), 256, of_round, of_round / 2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    counted = sum(bytes_of(arrays[group]) for group in ("after", "between"))
    assert 0.9 * counted < peak < 1.1 * counted


@pytest.mark.parametrize(("kind", "means"), [("hops", SOCIAL.shape[0]), ("edges", SOCIAL.nnz)])
def test_plans_of_rounds_hold_a_sequence(monkeypatch, kind, means):
    made = []

    def planned(population, *given):
        made.append((population, plan_rounds(population, *given)))
        return made[-1][1]

    monkeypatch.setattr(by_roots, "plan_rounds", planned)
    estimated(kind, max_roots=200, reduce="none", threads=1)
    ((population, plan),) = made
    graph, (sweep,) = population.graph, plan.sweeps
    needed = bytes_of(arrays_of_sequence(means if kind == "hops" else graph.nnz))
    piece = Whole(graph, population.request)
    state = row_of(piece, sweep).load().arrays(graph, request_to(piece, sweep))
    assert plan.memory.workspace == bytes_of(state) + needed
    little = {"reduce": "none", "threads": 1, "memory": plan.memory.total - needed // 2}
    with pytest.raises(OutOfMemoryError):
        estimated(kind, max_roots=200, method="batched", **little)


def test_the_probe_takes_a_part_of_the_time(monkeypatch):
    parts, ordinary = [], choose.probe
    monkeypatch.setattr(choose, "probe", lambda *given: parts.append(given[2]) or ordinary(*given))
    estimated("hops", max_seconds=50, max_roots=10, reduce="none")
    estimated("hops", max_roots=10, reduce="none")
    assert parts == [5, np.inf]


def test_a_method_has_room_for_a_sequence():
    """Else "auto" takes another."""
    needed = bytes_of(arrays_of_sequence(SOCIAL.shape[0]))
    asked = {"directed": False, "reduce": "none", "threads": 1, "batch": 64}
    memory = lagbc.plan(SOCIAL, method="batched", **asked).memory.total + needed // 2
    with pytest.raises(OutOfMemoryError, match="or pass method='work-efficient'"):
        estimated("hops", max_roots=200, method="batched", reduce="none", threads=1, memory=memory)
    assert estimated("hops", max_roots=200, reduce="none", threads=1, memory=memory).roots == 200


def test_a_second_pilot_is_swept_where_it_may_save_roots(monkeypatch):
    """Of pairs that count linearly: as normal intervals count them, and at an error that is small for the graph."""
    swept = []
    make = Rounds.__init__

    def counted(work, piece, sweep, *given):
        swept.append(sweep.linear)
        make(work, piece, sweep, *given)

    monkeypatch.setattr(Rounds, "__init__", counted)
    estimated("hops", error=0.1)
    assert not any(swept)
    swept.clear()
    estimated("hops", error=0.05, guarantee=False)
    assert any(swept)
    swept.clear()
    few_high = scale_free(3000, 6000, seed=1)  # whose plain pilot promises too few roots
    lagbc.estimate(few_high, error=0.02, directed=False, rng=1, device="cpu", reduce="none", samples="roots")
    assert any(swept)


@pytest.mark.parametrize(
    ("A", "centrality", "given"),
    [
        (1 - np.eye(300), "bc", {}),
        (1 - np.eye(300), "bc", {"top": 3, "guarantee": False}),
        (1 - np.eye(300), "bc", {"top": 3, "tie": 0}),
        (1 - np.eye(300), "bc", {"max_roots": 150}),
        (np.eye(400, k=1), "harmonic", {"vertices": [0], "directed": True}),
    ],
)
def test_scores_that_are_all_zero_in_the_first_round(A, centrality, given):
    with warnings.catch_warnings(action="error"):
        found = lagbc.estimate(A, centrality, rng=1, reduce="none", **{"directed": False, **given})
    assert not found.scores.any()
    assert found.exact == ("max_roots" not in given)
    assert np.isfinite(found.upper).all()


# Ranks that are told apart


def test_of_equal_scores_the_first_are_the_highest():
    scores = np.array([0.1, 0.5, 0.5, 0.9, 0.5])
    assert highest(scores, 3).tolist() == [False, True, True, True, False]
    assert highest(scores, 5).all()


def test_the_gap_is_between_the_least_of_the_highest_and_the_others():
    scores = np.array([0.1, 0.5, 0.8])
    assert gap(scores, scores - 0.05, scores + 0.1, 2) == 0.2 - 0.45
    assert gap(scores, scores, scores, 3) == 0
