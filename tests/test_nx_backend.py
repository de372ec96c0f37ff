"""The NetworkX backend agrees with NetworkX, and passes NetworkX's own tests."""

import copy
import importlib.util
import inspect
import json
import logging
import os
import pickle
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import product
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

import lagbc
from lagbc.interfaces import networkx as nx_backend
from lagbc.interfaces import nx_metadata

GROUP_DEGREES = tuple(f"group_{way}degree_centrality" for way in ("", "in_", "out_"))
OF_BIPARTITE = ("bipartite_betweenness_centrality", "bipartite_closeness_centrality")
OF_HOPS = {*GROUP_DEGREES, *OF_BIPARTITE, "global_efficiency", "girvan_newman"}
WITH_WEIGHTS = ("betweenness_centrality", "edge_betweenness_centrality")
LABELS = [0, 1, "one", (2, "two"), frozenset({3}), -7, 4.5, "z"]

pytestmark = pytest.mark.filterwarnings("ignore:.*conversions to backend graphs are saved to cache")


@pytest.fixture(scope="module", params=[nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def kind(request):
    return request.param


@pytest.fixture(scope="session", autouse=True)
def _registered():
    assert "lagbc" in nx.utils.backends.backends, "install lagbc again: its entry points are not registered"


def assert_same(ours, theirs):
    """Equal scores under equal keys in equal order."""
    assert list(ours) == list(theirs)
    np.testing.assert_allclose(list(ours.values()), list(theirs.values()), rtol=1e-11, atol=1e-12)
    assert all(type(x) in (float, int) for x in ours.values())


def function_of(name):
    """The function of NetworkX of a name among its algorithms; some are in modules."""
    if name.startswith("bipartite_"):
        return getattr(nx.bipartite, name.removeprefix("bipartite_"))
    return getattr(nx, name, None) or getattr(nx.community, name)


def both(function, *args, **kwargs):
    """Call a function of NetworkX by lagbc and by itself, on the same state of the global generator."""
    state = random.getstate()
    ours = function_of(function)(*args, backend="lagbc", **kwargs)
    random.setstate(state)
    return ours, function_of(function)(*args, backend="networkx", **kwargs)


def whole(call, *args, **options):
    """Return the result of a call with its type, or its error."""
    try:
        result = call(*args, **options)
    except Exception as error:
        return type(error), str(error)
    return type(result), result


def both_whole(function, *args, **options):
    return [whole(getattr(nx, function), *args, backend=backend, **options) for backend in ("lagbc", "networkx")]


@st.composite
def networks(draw, kind):
    """Graphs of any labels, with loops, parallel edges, several components, and lengths on some of the edges."""
    G = kind()
    nodes = draw(st.permutations(LABELS))[: draw(st.integers(0, len(LABELS)))]
    G.add_nodes_from(nodes)
    if nodes:
        node = st.sampled_from(nodes)
        # Sums of these are exact, so that ties are ties in any order of addition.
        data = st.one_of(st.just({}), st.sampled_from([1, 2, 3, 0.5, 1.5]).map(lambda x: {"km": x, "name": "road"}))
        G.add_edges_from(draw(st.lists(st.tuples(node, node, data), max_size=24)))
    return G


weights = st.sampled_from([None, "km", 0])


@pytest.mark.parametrize("function", WITH_WEIGHTS)
@given(data=st.data())
def test_betweenness(kind, function, data):
    G = data.draw(networks(kind))
    k = data.draw(st.none() | st.integers(1, len(G)) if len(G) else st.none())
    options = {"weight": data.draw(weights), "normalized": data.draw(st.booleans()), "k": k, "seed": len(G)}
    if function == "betweenness_centrality":
        options["endpoints"] = k == 1 or data.draw(st.booleans())  # k=1 without them is refused
    assert_same(*both(function, G, **options))


@given(data=st.data())
def test_betweenness_subset(kind, data):
    G = data.draw(networks(kind))
    some = st.lists(st.sampled_from(list(G)), max_size=5) if len(G) else st.just([])
    sources, targets = data.draw(some), [*data.draw(some), "not there"]  # a source may be named twice
    options = {"weight": data.draw(weights), "normalized": data.draw(st.booleans())}
    assert_same(*both("betweenness_centrality_subset", G, sources, targets, **options))


def edge_subset_by_formula(G, sources, targets, weight):
    """Sum over s and t of the share of the shortest paths that use an edge; NetworkX's own shares are not these."""
    scores = dict.fromkeys(G.edges, 0.0)
    for s, t in ((s, t) for s in sources for t in targets if s != t and nx.has_path(G, s, t)):
        paths = list(nx.all_shortest_paths(G, s, t, weight=weight))
        for edge in (edge for path in paths for edge in nx.utils.pairwise(path)):
            scores[edge if edge in scores else edge[::-1]] += 1 / len(paths)
    return {edge: score / (1 if G.is_directed() else 2) for edge, score in scores.items()}


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@given(data=st.data())
def test_edge_betweenness_subset(kind, data):
    G = data.draw(networks(kind))
    some = st.lists(st.sampled_from(list(G)), max_size=5) if len(G) else st.just([])
    sources, targets, weight = data.draw(some), set(data.draw(some)), data.draw(weights)  # a source may be named twice
    ours = nx.edge_betweenness_centrality_subset(G, sources, [*targets, "not there"], weight=weight, backend="lagbc")
    assert_same(ours, edge_subset_by_formula(G, sources, targets, weight))


@pytest.mark.parametrize("normalized", [True, False])
def test_edge_betweenness_subset_of_a_multigraph(normalized):
    G = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 2), (3, 2), (3, 2), (3, 2)])
    assert_same(*both("edge_betweenness_centrality_subset", G, [0, 1], [2, 3], normalized=normalized))


@given(data=st.data())
def test_closeness(kind, data):
    G = data.draw(networks(kind))
    options = {"distance": data.draw(weights), "wf_improved": data.draw(st.booleans())}
    assert_same(*both("closeness_centrality", G, **options))
    if len(G):
        one = data.draw(st.sampled_from(list(G)))
        ours, theirs = both("closeness_centrality", G, one, **options)
        assert type(ours) is float
        assert ours == pytest.approx(theirs, rel=1e-12)
    for backend in ("lagbc", "networkx"):
        with pytest.raises(nx.NodeNotFound, match="Source absent is not in G"):
            nx.closeness_centrality(G, "absent", backend=backend)


@given(data=st.data())
def test_distances_and_neighbours_of_groups(kind, data):
    G = data.draw(networks(kind))
    if len(G) < 2:
        return
    S = data.draw(st.lists(st.sampled_from(list(G)), min_size=1, max_size=len(G) - 1, unique=True))
    ours, theirs = both("group_closeness_centrality", G, S, weight=data.draw(weights))
    assert ours == pytest.approx(theirs, rel=1e-12)
    for function in GROUP_DEGREES if G.is_directed() else GROUP_DEGREES[:1]:
        ours, theirs = both(function, G, S)
        assert ours == theirs
    for function in ("group_closeness_centrality", *GROUP_DEGREES[:1]):
        for backend in ("lagbc", "networkx"):
            with pytest.raises((nx.NodeNotFound, nx.NetworkXError), match=r"absent (not found in|is not in the)"):
                getattr(nx, function)(G, ["absent"], backend=backend)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@given(data=st.data())
def test_bipartite(kind, data):
    G, top = kind(), range(data.draw(st.integers(2, 5)))
    bottom = range(10, 10 + data.draw(st.integers(2, 5)))
    G.add_nodes_from([*top, *bottom])
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(top), st.sampled_from(bottom), st.booleans()), max_size=20))
    G.add_edges_from((v, w) if forward else (w, v) for v, w, forward in pairs)
    calls = [("bipartite_betweenness_centrality", {})]
    calls += [("bipartite_closeness_centrality", {"normalized": normalized}) for normalized in (True, False)]
    for function, options in calls:
        ours, theirs = both(function, G, top, **options)
        assert list(ours) == list(G)
        assert_same(ours, {node: theirs[node] for node in G})
    for function, error in (("betweenness", KeyError), ("closeness", nx.NodeNotFound)):
        for backend in ("lagbc", "networkx"):
            with pytest.raises(error):
                function_of(f"bipartite_{function}_centrality")(G, [99], backend=backend)


@given(data=st.data())
def test_harmonic(kind, data):
    G = data.draw(networks(kind))
    some = st.none() | (st.lists(st.sampled_from([*G, "not there"]), max_size=5) if len(G) else st.just([]))
    ours, theirs = both("harmonic_centrality", G, data.draw(some), data.draw(weights), data.draw(some))
    assert ours.keys() == theirs.keys()  # NetworkX's order is that of a set
    assert_same({node: ours[node] for node in theirs}, theirs)


@given(data=st.data())
def test_numbers_of_distances(kind, data):
    """Means and sums over all pairs, and the errors of graphs that are not connected, or empty."""
    G, weight = data.draw(networks(kind)), data.draw(weights)
    for function, options in (
        ("average_shortest_path_length", {"weight": weight}),
        ("wiener_index", {"weight": weight}),
        ("average_shortest_path_length", {"weight": weight, "method": "unweighted"}),
        ("global_efficiency", {}),
    ):
        ours, theirs = both_whole(function, G, **options)
        if issubclass(theirs[0], nx.NetworkXException):
            assert ours == theirs
        else:
            # Of integers and floats, those on shortest paths decide the type of the sum.
            kinds = {type(data.get("km", 1)) for *_, data in G.edges(data=True)}
            assert (options.get("weight") and len(kinds) > 1) or ours[0] is theirs[0]
            assert ours[1] == pytest.approx(theirs[1], rel=1e-12)


@given(data=st.data())
def test_eccentricity(kind, data):
    G, weight = data.draw(networks(kind)), data.draw(weights)
    connected = nx.is_strongly_connected if G.is_directed() else nx.is_connected
    if len(G) and not connected(G):
        with pytest.raises(nx.NetworkXError, match=r"infinite path length because the .*graph is not .*connected"):
            nx.eccentricity(G, weight=weight, backend="lagbc")
        nx.add_cycle(G, G)
    if len(G):
        assert_same(*both("eccentricity", G, weight=weight))
    else:  # an error or nothing, by the version of NetworkX
        ours, theirs = both_whole("eccentricity", G, weight=weight)
        assert ours == theirs


OF_ALL_PAIRS = ("diameter", "radius", "periphery", "center")


@pytest.mark.parametrize("function", OF_ALL_PAIRS)
@examples(8)
@given(data=st.data())
def test_of_all_pairs(kind, function, data):
    G = data.draw(networks(kind))
    if len(G) > 1 and data.draw(st.booleans()):
        nx.add_cycle(G, G)
    for options in ({}, {"usebounds": True}, {"e": dict.fromkeys(reversed(LABELS[:3]), 2) | {"z": 1}}):
        ours, theirs = both_whole(function, G, **options)
        assert ours[0] is theirs[0]
        assert ours[1] == theirs[1] or (not len(G) and options.get("usebounds")), "another word for the same ValueError"
    ours, theirs = both_whole(function, G, weight="km")
    assert ours[1] == theirs[1]


@pytest.mark.parametrize("function", ["eccentricity", *OF_ALL_PAIRS])
@pytest.mark.parametrize("lengths", [(1, 2), (1.0, 2.5), (True, True)])
def test_integer_lengths_give_integers(function, kind, lengths):
    for n in (1, 5):
        G = kind()
        nx.add_cycle(G, range(n), km=lengths[0])
        for u, v in list(G.edges()):
            nx.add_path(G, [u, v], km=lengths[u % 2])
        ours, theirs = both(function, G, weight="km")
        assert repr(ours) == repr(theirs)


def test_of_all_pairs_of_a_tree_in_the_order_of_nodes():
    trees = nx.path_graph("dacb"), nx.star_graph("dacb"), nx.MultiGraph([(1, 2), (2, 3), (0, 3)]), nx.Graph([(0, 1)])
    for G, function, usebounds in product(trees, OF_ALL_PAIRS, (False, True)):
        ours, theirs = both(function, G, usebounds=usebounds)
        assert ours == theirs


def test_eccentricities_that_are_given_are_not_computed(monkeypatch):
    monkeypatch.setattr(lagbc, "eccentricity", None)
    assert nx.diameter(nx.path_graph(4), e={0: 5, 3: 7}, backend="lagbc") == 7
    with pytest.raises(TypeError, match="no such argument"):
        nx.diameter(nx.path_graph(4), e={0: 5}, backend="lagbc", nonsense=1)


@pytest.mark.parametrize("seed", [int, random.Random, np.random.RandomState, np.random.default_rng, None])
@pytest.mark.parametrize("function", WITH_WEIGHTS)
def test_a_seed_draws_the_sample_of_networkx(function, seed):
    G, found = nx.relabel_nodes(nx.gnp_random_graph(40, 0.1, seed=1), lambda v: f"v{v}"), []
    for backend in ("lagbc", "networkx"):
        random.seed(3)  # of those without a seed
        found.append(getattr(nx, function)(G, k=5, seed=seed and seed(7), backend=backend))
    assert_same(*found)
    ours = nx_backend.betweenness_centrality(nx_backend.convert_from_nx(G), k=5, seed=7)
    assert_same(ours, nx.betweenness_centrality(G, k=5, seed=7, backend="networkx"))


@pytest.fixture
def conversions(monkeypatch):
    """The edge attributes asked for at each conversion."""
    convert, asked = nx_backend.convert_from_nx, []

    def counted(graph, edge_attrs=None, **options):
        asked.append(edge_attrs)
        return convert(graph, edge_attrs=edge_attrs, **options)

    monkeypatch.setattr(nx_backend, "convert_from_nx", counted)
    return asked


def test_a_graph_is_converted_once(conversions):
    G = nx.path_graph(6)
    for _ in range(3):
        assert_same(*both("betweenness_centrality", G))
    assert_same(*both("betweenness_centrality_subset", G, [0, 1], [5]))
    assert conversions == [None]
    G.add_edge(0, 5)
    assert_same(*both("betweenness_centrality", G))
    assert conversions == [None, None], "an edge was added"
    with nx.config(cache_converted_graphs=False):
        assert_same(*both("betweenness_centrality", G))
        assert_same(*both("betweenness_centrality", G))
    assert len(conversions) == 4


def test_a_graph_with_lengths_serves_for_hops(conversions):
    G = nx.path_graph(6)
    assert_same(*both("betweenness_centrality", G, weight="km"))
    assert_same(*both("betweenness_centrality", G))
    assert conversions == [{"km": 1}]


@pytest.mark.parametrize(
    "again",
    [*range(2, pickle.HIGHEST_PROTOCOL + 1), copy.deepcopy],
    ids=lambda again: getattr(again, "__name__", str(again)),
)
def test_a_graph_that_was_pickled_after_its_conversion(again, conversions):
    G = nx.gnm_random_graph(300, 1500, seed=1)  # arrays that pickle does not copy when it loads them
    nx.set_edge_attributes(G, 2, "km")
    ours = {function: getattr(nx, function)(G, weight="km", backend="lagbc") for function in WITH_WEIGHTS}
    G = again(G) if callable(again) else pickle.loads(pickle.dumps(G, again))
    for function, scores in ours.items():
        assert getattr(nx, function)(G, weight="km", backend="lagbc") == scores
    assert conversions == [{"km": 1}]
    (converted,) = G.__networkx_cache__["backends"]["lagbc"].values()
    assert not pickle.loads(pickle.dumps(converted))._graphs


@given(data=st.data())
def test_conversion_there_and_back(kind, data):
    G = data.draw(networks(kind))
    converted = nx_backend.convert_from_nx(G, edge_attrs={"km": None})
    back = nx_backend.convert_to_nx(converted)
    assert type(back) is kind
    assert list(back) == list(G)
    if G.is_multigraph():
        expected = {(u, v, key): data for u, v, key, data in G.edges(keys=True, data="km")}
        assert {(u, v, key): data for u, v, key, data in back.edges(keys=True, data="km")} == expected
    else:
        assert list(back.edges(data="km")) == list(G.edges(data="km"))
    assert nx_backend.convert_to_nx(converted.nodes) is converted.nodes
    assert len(converted) == len(G)
    assert converted.is_directed() == G.is_directed()
    assert converted.is_multigraph() == G.is_multigraph()


def test_a_backend_graph_works_where_lagbc_has_nothing():
    G = nx.gnp_random_graph(20, 0.2, seed=2, directed=True)
    converted = nx_backend.convert_from_nx(G)
    assert_same(nx.betweenness_centrality(converted), nx.betweenness_centrality(G, backend="networkx"))
    assert nx.pagerank(converted, backend="networkx") == nx.pagerank(G)


def test_attributes_that_are_not_kept():
    for options in ({"preserve_node_attrs": True}, {"preserve_edge_attrs": True}):
        with pytest.raises(NotImplementedError, match="keeps edge attributes that are asked for by name"):
            nx_backend.convert_from_nx(nx.path_graph(3), **options)


def test_attributes_of_nodes():
    G = nx.path_graph(3)
    G.nodes[1]["size"] = 5
    back = nx_backend.convert_to_nx(nx_backend.convert_from_nx(G, node_attrs={"size": 1}))
    assert nx.get_node_attributes(back, "size") == {0: 1, 1: 5, 2: 1}


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_percolation(kind):
    G = kind(nx.karate_club_graph())
    for v in range(0, 34, 2):
        G.nodes[v].update(percolation=v / 7, other=1 + v)
    for options in ({}, {"attribute": "other"}, {"states": {v: 2 * v for v in G}}, {"weight": "weight"}):
        assert_same(*both("percolation_centrality", G, **options))


def test_groups():
    G = nx.karate_club_graph()
    for groups in ([0, 5], [[0, 5], [33]]):
        for options in ({}, {"normalized": False}, {"endpoints": True}, {"weight": "weight"}):
            ours, theirs = both("group_betweenness_centrality", G, C=groups, **options)
            np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    with pytest.raises(nx.NodeNotFound, match="'x'"):
        nx.group_betweenness_centrality(G, [[0, "x"]], backend="lagbc")
    with pytest.raises(TypeError, match="batch"):
        nx.group_betweenness_centrality(G, [0], backend="lagbc", batch=64)


def test_groups_of_three_and_more():
    """As of `lagbc.group_bc`, which `test_searches.py` holds against brute force: NetworkX is wrong there."""
    # From issue 8827 of NetworkX, whose version 3.6 gives 0.125.
    G = nx.Graph([(0, 1), (0, 2), (0, 3), (0, 4), (1, 3), (2, 3), (2, 4), (3, 4), (4, 5)])
    assert nx.group_betweenness_centrality(G, [0, 1, 2], normalized=False, backend="lagbc") == 0.0
    for kind in (nx.Graph, nx.DiGraph):
        G = nx.gnp_random_graph(12, 0.25, seed=4, directed=kind is nx.DiGraph)
        groups = [set(range(first, first + size)) for size in (3, 4, 6) for first in (0, 2, 5)]
        ours = nx.group_betweenness_centrality(G, groups, normalized=False, backend="lagbc")
        np.testing.assert_allclose(ours, lagbc.group_bc(G, groups), rtol=1e-12)
        assert max(ours) > 1


def test_states_that_lagbc_does_not_take():
    G = nx.cycle_graph(100)
    by_state = dict.fromkeys(G, 0.5)
    for states, said in (
        (by_state | {0: -0.25}, "not finite and >= 0, the first at vertex 0: -0.25"),
        (by_state | {"far": 1.0}, "states names 'far', which is no node of G"),
    ):
        assert said in nx_backend.should_run("percolation_centrality", (G,), {"states": states})
        with pytest.raises(ValueError, match=said):
            nx.percolation_centrality(G, states=states, backend="lagbc")
        with nx.config(backend_priority=["lagbc"]):
            dispatched = nx.percolation_centrality(G, states=states)
        assert dispatched == nx.percolation_centrality(G, states=states, backend="networkx")
    del by_state[3]
    assert nx_backend.should_run("percolation_centrality", (G,), {"states": by_state}) == "3"
    nx.set_node_attributes(G, {5: -1}, "ill")
    assert nx_backend.should_run("percolation_centrality", (G,), {}) is True
    assert "vertex 5: -1.0" in nx_backend.should_run("percolation_centrality", (G, "ill"), {})


def test_errors():
    G = nx.path_graph(5)
    with pytest.raises(KeyError, match="absent"):
        nx.betweenness_centrality_subset(G, ["absent"], [0], backend="lagbc")
    with pytest.raises(ValueError, match="Sample larger than population"):
        nx.betweenness_centrality(G, k=6, backend="lagbc")
    with pytest.raises(TypeError, match=r"\['target_weights'\]: no such argument; lagbc's own are batch, "):
        nx.betweenness_centrality(G, backend="lagbc", target_weights=np.ones(5))
    with pytest.raises(ValueError, match="threads=0"):
        nx.betweenness_centrality(G, backend="lagbc", threads=0)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'targets'"):
        nx.betweenness_centrality_subset(G, [0], backend="lagbc")
    with pytest.raises(ValueError, match="converted without the edge attribute 'km'"):
        nx_backend.betweenness_centrality(nx_backend.convert_from_nx(G), weight="km")


def test_options_reach_lagbc():
    G, reports = nx.gnp_random_graph(100, 0.1, seed=5), []
    plain = nx.betweenness_centrality(G, backend="networkx")
    options = {"method": "batched", "device": "cpu", "dtype": "float64", "batch": 64, "threads": 1, "memory": "1GB"}
    options |= {"reduce": "none"}
    assert_same(nx.betweenness_centrality(G, backend="lagbc", progress=reports.append, **options), plain)
    assert [report.done for report in reports] == [64, 100]
    with pytest.raises(MemoryError, match="the budget is 1"):
        nx.betweenness_centrality(G, backend="lagbc", memory=1)
    with pytest.raises(ValueError, match=r"bucket_width=2\.0 means nothing to batched"):
        nx.betweenness_centrality(G, backend="lagbc", device="cpu", bucket_width=2.0)
    assert set(nx_metadata.RUN_OPTIONS) == {*options, "bucket_width", "progress"}


REFUSED = [
    ("betweenness_centrality", {"weight": lambda u, v, data: 1}, "edge lengths are given by a function"),
    ("betweenness_centrality", {"k": 1}, "k=1 without endpoints"),
    ("betweenness_centrality_subset", {"sources": [0], "targets": [1], "weight": max}, "given by a function"),
    ("edge_betweenness_centrality", {"weight": max}, "by a function"),
    ("closeness_centrality", {"distance": max}, "by a function"),
    ("eccentricity", {"v": 0}, "v is given"),
    ("eccentricity", {"sp": {}}, "sp is given"),
    ("average_shortest_path_length", {"method": "floyd-warshall"}, "method is 'floyd-warshall'"),
    ("pagerank", {}, "no function pagerank"),
    ("connected_components", {}, "no function connected_components"),  # a name in the module
]


@pytest.mark.parametrize(("function", "options", "reason"), REFUSED)
def test_can_run_says_why_not(function, options, reason):
    G = nx.complete_graph(4)
    assert reason in nx_backend.can_run(function, (G,), options)
    with pytest.raises(NotImplementedError, match="not implemented by 'lagbc' backend"):
        getattr(nx, function)(G, backend="lagbc", **options)


def test_can_run():
    G = nx.path_graph(3)
    assert nx_backend.can_run("betweenness_centrality", (G, 1), {"endpoints": True}) is True
    assert nx_backend.can_run("betweenness_centrality", (), {"G": G, "k": 2}) is True
    assert nx_backend.can_run("betweenness_centrality_subset", (G,), {}) is True, "the call itself says what is missing"


def test_refused_calls_are_networkx_own(caplog):
    G = nx.gnp_random_graph(100, 0.1, seed=6)
    with caplog.at_level(logging.DEBUG, "networkx"), nx.config(backend_priority=["lagbc"]):
        by_function = nx.betweenness_centrality(G, weight=lambda u, v, data: 1 + (u + v) % 3)
        assert "given by a function" in caplog.text
        one = nx.betweenness_centrality(G, k=1, seed=1)
        assert "Using backend 'lagbc'" not in caplog.text
        assert_same(nx.betweenness_centrality(G), nx.betweenness_centrality(G, backend="networkx"))
        assert "Using backend 'lagbc'" in caplog.text
        caplog.clear()
        nx.betweenness_centrality(nx.path_graph(3))
        assert "NetworkX makes 3 searches; it is faster below" in caplog.text
        assert "Using backend 'lagbc'" not in caplog.text
    assert by_function == nx.betweenness_centrality(G, weight=lambda u, v, data: 1 + (u + v) % 3, backend="networkx")
    assert sum(np.isnan(list(one.values()))) == 1


def test_should_run():
    large, small = nx.cycle_graph(200), nx.path_graph(30)

    def ask(function, *args, **options):
        return nx_backend.should_run(function, args, options)

    for worth in (
        ask("betweenness_centrality", large),
        ask("betweenness_centrality", large, 25),
        ask("betweenness_centrality_subset", large, list(range(25)), [1]),
        ask("closeness_centrality", large, distance="km"),
        ask("harmonic_centrality", large, sources=range(30)),
        ask("harmonic_centrality", large, list(large)),
        ask("eccentricity", nx.path_graph(100), weight="km"),
        ask("group_betweenness_centrality", large, [0, 1]),
    ):
        assert worth is True
    assert "roots * edges = 870;" in ask("betweenness_centrality", G=small)
    assert "makes 10 searches" in ask("betweenness_centrality", large, 10)
    for sources in ([0], range(19), iter(range(90)), "ab"):
        assert "searches" in ask("betweenness_centrality_subset", large, sources, [1])
    for nbunch in (0, range(199), iter(large)):
        assert "nbunch is the shorter" in ask("harmonic_centrality", large, nbunch)
    assert "makes 1 searches" in ask("harmonic_centrality", large, None, None, 5)
    for function in OF_ALL_PAIRS:
        assert "asks for the eccentricities in turn" in ask(function, large)
    assert "makes 1 searches" in ask("closeness_centrality", large, 0)
    parallel = nx.MultiGraph([(u, (u + 1) % 30) for u in range(30) for _ in range(100)])
    assert "and at parallel edges" in ask("closeness_centrality", parallel)
    large.add_node("alone")
    for function in nx_backend.OF_CONNECTED:
        assert "does not reach all" in ask(function, large)
    large.edges[3, 4]["km"] = 0.0
    assert "has length 0.0; lengths are finite and > 0" in ask("closeness_centrality", large, None, "km")


@pytest.mark.parametrize("function", OF_ALL_PAIRS)
def test_networkx_asks_for_eccentricities_in_turn(function, monkeypatch):
    asked = []
    monkeypatch.setattr(nx_backend, "eccentricity", lambda G, *_, **__: asked.append(G) or {0: 3, 5: 4})
    with nx.config(backend_priority=["lagbc"]):
        assert getattr(nx, function)(nx.cycle_graph(100)) in (3, 4, [0], [5])
        assert len(asked) == 1
        getattr(nx, function)(nx.cycle_graph(100), usebounds=True)
        assert nx.center(nx.path_graph(100)) == [49, 50]
    assert len(asked) == 1


UNFIT = [0, -1, -2.5, float("nan"), float("inf"), "far", None, 2**53, 2**70]


def with_length(length):
    G = nx.cycle_graph(5)
    G.add_edge("a", "b", km=length)
    return G


@pytest.mark.parametrize("length", UNFIT, ids=repr)
@pytest.mark.parametrize("function", sorted(nx_metadata.COMPUTED_BY.keys() - OF_HOPS))
def test_unfit_lengths_are_named(function, length):
    """NetworkX passes the error on as it is."""
    G = with_length(length)
    subsets = {"sources": [0], "targets": [2]} if function.endswith("subset") else {}
    subsets |= {"group_b": {"C": [0, 2]}, "group_c": {"S": [0, 2]}}.get(function[:7], {})
    option = "weight" if "weight" in inspect.signature(getattr(nx, function)).parameters else "distance"
    if function in (*nx_backend.OF_CONNECTED, *OF_ALL_PAIRS):
        G.add_edge("b", 0)
    with pytest.raises((TypeError, ValueError)) as error:
        getattr(nx, function)(G, backend="lagbc", **subsets, **{option: "km"})
    assert re.search(r"edge \('a', 'b'\).*|add up to 2\*\*53 .* make them floats", str(error.value))
    assert not isinstance(error.value, NotImplementedError)


def test_unfit_lengths_of_a_graph_that_was_converted():
    G = nx_backend.convert_from_nx(with_length(0), edge_attrs={"km": 1})
    with pytest.raises(ValueError, match=r"edge \('a', 'b'\) has length 0; lengths are finite and > 0"):
        nx.betweenness_centrality(G, weight="km")


@pytest.mark.parametrize("length", UNFIT, ids=repr)
def test_unfit_lengths_fall_back(length, monkeypatch):
    monkeypatch.setattr(nx_backend, "WORTH", 0)
    monkeypatch.setattr(nx_backend, "FEW", 0)
    G = with_length(length)
    with nx.config(backend_priority=["lagbc"]):
        dispatched = whole(nx.betweenness_centrality, G, weight="km")
    theirs = whole(nx.betweenness_centrality, G, weight="km", backend="networkx")
    assert repr(dispatched) == repr(theirs), "in the same order, too"


@pytest.mark.parametrize("function", nx_metadata.COMPUTED_BY)
def test_arguments_are_those_of_networkx(function):
    theirs = inspect.signature(function_of(function).orig_func).parameters
    *ours, run = inspect.signature(getattr(nx_backend, function)).parameters.values()
    assert run.kind is run.VAR_KEYWORD
    ours = [(p.name, p.kind, p.default) for p in ours if p.kind is not p.KEYWORD_ONLY or p.name in theirs]
    assert ours == [(p.name, p.kind, p.default) for p in theirs.values()]


def test_metadata():
    info = nx.utils.backends.backend_info["lagbc"]
    assert info["backend_name"] == "lagbc"
    assert info["functions"].keys() == nx_metadata.COMPUTED_BY.keys()
    for function in info["functions"]:
        assert "lagbc" in function_of(function).backends
        assert "threads, memory" in function_of(function).__doc__
    assert nx_metadata.DIFFERENCES.keys() <= nx_metadata.COMPUTED_BY.keys()


def test_networkx_does_not_load_the_backend_before_it_is_used():
    names = "'lagbc.interfaces.nx_metadata', 'lagbc.interfaces.networkx'"
    script = f"import sys, networkx; print(*(name in sys.modules for name in ({names})))"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert printed == ["True", "False"]


def test_networkx_own_tests(tmp_path):
    calls, report = tmp_path / "calls.json", tmp_path / "report.xml"
    here = [str(Path(__file__).parent), str(Path(lagbc.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {
        "NETWORKX_TEST_BACKEND": "lagbc",
        "NETWORKX_FALLBACK_TO_NX": "True",
        "NX_SUITE_CALLS": str(calls),
        "PYTHONPATH": os.pathsep.join(here),
    }
    of_centrality = ("betweenness_centrality", "betweenness_centrality_subset", "closeness_centrality")
    of_centrality += ("group", "harmonic_centrality", "percolation_centrality")
    suite = [f"networkx.algorithms.centrality.tests.test_{name}" for name in of_centrality]
    of_distances = ("distance_measures", "efficiency", "wiener")
    suite += [f"networkx.algorithms.tests.test_{name}" for name in of_distances]
    suite += [f"networkx.algorithms.{room}.tests.test_centrality" for room in ("bipartite", "community")]
    suite.append("networkx.algorithms.shortest_paths.tests.test_generic")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "nx_suite_calls", "-p", "no:cacheprovider"]
    command += [f"--junitxml={report}", "--pyargs", *suite]
    limited = {"cwd": tmp_path, "env": environment, "timeout": 1200}  # it takes 20 s; this ends what hangs
    done = subprocess.run(command, capture_output=True, text=True, check=False, **limited)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    results = ET.parse(report).getroot()
    assert len(results.findall(".//testcase")) > 280
    failed = [case for case in results.iter("testcase") if case.find("skipped[@type='pytest.xfail']") is not None]
    names = {f"{case.get('classname').split('.')[-1]}::{case.get('name')}" for case in failed}
    assert names == nx_backend.EXPECTED_FAILURES.keys()
    called = json.loads(calls.read_text(encoding="utf-8"))
    # NetworkX skips its tests of groups where pandas is not installed.
    skipped = set() if importlib.util.find_spec("pandas") else {"group_betweenness_centrality"}
    assert called.keys() == nx_metadata.COMPUTED_BY.keys() - skipped
    assert called["betweenness_centrality"] > 50
