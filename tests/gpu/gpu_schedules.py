"""The schedules of the batched methods of the GPU, in hops and with lengths, and graphs that each of them takes."""

import numpy as np
from batches import zeros_of
from states import prepare
from strategies import adjacency, disjoint, grid, layered, lengths, matrix, path, scale_free, with_lengths

import lagbc
from lagbc import reference
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import PATH_SUMS, SQUARES

NAMES = ["scale-free", "mesh", "parts"]
OTHERS = grid(6, 7), scale_free(120, 600, seed=4), matrix(3, []), layered(5, 9)
HOPS = dict(zip(NAMES, (scale_free(400, 2500, seed=1), grid(13, 24), disjoint(path(90), *OTHERS)), strict=True))
# On none of them a schedule gives up.
LENGTHS = {
    name: with_lengths(A, [1, 2], 7)
    for name, A in {**HOPS, "parts": disjoint(path(35), path(30), path(25), *OTHERS)}.items()
}
# Of the method in hops and of that with lengths.
SCHEDULES = {False: ("launch per level", "one launch"), True: ("window", "one launch")}


class Schedule:
    """A schedule, of the method in hops or of that with lengths; None is the one that the method takes."""

    def __init__(self, weighted, name, monkeypatch):
        self.weighted, self.name = weighted, name
        key = ("delta-stepping" if weighted else "batched"), "cuda", weighted
        self.module = next(row for row in lagbc.METHODS if row.key == key).load()
        self.graphs = LENGTHS if weighted else HOPS
        if not weighted and name:
            monkeypatch.setattr(Graph, "has_high_diameter", property(lambda graph: name == "one launch"))

    def prepared(self, A, *, batch=512, directed=True, dtype="float64", sums=PATH_SUMS - SQUARES, **options):
        graph = as_graph(A, directed=directed, weighted=self.weighted)
        schedule = [self.name] if self.weighted else []
        return graph, prepare(self.module, graph, SweepPlan(batch=batch, dtype=dtype, sums=sums, **options), *schedule)

    def summed(self, cupy, graph, state, roots, omega=None):
        """Return what the roots sum to, a row a group; omega[v, i] are the targets of roots[i], if they differ."""
        sums, rows = zeros_of(cupy, self.module, len(roots), graph, state.plan.sums), graph.order[: graph.active]
        for levels in self.module.forward(state, roots):
            of_levels = None if omega is None else cupy.asarray(omega[rows][:, levels.places])
            self.module.backward(state, levels, sums, of_levels)
        return sums

    def search(self, A, root, *, directed=True):
        """Path counts and distances from a root, inf where it does not lead."""
        weights = lengths(A, directed=directed) if self.weighted else None
        _, _, counts, dist = reference._search(*adjacency(A, directed=directed), weights, int(root))
        dist = np.array(dist, float)
        return np.array(counts, float), np.where(dist < 0, np.inf, dist)

    def by_the_oracle(self, A, roots, omega, *, directed=True):
        """Raw sums, a root at a time, of the columns that have targets."""
        edges = *adjacency(A, directed=directed), lengths(A, directed=directed) if self.weighted else None
        total = {"dependency": 0.0, "stress": 0.0, "edges": 0.0}
        functions = {"dependency": reference.brandes, "stress": reference.stress, "edges": reference.edge_scores}
        for column in np.flatnonzero(omega.any(axis=0)):
            for name, function in functions.items():
                part = function(*edges, sources=[int(roots[column])], target_weights=omega[:, column].tolist())
                total[name] = total[name] + np.array(part, float)
        return total
