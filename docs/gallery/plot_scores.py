"""
Betweenness is not degree
=========================

How betweenness is distributed over the co-authors of a field, and how it goes with the number of co-authors.
"""

import lagbc

graph = lagbc.read_graph("example:ca-GrQc")
scores = lagbc.bc(graph)
figure = lagbc.plots.plot_scores(graph, scores, title="ca-GrQc, co-authors in general relativity")
