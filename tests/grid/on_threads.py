"""A grid whose ranks are threads of this process."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import BrokenBarrierError

import numpy as np
import scipy.sparse as sp

import lagbc
from lagbc.grid.communicator import line_of_threads
from lagbc.plan.options import OfGrid
from lagbc.run.grid import call_on_line, take_part

# All sums of vertices.
ALL = ("bc", "stress", "closeness", "harmonic", "eccentricity")


def parts_of(A, count):
    """Deal the entries of a matrix, one after the other."""
    coo = sp.coo_array(A)
    places = [np.arange(coo.nnz) % count == part for part in range(count)]
    return [sp.coo_array((coo.data[of], (coo.row[of], coo.col[of])), shape=coo.shape) for of in places]


def each_on_grid(shape, parts, call, *, directed=True, overlap=False, memory=None, folds=False, device="cpu"):
    """Make a call on ranks that pass these parts; return what each rank returns or raises.

    `call` is made of the graph on the first rank.
    """
    lines = line_of_threads(len(parts))

    def on_rank(place):
        options = OfGrid(None, shape, overlap, memory, None, device=(device, None))
        try:
            return call_on_line(lines[place], options, "call", partial(take_part, parts[place], directed), call, folds)
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
