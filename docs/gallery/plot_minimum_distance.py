"""
Trips that are neither short nor long
=====================================

For planners of transit: nobody takes a bus for two crossings. Cutoffs count the trips up to a distance; scores are
sums over pairs, so that the difference of two columns counts the trips that are longer than the first cutoff and at
most as long as the second. Both are from one search.
"""

import lagbc

graph = lagbc.read_graph("example:minnesota")
scores = lagbc.bc(graph, cutoff=[10, 30])
scores[:, 1] -= scores[:, 0]
figure = lagbc.plots.plot_map(graph, scores, titles=["trips of up to 10 roads", "trips of 11 to 30 roads"])
