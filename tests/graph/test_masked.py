"""Masked arrays are refused wherever numbers, vertices or scores are given."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import lagbc
from lagbc import plots

N = 4
A = sp.diags_array([1.0, 2.0, 3.0], offsets=1, shape=(N, N)).tocsr()
NAMED = nx.relabel_nodes(nx.path_graph(N), {i: f"v{i}" for i in range(N)})


def masked(values, mask=None):
    """One of the values is masked, unless a mask is given."""
    values = np.asarray(values)
    return np.ma.masked_array(values, np.arange(values.size).reshape(values.shape) == 0 if mask is None else mask)


def with_masked(part):
    """A sparse matrix of which an array was replaced by a masked one; constructors of SciPy drop masks."""
    made = A.copy()
    setattr(made, part, masked(getattr(made, part)))
    return made


VERTICES, NUMBERS, PAIRS, XY = masked([0, 1]), *(masked(np.ones(shape)) for shape in (N, (N, N), (N, 2)))
CALLS = {
    "A": (lambda: lagbc.bc(PAIRS), "A is a masked array, 1 of 16"),
    "A.data": (lambda: lagbc.bc(with_masked("data"), weighted=True), r"A\.data is a masked array, 1 of 3"),
    "A.indices": (lambda: lagbc.bc(with_masked("indices")), r"A\.indices is a masked array, 1 of 3"),
    "strengths": (lambda: lagbc.bc(PAIRS, strength=True), "A is a masked array, 1 of 16"),
    "sources": (lambda: lagbc.bc(A, sources=VERTICES), "sources is a masked array, 1 of 2"),
    "names": (lambda: lagbc.bc(NAMED, sources=masked(["v0", "v1"])), "sources is a masked array, 1 of 2"),
    "list of masked": (lambda: lagbc.bc(A, sources=[np.ma.masked, 1]), "sources holds masked arrays, 1 of 1"),
    "targets": (lambda: lagbc.bc(A, targets=VERTICES), "targets is a masked array, 1 of 2"),
    "source_weights": (lambda: lagbc.bc(A, source_weights=NUMBERS), "source_weights is a masked array, 1 of 4"),
    "target_weights": (lambda: lagbc.edge_bc(A, target_weights=NUMBERS), "target_weights is a masked array, 1 of 4"),
    "demand": (lambda: lagbc.bc(A, demand=PAIRS), "demand is a masked array, 1 of 16"),
    "demand.data": (lambda: lagbc.bc(A, demand=with_masked("data")), r"demand\.data is a masked array, 1 of 3"),
    "cutoff": (lambda: lagbc.bc(A, cutoff=masked([1.0, 2.0])), "cutoff is a masked array, 1 of 2"),
    "cutoff, one": (lambda: lagbc.bc(A, cutoff=np.ma.masked), "cutoff is a masked array, 1 of 1"),
    "decay": (lambda: lagbc.gravity(A, decay=masked([0.5, 1.0])), "decay is a masked array, 1 of 2"),
    "k": (lambda: lagbc.bc(A, k=masked(2, True)), "k is a masked array, 1 of 1"),
    "rng": (lambda: lagbc.bc(A, k=2, rng=masked([1, 2])), "rng is a masked array, 1 of 2"),
    "batch": (lambda: lagbc.bc(A, batch=masked(2, True)), "batch is a masked array, 1 of 1"),
    "device": (lambda: lagbc.bc(A, device=masked(0, True)), "device is a masked array, 1 of 1"),
    "states": (lambda: lagbc.percolation(A, NUMBERS), "states is a masked array, 1 of 4"),
    "states of names": (lambda: lagbc.percolation(A, dict(enumerate(NUMBERS))), "states holds masked arrays, 1 of 1"),
    "groups": (lambda: lagbc.group_bc(A, masked([[0, 1], [2, 3]])), r"groups\[0\] is a masked array, 1 of 2"),
    "a group": (lambda: lagbc.group_bc(A, [[0], masked([1, 2])]), r"groups\[1\] is a masked array, 1 of 2"),
    "counts": (lambda: lagbc.shortest_path_counts(A, VERTICES), "sources is a masked array, 1 of 2"),
    "closeness": (lambda: lagbc.closeness(A, sources=VERTICES), "sources is a masked array, 1 of 2"),
    "roots": (lambda: lagbc.compare(A, VERTICES), "roots is a masked array, 1 of 2"),
    "plan": (lambda: lagbc.plan(A, demand=PAIRS), "demand is a masked array, 1 of 16"),
    "table": (lambda: lagbc.table(A, NUMBERS), "score is a masked array, 1 of 4"),
    "scores": (lambda: plots.plot_scores(A, NUMBERS, directed=True), "scores is a masked array, 1 of 4"),
    "networks": (lambda: plots.plot_centralities(A, {"bc": NUMBERS}), "bc is a masked array, 1 of 4"),
    "map": (lambda: plots.plot_map(A, NUMBERS, xy=np.ones((N, 2))), "scores is a masked array, 1 of 4"),
    "coordinates": (lambda: plots.plot_map(A, np.ones(N), xy=XY), "coordinates is a masked array, 1 of 8"),
}


@pytest.mark.parametrize(("call", "message"), CALLS.values(), ids=CALLS)
def test_masked_arrays_are_refused_by_name(call, message):
    with pytest.raises(TypeError, match=f"^{message}"):
        call()


def test_nothing_masked_is_refused_too():
    """The mask may be filled in by the next call, and then change the scores."""
    with pytest.raises(TypeError, match=r"0 of 4 entries being masked; pass \.compressed\(\)"):
        lagbc.bc(A, source_weights=np.ma.masked_array(np.ones(N)))
