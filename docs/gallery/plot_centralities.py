"""
Five centralities of one network
================================

From one sweep, the characters of a novel by five centralities: larger and brighter the higher they rank.
"""

import lagbc

graph = lagbc.read_graph("example:lesmis")
scores = lagbc.centralities(graph, ("bc", "stress", "closeness", "harmonic", "eccentricity_centrality"))
figure = lagbc.plots.plot_centralities(graph, scores, title="Les Miserables")
