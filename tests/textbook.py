"""A method of one's own, as short as `lagbc.methods.contract` allows: Brandes' algorithm in hops, in plain Python.

Copy it to begin a method. It needs no order of vertices, so that it takes the graph as it is; a root costs O(n + m).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lagbc.methods.contract import BYTE, Array, Batching, Counted, SweepPlan

# All roots of a batch are one block: one row of its sums. Batches of several workers run side by side.
batching = Batching(block=1, auto=64, concurrent=True)


@dataclass
class State:
    neighbours: list[list[int]]
    plan: SweepPlan


@dataclass
class Levels:
    """What was found from the roots of a batch; a root has its vertices in the order of their distances."""

    places: Any
    overflowed: Any
    found: list[tuple[list[int], list[int], list[int]]]

    @property
    def depth(self):
        return max((dist[order[-1]] for order, dist, _ in self.found if order), default=0)


def arrays(graph, plan):
    """Bound the bytes of numbers and lists, as objects, which it makes by itself."""
    objects = {
        "neighbours": Array((graph.nnz + graph.n, 64), BYTE),
        "distances, counts and the order": Array((plan.batch, graph.n, 192), BYTE),
    }
    return {"objects": Counted(objects)}


def prepare(graph, plan):
    ends, heads = graph.indptr.tolist(), graph.indices.tolist()
    return State([heads[ends[v] : ends[v + 1]] for v in range(graph.n)], plan)


def forward(state, roots):
    found, overflowed = [], np.zeros(len(roots), bool)
    for place, root in enumerate(roots.tolist()):
        found.append(search(state, root) if root >= 0 else ([], [], []))  # -1 keeps its place and adds nothing
        overflowed[place] = max(found[-1][2], default=0) > state.plan.sigma_limit
    yield Levels(np.arange(len(roots)), overflowed, found)


def search(state, root):
    n = len(state.neighbours)
    order, dist, sigma = [root], [-1] * n, [0] * n
    dist[root], sigma[root] = 0, 1
    for v in order:  # which grows on the way
        state.plan.stop.check()
        for w in state.neighbours[v]:
            if dist[w] < 0:
                dist[w] = dist[v] + 1
                order.append(w)
            if dist[w] == dist[v] + 1:
                sigma[w] += sigma[v]
    return order, dist, sigma


def backward(state, levels, sums, omega=None):
    if omega is not None:
        raise NotImplementedError("textbook takes no target weights per root")
    plan, n = state.plan, len(state.neighbours)
    targets = np.ones(n) if plan.omega is None else plan.omega
    times = np.ones(n) if plan.root_weights is None else plan.root_weights
    for (order, dist, sigma), overflowed in zip(levels.found, levels.overflowed, strict=True):
        if overflowed or not order:
            continue
        root, delta = order[0], np.zeros(n)
        for v in reversed(order):
            for w in state.neighbours[v]:
                if dist[w] == dist[v] + 1:
                    delta[v] += sigma[v] / sigma[w] * (targets[w] + delta[w])
        delta[root] = 0
        if plan.endpoints:
            delta[order[1:]] += 1
            delta[root] = len(order) - 1
        sums.dependency[0] += times[root] * delta
