"""
Methods side by side
====================

Products of sparse matrices, and traversals, on one network, from the same roots: time, memory, and whether they agree.
"""

import lagbc

graph = lagbc.read_graph("example:power")
comparison = lagbc.compare(graph, roots=64, device="cpu")
figure = lagbc.plots.plot_comparison(comparison, title="the power grid of the western United States")
