"""
Cells of a tissue
=================

For biologists with AnnData, as of scanpy and squidpy: graphs of cells are in ``adata.obsp``, places in ``adata.obsm``,
and scores go to ``adata.obs``, a number a cell. Here a stand-in with these three is made of random cells; the lines
below it are the same for a real one.

Betweenness within 60 micrometres shows the cells that connect their neighbourhood, whatever the shape of the slice.
"""

from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp
from scipy.spatial import Delaunay

import lagbc

rng = np.random.default_rng(5)
places = rng.uniform(0, 500, (2500, 2))
places = places[np.hypot(*(places - 250).T) + 60 * np.sin(places[:, 0] / 40) < 230]
triangles = Delaunay(places).simplices
u, v = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]]).T
far = np.hypot(*(places[u] - places[v]).T)
near = far < 20
distances = sp.coo_array((far[near], (u[near], v[near])), shape=(len(places), len(places))).tocsr()
distances = distances.maximum(distances.T)
adata = SimpleNamespace(obsp={"spatial_distances": distances}, obsm={"spatial": places}, obs={})

A = adata.obsp["spatial_distances"]
adata.obs["betweenness"] = lagbc.bc(A, directed=False, weighted=True, rtol=1e-9, cutoff=60)
figure = lagbc.plots.plot_map(
    A, adata.obs["betweenness"], xy=adata.obsm["spatial"], title="Cells that connect their neighbourhood", labels=[]
)
