"""Rows of the host against the same in plain NumPy and SciPy: sorted by counting, summed, joined, renumbered."""

import ast
import gc
import re
import weakref
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from strategies import disjoint, graphs, grid, lengths_of, matrix, path, scale_free, star, with_lengths

import lagbc
from lagbc import native, tuning
from lagbc.graph import host
from lagbc.graph.csr import ops_of
from lagbc.graph.validate import as_graph
from lagbc.native import core

FLOATS = (0.1, 0.2, 0.3, 0.6, 0.7, 1e-17, 3.0)


@st.composite
def stored(draw):
    """Entries as a caller may have them: in any order, with loops, duplicates and zeros; n, rows, columns, values."""
    n = draw(st.integers(0, 9))
    vertex = st.integers(0, max(n - 1, 0))
    ends = draw(st.lists(st.tuples(vertex, vertex), max_size=40 if n else 0))
    rows, columns = np.array(ends, np.int64).reshape(-1, 2).T
    lengths = np.array(draw(st.lists(st.sampled_from(FLOATS), min_size=len(ends), max_size=len(ends))))
    return n, rows, columns, lengths if draw(st.booleans()) else None


def as_coo(n, rows, columns, values):
    return sp.coo_array((np.zeros(len(rows)) if values is None else values, (rows, columns)), shape=(n, n))


def edges_of(entries, *, directed=True):
    """Dictionary of the entries off the diagonal, equal places added from left to right; of a pattern all are True."""
    found = lengths_of(as_coo(*entries), directed=directed)
    return dict.fromkeys(found, True) if entries[-1] is None else found


def as_rows(n, entries, weighted):
    """Canonical rows of a dictionary."""
    places = sorted(entries)
    indptr = np.searchsorted([i for i, _ in places], np.arange(n + 1))
    return indptr, [j for _, j in places], [entries[place] for place in places] if weighted else None


def assert_rows(ours, expected):
    indptr, indices, data = ours
    assert (indptr.dtype, indices.dtype) == (np.int64, np.int32)
    np.testing.assert_array_equal(indptr, expected[0])
    np.testing.assert_array_equal(indices, expected[1])
    if expected[2] is None:
        assert data is None
    else:
        np.testing.assert_array_equal(data, expected[2])


def uncompressed(n, rows, columns, values, kind):
    """A CSR or CSC matrix that stores the entries in this order, rows unsorted; SciPy's constructor merges nothing."""
    major, minor = (rows, columns) if kind == "csr" else (columns, rows)
    order = np.argsort(major, kind="stable")
    indptr = np.searchsorted(major[order], np.arange(n + 1))
    data = np.zeros(len(rows)) if values is None else values[order]
    return getattr(sp, f"{kind}_array")((data, minor[order], indptr), shape=(n, n))


@pytest.fixture(params=["one part", "many parts"])
def parts(request, monkeypatch):
    """Have even the smallest work cut into parts and ranges, as large work is."""
    if request.param == "many parts":
        monkeypatch.setattr(native, "SHARED_FROM", 1)
        monkeypatch.setattr(native, "cores", lambda: 3)
        monkeypatch.setattr(host, "_SHIFT", 1)
        monkeypatch.setattr(tuning, "SURVEYED", -1)


each_way = pytest.mark.usefixtures("parts")


@each_way
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@given(stored())
def test_read(kind, entries):
    n, *_, values = entries
    A = as_coo(*entries) if kind == "coo" else uncompressed(*entries, kind)
    for directed in (True, False):
        graph = as_graph(A, directed=directed, weighted=values is not None)
        expected = edges_of(entries, directed=directed)
        assert_rows(graph.csr, as_rows(n, expected, values is not None))
        turned = {(j, i): value for (i, j), value in expected.items()}
        assert_rows(graph.transpose.csr, as_rows(n, turned, values is not None))
        assert (graph.transpose is graph) == (turned == expected)
        assert_rows((*graph.symmetric.csr[:2], None), as_rows(n, expected | turned, False))


def everything_of(A, directed, weighted):
    """All that is found of a graph, as lists; or the error in words."""
    try:
        graph = as_graph(A, directed=directed, weighted=weighted)
    except ValueError as error:
        return str(error)
    one_way = (graph.transpose, graph.symmetric, graph.reordered, graph.reordered.transpose)
    found = [one is graph or one is graph.reordered for one in one_way]
    for one in (graph, *one_way):
        found += [one.depth, one.has_high_diameter, one.active, one.directed, one.weighted, one.n, one.nnz]
        arrays = (*one.csr, one.order, one.position, one.out_degrees, one.components, one.edge_order)
        found += [None if array is None else (array.dtype, array.tolist()) for array in arrays]
        found += [array.flags.writeable for array in arrays[:5] if array is not None]
        found += [one.longest, one.mean_length, one.has_whole_lengths] if one.weighted and one.nnz else []
    return found


@pytest.mark.parametrize("kind", ["csr", "csc"])
@given(stored(), st.booleans(), st.sampled_from([None, 0.0, -1.0, np.nan, np.inf, 1e308]), st.data())
def test_a_small_graph_is_read_as_a_large_one(kind, index, directed, entries, is_mirrored, bad, data):
    n, rows, columns, values = entries
    if is_mirrored:
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        values = None if values is None else np.concatenate([values, values])
    if bad is not None and values is not None and len(values):
        values[data.draw(st.integers(0, len(values) - 1))] = bad
    A = uncompressed(n, rows, columns, values, kind)
    A.indptr, A.indices = A.indptr.astype(index), A.indices.astype(index)
    if n and len(rows) and data.draw(st.integers(0, 9)) == 0:
        broken, size = data.draw(st.sampled_from([(A.indptr, n + 1), (A.indices, len(rows))]))
        broken[data.draw(st.integers(0, size - 1))] = data.draw(st.sampled_from([-1, n, 10**6]))
    surveyed = everything_of(A, directed, values is not None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "SURVEYED", -1)
        assert everything_of(A, directed, values is not None) == surveyed


@pytest.mark.parametrize("one_way", [False, True])
@pytest.mark.parametrize("make", [lambda: path(12), lambda: grid(5, 6), lambda: disjoint(star(5), path(20))])
def test_a_small_graph_of_any_diameter_is_read_as_a_large_one(make, one_way, monkeypatch):
    A = sp.triu(make(), format="csr") if one_way else make().tocsr()
    surveyed = everything_of(A, one_way, False)
    monkeypatch.setattr(tuning, "SURVEYED", -1)
    assert everything_of(A, one_way, False) == surveyed
    assert "active" not in vars(as_graph(A, directed=one_way))
    monkeypatch.undo()
    assert "active" in vars(as_graph(A, directed=one_way))


@each_way
@given(stored(), st.randoms(use_true_random=False))
def test_renumbered(entries, random):
    n, *_, values = entries
    order = np.array(random.sample(range(n), n), np.int64)
    position = np.argsort(order)
    csr = as_graph(uncompressed(*entries, "csr"), weighted=values is not None).csr
    expected = {(position[i], position[j]): value for (i, j), value in edges_of(entries).items()}
    turned = {(j, i): value for (i, j), value in expected.items()}
    ours, reverse = host.renumbered(csr, order, position, symmetric=False)
    assert_rows(ours, as_rows(n, expected, values is not None))
    assert_rows(reverse, as_rows(n, turned, values is not None))
    places = host.renumbered_places(csr, order, position)
    np.testing.assert_array_equal(order[ours[1]], csr[1][places])
    np.testing.assert_array_equal(order[host.rows_of(*ours[:2])], host.rows_of(*csr[:2])[places])
    both = host.both_ways(n, *csr)
    ours, reverse = host.renumbered(both, order, position, symmetric=True)
    assert ours is reverse
    assert host.reverse_of(n, *both) is None
    turned = host.transposed(n, *csr)
    if host.are_equal(turned, csr):
        assert host.reverse_of(n, *csr) is None
    else:
        assert host.are_equal(host.reverse_of(n, *csr), turned)
    again = host.renumbered(both, order, position, symmetric=False)
    assert_rows(ours, again[0])
    assert_rows(ours, again[1])
    numbers = np.array([random.choice(FLOATS) for _ in both[1]])
    mirrored = host.transposed(n, *both[:2], numbers)[2]
    np.testing.assert_array_equal(host.plus_mirrored(*both[:2], numbers, 0.3), (mirrored + numbers) * 0.3)


@given(stored())
def test_loops_of_stored_rows(entries):
    n, rows, columns, _ = entries
    stored_rows = host.in_rows(n, *(ends.astype(np.int32) for ends in (rows, columns)), None)[:2]
    assert host.loops_of(*stored_rows).tolist() == sorted(set(rows[rows == columns].tolist()))


@each_way
def test_large_rows_are_as_small_ones():
    """More entries than ranges, columns and parts."""
    A = scale_free(3000, 40_000, seed=1)
    graph = as_graph(A, directed=True)
    expected = A.tocsr()
    expected.setdiag(0)
    expected.eliminate_zeros()
    for ours, theirs in ((graph, expected), (graph.transpose, expected.T), (graph.symmetric, expected + expected.T)):
        theirs = theirs.tocsr()
        theirs.sort_indices()
        assert_rows((*ours.csr[:2], None), (theirs.indptr, theirs.indices, None))


@pytest.mark.parametrize("given_types", [(np.int32, np.int64), (np.int64, np.int32), (np.int64, np.int64)])
def test_mixed_types_of_indices(given_types):
    A = scale_free(40, 200, seed=1).tocsr()
    A.indptr, A.indices = A.indptr.astype(given_types[0]), A.indices.astype(given_types[1])
    assert_rows(as_graph(A).csr, as_graph(scale_free(40, 200, seed=1)).csr)
    A.indices[-1] = 2**32 + 1 if given_types[1] is np.int64 else 40
    with pytest.raises(ValueError, match=r"ind(ex|ices)"):
        as_graph(A)


@each_way
@given(graphs())
def test_components(A):
    graph = as_graph(A)
    expected = connected_components(graph.pattern, directed=True, connection="weak")[1]
    np.testing.assert_array_equal(host.weak_components(graph.indptr, graph.indices), expected)


def test_a_level_may_be_pulled():
    """From the hub most vertices are reached in one level."""
    graph = as_graph(scale_free(5000, 60_000, seed=3), directed=False)
    hub = int(np.argmax(graph.out_degrees))
    hops = sp.csgraph.shortest_path(graph.pattern, unweighted=True, indices=hub)
    found = host.search_from_hub(graph.indptr, graph.indices, None)
    assert found[:2] == (hops[np.isfinite(hops)].max(), np.isfinite(hops).sum())


@given(st.lists(st.integers(0, 5), max_size=30), st.randoms(use_true_random=False))
def test_sorted_by_counting(keys, random):
    keys = np.array(keys, np.int64)
    order = np.array(random.sample(range(len(keys)), len(keys)), np.int64)
    np.testing.assert_array_equal(core.sort_by_key(keys, order), order[np.argsort(keys[order], kind="stable")])
    rows = np.array([keys, keys[::-1], keys // 2])
    np.testing.assert_array_equal(host.hub_order(rows, order), order[np.lexsort(rows[::-1, order])])


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_what_is_read_where_it_is(kind, weighted):
    """Canonical rows are not copied unless that is asked for, and what is not canonical never is the caller's."""
    A = with_lengths(grid(5, 6), [1.0, 2.0]).asformat(kind)
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    shared, own = (as_graph(A, directed=False, weighted=weighted, copy=copy) for copy in (False, True))
    assert np.shares_memory(shared.indices, A.indices)
    assert not np.shares_memory(own.indices, A.indices)
    if weighted:
        assert np.shares_memory(shared.weights, A.data)
        assert not np.shares_memory(own.weights, A.data)
    before = own.indices.copy()
    A.indices[:] = 0
    np.testing.assert_array_equal(own.indices, before)


def test_a_graph_outlives_its_use_by_nothing():
    """Without the garbage collector, as arrays of graphs would pile up in a loop until it comes."""
    gc.disable()
    try:
        graph = as_graph(path(30), directed=True)
        assert graph.transpose is graph.symmetric is graph
        _ = graph.order, graph.reordered.transpose, graph.edge_order, graph.pattern
        one_way = as_graph(matrix(3, [(0, 1), (1, 2)]))
        _ = one_way.order, one_way.reordered.transpose
        alive = [weakref.ref(kept) for kept in (graph, graph.reordered, one_way, one_way.transpose, one_way.reordered)]
        del graph, one_way
        assert not [kept for kept in alive if kept() is not None]
    finally:
        gc.enable()


def test_transposed_rows_keep_the_order_of_what_is_alike():
    """Entries at the same place stay as stored, so that they are added in that order."""
    csr = np.array([0, 3, 3]), np.array([1, 0, 1], np.int32), np.array([5.0, 6.0, 7.0])
    ours = host.transposed(2, *csr)
    assert [part.tolist() for part in ours] == [[0, 1, 3], [0, 0, 0], [6.0, 5.0, 7.0]]


@pytest.mark.parametrize("A", [path(4000), scale_free(300, 4000, seed=1)], ids=["path", "scale-free"])
def test_symmetry_is_told_in_the_room_of_a_transpose(monkeypatch, A):
    """However many the cores are: each has a place a row."""
    monkeypatch.setattr(native, "SHARED_FROM", 1)
    monkeypatch.setattr(native, "cores", lambda: 64)
    graph, parts = as_graph(A, directed=False), []
    shared = host.share
    monkeypatch.setattr(host, "share", lambda work, given, *rest: shared(work, parts.append(given) or given, *rest))
    csr = graph.indptr, graph.indices, None
    assert host.reverse_of(graph.n, *csr) is None
    assert 1 <= len(parts[0]) * 16 * graph.n <= max(16 * graph.n, graph.indptr.nbytes + graph.indices.nbytes)


def test_scores_and_orders_do_not_depend_on_the_cores(monkeypatch):
    A, deep = with_lengths(grid(12, 13), [0.1, 0.2, 0.3]), sp.block_diag([grid(31, 47), path(90), grid(20, 18)])
    scores, order = lagbc.bc(A, weighted=True), as_graph(deep, directed=False).order
    monkeypatch.setattr(native, "SHARED_FROM", 1)
    for count in (1, 2, 5):
        monkeypatch.setattr(native, "cores", lambda count=count: count)
        np.testing.assert_array_equal(lagbc.bc(A, weighted=True), scores)
        np.testing.assert_array_equal(as_graph(deep, directed=False).order, order)


# Operations of arrays


FOLDER = Path(lagbc.__file__).parent / "graph"


def functions_of(file):
    """Functions that a file defines, by name."""
    return {one.name: one.args for one in ast.parse(file.read_text()).body if isinstance(one, ast.FunctionDef)}


def parameters_of(functions):
    return {
        name: ([one.arg for one in (*of.posonlyargs, *of.args)], len(of.defaults), [one.arg for one in of.kwonlyargs])
        for name, of in functions.items()
    }


def of_host():
    """Names of the host's functions, and of kernels that are operations, each with the names of its parameters."""
    found, kernels = functions_of(FOLDER / "host.py"), functions_of(FOLDER.parent / "native/core.pyi")
    for node in ast.parse((FOLDER / "host.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("core."):
            found[node.targets[0].id] = kernels[node.value.attr]
    return parameters_of(found)


def of_device():
    """The same of a device; nothing is imported."""
    return parameters_of(functions_of(FOLDER / "device" / "ops.py"))


def test_host_and_device_have_the_same_operations():
    device, host = of_device(), of_host()
    both = {name for name in device.keys() & host.keys() if not name.startswith("_")} - {"canonical"}  # of own entries
    assert {name: host[name] for name in both} == {name: device[name] for name in both}


def test_all_operations_that_are_called_are_there():
    texts = [file.read_text() for file in FOLDER.parent.rglob("*.py")]
    called = {
        name
        for text in texts
        if "ops_of" in text
        for name in re.findall(r"(?:\bops_of\([\w.]+\)|(?<![.\w])ops)\.(\w+)", text)
    }
    assert len(called) > 10
    assert called <= of_device().keys()


def test_operations_of_arrays_on_the_host():
    assert ops_of(np.zeros(1)) is host


@pytest.mark.parametrize("size", [0, 7, host._WRITTEN_BY_SEVERAL // 8 + 5])
def test_large_arrays_are_written_by_several_threads(monkeypatch, size):
    monkeypatch.setattr("lagbc.native.usable_cores", lambda: 3)
    values = np.arange(size, dtype=np.float64)[::-1]
    copy = host.copied(values)
    assert copy.flags.c_contiguous
    assert not np.shares_memory(copy, values)
    np.testing.assert_array_equal(host.plus(values, copy), 2 * values)
    assert host.touched((size, 1), np.int32).shape == (size, 1)
