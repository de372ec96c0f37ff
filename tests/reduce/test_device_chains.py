"""Streams by the kernels of the GPU, run on the host: against sums over pairs, and by groups of several sizes."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from emulation import COMPILER, Arrays, Kernels
from test_chains import FAMILIES, assert_agree, hub, ones, plain, random_piece, sums_of

import lagbc
from lagbc.reduce.columns import Columns
from lagbc.reduce.device import kernels
from lagbc.reduce.piece import Piece
from lagbc.run import chains as run

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
SOURCE = Path(kernels.__file__).with_name("columns.py")


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    return Kernels(kernels.STREAMS, tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def device_columns(monkeypatch, emulated):
    """The class of the GPU's columns, which `run` then takes."""
    monkeypatch.setattr(kernels, "begin", lambda: None)
    monkeypatch.setattr(kernels, "launch", emulated.launch)
    changed = ModuleType("emulated.columns")
    monkeypatch.setitem(sys.modules, changed.__name__, changed)
    monkeypatch.setitem(sys.modules, "cupy", Arrays)
    exec(compile(SOURCE.read_text(encoding="utf-8"), str(SOURCE), "exec"), vars(changed))
    monkeypatch.setattr(run, "_columns_on", lambda device: changed.Columns)
    return changed.Columns


@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "lengths"])
@pytest.mark.parametrize("several", [0.0, 0.15], ids=["", "members"])
def test_small_blocks(device_columns, weighted, several):
    rng = np.random.default_rng([6, weighted, several > 0])
    for _ in range(8):
        for family in FAMILIES:
            piece = random_piece(rng, family, weighted, several)
            assert_agree(sums_of(piece, in_calling_thread=True), plain(piece))


def test_a_hub_of_many_chains(device_columns):
    """Its far ends are searched in two batches."""
    A = hub(70)
    ours = sums_of(ones(A), in_calling_thread=True)
    np.testing.assert_allclose(ours.dependency, 2 * lagbc.bc(A, directed=False, reduce="none"), rtol=1e-12)


@pytest.mark.parametrize("where", ["host", "device"])
def test_demand_has_the_same_bits_whatever_the_groups(request, monkeypatch, where):
    """A ring of 150 junctions around a hub, weights that are not summed exactly: groups of 64 roots, or all at once."""
    made, columns = [], Columns if where == "host" else request.getfixturevalue("device_columns")

    class Noted(columns):
        def weights(self, first, count):
            weights = super().weights(first, count)
            made.append(np.array(weights.T))
            return weights

    monkeypatch.setattr(run, "_columns_on", lambda device: Noted)
    graph = ones(hub(150)).graph
    piece = Piece(graph, *np.random.default_rng(7).random((2, graph.n)))
    found = []
    for size in (64, 128, 192):
        made.clear()
        found.append((sums_of(piece, size=size, in_calling_thread=True).dependency, np.concatenate(made)))
    for dependency, weights in found[1:]:
        np.testing.assert_array_equal(weights, found[0][1])
        np.testing.assert_allclose(dependency, found[0][0], rtol=1e-12)
