"""Blocks, against NetworkX."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lagbc.native import core, csr


def blocks_of(graph, index=np.int32):
    """Return home, attach, and the vertices of each block."""
    A = nx.to_scipy_sparse_array(graph, format="csr", nodelist=range(len(graph)))
    home, attach = core.find_blocks(csr(A.indptr.astype(np.int64), A.indices.astype(index)), np.zeros(1, np.uint8))
    blocks = [{int(v), *np.flatnonzero(home == block).tolist()} for block, v in enumerate(attach)]
    return home, attach, blocks


def assert_right(graph, index=np.int32):
    home, attach, blocks = blocks_of(graph, index)
    assert home.dtype == attach.dtype == index
    assert sorted(map(sorted, blocks)) == sorted(map(sorted, nx.biconnected_components(graph)))
    for block, v in enumerate(attach):
        assert home[v] == -1 or home[v] > block


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(
    "graph",
    [
        nx.empty_graph(3),
        nx.path_graph(5),
        nx.barbell_graph(4, 2),
        nx.cycle_graph(6),
        nx.star_graph(4),
        nx.karate_club_graph(),
        nx.path_graph(20_000),
    ],
    ids=str,
)
def test_known_graphs(graph, index):
    assert_right(graph, index)


@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=25))
def test_random_graphs(n, edges):
    graph = nx.empty_graph(n)
    graph.add_edges_from((u, v) for u, v in edges if u != v and u < n and v < n)
    assert_right(graph)
