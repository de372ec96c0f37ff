"""Each long loop looks at the stop flag by itself, and leaves off in the middle.

A flag lies in an array that the loop writes: it is set when the number at its place is written, and so at the same step
each time. Vertices are those of a path, in steps from the root at its end.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from chained import ones
from scipy.sparse.csgraph import shortest_path
from states import by_levels, prepare, when_ready
from strategies import path, scale_free, with_lengths
from test_traversals import QUEUES, worker

from lagbc import native, tuning
from lagbc.calls import stopping_by
from lagbc.errors import StoppedError
from lagbc.graph import csr as graph_csr
from lagbc.graph.host import proximity_order
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu import batched, traversal
from lagbc.methods.sums import Bounds, Sums
from lagbc.native import classes_of, core, csr
from lagbc.reduce.blocks import find_strong, split
from lagbc.reduce.chains import Flows, contract
from lagbc.reduce.weighted import Weighted

LAST = 49
SET = np.ones(1, np.uint8)


def flag_in(array, place, byte):
    """Return a flag that is set once a byte of a number of an array is, the least byte being number 0."""
    return array.reshape(-1)[place : place + 1].view(np.uint8)[byte : byte + 1]


def prepared(module, A, index, *, weighted, **asked):
    """Return a graph of a type of indices, and the sweep of a worker."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_csr, "_MOST_IN_32_BITS", 0 if index == np.int64 else 2**31 - 1)
        patch.setattr(tuning, "SURVEYED", 0)  # small graphs are surveyed with narrow columns
        graph = as_graph(A, weighted=weighted)
        sweep = prepare(module, graph, SweepPlan(batch=64, **asked)).sweep
    assert graph.indices.dtype == index
    return graph, sweep


class Along:
    """The sweep of one root at the end of a path, where `row[v]` is the row of the vertex that is v steps from it."""

    def __init__(self, module, index, sums=("dependency",), lengths=None):
        A = path(LAST + 1) if lengths is None else with_lengths(path(LAST + 1), lengths)
        asked = {"sums": frozenset(sums), "omega": np.full(LAST + 1, 1 / 3)}  # whose sums have bits in their least byte
        graph, self.sweep = prepared(module, A, index, weighted=lengths is not None, **asked)
        self.row, self.roots = graph.position, np.array([0])

    def array(self, name, fill=None):
        """Return an array of the sweep, filled."""
        array = self.sweep.array(name)
        if fill is not None:
            array.fill(fill)
        return array

    def forward(self, flag):
        """Search until a flag is set: the count of entries, and the depth."""
        self.sweep.poll(flag)
        entries, depth, _ = self.sweep.forward(self.roots)
        assert flag[0]
        return entries, depth

    def in_column(self, array, v, byte):
        """Return a flag in a number of the root's column."""
        return flag_in(array, self.row[v] * 64, byte)

    def back(self):
        """Sweep back as far as a flag in c of vertex 40; return whether that was finished, and the sums."""
        flag, scores = self.in_column(self.array("values"), 40, 0), np.zeros((1, LAST + 1))
        self.sweep.poll(flag)
        finished = self.sweep.backward(Sums(dependency=scores).row(0), None, None, None)
        assert flag[0]
        return finished, scores

    def sigma(self, v):
        return self.array("values")[self.row[v], 0]


BACKWARD = {"levels": (by_levels, None), "waiting": (when_ready, None), "lengths": (batched, [0.5])}


@pytest.mark.parametrize("way", BACKWARD)
def test_backward(way, index):
    """Rows behind the one at which the flag is set keep their path counts, and nothing is added."""
    module, lengths = BACKWARD[way]
    along = Along(module, index, lengths=lengths)
    along.sweep.forward(along.roots)
    assert along.sigma(39) == along.sigma(40) == 1
    finished, scores = along.back()
    assert not finished
    assert not scores.any()
    assert along.sigma(39) == 1
    assert along.sigma(40) != 1


@pytest.mark.parametrize("sums", [("dependency",), ("reached",)], ids=["counted", "bits alone"])
def test_levels(sums, index):
    along = Along(by_levels, index, sums)
    assert along.forward(flag_in(along.array("starts"), 3, 0)) == (3, 2)  # where level 2 ends


def test_levels_before_rows_wait(index):
    along = Along(when_ready, index)
    _, depth = along.forward(flag_in(along.array("nearest", 0), along.row[3], 7))
    assert depth == 3
    assert np.count_nonzero(along.array("tight_masks")) == 3


@pytest.mark.parametrize("way", ["waiting", "lengths"])
def test_counting(way, index):
    module, lengths = BACKWARD[way]
    along = Along(module, index, ("dependency", "distance"), lengths)
    entries, _ = along.forward(along.in_column(along.array("values", 0), 3, 7))
    assert entries == 4
    assert along.sigma(3) == 1
    assert along.sigma(4) == 0


def test_distances(index):
    """Those that are found first, and once more behind path counts."""
    along = Along(batched, index, lengths=[1 / 3])
    distances = along.array("values")
    along.forward(along.in_column(distances, 2, 0))
    assert np.flatnonzero(np.isfinite(distances).any(axis=1)).tolist() == sorted(along.row[:3])
    along.sweep.write_distances(along.roots, distances)
    assert np.count_nonzero(np.isfinite(distances)) == 3


def test_short_distances(index):
    along = Along(batched, index, lengths=[2.0])
    along.forward(SET)
    assert np.count_nonzero(along.array("short_distances") < 2**16 - 1) == 1


def test_tight_edges(index):
    along = Along(batched, index, lengths=[0.5])
    starts = along.array("tight_starts", 256)
    along.forward(flag_in(starts, 5, 0))
    assert 0 < starts[5] < 12
    assert (starts[6:] == 256).all()


@pytest.mark.parametrize("queue", QUEUES)
def test_traversals(queue, index):
    """Vertices are numbered along the path; roots behind the one that was stopped are not searched."""
    sweep = worker(path(LAST + 1), index, queue)
    dist = sweep.array("dist")
    dist.fill(0)
    sweep.poll(flag_in(dist, 2, 7))
    depths, _, _ = sweep.sum(np.array([0, 1]), None, None)
    assert dist[:4].tolist() == [0, 1, 2, 0]
    assert not depths.any()
    assert not sweep.array("dependency").any()


class Fan:
    """The ball of one root from which 33 paths lead to a sink, and its arrays once it was summed."""

    RADIUS, SINK = 1023, 34

    def __init__(self, monkeypatch):
        monkeypatch.setattr(tuning, "WITHIN_TOGETHER", 1e9)
        mids = np.arange(1, self.SINK)
        ends = np.append(np.zeros_like(mids), mids), np.append(mids, np.full_like(mids, self.SINK))
        A = sp.coo_array((np.ones(len(ends[0])), ends), shape=(self.SINK + 1,) * 2)
        graph = as_graph(A, weighted=True)
        bounds = Bounds(np.array([float(self.RADIUS)]), np.zeros(1))
        state = prepare(traversal, graph, SweepPlan(batch=64, bounds=bounds, method="dijkstra"))
        self.sweep, self.ball = state.sweep, state.ball
        self.ball.sum_within(np.zeros(1, np.int64))
        self.sink = int(np.flatnonzero(self.ball.array("vertices")[: self.SINK + 1] == graph.position[self.SINK])[0])
        self.sweep.array("by_vertex").fill(0)

    def sum(self, flag):
        """Sum as far as a flag is set; return the distances and path counts of the root."""
        self.sweep.poll(flag)
        self.ball.sum_within(np.zeros(1, np.int64))
        assert flag[0]
        rows = slice(self.SINK + 1)
        return self.ball.array("dist")[rows, 0].tolist(), self.ball.array("sigma")[rows, 0]


def test_distances_within(monkeypatch):
    """The flag is set as the root of each lane is told: the second lane has none."""
    fan = Fan(monkeypatch)
    roots = fan.ball.array("roots")
    roots.fill(0)
    dist, _ = fan.sum(flag_in(roots, 1, 0))
    assert dist == [0] + [fan.RADIUS + 1] * fan.SINK


def test_counting_within(monkeypatch):
    """The flag is set as distances are found, in one pass."""
    fan = Fan(monkeypatch)
    dist = fan.ball.array("dist")
    dist.fill(0)
    dist, sigma = fan.sum(flag_in(dist, 64 * fan.sink, 0))
    assert dist[fan.sink] == 2
    assert (sigma == 1).all()


def test_backward_within(monkeypatch):
    """The flag is set as the paths to the sink are counted."""
    fan = Fan(monkeypatch)
    sigma = fan.ball.array("sigma")
    sigma.fill(1)
    _, sigma = fan.sum(flag_in(sigma, 64 * fan.sink, 5))
    assert sigma[fan.sink] == 33
    assert not fan.ball.array("beyond")[: fan.SINK + 1].any()
    assert not fan.sweep.array("by_vertex").any()


def test_single_roots(weighted, index):
    """A search, the sums along its paths, and what passes through."""
    graph = as_graph(path(LAST + 1), weighted=weighted)
    edges = csr(graph.indptr, graph.indices.astype(index), graph.weights)
    kind = classes_of("RootSweep")[np.dtype(index)]
    whole, stopped = (kind(edges, edges, None, 0.0, np.inf, stop) for stop in (np.zeros(1, np.uint8), SET))
    assert len(core.search_root(stopped, 0)[0]) == (0 if weighted else 1)
    *found, _ = core.search_root(whole, 0)
    omega = np.ones(LAST + 1)
    assert not core.count_through(stopped, *found, omega)[0].any()
    assert core.count_through(whole, *found, omega)[0].any()
    assert not core.sum_root(stopped, *found, omega, 1.0, 0, None).any()
    assert core.sum_root(whole, *found, omega, 1.0, 0, None).any()


class Chains:
    """What enters and leaves the chains of a ring of four junctions, every two of which are joined by three chains."""

    def __init__(self, number):
        ring = [(v, (v + 1) % 4) for v in range(4) for _ in range(3)]
        inner = 4 + np.arange(len(ring))
        rows, columns = np.append(np.array(ring)[:, 0], inner), np.append(inner, np.array(ring)[:, 1])
        half = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(16, 16))
        contracted = contract(ones(half + half.T))
        graph = contracted.graph.reordered
        lengths = sp.csr_array((graph.weights, graph.indices, graph.indptr), shape=(graph.n, graph.n))
        self.ways, self.roots = contracted.ways, contracted.roots
        self.flows = Flows.zeros(len(contracted.inside))
        self.dist = shortest_path(lengths).astype(number)
        self.made = np.zeros((4, graph.n)), np.zeros((4, len(self.ways.lengths))), np.zeros(4)
        self.paths = self.roots, self.dist[self.roots], np.ones((4, graph.n))

    def leave(self, stop):
        column = np.full(len(self.dist), -1)
        column[self.roots] = np.arange(4)
        return core.leave_chains(self.ways, self.flows, *self.paths, column, *self.made, stop)

    def enter(self, stop):
        return core.enter_chains(self.ways, *self.paths, *self.made, stop)


by_number = pytest.mark.parametrize("number", [np.int32, np.float64])


@by_number
def test_chains_are_left(number):
    """The flag is set as the demand by the first root is made, by its first chain."""
    chains = Chains(number)
    assert chains.leave(np.zeros(1, np.uint8))
    every = np.count_nonzero(chains.flows.out)
    chains = Chains(number)
    side = chains.ways.halves[chains.ways.first_halves[chains.roots[0]]] & 1
    chain = chains.ways.halves[chains.ways.first_halves[chains.roots[0]]] >> 1
    assert not chains.leave(flag_in(chains.flows.out[side], chains.ways.starts[chain], 7))
    assert 0 < np.count_nonzero(chains.flows.out) < every


@by_number
def test_chains_are_entered(number):
    """The flag is set as the demand of the first root is made."""
    chains = Chains(number)
    demand = chains.made[0]
    assert not chains.enter(flag_in(demand[0], chains.roots[1], 7))
    assert demand[0].any()
    assert not demand[1:].any()


def test_components_and_landmarks_are_not_searched_for(index):
    graph = as_graph(path(LAST + 1), directed=False)
    rows, zeros = csr(graph.indptr, graph.indices.astype(index)), np.zeros(graph.n, index)
    assert [len(found) for found in core.find_blocks(rows, SET)] == [graph.n, 0]
    whole = np.array([0, graph.n])
    assert [len(found) for found in core.find_strong(whole, rows.indptr, rows.indices, SET)] == [0, 0, 0, 0]
    points = np.full((graph.n, 2), -7, np.int32)
    core.measure_landmarks(
        rows.indptr, rows.indices, np.zeros(graph.n, np.int64), np.arange(graph.n, dtype=index), zeros, 1, points, SET
    )
    assert (points == -7).all()


def test_searches_of_a_large_graph_end_with_the_call(monkeypatch):
    """For landmarks, bicomponents, and strong components."""
    monkeypatch.setattr(native, "SHARED_FROM", 1)
    graph = as_graph(scale_free(200, 1200, seed=1), directed=True)
    both = graph.symmetric
    searches = (
        lambda: proximity_order(both.indptr, both.indices, graph.components),
        lambda: split(Weighted(graph, np.ones(graph.n), np.ones(graph.n))),
        lambda: find_strong(np.array([0, graph.n]), graph.indptr, graph.indices),
    )
    for search in searches:
        asked = iter([False, True])
        with pytest.raises(StoppedError), stopping_by(lambda asked=asked: next(asked)):
            search()
