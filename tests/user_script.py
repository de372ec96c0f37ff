"""A script as users write them: it runs, and type checkers find nothing in it."""

import networkx as nx
import numpy as np
import scipy.sparse as sp

import lagbc

A = sp.csr_array(([1.0, 2.0, 1.0], ([0, 1, 2], [1, 2, 0])), shape=(3, 3))
scores = lagbc.bc(A)
print(scores.max(), scores.argsort()[-2:], lagbc.closeness(A, weighted=True).mean())
for matrix in (A.tocsc(), A.tocoo(), sp.csr_matrix(A), sp.eye_array(3)):
    print(lagbc.bc(matrix, directed=False).sum())
edges = lagbc.edge_bc(A)
print(edges.data.max(), edges.nnz, edges.shape[0], edges.sum(), (edges / 2).max(), edges[0, 1])
coo = edges.tocoo()
for tail, head, score in zip(coo.row, coo.col, coo.data, strict=True):
    print(tail, head, score)
estimates, errors = lagbc.bc(np.ones((3, 3)), k=2, rng=1, standard_error=True)
print(estimates / errors.max())
G = nx.path_graph(["ann", "bob", "carl"])
print(dict(zip(G, lagbc.bc(G, sources={"ann"}).tolist(), strict=True)))
graph = lagbc.graph_from_edges(["ann", "bob"], ["bob", "carl"], [2.5, 1.0], directed=False)
print(graph.n, graph.names, lagbc.group_bc(graph, [["bob"], {"ann", "carl"}]))
split = lagbc.girvan_newman(graph, until=2)
print(split.best, split.labels(2).tolist(), split.modularity.max())
both = lagbc.centralities(graph, ("bc", "edge_bc"), cutoff=2.0)
print(both["bc"].max(), both["edge_bc"].data)
found = lagbc.estimate(lagbc.read_graph("example:karate"), "harmonic", rng=1)
print(found.scores[0], found.top[0].vertex, found)
file = lagbc.read_graph("example:lesmis")
print(lagbc.bc(file, cutoff=[1, 2], threads=2, device="cpu")[:, 0], file.matrix.nnz, file.names)
print(lagbc.as_graph(A, directed=False).n, lagbc.reach(A, cutoff=2), lagbc.plan(A).reason)
