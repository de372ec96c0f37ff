"""
Scores with their intervals
===========================

Estimated from random roots: with a probability of 95 %, every score lies within its interval.
"""

import lagbc

graph = lagbc.read_graph("example:ca-GrQc")
found = lagbc.estimate(graph, max_roots=1000, rng=1)
print(found.reason)
figure = found.plot()
