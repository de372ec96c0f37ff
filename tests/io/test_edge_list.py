"""Edge lists: what is one, and every way in which one can be malformed."""

import gzip

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from malformed import check_error, dense
from plain_parsers import parse

import lagbc
from lagbc.errors import GraphFileWarning, GraphFormatError
from lagbc.io.layout import content_of
from lagbc.io.read import read_graph
from lagbc.io.source import Source


@pytest.mark.parametrize("suffix", ["", ".txt", ".edges", ".edgelist", ".el", ".csv", ".tsv", ".unknown"])
@pytest.mark.parametrize(
    "text",
    [
        "7 -2\n30 7\n",
        "7\t-2\r\n30\t7\r\n",
        "7,-2\n30, 7\n",
        "# SNAP\n% KONECT\n\n  7 -2  # an edge\n\n30 7",
        "\ufeff7 -2\n30 7\n",
    ],
)
def test_edge_list(write, text, suffix):
    file = read_graph(write(text, f"graph{suffix}"))
    assert (file.format, file.directed) == ("edge list", True)
    assert isinstance(file.matrix, sp.csr_array)
    assert file.labels.tolist() == [-2, 7, 30]
    assert dense(file) == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_a_stored_zero_is_an_edge(write):
    file = read_graph(write("5,9,0.5\n9,5,3\n9,9,0\n"))
    assert (dense(file), file.matrix.nnz) == ([[0, 0.5], [3, 0]], 3)


def test_malformed_edge_list_far_down(write):
    check_error(write("1 2\n" * 70_000 + "1 2 3\n" + "1 2\n" * 10), 70_001, ["3 columns where"])


@pytest.mark.parametrize(("strengths", "kept"), [(False, 3), (True, 5)])
def test_of_repeated_edges_one_length_is_kept(write, strengths, kept):
    with pytest.warns(GraphFileWarning, match=r"graph\.txt: 2 entries repeat an edge"):
        file = read_graph(write("0 1 3\n0 1 5\n1 0 1\n0 1 3\n"), strengths=strengths)
    assert dense(file) == [[0, kept], [1, 0]]


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        (f"{2**53} {2**53 + 1} 1.5\n", [2**53, 2**53 + 1], [[0, 1.5], [0, 0]]),
        (b"# caf\xe9 \xff\n1 2\n", [1, 2], [[0, 1], [0, 0]]),
        ("1,2\n  \n\t\n   # c\n2,1  % c\n", [1, 2], [[0, 1], [1, 0]]),
        ("source,target\n1,2\n", [1, 2], [[0, 1], [0, 0]]),
        ("ann,bob\nbob,ann\n", ["ann", "bob"], [[0, 1], [1, 0]]),
        ("From\tTo\nNew York\tRome\n", ["New York", "Rome"], [[0, 1], [0, 0]]),
        ("who;whom;calls\nb;a;3\n", ["b", "a"], [[0, 3], [0, 0]]),
        ('"Smith, J.","say ""hi""",0.5\n', ["Smith, J.", 'say "hi"'], [[0, 0.5], [0, 0]]),
        ("Zoë Бор # a comment\nC# Zoë\n", ["Zoë", "Бор", "C#"], [[0, 1, 0], [0, 0, 0], [1, 0, 0]]),
        ("7 b\nb 8\n", ["7", "b", "8"], [[0, 1, 0], [0, 0, 1], [0, 0, 0]]),
        ("id,weight,to,from,x\n1,0.5,b,a,q\n", ["a", "b"], [[0, 0.5], [0, 0]]),
        ("weight,one,other\n0.5,a,b\n", ["a", "b"], [[0, 0.5], [0, 0]]),
        ("weight,one,other\n5,1,2\n", [1, 2], [[0, 5], [0, 0]]),
    ],
)
def test_numbers_names_and_header_lines(write, text, labels, expected):
    """Float64 would not tell all ids apart, and comments may hold any bytes."""
    file = read_graph(write(text))
    assert file.labels.tolist() == labels
    assert dense(file) == expected
    assert file.directed


@pytest.mark.parametrize(
    ("text", "directed", "said"),
    [
        ("% sym positive\n% 3 2 2\n1 2 4 1082040961\n1 3 5 1082040962\n", False, "undirected (KONECT sym), 2 lines"),
        ("% asym unweighted\n1 2\n1 3\n", True, "directed (KONECT asym), 1 line of comments left out"),
        ("# Undirected graph: a.txt\n# FromNodeId\tToNodeId\n1\t2\n1\t3\n", False, "undirected (SNAP undirected)"),
        ("# Directed graph (each unordered pair ...\n1\t2\n1\t3\n", True, "directed (SNAP directed)"),
        ("1\t2\n# Undirected graph: b.txt\n1\t3\n", True, "separated by blanks, 1 line of comments left out"),
        ("source,target\n1,2\n1,3\n", True, "integers in columns 1 and 2, separated by commas, below a header line"),
    ],
)
def test_what_a_file_says_of_itself(write, text, directed, said):
    file = read_graph(write(text))
    assert file.directed is directed
    assert file.labels.tolist() == [1, 2, 3]
    assert np.array_equal(dense(file), np.array(dense(file)).T) is not directed
    assert said in file.said
    assert "\n" not in file.said


@pytest.mark.parametrize("data", [True, False, ["km", "weight"], ["weight"]])
@pytest.mark.parametrize("delimiter", [" ", ",", "\t"])
def test_what_networkx_writes(tmp_path, data, delimiter):
    G = nx.DiGraph([("a", "b", {"weight": 3, "km": 0.25}), ("b", "c", {"km": 1e-3, "weight": 4})])
    G["a"]["b"]["kind"] = "} {'weight': 9, #"
    nx.write_edgelist(G, tmp_path / "g", data=data, delimiter=delimiter)
    said = {"ends": (1, 2), "length": 4} if data == ["km", "weight"] else {}
    file = read_graph(tmp_path / "g", **said)
    expected = nx.to_numpy_array(G, weight=None if data is False else "weight")
    assert file.labels.tolist() == list(G)
    assert np.array_equal(file.matrix.toarray(), expected)
    if data is True:
        by_km = read_graph(tmp_path / "g", length="km").matrix.toarray()
        assert np.array_equal(by_km, nx.to_numpy_array(G, weight="km"))
        check = r"line 1: no attribute 'm': .*; expected length= to be one of 'weight', 'km', 'kind'"
        with pytest.raises(GraphFormatError, match=check):
            read_graph(tmp_path / "g", length="m")


@pytest.mark.parametrize(
    ("text", "ends", "said"),
    [
        ("from,to,km,name\nulm,bonn,1.5,A1\n", ["ulm", "bonn"], "in columns 1 and 2, values in column 3"),
        ("name;From;To;Miles\nA1;ulm;bonn;1.5\n", ["ulm", "bonn"], "in columns 2 and 3, values in column 4"),
        ("id,source,target,lanes,length,km\n7,1,2,4,1500,1.5\n", [1, 2], "integers in columns 2 and 3, separated"),
        ("from,to,km,km\n1,2,1.5,2\n", [1, 2], "integers in columns 1 and 2, separated"),
    ],
)
def test_usual_titles_choose_among_many_columns(write, text, ends, said):
    file = read_graph(write(text))
    assert file.labels.tolist() == ends
    assert said in file.said
    assert file.has_values is ("values" in said)
    if not file.has_values:
        with pytest.raises(ValueError, match=r"edges have no values .*length= says which column has them"):
            lagbc.bc(file, directed=True, weighted=True)


def test_columns_may_be_said(write):
    path = write("a b c 2\nb c d 3\n")
    check_error(path, 1, ["4 columns", "ends=(1, 2) and length=3"])
    assert dense(read_graph(path, ends=(3, 1), length=4)) == [[0, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 3], [0, 0, 0, 0]]
    assert read_graph(path, ends=(3, 1), length=4).labels.tolist() == ["c", "a", "d", "b"]
    assert read_graph(path, ends=(1, 2)).matrix.sum() == 2
    titled = write("from,to,via\n1,2,3\n")
    assert read_graph(titled).labels.tolist() == [1, 2]
    assert read_graph(titled, ends=("via", "from")).labels.tolist() == [1, 3]
    assert read_graph(write("1 2\n2 b\n"), names=True).labels.tolist() == ["1", "2", "b"]
    assert read_graph(write("from to\na b\n"), header=False).labels.tolist() == ["from", "to", "a", "b"]
    assert read_graph(write("u v\n"), header=False).labels.tolist() == ["u", "v"]
    assert read_graph(write("p q\na b\n"), header=True).labels.tolist() == ["a", "b"]


@pytest.mark.parametrize("text", ["007 7\n7 010\n", "a,b\n007,7\n7,010\n", "+7 7\n7 -0\n"])
def test_ids_that_are_not_written_as_integers_are_stay_text(write, text):
    file = read_graph(write(text))
    assert file.labels.tolist()[1] == "7"
    assert set(file.labels.tolist()) == {*text.replace(",", " ").split()[-4:]}


def test_a_padded_id_below_integers_is_refused(write):
    for padded in ("007", "-07", "+7"):
        check_error(write(f"1 20\n20 {padded}\n"), 2, [f"'{padded}' is not an integer id", "names=True takes all ids"])
        assert read_graph(write(f"1 20\n20 {padded}\n"), names=True).labels.tolist() == ["1", "20", padded]
    assert read_graph(write("0 20\n20 -7\n")).labels.tolist() == [-7, 0, 20]


@pytest.mark.parametrize("text", ["a,b,1.5\nb,c,\n", "1 2 {'weight': 1}\n2 3 {}\n"])
def test_values_may_be_missing_where_they_are_not_used(write, text):
    file = read_graph(write(text))
    assert lagbc.bc(file, directed=True).tolist() == [0, 1, 0]


def test_many_names_over_many_pieces(write):
    """More than a table begins with, and longer names than a piece has room for at first."""
    ends = [(f"v{7 * i % 50_021}" + "x" * (i % 40), f"v{11 * i % 50_021}") for i in range(50_000)]
    file = read_graph(write("".join(f"{u}\t{v}\t{i}\n" for i, (u, v) in enumerate(ends))))
    assert file.labels.tolist() == list(dict.fromkeys(name for edge in ends for name in edge))
    found = file.matrix.tocoo()
    edges = {(file.labels[i], file.labels[j]): x for i, j, x in zip(found.row, found.col, found.data, strict=True)}
    # Of equal edges the first has the smallest value.
    assert edges == {edge: i for i, edge in reversed([*enumerate(ends)])}


@given(
    st.lists(st.floats(allow_nan=False, width=64), min_size=1, max_size=20),
    st.sampled_from(["{!r}", "{:.3e}", "{:.17g}", "{:.4f}"]),
)
def test_values_are_rounded_as_python_does(tmp_path_factory, values, form):
    path, texts = tmp_path_factory.mktemp("values") / "g", [*map(form.format, values)]
    path.write_text("".join(f"{i} {i + 1} {text}\n" for i, text in enumerate(texts)))
    assert read_graph(path).matrix.tocoo().data.tolist() == [float(text) for text in texts]


@pytest.mark.parametrize(
    "titles",
    ["source,target", "From,To", "node1,node2", "protein1,protein2", "gene_a,gene_b", "u,v", "Gene ID 1,Gene ID 2"],
)
def test_usual_titles_over_names_are_no_edge(write, recwarn, titles):
    """Whatever stands below them: names that begin alike, or in the order of the alphabet."""
    file = read_graph(write(f"{titles}\nNodal,geneva\ngeneva,uvula\n"))
    assert file.labels.tolist() == ["Nodal", "geneva", "uvula"]
    assert "below a header line" in file.said
    assert not recwarn.list


@pytest.mark.parametrize(
    "text",
    [
        "node1,node2\nnode2,node3\n",
        "node1,node2\nnode3,node4\nnode5,node1\n",
        "u v\nw x\nx v\n",
        "source target\na b\nb source\n",
        "a,b,x\nb,c,y\n",
    ],
)
def test_words_of_titles_that_occur_again_are_vertices(write, text):
    said = {"ends": (1, 2)} if "x" in text and "," in text else {}
    path = write(text)
    file = read_graph(path, **said)
    assert file.matrix.nnz == text.count("\n")
    assert file.labels[:2].tolist() == text.replace(",", " ").split()[:2]
    assert read_graph(path, header=True, **said).matrix.nnz == text.count("\n") - 1


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("who,whom\nann,bob\nbob,carl\n", "'who' to 'whom', although none of the names occurs again"),
        ("gene1,gene2\ngene3,gene4\n", "'gene1' to 'gene2', although none of the names occurs again"),
        ("source target\na b\nb source\n", "an edge, as 'source' is below, too"),
    ],
)
def test_how_a_first_line_in_doubt_is_taken_is_said_once(write, recwarn, text, part):
    path = write(text)
    assert read_graph(path).matrix.nnz == text.count("\n")
    (warning,) = recwarn.list
    assert warning.category is GraphFileWarning
    assert part in str(warning.message)
    assert "header=True takes it for titles" in str(warning.message)
    recwarn.clear()
    assert read_graph(path, header=False).matrix.nnz == text.count("\n")
    assert read_graph(path, header=True).matrix.nnz == text.count("\n") - 1
    assert not recwarn.list


@pytest.mark.parametrize("text", ["ann,bob\nbob,carl\n", "ann,bob\n", "ann,bob,2\nx,y,3\n", "ann bob {}\nx y {}\n"])
def test_a_first_line_that_is_an_edge_is_not_in_doubt(write, recwarn, text):
    assert read_graph(write(text)).labels[:2].tolist() == ["ann", "bob"]
    assert not recwarn.list


@pytest.mark.parametrize("title", ["id", "", "OSM_ID", "index"])
def test_numbers_of_edges_are_no_lengths(write, title):
    """Unless `length` names their column."""
    path = write(f"{title},from,to\n1,a,b\n10,b,c\n", "edges.csv")
    file = read_graph(path)
    assert not file.has_values
    assert file.matrix.data.tolist() == [1, 1]
    assert read_graph(path, length=1).matrix.data.tolist() == [1, 10]


@pytest.mark.parametrize(
    "text",
    [
        'ann "New York" . # c\n# c\nNew" ann 2\n"a ""b"" c" ann .5\n',
        'ann,"New York",\nNew,ann,2\n"a b",ann,.5\n',
        "a,b,长度\nx,y,2\ny,z,.5\n",
        "起,终,长\n1,2,2\n2,3,.5\n",
    ],
    ids=["signs", "no title", "another alphabet", "titles of another alphabet"],
)
def test_numbers_behind_the_ends_are_weights_unless_their_title_says_otherwise(write, text):
    file = read_graph(write(text))
    assert file.has_values
    assert sorted(file.matrix.data.tolist()) == sorted(parse("edge list", text.encode()).values())
    assert sorted(file.matrix.data.tolist()) == [0.5, 2]
    no_length = read_graph(write("a,b,osmid\nx,y,2\ny,z,.5\n"))
    assert not no_length.has_values


@pytest.mark.parametrize("text", ["1,2\n2,3\n", "1, 2, 3\n2, 3, 4\n", "a b,c 1\n", "1,2 # 3 4,5\n", "1 , 2 , 5\n"])
def test_commas_that_are_not_decimal(write, text):
    assert "separated by commas" in read_graph(write(text, "graph.txt")).said


def test_commas_in_names_of_several_words(write):
    assert read_graph(write("Bus stop 12,34\nBus stop 5,12\n", "stops.csv")).matrix.shape == (4, 4)


GEPHI = "Source,Target,Type,Id,Label,timeset,Weight\na,b,Undirected,0,,,1.5\nb,c,Undirected,1,x,,2\n"


def test_the_column_type_of_gephi_tells_the_direction(write):
    undirected, directed = read_graph(write(GEPHI)), read_graph(write(GEPHI.replace("Undirected", "Directed")))
    assert (undirected.directed, undirected.matrix.nnz) == (False, 4)
    assert (directed.directed, directed.matrix.nnz) == (True, 2)
    assert undirected.tells_direction
    assert "undirected (Gephi's column Type)" in undirected.said
    assert read_graph(write("from,to,Type\n1,2,road\n")).directed, "a type of another kind"


def test_edges_that_are_no_matrix_of_three_rows(write):
    text = "0,1,2\n1,0,3\n2,3,0\n"
    for said in ({"header": False}, {"ends": (1, 2), "length": 3}):
        assert read_graph(write(text), **said).matrix.shape == (4, 4)
    for edges in (text + "3,4,5\n", text[:12], text.replace("3,0", "3,1"), "% sym positive\n" + text):
        assert read_graph(write(edges)).format == "edge list"


@pytest.mark.parametrize(
    ("text", "said"),
    [("source,target,\n1,2\n", {}), ("source target\n1 2 3\n", {"ends": (1, 2)}), ("u,v,w\na,b#1,c\n", {})],
)
def test_titles_without_a_column_may_be_empty_and_columns_by_number_need_no_titles(write, text, said):
    assert read_graph(write(text), **said).rows.shape == (2, 2)


def test_a_line_of_opening_braces_takes_time_by_its_length(write):
    """Each brace was the start of a search to the end of the line: half an hour for this one."""
    with pytest.raises(lagbc.GraphFormatError, match="line 1"):
        read_graph(write("1 2 " + "{" * 10**6 + "\n"))


def test_comments_and_blank_lines_above_the_edges_are_not_kept(write):
    """Of comments, which may be gigabytes of a small archive, one is kept: the first that tells the direction."""
    above = b"\n" * 2**20 + b"# some words\n" * 10**5
    path = write(gzip.compress(above + b" % sym positive\n" + above + b"1 2\n# Directed graph\n2 3\n"), "graph.gz")
    marks = []
    assert next(content_of(Source(path, "graph", 10**6), marks)) == (2 * (2**20 + 10**5) + 2, b"1 2")
    assert marks == [b"% sym positive"]
    graph = read_graph(path)
    assert (dense(graph), graph.directed) == ([[0, 1, 0], [1, 0, 1], [0, 1, 0]], False)
