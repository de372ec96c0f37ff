"""The state of a worker by a method's module."""

import numpy as np

from lagbc.methods.arrays import allocate


def prepare(module, graph, plan, *schedule):
    """Make it as `lagbc.methods.contract.new_state` does, by a schedule of the module if one is given."""
    if ".gpu." in module.__name__:
        import cupy as arrays
    else:
        arrays = np
    return module.prepare(graph, plan, allocate(arrays, module.arrays(graph, plan)), *schedule)
