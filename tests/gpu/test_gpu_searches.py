"""Distances into groups on the GPU, against the CPU."""

import numpy as np
import pytest
from gpu_schedules import HOPS, LENGTHS, NAMES
from strategies import path, with_lengths

import lagbc
from lagbc.graph.graph import Graph

# Swept a launch a level, or a round, it is handed on to the other schedule.
DEEP = path(400)
# Kinds of lengths; those that are no integers have distances in float64.
KINDS = {
    "hops": (False, HOPS | {"deep": DEEP}),
    "whole lengths": (True, LENGTHS | {"deep": with_lengths(DEEP, [1, 2])}),
    "lengths": (True, {name: A * 0.3 for name, A in (LENGTHS | {"deep": with_lengths(DEEP, [1, 2])}).items()}),
}


@pytest.mark.parametrize("is_deep", [True, False])
@pytest.mark.parametrize("name", [*NAMES, "deep"])
@pytest.mark.parametrize("kind", KINDS)
def test_groups_by_either_schedule(cupy, monkeypatch, kind, name, is_deep, directed):
    """More than a batch: of one, of several, that overlap, of neighbours, of all, of none, and without edges."""
    weighted, graphs = KINDS[kind]
    A, how = graphs[name], {"directed": directed, "weighted": weighted}
    monkeypatch.setattr(Graph, "has_high_diameter", property(lambda graph: is_deep))
    n = A.shape[0]
    groups = [[0], [0, 1, 2], [2, 0], [], [*range(n)], *([v % n, (v + 1) % n, (v + 7) % n] for v in range(290))]
    for score in (lagbc.group_closeness, lagbc.group_harmonic):
        ours, theirs = (score(A, groups, device=device, **how) for device in ("cuda", "cpu"))
        np.testing.assert_allclose(ours, theirs, rtol=1e-13)
        np.testing.assert_allclose(score(A, groups[3:9], device=0, **how), ours[3:9], rtol=1e-13)


def test_a_matrix_on_the_gpu_is_searched_there(cupy):
    from cupyx.scipy import sparse

    A = HOPS["mesh"]
    on_device = sparse.csr_matrix(A.tocsr().astype(float))
    scores = lagbc.group_closeness(on_device, [[0, 5], [7]])
    np.testing.assert_array_equal(scores, lagbc.group_closeness(A, [[0, 5], [7]]))
    with pytest.raises(MemoryError, match="a search from 256 vertices on cuda needs up to"):
        lagbc.group_closeness(on_device, [[0, 5]], memory="1kB")


def test_several_gpus_are_refused(cupy, monkeypatch):
    monkeypatch.setattr("lagbc.centrality.searches.gpu_numbers", lambda devices: (0, 1))
    with pytest.raises(ValueError, match="groups are searched from on one GPU, not on 2; name one as device="):
        lagbc.group_harmonic(HOPS["mesh"], [[0]], device="all")
