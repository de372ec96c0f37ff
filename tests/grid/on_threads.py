"""A grid whose ranks are threads of this process, and the lines that carry their messages."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce
from threading import Barrier, BrokenBarrierError, local
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from families import disjoint, grid, path, scale_free, star

import lagbc
from lagbc.estimates.terms import estimated_sum, sums_of
from lagbc.grid import run
from lagbc.grid.run import Call, take_part
from lagbc.methods.sums import DEPENDENCY
from lagbc.options import OfGrid
from lagbc.scores.records import find

OPERATIONS = {"sum": np.add, "or": np.bitwise_or, "xor": np.bitwise_xor, "least": np.minimum}


class ThreadLine:
    """As `lagbc.grid.communicator.Line`; threads share memory."""

    def __init__(self, rank, meeting):
        self.size, self.rank, self._meeting = meeting.size, rank, meeting

    def exchange(self, messages):
        yield lambda: None
        return [given[self.rank] for given in self._meeting.of_all(self.rank, messages)]

    def combine(self, numbers, operation):
        return reduce(OPERATIONS[operation], self._meeting.of_all(self.rank, numbers.copy()))

    def split(self, color):
        colors = self._meeting.of_all(self.rank, color)
        mates = [rank for rank, other in enumerate(colors) if other == color]
        meeting = Meeting(len(mates), self._meeting) if self.rank == mates[0] else None
        meetings = self._meeting.of_all(self.rank, meeting)
        return ThreadLine(mates.index(self.rank), meetings[mates[0]])

    def abort(self, error):
        self._meeting.abort()

    def close(self):
        pass


class Meeting:
    """Where the threads of a line meet; when it is aborted, none waits, here or in the lines beside."""

    def __init__(self, size, beside=None):
        self.size = size
        self._barrier, self._said = Barrier(size), [None] * size
        self._all = [] if beside is None else beside._all
        self._all.append(self)

    def of_all(self, rank, said):
        self._said[rank] = said
        self._barrier.wait()
        heard = [*self._said]
        self._barrier.wait()
        return heard

    def abort(self):
        for meeting in self._all:
            meeting._barrier.abort()


def line_of_threads(size):
    """Make a line of as many threads, as each of them has it."""
    meeting = Meeting(size)
    return [ThreadLine(rank, meeting) for rank in range(size)]


# All sums of vertices.
ALL = ("bc", "stress", "closeness", "harmonic", "eccentricity")
SHAPES = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (1, 3), (2, 3)]
GRAPHS = [scale_free(300, 2000, seed=2), grid(9, 11), disjoint(star(70), path(5))]
# Arguments of `lagbc.bc` on the first of them.
ARGUMENTS = [
    {"k": 40, "rng": 3},
    {"sources": [5, 80, 7]},
    {"targets": [5, 80, 7]},
    {"endpoints": True, "normalized": True},
    {"source_weights": np.arange(300) % 4, "target_weights": 0.5 + np.arange(300) % 3},
]

# The rank of a thread.
HERE = local()
# A goal of estimates.
MANY = {"max_roots": 400}


def scores(names, **given):
    """Return a call of a graph."""
    return lambda graph: lagbc.centralities(graph, names, **given)


def require_close(found, expected):
    assert found.keys() == expected.keys()
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-12, atol=1e-12, err_msg=name)


def require_sums_of_one_process(shape, A, names=ALL, *, directed, **given):
    expected = lagbc.centralities(A, names, directed=directed, reduce="none", device="cpu")
    require_close(on_grid(shape, A, scores(names), directed=directed, **given), expected)


def require_scores_of_one_process(arguments, *, directed, **given):
    """With these arguments of `lagbc.bc`."""
    expected = lagbc.bc(GRAPHS[0], directed=directed, reduce="none", device="cpu", **arguments)
    found = on_grid((2, 2), GRAPHS[0], lambda graph: lagbc.bc(graph, **arguments), directed=directed, **given)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def parts_of(A, count):
    """Deal the entries of a matrix, one after the other."""
    coo = sp.coo_array(A)
    places = [np.arange(coo.nnz) % count == part for part in range(count)]
    return [sp.coo_array((coo.data[of], (coo.row[of], coo.col[of])), shape=coo.shape) for of in places]


def each_on_grid(
    shape, parts, call, *, directed=True, overlap=False, memory=None, folds=False, device="cpu", sums=DEPENDENCY
):
    """Make a call on ranks that pass these parts; return what each rank returns or raises.

    `call` is made of the graph on the first rank.
    """
    lines = line_of_threads(len(parts))

    def on_rank(rank):
        HERE.rank = rank
        options = OfGrid(None, shape, overlap, memory, None, device=(device, None))
        try:
            part = partial(take_part, parts[rank], directed)
            return run.on_grid(options, Call("call", lambda: sums, folds), part, call, lines[rank])
        except BaseException as error:
            if not isinstance(error, BrokenBarrierError | lagbc.Error | KeyboardInterrupt | ZeroDivisionError):
                lines[rank].abort(error)
            return error

    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(on_rank, range(len(parts))))


def on_grid(shape, A, call, *, ranks=None, spread=True, **given):
    """Make a call; return what the first rank returns, or raise what it raises."""
    ranks = ranks or shape[0] * shape[1]
    parts = parts_of(A, ranks) if spread else [A] + [None] * (ranks - 1)
    first, *others = each_on_grid(shape, parts, call, **given)
    if isinstance(first, BaseException):
        raise first
    assert not [other for other in others if isinstance(other, BaseException)]
    return first


class Kind(NamedTuple):
    """A graph, and arguments of `lagbc.estimate` on it."""

    A: Any
    centrality: str = "bc"
    directed: bool = False


ESTIMATES = {
    "bc": Kind(scale_free(700, 4200, seed=2)),
    "directed": Kind(scale_free(700, 4200, seed=2), directed=True),
    "sparse": Kind(scale_free(1500, 2500, seed=3)),
    "harmonic": Kind(scale_free(700, 4200, seed=2), "harmonic", directed=True),
    "mesh": Kind(grid(20, 24)),
    "closeness": Kind(grid(20, 24), "closeness"),
    "directed closeness": Kind(grid(20, 24), "closeness", directed=True),
}


def estimated(kind, shape, goal=MANY, **given):
    """On a grid, to this goal."""
    A, centrality, directed = ESTIMATES[kind]
    sums = sums_of(estimated_sum(find(centrality)))
    call = lambda graph: lagbc.estimate(graph, centrality, rng=1, **goal)  # noqa: E731
    return on_grid(shape, A, call, directed=directed, sums=sums, **given)


def require_estimate_of_one_process(kind, shape, goal=MANY, *, device="cpu", **given):
    A, centrality, directed = ESTIMATES[kind]
    found = estimated(kind, shape, goal, device=device, **given)
    expected = lagbc.estimate(A, centrality, rng=1, directed=directed, reduce="none", device=device, **goal)
    assert (found.roots, found.exact, found.reason) == (expected.roots, expected.exact, expected.reason)
    for name in ("scores", "lower", "upper"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12, atol=1e-15, err_msg=name)
    return found
