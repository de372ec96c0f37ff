"""Measured constants of the reductions: the trade of each, and the place of its measurement."""

# A bicomponent of at most so many vertices, and of at most so much work (roots x stored edges), is computed by one
# search from each root; a larger one is left to a method. With one thread a call of `batched` took 1.0 to 2.6 times as
# long on bicomponents of 60 and 200 vertices, 0.7 to 3.1 times on others of work 4e5 to 2.5e6, and 0.5 to 1.0 times
# beyond. Path counts of so few vertices are far from the ends of float64. Results: blocks.md, by ``python -m
# benchmarks.blocks``.
SMALL_VERTICES = 600
SMALL_WORK = 2**21
# Work of small bicomponents between two times that a caller can stop: 20 ms in hops, up to 100 with lengths. A
# bicomponent costs as much as so much work, besides its own.
SLICE_WORK = 2**21
BLOCK_WORK = 500
# Steps along the arcs between strong components, over roots x stored edges: a directed graph with possibly more of them
# is swept whole. Networks had at most 0.014, and took a fifth of a second at most.
MOST_STEPS = 0.05
# So many steps are taken whatever the work: some 20 ms.
FEW_STEPS = 2**24
# A run looks at the structure of its graph where that takes at most LOOK_SHARE of the sweeps; up to LOOK_MOST where it
# takes LOOK_OF_SAVED at most of the sweeps that degrees and components promise to save. On a CPU roots that reach few
# vertices take far less than predicted: from 256 roots of higgs-reply a look of 10 ms was 0.23 of the predicted sweeps,
# and took three times as long as the true ones. The look runs on one thread, the sweeps of a CPU on all: the choice
# assumes LOOK_THREADS, as it may not depend on the threads. Results: reduce_auto_cpu.md and reduce_auto_cuda.md, by
# ``python -m benchmarks.reduce_auto``.
LOOK_SHARE = 0.05
LOOK_MOST = {"cpu": 0.1, "cuda": 0.25}
LOOK_OF_SAVED = 0.25
LOOK_THREADS = 2
# A look of up to a millisecond may take this share: most networks that took 1 to 4 ms took longer with a look.
SHORT_LOOK = 1e6
SHORT_SHARE = 0.25
# The reach of roots is searched for until one edge in so many is looked at: it is of use only where it is small. Then a
# root takes at least so many nanoseconds, on any number of threads. With 4,096 roots of a directed graph of 10**6
# vertices, each of which reaches some ten, the look took ten times as long as the sweeps.
REACH_SHARE = 8
LEAST_OF_ROOT = 4e3
# Nanoseconds of a look: 17 networks and generated graphs took 0.5 to 1.4 times as long on an EPYC, and 2.1 times where
# a bicomponent was contracted. An edge takes 16 in the cache, 30 and more far beyond it.
LOOK_COSTS = {"run": 3e5, "vertex": 200.0, "edge": 20.0, "directed_edge": 40.0}
# Nanoseconds of a root and a stored edge in sweeps on a GPU, by whether edges have lengths and the diameter is high:
# estimates from R-MAT 20-16, Delaunay and road-like graphs on an H200.
GPU_EDGE = {(False, False): 0.0025, (False, True): 0.03, (True, False): 0.005, (True, True): 0.06}
# Factor of an edge's time in sweeps from junctions, about; see JUNCTION_COSTS.
FROM_JUNCTIONS = 4.0
# A graph is reduced if at most this part of the work remains.
MOST_LEFT = 0.9
# Costs of bicomponents, by device and whether edges have lengths; see `lagbc.reduce.choice`. On a CPU they are in
# nanoseconds, fitted to the largest bicomponents of 40 networks on an Intel Xeon, above all where both ways take about
# equal time: a pair of root and vertex, with an addition for each level up to a maximum, and a pair of root and stored
# edge. Where rows are far beyond the cache a pair takes up to 1.6 times as long, so that the gain of chains is
# predicted too low there. Lengths of 64 bits take longer. On a GPU edges alone count. Results: block_costs.md, by
# ``python -m benchmarks.block_costs``, which fits them again.
BLOCK_COSTS = {
    ("cpu", False): {"pair": 8.3, "level": 0.039, "most": 13.0, "pair_edge": 0.36},
    ("cpu", True): {"pair": 10.5, "level": 0.0, "most": 10.5, "pair_edge": 1.0},
    ("cuda", False): {"pair": 0.0, "level": 0.0, "most": 0.0, "pair_edge": 1.0},
    ("cuda", True): {"pair": 0.0, "level": 0.0, "most": 0.0, "pair_edge": 1.0},
}
# The same from junctions, with the columns that they fill, and for an evaluation of the streams, which with lengths is
# a search. The GPU's are estimates: of edges, from usroads, which lost 1.2 times with 0.69 of the work left by a factor
# of 3; of evaluations, from their loads.
JUNCTION_COSTS = {
    ("cpu", False): {"pair": 32.0, "pair_edge": 2.9, "evaluation": 11.0},
    ("cpu", True): {"pair": 64.0, "pair_edge": 1.3, "evaluation": 19.0},
    ("cuda", False): {"pair": 0.0, "pair_edge": 4.5, "evaluation": 0.2},
    ("cuda", True): {"pair": 0.0, "pair_edge": 4.5, "evaluation": 0.2},
}
# Factor of an edge's time from junctions with few levels between them: on a GPU an estimate from the costs of its
# methods, as only chains are swept in one launch.
FEW_LEVELS = {"cpu": 1.0, "cuda": 12.0 / 4.5}
