"""
The straightest ways through streets
====================================

Angular betweenness: streets are vertices, a turn from one to the next is an edge, and its angle is its length. Straight
on is an angle of 0, which is no length; so 1 degree is added to every turn. Of two ways with the same angles the one of
fewer streets is then the shorter.

Such a graph of streets is the dual of momepy, ``G = momepy.gdf_to_nx(streets, approach="dual")``. There it is
``for *_, turn in G.edges(data=True): turn["angle"] += 1``, and then ``lagbc.bc(G, weighted="angle")``. Here it is that
of a grid in which some streets are closed.
"""

import numpy as np

import lagbc

rng = np.random.default_rng(3)
steps = [((x, y), (x + i, y + j)) for x in range(9) for y in range(9) for i, j in ((1, 0), (0, 1))]
streets = np.array([step for step in steps if max(step[1]) < 9 and rng.random() < 0.8])

meet = (streets[:, None, :, None] == streets[None, :, None, :]).all(axis=-1).any(axis=(2, 3))
first, second = np.nonzero(np.triu(meet, k=1))
across = streets[:, 1] - streets[:, 0]
angles = np.where((across[first] == across[second]).all(axis=1), 0, 90)

graph = lagbc.graph_from_edges(first, second, angles + 1, directed=False)
middles = streets.mean(axis=1)[graph.names]
figure = lagbc.plots.plot_map(graph, lagbc.bc(graph), xy=middles, title="Streets by turns", labels=[])
