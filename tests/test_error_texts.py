"""Errors, call by call: their class and what they say.

`data/error_texts.json` holds them; ``python tests/test_error_texts.py`` writes them anew, which a commit that means to
say something else does. Messages that tell of the machine, of installed methods, or in a library's words are left out.
"""

import contextlib
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import recorded
import scipy.sparse as sp
from strategies import grid

import lagbc

MESH = grid(3, 4).tocsr()
N = MESH.shape[0]
NAN, INFINITE = float("nan"), float("inf")


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
    {"targets": [0], "endpoints": True},
    {"targets": [0], "target_weights": np.ones(N)},
    {"source_weights": np.ones(N), "normalized": True},
    {"source_weights": np.ones(N), "k": 2},
    {"target_weights": np.ones(N), "endpoints": True},
    {"demand": sp.eye(N), "sources": [0]},
    {"demand": sp.eye(N), "decay": 2},
    {"demand": sp.eye(N), "cutoff": 2, "method": "batched"},
    {"demand": sp.eye(N), "k": 2},
    {"demand": sp.eye(N), "targets": [0]},
    {"demand": sp.eye(N), "source_weights": np.ones(N)},
    {"demand": sp.eye(N), "target_weights": np.ones(N)},
    {"demand": sp.eye(N), "rng": 1},
    {"demand": sp.eye(N), "k": 2, "rng": 1},
    {"demand": sp.eye(N), "normalized": True},
    {"demand": sp.eye(N), "endpoints": True},
    {"demand": sp.csr_array(np.full((N, N), 1.7e308)), "directed": True},
    {"k": 2, "rng": -1},
    {"k": 2, "rng": "a", "directed": True},
    {"weighted": True, "rtol": 1, "directed": True},
    {"weighted": True, "bucket_width": True, "directed": True},
    {"weighted": False, "strength": True},
    {"target_weights": np.ones(N), "normalized": True},
    {"target_weights": np.ones(N), "k": 3},
    {"source_weights": np.ones(N), "endpoints": True},
    {"decay": 1, "normalized": True},
    {"decay": 1, "endpoints": True},
    {"k": 1, "normalized": True},
    {"cutoff": 2, "method": "batched"},
    {"cutoff": 2, "weighted": True, "method": "batched"},
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
# In place of (indptr, indices) or (data, indices, indptr).
ROWS, COLUMNS = [0, 1, 2, 3], [1, 2, 0]
MASKED = np.ma.masked_array([1, 2, 0], mask=[0, 1, 0])
TUPLES = [
    *((ROWS,), (ROWS, COLUMNS, COLUMNS, ROWS), (COLUMNS, ROWS), (ROWS, COLUMNS, [1, 1, 1]), ([0, 2, 1, 3], COLUMNS)),
    *(([1, 1, 2, 3], COLUMNS), ([0, 1, 2, 4], COLUMNS), ([], COLUMNS), ([], []), ([1.0, 1.0], COLUMNS, ROWS)),
    *((ROWS, [1, 2, 3]), (ROWS, [1, -1, 0]), (ROWS, [1.0, 2.0, 0.0]), (ROWS, [[1, 2, 0]]), ([True, False], [0])),
    *((ROWS, MASKED), ([[1], [1, 2]], COLUMNS, ROWS), ([[1, 1, 1]], COLUMNS, ROWS), (np.ones(3), (COLUMNS, COLUMNS))),
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
    "absorbed": sp.csr_array(([1e30, 1.0, 1e30, 1.0], ([0, 1, 1, 2], [1, 2, 0, 1])), shape=(3, 3)),
}
OF_OTHERS = {
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
        *({}, {"coordinates": np.ones((2, 2))}),
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
    ],
    "group_bc": [{"groups": 3}, {"groups": [3]}, {"groups": [[0, 0]]}, {"groups": [[N]]}, {"groups": [[0]], "stop": 3}],
    "shortest_path_counts": [{"sources": [N]}, {"sources": [0, 0]}, {"sources": [0], "log2": 3}, {"sources": {0, 1}}],
    "centralities": [
        *({"which": "brandes"}, {"which": ()}, {"which": 3}, {"which": "bc, stress"}, {"which": ("bc", "pagerank")}),
        *({"which": "closeness", "decay": 1}, {"which": ("bc", "gravity"), "cutoff": 1}, {"seed": 1}),
        *({"which": ("bc", "reach"), "sources": [0]}, {"which": ("bc", "closeness"), "demand": sp.eye(N)}),
        *({"which": ("bc", "closeness"), "targets": [0]}, {"which": ("bc", "eccentricity"), "sources": [0]}),
        *({"which": ("stress", "closeness"), "normalized": True}, {"which": "straightness"}),
    ],
    "plan": [
        *({"which": "no"}, {"which": 3}, {"demand": -MESH}, {"demand": sp.eye(N), "decay": 3}, {"stop": True}),
        *({"method": "batched:8", "device": "cpu"}, {"weighted": "length"}, {"directed": 3}, {"method": "hybrid:3"}),
        *(
            {"method": way}
            for way in ("warp-centric:4:8", "node-parallel:", "dijkstra:4", "hybird:4", "warp-centric:3")
        ),
        *({"method": "edge-parallel:two-blocks"}, {"method": "work-efficient:all-blocks", "device": "cuda"}),
        *({"method": "active-edge:8"}, {"method": "dijkstra:edge-parallel", "weighted": True}),
        {"method": "dijkstra:2", "weighted": True},
    ],
    "compare": [
        *({"rng": -1}, {"progress": "yes"}, {"roots": [0, 0]}, {"device": "tpu"}, {"roots": 0}, {"roots": [N]}),
        *({"roots": "all"}, {"dtype": "float16"}, {"time_limit": 0}, {"time_limit": "1"}, {"batch": "wide"}),
        {"threads": 0},
    ],
    "estimate": [
        *({"directed": 3}, {"centrality": ["bc"]}, {"progress": None}, {"vertices": {0, 1}}, {"relative_error": 0}),
        *({"error": -1.0}, {"confidence": 1}, {"top": 0}, {"tie": 0.1}, {"max_roots": 0}, {"max_seconds": 0}),
        *({"vertices": []}, {"vertices": [1, 1]}, {"vertices": [1], "top": 1}, {"centrality": "stress"}),
        *({"centrality": "foo"}, {"centrality": "edge_bc", "top": 3}, {"endpoints": True, "directed": True}),
        *({"centrality": "harmonic", "endpoints": True}, {"rng": "x"}, {"sources": [1]}, {"which": "bc"}),
        *({"cutoff": 2}, {"k": 3}, {"num_samples": 3}, {"max_root": 3}, {"seed": 3}, {"foo": 3}, {"top": N + 1}),
        {"error": 0.1, "relative_error": 0.2},
    ],
    "estimate_memory": [
        {"divice": "cpu"},
        {"roots": -1},
        {"roots": 1.5},
        {"roots": N + 1},
        {"which": "brandes"},
        {"k": 2},
    ],
    "select_method": [{"root": 5}, {"roots": -1}, {"method": "brandes"}, {"demand": sp.eye(N), "roots": 3}],
    "save_part": [{"path": 3, "part": (1, 2)}, {"path": "p", "part": (3, 2)}, {"path": "p", "part": 3}],
    "as_graph": [{"directed": 3}, {"weighted": "length"}, {"strength": 3}],
    "config": [
        *({"threads": 0}, {"thread": 2}, {"reduce": "some"}, {"memory": "much"}, {"memory": 2**64}, {"dtype": "int8"}),
        *(
            {"device": "gpu"},
            {"progress": "yes"},
            {"method": None},
            {"checkpoint": 5},
            {"bucket_width": 0},
            {"speed": 9},
        ),
    ],
}
TEXTS = {
    "one field": "1 2\n3\n",
    "no edge": "# nothing\n",
    "a word as a length": "1 2 0.5\n2 3 far\n",
    "a length of zero": "1 2 0.5\n2 3 0\n",
    "more fields": "1 2 0.5\n2 3 0.5 7\n",
    "a large integer": "1 2\n2 99999999999999999999\n",
    "two modes": "% bip unweighted\n1 1\n2 1\n",
    "a quote": '"a,b\n"c",d\n',
    "binary": "\x00\x01\x02\n",
}
MATRIX_MARKET = "%%MatrixMarket matrix coordinate real general\n"
MARKET = {
    "not square": MATRIX_MARKET + "2 3 1\n1 2 1\n",
    "a word": MATRIX_MARKET + "3 3 1\n1 2 one\n",
    "a pattern of numbers": MATRIX_MARKET.replace("real", "complex") + "2 2 1\n1 2 1 0\n",
}
METIS = {
    "fewer rows": "3 2\n2\n1 3\n",
    "beyond": "2 1\n3\n1\n",
    "one way": "2 1\n2\n\n",
    "a word": "2 1\ntwo\n1\n",
}


def of_a_call(function, given, A=MESH):
    call = getattr(lagbc, function)
    if function in ("config", "save_part"):
        with_call = (lambda: call(**given).__enter__()) if function == "config" else (lambda: call(A=A, **given))
        return told(with_call)
    return told(lambda: call(A, **given))


def of_a_text(text, suffix):
    """Read a text in a folder that no message names, as long ones are shortened."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        path = Path(f"file.{suffix}")
        path.write_text(text, encoding="utf-8")
        return told(lambda: lagbc.as_graph(lagbc.read_graph(path), directed=True, weighted=True))


def told(call):
    """Return the class of an error and what it says."""
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def calls(device="cpu"):
    """Return what tells each error, by its name."""
    on_cpu = {"device": "cpu"}
    named = {}
    for argument, values in VALUES.items():
        for number, value in enumerate(values, 1):
            named[f"bc {argument} {number}"] = partial(of_a_call, "bc", {**on_cpu, argument: value})
    for given in TOGETHER:
        named[f"bc {' '.join(given)}"] = partial(of_a_call, "bc", {**on_cpu, **given})
    for what, A in MATRICES.items():
        named[f"bc of {what}"] = partial(of_a_call, "bc", on_cpu, A)
    for what, A in LENGTHS.items():
        named[f"bc of lengths, {what}"] = partial(of_a_call, "bc", {**on_cpu, "weighted": True}, A)
        named[f"bc of strengths, {what}"] = partial(of_a_call, "bc", {**on_cpu, "strength": True}, A)
    for number, A in enumerate(TUPLES, 1):
        named[f"bc of tuple {number}"] = partial(of_a_call, "bc", on_cpu, A)
    for number, columns in enumerate(EDGES, 1):
        named[f"graph_from_edges {number}"] = partial(told, partial(lagbc.graph_from_edges, *columns, directed=True))
    for function, several in OF_OTHERS.items():
        for number, given in enumerate(several, 1):
            named[f"{function} {number}"] = partial(of_a_call, function, given)
    for suffix, texts in {"txt": TEXTS, "mtx": MARKET, "graph": METIS}.items():
        for what, text in texts.items():
            named[f"{suffix} {what}"] = partial(of_a_text, text, suffix)
    return named


@pytest.mark.filterwarnings("ignore::lagbc.TieWarning")
@pytest.mark.filterwarnings("ignore:.*goes with the next release")
def test_errors():
    assert {name: tell() for name, tell in calls().items()} == recorded.read("error_texts")


if __name__ == "__main__":
    recorded.write("error_texts", calls)
