"""Errors, call by call: their class and what they say.

`data/error_texts.json` holds them; ``python tests/test_error_texts.py`` writes them anew, which a commit that means to
say something else does. Messages that tell of the machine, of installed methods, or in a library's words are left out.
"""

import contextlib
import gzip
import io
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import recorded
import scipy.sparse as sp
from strategies import diamonds, grid

import lagbc
from lagbc.io import tables
from lagbc.io.tables import Vertices
from lagbc.plots import plot_centralities, plot_communities, plot_map, plot_scores

MESH = grid(3, 4).tocsr()
N = MESH.shape[0]
NAN, INFINITE = float("nan"), float("inf")


# The length of its last edge is lost to rounding.
ABSORBED_LAST = nx.Graph([(0, 1, {"weight": 1.0}), (2, 3, {"weight": 1.0}), (3, 4, {"weight": 1e-20})])


def lengths(first):
    A = MESH.copy()
    A.data[0] = first
    return A


def weights(first):
    given = np.ones(N)
    given[3] = first
    return given


# Values of arguments that are none, and what goes beside them; each by itself in a call of a function.
VALUES = {
    "batch": [0, -1, 1.5, "many", None, True],
    "directed": ["yes", 2, np.ones(2)],
    "weighted": [3, "length", b"weight", 0.5, np.ones(2)],
    "strength": ["yes", "", 2, np.ones(2)],
    "sources": [
        *([0, 0], [N], [-1], [0.5], ["a"], [[0, 1]], 3, "all", np.ones(N, bool), [[0], [1, 2]], [0, 2**70]),
        *(np.array([2**64 - 1], np.uint64), np.array(0), sp.csr_array([[0]]), [0, NAN], [0, INFINITE], {"a": 1, 0: 1}),
    ],
    "targets": [[0, 0], [N], [0.5], [True], ["a"], np.array(["a"]), [None, "a"]],
    "source_weights": [
        *(np.ones(3), weights(-1.0), weights(NAN), weights(INFINITE), ["a"] * N, 1.0, [None] * N, [[1], [1, 2]]),
        [1, 10**400, *[1] * (N - 2)],
    ],
    "target_weights": [
        *(np.ones(3), weights(-1.0), weights(NAN), weights(INFINITE), ["1"] * N, np.ones(N) * 1j, -weights(2.0)),
        dict.fromkeys(range(N), 10**400),
    ],
    "demand": [
        *(sp.eye(3), -MESH, MESH * INFINITE, np.ones(N), "trips", np.ones((N, 4)), MESH * NAN, MESH * 1j),
        *(np.ones((N, N), object), np.full((N, N), "1"), [[1.0] * N] * N, np.ma.masked_array(np.ones((N, N)))),
    ],
    "cutoff": [
        *(-1, NAN, "far", [[1, 2]], [], [1, NAN], [[1], [2, 3]], True, 10**400, [2, 10**400], [2, None], [2, 1, 1.0]),
    ],
    "decay": [-1, NAN, INFINITE, "slow", [0.5, 0.5], [0, 10**400], -0.1],
    "rtol": [-1, NAN, "some", 1, -1e-9],
    "rng": [1],
    "k": [0, -1, N + 1, 1.5, "some", 1, 2.0],
    "normalized": ["yes", 2, "pairs"],
    "endpoints": ["yes", 2],
    "method": ["brandes", "dijkstra", "spmm", 3, "hybrid:3", None, "batched:8", "work-efficient:8", "brandes:4"],
    "reduce": ["some", None, True],
    "threads": [0, -1, 1.5, "many"],
    "memory": ["much", -1, "8XB", 2**64],
    "device": ["tpu", "gpu", -1, [], [0, -1], True, 1.5, ["cuda"], None],
    "dtype": ["float16", "float32", 3, "int8", np.float64],
    "bucket_width": [0, -1, NAN, "wide", INFINITE, True],
    "progress": ["yes", 3, None],
    "checkpoint": [3],
    "stop": [True, "now", 3, np.ones(2)],
    "executor": [3],
    "comm": [3],
    "weight": ["length"],
    "seed": [1],
    "cutof": [2],
    "n_jobs": [2],
    "thread": [2],
    "target": [[0]],
    "speed": [9],
}
TOGETHER = [
    {"sources": [0], "k": 2},
    *({"targets": [0], **given} for given in ({"endpoints": True}, {"target_weights": np.ones(N)})),
    *({"source_weights": np.ones(N), **given} for given in ({"normalized": True}, {"k": 2})),
    {"target_weights": np.ones(N), "endpoints": True},
    *(
        {"demand": sp.eye(N), **given}
        for given in (
            *({"sources": [0]}, {"decay": 2}, {"cutoff": 2, "method": "batched"}, {"k": 2}, {"targets": [0]}),
            *({"source_weights": np.ones(N)}, {"target_weights": np.ones(N)}, {"rng": 1}, {"k": 2, "rng": 1}),
            *({"normalized": True}, {"endpoints": True}),
        )
    ),
    {"demand": sp.csr_array(np.full((N, N), 1.7e308)), "directed": True},
    *({"k": 2, "rng": -1}, {"k": 2, "rng": "a", "directed": True}),
    {"weighted": True, "rtol": 1, "directed": True},
    {"weighted": True, "bucket_width": True, "directed": True},
    {"weighted": False, "strength": True},
    *({"target_weights": np.ones(N), **given} for given in ({"normalized": True}, {"k": 3})),
    {"source_weights": np.ones(N), "endpoints": True},
    *({"decay": 1, "normalized": True}, {"decay": 1, "endpoints": True}, {"k": 1, "normalized": True}),
    *({"cutoff": 2, "method": "batched"}, {"cutoff": 2, "weighted": True, "method": "batched"}),
    {"rtol": 1e-9, "weighted": True, "dtype": "float32"},
]
MATRICES = {
    "not square": np.ones((2, 3)),
    "wide": np.ones((3, 4)),
    "columns of edges": np.array([[0, 1], [1, 2], [2, 0]]),
    "pairs": [(0, 1), (1, 2)],
    "names": np.array([["a", "b"], ["c", "d"]]),
    "masked": np.ma.masked_array(np.ones((2, 2)), mask=np.eye(2)),
    "nan": np.array([[0, NAN], [NAN, 0]]),
    "infinite": np.array([[0, 1], [INFINITE, 0]]),
    "a sparse vector": sp.coo_array(np.ones(4)),
    "a vector": np.ones(3),
    "three axes": np.ones((2, 2, 2)),
    "a list": [[0, 1], [1, 0]],
    "nothing": None,
    "a text": "graph",
    "objects": np.array([[None, 1], [1, None]], object),
    "sparse, not square": sp.csr_array((2, 3)),
}


def broken(A, **arrays):
    """Give a matrix arrays that its constructor does not take."""
    for name, array in arrays.items():
        setattr(A, name, array)
    return A


# SciPy's own check passes over some of them, and rounds others.
BACK_TO_ZERO = {"indptr": np.array([0, 2, 2, 0]), "indices": np.array([1, 2]), "data": np.ones(2)}
HALVES = [{name: np.arange(0.5, 4)} for name in ("indptr", "indices")]
BROKEN = [
    broken(sp.dia_array((np.ones((1, 3)), [1]), shape=(3, 3)), offsets=np.array([0.5])),
    *(broken(sp.coo_array(np.eye(3)), coords=(np.arange(3), np.array([0, 1, bad]))) for bad in (-1, 3, 2**31)),
    *(broken(sp.csr_array((3, 3)), **arrays) for arrays in (BACK_TO_ZERO, {"indptr": np.zeros(0, int)}, *HALVES)),
    *(broken(sp.csc_array((3, 3)), **arrays) for arrays in (BACK_TO_ZERO, {"indptr": np.zeros(0, int)}, *HALVES)),
    *(broken(sp.bsr_array(np.ones((3, 3))), **arrays) for arrays in HALVES),
]
# In place of (indptr, indices) or (data, indices, indptr).
ROWS, COLUMNS = [0, 1, 2, 3], [1, 2, 0]
MASKED = np.ma.masked_array([1, 2, 0], mask=[0, 1, 0])
TUPLES = [
    *((ROWS,), (ROWS, COLUMNS, COLUMNS, ROWS), (COLUMNS, ROWS), (ROWS, COLUMNS, [1, 1, 1]), ([0, 2, 1, 3], COLUMNS)),
    *(([1, 1, 2, 3], COLUMNS), ([0, 1, 2, 4], COLUMNS), ([], COLUMNS), ([], []), ([1.0, 1.0], COLUMNS, ROWS)),
    *((ROWS, [1, 2, 3]), (ROWS, [1, -1, 0]), (ROWS, [1.0, 2.0, 0.0]), (ROWS, [[1, 2, 0]]), ([True, False], [0])),
    *((ROWS, MASKED), ([[1], [1, 2]], COLUMNS, ROWS), ([[1, 1, 1]], COLUMNS, ROWS), (np.ones(3), (COLUMNS, COLUMNS))),
]
# Lengths of such arrays.
OF_ARRAYS = [
    partial(lagbc.bc, (ROWS, COLUMNS), weighted=True),
    partial(lagbc.bc, (np.ones(3), COLUMNS, ROWS), strength="km"),
    *(partial(lagbc.bc, (np.array([1, 1, bad]), COLUMNS, ROWS), weighted=True) for bad in (-1.0, 1j)),
]
# Graphs for which there are no numbers.
TWO_PATHS = sp.block_diag([grid(1, 300), grid(1, 300)])
OF_GRAPHS = [
    partial(lagbc.distances, np.diag([5e307, 5e307], 1), weighted=True),
    partial(lagbc.distances, np.diag([1e-310, 1.0], 1), weighted=True),
    *(partial(lagbc.compare, A, *roots) for A, *roots in ((np.eye(3),), (np.eye(3, k=1) * [0, 1, 0], [1, 2]))),
    *(partial(lagbc.estimate, TWO_PATHS, "closeness", directed=directed) for directed in (True, False)),
    *(partial(lagbc.girvan_newman, A, weighted=True) for A in (ABSORBED_LAST, nx.relabel_nodes(ABSORBED_LAST, str))),
]
# Columns of sources, targets and lengths.
EDGES = [
    *((["a", None], ["b", "c"]), (["a", "b"], ["b", NAN]), (["a", ""], ["b", "c"]), (["a", "b\nc"], ["b", "c"])),
    *((["a", 1], ["b", "c"]), ([1, "a"], ["b", "c"]), ([1.0, NAN], [0, 1]), ([1.0, 2.0], [0, 1]), (["\ud800"], ["b"])),
    *(([0, -(2**63) - 1], [1, 2]), ([0, 1], [1, 2**64]), ([0, 1], np.array([1, 2**63], np.uint64)), ([True], [0])),
    *(([b"a"], [b"b"]), (["a", "b"], [0, 1]), ([0, 1], ["a", "b"]), ([0, 1], [1]), ([], [1]), ([0, 1], [1, 2], [1])),
    *((MASKED, COLUMNS), (COLUMNS, MASKED), (ROWS[:3], COLUMNS, MASKED), ([0, np.ma.masked], [1, 2]), ("from", "to")),
    *((np.zeros((2, 2), int), [0, 1]), (3, 4), ([[0], [1, 2]], [0, 1]), ([0, 1], [1, 2], [1.0, -2.0])),
    *(([0, 1], [1, 2], [0, 0]), ([0, 1], [1, 2], [1, NAN]), ([0, 1], [1, 2], [1, None]), ([0, 1], [1, 2], [1, "far"])),
    *(([0, 1], [1, 2], ["1", "2"]), ([0, 1], [1, 2], [1j, 2]), ([0, 1], [1, 2], [2**60, 1])),
    *(([0, 1], [1, 2], [1e308, 1]), ([0, 1], [1, 2], [1, 10**400])),
]
OF_ARROW = [
    *(pa.array(["a", None, "b"]), pa.array(["a", "b", None])[1:], pa.array(["a", None, "b"]).dictionary_encode()),
    *(pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), pa.array(["a", None])), pa.chunked_array([["a"], ["", "c"]])),
    *(pa.chunked_array([["a", "b"], ["c\nd"]]).dictionary_encode(), pa.array([1, None, 3]), pa.nulls(2)),
    *(pa.array([1, 2**63], pa.uint64()), pa.array([1.0, 2.0]), pa.array([True]), pa.array([b"a"]), pa.array([["a"]])),
    *(pa.array([1]).cast(pa.timestamp("s")), pa.table({"a": ["x"]})),
]
# Other calls of graph_from_edges.
TABLE = pd.DataFrame({"u": [1], "v": [2]})
ONE = partial(lagbc.graph_from_edges, [0], [1])
OF_EDGES = [
    *(partial(ONE, directed=True, **{name: [1]}) for name in ("weight", "targets", "foo")),
    *(ONE, partial(ONE, directed="yes"), partial(ONE, [2], directed=True, strength=[3])),
    *(partial(ONE, directed=True, strength=strength) for strength in ([3, 0], [0])),
    lambda: lagbc.graph_from_edges(["a", "b"], ["b", pd.NA], directed=True),
    *(
        partial(lagbc.graph_from_edges, *given, directed=True, **named)
        for given, named in (
            *(([column], {}) for column in ([("a", "b")], pa.array(["a"]), pa.chunked_array([["a"]]))),
            ((["a"], ["b"]), {"ends": (1, 2)}),
            ((TABLE,), {"target": "v"}),
            ((TABLE, "u", "v"), {}),
        )
    ),
    lambda: lagbc.bc(ONE(directed=True), directed=False),
    lambda: lagbc.bc(ONE(directed=True), sources=[5]),
]
LENGTHS = {
    "zero": lengths(0.0),
    "negative": lengths(-2.0),
    "nan": lengths(NAN),
    "infinite": lengths(INFINITE),
    "complex": MESH * 1j,
    "dense complex": MESH.toarray() * 1j,
    "dense nan": np.array([[0, NAN], [1, 0]]),
    "dense negative": np.array([[0.0, -2.0], [1.0, 0.0]]),
    "negative integers": sp.csr_array(np.array([[0, -2], [-1, 0]])),
    "false": MESH.astype(bool) * False,
    "all negative": -MESH,
    "integers beyond 2**53": sp.csr_array(np.diag([1, 2**53 + 1], 1)),
    "unsigned integers beyond 2**53": sp.csr_array(np.diag(np.array([1, 2**53 + 1], np.uint64), 1)),
    "beyond float64": np.diag([1.0, 1e308, 1.0], 1),
    "absorbed": sp.csr_array(([1e30, 1.0, 1e30, 1.0], ([0, 1, 1, 2], [1, 2, 0, 1])), shape=(3, 3)),
}
OF_OTHERS = {
    "bc": [
        *({"standard_error": True}, {"standard_error": True, "k": 1, "endpoints": True}),
        {"standard_error": "yes", "k": 5},
    ],
    "closeness": [
        *({"cutoff": -1}, {"endpoints": True}, {"targets": [0]}, {"wf_improved": "yes"}, {"distance": "length"}),
        *({"u": N}, {"u": [0, 0]}, {"u": {0, 1}}, {"u": 0, "k": 2}, {"u": 0, "standard_error": True}, {"seed": 1}),
        *({"u": 0, "checkpoint": "a.npz"}, {"u": 0, "batch": 64}, {"u": 0, "memory": 1}, {"wf_improved": None}),
        *({"top": 0}, {"top": 1.5}, {"top": 2, "u": 1}, {"top": 2, "k": 3, "standard_error": True}, {"k": 1}),
        {"top": 2, "cutoff": [1, 2]},
    ],
    "harmonic": [{"normalized": True}, {"decay": 1.0}, {"sources": [N]}, {"weighted": 1}, {"k": 1}],
    "eccentricity": [{"sources": [0]}, {"k": 2}, {"cutoff": NAN}, {"seed": 1}, {"endpoints": True}, {"threads": 0}],
    "stress": [
        *({"log2": "yes"}, {"decay": 1.0}, {"source_weights": np.ones(N)}, {"targets": [0, 0]}, {"normalized": True}),
        *({"demand": sp.eye(N)}, {"k": 1}, {"k": 5, "log2": True, "standard_error": True}),
    ],
    "edge_bc": [
        *({"endpoints": True}, {"k": 0}, {"demand": sp.eye(3)}, {"normalized": "no"}, {"k": N + 1}),
        *({"demand": sp.eye(N), "normalized": True}, {"demand": -MESH}, {"k": 2, "sources": [1]}),
    ],
    "reach": [
        *({"decay": 1.0}, {"sources": [0]}, {"cutoff": "far"}, {"radius": 400}, {"method": "batched", "device": "cpu"}),
        {"target_weights": np.full(N, 1.5e308), "cutoff": 1},
    ],
    "gravity": [{}, {"decay": -1}, {"sources": [0], "decay": 1.0}],
    "straightness": [
        *({}, {"coordinates": np.ones((2, 2))}, {"coordinates": dict.fromkeys(range(N + 1), (0, 0))}),
        {"coordinates": np.full((N, 2), [[1, NAN]])},
        {"coordinates": pd.DataFrame({"x": np.zeros(N + 1), "y": 0}, index=[*range(N), 3])},
        {"coordinates": np.argwhere(np.ones((3, 4))), "target_weights": np.full(N, 1e308)},
        {"coordinates": np.arange(2 * N).reshape(N, 2)},
        *({"coordinates": np.ones((N, 2)), name: 2} for name in ("k", "sources", "decay", "normalized")),
    ],
    "percolation": [
        *({"states": None}, {"states": np.ones(3)}, {"states": weights(-1.0)}, {"states": weights(1e300)}),
        {"states": [10**400, *[1] * (N - 1)]},
        *({"states": np.ones(N), name: [1]} for name in ("sources", "targets", "cutoff", "decay", "k", "normalized")),
    ],
    "distances": [{"standard_error": True}],
    "girvan_newman": [
        *({"until": 0}, {"until": N + 1}, {"at_once": 0}, {"at_once": 1.5}, {"checkpoint": "a.npz"}, {"thread": 1}),
        {"communities": 4},
    ],
    "group_bc": [
        *({"groups": groups} for groups in (3, [3], [[0, 0]], [[N]])),
        *(
            {"groups": [[0]], **given}
            for given in (
                *({"stop": 3}, {"threads": 0}, {"progress": "yes"}, {"memory": "much"}, {"weight": "length"}),
                *({"device": "cuda"}, {"device": 0}, {"checkpoint": "a.npz"}, {"method": "batched"}),
            )
        ),
    ],
    **{
        function: [{"groups": [[1], [3, 3]]}, *({"groups": [[1]], **given} for given in others)]
        for function, others in {
            "group_degree": [{"device": "cuda"}, {"device": None}],
            "group_closeness": [{"method": "batched"}, {"method": "batched", "weighted": True}, {"device": None}],
            "group_harmonic": [{"method": "batched"}, {"device": None}, {"checkpoint": "a.npz"}],
        }.items()
    },
    "shortest_path_counts": [{"sources": [N]}, {"sources": [0, 0]}, {"sources": [0], "log2": 3}, {"sources": {0, 1}}],
    "centralities": [
        *({"which": "brandes"}, {"which": ()}, {"which": 3}, {"which": "bc, stress"}, {"which": ("bc", "pagerank")}),
        *({"which": "closeness", "decay": 1}, {"which": ("bc", "gravity"), "cutoff": 1}, {"seed": 1}),
        *({"which": ("bc", "reach"), "sources": [0]}, {"which": ("bc", "closeness"), "demand": sp.eye(N)}),
        *({"which": ("bc", "closeness"), "targets": [0]}, {"which": ("bc", "eccentricity"), "sources": [0]}),
        *({"which": ("stress", "closeness"), "normalized": True}, {"which": "straightness"}),
        *({"which": ("bc", "closeness"), "top": 2}, {"which": ("bc", "closeness"), "u": 2}),
    ],
    "plan": [
        *({"which": "no"}, {"which": 3}, {"demand": -MESH}, {"demand": sp.eye(N), "decay": 3}, {"stop": True}),
        *({"method": "batched:8", "device": "cpu"}, {"weighted": "length"}, {"directed": 3}, {"method": "hybrid:3"}),
        *({"method": way} for way in ("warp-centric:4:8", "node-parallel:", "dijkstra:4", "hybird:4")),
        *({"method": way} for way in ("warp-centric:3", "edge-parallel:two-blocks")),
        {"method": "work-efficient:all-blocks", "device": "cuda"},
        *({"method": "active-edge:8"}, {"method": "dijkstra:edge-parallel", "weighted": True}),
        {"method": "dijkstra:2", "weighted": True},
        *({"which": "closeness", name: 1} for name in ("top", "u", "standard_error")),
    ],
    "compare": [
        *({"rng": -1}, {"progress": "yes"}, {"roots": [0, 0]}, {"device": "tpu"}, {"roots": 0}, {"roots": [N]}),
        *({"roots": "all"}, {"dtype": "float16"}, {"time_limit": 0}, {"time_limit": "1"}, {"batch": "wide"}),
        {"threads": 0},
        *({"methods": methods} for methods in (["fast"], ["fast", "batched", "slow"], "dijkstra", [])),
        *({"methods": ["batched", "spmm"], name: value} for name, value in (("device", "cpu"), ("weighted", True))),
        {"bucket_width": 2.0},
    ],
    "estimate": [
        *({"directed": 3}, {"centrality": ["bc"]}, {"progress": None}, {"vertices": {0, 1}}, {"relative_error": 0}),
        *({"error": -1.0}, {"confidence": 1}, {"top": 0}, {"tie": 0.1}, {"max_roots": 0}, {"max_seconds": 0}),
        *({"vertices": []}, {"vertices": [1, 1]}, {"vertices": [1], "top": 1}, {"centrality": "stress"}),
        *({"centrality": "foo"}, {"centrality": "edge_bc", "top": 3}, {"endpoints": True, "directed": True}),
        *({"centrality": "harmonic", "endpoints": True}, {"rng": "x"}, {"sources": [1]}, {"which": "bc"}),
        *({"cutoff": 2}, {"k": 3}, {"num_samples": 3}, {"max_root": 3}, {"seed": 3}, {"foo": 3}, {"top": N + 1}),
        *({"error": 0.1, "relative_error": 0.2}, {"samples": "path"}),
    ],
    "estimate_memory": [
        *({"divice": "cpu"}, {"roots": -1}, {"roots": 1.5}, {"roots": N + 1}, {"which": "brandes"}, {"k": 2}),
    ],
    "select_method": [{"root": 5}, {"roots": -1}, {"method": "brandes"}, {"demand": sp.eye(N), "roots": 3}],
    "save_part": [
        {"path": 3, "part": (1, 2)},
        *({"path": "p", "part": part} for part in ((3, 2), 3, (0, 2), "2/4")),
        *(
            {"path": "p", "part": (1, 2), **given}
            for given in (
                *({"k": 3}, {"k": 3, "rng": np.random.SeedSequence(1)}, {"checkpoint": "file"}, {"which": "nothing"}),
                *({"top": 2}, {"executor": Path()}, {"comm": Path()}),
            )
        ),
    ],
    "as_graph": [{"directed": 3}, {"weighted": "length"}, {"strength": 3}],
    "config": [
        *({"threads": 0}, {"thread": 2}, {"reduce": "some"}, {"memory": "much"}, {"memory": 2**64}, {"dtype": "int8"}),
        *({"device": "gpu"}, {"progress": "yes"}, {"method": None}, {"checkpoint": 5}, {"bucket_width": 0}),
        {"speed": 9},
    ],
}
BANNER = "%%MatrixMarket matrix coordinate real general\n"
NINES = "9" * 4400
GEPHI = "Source,Target,Type,Id\na,b,Undirected,0\nb,c,Undirected,1\n"
ABC = '1 "a"\n2 "b"\n3 "c d"\n'
# Files that are malformed, by their suffix.
TEXTS = {
    "txt": [
        *("1 2\n3\n", "# nothing\n", "", "1 2 0.5\n2 3 far\n", "1 2 0.5\n2 3 0\n", "1 2 0.5\n2 3 0.5 7\n"),
        *("1 2\n2 99999999999999999999\n", "% bip unweighted\n1 1\n2 1\n", '"a,b\n"c",d\n', "\x00\x01\x02\n"),
        *("1 2\n# c\n3\n", "7\n", "1 2 3 4\n", "1 2\n1 2 0.5\n", "1,2\n\n1;2\n", "1 2\n1.0 2\n", "1 2\n2 b\n"),
        *("1 2 1\n2 3 heavy\n", "% a\n# b\n1 2\n1 x # c\n", 'a b\n"a b\n', 'a,b\n"a"b,c\n', "a,b\na,\n"),
        *("a b\nNew York c\n", "a b 1\na c x\n", "a,b;c\n", b"a b\nb \xe9\n", "a b {'weight': 1}\nb c {'weight'}\n"),
        *("a b {'weight': 1}\nb c {'weight': 'x'}\n", "# hi\r1 2\n", "1 2\n3 4\r5 6\r\n", "1 2\n3\x00 4\n"),
        *(f"1 2\n1 {NINES}\n", "1 2\n1 -9223372036854775809\n", "1,2\n1,,2\n", f"1 2\n{'x' * 500}\n", "u v\n"),
        # Decimal commas.
        *("a b 0,5\nb c 1,5\n", "a;b;0,5\nb;c;1,5\n", "a\tb\t-0,5\nb\tc\t1,5\n", "from;to;km\n1;2;0,5\n"),
        *("from to km\n1 2 0,5\n", "1 2 1\n2 3 1,5\n", "1;2;1\n2;3;1,5\n", "1\t2\t3,5\t2\n"),
        # Titles and columns.
        *("source target\n1 2 5\n", "from to\na b c\n", "x y source target\n1 2 3\n", "from to w\n1 a b 3\n"),
        "who,whom,since\na,b,monday\n",
        *("source target weight\nann bob\n", "id,start,stop\n7,1,2\n", "from,to,km,name\n1,2,far,A1\n"),
        '{"nodes": []}',
        # Three edges or a matrix; a column Type of Gephi that changes; values that are missing; archives.
        *("0,1,2\n1,0,3\n2,3,0\n", "0 0.5 1\n0 0 1\n1 1 0.0\n"),
        *(GEPHI + below for below in ("c,d,Directed,2\n", "c,d,,2\n", "c,d,,2\nd,e,Directed,3\n")),
        *("a,b,1.5\nb,c,\n", "1 2 {'weight': 1}\n2 3 {}\n", "10 20 1\n20 30 -2\n30 30 0\n30 40 0\n"),
        *("\n" + BANNER + "3 3 1\n1 2 1\n", BANNER.replace("general", "none") + "3 3 1\n1 2 1\n"),
        *(gzip.compress(b"1 2\n\nx y\n"), gzip.compress(bytes(10**7), 1)),
    ],
    "net": [
        *(f"*Vertices 3\n{ABC}{below}" for below in ("", "*Arcslist\n1 2 3\n", "*Edgeslist\n1 2 3\n")),
        *(f"*Vertices 3\n{ABC}*Arcs\n1 2\n{below}" for below in ("*Edges\n2 3\n", "*Partition p\n*Vertices 1\n1\n")),
        *(f"*Vertices 3 2\n{ABC}*Edges\n1 3\n", f"*Vertices 3\n{ABC}*Arcs\n1 2\n\n3\n"),
        *(f"*Network\n*Vertices 3\n{ABC}*Edges\n1\n2 3\n", "*Vertices 2\n1 a\n2 a\n*Edges\n1 2\n"),
        *("*Vertices 2\n1 a\n2 b\n*Edges\n1 3\n", "*Vertices 2\n1\n2\n*Edges\n1 2\n", "*Vertices 3\n*Edges 1\n1 2\n"),
        "*Vertices 2\n1 a\n2 b\n*Matrix\n0 1\n",
    ],
    "json": ["[1, 2]"],
    "gml": ["\n".join(nx.generate_gml(nx.Graph([(0, 1, {"weight": 10**400})])))],
    "csv": ["from,to,km\n1,2,3,5\n2,3,4,5\n", "1,2,3,5\n2,3,4,5\n", "ann,bob,3,5\n"],
    "mtx": [
        *("1 2\n", "", BANNER.replace("coordinate", "coordinat"), BANNER.replace("matrix", "vector") + "3 1\n", BANNER),
        *(BANNER + "% c\n3 3 2\n", BANNER + "% c\n\n3 3 x\n", BANNER + "3 3\n1 2 1\n", BANNER + "2 3 0\n"),
        *(BANNER + "3 3 -1\n", BANNER + "99999999999999999999 3 1\n", BANNER + "3 3 2\n1 2 1\n4 1 1\n"),
        *(BANNER + "3 3 2\n1 0 1\n2 1 1\n", BANNER + "3 3 2\n1 2 1\n1 1 x\n", BANNER + "3 3 4\n1 2 1\n1 1 1\n"),
        *(BANNER + "3 3 1\n1 2 1\n1 1 1\n", BANNER + "2 2 1\n1 2 1\x00\n", BANNER + "2 2 1\n1 2 1 % c"),
        *(BANNER + "2 2 1\n1 2 1 7\n", BANNER + "2 2 1\n1 2.7 1\n", BANNER + "2 2 2\n1 2 1\n1 2.7 1\n"),
        *(BANNER + "2 2 1\n1 2 1.2.3\n", BANNER + "2 2 1\n1 2 1e\n", "\ufeff" + BANNER + "2 2 1\n1 2 x\n"),
        *(BANNER.replace("real", "integer") + f"2 2 1\n1 2 {value}\n" for value in ("0.5", "2.9", "1e308", "0x10")),
        *(
            BANNER.replace("real", "pattern") + "2 2 2\n1 2\n1 2 3\n",
            BANNER.replace("real", "complex") + "2 2 1\n1 2 1 0\n",
        ),
        *(BANNER + "4 4 4\n1 2 1\n2 3 -2\n3 3 0\n3 4 0\n", BANNER.replace("real", "pattern") + "2 2 1\n1 2\n"),
        BANNER.replace("general", "symmetric") + "% none\n4 4 4\n\n2 1 1\n3 2 -2\n3 3 0\n4 3 1\n",
        BANNER.replace("real", "unsigned-integer") + "2 2 2\n1 2 1\n2 1 -1\n",
        BANNER.replace("real", "integer") + f"2 2 2\n1 2 1\n2 1 {2**63}\n",
        "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n",
        "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n\n2\n",
        "%%MatrixMarket matrix array real general\n1 1\n1.2.3\n",
        "%%MatrixMarket matrix array real symmetric\n2 3\n1\n1\n1\n1\n1\n1\n",
    ],
    "graph": [
        *("", "% c\n3\n", "3 x\n", "3 2 002\n2\n1 3\n2\n", "3 2 0000\n", "3 2 010 x\n", "3 2\n2\n1 3\n", "2 1\n3\n1\n"),
        *("% c\n3 2\n2\n1 3\n2\n\n1\n", "3 2\n2\n% c\n1 4\n2\n", "3 2\n2\n0 3\n2\n", "3 2\n2\n1 x\n2\n"),
        *("3 2\n2\n1 3.0\n2\n", "3 2\n2\n1+3\n2\n", "2 1 001\n2 99999999999999999999\n1 99999999999999999999\n"),
        *("3 3\n2\n1 3\n2\n", "3 2\n2 3\n1\n2\n", "3 2\n2 2\n1\n\n", "3 2 001\n2 5\n1 5 3\n2 6\n", "2 1\n2\n\n"),
        *("3 2 010 2\n1 1 2\n1 1 1 3\n1\n", "2 1 001\n2 5\n1 6\n", f"{NINES} 1\n", "2 1\n-9223372036854775809\n1\n"),
        *("2 1 010 99999999999999999999\n2\n1\n", f"2 1\n{NINES}\n1\n", "% c\n% c\n4 1\n\n% c\n\n4\n% c\n9\n"),
    ],
}
# Attributes that are no numbers, tables that are none of edges.
NO_LENGTHS = nx.DiGraph(
    [("11", "b", {"length": "5.5", "lanes": 1}), ("b", "Zo\u00eb & co", {"length": "far", "lanes": 3})]
)
GRAPHML = "\n".join(nx.generate_graphml(NO_LENGTHS))
T = {"from": ["a", None], "to": ["b", "c"]}


def parquet(columns):
    file = io.BytesIO()
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), file)
    return file.getvalue()


# Files, and arguments that do not fit them.
READ = [
    *({"directed": False}, {"weighted": True}, {"strength": True}, {"headers": True}, {"memory": 8}, {"part": (0, 2)}),
    *({"ends": (0, 1)}, {"ends": 3}, {"ends": "ab"}, {"ends": (1, 3)}, {"ends": (2, 2)}, {"length": 1.5}),
    {"header": "yes"},
]
VIA = "from,to,via\n1,2,3\n"
OF_READING = [
    *(("1 2\n", "txt", given) for given in READ),
    *((VIA, "csv", given) for given in ({"length": "to"}, {"length": 1}, {"length": "km"})),
    (VIA, "csv", {"ends": ("via", "from"), "length": "via"}),
    *(("from,to,to\n1,2,3\n", "csv", {"ends": ("from", "to")}), ("a,b\n1,2\n", "csv", {"ends": ("b", "b")})),
    ("a,b\n1,2\n", "csv", {"ends": (1, "a")}),
    (BANNER + "2 2 1\n1 2 1\n", "mtx", {"ends": (1, 2), "names": True}),
    *((BANNER + "3 3 2\n1 2 1\n1 9 1\n", "mtx", {"part": part}) for part in ((1, 2), (2, 2))),
    ("<graphml/>", "graphml", {"header": True}),
    *((GRAPHML, "graphml", {"length": length}) for length in ("length", "km")),
    *((parquet(columns), "parquet", {"ends": ends}) for columns, ends in ((pa.table(T), ("from", "via")), (T, None))),
    (parquet(pa.table([[1], [2], [3]], names=["a", "b", "a"])), "parquet", {"ends": (1, 2)}),
]
# Tables of vertices: of numbers, with the column that is meant; of groups and lists; of coordinates.
NAMED = Vertices(4, np.array(["a", "b", "x, y", "Zo\u00eb"], np.dtypes.StringDType()))
OF_NUMBERS = [
    *(("", None), ("a 1\nb\n", None), ("a 1\nnobody 2\n", None), ("a 1\nZoe 2\n", None), ("a 1\nb 2\na 3\n", None)),
    *(("a 1\nb -2\n", None), ("a 1\nb inf\n", None), ("a nan\n", None), ("a one\n", None), ('a,1\n"b,2\n', None)),
    *(("name,s,t\na,1,2\n", None), ("name,s,t\na,1,2\n", "u"), ("name,s,t\na,1,2\n", "1"), ("name,s,t\na,1,2\n", "4")),
    (b"a,1\n\xe9,2\n", None),
]
OF_GROUPS = ["# nobody\n", "b\nnobody\n", "a,a\n", "a\nb\na\n", 'a\n"b\n']
OF_COORDINATES = [
    *("", "a\n", "a,1,east\n", "vertex,x,y\na,1,2\nb,3\n", "vertex,x,y\na,1,2\nb,3,north\n", "x,y\n1,2\n"),
    *("vertex,x,y\na,1,2\nb,3,4\na,1,2\n", "vertex,x,y\na,1,2\n", "1 2\n3 4\n5 6\n7 8\n9 0\n", 'vertex,x,y\n"a,1,2\n'),
    *(b"vertex,x,y\n\xff\xff,1,2\n", gzip.compress(b"vertex,x,y\na,1,2\n", mtime=0)[:-9]),
]


# Graphs with names, of NetworkX; a length that is none; strengths of parallel edges.
NAMED_PATH = nx.DiGraph([("ann", "bob"), ("bob", "carl"), ("carl", "dora")])
ABSORBED = nx.Graph([("ann", "bob", {"weight": 1e20}), ("bob", "carl", {"weight": 1e-3})])
NEGATIVE = nx.DiGraph([("ann", "bob", {"w": 1.0}), ("bob", "carl", {"w": -1.0})])
CALLS = nx.MultiGraph([("a", "b", {"often": often}) for often in (1, 4, 4)])
DIGITS = nx.DiGraph([("2", "0"), ("0", "1"), ("1", "10")])
KARATE = nx.karate_club_graph()
WEB = nx.MultiDiGraph([(1, 2, {"length": 20.5}), (1, 2, {"length": 7.5}), (2, 3, {"length": 4.0})])
CHAIN = nx.relabel_nodes(nx.from_scipy_sparse_array(diamonds(1100, 2), create_using=nx.DiGraph), str)
PATH, FOUR = np.eye(4, k=1), ["ann", "bob", "carl", "dora"]
AS_NUMBERS = ([2], np.array([1, 0]), [10])


def by_name(**given):
    return partial(lagbc.bc, NAMED_PATH, **given)


OF_NAMES = [
    *(by_name(sources=sources) for sources in (["ann", "eve"], ["Bob"], "ann", [0.5, 1], [["ann"]])),
    by_name(targets=[4]),
    lambda: lagbc.bc(nx.DiGraph([(1.0, 2.5), (2.5, 0.0), (0.0, "end")]), sources=[2]),
    lambda: lagbc.bc(lagbc.graph_from_edges([30, 10], [10, 20], directed=True), sources=[0]),
    *(partial(lagbc.bc, DIGITS, sources=given) for given in AS_NUMBERS),
    *(partial(lagbc.bc, DIGITS, targets=given) for given in AS_NUMBERS),
    *(partial(lagbc.group_bc, DIGITS, [given]) for given in AS_NUMBERS),
    *(partial(lagbc.estimate, DIGITS, vertices=given) for given in AS_NUMBERS),
    lambda: lagbc.bc(nx.DiGraph([("010", "007")]), sources=[7]),
    # What is wrong is called by the names of vertices.
    *(by_name(sources=["bob", "ann", "bob"]), by_name(targets=["dora", "dora"]), by_name(sources=[1, 1])),
    *(by_name(source_weights=[1, 1, -1, 1]), by_name(target_weights=[1, NAN, 1, 1])),
    partial(lagbc.reach, NAMED_PATH, target_weights=[NAN, 1, 1, 1]),
    *(partial(lagbc.percolation, NAMED_PATH, states) for states in ([1, 1, 1, -1], [1e-300, 1, 1, 1])),
    *(
        partial(lagbc.group_bc, NAMED_PATH, groups)
        for groups in ([["ann"], ["bob", "bob"]], ["ann", "bob"], [1, 2], "ann", [["ann"], ["eve"]])
    ),
    partial(lagbc.group_bc, PATH, [[0, 3], [1, 2, 3]], normalized=True, endpoints=True),
    partial(lagbc.shortest_path_counts, NAMED_PATH, ["bob", "bob"]),
    partial(lagbc.compare, NAMED_PATH, roots=["ann", "ann"]),
    by_name(demand=-np.eye(4, k=2)),
    *(partial(lagbc.bc, NEGATIVE, **{name: "w"}) for name in ("weighted", "strength")),
    lambda: lagbc.bc(ABSORBED, weighted=True, reduce="none"),
    by_name(target_weights={"ann": 1, "eve": 1}),
    by_name(source_weights=pd.Series([1, 2, 3, 4], ["ann", "bob", "ann", "carl"])),
    # Strengths.
    partial(lagbc.bc, CALLS, strength="often", weighted="seldom"),
    partial(lagbc.bc, CALLS, strength="seldom"),
    partial(lagbc.bc, PATH, strength="often"),
    lambda: lagbc.bc(lagbc.read_graph("example:karate"), strength="often"),
    lambda: lagbc.bc(lagbc.as_graph(PATH, strength=True), strength="often"),
    lambda: lagbc.bc(lagbc.as_graph(PATH), strength=True),
    *(partial(lagbc.bc, np.diag([1, tiny], 1), strength=True) for tiny in (1e-308, 5e-324)),
    # Names that are given.
    *(partial(lagbc.as_graph, PATH, names=names) for names in ("abcd", {"ann"}, 4, FOUR[:3], np.array([FOUR]))),
    *(partial(lagbc.as_graph, PATH, names=[*FOUR[:3], name]) for name in (["dora"], "bob", None, NAN, pd.NA)),
    lambda: lagbc.as_graph(PATH, names=np.ma.masked_array(FOUR, [1, 0, 0, 0])),
    lambda: lagbc.as_graph(PATH, names=[2, 1, 0, 1.0]),
    partial(lagbc.bc, pd.DataFrame(PATH, FOUR, FOUR[::-1])),
    *(partial(lagbc.bc, pd.DataFrame(columns)) for columns in ({"from": [0, 1], "to": [1, 2]}, [[0, 1], [1, 2]])),
    partial(lagbc.bc, pd.DataFrame(np.full((4, 4), NAN), FOUR, FOUR)),
    partial(lagbc.bc, pd.DataFrame(PATH, FOUR, FOUR), weighted="km"),
    # Tables of edges where a graph or a file is meant.
    *(partial(call, pa.table({"from": ["a"], "to": ["b"]})) for call in (lagbc.bc, lagbc.read_graph)),
    lambda: lagbc.read_graph(pd.DataFrame({"from": ["a"], "to": ["b"]})),
    # Numbers beyond float64, and strengths that are none; that of a loop is not looked at.
    *(partial(lagbc.stress, CHAIN), partial(lagbc.shortest_path_counts, CHAIN, ["0"])),
    *(
        partial(lagbc.bc, sp.coo_array(([1.0, bad, bad], ([0, 1, 2], [1, 2, 2])), shape=(3, 3)), strength=True)
        for bad in (0.0, -1.0, INFINITE, NAN)
    ),
]
# Arguments by position, of which there are too many; words of which others are meant.
OF_WORDS = [
    *(partial(lagbc.reach, MESH, 400), partial(lagbc.bc, MESH, np.int64(64)), partial(lagbc.closeness, MESH, [0, 1])),
    *(partial(lagbc.edge_bc, MESH, "length", 3), partial(lagbc.percolation, MESH, np.ones(N), 64)),
    *(partial(lagbc.group_bc, MESH, [[0]], 64), partial(lagbc.centralities, MESH, "bc", 64)),
    *(partial(lagbc.estimate, MESH, "bc", 64), partial(lagbc.estimate_memory, MESH, 64)),
    *(partial(lagbc.bc, MESH, **given) for given in ({"method": "bathced"}, {"reduce": "non"}, {"device": "cudda"})),
    partial(lagbc.bc, MESH, weighted=True, method="dijkstar"),
    partial(lagbc.compare, MESH, methods=["batched", "grafblas"]),
    *(partial(lagbc.centralities, MESH, [which]) for which in ("closenes", "betweeness_centrality")),
    *(partial(lagbc.centralities, MESH, ["closeness_centrality"]), partial(lagbc.estimate, MESH, "harmnic")),
    partial(lagbc.read_graph, "example:karat"),
    # Names as of NetworkX, igraph, NetworKit and cityseer; and of nothing.
    *(partial(getattr, lagbc, name) for name in ("betweeness", "betweenness_centrality", "diameter", "Graph")),
    *(partial(getattr, lagbc, f"edge_betweenness{ending}") for ending in ("_centrality_subset", "")),
    *(partial(getattr, lagbc, name) for name in ("HarmonicCloseness", "ApproxBetweenness", "node_centrality_shortest")),
    *(partial(getattr, lagbc, name) for name in ("pagerank", "_bc")),
]
# Scores that are not drawn, and what a map lacks.
PLACES = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
ROADS = sp.csr_array(np.diag([1.0, 1.0, 0.0], 1) + np.diag([1.0, 1.0, 0.0], -1))
MAP = partial(plot_map, lagbc.as_graph(ROADS, directed=False), scores=np.ones(4), xy=PLACES)
HALF_PLACED = nx.DiGraph([("ann", "bob"), ("bob", "carl")])
nx.set_node_attributes(HALF_PLACED, {"ann": {"x": 0.0, "y": "1"}, "bob": {"y": 1.0}, "carl": {"x": 2.0}})
OF_PLOTS = [
    *(partial(plot_scores, NAMED_PATH, of(NAMED_PATH)) for of in (lagbc.edge_bc, nx.edge_betweenness_centrality)),
    *(partial(plot_scores, NAMED_PATH, of(NAMED_PATH)) for of in (lagbc.centralities, lagbc.estimate, list)),
    *(partial(plot_scores, NAMED_PATH, np.zeros(3)), partial(plot_centralities, NAMED_PATH, {})),
    partial(plot_map, NAMED_PATH, lagbc.centralities(NAMED_PATH), xy=PLACES),
    *(partial(plot_centralities, NAMED_PATH, of(NAMED_PATH)) for of in (lagbc.bc, nx.betweenness_centrality)),
    *(partial(plot_centralities, NAMED_PATH, {"bc": scores}) for scores in (lagbc.edge_bc(NAMED_PATH), np.zeros(3))),
    *(partial(MAP, xy=xy) for xy in (PLACES[:3], PLACES.T, [["a", "b"]] * 4, None)),
    partial(MAP, xy=PLACES + np.array([0, 89.5]), degrees=True),
    partial(plot_communities, NAMED_PATH),
    *(partial(MAP, scores=scores) for scores in (np.ones(3), np.ones((2, 4)), np.ones((4, 0)), sp.eye_array(3))),
    *(partial(MAP, scores=scores) for scores in (np.array([1, 2, NAN, 3]), np.array([1, INFINITE, 2, 3]), NAN * ROADS)),
    *(partial(MAP, titles=["a", "b"]), partial(MAP, labels=["a", "b"])),
    partial(MAP, scores=np.ones((4, 2)), cutoff=[1, 2, 3]),
    *(partial(MAP, xy=np.where([[1, 1], [1, 1], [1, 0], [1, 0]], PLACES, far)) for far in (NAN, INFINITE)),
    *(partial(plot_map, lagbc.as_graph(ROADS), PLACES, np.ones(4)), partial(plot_map, HALF_PLACED, np.ones(3))),
]
OF_TABLES = [
    *(partial(lagbc.table, NAMED_PATH, scores) for scores in (np.zeros(2), {}, {"ann": 1.0}, {("ann", "bob"): 2})),
    *(partial(lagbc.table, NAMED_PATH, scores) for scores in ([0, 1], [[0], [1]], {"bc": [0, 1.0]}, np.array(FOUR))),
    *(partial(lagbc.table, graph, np.zeros(4)) for graph in ("x", {}, 5, sp.csr_array((5, 5)))),
    lambda: lagbc.table(NAMED_PATH, lagbc.centralities(NAMED_PATH, ("bc", "edge_bc"))),
    lambda: lagbc.table(lagbc.bc(NAMED_PATH), NAMED_PATH),
    lambda: lagbc.table(sp.csr_array(PATH), lagbc.edge_bc(PATH)),
    lambda: lagbc.table(KARATE, lagbc.bc(KARATE, k=9, rng=1, standard_error=True)),
    lambda: lagbc.table(KARATE, lagbc.edge_bc(KARATE, k=9, rng=1, standard_error=True)),
    lambda: lagbc.table(WEB, lagbc.edge_bc(WEB)),
    lambda: lagbc.table(CALLS, lagbc.edge_bc(CALLS, strength="often", rtol=0), strength="often", weighted=False),
    lambda: lagbc.table(CALLS, lagbc.edge_bc(CALLS), weighted=3),
    lambda: lagbc.table(PATH, np.zeros(4), names=FOUR[:3]),
    *(
        partial(lagbc.table, NAMED_PATH, call(NAMED_PATH, cutoff=[1, 2]), **given)
        for call in (lagbc.bc, lagbc.edge_bc)
        for given in (
            *({}, {"cutoff": [1, 2, 3]}, {"cutoff": [1, 2], "decay": [0, 1]}, {"cutoff": [1, 1.0]}),
            {"cutoff": [1, 10**400]},
        )
    ),
    # Records that have no scores.
    *(partial(lagbc.table, KARATE, of(KARATE)) for of in (lagbc.distances, lagbc.girvan_newman)),
    partial(lagbc.table, NAMED_PATH, lagbc.compare(NAMED_PATH, methods="batched", device="cpu")),
]


# Methods and centralities that are added.
MINE = lagbc.Method("mine", "semiring", "cpu", False, "textbook")
REACHED = lagbc.Centrality("mine", frozenset({"reached"}), lambda result, _: result.sums.reached, frozenset(), "mine")
METHOD, CENTRALITY = partial(replace, MINE), partial(replace, REACHED)
OF_RECORDS = [
    *(partial(lagbc.register_method, METHOD(name=name)) for name in ("batched", "my:method")),
    *(partial(lagbc.register_method, METHOD(**{name: ("rtol", "sum")})) for name in ("sums", "options")),
    *(partial(lagbc.register_method, METHOD(ways=ways)) for ways in (("ab",), (("a", "1"),), (("a",), ("b",)))),
    *(partial(lagbc.register_method, METHOD(**given)) for given in ({"device": "tpu"}, {"ways": (("a", ""),)})),
    partial(lagbc.register_method, METHOD(name="graphblas", weighted=True)),
    *(partial(lagbc.register_centrality, CENTRALITY(**{name: frozenset({"root"})})) for name in ("sums", "takes")),
    *(partial(lagbc.register_centrality, record) for record in (CENTRALITY(name="bc"), "mine")),
]


def masked(values, mask=None):
    """One of the values is masked, unless a mask is given."""
    values = np.asarray(values)
    return np.ma.masked_array(values, np.arange(values.size).reshape(values.shape) == 0 if mask is None else mask)


def with_masked(part):
    """A sparse matrix of which an array was replaced by a masked one; constructors of SciPy drop masks."""
    made = MESH.copy()
    setattr(made, part, masked(getattr(made, part)))
    return made


FIRST, NUMBERS, PAIRS, XY = masked([0, 1]), *(masked(np.ones(shape)) for shape in (N, (N, N), (N, 2)))
OF_MASKED = [
    *(partial(lagbc.bc, A) for A in (PAIRS, with_masked("indices"))),
    *(partial(lagbc.bc, A, **{how: True}) for A, how in ((PAIRS, "strength"), (with_masked("data"), "weighted"))),
    *(partial(lagbc.bc, MESH, **{name: FIRST}) for name in ("sources", "targets")),
    *(partial(lagbc.bc, MESH, **{name: masked(2, True)}) for name in ("k", "batch", "device")),
    *(partial(lagbc.bc, MESH, demand=demand) for demand in (PAIRS, with_masked("data"))),
    *(partial(lagbc.bc, MESH, cutoff=cutoff) for cutoff in (masked([1.0, 2.0]), np.ma.masked)),
    # A mask of nothing may be filled in by the next call, and then change the scores.
    *(partial(lagbc.bc, MESH, source_weights=given) for given in (NUMBERS, np.ma.masked_array(np.ones(N)))),
    *(partial(lagbc.bc, MESH, sources=[np.ma.masked, 1]), partial(lagbc.bc, MESH, k=2, rng=masked([1, 2]))),
    partial(lagbc.bc, NAMED_PATH, sources=masked(["ann", "bob"])),
    *(partial(lagbc.edge_bc, MESH, target_weights=NUMBERS), partial(lagbc.gravity, MESH, decay=masked([0.5, 1.0]))),
    *(partial(lagbc.percolation, MESH, states) for states in (NUMBERS, dict(enumerate(NUMBERS)))),
    *(partial(lagbc.group_bc, MESH, groups) for groups in (masked([[0, 1], [2, 3]]), [[0], masked([1, 2])])),
    *(partial(call, MESH, FIRST) for call in (lagbc.shortest_path_counts, lagbc.compare)),
    *(partial(lagbc.closeness, MESH, sources=FIRST), partial(lagbc.plan, MESH, demand=PAIRS)),
    *(partial(call, MESH, NUMBERS) for call in (lagbc.table, plot_scores)),
    partial(plot_centralities, MESH, {"bc": NUMBERS}),
    *(partial(plot_map, MESH, scores, xy=xy) for scores, xy in ((NUMBERS, np.ones((N, 2))), (np.ones(N), XY))),
]


def trips(**columns):
    return pd.DataFrame({"from": ["ann"], "to": ["carl"], "trips": [1]} | columns)


OF_TRIPS = [
    *(trips(to=["karl"]), trips(trips=[-1]), trips(trips=[NAN]), trips(trips=["1"])),
    *(trips(trips=pd.array([pd.NA], "Int64")), trips().rename(columns={"trips": "n"}), trips(flow=[2])),
    *(trips(origin=["ann"], destination=["carl"]), trips(k=1, m=2).rename(columns={"to": "t"}), {"ann": 3}),
    *({"ann": {"eve": 3}}, {"ann": {"carl": "3"}}, (FOUR[:2], np.ones((3, 3))), (["ann", "ann"], np.ones((2, 2)))),
    *((FOUR[:2], [[1, 2], [3, 4]]), (FOUR[:2], np.ma.masked_array(np.ones((2, 2)))), ([0, 4], np.ones((2, 2)))),
    *((FOUR[:2], np.ones((2, 2), object)), np.diag([0, INFINITE], 2), pd.DataFrame({"a": [1], "b": [2]})),
]


TRIPS = [
    *("a,b,1\n# more\nb,Zoe,2\n", "from,to,trips\na,b,-1\n", "from,to,trips\na,b,1\nb,a,inf\n", "a,b,1,2\n"),
    *("from,to,trips\na,b,1\nb,a,\n", "a,b,1\nb,a,many\n", "a,b,1\nb,a\n", "from,to,km\na,b,1\n", "a,b\nb,a\n"),
    *("origin,from,to,destination,trips\na,b,c,a,1\n", "from,to,trips,flow\na,b,1,2\n", "from,to,trips\n"),
    *("# nothing\n", "% sym positive\na,b,1\n"),
]


def of_a_call(function, given, A=MESH):
    call = getattr(lagbc, function)
    if function in ("config", "save_part"):
        with_call = (lambda: call(**given).__enter__()) if function == "config" else (lambda: call(A=A, **given))
        return told(with_call)
    return told(lambda: call(A, **given))


def graph_of(path):
    return lagbc.as_graph(lagbc.read_graph(path), directed=True, weighted=True)


def of_a_text(text, suffix="txt", read=graph_of):
    """Read a text in a folder that no message names, as long ones are shortened."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        path = Path(f"file.{suffix}")
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return told(lambda: read(path))


def of_columns(columns):
    return told(partial(lagbc.graph_from_edges, *columns, directed=True))


def told(call):
    """Return the class of an error and what it says."""
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def calls(device="cpu"):
    """Return what tells each error, by its name."""
    named, on_cpu = {}, {"device": "cpu"}

    def add(what, several, tell):
        named.update({f"{what} {number}": partial(tell, one) for number, one in enumerate(several, 1)})

    for argument, values in VALUES.items():
        add(f"bc {argument}", values, lambda value, name=argument: of_a_call("bc", {**on_cpu, name: value}))
    for given in TOGETHER:
        named[f"bc {' '.join(given)}"] = partial(of_a_call, "bc", {**on_cpu, **given})
    for what, A in MATRICES.items():
        named[f"bc of {what}"] = partial(of_a_call, "bc", on_cpu, A)
    for what, A in LENGTHS.items():
        named[f"bc of lengths, {what}"] = partial(of_a_call, "bc", {**on_cpu, "weighted": True}, A)
        named[f"bc of strengths, {what}"] = partial(of_a_call, "bc", {**on_cpu, "strength": True}, A)
    add("bc of tuple", TUPLES, partial(of_a_call, "bc", on_cpu))
    add("bc of a broken matrix", BROKEN, partial(of_a_call, "bc", on_cpu))
    add("graph_from_edges", EDGES, of_columns)
    add("graph_from_edges of Arrow", OF_ARROW, lambda column: of_columns((column, column)))
    for function, several in OF_OTHERS.items():
        add(function, several, partial(of_a_call, function))
    for suffix, texts in TEXTS.items():
        add(suffix, texts, partial(of_a_text, suffix=suffix))
    add("read_graph", OF_READING, lambda file: of_a_text(*file[:2], partial(lagbc.read_graph, **file[2])))
    numbers = partial(tables.read_numbers, vertices=NAMED)
    add("numbers of vertices", OF_NUMBERS, lambda file: of_a_text(file[0], read=partial(numbers, column=file[1])))
    for what, read in {"groups": tables.read_groups, "vertices": tables.read_vertices}.items():
        add(what, OF_GROUPS, partial(of_a_text, read=partial(read, vertices=NAMED)))
    of_calls = {"edges": OF_EDGES, "names": OF_NAMES, "words": OF_WORDS, "table": OF_TABLES, "plot": OF_PLOTS}
    for call in (lagbc.bc, lagbc.plan):
        of_file = partial(of_a_text, read=lambda path, call=call: call(MESH, checkpoint=path))
        add(f"{call.__name__} of a file that is no checkpoint", (b"", b"PK no archive", b"0 1\n1 2\n"), of_file)
    of_calls |= {"masked": OF_MASKED, "arrays": OF_ARRAYS, "graphs": OF_GRAPHS, "records": OF_RECORDS}
    for what, several in of_calls.items():
        add(what, several, told)
    add("trips", OF_TRIPS, lambda demand: told(partial(lagbc.bc, NAMED_PATH, demand=demand)))
    add("trips of a file", TRIPS, partial(of_a_text, suffix="csv", read=partial(tables.read_trips, vertices=NAMED)))
    named["groups of numbers"] = partial(
        of_a_text, "0\n3\n", read=partial(tables.read_groups, vertices=Vertices(3, None))
    )
    add("vertices in a text", ("a,nobody", "a,a", 'a,"b'), lambda text: told(partial(tables.vertices_in, text, NAMED)))
    coordinates = partial(tables.read_coordinates, n=NAMED.n, labels=NAMED.labels)
    add("coordinates", OF_COORDINATES, partial(of_a_text, read=coordinates))
    return named


@pytest.mark.filterwarnings("ignore::lagbc.TieWarning")
@pytest.mark.filterwarnings("ignore:.*goes with the next release")
def test_errors():
    assert {name: tell() for name, tell in calls().items()} == recorded.read("error_texts")


if __name__ == "__main__":
    recorded.write("error_texts", calls)
