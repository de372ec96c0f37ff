"""
The straightest ways through streets
====================================

Angular betweenness, for planners: on foot people keep to straight ways, and so the shortest path is that of the least
turns. Each street is two vertices, one for each way along it, and a turn from the end of one way into another is an
edge, whose length is its angle. Straight on is an angle of 0, which is no length; so 1 degree is added to every turn.

In the dual graph of momepy and others a street is one vertex. There a path may turn around in a crossing, from a street
into a second and from the same end of that into a third, and is then shorter than any walk. With two vertices angles
are those of the simplest paths of cityseer. Paths begin and end at vertices of each street besides, so that they take
the better way; they count on their first and last street, too.
"""

import numpy as np
import scipy.sparse as sp

import lagbc

rng = np.random.default_rng(3)
corners = np.array([(x, y) for x in range(14) for y in range(14)]) + rng.normal(0, 0.08, (196, 2))
steps = [(v, v + 1) for v in range(196) if v % 14 < 13] + [(v, v + 14) for v in range(182)]
avenue = [(v, v + 15) for v in range(0, 180, 15)]
streets = np.array([step for step in steps if rng.random() < 0.85] + avenue)

m = len(streets)
ways = np.concatenate([streets, streets[:, ::-1]])
across = corners[ways[:, 1]] - corners[ways[:, 0]]
angles = np.degrees(np.arctan2(across[:, 1], across[:, 0]))
number = np.arange(2 * m) % m  # the street of each way
into, out = np.nonzero((ways[:, None, 1] == ways[None, :, 0]) & (number[:, None] != number))
turns = abs((angles[out] - angles[into] + 180) % 360 - 180)

begins, ends = 2 * m + number, 3 * m + number
tails, heads = np.concatenate([into, begins, range(2 * m)]), np.concatenate([out, range(2 * m), ends])
A = sp.coo_array((np.concatenate([turns + 1, np.ones(4 * m)]), (tails, heads)), shape=(4 * m, 4 * m))
scores = lagbc.bc(A, weighted=True, rtol=1e-9, sources=np.unique(begins), targets=np.unique(ends))

town = sp.coo_array((scores[:m] + scores[m : 2 * m], streets.T), shape=(196, 196))
figure = lagbc.plots.plot_map(town, town, xy=corners, title="Streets by turns", labels=[])
