"""What the readers of all formats share: compression, the choice of the format, memory, the shipped networks."""

import gzip
import os
import re
import threading

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from malformed import dense
from scipy.io import mmwrite

import lagbc
from lagbc import limits
from lagbc.errors import GraphFormatError
from lagbc.io.read import read_graph
from lagbc.io.source import example_names, example_path

BANNER = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [("g.mtx", BANNER + "2 2 1\n1 2 1\n"), ("g.txt", "0 1\n"), ("g.graph", "2 1\n2\n1\n")],
)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_gzip_is_told_by_content(write, name, text, suffix):
    plain, packed = read_graph(write(text, name)), read_graph(write(gzip.compress(text.encode()), name + suffix))
    assert (plain.format, plain.directed, dense(plain)) == (packed.format, packed.directed, dense(packed))


def test_gzip_npz(tmp_path, write):
    sp.save_npz(tmp_path / "g.npz", sp.csr_array([[0, 1], [0, 0]]))
    assert dense(read_graph(write(gzip.compress((tmp_path / "g.npz").read_bytes()), "h.gz"))) == [[0, 1], [0, 0]]


def test_a_file_that_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"^there is no file 'nope'; networks that come with lagbc: example:ca"):
        read_graph("nope")
    with pytest.raises(OSError, match=f"^{tmp_path} is a folder, not a file"):
        read_graph(tmp_path)


def test_damaged_gzip(write):
    """It is cut short, or its checksum is another's."""
    data = gzip.compress(b"1 2\n" * 100)
    for damaged in (data[:20], data[:-4], data[:2], data[:-8] + bytes(4) + data[-4:]):
        with pytest.raises(GraphFormatError, match=r"g\.gz: the gzip stream is damaged or cut short"):
            read_graph(write(damaged, "g.gz"))


@pytest.mark.parametrize(
    ("name", "n", "edges", "directed"),
    [
        ("ca-GrQc", 5242, 14484, False),
        ("karate", 34, 78, False),
        ("lesmis", 77, 254, False),
        ("minnesota", 2642, 3303, False),
        ("power", 4941, 6594, False),
        ("us-airports", 755, 8228, True),
    ],
)
def test_shipped_network(name, n, edges, directed):
    file = read_graph(example_path(name))
    A = file.matrix
    assert (A.shape, A.nnz, file.directed) == ((n, n), edges if directed else 2 * edges, directed)
    assert A.diagonal().sum() == 0
    symmetric = (A != A.T).nnz == 0
    assert symmetric != directed


def test_karate_is_the_graph_of_networkx():
    A = read_graph(example_path("karate")).matrix
    assert np.array_equal(A.toarray(), nx.to_numpy_array(nx.karate_club_graph(), weight=None))


def test_shipped_names():
    assert example_names() == ["ca-GrQc", "karate", "lesmis", "minnesota", "power", "us-airports"]
    assert (read_graph("example:karate").matrix != read_graph(example_path("karate")).matrix).nnz == 0
    for call, name in ((read_graph, "example:nope"), (example_path, "nope")):
        with pytest.raises(ValueError, match=r"called 'nope'; there are: ca-GrQc, karate, .*us-airports"):
            call(name)


def test_shipped_networks_are_described_and_small():
    folder = example_path("karate").parent
    description = (folder / "README.md").read_text()
    for name in example_names():
        assert description.count(f"| `{name}` |") == 2, f"{name} needs a row of each table"
    assert sum(file.stat().st_size for file in folder.iterdir()) < 1_000_000


# ---- memory


def test_a_device_is_refused():
    with pytest.raises(GraphFormatError, match="/dev/zero: this is a device"):
        read_graph("/dev/zero")


@pytest.mark.parametrize("size", [10, 10**5])
def test_a_pipe_is_read_within_the_budget(tmp_path, size):
    path = tmp_path / "graph"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"1 2\n" * size,))
    writer.start()
    try:
        if size == 10:
            assert read_graph(path, budget=10**5).matrix.nnz == 1
        else:
            with pytest.raises(MemoryError, match=r"graph: its content needs .* budget is 100 kB"):
                read_graph(path, budget=10**5)
    finally:
        writer.join()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.txt", b"1 2\n" * 10**6),
        ("g.txt", b"1" * 10**7),
        ("g.npz", b"PK\x03\x04" + bytes(10**7)),
        ("g.graph", b"200000 0\n" + b"\n" * 200_000),
        ("g.mtx", BANNER.encode() + b"9 9 1000000\n" + b"1 2 3\n" * 10**6),
    ],
    ids=["edges", "a line", "npz", "METIS", "Matrix Market"],
)
def test_what_a_small_gzip_file_unpacks_to_keeps_to_the_budget(write, name, text):
    path = write(gzip.compress(text, 1), name + ".gz")
    with pytest.raises(MemoryError, match=r"needs up to .* MB to be read, but the budget is 4 MB; raise .*LAGBC_MEM"):
        read_graph(path, budget=4 * 10**6)


def test_the_budget_is_what_the_process_leaves_of_the_variable(write, monkeypatch):
    monkeypatch.setattr(limits, "held_memory", lambda: 900)
    monkeypatch.setenv("LAGBC_MEMORY", "1000")
    with pytest.raises(MemoryError, match="the budget is 100 B;"):
        read_graph(write("1 2\n"))


@pytest.mark.parametrize("banner", ["\ufeff" + BANNER, BANNER[1:]])
def test_a_banner_of_another_kind_is_no_comment_of_an_edge_list(write, banner):
    """Else the size line would be an edge."""
    assert read_graph(write(banner + "3 3 1\n1 2 1\n", "graph.txt")).format == "Matrix Market"


def test_values_that_are_no_lengths_are_named_as_in_the_file(write):
    graph = read_graph(write(BANNER + "4 4 4\n1 2 1\n2 3 -2\n3 3 0\n3 4 0\n", "lab.mtx"))
    for call in (lagbc.bc, lagbc.as_graph, lagbc.closeness):
        with pytest.raises(ValueError, match=r"lab\.mtx, line 4: the edge 1 -> 2 .* has the length -2\.0 \(the"):
            call(graph, weighted=True)
    assert lagbc.bc(graph).tolist() == [0, 2, 2, 0]


UNTOLD = "tells no direction: edges go one way; directed=False takes them both ways, directed=True one way without"


@pytest.mark.parametrize("name", ["g.txt", "g.npz"])
def test_a_graph_without_a_direction_is_said_once_to_be_directed(write, tmp_path, recwarn, name):
    if name == "g.npz":
        sp.save_npz(tmp_path / name, sp.csr_array(([1.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3)))
    else:
        write("0 1\n1 2\n", name)
    file = read_graph(tmp_path / name)
    assert (file.directed, file.tells_direction) == (True, False)
    assert lagbc.bc(file, directed=True).tolist() == lagbc.bc(file, directed=False).tolist() == [0, 1, 0]
    assert not recwarn.list
    for call in (lagbc.bc, lagbc.closeness, lagbc.as_graph):
        call(file)
    (warning,) = recwarn.list
    assert warning.category is lagbc.GraphFileWarning
    assert f"{name}: the format, {file.format}, {UNTOLD}" in str(warning.message)
    assert warning.filename == __file__


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("% asym unweighted\n0 1\n", "g.txt"),
        ("# Undirected graph: g\n0 1\n", "g.txt"),
        (BANNER + "2 2 1\n1 2 1\n", "g.mtx"),
        ("2 1\n2\n1\n", "g.metis"),
    ],
)
def test_a_graph_that_tells_its_direction_is_taken_so(write, recwarn, text, name):
    file = read_graph(write(text, name))
    assert lagbc.as_graph(file).directed is file.directed
    assert file.tells_direction
    assert not recwarn.list


GRAPHML = '<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>{}</graph></graphml>'


@pytest.mark.parametrize(
    ("text", "name", "where"),
    [
        ("0 1\n1 2\n", "g.txt", "; length= says which column has them"),
        ("0 1 x 2\n1 2 y 3\n", "g.txt", "; length= says which column has them"),
        (BANNER.replace("real", "pattern") + "2 2 1\n1 2\n", "g.mtx", ""),
        ("2 1\n2\n1\n", "g.metis", ""),
        (GRAPHML.format('<edge source="a" target="b"/>'), "g.graphml", "; length= names the attribute"),
    ],
)
def test_lengths_of_a_file_without_values_are_refused(write, text, name, where):
    file = read_graph(write(text, name), **({"ends": (1, 2)} if "x 2" in text else {}))
    assert not file.has_values
    assert lagbc.bc(file, directed=file.directed).shape == file.matrix.shape[:1]
    for given, what, hops in (
        ({"weighted": True}, "lengths", "weighted=False counts"),
        ({"strength": True}, "strengths", ""),
    ):
        message = f"{name}: edges have no values to take as {what}{where}; {hops}"
        with pytest.raises(ValueError, match=re.escape(message)):
            lagbc.bc(file, directed=file.directed, **given)


@pytest.mark.parametrize(("text", "name"), [(GRAPHML.format(""), "g.graphml"), ("2 0\n\n\n", "g.metis")])
def test_a_file_without_edges_lacks_no_lengths(write, text, name):
    file = read_graph(write(text, name))
    assert lagbc.bc(file, weighted=True).tolist() == [0, 0]


# Parts of a file


PATTERN = sp.coo_array(np.random.default_rng(3).random((23, 23)) < 0.2)


def whole(parts):
    return sum(part.matrix.astype(int) for part in parts).toarray()


def parts_of(path, of):
    return [lagbc.read_graph(path, part=(number, of)) for number in range(of)]


@pytest.mark.parametrize("of", [1, 3, 50])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz"])
def test_matrix_market(tmp_path, monkeypatch, suffix, symmetry, of):
    monkeypatch.setattr("lagbc.io.source._PIECE", 40)
    matrix = (PATTERN + PATTERN.T if symmetry == "symmetric" else PATTERN).astype(float)
    path = tmp_path / "graph.mtx"
    mmwrite(path, matrix, comment="of a test", symmetry=symmetry)
    if suffix.endswith("gz"):
        text, path = path.read_bytes(), tmp_path / f"graph{suffix}"
        path.write_bytes(gzip.compress(text))
    parts = parts_of(path, of)
    np.testing.assert_array_equal(whole(parts), matrix.toarray() != 0)
    assert {part.directed for part in parts} == {symmetry == "general"}
    read, stated = sum(part.counted[0] for part in parts), parts[0].counted[1]
    assert read == stated
