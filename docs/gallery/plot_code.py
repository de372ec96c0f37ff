"""
Functions that connect a code base
==================================

For those who read large code, by a graph of calls: 100,000 functions, which call others of their own module and, now
and then, a few that are called by many. Betweenness tells functions through which much of the code depends on other
code; exact scores would take all roots, and 200 random ones find the highest. `lagbc.estimate` draws as many as needed.
"""

import numpy as np

import lagbc

rng = np.random.default_rng(11)
functions, calls, size = 100_000, 400_000, 50  # a module has 50 functions
caller = rng.integers(functions, size=calls)
within = caller - caller % size + rng.integers(size, size=calls)
popular = (functions * rng.random(calls) ** 6).astype(int)
callee = np.where(rng.random(calls) < 0.8, within, popular)
names = np.array([f"module{f // size}.function{f % size}" for f in range(functions)])
graph = lagbc.graph_from_edges(names[caller], names[callee], directed=True)

scores = lagbc.bc(graph, k=200, rng=1, normalized=True)
for v in np.argsort(-scores)[:5]:
    print(f"{scores[v]:.4f}  {graph.names[v]}")
figure = lagbc.plots.plot_scores(
    graph, scores, title="A code base of 100,000 functions", unit="fraction of vertex pairs"
)
