"""
Between numbers of ties and their strengths
===========================================

For sociologists: alpha of Opsahl, Agneessens and Skvoretz (Social Networks 32, 2010). A tie of strength w has the
length w to the power -alpha. With alpha = 0 paths of few ties are short, with 1 those of strong ones, and in between
both count: a path of more ties is shorter only if they are strong enough. In Les Miserables w is the number of chapters
in which two characters meet.
"""

import networkx as nx
import numpy as np
import scipy.sparse as sp
from matplotlib.figure import Figure

import lagbc

G = nx.les_miserables_graph()
A, names, alphas = nx.to_scipy_sparse_array(G, dtype=float), [*G], np.linspace(0, 2, 9)
lengths = [sp.csr_array((A.data**-alpha, A.indices, A.indptr), shape=A.shape) for alpha in alphas]
scores = np.array([lagbc.bc(one, directed=False, weighted=True, rtol=1e-9) for one in lengths])

figure = Figure(figsize=(7, 4.5), layout="constrained")
axes = figure.subplots()
highest = np.argsort(-scores.max(axis=0))[:7]
axes.plot(alphas, scores[:, highest], label=[names[v] for v in highest])
axes.set(title="Les Miserables", xlabel="alpha", ylabel="betweenness (vertex pairs)", yscale="log")
axes.legend(frameon=False)
