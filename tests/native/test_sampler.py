"""Samplers of shortest paths by themselves, for both types of indices: all paths of a pair are as likely."""

import zlib
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from strategies import diamond_scores, diamonds, disjoint, grid, scale_free

from lagbc.native import classes_of, csr

ONE_WAY = sp.triu(scale_free(12, 40, seed=5)).tocsr()
ONE_WAY = (ONE_WAY + sp.csr_array(([1.0, 1.0], ([11, 7], [0, 2])), shape=ONE_WAY.shape)).tocsr()


def ladder():
    """Two rungs, each of six paths: p - u - a - c, and p - v - b - c by five v; the second begins at the first's c."""
    edges = []
    for p in (0, 9):
        u, a, b, c = p + 1, p + 2, p + 8, p + 9
        edges += [(p, u), (u, a), (a, c), (b, c)] + [edge for v in range(p + 3, p + 8) for edge in ((p, v), (v, b))]
    rows, columns = np.array(edges).T
    half = sp.csr_array((np.ones(len(edges)), (rows, columns)), shape=(19, 19))
    return (half + half.T).tocsr()


GRAPHS = {
    "ladder": ladder(),
    "grid": grid(3, 4).tocsr(),
    "one way": ONE_WAY,
    "two components": sp.csr_array(disjoint(grid(2, 3), grid(2, 2))),
}
# CRC-32 of the counts of the vertices and of the edges, of 1000 samples of seed 7.
DIGESTS = {"ladder": 0xD1B2F446, "grid": 0xE073F068, "one way": 0xB72BDE0B, "two components": 0x928D4D44}


def sampler(A, index=np.int32, flag=None):
    out, into = (csr(B.indptr.astype(np.int64), B.indices.astype(index), None) for B in (A, A.T.tocsr()))
    return classes_of("PathSampler")[np.dtype(index)](out, into, np.zeros(1, np.uint8) if flag is None else flag)


def shortest_paths(A, s, t):
    """Return the vertices between the ends of each path, by extending all paths from s."""
    paths, seen = [(s,)], {s}
    while paths and all(path[-1] != t for path in paths):
        longer = [(*path, w) for path in paths for w in A.indices[A.indptr[path[-1]] : A.indptr[path[-1] + 1]].tolist()]
        paths = [path for path in longer if path[-1] not in seen]
        seen |= {path[-1] for path in paths}
    return [frozenset(path[1:-1]) for path in paths if path[-1] == t]


@pytest.mark.parametrize("name", GRAPHS)
def test_every_path_of_a_pair_is_as_likely(name, index):
    """Frequencies of the vertices between the ends are within five standard deviations, of some hundred at most."""
    A = GRAPHS[name]
    n, samples, likely = A.shape[0], 20_000, Counter()
    for s, t in permutations(range(n), 2):
        found = shortest_paths(A, s, t) or [frozenset()]
        for between in found:
            likely[between] += 1 / len(found) / n / (n - 1)
    one = sampler(A, index)
    drawn = Counter(frozenset(one.draw(3, i, i + 1)[0].tolist()) for i in range(samples))
    assert drawn.keys() <= likely.keys()
    for between, p in likely.items():
        assert abs(drawn[between] - samples * p) <= 5 * (samples * p * (1 - p)) ** 0.5 + 1, between
    if name in ("ladder", "grid"):
        assert len(likely) > 50


@pytest.mark.parametrize("name", GRAPHS)
def test_samples_of_a_seed_stay_the_same(name, index):
    """Estimates of former versions can be had again."""
    A = GRAPHS[name]
    vertices, times, looked_at = sampler(A, index).draw(7, 0, 1000)
    counts = np.zeros(A.shape[0] + 1, "<i8")
    counts[vertices], counts[-1] = times, looked_at
    assert zlib.crc32(counts.tobytes()) == DIGESTS[name]


def test_samples_are_the_same_in_whatever_order_they_are_drawn(index):
    A = GRAPHS["grid"]
    one, other = sampler(A, index), sampler(A, index)
    counts, edges = np.zeros((2, 12), np.int64), [0, 0]
    for number, spans in enumerate((((0, 500),), ((300, 500), (7, 300), (0, 7)))):
        for first, last in spans:
            vertices, times, looked_at = (one, other)[number].draw(5, first, last)
            counts[number, vertices] += times
            edges[number] += looked_at
    np.testing.assert_array_equal(counts[0], counts[1])
    assert edges[0] == edges[1]
    assert counts[0].sum() > 100


def test_counts_beyond_float64(index):
    """Of 2200 diamonds in a row, a pair that is farther apart than 1024 has more paths than float64 counts."""
    half, samples = diamonds(2200, 2).tocsr(), 400
    A = (half + half.T).tocsr()
    n, through = A.shape[0], np.zeros(A.shape[0])
    vertices, times, _ = sampler(A, index).draw(1, 0, samples)
    through[vertices] = times
    expected = np.array(diamond_scores(2200, 2), float) * 2 * samples / (n * (n - 1))
    assert np.abs(through - expected).max() < 5 * (samples / 4) ** 0.5
    assert through.sum() == pytest.approx(expected.sum(), rel=0.1)


def test_it_stops():
    flag = np.ones(1, np.uint8)
    vertices, times, looked_at = sampler(GRAPHS["grid"], flag=flag).draw(1, 0, 10**9)
    assert (len(vertices), len(times), looked_at) == (0, 0, 0)


def test_arguments_that_are_none():
    with pytest.raises(ValueError, match="two vertices"):
        sampler(sp.csr_array((1, 1)))
    A, other = GRAPHS["grid"], csr(np.zeros(3, np.int64), np.zeros(0, np.int32), None)
    out = csr(A.indptr.astype(np.int64), A.indices.astype(np.int32), None)
    with pytest.raises(ValueError, match="into"):
        classes_of("PathSampler")[np.dtype(np.int32)](out, other, np.zeros(1, np.uint8))
