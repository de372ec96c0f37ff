"""Streams by the kernels of the GPU, run on the host: against sums over pairs, and by groups of several sizes."""

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from chained import BATCHED, FAMILIES, assert_agree, hub, ones, plain, random_piece, sums_of
from emulation import COMPILER, Arrays, Kernels
from strategies import times

import lagbc
from lagbc.methods import table
from lagbc.methods.contract import Batching
from lagbc.methods.sums import Sums
from lagbc.reduce import device
from lagbc.reduce.chains import Columns
from lagbc.reduce.weighted import Weighted
from lagbc.run import bicomponents
from lagbc.run.work import inline

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
SOURCE = Path(device.__file__).with_name("columns.py")


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    return Kernels(device.STREAMS.source, tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def device_columns(monkeypatch, emulated):
    """The class of the GPU's columns, which `run` then takes."""
    monkeypatch.setattr(device, "STREAMS", emulated)
    changed = ModuleType("emulated.columns")
    monkeypatch.setitem(sys.modules, changed.__name__, changed)
    monkeypatch.setitem(sys.modules, "cupy", Arrays)
    monkeypatch.setattr(table, "_is_installed", lambda library: library != "cupy")  # `Arrays` has no spec
    exec(compile(SOURCE.read_text(encoding="utf-8"), str(SOURCE), "exec"), vars(changed))
    monkeypatch.setattr(bicomponents, "columns_on", lambda device: changed.Columns)
    return changed.Columns


@pytest.mark.parametrize("several", [0.0, 0.15], ids=["", "members"])
def test_small_blocks(device_columns, weighted, several):
    rng = np.random.default_rng([6, weighted, several > 0])
    for _ in range(times(3)):
        for family in FAMILIES:
            piece = random_piece(rng, family, weighted, several)
            assert_agree(sums_of(piece, carry=inline), plain(piece))


def test_a_hub_of_many_chains(device_columns):
    """Its far ends are searched in two batches."""
    A = hub(70)
    ours = sums_of(ones(A), carry=inline)
    np.testing.assert_allclose(ours.dependency, 2 * lagbc.bc(A, directed=False, reduce="none"), rtol=1e-12)


class Wide:
    """A module that sweeps as many roots at a time as it is asked to, in blocks of 64, as on a GPU."""

    batching = Batching(block=64, auto=64)

    def arrays(self, graph, plan):
        return {}

    def prepare(self, graph, plan):
        return [BATCHED.load().prepare(graph, replace(plan, batch=64)) for _ in range(plan.batch // 64)]

    def forward(self, states, roots):
        parts = [roots[first : first + 64] for first in range(0, len(roots), 64)]
        found = [next(iter(BATCHED.load().forward(*one))) for one in zip(states, parts, strict=False)]
        overflowed = np.concatenate([levels.overflowed for levels in found])
        yield SimpleNamespace(found=found, places=np.arange(len(roots)), overflowed=overflowed)

    def paths(self, states, levels):
        of_blocks = [BATCHED.load().paths(*one) for one in zip(states, levels.found, strict=False)]
        return tuple(np.concatenate(arrays, axis=1) for arrays in zip(*of_blocks, strict=True))

    def backward(self, states, levels, sums, omega):
        for block, found in enumerate(levels.found):
            row = Sums(**{name: array[block : block + 1] for name, array in sums})
            BATCHED.load().backward(states[block], found, row, omega[:, 64 * block :][:, :64].copy())


def unlike(spokes):
    """A ring around a hub, with weights that are not summed exactly."""
    graph = ones(hub(spokes)).graph
    return Weighted(graph, *np.random.default_rng(7).random((2, graph.n)))


def assert_same_bits(ours, theirs):
    np.testing.assert_array_equal(ours.dependency, theirs.dependency)
    np.testing.assert_array_equal(ours.edges, theirs.edges)


WIDE = SimpleNamespace(name="wide", device="cuda", weighted=True, arrays=np, context=nullcontext, load=Wide)


@pytest.fixture
def wide(monkeypatch):
    """The row of the method, while there is one."""
    monkeypatch.setattr(table, "METHODS", (*table.METHODS, WIDE))
    return WIDE


def test_same_bits_whatever_the_groups(device_columns, wide):
    piece = unlike(130)
    whole = sums_of(piece, wide, carry=inline)
    for size in (64, 128):
        assert_same_bits(sums_of(piece, wide, size=size, carry=inline), whole)
    theirs = sums_of(piece, carry=inline)
    np.testing.assert_allclose(whole.dependency, theirs.dependency, rtol=1e-12)
    np.testing.assert_allclose(whole.edges, theirs.edges, rtol=1e-12)


def test_memory_that_ends(device_columns, wide, monkeypatch):
    """A group that does not fit is halved, to the same bits, until it is a block."""
    piece, sizes = unlike(130), []

    class Scarce(bicomponents._Groups):
        most = 64

        def __init__(self, *given):
            sizes.append(given[-1])
            if sizes[-1] > self.most:
                raise MemoryError
            super().__init__(*given)

    whole = sums_of(piece, wide, size=192, carry=inline)
    monkeypatch.setattr(bicomponents, "_Groups", Scarce)
    with pytest.warns(lagbc.MemoryWarning, match="goes on with batch="):
        assert_same_bits(sums_of(piece, wide, size=192, carry=inline), whole)
    assert sizes == [192, 128, 64]
    monkeypatch.setattr(Scarce, "most", 0)
    with pytest.raises(MemoryError):
        sums_of(piece, wide, size=64, carry=inline)


def test_demand_on_the_host_has_the_same_bits_whatever_the_groups(monkeypatch):
    made = []

    class Noted(Columns):
        def weights(self, first, count):
            weights = super().weights(first, count)
            made.append(weights.T.copy())
            return weights

    monkeypatch.setattr(bicomponents, "columns_on", lambda device: Noted)
    found = []
    for size in (64, 128, 192):
        made.clear()
        sums_of(unlike(130), size=size, carry=inline)
        found.append(np.concatenate(made))
    for weights in found[1:]:
        np.testing.assert_array_equal(weights, found[0])
