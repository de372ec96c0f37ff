"""Graphs on the device by kernels of their own: sorted, read, transposed, ordered as on the host, to the same bits."""

import numpy as np
import pytest
import scipy.sparse as sp
from strategies import SPECIAL, disjoint, grid, matrix, path, scale_free, with_lengths

import lagbc
from lagbc import tuning
from lagbc.graph.csr import ops_of
from lagbc.graph.validate import as_graph, take_graph

SEVERAL = disjoint(grid(9, 30), path(70), grid(20, 33), matrix(3, []))


def bits_of(array):
    return array.get() if hasattr(array, "get") else array


def assert_same(ours, theirs):
    for name in ("indptr", "indices", "weights"):
        if getattr(theirs, name) is not None:
            assert getattr(ours, name).dtype == getattr(theirs, name).dtype
            np.testing.assert_array_equal(bits_of(getattr(ours, name)), getattr(theirs, name))


def on_gpu(A):
    from cupyx.scipy import sparse

    return sparse.csr_matrix(sp.csr_matrix(A))


def uploaded(A, **given):
    """Read a matrix, however small, on the device."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "HOST_EDGES", -1)
        return take_graph(A, **given, uploads=lambda weighted: True)


@pytest.mark.parametrize("count", [0, 1, 255, 4096, 4097, 100_000])
@pytest.mark.parametrize(("first", "bits"), [(0, 1), (0, 20), (20, 40), (0, 64)])
def test_sort_is_stable(cupy, count, first, bits):
    from lagbc.graph.device.ops import sort

    keys = np.random.default_rng(count).integers(0, 2**63, count, np.uint64) * 2
    part = keys >> np.uint64(first) & np.uint64((1 << (bits - first)) - 1)
    # Whole digits are sorted by.
    keys = keys if bits == 64 else part << np.uint64(first)
    order = np.argsort(part, kind="stable")
    ours = sort(cupy.asarray(keys), cupy.arange(count), bits, first)
    np.testing.assert_array_equal(ours[0].get(), keys[order])
    np.testing.assert_array_equal(ours[1].get(), order)


@pytest.mark.parametrize("count", [0, 1, 4096, 4097, 1_200_000])
def test_offsets(cupy, count):
    from lagbc.graph.device.ops import offsets

    counts = np.random.default_rng(1).integers(0, 5, count).astype(np.uint32)
    np.testing.assert_array_equal(offsets(cupy.asarray(counts)).get(), np.append(0, np.cumsum(counts, dtype=np.int64)))


@pytest.mark.parametrize("name", [*SPECIAL, "several", "scale-free"])
def test_a_matrix_of_the_host_is_read_on_the_device(cupy, name, directed, weighted):
    """One of CuPy is read, and a graph is moved, to the same bits; orders and transposes are worked out there."""
    A = {**SPECIAL, "several": SEVERAL, "scale-free": scale_free(300, 3000, seed=8)}[name].astype(float)
    given = {"directed": directed, "weighted": weighted}
    host = as_graph(A, **given)
    graphs = [uploaded(A.asformat(form), **given) for form in ("csr", "csc", "coo")]
    assert all(graph.uploaded for graph in graphs)
    assert not A.nnz or host.on_device.on_host is host
    for graph in (*graphs, host.on_device, *([as_graph(on_gpu(A), **given)] if A.nnz else [])):
        assert graph.is_on_device
        assert_same(graph, host)
        assert_same(graph.on_host, host)
        for ours, theirs in ((graph.transpose, host.transpose), (graph.symmetric, host.symmetric)):
            assert_same(ours, theirs)
        np.testing.assert_array_equal(graph.order, host.order)
        np.testing.assert_array_equal(graph.out_degrees, host.out_degrees)
        assert_same(graph.reordered, host.reordered)
        np.testing.assert_array_equal(bits_of(graph.edge_order), host.edge_order)
        np.testing.assert_array_equal(bits_of(graph.components), host.components)
        found, expected = (ops_of(one.indptr).hub_distances(one.indptr, one.indices) for one in (graph, host))
        np.testing.assert_array_equal(bits_of(found), expected)
        assert graph.depth == host.depth


def test_loops_duplicates_and_unsorted_columns(cupy, index):
    rng = np.random.default_rng(3)
    rows, columns = rng.integers(0, 60, (2, 900)).astype(index)
    A = sp.coo_array((rng.integers(1, 9, 900), (rows, columns)), shape=(60, 60))
    indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=60)))
    unsorted = sp.csr_array((A.data, columns[np.argsort(rows, kind="stable")], indptr), shape=A.shape)
    for directed in (True, False):
        host = as_graph(A, directed=directed)
        for B in (A, unsorted):
            graph = uploaded(B, directed=directed)
            assert graph.uploaded
            assert_same(graph, host)


def test_many_lengths_at_one_place_are_added_in_their_order(cupy):
    rows, columns = np.zeros(30, int), np.repeat([1, 2], 15)
    A = sp.coo_array((np.geomspace(1e-9, 1e9, 30), (rows, columns)), shape=(3, 3))
    assert_same(uploaded(A, weighted=True), as_graph(A, weighted=True))


@pytest.mark.parametrize(
    ("part", "value"),
    [("indices", 7), ("indices", -1), ("indptr", 6), ("data", -1.0), ("data", np.nan), ("data", 1e308)],
)
def test_errors_are_those_of_the_host(cupy, monkeypatch, part, value):
    monkeypatch.setattr(tuning, "HOST_EDGES", -1)
    A = sp.csr_array(path(5).astype(float))
    getattr(A, part)[1] = value
    placed, found = on_gpu(path(5)), []
    getattr(placed, part)[1] = value
    for given, uploads in ((A, None), (A, lambda weighted: True), (placed, None)):
        with pytest.raises(ValueError, match=r"\w") as error:
            take_graph(given, weighted=True, uploads=uploads)
        found.append(str(error.value))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("change", ["none", "a length", "an entry", "another column", "the order"])
def test_symmetric_entries_are_seen(cupy, change):
    """Of a matrix in order nothing is sorted; one entry that differs from its mirror image is enough to tell."""
    from lagbc.graph.device import ops

    A = as_graph(scale_free(300, 3000, seed=8), directed=False).matrix.astype(float).tocoo()
    rows, columns, values = A.row.astype(np.int32), A.col.astype(np.int32), A.data.copy()
    last = len(rows) - 1
    if change == "a length":
        values[last] = 7.5
    elif change == "an entry":
        rows, columns, values = rows[:last], columns[:last], values[:last]
    elif change == "another column":
        missing = np.setdiff1d(np.arange(rows[last]), columns[rows == rows[last]])
        columns[last] = missing[-1]
    elif change == "the order":
        rows, columns, values = rows[::-1].copy(), columns[::-1].copy(), values[::-1].copy()
    given = sp.coo_array((values, (rows, columns)), shape=A.shape)
    for directed in (True, False):
        host = as_graph(given, directed=directed, weighted=True)
        ours = uploaded(given, directed=directed, weighted=True)
        assert ours.is_on_device
        assert ops.is_symmetric(*ours.csr) == (not directed or change in ("none", "the order"))
        assert_same(ours, host)
        assert_same(ours.transpose, host.transpose)
        assert_same(ours.symmetric, host.symmetric)


def test_many_trees(cupy):
    """Trees that are joined at the same time, each under its smallest vertex."""
    ends = np.random.default_rng(4).integers(0, 50_000, (2, 40_000))
    host = as_graph(sp.coo_array((np.ones(40_000), ends), shape=(50_000, 50_000)))
    for _ in range(5):
        np.testing.assert_array_equal(as_graph(host.matrix).on_device.components.get(), host.components)


def test_kept_edges(cupy):
    host = as_graph(scale_free(300, 3000, seed=8), directed=False)
    kept = np.random.default_rng(0).random(host.nnz) < 0.4
    part, places = host.on_device.keep(cupy.asarray(kept))
    assert_same(part, host.keep(kept)[0])
    np.testing.assert_array_equal(places.get(), np.flatnonzero(kept))


def test_roots_are_grouped_as_on_the_host(cupy):
    host = as_graph(scale_free(400, 3000, seed=8), directed=False)
    vertices = np.random.default_rng(0).permutation(host.n)
    placed = host.on_device
    ours = ops_of(placed.hub_distances).hub_order(placed.hub_distances, cupy.asarray(vertices))
    np.testing.assert_array_equal(ours.get(), ops_of(host.hub_distances).hub_order(host.hub_distances, vertices))
    np.testing.assert_array_equal(host.position[host.order], np.arange(host.n))


def test_roots_are_lined_up_alike(cupy, directed):
    graph = as_graph(scale_free(4000, 30000, seed=8), directed=directed)
    expected = graph.line_up(np.arange(graph.n), "cpu")
    for placed in (graph, graph.on_device):
        np.testing.assert_array_equal(placed.line_up(np.arange(graph.n), "cuda"), expected)


@pytest.mark.parametrize("lengths", [[3.0, 1.0, 2.0, 1.0], [0.25, 8.0], [5.0], []])
def test_survey_of_lengths(cupy, lengths):
    from lagbc.methods.gpu.common.arrays import survey

    given = np.array(lengths * 3000)
    found = survey(cupy.asarray(given))
    if not lengths:
        assert (found.shortest, found.longest, found.mean) == (0, 0, 0)
        return
    assert (found.shortest, found.longest) == (min(lengths), max(lengths))
    assert found.mean == pytest.approx(np.mean(given), rel=1e-12)
    assert found.are_integers == all(length.is_integer() for length in lengths)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "uint32", "float32", "float64"])
def test_scatter_and_fill(cupy, dtype):
    from lagbc.methods.gpu.common.arrays import fill, scatter

    expected = np.zeros((3, 4, 8), dtype)
    array = cupy.zeros((3, 4, 8), dtype)
    where = np.array([2, 0, 1]), np.array([3, 0, 1]), np.array([7, 0, 5])
    expected[where] = [1, 2, 3]
    scatter(array, where, np.array([1, 2, 3]))
    np.testing.assert_array_equal(array.get(), expected)
    expected[:, 1][np.array([1]), np.array([2])] = 9
    scatter(array[:, 1], (np.array([1]), np.array([2])), 9)
    np.testing.assert_array_equal(array.get(), expected)
    if array.itemsize > 1:
        fill(array, 5)
        assert (array.get() == 5).all()


def test_a_cupy_matrix_is_searched_on_the_host_within_cutoffs(cupy, weighted):
    """By the CPU alone; scores come back on the device."""
    A = with_lengths(grid(9, 11), [1.0, 2.5])
    placed = on_gpu(A)
    names, given = ("bc", "edge_bc", "closeness", "reach"), {"weighted": weighted, "cutoff": [2, 4], "directed": False}
    assert lagbc.plan(placed, **given).device == "cpu"
    ours, theirs = lagbc.centralities(placed, names, **given), lagbc.centralities(A, names, device="cpu", **given)
    for there, expected in zip(ours.pop("edge_bc"), theirs.pop("edge_bc"), strict=True):
        np.testing.assert_array_equal(there.toarray().get(), expected.toarray())
    for name, scores in theirs.items():
        assert isinstance(ours[name], cupy.ndarray)
        np.testing.assert_array_equal(ours[name].get(), scores)
    with pytest.raises(ValueError, match="are summed on the CPU alone"):
        lagbc.bc(placed, device="cuda", **given)


def test_operations_of_arrays_on_a_device(cupy):
    assert ops_of(cupy.zeros(1)).__name__ == "lagbc.graph.device.ops"
