"""Arrays whose sizes do not go together are refused, and named."""

import numpy as np
import pytest
from chained import NO_WAYS
from refused import of_shape, refused
from strategies import grid, with_lengths

from lagbc.graph.validate import as_graph
from lagbc.methods.cpu.batched import BatchRequest
from lagbc.methods.sums import Sums, bits_of
from lagbc.native import core, csr
from lagbc.reduce.chains import Flows

EVERY = frozenset({"dependency", "stress", "edges", "reached", "distance", "inverse", "depth"})


def test_lengths_are_as_many_as_indices():
    refused(ValueError, of_shape("lengths", 2, found=(3,)), csr, np.array([0, 1, 2]), np.zeros(2, np.int32), np.ones(3))


@pytest.mark.parametrize("indptr", [[0, 1, 3], [0, 1, 1], [1, 1, 2], [-1, 0, 2], []])
def test_rows_that_are_not_all_indices(indptr):
    told = r"^indptr has to rise from 0 to the 2 indices$"
    refused(ValueError, told, csr, np.array(indptr, np.int64), np.zeros(2, np.int32))


@pytest.mark.parametrize("field", Flows._fields)
def test_tuples_have_the_shapes_that_are_told(field):
    rest = np.zeros(0), np.zeros(2), np.zeros(2)
    core.spread_flows(NO_WAYS, Flows.zeros(2), *rest)
    wrong = Flows.zeros(2)
    wrong = wrong._replace(**{field: getattr(wrong, field).repeat(2, axis=-1)})
    told = "out" if field == "within" else field  # `within` tells the shapes of the others
    refused(ValueError, rf"^{told} has to be of shape \(2.*\), not \(", core.spread_flows, NO_WAYS, wrong, *rest)


# The batched method

GRAPH = as_graph(with_lengths(grid(4, 5), [0.5, 0.75]), weighted=True)
N, NNZ = GRAPH.n, GRAPH.nnz
KINDS = ["LevelSweep", "WaitingSweep", "LengthSweep"]
REQUEST = BatchRequest(1e300, False, False, active=N, pull_share=0.1, count_width=1.0, width=1.0)
OF_VERTICES = {"order": GRAPH.order, "position": GRAPH.position, "omega": np.ones(N), "class_sizes": np.ones(N)}
sweeps = pytest.mark.parametrize("kind", KINDS)
changes = pytest.mark.parametrize("change", [-1, 1], ids=["shorter", "longer"])


def sweep_of(kind, **wrong):
    graphs = {"out": csr(*GRAPH.reordered.csr), "into": csr(*GRAPH.reordered.transpose.csr)}
    given = {"sums": bits_of(EVERY), "room": N, "growth": -1, "is_short": False, "request": REQUEST}
    return getattr(core, f"{kind}32")(**graphs | given | OF_VERTICES | wrong)


def not_of(name, *shape):
    """Return the error of an array of another shape, and its text."""
    return ValueError, of_shape(name, *shape)


@sweeps
@changes
@pytest.mark.parametrize("name", OF_VERTICES)
def test_arrays_of_a_sweep_are_of_its_vertices(kind, name, change):
    sweep_of(kind)
    refused(*not_of(name, N), sweep_of, kind, **{name: np.resize(OF_VERTICES[name], N + change)})


def test_graphs_of_a_sweep_are_of_one_size():
    told = r"^into has to have 20 rows and 62 edges, not 12 rows and 34 edges$"
    refused(ValueError, told, sweep_of, "LevelSweep", into=csr(*as_graph(grid(3, 4)).csr))


@sweeps
@changes
@pytest.mark.parametrize("name", sorted(EVERY - {"depth"}))
def test_sums_of_a_sweep_are_of_its_graph(kind, name, change):
    sweep = sweep_of(kind)
    sweep.forward(np.arange(3))
    size = NNZ if name == "edges" else N
    sums = Sums(**{name: np.zeros((1, size + change))}).row(0)
    refused(*not_of(name, size), sweep.backward, sums, None, None, None)


@sweeps
def test_arguments_of_a_sweep_are_of_its_columns(kind):
    sweep, sums = sweep_of(kind), Sums(dependency=np.zeros((1, N))).row(0)
    refused(ValueError, r"^a batch has 65 roots; a state has 64 columns$", sweep.forward, np.zeros(65, np.int64))
    refused(IndexError, r"^root 20 is none of the 20 vertices$", sweep.forward, np.array([0, N]))
    sweep.forward(np.arange(3))
    refused(*not_of("times", 64), sweep.backward, sums, None, np.ones(3), None)
    refused(*not_of("edge_order", NNZ), sweep.backward, sums, None, None, np.arange(NNZ - 1))
    refused(*not_of("omega", N, 64), sweep.backward, sums, np.ones((N + 1, 64)), None, None)
    refused(*not_of("depth", 64), sweep.backward, Sums(depth=np.zeros(65)).row(0), None, None, None)
    if kind == "LengthSweep":
        refused(*not_of("dist", N, 64), sweep.write_distances, np.arange(3), np.zeros((N - 1, 64)))
    else:
        refused(*not_of("dist", N, 3), sweep.write_levels, np.zeros((N - 1, 3)))
        refused(*not_of("dist", N, 64), sweep_of(kind).write_levels, np.zeros((N, 65)))


@sweeps
def test_edges_are_not_summed_without_their_order(kind):
    sweep, sums = sweep_of(kind), Sums(edges=np.zeros((1, NNZ))).row(0)
    sweep.forward(np.arange(3))
    told = r"^edge_order has to be there, as edges are summed$"
    refused(ValueError, told, sweep.backward, sums, None, None, None)
    sweep.backward(sums, None, None, np.arange(NNZ))


@pytest.mark.parametrize("count", [-1, N + 1])
def test_no_more_vertices_are_active_than_there_are(count):
    told = rf"^active has to be from 0 to 20, not {count}$"
    refused(ValueError, told, sweep_of, "LevelSweep", request=REQUEST._replace(active=count))


def rows(count):
    """Return so many rows without entries."""
    return csr(np.zeros(count + 1, np.int64), np.zeros(0, np.int32))


def block_of(**wrong):
    given = {"into": rows(12), "out": rows(12), "reach": rows(8), "slice": 4, "own": 4, "sums": bits_of(EVERY)}
    return core.BlockSweep(**given | {"omega": np.ones(4), "request": REQUEST} | wrong)


def test_arrays_and_graphs_of_a_block_are_of_its_size():
    assert block_of().array("values").shape == (8, 64)
    refused(*not_of("omega", 4), block_of, omega=np.ones(5))
    refused(ValueError, r"^own has to be from 0 to 8, not 9$", block_of, own=9, omega=None)
    refused(ValueError, r"^out has to have 12 rows and 0 edges, not 2 rows and 0 edges$", block_of, out=rows(2))
    one = csr(np.array([0, 1]), np.zeros(1, np.int32))
    refused(ValueError, r"^reach has to have 1 rows and 0 edges, not 1 rows and 1 edges$", block_of, reach=one)


@changes
def test_members_of_groups_are_vertices(change):
    of_groups = np.ones((N, 3), np.bool_), np.ones(N + change, np.bool_), False, True
    refused(*not_of("is_member", N), core.Groups, *of_groups)
