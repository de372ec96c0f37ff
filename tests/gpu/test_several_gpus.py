"""GPUs by their numbers: several, of which one may play all, have the bits of one; parts of a run on a GPU."""

import numpy as np
import pytest
import scipy.sparse as sp
from every_call import assert_same, in_parts
from strategies import grid, scale_free, with_lengths

import lagbc
from lagbc import tuning
from lagbc.graph.validate import as_graph
from lagbc.methods import table
from lagbc.planning import devices

ALL = ("bc", "closeness", "harmonic", "eccentricity", "stress", "edge_bc")
GRAPHS = {
    "scale-free": (scale_free(4000, 30000, seed=1), {"directed": False}),
    "directed": (scale_free(4000, 30000, seed=2), {}),
    "mesh": (grid(60, 70), {}),
    "lengths": (with_lengths(grid(60, 70), [1, 2, 3]), {"weighted": True}),
}


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch, cupy):
    """Chunks of two blocks, so that small graphs have several."""
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cpu": 128, "cuda": 512})


@pytest.fixture(params=[0, 10**9], ids=["graph on the device", "graph on the host"])
def host_edges(request, monkeypatch):
    monkeypatch.setattr(tuning, "HOST_EDGES", request.param)


@pytest.fixture(scope="module")
def several(cupy):
    """Lists of devices: one GPU as several, and all that there are."""
    return [[0, 0], [0, 0, 0], *([[1, 0], "all"] if cupy.cuda.runtime.getDeviceCount() > 1 else [])]


def require_bits_of_one(devices, name, which="bc", **how):
    A, given = GRAPHS[name]
    expected = lagbc.centralities(A, which, device="cuda", **given, **how)
    for chosen in devices:
        assert_same(lagbc.centralities(A, which, device=chosen, **given, **how), expected)


@pytest.mark.parametrize("name", GRAPHS)
def test_bits_of_several(several, host_edges, name):
    which = ALL if name != "lengths" else ("bc", "closeness", "edge_bc")
    require_bits_of_one([0, *several], name, which, reduce="none")


@pytest.mark.parametrize("reduce", ["auto", "all"])
def test_bits_of_reduced_graphs(several, reduce):
    require_bits_of_one(several, "scale-free", reduce=reduce)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_few_roots(several, dtype):
    require_bits_of_one(several, "mesh", k=700, rng=0, dtype=dtype, reduce="none")


def test_a_prepared_graph_goes_from_gpu_to_gpu(several):
    """Kept copies of a graph are those of the device that is asked for."""
    A, given = GRAPHS["scale-free"]
    graph, expected = as_graph(A, **given), lagbc.bc(A, device="cuda", reduce="none", **given)
    numbers = range(table.count_gpus())
    for chosen in (*numbers, *several, *numbers):
        np.testing.assert_array_equal(lagbc.bc(graph, device=chosen, reduce="none"), expected)


def test_cupy_matrices_are_read_where_they_are(cupy):
    from cupyx.scipy.sparse import csr_matrix

    A, _ = GRAPHS["directed"]
    expected = lagbc.bc(A, device="cuda", reduce="none")
    for number in range(table.count_gpus()):
        with cupy.cuda.Device(number):
            there = csr_matrix(sp.csr_matrix(A))
        scores = lagbc.bc(there, reduce="none")
        assert scores.device.id == number
        np.testing.assert_array_equal(scores.get(), expected)
        np.testing.assert_array_equal(lagbc.bc(there, device=[number, number], reduce="none").get(), expected)
        if number:
            with pytest.raises(ValueError, match=f"A is a CuPy matrix on GPU {number}, but device=0 was asked for"):
                lagbc.bc(there, device=[0, number])


def test_a_gpu_that_fails(cupy, monkeypatch):
    """It fails the third time that it is entered; the other one goes on."""
    A, given = GRAPHS["scale-free"]
    expected = lagbc.bc(A, device="cuda", reduce="none", **given)
    entered = []

    def context(gpu, context=devices.Gpu.context):
        entered.append(gpu)
        if gpu is entered[0] and entered.count(gpu) == 3:
            raise cupy.cuda.runtime.CUDARuntimeError(719)
        return context(gpu)

    monkeypatch.setattr(devices.Gpu, "context", context)
    with pytest.warns(
        RuntimeWarning, match="GPU 0 has failed, and the others go on without it: cudaErrorLaunchFailure"
    ):
        np.testing.assert_array_equal(lagbc.bc(A, device=[0, 0], reduce="none", **given), expected)


def test_a_gpu_without_memory_takes_smaller_batches(monkeypatch):
    A, given = GRAPHS["scale-free"]
    how = {"method": "batched", "reduce": "none", **given}
    expected = lagbc.bc(A, device="cuda", **how)
    module = next(row for row in lagbc.METHODS if row.key == ("batched", "cuda", False)).load()
    tried = []

    def prepare(graph, plan, prepare=module.prepare):
        tried.append(plan.batch)
        if plan.batch > 256:
            raise MemoryError
        return prepare(graph, plan)

    monkeypatch.setattr(module, "prepare", prepare)
    with pytest.warns(lagbc.MemoryWarning, match="GPU 0: batched on cuda ran out of memory; it goes on with batch="):
        np.testing.assert_array_equal(lagbc.bc(A, device=[0, 0], batch=1024, **how), expected)
    assert tried.count(256) == 2


def test_a_checkpoint_of_one_gpu_goes_on_on_several(several, tmp_path):
    A, given = GRAPHS["mesh"]
    how = {"reduce": "none", "checkpoint": tmp_path / "run", **given}
    expected = lagbc.bc(A, device="cuda", reduce="none", **given)

    def stop(progress):
        if progress.done >= 700:
            raise KeyboardInterrupt

    for chosen in several:
        for begun in ("cuda", chosen):
            with pytest.raises(KeyboardInterrupt):
                lagbc.bc(A, device=begun, batch=256, progress=stop, **how)
        np.testing.assert_array_equal(lagbc.bc(A, device=chosen, **how), expected)
        how["checkpoint"].unlink()


@pytest.mark.parametrize("name", GRAPHS)
def test_parts_have_the_bits_of_one_run(name, tmp_path):
    A, given = GRAPHS[name]
    for reduce in ("none", "all"):
        how = {"device": "cuda", "reduce": reduce, **given}
        assert_same(lagbc.merge_parts(in_parts(tmp_path, 3, A, **how))["bc"], lagbc.bc(A, **how))


def test_what_is_said_of_several(several):
    A, _ = GRAPHS["directed"]
    if table.count_gpus() > 1:
        assert "GPUs 1, 0 share the roots" in lagbc.plan(A, device=[1, 0]).reason
        assert f"on one of {table.count_gpus()} GPUs" in lagbc.plan(A, device="cuda").reason
    assert f"{table.count_gpus()} GPU" in table.gpus_in_words()
