"""Arrays of records whose lengths do not go together are refused, and both named."""

from dataclasses import replace

import numpy as np
import pytest
from chained import NO_WAYS
from schedules import by_levels, when_ready
from states import prepare
from strategies import grid, with_lengths

from lagbc.graph.validate import as_graph
from lagbc.methods.arrays import allocate
from lagbc.methods.block import BlockSize
from lagbc.methods.contract import StopFlag, SweepPlan
from lagbc.methods.cpu import groups
from lagbc.methods.cpu.batched import lengths
from lagbc.methods.cpu.batched.block import arrays as arrays_of_block
from lagbc.native import core, csr
from lagbc.reduce.streams import Flows

EVERY = frozenset({"dependency", "stress", "edges", "reached", "distance", "inverse", "depth"})
# Fields whose lengths no other field tells.
FREE = {"Csr.indptr"}


def records():
    """Make records of every class, which have all of their arrays among them."""
    A = with_lengths(grid(4, 5), [0.5, 0.75])
    weighted, whole, hops = as_graph(A, weighted=True), as_graph(A * 4, weighted=True), as_graph(A)
    every = SweepPlan(batch=64, sums=EVERY)
    with_members = replace(every, sums=frozenset({"dependency", "edges"}), class_sizes=np.ones(20))
    for plan in (every, with_members):
        yield from (prepare(by_levels, hops, plan).sweep, prepare(when_ready, hops, plan).sweep)
        yield from (prepare(lengths, graph, plan).sweep for graph in (weighted, whole))
    yield groups.prepare(hops, groups.plan_of(0.0, StopFlag()), np.ones((20, 3), np.bool_), endpoints=False).groups
    block, columns = (
        csr(np.zeros(13, np.int64), np.zeros(0, np.int32)),
        csr(np.zeros(9, np.int64), np.zeros(0, np.int32)),
    )
    cell = allocate(np, arrays_of_block(BlockSize(4, 2, 3), EVERY))
    yield core.BlockSweep(**cell, into=block, out=block, reach=columns, stop=np.zeros(1, np.uint8))


def fields(record):
    return {name: getattr(record, name) for name in dir(record) if not name.startswith("_")}


def kind(record):
    return type(record).__name__.rstrip("0123456789")


def arrays(made):
    """Return a record that has each array, by the names of both."""
    found = {}
    for record in made:
        for name, value in fields(record).items():
            if isinstance(value, np.ndarray) and name != "stop":
                found.setdefault(f"{kind(record)}.{name}", (record, name))
    return found


@pytest.fixture(scope="module")
def made():
    return list(records())


@pytest.mark.parametrize("change", ["shorter", "longer"])
@pytest.mark.parametrize("case", sorted({*arrays(records())} - FREE))
def test_every_array_has_the_shape_that_the_others_tell(case, change, made):
    record, name = arrays(made)[case]
    given = fields(record)
    array = given[name]
    type(record)(**given)
    wrong = array[:-1].copy() if change == "shorter" else np.concatenate([array, array[-1:]])
    pattern = rf"{type(record).__name__}: \w+ has to "
    with pytest.raises(ValueError, match=pattern):
        type(record)(**{**given, name: wrong})
    with pytest.raises(ValueError, match=pattern):
        setattr(record, name, wrong)
    assert getattr(record, name) is array
    setattr(record, name, array)


def test_records_of_all_classes_are_tried(made):
    classes = {name.rstrip("0123456789") for name, of in vars(core).items() if isinstance(of, type)}
    assert classes - {kind(record) for record in made} <= {"Queue", "Integers", "Names"}


def test_both_lengths_are_told():
    given = {"indptr": np.array([0, 1, 2]), "indices": np.zeros(2, np.int32), "lengths": np.ones(3)}
    with pytest.raises(ValueError, match=r"^Csr32: lengths has to be of shape \(nnz,\), nnz being 2, not \(3,\)$"):
        core.Csr32(**given)
    with pytest.raises(ValueError, match=r"^Csr32: indptr has to be of shape \(n \+ 1,\), not \(0,\)$"):
        core.Csr32(indptr=np.zeros(0, np.int64), indices=np.zeros(0, np.int32))


@pytest.mark.parametrize("indptr", [[0, 1, 3], [0, 1, 1], [1, 1, 2], [-1, 0, 2]])
def test_rows_that_are_not_all_indices(indptr):
    with pytest.raises(ValueError, match=f"indptr has to rise from 0 to the 2 indices, not from {indptr[0]} to"):
        csr(np.array(indptr), np.zeros(2, np.int32))


def test_graphs_of_a_sweep_are_of_its_size(made):
    sweep, other = made[0], as_graph(grid(3, 4))
    with pytest.raises(ValueError, match=r"LevelSweep32: into has to be of shape \(n, nnz\), n being 20 and nnz being"):
        sweep.into = csr(*other.csr)


@pytest.mark.parametrize("field", Flows._fields)
def test_tuples_have_the_shapes_that_are_told(field):
    rest = np.zeros(0), np.zeros(2), np.zeros(2)
    core.spread_flows(NO_WAYS, Flows.zeros(2), *rest)
    wrong = Flows.zeros(2)
    wrong = wrong._replace(**{field: getattr(wrong, field).repeat(2, axis=-1)})
    with pytest.raises(TypeError, match=r"flows has to be a Flows, a tuple \(out \(2, inside\): .* not a tuple"):
        core.spread_flows(NO_WAYS, wrong, *rest)
