"""
Corridors through a landscape
=============================

For ecologists: a raster of costs, such as a resistance surface, as a graph. A cell is a vertex, it has an edge to each
of its eight neighbours, and a step costs the mean of both cells times its length. Water is no cell. Betweenness of
least-cost paths from the habitats in the west to those in the east shows corridors, and where they are narrow. It is
doubled, as an undirected pair that is searched from one end counts half.
"""

import numpy as np
import scipy.sparse as sp
from matplotlib.figure import Figure
from scipy.ndimage import gaussian_filter

import lagbc

rng = np.random.default_rng(7)
hills = gaussian_filter(rng.normal(size=(90, 140)), 5)
cost = np.exp(3 * hills / hills.std() / 2)
water = gaussian_filter(rng.normal(size=cost.shape), 8)
land = water < 1.3 * water.std()

cell = np.arange(cost.size).reshape(cost.shape)
steps = []
for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
    here = (slice(0, 90 - down), slice(max(0, -right), 140 - max(0, right)))
    there = (slice(down, 90), slice(max(0, right), 140 - max(0, -right)))
    both = land[here] & land[there]
    price = (cost[here] + cost[there]) / 2 * np.hypot(down, right)
    steps.append(np.stack([price[both], cell[here][both], cell[there][both]]))
prices, tails, heads = np.concatenate(steps, axis=1)
A = sp.coo_array((prices, (tails.astype(int), heads.astype(int))), shape=(cost.size, cost.size))

west, east = cell[::3, 0][land[::3, 0]], cell[::3, -1][land[::3, -1]]
scores = 2 * lagbc.bc(A, directed=False, weighted=True, rtol=1e-9, sources=west, targets=east)

figure = Figure(figsize=(8, 4.5), layout="constrained")
axes = figure.subplots()
axes.imshow(np.where(land, np.log(cost), np.nan), cmap="Greens_r", alpha=0.6)
drawn = axes.imshow(np.where(scores > 0, scores, np.nan).reshape(cost.shape), cmap="plasma_r", norm="log")
figure.colorbar(drawn, label="pairs of a western and an eastern habitat")
axes.set(title="Corridors of least-cost paths; white is water", xticks=[], yticks=[])
