"""The memory of a call as it is planned, beside its budget."""

from lagbc.arguments import Arguments, Read
from lagbc.centrality.compute import plan_call


def estimate(A, which="bc", batch="auto", directed=None, weighted=None, **options):
    call = plan_call(A, which, batch, Read(directed, weighted), options, Arguments())
    return call.plan.estimate(call.room)
