"""A grid whose ranks are threads of this process."""

from concurrent.futures import ThreadPoolExecutor
from threading import BrokenBarrierError

import numpy as np
import scipy.sparse as sp

import lagbc
from lagbc.graph.validate import as_graph
from lagbc.grid.communicator import line_of_threads
from lagbc.plan.options import OfGrid
from lagbc.run.grid import call_on_line

# All sums of vertices.
ALL = ("bc", "stress", "closeness", "harmonic", "eccentricity")


def parts_of(A, count):
    """Deal the entries of a matrix, one after the other."""
    coo = sp.coo_array(A)
    places = [np.arange(coo.nnz) % count == part for part in range(count)]
    return [sp.coo_array((coo.data[of], (coo.row[of], coo.col[of])), shape=coo.shape) for of in places]


def each_on_grid(shape, parts, call, *, directed=True, overlap=False, memory=None, stop=None, seen=None):
    """Make a call on ranks that pass these parts; return what each rank returns or raises.

    `call` is made of the graph on the first rank; `seen` is called on each with its place, its lane and its line.
    """
    lines = line_of_threads(len(parts))

    def on_rank(place):
        def take_part():
            part = parts[place]
            return (None, True) if part is None else (as_graph(part, directed=True), directed)

        options = OfGrid(None, shape, overlap, memory, stop)
        try:
            return call_on_line(lines[place], options, "call", take_part, call)
        except BaseException as error:
            if not isinstance(error, BrokenBarrierError | lagbc.Error | KeyboardInterrupt | ZeroDivisionError):
                lines[place].abort(error)
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
