"""
Roads that carry the traffic, near and far
==========================================

Betweenness of road junctions, counted over pairs at most 10 and at most 40 edges apart: streets of a town stand out on
the first map, and highways on the second.
"""

import lagbc

graph = lagbc.read_graph("example:minnesota")
scores = lagbc.bc(graph, cutoff=[10, 40])
figure = lagbc.plots.plot_map(graph, scores, cutoff=[10, 40], title="Minnesota")
