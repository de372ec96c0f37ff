"""Columns of Arrow: every layout of texts, integers and dictionaries, in chunks and slices, is read as a list is."""

import csv
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from columns import FORMS, OF_TEXTS
from hypothesis import given
from hypothesis import strategies as st

import lagbc

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

M = 70
NAMES = ["a", "b", "name of twelve", "twelve bytes", "\N{SNOWMAN} and umlauts \xe4\xf6", "z" * 100]


class OnlyStream:
    """What hands over Arrow by its stream alone, as libraries other than pyarrow do."""

    def __init__(self, column):
        self.column = pa.chunked_array(column) if isinstance(column, pa.Array) else column

    def __arrow_c_stream__(self, requested_schema=None):
        return self.column.__arrow_c_stream__(requested_schema)


def chunks(column):
    return pa.chunked_array([column[:5], column[5:5], column[5:31], column[31:]])


def with_other_dictionaries(column):
    """Chunks whose dictionaries differ, and have values that no row has."""
    first, rest = column[:20], column[20:]
    values = pa.array(["nobody", "", "a\nb", *NAMES])
    codes = pa.array([values.index(item).as_py() for item in rest], pa.int32())
    return pa.chunked_array([first.dictionary_encode(), pa.DictionaryArray.from_arrays(codes, values)])


TEXTS = {
    "string": pa.string(),
    "large string": pa.large_string(),
    "string view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int8(), pa.string()),
    "dictionary of large strings": pa.dictionary(pa.int64(), pa.large_string()),
}
CHUNKED = {"whole": lambda column: column, "slice": lambda column: column, "chunks": chunks, "stream": OnlyStream}


def drawn(seed, items):
    rng = np.random.default_rng(seed)
    return [items[i] for i in rng.integers(0, len(items), M)]


def as_table(graph):
    return graph.names.tolist(), graph.indptr.tolist(), graph.indices.tolist()


@pytest.mark.parametrize("chunked", CHUNKED)
@pytest.mark.parametrize("kind", TEXTS)
def test_texts_are_those_of_a_list(kind, chunked):
    source, target = drawn(1, NAMES), drawn(2, NAMES)
    expected = lagbc.graph_from_edges(source, target, directed=True)

    def made(items):
        column = pa.array(["before", *items, "after"], pa.string()).cast(TEXTS[kind])[1:-1]
        column = column if chunked == "slice" else pa.concat_arrays([column])
        assert column.type == TEXTS[kind]
        return CHUNKED[chunked](column)

    for pair in ((made(source), made(target)), (made(source), target), (source, made(target))):
        assert as_table(lagbc.graph_from_edges(*pair, directed=True)) == as_table(expected)


def test_dictionaries_may_change_from_chunk_to_chunk():
    source, target = drawn(3, NAMES), drawn(4, NAMES)
    expected = lagbc.graph_from_edges(source, target, directed=True)
    columns = (with_other_dictionaries(pa.array(items)) for items in (source, target))
    assert as_table(lagbc.graph_from_edges(*columns, directed=True)) == as_table(expected)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers_of_every_width(kind):
    source, target = drawn(5, range(100)), drawn(6, range(100))
    expected = lagbc.graph_from_edges(source, target, directed=True)
    for form in (chunks, lambda column: column[0:], lambda column: column.dictionary_encode()):
        columns = (form(pa.array(items, getattr(pa, kind)())) for items in (source, target))
        assert as_table(lagbc.graph_from_edges(*columns, directed=True)) == as_table(expected)


def test_more_rows_than_are_read_at_a_time():
    rng = np.random.default_rng(7)
    ids = [f"vertex {v}" for v in range(70_000)]
    source, target = ([ids[v] for v in rng.integers(0, len(ids), 150_000)] for _ in range(2))
    expected = as_table(lagbc.graph_from_edges(source, target, directed=True))
    for form in (pa.array, chunks_of_lists, lambda items: pa.array(items).dictionary_encode()):
        assert as_table(lagbc.graph_from_edges(form(source), form(target), directed=True)) == expected


def chunks_of_lists(items):
    return pa.chunked_array([items[:70_001], items[70_001:]])


@pytest.mark.parametrize(
    "form", ["arrow", "arrow views", "arrow dictionary", "polars", "polars categories", "pandas texts"]
)
def test_no_object_of_python_is_made_of_a_row(form):
    """An object takes 50 bytes or more, and its place in an array 8."""
    rng = np.random.default_rng(8)
    items = [f"vertex {v}" for v in range(500)]
    source, target = (FORMS[form]([items[v] for v in rng.integers(0, 500, 100_000)]) for _ in range(2))
    lagbc.graph_from_edges(source, target, directed=True)
    tracemalloc.start()
    try:
        lagbc.graph_from_edges(source, target, directed=True)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 80 * 100_000


@pytest.mark.parametrize("size", [-1, 21])
def test_a_view_beyond_its_buffer_is_refused(size):
    """As another library may hand it over, of a buffer of 20 bytes."""
    heads = np.array([[1, ord("b"), 0, 0], [size, 0, 0, 0]], np.int32)
    heads[1, 1] = np.frombuffer(b"a na", np.int32)[0]
    views = pa.Array.from_buffers(
        pa.string_view(), 2, [None, pa.py_buffer(heads), pa.py_buffer(b"a name of twenty one")]
    )
    with pytest.raises(ValueError, match=r"source: Arrow cannot be read: .* slot 1"):
        lagbc.graph_from_edges(views, ["a", "b"], directed=True)


def test_a_stream_that_fails():
    def batches():
        yield pa.record_batch({"source": ["a"], "target": ["b"]})
        raise OSError("the disk is gone")

    schema = pa.schema({"source": pa.string(), "target": pa.string()})
    reader = pa.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(ValueError, match=r"the table: Arrow cannot be read: .*the disk is gone"):
        lagbc.graph_from_edges(reader, directed=True)


def test_a_capsule_of_another_kind():
    class Wrong:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.array(["a"]).__arrow_c_array__()[1]

    with pytest.raises(ValueError, match=r"source: Arrow cannot be read: .* incorrect name"):
        lagbc.graph_from_edges(Wrong(), Wrong(), directed=True)


ROADS = {"name": ["A1", "A2", "A3"], "to": ["bonn", "ulm", "jena"], "from": ["ulm", "jena", "bonn"], "km": [1.5, 2, 4]}


ENDS = {"from": ["a", "b"], "to": ["b", "c"]}


def polars_frame(columns):
    return pytest.importorskip("polars").DataFrame(columns, strict=False)


def pandas_frame(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def duckdb_relation(columns):
    return pytest.importorskip("duckdb").from_arrow(pa.table(columns))


TABLES = (pa.table, pa.record_batch, polars_frame, pandas_frame, duckdb_relation)


def chunked_reader(columns):
    table = pa.table(columns)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=1))


@pytest.mark.parametrize("table", [*TABLES, chunked_reader])
def test_a_table_is_its_columns(table):
    expected = lagbc.graph_from_edges(ROADS["from"], ROADS["to"], ROADS["km"], directed=True)
    for ends, length in ((None, "km"), (("from", "to"), "km"), ((3, 2), 4), ((3, "to"), None), (None, None)):
        graph = lagbc.graph_from_edges(table(ROADS), ends=ends, length=length, directed=True)
        assert as_table(graph) == as_table(expected)
        assert graph.weighted == (length is not None)
        if length is not None:
            assert graph.weights.tolist() == expected.weights.tolist()


@pytest.mark.parametrize("titles", [("source", "target", "weight"), ("a", "b", "c")])
def test_a_column_that_may_hold_lengths_is_named_where_it_is_not_read(titles):
    columns = dict(zip(titles, (["a", "b"], ["b", "c"], [1.5, 2.0]), strict=True))
    with pytest.warns(lagbc.GraphFileWarning, match=f"column '{titles[2]}', which is not read, so that paths count"):
        assert not lagbc.graph_from_edges(pa.table(columns), directed=True).weighted
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lagbc.graph_from_edges(pa.table(columns), length=titles[2], directed=True)
        lagbc.graph_from_edges(pa.table(columns), ends=titles[:2], directed=True)
        lagbc.graph_from_edges(pa.table(columns).select([0, 1]), directed=True)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    ("columns", "arguments", "error", "message"),
    [
        (ROADS, {"ends": ("from", "via")}, ValueError, "the table: no column is called 'via'; there are 'name', 'to'"),
        (ROADS, {"length": "miles"}, ValueError, "the table: no column is called 'miles'"),
        (ROADS, {"length": "name"}, TypeError, "column 'name' holds .*A1.* in row 0; it holds"),
        (ROADS, {"length": 5}, ValueError, "the table has 4 columns, 'name', 'to', 'from', 'km'; there is no column 5"),
        (ROADS, {"ends": ("from", "from")}, ValueError, "are one column"),
        (ROADS, {"ends": "from"}, TypeError, "ends='from': it is a pair of columns"),
        (ROADS, {"ends": ("from", "km")}, TypeError, "column 'from' holds names and column 'km' integers|'km' holds 1"),
        ({"a": [1], "b": [2], "c": [3], "d": [4]}, {}, ValueError, "has 4 columns, .*; ends= says which two"),
        ({"from": ["a", "b"], "to": ["b", None]}, {}, TypeError, "column 'to' holds (None|nan) in row 1; vertices are"),
        ({"from": ["a", "b"], "to": ["b", ""]}, {}, TypeError, "column 'to' holds '' in row 1"),
        (ENDS | {"km": [1.0, None]}, {"length": "km"}, ValueError, "1 of the 2 .* > 0, the first in row 1: nan"),
        (ENDS | {"km": ["1,5", "2"]}, {"length": "km"}, TypeError, "column 'km' holds .*'1,5'.* in row 0; it holds"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_table_of_edges(table, columns, arguments, error, message):
    with pytest.raises(error, match=message) as caught:
        lagbc.graph_from_edges(table(columns), directed=True, **arguments)
    assert isinstance(caught.value, lagbc.Error)


NAME = st.text("ab\N{SNOWMAN}\xe4,; 'q", min_size=1, max_size=20).filter(lambda name: name == name.strip())


@given(data=st.data(), of_names=st.booleans(), directed=st.booleans())
def test_columns_are_the_file_of_their_rows(data, of_names, directed, tmp_path_factory):
    """Names with separators, blanks and quotes within, and integers of 64 bits; lengths that are repeated."""
    vertices = data.draw(
        st.lists(NAME if of_names else st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=6, unique=True)
    )
    end = st.sampled_from(vertices)
    edges = data.draw(st.lists(st.tuples(end, end, st.sampled_from([0.5, 1.0, 3.0])), min_size=1, max_size=12))
    path = tmp_path_factory.getbasetemp() / "rows.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerows([("source", "target", "length"), *edges])
    columns = [list(column) for column in zip(*edges, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lagbc.GraphFileWarning)
        file = lagbc.read_graph(path, names=of_names or None)
        expected = lagbc.as_graph(file, directed=directed, weighted=True)
        for made in (made for form, made in FORMS.items() if of_names or form not in OF_TEXTS):
            graph = lagbc.graph_from_edges(*map(made, columns[:2]), columns[2], directed=directed)
            assert as_table(graph) == as_table(expected)
            assert graph.weights.tolist() == expected.weights.tolist()
        pq.write_table(pa.table(dict(zip(("source", "target", "length"), columns, strict=True))), path)
        of_parquet = lagbc.as_graph(lagbc.read_graph(path), directed=directed, weighted=True)
        assert as_table(of_parquet) == as_table(expected)
        assert of_parquet.weights.tolist() == expected.weights.tolist()


@pytest.mark.parametrize("fault", ["", "a\nb", None])
@pytest.mark.parametrize("form", [form for form in FORMS if form not in OF_TEXTS])
def test_a_fault_of_a_row_is_an_error_in_every_form(form, fault):
    """As it is in a file, where a name is empty or missing."""
    columns = {"source": ["b"] * 5, "target": ["b"] * 5}
    for name in columns:
        wrong = columns | {name: FORMS[form](["a", "b", "c", fault, "a"])}
        with pytest.raises(TypeError, match=rf"{name} holds (''|'a\\nb'|None|nan) in row 3; vertices are"):
            lagbc.graph_from_edges(*wrong.values(), directed=True)


@pytest.mark.parametrize("given", [lambda: pa.array(["a"]), lambda: pytest.importorskip("polars").Series(["a"])])
def test_without_pyarrow(given, monkeypatch):
    column = given()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(lagbc.MissingDependencyError, match=r"source hands over Arrow, .* pip install pyarrow; or pass"):
        lagbc.graph_from_edges(column, column, directed=True)
