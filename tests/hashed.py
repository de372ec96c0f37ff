"""Calls whose scores are held to the bit, as tables: families of calls on networks, and the ways to carry out one.

Numbers are drawn by arithmetic alone, so that they are the same with every version of NumPy. A decay times a length is
a multiple of 3/8, of which the exponentials of glibc are the same with and without fused multiplications.
"""

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from chained import hub, long_mesh
from killed import Killed, stop
from states import prepare
from strategies import cycle, diamonds, disjoint, grid, matrix, path, star

import lagbc
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.probe import probe

BATCHED = lagbc.METHODS[0]
DEFAULT_SET = ("bc", "closeness", "harmonic", "eccentricity", "stress")
BOUNDED = (*DEFAULT_SET, "edge_bc", "reach")


def digest(*arrays):
    joined = hashlib.sha256()
    for array in arrays:
        joined.update(np.ascontiguousarray(np.asarray(array, np.float64) + 0.0).tobytes())
    return joined.hexdigest()


def arrays_of(result):
    """Yield the arrays of what a public function returns, in order."""
    if isinstance(result, Mapping):
        result = list(result.values())
    if isinstance(result, tuple | list):
        for one in result:
            yield from arrays_of(one)
    else:
        yield result.tocsr().data if sp.issparse(result) else result


# ---- Networks


def drawn(count, seed):
    """Return numbers of 64 bits, by the finalizer of splitmix64."""
    z = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed << 32)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def web(n, edges, seed):
    """A directed network with hubs, loops and duplicates, of many strong components where edges are few."""
    tails = (drawn(edges, seed) % np.uint64(n)).astype(np.int64)
    place = (drawn(edges, seed + 1) >> np.uint64(11)) / 2.0**53
    return matrix(n, np.column_stack([tails, (place * place * place * n).astype(np.int64)]))


def doubled(A, *, joined):
    """Put a twin beside each vertex, which the first has an edge to if they are `joined`."""
    each = sp.coo_array(np.ones((2, 2)))
    twins = sp.kron(sp.csr_array(A), each)
    return (twins + sp.kron(sp.eye_array(A.shape[0]), np.ones((2, 2)) - np.eye(2))) if joined else twins


def without_loops(A):
    return sp.coo_array(sp.triu(A, 1) + sp.tril(A, -1))


def shipped(name):
    return lagbc.read_graph(f"example:{name}").matrix


# Large ones whose edges lead both ways: as directed graphs they are swept alike.
SYMMETRIC = ("power", "ca-GrQc", "minnesota")
SHIPPED = ("karate", "lesmis", "power", "us-airports", "ca-GrQc", "minnesota")
NETWORKS = {name: lambda name=name: shipped(name) for name in SHIPPED} | {
    "mesh": lambda: grid(15, 20),
    "wide mesh": lambda: grid(20, 45),
    "path": lambda: path(150),
    "web": lambda: web(700, 2100, 1),
    "sparse web": lambda: web(8000, 5000, 3),
    "large web": lambda: without_loops(web(1500, 4500, 5)),
    "parts": lambda: disjoint(grid(6, 7), path(9), matrix(2, []), cycle(11), star(5), web(60, 150, 7)),
    "open twins": lambda: doubled(grid(16, 21), joined=False),
    "closed twins": lambda: doubled(grid(16, 21), joined=True),
    "chains": long_mesh,
    "hub": lambda: hub(120),
    "diamonds": lambda: diamonds(1100, 2),
    "unlike": lambda: disjoint(web(3000, 15000, 9), diamonds(700, 3)),
    "int64": lambda: with_int64(grid(12, 15)),
    "int64 web": lambda: with_int64(web(300, 2400, 11)),
    "dense": lambda: shipped("karate").toarray(),
    "columns": lambda: web(300, 2400, 11).tocsc(),
    "deep": lambda: disjoint(grid(9, 60), path(60)),
    "pruned": lambda: web(6000, 150_000, 13),
}
# By the number of the one end and of the other, the same both ways.
LENGTHS = {
    "lengths": lambda low, high: (low * 7919 + high * 104729) % 10 + 1.0,
    "units": lambda low, high: (low * 7919 + high * 104729) % 3 + 1.0,
    "quarters": lambda low, high: ((low * 7919 + high * 104729) % 10 + 1.0) / 4,
    "tenths": lambda low, high: ((low * 7919 + high * 104729) % 10 + 1.0) / 10,
    "similar": lambda low, high: 1 + ((low * 7919 + high * 104729) % 1009) / 1024,
    "wide": lambda low, high: (low * 7919 + high * 104729) % 2003 + 1.0,
    "far": lambda low, high: (low * 7919 + high * 104729) % 7001 + 3000.0,
    "huge": lambda low, high: ((low * 7919 + high * 104729) % 7001 + 3000.0) * 2.0**30,
    "absorbed": lambda low, high: np.where((high - low == 1) & (low % 2 == 0), 2.0**-60, 1.0),  # between twins
}


def with_int64(A):
    A = A.tocsr()
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A


def integer_lengths(A, lengths="lengths"):
    """The same edges with lengths, 1 to 10 if no others are named, alike both ways."""
    rows, columns = A.nonzero()
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    return sp.csr_array((LENGTHS[lengths](low, high), (rows, columns)), shape=A.shape)


@cache
def network(name, lengths=None):
    A = NETWORKS[name]()
    if lengths is None:
        return A
    weighted = integer_lengths(sp.csr_array(A), lengths)
    return with_int64(weighted) if name.startswith("int64") else weighted


# ---- Arguments, of a network of n vertices


def trips(n):
    """Demand from every fifth vertex to some."""
    pairs = drawn(6 * n, 17)
    tails, heads = (pairs % np.uint64(n) // np.uint64(5) * np.uint64(5), (pairs >> np.uint64(20)) % np.uint64(n))
    return sp.csr_array((((pairs >> np.uint64(40)) % np.uint64(9)).astype(float), (tails, heads)), shape=(n, n))


def groups(n):
    """Groups of one vertex, of some, of a third, and an empty one."""
    return [[0], [1, n // 2, n - 1], list(range(0, n, 3)), []]


GIVEN = {
    "": lambda n: {},
    "k": lambda n: {"k": n // 2, "rng": 1},
    "sources": lambda n: {"sources": np.arange(0, n, 3)},
    "few sources": lambda n: {"sources": np.arange(0, n, n // 9)},
    "weights": lambda n: {"source_weights": 1 + np.arange(n) % 3 / 2, "target_weights": 1 + np.arange(n) % 5 / 4},
    "some weights": lambda n: {"source_weights": np.arange(n) % 3 / 2, "target_weights": np.arange(n) % 4 / 4},
    "targets": lambda n: {"targets": np.arange(1, n, 4), "sources": np.arange(0, n, 2)},
    "endpoints": lambda n: {"endpoints": True},
    "normalized": lambda n: {"normalized": True},
    "normalized endpoints": lambda n: {"normalized": True, "endpoints": True, "k": n // 3, "rng": 2},
    "demand": lambda n: {"demand": trips(n)},
    "demand cutoffs": lambda n: {"demand": trips(n), "cutoff": [2, 4]},
    "rtol": lambda n: {"rtol": 1e-9},
    "places": lambda n: {"coordinates": np.random.default_rng(4).random((n, 2)) * 0.7, "cutoff": [2, 5, 9]},
    "states": lambda n: {"states": np.arange(n) % 7 / 8},
    "groups": lambda n: {"groups": groups(n)},
    "groups endpoints": lambda n: {"groups": groups(n), "endpoints": True},
    "groups normalized": lambda n: {"groups": groups(n), "normalized": True},
    "groups rtol": lambda n: {"groups": groups(n), "rtol": 1e-9},
    "log2": lambda n: {"log2": True},
    "log2 few sources": lambda n: {"log2": True, "sources": np.arange(0, n, n // 9)},
    "width": lambda n: {"bucket_width": 3.0},
    "cutoff": lambda n: {"cutoff": 4},
    "cutoffs": lambda n: {"cutoff": [2, 5, 9]},
    "cutoff 0": lambda n: {"cutoff": [0, 1]},
    "cutoff all": lambda n: {"cutoff": np.inf},
    "far cutoff": lambda n: {"cutoff": 2100, "sources": np.arange(0, n, n // 9)},
    "far cutoffs": lambda n: {"cutoff": [30_000, 70_000, 100_000]},
    "huge cutoffs": lambda n: {"cutoff": [2.0**44, 2.0**46]},
    "decay": lambda n: {"decay": 0.375},
    "decays": lambda n: {"decay": [0.0, 0.375, 1.5]},
    "cutoffs decays": lambda n: {"cutoff": [3, 8.5], "decay": [0.375, 1.5]},
    "decay weights": lambda n: {"cutoff": 12, "decay": 1.5, **GIVEN["some weights"](n)},
    "decay target weights": lambda n: {"cutoff": 12, "decay": 1.5, "target_weights": np.arange(n) % 4 / 4},
    "decays targets": lambda n: {"cutoff": 12, "decay": [0, 1.5], "targets": np.arange(1, n, 4)},
    "target weights": lambda n: {"cutoff": [4, 9], "target_weights": np.arange(n) % 4 / 4},
    "cutoff sources": lambda n: {"cutoff": 6, "sources": np.arange(0, n, 3)},
    "cutoff endpoints": lambda n: {"cutoff": [3, 6], "endpoints": True},
    "cutoff normalized": lambda n: {"cutoff": [3, 6], "normalized": True},
    "cutoff rtol": lambda n: {"cutoff": [2, 6], "rtol": 1e-9},
    "cutoff k": lambda n: {"cutoff": 6, "k": n // 3, "rng": 3},
}

ENDS = ("endpoints", "normalized", "normalized endpoints", "some weights", "demand")
CUTOFFS = tuple(name for name in GIVEN if name.startswith("cutoff ") and name != "cutoff rtol")
OF_REDUCED = ("weights", "sources", "endpoints", "normalized")

# ---- Ways to compute

# In hops and with lengths, by device.
METHODS = {
    ("batched", "cpu"): ("batched", "batched"),
    ("batched", "cuda"): ("batched", "delta-stepping"),
    ("traversal", "cpu"): ("work-efficient", "dijkstra"),
    ("traversal", "cuda"): ("work-efficient", "dijkstra"),
}
# Logarithms are those of NumPy, which differ in the last bit from processor to processor.
ROUNDED = ("log2", "log2 few sources")


@dataclass(frozen=True)
class Call:
    """A public function on a network.

    Attributes
    ----------
    way : str
        The first of a pair of METHODS, after "reduced" where the graph is reduced, or "own".
    function : str
        A name of lagbc, "five" or several names with commas between them for `centralities`.
    """

    network: str
    lengths: str | None
    directed: bool
    way: str
    function: str
    given: str = ""
    device: str = "cpu"
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self):
        kind = "directed" if self.directed else "undirected"
        dtype = (self.options["dtype"],) if "dtype" in self.options else ()
        parts = (self.network, self.lengths or "hops", kind, self.way, self.function, self.given, *dtype)
        return "-".join(part for part in parts if part)

    @property
    def matrix(self):
        return network(self.network, self.lengths)

    @property
    def which(self):
        """What `centralities` is asked for."""
        return [name for part in self.function.split(",") for name in (DEFAULT_SET if part == "five" else (part,))]

    @property
    def arguments(self):
        weighted = self.lengths is not None
        kind = {"directed": self.directed, "weighted": weighted}
        return {**kind, **self.carried_out(weighted), **GIVEN[self.given](self.matrix.shape[0]), **self.options}

    def carried_out(self, weighted):
        """Return the options of the way; those of a function that has one way alone are none."""
        if self.way == "own":
            return {}
        *reduced, name = self.way.split()
        method = METHODS[name, self.device][weighted]
        return {"method": method, "device": self.device, "reduce": "all" if reduced else "none"}

    def perform(self, **options):
        """Return the digest of what the function returns, carried out by further options."""
        given = {**self.arguments, **options}
        if hasattr(lagbc, self.function):
            result = getattr(lagbc, self.function)(self.matrix, **given)
        else:
            result = lagbc.centralities(self.matrix, self.which, **given)
        return digest(*(rounded(array) if self.given in ROUNDED else array for array in arrays_of(result)))


def rounded(array):
    return np.asarray(array, np.float32)


def family(networks, lengths, ways, functions, given="", directed=(False, True), device="cpu", **options):
    """Return all calls that the parts make, of each of which there is one or a tuple."""
    parts = product(*map(several, (networks, lengths, directed, ways, functions, given)))
    return [Call(*part, device=device, options=options) for part in parts]


def several(part):
    return part if isinstance(part, tuple) else (part,)


# ---- On the CPU

BOTH = ("batched", "traversal")
UNDIRECTED, DIRECTED = False, True
FAMILIES = {
    "traversals": [
        *family("karate", (None, "tenths"), "traversal", ("bc", "edge_bc", "five"), directed=UNDIRECTED),
        *family("web", (None, "tenths"), "traversal", ("bc", "edge_bc", "five")),
        *family("mesh", (None, "lengths", "tenths"), "traversal", ("bc", "edge_bc", "five"), directed=UNDIRECTED),
        *family("web", (None, "lengths"), "traversal", "bc", ("k", "sources", "weights", "targets")),
        *family(("lesmis", "power"), (None, "lengths"), "traversal", "bc", directed=UNDIRECTED),
        *family("mesh", ("wide", "similar", "far"), "traversal", ("bc", "five"), directed=UNDIRECTED),
    ],
    "sums": [
        *family("web", (None, "quarters"), BOTH, DEFAULT_SET[1:], directed=DIRECTED),
        *family(("mesh", "large web"), None, "batched", ("bc", "edge_bc"), directed=DIRECTED),
        *family(
            ("mesh", "parts"), ("tenths", "wide", "far"), "batched", ("bc", "edge_bc", "five"), directed=UNDIRECTED
        ),
        *family("closed twins", "absorbed", BOTH, ("bc", "five"), directed=UNDIRECTED),
        *family("parts", None, BOTH, ("bc", "five")),
        *family(("dense", "columns", "int64", "int64 web"), (None, "lengths"), "batched", "bc", directed=DIRECTED),
    ],
    "arguments": [
        *family("mesh", (None, "lengths"), BOTH, "bc", ENDS, UNDIRECTED),
        *family("web", (None, "lengths"), BOTH, ("bc", "edge_bc"), ("demand", "some weights"), DIRECTED),
        *family(("web", "mesh"), "tenths", BOTH, ("bc", "five"), "rtol", UNDIRECTED),
        *family("mesh", "tenths", "batched", "bc", "width", UNDIRECTED),
        *family("web", (None, "lengths"), BOTH, "stress", ("sources", "log2"), DIRECTED),
        *family("web", (None, "lengths"), BOTH, "percolation", "states", UNDIRECTED),
    ],
    "groups": [
        *family("web", (None, "tenths"), "own", "group_bc", ("groups", "groups endpoints")),
        *family("karate", None, "own", "group_bc", "groups normalized", UNDIRECTED),
        *family("karate", "tenths", "own", "group_bc", "groups rtol", UNDIRECTED),
    ],
    "cutoffs in hops": [
        *family(("web", "mesh"), None, "traversal", ("bc", "edge_bc", "gravity"), "cutoffs decays", DIRECTED),
        *family("web", None, "traversal", ("bc", "edge_bc", "gravity"), "decays", DIRECTED),
        *family(("web", "mesh"), None, "traversal", BOUNDED, "cutoffs", UNDIRECTED),
        *family("web", None, "traversal", "bc", CUTOFFS, UNDIRECTED),
        *family("mesh", None, "traversal", "reach", "target weights", DIRECTED),
        *family("mesh", None, "traversal", "straightness", "places", DIRECTED),
        *family("mesh", None, "traversal", "gravity", ("decays targets", "decay target weights"), DIRECTED),
        *family("mesh", None, "traversal", ("bc", "edge_bc"), "decay weights"),
    ],
    "cutoffs with lengths": [
        *family(
            ("wide mesh", "web"), ("lengths", "quarters"), "traversal", ("bc", "gravity"), "cutoffs decays", DIRECTED
        ),
        *family("wide mesh", ("lengths", "quarters"), "traversal", "edge_bc", "decay weights"),
        *family("wide mesh", ("lengths", "quarters"), "traversal", BOUNDED, "cutoffs", UNDIRECTED),
        *family("minnesota", ("lengths", "tenths"), "traversal", "five", "cutoffs", UNDIRECTED),
        *family("minnesota", "far", "traversal", ("bc", "five", "reach"), "far cutoffs", UNDIRECTED),
        *family("wide mesh", "huge", "traversal", ("bc", "five"), "huge cutoffs", UNDIRECTED),
        *family("web", "tenths", "traversal", "bc", CUTOFFS, UNDIRECTED),
        *family("mesh", "tenths", "traversal", "bc", "cutoff rtol"),
        *family("web", "lengths", "traversal", "straightness", "places", UNDIRECTED),
        *family("mesh", "wide", "traversal", ("bc", "reach"), "cutoffs", UNDIRECTED),
        *family("closed twins", "absorbed", "traversal", ("bc", "five"), "cutoffs", UNDIRECTED),
        *family("mesh", "quarters", "traversal", "gravity", ("decays targets", "decay target weights"), DIRECTED),
    ],
    "reduced": [
        *family(("lesmis", "parts"), (None, "lengths"), "reduced batched", ("bc", "edge_bc")),
        *family(("web", "large web"), (None, "lengths", "tenths"), "reduced batched", "bc"),
        *family("power", (None, "lengths", "tenths"), "reduced batched", "bc", directed=UNDIRECTED),
        *family(("power", "large web"), (None, "lengths"), "reduced batched", "edge_bc", directed=UNDIRECTED),
        *family(("chains", "hub"), (None, "lengths"), "reduced batched", ("bc", "edge_bc"), directed=UNDIRECTED),
        *family("chains", "lengths", "reduced traversal", ("bc", "edge_bc"), directed=UNDIRECTED),
        *family(("open twins", "closed twins"), (None, "units"), "reduced batched", "bc"),
        *family(("web", "open twins"), (None, "units"), "reduced traversal", "bc"),
        *family(("power", "chains", "closed twins"), None, "reduced batched", "bc", OF_REDUCED, UNDIRECTED),
        *family("large web", (None, "lengths"), "reduced batched", "bc", ("weights", "sources"), DIRECTED),
        *family(("lesmis", "parts"), (None, "tenths"), "reduced batched", "bc", "some weights"),
    ],
    "overflow": [
        *family("diamonds", (None, "units"), BOTH, ("bc", "edge_bc"), "few sources", DIRECTED),
        *family("unlike", (None, "units"), BOTH, "bc", "few sources", DIRECTED),
        *family("diamonds", (None, "units"), "reduced batched", "bc", "few sources", UNDIRECTED),
        *family("diamonds", None, "traversal", ("bc", "edge_bc"), "far cutoff", DIRECTED),
        *family("diamonds", (None, "units"), "batched", "stress", "log2 few sources", DIRECTED),
        *family("diamonds", (None, "units"), "own", "shortest_path_counts", "log2 few sources", DIRECTED),
    ],
    "counts": family(("karate", "web"), (None, "tenths"), "own", "shortest_path_counts", "sources"),
}
# Calls that are carried out in other ways, too: those of more roots than a chunk has, and reduced ones.
FAMILIES["carried out"] = CARRIED_OUT = [
    *family("large web", (None, "lengths"), BOTH, "bc,edge_bc", "weights", directed=UNDIRECTED),
    *family("large web", (None, "tenths"), BOTH, "five", directed=DIRECTED),
    *family("large web", (None, "lengths"), BOTH, "bc", "demand", directed=DIRECTED),
    *family("large web", (None, "lengths"), "traversal", "bc,edge_bc", "demand cutoffs", DIRECTED),
    *family("large web", None, "batched", "bc", "k", directed=DIRECTED),
    *family("minnesota", (None, "lengths", "tenths"), "traversal", "five,edge_bc", "cutoffs", DIRECTED),
    *family(("power", "chains"), (None, "lengths"), "reduced batched", "bc,edge_bc", directed=UNDIRECTED),
    *family(("large web", "open twins"), (None, "units"), "reduced batched", "bc", "weights", UNDIRECTED),
]


def calls_by_batched(name):
    """Yield the name and the call of each that was recorded first, which names no way."""
    for lengths, directed in product((None, "lengths"), (False,) if name in SYMMETRIC else (False, True)):
        kind = f"{name}-{lengths or 'hops'}-{'directed' if directed else 'undirected'}"
        for given in ("", "k", "sources", "weights"):
            yield f"{kind}-bc-{given}", Call(name, lengths, directed, "batched", "bc", given)
        for function in ("edge_bc", "five"):
            yield f"{kind}-{function}", Call(name, lengths, directed, "batched", function)


# ---- What is made of a network before it is swept


def order_of(A, *, directed, weighted):
    """Return the digest of all that puts a graph in order, both ways."""
    graph = as_graph(A, directed=directed, weighted=weighted)
    ordered, entering = graph.reordered, graph.reordered.transpose
    found = [*ordered.csr, *entering.csr, graph.edge_order, ordered.hub_distances, graph.components]
    return digest(graph.order, graph.depth, *(array for array in found if array is not None))


def probe_of(A, *, directed, weighted):
    """Return the digest of the counts that a method is chosen by."""
    graph = as_graph(A, directed=directed, weighted=weighted)
    ordered = graph.line_up(np.arange(graph.n), "cpu")
    *counts, _ = probe(graph, ordered)  # the last tells whether its time was over
    return digest(ordered, *counts)


def paths_of(A, *, directed, weighted):
    """Return the digest of the distances and path counts from 64 roots, by each method that promises bits."""
    graph, found = as_graph(A, directed=directed, weighted=weighted), []
    for row in lagbc.METHODS:
        if row.device == "cpu" and row.weighted == weighted and row.name in ("batched", *METHODS["traversal", "cpu"]):
            state = prepare(row.load(), graph, SweepPlan(batch=64))
            for levels in row.load().forward(state, np.arange(64)):
                found += row.load().paths(state, levels)
    return digest(*found)


TEXTS = {
    "integers": "# a comment\n7 3\n3 900000000000\n\n7 3\n-5 7\n",
    "lengths": "5,9,0.5\n9,5,3\n9,9,0\n5,8,1e-3\n8,9,12345678901234567890.125\n5,11,2.5E+2\n",
    "names": "Zo\u00eb \u0411\u043e\u0440 # a comment\nC# Zo\u00eb\n\u0411\u043e\u0440 C#\n",
    "quoted": '"Smith, J.","say ""hi""",0.5\n"say ""hi""",b,2\nb,"Smith, J.",.25\n',
    "header": "From\tTo\tcalls\nNew York\tRome\t3\nRome\tOslo\t4\n",
    "konect": "% sym positive\n% 3 2 2\n1 2 4 1082040961\n1 3 5 1082040962\n",
    "many integers": "".join(f"{a % 9973} {b % 9973}\n" for a, b in drawn(4000, 19).reshape(2, -1).T.tolist()),
    "many names": "".join(
        f"v{a % 997} w{b % 997} 0.{c % 1000:03}\n" for a, b, c in drawn(3000, 23).reshape(3, -1).T.tolist()
    ),
}


def text_of(text):
    """Return the digest of the graph that a text is read as, and of what its vertices are called."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "edges")
        path.write_text(text, encoding="utf-8")
        file = lagbc.read_graph(path)
    matrix = file.matrix.tocsr()
    labels = np.frombuffer("\n".join(map(str, file.labels.tolist())).encode(), np.uint8)
    return digest(matrix.indptr, matrix.indices, matrix.data, labels)


def structures():
    """Yield the name of each, and what returns its digest."""
    for name, lengths, directed in product(("web", "wide mesh", "chains", "parts"), (None, "quarters"), (False, True)):
        if name in ("wide mesh", "chains") and not directed:
            continue  # they are symmetric
        for what, function in {"order": order_of, "probe": probe_of, "paths": paths_of}.items():
            given = {"directed": directed, "weighted": lengths is not None}
            kind = f"{name}-{lengths or 'hops'}-{'directed' if directed else 'undirected'}-{what}"
            yield kind, partial(function, network(name, lengths), **given)
    for name, text in TEXTS.items():
        yield f"text-{name}", partial(text_of, text)


# ---- On a GPU

# In hops "large web" is swept by launches, a mesh in one. With lengths a mesh is, too, and "large web" by window, also
# where these are similar. Of "pruned" some edges are left out.
SCHEDULED = {
    "launches": (("large web", None),),
    "one launch": (("wide mesh", None), ("wide mesh", "lengths"), ("wide mesh", "tenths")),
    "similar": (("large web", "similar"), ("large web", "tenths")),
    "window": (("large web", "wide"),),
    "pruned": (("pruned", "wide"),),
    "parts": (("parts", None), ("parts", "units")),
}
SWEPT = "batched"
FLOAT32 = {"dtype": "float32"}


def scheduled(networks):
    """Return the calls of networks that one schedule sweeps."""
    calls = []
    for name, lengths in networks:
        of_all = partial(family, (name,), (lengths,), SWEPT, device="cuda")
        calls += of_all(("bc", "edge_bc", "five"), directed=UNDIRECTED)
        calls += of_all(("closeness", "stress"), directed=DIRECTED)
        calls += of_all("bc", ("k", "sources", "weights", "endpoints", "demand"), directed=DIRECTED)
        calls += of_all(("bc", "edge_bc"), directed=UNDIRECTED, **FLOAT32)
    return calls


ON_GPU = {schedule: scheduled(networks) for schedule, networks in SCHEDULED.items()} | {
    "arguments": [
        *family(("wide mesh", "large web"), "tenths", SWEPT, "bc", ("rtol", "width"), UNDIRECTED, "cuda"),
        *family("large web", (None, "lengths"), SWEPT, "percolation", "states", UNDIRECTED, "cuda"),
    ],
    "reduced": [
        *family(("chains", "hub"), (None, "lengths"), "reduced batched", ("bc", "edge_bc"), "", UNDIRECTED, "cuda"),
        *family(("power", "large web"), (None, "lengths"), "reduced batched", "bc", device="cuda"),
        *family(("open twins", "closed twins"), (None, "units"), "reduced batched", "bc", device="cuda"),
    ],
    "overflow": [
        *family("diamonds", (None, "units"), SWEPT, ("bc", "edge_bc"), "few sources", DIRECTED, "cuda"),
        *family("diamonds", (None, "units"), SWEPT, "bc", "few sources", DIRECTED, "cuda", **FLOAT32),
        *family("unlike", (None, "units"), SWEPT, "bc", "few sources", DIRECTED, "cuda"),
        *family("diamonds", (None, "units"), SWEPT, "stress", "log2 few sources", DIRECTED, "cuda"),
    ],
    "traversals": [
        *family(("karate", "web", "mesh"), (None, "lengths"), "traversal", "bc", ("", "weights"), device="cuda"),
        *family(("web", "mesh"), (None, "lengths"), "traversal", "bc", device="cuda", **FLOAT32),
    ],
}
# Calls that are carried out in other ways, too.
CARRIED_OUT_ON_GPU = [
    *family(("large web", "wide mesh"), (None, "lengths"), SWEPT, "bc,edge_bc", "weights", UNDIRECTED, "cuda"),
    *family("large web", ("units", "wide"), SWEPT, "bc", "sources", UNDIRECTED, "cuda", **FLOAT32),
    *family("chains", (None, "lengths"), "reduced batched", "bc,edge_bc", "weights", UNDIRECTED, "cuda"),
]
ON_GPU["carried out"] = CARRIED_OUT_ON_GPU


# ---- The same call carried out in another way


def resumed(call, folder):
    """Kill a run at its first news, and go on from its checkpoint."""
    checkpoint = folder / "checkpoint"
    with pytest.raises(Killed):
        call.perform(checkpoint=checkpoint, threads=1, progress=stop)
    return call.perform(checkpoint=checkpoint)


def in_three_parts(call, folder):
    files = [folder / f"{number}.npz" for number in (1, 2, 3)]
    for number, file in enumerate(files, 1):
        lagbc.save_part(file, (number, 3), call.matrix, call.which, **call.arguments)
    return digest(*arrays_of(lagbc.merge_parts(files)))


CARRIERS = {
    "one thread": lambda call, folder: call.perform(threads=1),
    "three threads": lambda call, folder: call.perform(threads=3),
    "batch 65": lambda call, folder: call.perform(batch=65),
    "batch 4096": lambda call, folder: call.perform(batch=4096),
    "resumed": resumed,
    "three parts": in_three_parts,
}
