"""Loads by trips between pairs of vertices: `demand=` of `bc` and `edge_bc`, against the oracle."""

import functools
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from families import diamonds, disjoint, grid, layered, matrix, path, scale_free, with_lengths
from hypothesis import given
from hypothesis import strategies as st
from killed import Killed, kill_after
from strategies import SPECIAL, arrays, examples, graphs, rational, weighted_graphs

import lagbc
from lagbc import reference
from lagbc.demand import origins, parse_demand, without_far_apart
from lagbc.methods import table

# No overflow may show, not even as a warning on the way.
pytestmark = pytest.mark.filterwarnings("error")

ROWS = [row for row in lagbc.METHODS if row.available]
TAKING = [row for row in ROWS if row.demand]
WITHIN = [row for row in TAKING if row.bounds]


def name_of(row):
    return f"{row.name}-{row.device}{'-lengths' * row.weighted}"


def how(row):
    """Options that take a method."""
    return {"method": row.name, "device": row.device, "weighted": row.weighted}


taking = pytest.mark.parametrize("row", TAKING, ids=name_of)


def loads(A, demand, *, directed, weighted, cutoff=np.inf):
    """Loads of vertices, and of edges as a matrix: by the oracle from each origin, whose trips weigh the targets."""
    graph = indptr, indices, _ = arrays(A, directed=directed, weighted=weighted)
    n = len(indptr) - 1
    of_vertices, raw, of_edges = np.zeros(n), np.zeros(len(indices)), np.zeros((n, n))
    for origin, trips in enumerate(demand.tolist()):
        given = {"sources": [origin], "target_weights": trips, "cutoff": cutoff, "number": rational}
        of_vertices = of_vertices + reference.brandes(*graph, **given)
        raw = raw + reference.edge_scores(*graph, **given)
    of_edges[np.repeat(np.arange(n), np.diff(indptr)), indices] = raw
    return of_vertices.astype(float), of_edges if directed else of_edges + of_edges.T


def assert_loads(A, demand, row, *, directed, given=None, **options):
    """Compare both functions with the oracle; `given` is the demand in another form."""
    of_vertices, of_edges = loads(A, demand, directed=directed, weighted=row.weighted)
    call = {"demand": demand if given is None else given, "directed": directed, **how(row), **options}
    np.testing.assert_allclose(lagbc.bc(A, **call), of_vertices, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(lagbc.edge_bc(A, **call).toarray(), of_edges, rtol=1e-12, atol=1e-300)


def demands(n):
    """Trips with whole rows and single entries of zeros, and with a diagonal."""
    entry = st.sampled_from([0.0, 0.0, 0.0, 0.25, 1.0, 3.0, 1e-9, 1e9])
    row = st.one_of(st.just([0.0] * n), st.lists(entry, min_size=n, max_size=n))
    return st.lists(row, min_size=n, max_size=n).map(lambda rows: np.array(rows).reshape(n, n))


@taking
@examples(40)
@given(st.data(), st.booleans())
def test_loads_are_those_of_the_oracle(row, data, directed):
    A = data.draw(weighted_graphs(max_n=8) if row.weighted else graphs(max_n=8))
    demand = data.draw(demands(A.shape[0]))
    assert_loads(A, demand, row, directed=directed, given=data.draw(st.sampled_from([demand, sp.csr_array(demand)])))


@taking
@pytest.mark.parametrize("name", SPECIAL)
def test_loads_of_named_graphs(row, name, directed):
    A = SPECIAL[name]
    demand = np.random.default_rng(1).integers(0, 3, A.shape) / 4
    assert_loads(A, demand, row, directed=directed)


GRAPHS = {
    "scale-free": scale_free(300, 1500, seed=1),
    "mesh": grid(9, 16),
    "parts": disjoint(path(50), grid(5, 6), scale_free(60, 300, seed=4), matrix(3, []), layered(4, 5)),
}


# What loads have in common with scores


@taking
def test_one_trip_a_pair_is_the_raw_score(row, directed):
    A, often = with_lengths(GRAPHS["scale-free"], [1, 2, 3]), 1 if directed else 2
    ones = np.ones(A.shape)
    for function in (lagbc.bc, lambda *given, **options: lagbc.edge_bc(*given, **options).toarray()):
        call = functools.partial(function, A, directed=directed, **how(row))
        np.testing.assert_allclose(call(demand=ones - np.eye(len(ones))), often * call(), rtol=1e-12)
        np.testing.assert_array_equal(call(demand=ones), call(demand=ones - np.eye(len(ones))))


@taking
def test_a_tolerance_of_lengths(row):
    if "rtol" not in row.options:
        pytest.skip("it takes none")
    A = np.zeros((4, 4))
    A[0, 1], A[1, 3], A[0, 2], A[2, 3] = 0.1, 0.2, 0.15, 0.15
    demand = np.zeros((4, 4))
    demand[0, 3] = 8
    np.testing.assert_allclose(lagbc.bc(A, demand=demand, rtol=1e-9, **how(row)), [0, 4, 4, 0])


# How it is carried out


def test_a_graph_that_could_be_reduced_is_not():
    """Weights of vertices do not say what trips between single pairs pass through a cut vertex."""
    A = disjoint(path(40), matrix(2, [(0, 1)]))
    demand = sp.random_array(A.shape, density=0.3, rng=np.random.default_rng(1)).toarray()
    for weighted in (False, True):
        row = next(row for row in TAKING if row.weighted == weighted)
        assert_loads(A, demand, row, directed=False, reduce="all")


def test_nothing_is_searched_from_a_vertex_without_trips():
    seen, demand = [], np.zeros((6, 6))
    demand[1, 4] = demand[3, 3] = demand[5, 5] = 2
    demand[4, 0] = 0
    scores = lagbc.bc(path(6), demand=demand, progress=lambda progress: seen.append(progress.total))
    assert set(seen) == {1}
    np.testing.assert_array_equal(scores, [0, 0, 2, 2, 0, 0])
    for nothing in (np.zeros((6, 6)), sp.csr_array((6, 6)), np.eye(6)):
        np.testing.assert_array_equal(lagbc.bc(path(6), demand=nothing), np.zeros(6))


@taking
def test_counts_that_float64_does_not_hold(row):
    """Of 1030 diamonds in a row; most roots are in range, some are not."""
    A = diamonds(1030, 2)
    n, rng = A.shape[0], np.random.default_rng(1)
    demand = np.zeros((n, n))
    demand[np.ix_([0, 1, 30, 1500], rng.integers(0, n, 40))] = rng.random((4, 40))
    demand[[0, 1, 30, 1500], n - 1] = 1
    scores = lagbc.bc(A, demand=demand, directed=True, **how(row))
    # Joint k is at place 2k of the chain, the two middles before it share place 2k - 1.
    vertex, theirs = np.arange(n), np.zeros(n)
    place, share = 2 * ((vertex + 2) // 3) - (vertex % 3 > 0), np.where(vertex % 3, 0.5, 1.0)
    for s, t in zip(*np.nonzero(demand), strict=True):
        theirs += demand[s, t] * share * ((place[s] < place) & (place < place[t]))
    np.testing.assert_allclose(scores, theirs, rtol=1e-12)
    assert np.isfinite(lagbc.edge_bc(A, demand=demand, directed=True, **how(row)).data).all()


SIZES = (0.0, 0.0, 5e-324, 1e-310, 1e-300, 1.0, 1e160, 1e300)


@pytest.mark.parametrize(
    ("row", "cutoff"),
    [*((row, None) for row in TAKING), *((row, 3) for row in WITHIN)],
    ids=lambda of: of if of is None or isinstance(of, int) else name_of(of),
)
@given(st.data(), st.booleans())
def test_trips_of_any_size(row, cutoff, data, directed):
    """Those of one origin may be too far apart for any scale: this root is then computed by itself."""
    A = data.draw(weighted_graphs(max_n=7))
    n = A.shape[0]
    drawn = data.draw(st.lists(st.sampled_from(SIZES), min_size=n * n, max_size=n * n))
    demand = np.array(drawn).reshape(n, n)
    of_vertices, _ = loads(A, demand, directed=directed, weighted=row.weighted, cutoff=cutoff or np.inf)
    ours = lagbc.bc(A, demand=demand, directed=directed, cutoff=cutoff, **how(row))
    np.testing.assert_allclose(ours, of_vertices, rtol=1e-12, atol=np.finfo(float).tiny * 1e-12)


@taking
def test_roots_whose_trips_are_too_far_apart_are_computed_by_themselves(row):
    demand = np.zeros((6, 6))
    demand[0, 2:] = 1e-300, 2.0, 0, 1e300
    demand[2, 4:] = 1e-5, 1e5
    kept, beyond = without_far_apart(parse_demand(6, demand))
    np.testing.assert_array_equal(beyond, [True, False, False, False, False, False])
    np.testing.assert_array_equal(kept.toarray(), np.where(beyond[:, None], 0, demand))
    scores = lagbc.bc(path(6), demand=demand, **how(row))
    np.testing.assert_allclose(scores, [0, 1e300, 1e300, 1e300, 1e300, 0], rtol=1e-12)


# Within cutoffs


within = pytest.mark.parametrize("row", WITHIN, ids=name_of)


@within
@examples(40)
@given(st.data(), st.booleans())
def test_loads_within_cutoffs_are_those_of_the_oracle(row, data, directed):
    A = data.draw(weighted_graphs(max_n=8) if row.weighted else graphs(max_n=8))
    demand, cutoffs = data.draw(demands(A.shape[0])), data.draw(st.sampled_from([[2], [0, 1, 3], [4, np.inf]]))
    call = {"demand": demand, "cutoff": cutoffs, "directed": directed, **how(row)}
    of_vertices, of_edges = lagbc.bc(A, **call), lagbc.edge_bc(A, **call)
    for column, cutoff in enumerate(cutoffs):
        vertices, edges = loads(A, demand, directed=directed, weighted=row.weighted, cutoff=cutoff)
        np.testing.assert_allclose(of_vertices[:, column], vertices, rtol=1e-12, atol=1e-300)
        np.testing.assert_allclose(of_edges[column].toarray(), edges, rtol=1e-12, atol=1e-300)


@within
def test_counts_that_float64_does_not_hold_within_a_cutoff(row):
    """The last of 1030 diamonds are too far from the first vertex to count."""
    A = diamonds(1030, 2)
    n = A.shape[0]
    demand = np.zeros((n, n))
    demand[0, [n - 1, n - 4, 3]] = 1, 2, 4
    near = demand * (np.arange(n) < n - 1)
    within = lagbc.bc(A, demand=demand, cutoff=2 * 1029, directed=True, **how(row))
    np.testing.assert_allclose(within, lagbc.bc(A, demand=near, directed=True, **how(row)))


def test_auto_takes_a_method_that_reads_trips_within_a_cutoff():
    A = grid(9, 16)
    for weighted in (False, True):
        given = {"demand": np.ones(A.shape), "cutoff": 3, "weighted": weighted}
        assert lagbc.plan(A, **given).method in {row.name for row in WITHIN}
        with pytest.raises(ValueError, match="batched on cpu takes no demand within a cutoff"):
            lagbc.bc(A, method="batched", device="cpu", **given)


@taking
def test_a_checkpoint_goes_on_and_knows_its_trips(row, tmp_path):
    A = with_lengths(grid(18, 18), [1, 2, 3])
    demand = sp.random_array(A.shape, density=0.1, rng=np.random.default_rng(1), format="csr")
    call = functools.partial(lagbc.bc, A, batch=64, **how(row), checkpoint=tmp_path / "run")

    if row.device == "cpu":  # where there are several batches
        with pytest.raises(Killed):
            call(demand=demand, progress=kill_after(2))
        assert 0 < np.load(tmp_path / "run")["done"].sum() < A.shape[0]
    other = demand.copy()
    other.data[5] += 1
    for demands_else in ({"demand": other}, {"demand": demand.T}, {}) if row.device == "cpu" else ():
        with pytest.raises(lagbc.CheckpointError, match=r"belongs to other (options|roots)"):
            call(**demands_else)
    np.testing.assert_array_equal(call(demand=demand), lagbc.bc(A, demand=demand, **how(row)))
    reordered = sp.coo_array(demand)
    reordered = sp.coo_array((reordered.data[::-1], (reordered.row[::-1], reordered.col[::-1])), shape=A.shape)
    np.testing.assert_array_equal(call(demand=reordered), call(demand=demand))


# Which methods take it


@pytest.mark.parametrize("row", [row for row in ROWS if not row.demand], ids=name_of)
def test_other_methods_are_refused(row):
    there = "batched on cpu, dijkstra on cpu" if row.weighted else "batched on cpu, work-efficient on cpu"
    with pytest.raises(ValueError, match=rf"{row.name} on {row.device} takes no demand.*; these do: {there}"):
        lagbc.bc(path(4), demand=np.ones((4, 4)), **how(row))


def test_a_method_of_one_s_own_need_not_take_it():
    lagbc.register_method(lagbc.Method("textbook", "traversal", "cpu", False, "textbook"))
    try:
        with pytest.raises(ValueError, match="textbook on cpu takes no demand; these do: batched on cpu"):
            lagbc.bc(path(4), demand=np.ones((4, 4)), method="textbook")
    finally:
        lagbc.unregister_method("textbook")


def test_a_device_without_a_method_that_takes_it(monkeypatch):
    """As one that a method of one's own brings along might be."""
    rows = [replace(row, demand=row.demand and row.device == "cpu") for row in lagbc.METHODS]
    monkeypatch.setattr(table, "METHODS", tuple(rows))
    with pytest.raises(ValueError, match="takes no demand with weighted=True; these do: batched on cpu, dijkstra on"):
        lagbc.bc(path(4), demand=np.ones((4, 4)), weighted=True, device="cuda")


# What it may be


def test_forms_of_a_demand():
    A, dense = grid(4, 5), np.random.default_rng(1).integers(0, 3, (20, 20))
    expected = lagbc.bc(A, demand=dense)
    for form in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr"):
        for demand in (sp.coo_array(dense).asformat(form), sp.coo_matrix(dense).asformat(form)):
            before = demand.copy()
            np.testing.assert_array_equal(lagbc.bc(A, demand=demand), expected)
            assert (demand != before).nnz == 0
    for demand in (dense.astype(np.float32), dense.astype(np.uint8), sp.csr_matrix(dense).todense(), dense.T.copy().T):
        np.testing.assert_array_equal(lagbc.bc(A, demand=demand), expected)
    np.testing.assert_array_equal(lagbc.bc(A, demand=dense > 0), lagbc.bc(A, demand=(dense > 0) * 1.0))


def test_entries_at_one_place_are_summed():
    """A negative one counts in the sum, as in SciPy; stored zeros and the diagonal are no trips, whatever it holds."""
    rows, columns = np.array([0, 0, 0, 1, 1, 2]), np.array([2, 2, 2, 1, 0, 2])
    repeated = sp.coo_array(([5.0, 2.0, -3.0, np.nan, 0.0, -1.0], (rows, columns)), shape=(3, 3))
    trips = parse_demand(3, repeated)
    assert (trips.nnz, trips.dtype) == (1, np.float64)
    np.testing.assert_array_equal(origins(trips), [0])
    np.testing.assert_array_equal(lagbc.bc(path(3), demand=repeated), [0, 4, 0])
    unsorted = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 1, 2]), np.array([0, 3, 3, 3])), shape=(3, 3))
    np.testing.assert_array_equal(lagbc.bc(path(3), demand=unsorted), [0, 4, 0])
    assert unsorted.nnz == 3


def test_a_broken_sparse_matrix_is_refused():
    broken = sp.csr_array(np.ones((5, 5)))
    broken.indices[3] = 7
    with pytest.raises(ValueError, match="the arrays of demand are inconsistent: "):
        lagbc.bc(path(5), demand=broken)


def test_a_demand_with_room_to_spare_is_not_changed():
    """SciPy's check of the format prunes and recasts what it checks."""
    trips = sp.csr_array((np.ones(3), np.array([1, 2, 0]), np.array([0, 1, 1, 1])), shape=(3, 3))
    trips.indices, trips.indptr = trips.indices.astype(np.int64), trips.indptr.astype(np.int64)
    held = trips.indices, trips.data, trips.indptr
    lagbc.bc(sp.csr_array(np.ones((3, 3))), demand=trips, directed=False)
    assert all(now is before for now, before in zip((trips.indices, trips.data, trips.indptr), held, strict=True))


# Trips by the names of vertices


NAMED = nx.Graph([("ann", "bob"), ("bob", "carl"), ("carl", "dora")])
# Five trips from ann to carl, two of which are listed by themselves, one back, and half a one from dora to ann.
TABLE = {"from": ["ann", "dora", "ann", "carl"], "to": ["carl", "ann", "carl", "ann"], "trips": [3.0, 0.5, 2.0, 1.0]}
LOADS = [0, 6.5, 0.5, 0]


def forms_of_trips():
    yield "dict of dicts", {"ann": {"carl": 5}, "dora": {"ann": 0.5}, "carl": {"ann": 1}}
    table = pd.DataFrame(TABLE)
    yield "pandas", table
    yield "pandas, more columns", table.assign(day="monday")[["day", "trips", "to", "from"]]
    by_titles = table.set_axis(["Origin", "Destination", "Volume"], axis=1).assign(km=[1.5, 2, 3, 4], purpose="work")
    yield "pandas, other titles", by_titles[["purpose", "Volume", "km", "Destination", "Origin"]]
    yield "pandas, one title of three", table.set_axis(["start", "stop", "flow"], axis=1)[["start", "flow", "stop"]]
    yield "pandas, nullable", table.convert_dtypes()
    yield "pandas, categories", table.astype({"from": "category", "to": "category"})
    yield "pandas, numbers", table.replace({"ann": 0, "carl": 2, "dora": 3}).infer_objects()
    matrix = table.pivot_table("trips", "from", "to", "sum", fill_value=0)
    yield "pandas, matrix", matrix
    yield "pandas, square", matrix.reindex(index=["dora", "carl", "ann"], columns=["dora", "carl", "ann"], fill_value=0)
    some = np.array([[0, 0, 0.5], [0, 0, 1], [0, 5, 0]])
    yield "names and matrix", (["dora", "carl", "ann"], some)
    yield "names and sparse matrix", (np.array(["dora", "carl", "ann"]), sp.csr_array(some))
    yield "numbers and matrix", (np.array([3, 2, 0]), some)


@pytest.mark.parametrize("demand", [pytest.param(demand, id=name) for name, demand in forms_of_trips()])
def test_trips_by_names(demand):
    for function in (lagbc.bc, lambda *given, **options: lagbc.centralities(*given, **options)["bc"]):
        assert function(NAMED, demand=demand).tolist() == LOADS
    assert lagbc.plan(NAMED, demand=demand).method in {row.name for row in TAKING}


@pytest.mark.parametrize("titles", [("from", "to", "trips"), ("Origin", "Destination", "Flows")])
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_trips_of_other_tables(library, titles):
    module = pytest.importorskip(library)
    columns = {"km": [1.5, 2, 3, 4]} | dict(zip(reversed(titles), reversed(TABLE.values()), strict=True))
    make = module.DataFrame if library == "polars" else module.table
    assert lagbc.bc(NAMED, demand=make(columns)).tolist() == LOADS
    numbered = {"ann": 0, "carl": 2, "dora": 3}
    columns = {title: [numbered.get(item, item) for item in column] for title, column in columns.items()}
    assert lagbc.bc(path(4), demand=make(columns), directed=False).tolist() == LOADS


def test_trips_of_vertices_with_names_of_any_type():
    G = nx.relabel_nodes(NAMED, {"ann": (0, 0), "bob": 0.5, "carl": (0, 1), "dora": "dora"})
    named = {"ann": (0, 0), "carl": (0, 1)}
    table = {title: [named.get(item, item) for item in column] for title, column in TABLE.items()}
    assert lagbc.bc(G, demand=pd.DataFrame(table)).tolist() == LOADS


def test_a_matrix_whose_vertices_are_called_as_columns_of_trips():
    G = nx.path_graph(["from", "to", "trips"])
    matrix = pd.DataFrame([[0, 0, 2], [0, 0, 0], [1, 0, 0]], index=[*G], columns=[*G])
    assert lagbc.bc(G, demand=matrix).tolist() == [0, 3, 0]


def test_trips_of_a_matrix_have_numbers_for_names():
    A, table = path(4), {"from": [0, 3, 0, 2], "to": [2, 0, 2, 0], "trips": TABLE["trips"]}
    for demand in (
        pd.DataFrame(table),
        {0: {2: 5}, 3: {0: 0.5}, 2: {0: 1}},
        ([3, 2, 0], dict(forms_of_trips())["names and matrix"][1]),
    ):
        assert lagbc.bc(A, demand=demand, directed=False).tolist() == LOADS


def test_names_that_are_integers_are_names():
    G = nx.relabel_nodes(NAMED, {"ann": 3, "bob": 2, "carl": 1, "dora": 0})
    assert lagbc.bc(G, demand={3: {1: 5}, 0: {3: 0.5}, 1: {3: 1}}).tolist() == LOADS
    assert lagbc.bc(G, demand=sp.coo_array(([5], ([0], [2])), shape=(4, 4))).tolist() == [0, 5, 0, 0]


def test_a_missing_end_of_trips_is_told():
    """As whichever it is to pandas."""
    with pytest.raises(ValueError, match=r"demand\['from'\] holds (None|nan), which no vertex is called"):
        lagbc.bc(NAMED, demand=pd.DataFrame({"from": [None], "to": ["carl"], "trips": [1]}))


def test_polars_without_the_columns_is_told_of_them():
    polars = pytest.importorskip("polars")
    with pytest.raises(ValueError, match="demand has 2 columns, 'a', 'b'; titles such as origin, destination and"):
        lagbc.bc(NAMED, demand=polars.DataFrame({"a": [1], "b": [2]}))
