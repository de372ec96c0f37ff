"""
Proteins by strengths and by distances
======================================

For biologists with a table of interactions, such as a TSV of STRING: columns are named by their titles. A score of
confidence is a strength: more is nearer, and its length is 1 / w. A column may hold distances instead, which are
lengths as they are; here they are minus logarithms, which add up as probabilities multiply. Interactions of high
confidence then cost next to nothing, and proteins without one, on the lowest line, carry no path.
"""

import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import lagbc

rng = np.random.default_rng(2)
ends = (1200 * rng.random((6000, 2)) ** 2).astype(int)
ends = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)
lines = [
    f"P{u:05}\tP{v:05}\t{score}\t{-np.log(score / 1000):.4f}"
    for (u, v), score in zip(ends, rng.integers(150, 1000, len(ends)), strict=True)
]
with tempfile.TemporaryDirectory() as folder:
    table = Path(folder) / "interactions.tsv"
    table.write_text("\n".join(["protein1\tprotein2\tcombined_score\tdistance", *lines]))
    columns = {"ends": ("protein1", "protein2")}
    by_score = lagbc.read_graph(table, **columns, length="combined_score", strengths=True)
    by_distance = lagbc.read_graph(table, **columns, length="distance")

strong = lagbc.bc(by_score, directed=False, strength=True, rtol=1e-9)
close = lagbc.bc(by_distance, directed=False, weighted=True, rtol=1e-9)

figure = Figure(figsize=(5.5, 5), layout="constrained")
axes = figure.subplots()
axes.loglog(1 + strong, 1 + close, ".", alpha=0.6)
axes.set(title="1 + betweenness of proteins", xlabel="by strengths", ylabel="by distances")
