"""What the tests of the comparison share: a graph, the methods there are, and a method in one line."""

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
from strategies import scale_free

from lagbc.methods.contract import BYTE, Array, Batching
from lagbc.methods.table import METHODS

READY = [row for row in METHODS if row.available and not row.weighted and find_spec(row.module) is not None]
CPU = [row for row in READY if row.device == "cpu"]
GRAPH = scale_free(60, 400, seed=1)


def titles(records):
    return [(record.method, record.device) for record in records]


def only(table, row):
    (record,) = (record for record in table.records if (record.method, record.device) == (row.name, row.device))
    return record


class Fake:
    """A method in one line: each root adds 1 to every vertex; what happens on its way is up to the test."""

    options = frozenset()

    def __init__(self, prepare=lambda plan: None, forward=lambda plan: None, auto=64):
        self.on_prepare, self.on_forward = prepare, forward
        self.batching = Batching(block=1, auto=auto)

    def arrays(self, graph, plan):
        return {"rows": Array((graph.n, plan.batch), BYTE)}

    def prepare(self, graph, plan):
        return plan, self.on_prepare(plan)

    def forward(self, state, roots):
        self.on_forward(state[0])
        yield SimpleNamespace(places=np.arange(len(roots)), roots=roots, overflowed=np.zeros(len(roots), bool))

    def backward(self, state, levels, sums, omega=None):
        sums.dependency[0] += len(levels.roots)
