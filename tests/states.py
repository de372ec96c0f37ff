"""The state of a worker by a method's module, in hops by either schedule, and a flag that stops it."""

import gc
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

import numpy as np

from lagbc.methods.contract import StopFlag
from lagbc.methods.cpu import batched
from lagbc.methods.sums import OF_EDGES, PATH_SUMS, SQUARES, Sums


def prepare(module, graph, plan, *schedule):
    """Make it, by a schedule of the module if one is given."""
    return module.prepare(graph, plan, *schedule)


def zeros(module, graph, plan, roots):
    """Sums of a batch of so many roots, to which nothing is added yet."""
    rows = module.batching.rows(0, len(roots)).stop
    return Sums.zeros_of_batch(np, plan.sums, graph.n, graph.nnz, rows, len(roots))


def add(module, state, roots, sums, omega=None):
    """Add what the roots of a batch add; `omega` has target weights, a column for each of them."""
    for levels in module.forward(state, np.asarray(roots, np.int64)):
        module.backward(state, levels, sums, omega if omega is None else omega[:, levels.places])


def summed(module, graph, plan, roots, omega=None):
    """Sums of one batch, by a new state."""
    sums = zeros(module, graph, plan, roots)
    add(module, prepare(module, graph, plan), roots, sums, omega)
    return sums


def bytes_of_sums(graph, asked):
    """Return the bytes of a batch's sums in sweep order: over paths or over distances, whichever are more."""
    paths, distances = asked & PATH_SUMS, asked - PATH_SUMS
    kinds = 1 + bool(paths & SQUARES)
    of_paths = (kinds + ("stress" in asked)) * graph.n + kinds * bool(paths & OF_EDGES) * graph.nnz
    of_distances = (5 if distances & SQUARES else 3) * graph.n + 64
    return 8 * max(of_paths * bool(paths), of_distances * bool(distances))


class Counting(StopFlag):
    """A stop flag that counts how often it is polled, and is set after `limit` times."""

    def __init__(self, limit=np.inf):
        super().__init__()
        self.polls, self.limit = 0, limit

    def check(self):
        self.polls += 1
        if self.polls > self.limit:
            self.set()
        super().check()


@contextmanager
def uncollected():
    """Let nothing of earlier tests be freed while a test, which this decorates, reads the memory that kernels hold."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def scheduled(schedule):
    ours = {name: partial(getattr(batched, name), schedule=schedule) for name in ("arrays", "prepare")}
    return SimpleNamespace(**vars(batched) | ours)


by_levels, when_ready = scheduled(batched.LEVEL_ORDER), scheduled(batched.READY_ORDER)
