"""What a matrix may be, that it stays unchanged, and what is said about a bad argument."""

import copy
import dataclasses
import functools
import importlib
import pickle
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from strategies import grid, oracle, path, scale_free, with_lengths

import lagbc
from benchmarks.malformed import CHANGES, malformed
from lagbc import tuning
from lagbc.errors import Error
from lagbc.graph import host
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods import table

FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]
ATTRIBUTES = ("data", "indices", "indptr", "row", "col", "coords", "offsets", "rows")


def snapshot(A):
    """All that a caller can see of a matrix: its arrays, their identity and contents, and SciPy's cached flags."""
    arrays = {name: getattr(A, name) for name in ATTRIBUTES if hasattr(A, name)}
    flags = {name: value for name, value in vars(A).items() if isinstance(value, bool)}
    return {name: (id(array), copy.deepcopy(array)) for name, array in arrays.items()}, flags, A.shape, A.dtype


def assert_same(before, after):
    assert before[1:] == after[1:]
    assert before[0].keys() == after[0].keys()
    for name, (identity, array) in before[0].items():
        if isinstance(array, tuple) or name in ("row", "col"):
            identity = after[0][name][0]  # views that SciPy makes on demand
        assert identity == after[0][name][0], name
        np.testing.assert_equal(after[0][name][1], array)


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format(any_bc, any_row, name, kind, directed):
    A = with_lengths(scale_free(30, 120, seed=1), np.arange(1.0, 4.0))
    A.data[::3] += 1  # other lengths in the other direction
    given = getattr(sp, f"{name}_{kind}")(A)
    before = snapshot(given)
    scores = any_bc(given, directed=directed)
    np.testing.assert_allclose(scores, oracle(A, weighted=any_row.weighted, directed=directed), rtol=1e-12)
    assert scores.shape == (30,)
    assert_same(before, snapshot(given))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float32, np.float64, np.complex128])
def test_every_dtype(dtype):
    """Of lengths, too, but for complex ones."""
    A = with_lengths(grid(3, 4), np.array([1, 2])).astype(dtype)
    real = abs(A) if dtype is np.complex128 else A.astype(float)
    for weighted in (False,) if dtype is np.complex128 else (False, True):
        for given in (A, A.toarray()):
            expected = oracle(sp.coo_array(real), weighted=weighted)
            np.testing.assert_allclose(lagbc.bc(given, weighted=weighted), expected, rtol=1e-12)


def test_dense():
    A = scale_free(20, 60, seed=2).toarray()
    A[3, 4] = -0.0  # no edge
    A[4, 5] = -2.0  # an edge
    before = A.copy()
    expected = oracle(sp.coo_array(A))
    np.testing.assert_allclose(lagbc.bc(A), expected, rtol=1e-12)
    np.testing.assert_allclose(lagbc.bc(np.asfortranarray(A)), expected, rtol=1e-12)
    np.testing.assert_array_equal(A, before)


def assert_is_path(A):
    """Its scores are those of a path of 6, and it stays as it is."""
    before = snapshot(A)
    for directed in (True, False):
        np.testing.assert_array_equal(lagbc.bc(A, directed=directed), oracle(path(6), directed=directed))
    assert_same(before, snapshot(A))


@pytest.mark.parametrize("name", ["csr", "csc", "bsr", "coo"])
def test_index_types(name, index):
    A = getattr(sp, f"{name}_array")(path(6))
    if name == "coo":
        A.coords = tuple(c.astype(index) for c in A.coords)
    else:
        A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    assert_is_path(A)


def test_mixed_index_types_spare_room_and_read_only_arrays_are_left_alone():
    """A CSR matrix may have longer arrays than it uses; SciPy's own check cuts them off in place."""
    A = path(6).tocsr()
    A.indices = np.concatenate([A.indices, [99, 99]]).astype(np.int64)
    A.data = np.ones(len(A.indices))
    assert_is_path(A)
    for array in (A.data, A.indices, A.indptr):
        array.flags.writeable = False
    assert_is_path(A)


@pytest.mark.parametrize("value", [0, np.nan])
@pytest.mark.parametrize("name", ["coo", "csr", "csc", "lil", "dok"])
def test_stored_values_of_any_kind_are_edges(name, value):
    A = path(6)
    A.data[:] = value
    given = getattr(sp, f"{name}_array")(A)
    if name == "lil":
        given.data[:] = [[value] * len(row) for row in given.rows]
    if given.nnz != 10:
        pytest.skip(f"SciPy drops the zeros of {name} itself")
    assert_is_path(given)


@pytest.mark.parametrize("name", ["dia", "bsr"])
def test_padding_is_no_edge(any_bc, any_row, name):
    dense = with_lengths(path(6), [2, 3]).toarray()
    given = sp.dia_array(dense) if name == "dia" else sp.bsr_array(dense, blocksize=(3, 3))
    assert given.data.size > 10, "there is padding"
    expected = oracle(sp.coo_array(dense), weighted=any_row.weighted)
    np.testing.assert_array_equal(any_bc(given), expected)
    np.testing.assert_array_equal(any_bc(dense), expected)


def test_non_canonical_csr():
    # Unsorted, with duplicates and loops.
    indptr, indices = np.array([0, 4, 6, 8, 8]), np.array([2, 1, 2, 0, 3, 3, 3, 2])
    A = sp.csr_array((np.ones(8), indices, indptr), shape=(4, 4))
    same = sp.csr_array((np.ones(8), indices, indptr), shape=(4, 4))
    before = snapshot(A)
    for directed in (True, False):
        np.testing.assert_allclose(lagbc.bc(A, directed=directed), oracle(same, directed=directed), rtol=1e-14)
    assert_same(before, snapshot(A))


@pytest.mark.parametrize("name", ["directed", "weighted"])
@pytest.mark.parametrize("made", [True, False])
def test_graph_is_taken_as_it_is(name, made):
    graph = as_graph(path(5), **{name: made})
    expected = oracle(path(5), directed=made or name == "weighted")
    np.testing.assert_array_equal(lagbc.bc(graph), expected)
    np.testing.assert_array_equal(lagbc.bc(graph, **{name: made}), expected)
    message = f"A is a Graph made with {name}={made}, but {name}={not made} is asked for; leave it out"
    for ask in (lagbc.bc, lagbc.plan):
        with pytest.raises(ValueError, match=message):
            ask(graph, **{name: not made})


def test_arrays_of_a_graph_are_read_only():
    A = scale_free(50, 300, seed=3).tocsr()
    graph = as_graph(with_lengths(A, np.arange(1, 8)), weighted=True)
    for array in (graph.order, graph.position, graph.edge_order):
        assert not array.flags.writeable
    for one in (graph, graph.reordered, graph.transpose):
        assert not any(array.flags.writeable for array in one.csr)
    as_graph(A, copy=False)
    assert A.indices.flags.writeable


BROKEN = [
    (lambda graph: vars(graph).update(indices=graph.indices + 10**6), "indices of A lie in"),
    (lambda graph: vars(graph).update(weights=-graph.weights), "lengths of A are not finite and > 0"),
    (lambda graph: vars(graph).update(weights=graph.weights[1:]), "values for"),
    (lambda graph: vars(graph).update(indptr=graph.indptr[::-1]), "indptr of A does not rise"),
]


@pytest.mark.parametrize(("broken", "message"), BROKEN)
def test_a_graph_whose_fields_were_replaced_is_checked_anew(broken, message):
    graph = as_graph(with_lengths(scale_free(50, 300, seed=3), np.arange(1, 8)), weighted=True)
    expected = lagbc.bc(graph)
    unpickled = pickle.loads(pickle.dumps(graph))
    np.testing.assert_array_equal(lagbc.bc(unpickled), expected)
    replaced = dataclasses.replace(graph, weights=graph.weights * 2, names=None)
    np.testing.assert_array_equal(lagbc.bc(replaced), expected)
    for one in (graph, unpickled, replaced):
        broken(one)
        with pytest.raises(ValueError, match=message):
            lagbc.bc(one)


def test_a_graph_with_names_is_checked_once():
    A = scale_free(50, 300, seed=3)
    for graph in (as_graph(A, names=range(50)), lagbc.graph_from_edges(*A.nonzero(), directed=True)):
        assert as_graph(graph) is graph
        renamed = as_graph(graph, names=[f"v{i}" for i in range(graph.n)])
        assert as_graph(renamed) is renamed
        assert (graph.names[0], renamed.names[0]) == (0, "v0")


def test_a_pickle_of_a_graph_that_was_checked_anew_has_it_once():
    graph = as_graph(scale_free(50, 300, seed=3))
    unpickled = pickle.loads(pickle.dumps(graph))
    lagbc.bc(unpickled)
    assert len(pickle.dumps(unpickled)) == len(pickle.dumps(graph))


@pytest.mark.parametrize("is_small", [True, False])
@pytest.mark.parametrize("name", ["csr", "csc", "coo"])
def test_a_matrix_that_changes_during_a_call_is_read_as_it_was(name, directed, is_small, monkeypatch):
    A = with_lengths(scale_free(50, 300, seed=3), np.arange(1, 8)).tocsr().asformat(name)
    expected = lagbc.edge_bc(A, directed=directed, weighted=True).toarray()
    of, one = (Graph, "surveyed") if is_small else (host, "merged" if name == "coo" else "canonical")
    checked = getattr(of, one)

    def changed(*arguments, **how):
        for array in (A.row, A.col) if name == "coo" else (A.indptr, A.indices):
            array[:] = 10**9
        A.data[:] = -1
        return checked(*arguments, **how)

    monkeypatch.setattr(tuning, "SURVEYED", 10**4 if is_small else -1)
    monkeypatch.setattr(of, one, changed)
    graph = as_graph(A, directed=directed, weighted=True)
    monkeypatch.undo()
    rows, columns = np.nonzero(expected)
    np.testing.assert_array_equal(lagbc.edge_bc(graph).toarray()[rows, columns], expected[rows, columns])
    with pytest.raises(ValueError, match=r"indptr|outside|indices"):
        lagbc.edge_bc(A)


@pytest.mark.parametrize(
    ("lengths", "longest", "mean", "are_whole"), [([3, 1, 2], 3, 2, True), ([3, 1, 0.5], 3, 1.5, False)]
)
def test_what_is_told_of_lengths(lengths, longest, mean, are_whole):
    graph = as_graph(sp.coo_array((lengths, ([0, 1, 2], [1, 2, 0]))), weighted=True)
    assert (graph.longest, graph.mean_length, graph.has_whole_lengths) == (longest, mean, are_whole)


def test_the_mean_of_lengths_beyond_float64_is_infinite():
    graph = as_graph(sp.coo_array(([5e307] * 4, ([0, 0, 1, 1], [1, 2, 0, 2])), shape=(3, 3)), weighted=True)
    assert graph.mean_length == np.inf
    assert as_graph(sp.csr_array((3, 3)), weighted=True).mean_length == 0


def test_cupy_matrix_is_not_moved_silently(monkeypatch):
    monkeypatch.setattr(Graph, "is_on_device", property(lambda graph: True))
    with pytest.raises(ValueError, match=r"CuPy matrix, but device='cpu'.*pass A\.get\(\)"):
        lagbc.bc(path(5), device="cpu")


@pytest.mark.parametrize("seed", range(120))
def test_malformed_matrices_are_refused(seed):
    """Under sanitizers there are thousands: benchmarks/sanitize.py."""
    name, A, weighted = malformed(np.random.default_rng(seed))
    with pytest.raises(Error):
        pytest.fail(f"{name}: {lagbc.bc(A, weighted=weighted)}")


def test_every_way_to_break_a_matrix_is_taken():
    assert {malformed(np.random.default_rng(seed))[0] for seed in range(120)} == {*CHANGES}


# Lengths


def lengths(rows, columns, values, n=4):
    return sp.coo_array((np.asarray(values), (rows, columns)), shape=(n, n))


WAY_OUT = "Remove those entries or give them a length; for strengths w pass strength=True; weighted=False counts hops"
OF_ZERO = (
    "Merge the ends of an edge of length 0, or add a small length to every edge, such as 1 to degrees; weighted=False "
    "counts hops"
)


@pytest.mark.parametrize("kind", ["coo", "csr", "csc", "lil", "dok"])
@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0.0"), (-1.0, "-1.0"), (-5e-324, "-5e-324"), (np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")],
)
def test_length_that_is_none(weighted_bc, kind, value, shown):
    """The count of bad entries, the first of them in row order, and the way out."""
    given = getattr(sp, f"{kind}_array")(lengths([3, 2, 2, 0], [1, 3, 1, 1], [value, value, 3.0, 4.0]))
    if given.nnz < 4:
        pytest.skip(f"SciPy drops the zeros of {kind} itself")
    message = re.escape(f"2 of the 4 lengths of A are not finite and > 0, the first at (2, 3): {shown}. ")
    message += WAY_OUT if value else OF_ZERO
    before = snapshot(given)
    for directed in (True, False):
        with pytest.raises(ValueError, match=message):
            weighted_bc(given, directed=directed)
    with pytest.raises(ValueError, match=message):
        lagbc.plan(given, weighted=True)
    assert_same(before, snapshot(given))


def test_duplicates_are_judged_by_their_sum():
    fine = lengths([0, 0, 1], [1, 1, 2], [3.0, -1.0, 2.0])
    np.testing.assert_array_equal(as_graph(fine, weighted=True).weights, [2, 2])
    for pair, total in (([1.0, -1.0], "0.0"), ([1e308, 1e308], "inf"), ([np.inf, -np.inf], "nan")):
        message = re.escape(f"1 of the 2 lengths of A are not finite and > 0, the first at (0, 1): {total}")
        with pytest.raises(ValueError, match=message):
            lagbc.bc(lengths([0, 0, 1], [1, 1, 2], [*pair, 2.0]), weighted=True)


def test_lengths_of_loops_are_not_read():
    A = lengths([0, 0, 1, 2], [0, 1, 2, 2], [-1.0, 1.0, 1.0, np.nan])
    np.testing.assert_array_equal(lagbc.bc(A, weighted=True), [0, 1, 0, 0])


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integer_lengths_up_to_2_to_the_53(dtype):
    A = lengths([0, 1], [1, 2], np.array([1, 2**53], dtype=dtype))
    np.testing.assert_array_equal(lagbc.bc(A, weighted=True), [0, 1, 0, 0])
    np.testing.assert_array_equal(lagbc.bc(lengths([0, 1], [1, 2], [1.0, 1e17]), weighted=True), [0, 1, 0, 0])


@pytest.mark.parametrize("name", ["bc", "edge_bc", "closeness", "harmonic", "eccentricity", "stress", "centralities"])
def test_a_graph_knows_whether_it_has_lengths(name):
    """What is not asked for is what the graph was made with."""
    A, centrality = with_lengths(scale_free(50, 300, seed=3), np.arange(1, 8)), getattr(lagbc, name)
    for weighted in (True, False):
        found, expected = centrality(as_graph(A, weighted=weighted)), centrality(A, weighted=weighted)
        if name == "centralities":
            found, expected = (np.array(list(scores.values())) for scores in (found, expected))
        np.testing.assert_array_equal(*(x.data if name == "edge_bc" else x for x in (found, expected)))
    assert lagbc.plan(as_graph(A, weighted=True)).sweeps[0].weighted


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_numpy_matrix(weighted):
    A = with_lengths(scale_free(20, 60, seed=2), np.arange(1, 5))
    given = np.matrix(A.toarray())
    np.testing.assert_array_equal(lagbc.bc(given, weighted=weighted), lagbc.bc(A, weighted=weighted))
    edges = lagbc.edge_bc(given, weighted=weighted)
    np.testing.assert_array_equal(edges.toarray(), lagbc.edge_bc(A, weighted=weighted).toarray())


def test_method_without_lengths():
    message = "'spmm' takes no lengths: leave out weighted=True; there are with lengths on cpu: batched, "
    with pytest.raises(ValueError, match=message):
        lagbc.bc(path(3), weighted=True, method="spmm")
    assert lagbc.plan(path(3), weighted=True, device="cpu").sweeps[0].weighted
    assert not lagbc.plan(path(3)).sweeps[0].weighted


@pytest.fixture
def add_row(monkeypatch):
    """Add a row like that of "batched" on the CPU, but for what is given."""

    def add(**changes):
        row = dataclasses.replace(lagbc.METHODS[0], name="added", **changes)
        monkeypatch.setattr(table, "METHODS", (*lagbc.METHODS, row))
        return row

    return add


def test_missing_library(add_row, monkeypatch):
    monkeypatch.setitem(table.EXTRAS, "no_such_library", "absent")
    add_row(requires="no_such_library")
    message = (
        "method 'added' on cpu needs no_such_library, which is not installed: pip install no_such_library; "
        "or pip install 'lagbc[absent]', in a checkout '.[absent]'"
    )
    with pytest.raises(lagbc.MissingDependencyError, match=re.escape(message)):
        lagbc.bc(path(3), method="added")
    assert lagbc.plan(path(3)).method == "batched"


def test_a_folder_is_no_library(add_row, tmp_path, monkeypatch):
    """What was missing is looked for again, once it was asked for in vain."""
    (tmp_path / "some_library").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    row = add_row(requires="some_library")
    with pytest.raises(lagbc.MissingDependencyError, match="some_library, which is not installed"):
        row.load()
    (tmp_path / "some_library" / "__init__.py").touch()
    importlib.invalidate_caches()
    assert row.available
    row.load()


def test_missing_gpu(add_row, monkeypatch):
    monkeypatch.setattr(table, "_count_visible", lambda: 0)
    with pytest.raises(lagbc.MissingDependencyError, match="'added' on cuda needs an NVIDIA GPU, and CuPy sees none"):
        add_row(requires="", device="cuda").load()


def test_a_gpu_is_named_before_the_library_for_it(monkeypatch):
    monkeypatch.setattr(table, "_loaded", {})  # as in a new process
    monkeypatch.setattr(table, "_is_installed", functools.cache(lambda library: library != "cupy"))
    with pytest.raises(lagbc.MissingDependencyError, match="needs an NVIDIA GPU and cupy, which is not installed: pip"):
        lagbc.bc(path(3), device="cuda")


def test_packages_are_those_of_the_extras():
    project = tomllib.loads((Path(lagbc.__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for row in filter(lambda row: row.requires, lagbc.METHODS):
        wanted = extras[table.EXTRAS[row.requires]] if row.requires in table.EXTRAS else project["dependencies"]
        package = table._PACKAGES.get(row.requires, row.requires).split()[0]
        assert package in [re.split("[<>=]", one)[0] for one in wanted], row.name


@pytest.mark.parametrize("field", ["directed", "n", "weights", "names", "known_depth"])
def test_a_graph_takes_no_assignment(field):
    with pytest.raises(dataclasses.FrozenInstanceError, match=field):
        setattr(as_graph(path(3)), field, None)
