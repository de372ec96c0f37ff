"""Batches in flight share the edges of a rank, and all of them are counted."""

import pytest
from on_threads import estimated, line_of_threads, on_grid
from strategies import scale_free

import lagbc
from lagbc.graph.validate import as_graph
from lagbc.grid.deal import Shape, deal_graph
from lagbc.grid.sites import EdgesOfRank, Site

A = scale_free(300, 2000, seed=2)


def dealt(*, directed):
    (line,) = line_of_threads(1)
    return deal_graph(line, as_graph(A, directed=directed), 300, Shape(1, 1), directed)


@pytest.fixture
def taken(monkeypatch):
    """Note the blocks that are brought to where they are swept."""
    blocks, edges = [], Site.edges

    def noted(site, block, length):
        blocks.append(block)
        return edges(site, block, length)

    monkeypatch.setattr(Site, "edges", noted)
    return blocks


@pytest.mark.parametrize(("directed", "blocks"), [(True, 3), (False, 2)])
@pytest.mark.parametrize("overlap", [True, False])
def test_blocks_are_taken_once_a_rank(taken, directed, blocks, overlap):
    """However many batches are in flight."""
    on_grid((1, 2), A, lagbc.bc, directed=directed, overlap=overlap)
    assert len(taken) == 2 * blocks


def test_reversed_edges_take_those_of_the_other_way(taken):
    """But for a block of their own."""
    estimated("directed closeness", (1, 2), overlap=True)
    assert len(taken) == 2 * (3 + 1)


def test_edges_along_are_shared_by_ways_and_stay():
    blocks = dealt(directed=True).blocks
    edges = EdgesOfRank(blocks, 320, Site())
    along, against = edges.swept("along"), edges.swept("against")
    assert against.into is along.out
    assert against.out is along.into
    assert edges.swept("along") == along
    assert {*edges._own} == {*blocks}  # nothing else is kept


@pytest.mark.parametrize(("directed", "way"), [(False, "along"), (True, "along"), (True, "against"), (True, "either")])
def test_bytes_of_blocks(directed, way):
    """Of those that are held, and those that are made for a way."""
    blocks = dealt(directed=directed).blocks
    there = {*blocks, *blocks.swept(way)}
    assert blocks.bytes(way) == sum(block.indptr.nbytes + block.indices.nbytes for block in there)


def test_a_graph_counts_the_blocks_of_its_way():
    graph = dealt(directed=True)
    ways = graph.transpose, graph.symmetric
    held, *of_ways = (one.bytes_of_rank(on_gpu=False)[0] for one in (graph, *ways))
    counted = [of_way - held for of_way in of_ways]
    along = graph.blocks.bytes("along")
    assert counted == [graph.blocks.bytes(way) - along for way in ("against", "either")]
    assert min(counted) > 0
    assert graph.transpose.transpose.bytes_of_rank(on_gpu=False)[0] == held
