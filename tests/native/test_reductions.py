"""Kernels of graphs and reductions: the same for both types of indices; what is no tuple of theirs is refused."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from chained import NO_WAYS
from hypothesis import given
from hypothesis import strategies as st
from strategies import scale_free, with_lengths

from lagbc import native
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.native import core, csr
from lagbc.reduce.blocks import Copies, Strong, lay_rows
from lagbc.reduce.chains import Flows
from lagbc.reduce.twins import count_kept, find_classes, merge, take_kept
from lagbc.reduce.weighted import Weighted

A = sp.block_diag([with_lengths(scale_free(60, 90, seed=seed), [1.0, 2.0, 0.5]) for seed in range(4)])


def copies_in(rows):
    """Return the copies of vertices in the bicomponents of a graph."""
    home, attach = core.find_blocks(rows, np.zeros(1, np.uint8))
    ptr, vertices, *rest = core.lay_out(home, attach)
    return Copies(ptr, vertices, home, rest[0], attach, *rest[1:])


def made(index, *, weighted, directed):
    """Return all that the kernels make of a graph, step after step."""
    graph = as_graph(A, weighted=weighted, directed=directed)
    out = csr(graph.indptr, graph.indices.astype(index), graph.weights)
    turned = graph.transpose
    into = out if turned is graph else csr(turned.indptr, turned.indices.astype(index), turned.weights)
    both = csr(graph.symmetric.indptr, graph.symmetric.indices.astype(index))
    rng = np.random.default_rng(1)
    weights, other, members = rng.random(graph.n), rng.random(graph.n), rng.integers(1, 3, graph.n).astype(float)

    copies = copies_in(both)
    columns, places = np.empty(graph.nnz, index), np.empty(graph.nnz, np.int64)
    ends = lay_rows(out.indptr, out.indices, copies, columns, places)
    strong = Strong(*core.find_strong(copies.ptr, ends, columns, np.zeros(1, np.uint8)))
    arcs = core.condense(ends, columns, strong)
    alone = np.zeros(len(copies.attach) + 1, np.int64), columns[:0]  # no arcs
    blocks, numbers = len(copies.attach), np.arange(len(copies.vertices), dtype=copies.vertices.dtype)
    connected = Strong(np.repeat(numbers[:blocks], np.diff(copies.ptr)), np.arange(blocks + 1), copies.ptr, numbers)
    spread = core.spread_along(copies, connected, *alone, True, weights)
    typed = Graph(graph.indptr, graph.indices.astype(index), directed, graph.weights)
    first, closed = find_classes(typed)
    kept = first == np.arange(graph.n)
    taken = out, kept, (np.cumsum(kept) - 1).astype(index)
    order, position = np.argsort(-members, kind="stable"), np.argsort(np.argsort(-members, kind="stable"))
    starts = np.append(0, np.cumsum(np.diff(out.indptr)[order]))
    heads, tails = np.empty(graph.nnz, index), np.empty(graph.nnz, index)
    lengths = np.empty(graph.nnz) if weighted else None
    core.relabel(out, order, position.astype(index), 0, graph.n, starts, tails, heads, lengths)
    return [
        *copies,
        *strong,
        *arcs,
        *spread,
        columns,
        places,
        core.sum_separated(copies, *spread),
        *core.spread_along(copies, strong, *arcs[:2], False, weights),
        *core.spread_along(copies, strong, *arcs[2:], True, weights),
        first,
        closed,
        *core.pairs_inside(out, into, first, closed, weights, other, members),
        *(array for array in take_kept(typed, *taken, count_kept(typed, *taken)).csr if array is not None),
        core.find_components(both.indptr, both.indices),
        *core.search_from(both.indptr, both.indices, np.array([5, 70])),
        core.sort_by_key(both.indices[: graph.n], np.arange(graph.n)),
        heads,
        tails,
        *([] if lengths is None else [lengths]),
    ]


def test_both_types_of_indices(weighted, directed):
    narrow, wide = (made(index, weighted=weighted, directed=directed) for index in (np.int32, np.int64))
    assert len(narrow) == len(wide)
    for ours, theirs in zip(narrow, wide, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    types = [{array.dtype.name for array in arrays} for arrays in (narrow, wide)]
    assert "int32" in types[0]
    assert "int32" not in types[1]


def test_copies_and_twins_do_not_depend_on_the_threads(monkeypatch, directed):
    """Columns are of the type that the caller has made room of."""
    graph, made_by = as_graph(A, directed=directed), []
    copies = copies_in(csr(*graph.symmetric.csr))
    assert len(copies.attach) > 8
    monkeypatch.setattr(native, "SHARED_FROM", 1)
    for cores, kind in ((1, np.int32), (3, np.int64), (7, np.int32)):
        monkeypatch.setattr(native, "cores", lambda cores=cores: cores)
        columns, places = np.empty(graph.nnz, kind), np.empty(graph.nnz, np.int64)
        pointers = lay_rows(graph.indptr, graph.indices, copies, columns, places)
        merged, classes = merge(Weighted(graph, *np.ones((2, graph.n))))
        made_by.append([pointers, columns, places, *merged.graph.csr[:2], *classes[:3]])
    assert merged.graph.n < graph.n
    assert all(all(map(np.array_equal, several, made_by[0])) for several in made_by[1:])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (None, r"^spread_flows\(\): incompatible function arguments"),
        ([np.zeros(1)] * 4, "^flows has to be a tuple of 4, not of type list"),
        ((np.zeros(1),), "^flows has to be a tuple of 4, not of 1"),
        (Flows.zeros(2)._replace(within=np.zeros(2, np.float32)), "^within has to be .* not an array of float32"),
        (Flows.zeros(2)._replace(out=np.zeros((2, 4))[:, ::2]), "^out has to be .* that is not C-contiguous"),
    ],
)
def test_tuples_that_are_refused_are_named(wrong, message):
    with pytest.raises(TypeError, match=message):
        core.spread_flows(NO_WAYS, wrong, np.zeros(0), np.zeros(2), np.zeros(2))


# Bicomponents


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


PATHS = nx.path_graph(5), nx.path_graph(20_000)
KNOWN = nx.empty_graph(3), nx.barbell_graph(4, 2), nx.cycle_graph(6), nx.star_graph(4), nx.karate_club_graph(), *PATHS


@pytest.mark.parametrize("graph", KNOWN, ids=str)
def test_known_graphs(graph, index):
    assert_right(graph, index)


@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=25))
def test_random_graphs(n, edges):
    graph = nx.empty_graph(n)
    graph.add_edges_from((u, v) for u, v in edges if u != v and u < n and v < n)
    assert_right(graph)
