"""Calls of every kind, which devices, executors and parts give the bits of; parts of a call, and how scores compare."""

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp
from chained import long_mesh
from strategies import grid, scale_free, with_lengths

import lagbc

A, MESH = scale_free(700, 3000, seed=1), grid(15, 20)
WEIGHTS = np.random.default_rng(2).integers(1, 5, A.shape[0])
TRIPS = sp.random_array(A.shape, density=0.002, rng=np.random.default_rng(3))
VERTICES = ("bc", "closeness", "harmonic", "eccentricity", "stress")
CHAINS, LENGTHS = long_mesh(), with_lengths(MESH, [1, 2, 3])
CALLS = {
    "directed": (A, "bc", {}),
    "all sums": (A, (*VERTICES, "edge_bc"), {"directed": False, "reduce": "none", "threads": 2}),
    "lengths": (LENGTHS, ("bc", "edge_bc"), {"weighted": True}),
    "by dijkstra": (with_lengths(A, [1, 2]), "bc", {"weighted": True, "method": "dijkstra", "device": "cpu"}),
    "by work-efficient": (A, VERTICES, {"method": "work-efficient", "device": "cpu"}),
    "blocks and twins": (A, "bc", {"directed": False, "reduce": "all", "normalized": True, "endpoints": True}),
    "chains": (CHAINS, ("bc", "edge_bc"), {"directed": False, "reduce": "all"}),
    "sample": (A, ("bc", "stress"), {"k": 300, "rng": 3, "normalized": True}),
    "sources": (A, "bc", {"sources": np.arange(400)[::-1], "targets": [3, 5, 400], "directed": False}),
    "one root": (A, "bc", {"sources": [7]}),
    "no root": (A, "bc", {"sources": []}),
    "weights": (A, "bc", {"source_weights": WEIGHTS, "target_weights": WEIGHTS / 7}),
    "demand": (A, ("bc", "edge_bc"), {"demand": TRIPS}),
    "demand within cutoffs": (A, ("bc", "edge_bc"), {"demand": TRIPS, "cutoff": [1, 2]}),
    "cutoffs": (A, ("bc", "reach", "edge_bc"), {"cutoff": [1, 2]}),
    "decays": (with_lengths(A, [0.5, 2]), ("bc", "gravity"), {"decay": [0.1, 1.0], "cutoff": 3, "weighted": True}),
    "no edge": (sp.csr_array((7, 7)), VERTICES, {}),
}


def in_parts(folder, of, graph, which="bc", **given):
    """Write all parts of a call, and return their files."""
    paths = [folder / f"{of}-{number}.npz" for number in range(1, of + 1)]
    written = [lagbc.save_part(path, (i, of), graph, which, **given) for i, path in enumerate(paths, 1)]
    assert sum(part.roots for part in written) == written[0].of
    assert not [path for path in folder.iterdir() if path not in paths and path.name.startswith(f"{of}-")]
    return paths


def assert_same(ours, theirs):
    """Compare scores, or some by their names: of vertices, of edges, or lists of these, one a cutoff and decay."""
    if not isinstance(theirs, Mapping):
        ours, theirs = {"scores": ours}, {"scores": theirs}
    assert list(ours) == list(theirs)
    for name, expected in theirs.items():
        found, expected = (one if isinstance(one, list) else [one] for one in (ours[name], expected))
        for a, b in zip(found, expected, strict=True):
            a, b = (array.toarray() if sp.issparse(array) else array for array in (a, b))
            np.testing.assert_array_equal(a, b, err_msg=name)
