"""Straightness is the oracle's and momepy's, does not depend on where the map lies, and refuses other units."""

import math

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import adjacency, grid, lengths, path, vertex_weights, weighted_graphs

import lagbc
from lagbc import reference, tuning
from lagbc.graph.coordinates import Coordinates
from lagbc.scores import finish

# By `momepy.straightness_centrality` of momepy 0.11: of the streets below, and with ``radius=250, distance="mm_len"``.
MOMEPY = {
    np.inf: [
        *(0.7224075852, 0.6473474352, 0.6994438295, 0.763717232, 0.7366140144, 0.74065433, 0.7133474836, 0.7286276498),
        *(0.705022134, 0.7296322026, 0.6980142071, 0.6967093478, 0.5432747117, 0.7200852333, 0.7906482834),
        *(0.7494911203, 0.7146356317, 0.7535281566, 0.7992942299, 0.6245731381, 0.8, 0.8, 0.0),
    ],
    250: [
        *(0.9470191194, 0.8944589725, 0.8852331133, 0.8491560691, 0.8227985234, 0.8936445473, 0.9251891719),
        *(0.7983283707, 0.8244519605, 0.8228982447, 0.7883460517, 0.8625099382, 0.7411273116, 0.8558667616),
        *(0.8621653029, 0.8308745548, 0.9078761167, 0.846880965, 0.8578503023, 0.960703838, 0.8, 0.8, 0.0),
    ],
}
# Graphs of strategies have lengths of 1 and more; any two of these places are less than 1 apart.
PLACES = np.random.default_rng(0).random((24, 2)) * 0.7
pytestmark = pytest.mark.filterwarnings("ignore:the edge:UserWarning")


def streets():
    """Make a small town whose streets bend, as momepy does: junctions are called by their places."""
    G = nx.MultiGraph()

    def place(i, j):
        return 100.0 * i + 17 * (i * j % 3), 100.0 * j + 23 * ((i + 2 * j) % 4)

    for number, (u, v) in enumerate(nx.grid_2d_graph(5, 4).edges):
        if number % 5 != 2:
            a, b = place(*u), place(*v)
            G.add_edge(a, b, mm_len=math.dist(a, b) * (1 + number % 3 / 10))
    G.add_edge((900.0, 0.0), (960.0, 80.0), mm_len=125.0)
    G.add_node((900.0, 900.0))
    for x, y in G:
        G.nodes[x, y].update(x=x, y=y)
    return G


@pytest.mark.parametrize("together", [0.0, 1e9], ids=["root by root", "roots together"])
def test_it_is_that_of_momepy(together, monkeypatch):
    monkeypatch.setattr(tuning, "WITHIN_TOGETHER", together)
    ours = lagbc.straightness(streets(), weighted="mm_len", cutoff=[*MOMEPY])
    np.testing.assert_allclose(ours, np.transpose([*MOMEPY.values()]), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(lagbc.straightness(streets(), weighted="mm_len"), ours[:, 0])


@given(weighted_graphs(), st.booleans(), st.booleans(), st.booleans(), st.data())
def test_it_is_that_of_the_oracle(A, directed, weighted, together, data):
    n, cutoffs = A.shape[0], [2, 5.5, np.inf]
    omega = data.draw(st.none() | vertex_weights(n))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "WITHIN_TOGETHER", 1e9 if together else 0.0)
        given = {"cutoff": cutoffs, "target_weights": omega}
        ours = lagbc.straightness(A, PLACES[:n], directed=directed, weighted=weighted, **given)
    indptr, indices = adjacency(A, directed=directed)
    of_edges = lengths(A, directed=directed) if weighted else None
    for j, cutoff in enumerate(cutoffs):
        given = {"cutoff": cutoff, "target_weights": omega, "coordinates": PLACES[:n].tolist()}
        expected = np.array(reference.straightness(indptr, indices, of_edges, **given), float)
        np.testing.assert_allclose(ours[:, j], expected, rtol=1e-12)


@given(weighted_graphs(), st.booleans(), st.data())
def test_names_and_the_place_of_the_map_do_not_matter(A, directed, data):
    """Vertices are renamed; the map is turned, moved and drawn to another scale, and its lengths with it."""
    n, how = A.shape[0], {"directed": directed, "weighted": True}
    expected = lagbc.straightness(A, PLACES[:n], cutoff=4, **how)
    order = np.array(data.draw(st.permutations(range(n))), np.int64)
    renamed = lagbc.straightness(A.tocsr()[order][:, order], PLACES[:n][order], cutoff=4, **how)
    np.testing.assert_allclose(renamed, expected[order], rtol=1e-12)
    angle, scale = data.draw(st.floats(0, 7)), data.draw(st.sampled_from([1e-3, 1.0, 250.0, 1e200, 1e-200]))
    turned = PLACES[:n] @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]) + [7, -3]
    np.testing.assert_allclose(
        lagbc.straightness(A * scale, turned * scale, cutoff=4.5 * scale, **how),
        lagbc.straightness(A, PLACES[:n], cutoff=4.5, **how),
        rtol=1e-11,
    )


def test_straight_ways():
    """Of a line each way is straight; of a lattice, whose ways are as long as those of a taxi, the mean is known."""
    assert lagbc.straightness(path(5), [(i, 0) for i in range(5)], directed=False).tolist() == [1] * 5
    assert lagbc.straightness(np.eye(2, k=1), [(0, 0), (1, 0)]).tolist() == [1, 0]
    places = [(i // 2, i % 2) for i in range(4)]
    corner = (1 + 1 + np.sqrt(2) / 2) / 3
    np.testing.assert_allclose(lagbc.straightness(grid(2, 2), places, directed=False), [corner] * 4)
    some = lagbc.straightness(grid(2, 2), places, directed=False, targets=[3])
    np.testing.assert_allclose(some, [np.sqrt(2) / 2, 1, 1, 0])


def test_weights_of_any_size():
    """Some are summed by themselves, as others take their range."""
    weights = [1e-300, 1.0, 1e300, 1e-310]
    ours = lagbc.straightness(grid(2, 2), [(i // 2, i % 2) for i in range(4)], directed=False, target_weights=weights)
    np.testing.assert_allclose(ours, [1, np.sqrt(2) / 2, np.sqrt(2) / 2, 1], rtol=1e-12)


def test_coordinates_of_a_graph():
    """Attributes x and y, or those of a file; degrees are refused, as no line is straight between them."""
    G = nx.path_graph(3)
    for v in G:
        G.nodes[v].update(x=v, y=0.0)
    assert lagbc.straightness(G).tolist() == [1, 1, 1]
    G.graph["crs"] = "epsg:4326"
    for degrees in ({}, {"coordinates": Coordinates(np.zeros((3, 2)), degrees=True)}):
        with pytest.raises(ValueError, match="longitudes and latitudes, between which no line is straight; project"):
            lagbc.straightness(G, **degrees)
    with pytest.raises(ValueError, match="longitudes and latitudes"):
        lagbc.straightness(lagbc.read_graph("example:minnesota"))


@pytest.mark.parametrize("at_once", [1, 3, 2**16])
def test_units_that_differ_are_told(monkeypatch, at_once):
    monkeypatch.setattr(finish, "_EDGES_AT_ONCE", at_once)
    G = nx.Graph()
    G.add_edge("ann", "bob", length=5.0, metres=500.0)
    G.add_edge("bob", "cy", length=0.5, metres=50.0)
    with pytest.raises(ValueError, match=r"the edge \('bob', 'cy'\) has the length 0\.5, and .* 1\.2 times as long"):
        lagbc.straightness(G, [(0, 0), (0, 3), (0, 3.6)], weighted="length")
    with pytest.raises(ValueError, match=r"the edge \('ann', 'bob'\) counts as 1, as hops .*; weighted= takes lengths"):
        lagbc.straightness(G, [(0, 0), (0, 3), (0, 3.4)])
    lagbc.straightness(G, [(0, 0), (0, 3), (0, 3.504)], weighted="length")  # 0.8 %, as a projection has it
    with pytest.warns(UserWarning, match=r"the edge .* is the straightest of all: .* is 0\.3 of it; do lengths"):
        lagbc.straightness(G, [(0, 0), (0, 150), (0, 150.05)], weighted="metres")
    with pytest.warns(UserWarning, match="If these are longitudes and latitudes, project them first"):
        lagbc.straightness(G, [(13.4, 52.5), (13.4, 52.501), (13.4, 52.502)], weighted="length")
    with pytest.raises(ValueError, match="inf times as long"):
        lagbc.straightness(G, [(0, -1e308), (0, 1e308), (0, 0)], weighted="length")


def test_places_by_name():
    G = nx.path_graph(["p", "q", "r", "s"])
    places = {"p": (0, 0), "q": (0.9, 0), "r": (0.9, 0.9), "s": (0.1, 0.9)}
    expected = lagbc.straightness(G, [*places.values()])
    others = dict(reversed(places.items()))
    frame = pd.DataFrame.from_dict(others, orient="index", columns=["x", "y"])
    for form in (others, frame, frame[["y", "x"]].assign(streets=3), frame[::-1].reset_index(drop=True)):
        np.testing.assert_array_equal(lagbc.straightness(G, form), expected)
    numbered, swapped = nx.relabel_nodes(G, dict(zip("pqrs", (2, 0, 3, 1), strict=True))), frame[::-1]
    by_number = swapped.set_axis([2, 0, 3, 1])  # whose order is not that of the vertices
    np.testing.assert_array_equal(lagbc.straightness(numbered, by_number), expected)
    np.testing.assert_array_equal(lagbc.straightness(numbered, by_number.sort_index()), expected)
    for table in (frame.reset_index(), frame.rename(columns={"x": "lon"}).assign(streets=3)):
        with pytest.raises(ValueError, match=r"the columns .*; if one of them names the vertices, make it the index"):
            lagbc.straightness(G, table)
    with pytest.raises(ValueError, match=r"1 of the 4 vertices have no finite coordinates, the first is vertex 's'"):
        lagbc.straightness(G, frame.drop("s"))


def test_a_checkpoint_of_other_coordinates_is_refused(tmp_path):
    A, how = grid(6, 7), {"directed": False, "checkpoint": tmp_path / "run.npz"}
    places = np.array([(i // 7, i % 7) for i in range(42)], float)
    expected = lagbc.straightness(A, places, **how)
    np.testing.assert_array_equal(lagbc.straightness(A, places, **how), expected)
    with pytest.raises(lagbc.CheckpointError):
        lagbc.straightness(A, places * 0.9, **how)
