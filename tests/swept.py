"""Sums by one method as a request of its contract asks for them: the piece, the sweep, the work and its memory."""

from dataclasses import replace

import numpy as np

from lagbc.arguments import Arguments, Read
from lagbc.centrality.compute import plan_call
from lagbc.limits import Room
from lagbc.planning.sweep import Sweep
from lagbc.reduce.pieces import Whole
from lagbc.request import Request
from lagbc.run.run import work_of
from lagbc.run.work import sum_over, threaded

OF_REQUEST = ("sums", "omega", "root_weights", "class_sizes", "demand", "bounds", "endpoints", "rtol")
OF_SWEEP = ("batch", "threads", "dtype", "bucket_width", "variant", "virtual_warp", "in_place", "linear")


def swept(graph, roots, method, plan, ordered=None):
    """Return the piece and the sweep whose request to the method is `plan`, but for the exponent."""
    piece = Whole(graph, Request(roots=roots, **{name: getattr(plan, name) for name in OF_REQUEST}), lined_up=ordered)
    of_sweep = {name: getattr(plan, name) for name in OF_SWEEP}
    kind, count = "roots" if plan.bounds is None else "within", len(roots) if plan.roots is None else plan.roots
    row = method.name, method.device, method.weighted
    return piece, Sweep(kind, *row, roots=count, reason="", most=plan.batch, **of_sweep)


def work(graph, roots, method, plan, *, ordered=None, module=None, room=None):
    """Return the work that sums by this very request."""
    piece, sweep = swept(graph, roots, method, plan, ordered)
    made = work_of(piece, sweep, room or Room(), module)
    return made.by(sweep, replace(plan, method=method.name, budget=made.plan.budget, growth=made.plan.growth))


def summed(graph, roots, method, plan, *, ordered=None, module=None, carry=threaded):
    """Return the sums from some roots, on the host."""
    made = work(graph, roots, method, plan, ordered=ordered, module=module)
    return made.finish(sum_over(made, carry))


def assert_same_sums(ours, theirs):
    """To the bit."""
    for name, array in theirs:
        np.testing.assert_array_equal(getattr(ours, name), array, err_msg=name)


def estimate(A, which="bc", batch="auto", directed=None, weighted=None, **options):
    """Return the memory of a call as it is planned, beside its budget."""
    call = plan_call(A, which, batch, Read(directed, weighted), options, Arguments())
    return call.plan.estimate(call.room)
