"""Measured constants of all rooms: the trade of each, the place of its measurement, and the command.

They change the time, and of scores the last bits at most: only constants of orders, reductions and the loop do that.
Each is read where it is used, so that a benchmark may set another value in this module. ``python -m benchmarks.tune``
does so for all constants that the machine can measure, and prints today's best; a rule whose gain is below 1.3 on every
graph is not kept. Results are in ``benchmarks/results``, the command's own in tune.md.
"""

# ---- The orders of a graph

# A breadth-first search deeper than this times log2(n) marks a mesh or a road network; see `Graph.has_high_diameter`.
HIGH_DIAMETER = 2.0
# Vertices and entries of a graph up to which one kernel finds transpose, depth and order while the graph is read. Of
# karate (190) it takes nothing more, and saves 70 us of finding them one by one. It is lost where pieces alone are
# swept: of netscience (6,945) calls took 1.0 to 1.08 times as long with it.
SURVEYED = 2**12
# A graph given on the host, with at most so many edges, is ordered there for the GPU, too. Whole calls from 512 roots
# on an H200, ordered on the host by NumPy and on the device: a mesh of 49,000 edges 36 and 19 ms, R-MAT 12-16 16 and
# 5 ms, R-MAT 14-16 53 and 6 ms; the first call on a machine waits half a second for the kernels of the order.
HOST_EDGES = 2**15
# Coordinates of a vertex in `proximity_order`: 4 left a row live at 20 % more levels on a mesh, 16 at none less.
LANDMARKS = 8
# Power iterations that find the principal axis of a piece.
POWER_STEPS = 4
# Hubs whose distances group the roots, at most 16: on R-MAT graphs 8 gained two thirds as much, 64 a tenth more.
HUBS = 16
# Levels of the searches from hubs. Undirected graphs whose roots hubs group have fewer levels.
HUB_LEVELS = 64

# ---- batched on the CPU, in hops and with lengths

# Pull once the edges out of the frontier are more than this share of all. A pull reads every unvisited row, a push only
# the edges of the frontier, but its rows are visited twice. On scale-free graphs 0.03 to 0.2 were alike within the
# noise, and never pulling took 1.2 to 1.6 times as long; on meshes and grids 0.1 took up to 1.2 times as long as 0.2.
# Results: cpu_batched_variants.md, tune.md.
BATCHED_PULL_SHARE = 0.1
# Rows that a rank of a grid multiplies and folds at a time, whose sums it holds. More are fewer messages.
GRID_SLICE = 4096
# Levels in which a vertex is found by some root of a batch, as counted beforehand; of more the budget has to have room.
# A graph whose vertices all have few edges, both ways together, may be a mesh, where each root finds it in another one.
GRID_LEVELS, GRID_FEW_EDGES = 6, 64
# Rows of a slice on a GPU, whose launches need more, and the most groups of 256 roots of a batch: the host takes about
# as long for a level of four as for one of one. Results: grid_gpu.md.
GRID_SLICE_ON_GPU = 2**20
GRID_GROUPS = 4
# The default width of a bucket, in mean lengths: wider relaxes more edges in vain, narrower has more phases. On
# scale-free graphs 0.1 to 0.5 were alike, 1 took up to 1.2 (in one of five runs 1.4) and 2 up to 1.9 times as long; on
# meshes and roads 1 to 4 were alike, 0.5 took up to 1.3 and 0.25 up to 1.6 times as long. Results: tune.md.
BATCHED_WIDTH = 1.0
# The width of a bucket in the order in which rows are counted: wider reads a row more often, in fewer columns each
# time. 1 to 4 were alike; 0.5 took up to 1.5 times as long on a network of co-authors, infinity up to 2 on meshes. The
# results are the same. In hops, where the diameter is high, it is in levels: 1 to 4 were alike, 0.5 and 8 took up to
# 1.5, infinity 3 times.
BATCHED_COUNT_WIDTH = 2.0

# ---- dijkstra

# Most buckets of the queue, each as wide as the shortest edge, that hold the longest edge; beyond them the queue is a
# heap. With integers 1 to 1000 buckets were as fast as the heap or 1.5 times, with 1 to 10,000 on small networks a
# third as fast, as most of them are empty. See cpu_traversal_lengths.md.
TRAVERSAL_BUCKETS = 512

# ---- graphblas

# Hops: pull from a matrix that fills more than this share of its places: 0.05 to 0.2 were alike, and never pulling was
# slower on R-MAT graphs. Results: graphblas_orientation.md, which also has the vertex-major layout that lost, by
# ``python -m benchmarks.graphblas_orientation``.
GRAPHBLAS_PULL_SHARE = 0.1
# Lengths: unless its width is given, a bucket is wide by this many mean lengths over the mean degree. On five kinds of
# graphs 4 and 64 took 0.9 to 1.2 times as long, 1 up to 2.0 times, and all edges light up to 1.9 times. Results:
# graphblas_weighted.md, by ``python -m benchmarks.graphblas_weighted``.
GRAPHBLAS_WIDTH_FACTOR = 16.0

# ---- All kernels on the GPU
#
# benchmarks/results/gpu_hubs.md, gpu_deep_variants.md and gpu_weighted_variants.md.

# Thread blocks of 256 threads that shall be resident on a multiprocessor, to which the compiler limits registers: more
# of them hide more of the latency of loads, fewer leave each thread more registers. For kernels of DELTA with SUMS,
# it is the most at which the compiler keeps all in registers.
#   python -m benchmarks.gpu_weighted_variants   (DELTA, DELTA_ONE_LAUNCH)
#   python -m benchmarks.gpu_centralities        (LEVELS_STRESS, LEVELS_EDGES)
#   python -m benchmarks.gpu                     (the others; gpu_deep_variants.md has FORWARD and BACKWARD)
RESIDENT = {
    "LEVELS": 5,
    "LEVELS_STRESS": 4,
    "LEVELS_EDGES": 3,
    "FORWARD": 5,
    "BACKWARD": 6,
    "BACKWARD_SUMS": 4,
    "DIJKSTRA": 1,
    "DELTA": 4,
    "DELTA_SUMS": 2,
    "DELTA_ONE_LAUNCH": 6,
    "DELTA_ONE_LAUNCH_SUMS": 4,
}
# Bytes of a row that a lane has at most, in the kernels that take a launch a level: a wide lane reads the edges of a
# row fewer times, a narrow one has room for more edges in flight.
#   python -m benchmarks.gpu_weighted_variants
OWN_BYTES = {
    "batched/launch_per_level_forward": 32,
    "batched/launch_per_level_backward": 32,
    "batched/block": 64,
    "delta_stepping/launch_per_round": 64,
}
# Where edges are summed, a warp has whole rows, and an edge's sum one owner: else its bits would depend on the order.
#   python -m benchmarks.gpu_centralities
EDGES_OWN_BYTES = 64
# Rows with more edges than a share of all get a thread block, within bounds: on a small graph a warp with 1024 edges
# ends long after all others, on a large one a thread block is idle in most short rows.
#   python -m benchmarks.gpu_hubs
HUB_SHARE = 1 / 4096
HUB_EDGES = 256, 1024
# Thread blocks a multiprocessor of a launch whose warps take many rows each: enough that none is idle, and so few that
# the sum of each block at its end does not count.
STRIDING_BLOCKS = 8

# ---- batched, on the GPU
#
# benchmarks/results/gpu.md; python -m benchmarks.gpu --methods batched

# A sweep by launches keeps a bit row a vertex and level; groups of more levels than this are swept in one launch, which
# takes less memory and waits less between levels, but takes longer for a level with most vertices.
HOPS_MOST_LEVELS = 96
# A level is small if so many times the edges that leave it are no more than all rows: then a launch of its own marks
# the rows that they touch, and no others are visited.
SMALL_LEVEL = 8
# First queue entries of a sweep in one launch: so many a row, times the root of the count of levels between the roots
# of a group. On 14 road networks and meshes of depth 32 to 951 rows had 5 to 19 times that root, by 256 to 4096 random
# roots and by all; all but two of them at most 12. The queue grows by half on demand, and the batch is swept again each
# time; unused entries are memory that a wider batch could have.
HOPS_FIRST_ENTRIES = 12.0

# ---- delta-stepping, on the GPU
#
# benchmarks/results/gpu_weighted_variants.md; python -m benchmarks.gpu_weighted_variants

# Width of the window in mean lengths, if the user gives none: a wide one settles more vertices a round, some of them
# more than once.
WINDOW_WIDTH = 4.0
# Most rounds of `window`, which keeps a bit row a vertex for each; groups with more are swept in one launch. Schedules
# for whole lengths of a few units, and for similar lengths, gained too little. Results: dial.md, threshold.md.
MOST_ROUNDS = 64
# As HOPS_FIRST_ENTRIES: with lengths from 1 to 10, rows of 7 such graphs had 6 to 12.5 times the root.
DELTA_FIRST_ENTRIES = 14.0
# Landmark pruning: graphs with fewer edges are swept whole, since a launch takes longer than their edges; runs from
# fewer roots, too, since the search for the edges takes about as long as 256 roots. Where more than a share of the
# edges is kept, all are: copying the graph takes time, too.
PRUNING_LEAST_EDGES = 2**17
PRUNING_LEAST_ROOTS = 512
PRUNING_MOST_KEPT = 0.9

# ---- The traversals, on the GPU
#
# benchmarks/results/gpu_traversal.md; python -m benchmarks.gpu --methods work-efficient,hybrid,edge-parallel

# Threads of a thread block, at most 1024. A thread block has a root: wide ones have fewer roots under way, whose rows
# fit a cache. With lengths 128 threads, and so 16 roots a multiprocessor, took 4 to 15 times as long as 512 on meshes
# and roads.
TRAVERSAL_THREADS = 512
# Hybrid: this many roots or more are sampled; a median depth below so many times log2(n) picks edge-parallel. The
# figures are McLaughlin and Bader's.
SAMPLE, GAMMA = 512, 4.0

# ---- The highest scores

# Edges that searches for the highest scores may look at, or are foreseen to by a 16th of them, as a share of those of a
# sweep, before all is swept. On the five largest networks they looked at .1 to 12 %, on meshes and roads of 5,000 to
# 49,000 vertices at 7 to 22 %, in .3 to .65 of the time of all. To search on took 1.1 to 1.3 of that time at a share of
# 75 %, and 1.1 to 1.6 on grids with holes, at 130 %: these take 1.03 where they are given up at 5 to 8 %.
PRUNED_SHARE = 1 / 3
# Where the diameter is high: most landmarks, as a share of the vertices. Each takes as long as 3 to 15 roots. Eight
# road networks and meshes of 8,000 to 264,000 vertices took .2 to 2.8 %.
LANDMARKS_SHARE = 1 / 32

# ---- The choice of a method

# Roots times nnz from which a run goes to the GPU: below it, a CPU is done before the GPU has begun. An H100 was level
# with 16 cores at 1e7 (5 ms a run) once CuPy was loaded and the kernels compiled, which takes about a second: at 1e8 it
# gained 3 times, at 4e9 11 times. ``python -m benchmarks.gpu`` and ``python -m benchmarks.run`` time either.
GPU_WORK = 1e8
# Roots times nnz for each thread of the CPU, where no number is asked for: some 5 to 10 ms. Handing over batches takes
# time, as threads wait for the interpreter: from all roots, netscience (8e6) took 4.6 ms on one thread, 8.2 on two and
# 13 on four; email-Eu-core (2e7) 14 ms on one, 8 on two. A run of no more work, on one thread, is swept in the calling
# thread.
THREAD_WORK = 1e7
# Roots times nnz below which a probe would be felt: then a method of this formulation is taken. On a GPU such a run is
# mostly launches, and a traversal has few.
PROBE_WORK = 1e6
OF_SMALL_RUNS = {"cpu": "semiring", "cuda": "traversal"}
# A probe ends when it has looked at this share of roots times nnz edges. On an H200 it took 0.4 to 10 ms, 5 to 18 % of
# calls from 64 to 1024 random roots of a mesh, a road-like and an R-MAT graph of 2**15 to 2**17 vertices.
PROBE_SHARE = 1 / 16
# A probe has a search for each so many roots, up to eight, at even distances along the run. In web-NotreDame, directed,
# the roots in the middle of the run reach 0.3 % of the pages, all roots 39 %: by one search a CPU took a method three
# to four times as slow. Four or more places of a long run tell the same, two of 2048 roots; a search of 64 roots is at
# most 6 % of the sweeps of 1024.
PROBE_ROOTS, PROBE_SEARCHES = 1024, 8
# Milliseconds of a run for each of the terms of `lagbc.planning.choose.terms`, on a CPU by one thread. Results:
# choice-cpu.md and choice-cuda.md, by ``python -m benchmarks.choice``, which fits them again. On a CPU, of 54 networks,
# the chosen method takes in the mean 1.003 times as long as the best one in hops and 1.004 times with lengths, at worst
# 1.17 and 1.31 times; by the former constants, of up to nine terms, 1.012 times, at worst 1.97 and 1.83. Counts of rows
# beyond the cache, and of columns that lie apart, gained 0.001, and went. On an H100, with lengths: 1.007, worst 1.41.
COSTS: dict[tuple[str, str, bool], dict[str, float]] = {
    ("batched", "cpu", False): {
        "batch_level": 0.102,
        "group_row": 0.000256,
        "visit": 4.02e-05,
        "level_visit": 0.000115,
        "edge": 1.15e-05,
    },
    ("work-efficient", "cpu", False): {
        "run": 0.675,
        "group_level": 0.0427,
        "group_row": 2.45e-05,
        "pair": 2.82e-05,
        "pair_edge": 3.12e-06,
    },
    ("batched", "cpu", True): {
        "batch_level": 0.126,
        "group_row": 0.000537,
        "visit": 4.52e-05,
        "edge": 1.61e-05,
        "pair": 1.78e-05,
    },
    ("dijkstra", "cpu", True): {
        "run": 0.196,
        "group_level": 0.144,
        "group_row": 7.77e-05,
        "pair": 6.02e-05,
        "pair_edge": 5.13e-06,
    },
    ("batched", "cuda", False): {
        "run": 2,
        "batch_level": 0.033,
        "group_level": 0.0011,
        "launch_level": 0.21,
        "group_row": 4.4e-06,
        "visit": 8.5e-07,
        "level_visit": 5.4e-07,
        "edge": 5.1e-08,
    },
    ("work-efficient", "cuda", False): {
        "run": 2.4,
        "group_level": 0.016,
        "group_row": 6.9e-06,
        "level_visit": 1.7e-06,
        "pair": 1.8e-07,
        "pair_edge": 3e-08,
    },
    ("delta-stepping", "cuda", True): {
        "run": 4.6,
        "batch_level": 0.037,
        "launch_level": 0.67,
        "pruned": 6.1,
        "group_row": 8e-05,
        "visit": 3.1e-06,
        "edge": 2.9e-07,
    },
    ("dijkstra", "cuda", True): {
        "run": 2.4,
        "batch_level": 0.01,
        "group_level": 0.013,
        "launch_level": 0.069,
        "group_row": 1.8e-05,
        "pair": 4.1e-07,
        "pair_edge": 2.9e-08,
    },
}

# ---- Reductions

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
# and took three times as long as the true ones. Most of the look runs on one thread, sweeps of a CPU on all: the choice
# assumes LOOK_THREADS, as it may not depend on the threads. Results: reduce_auto_cpu.md and reduce_auto_cuda.md, by
# ``python -m benchmarks.reduce_auto``.
LOOK_SHARE = 0.05
LOOK_MOST = {"cpu": 0.1, "cuda": 0.25}
LOOK_OF_SAVED = 0.25
LOOK_THREADS = 2
# Roots times nnz below which no run looks: a quarter of the sweeps that are predicted is less than the 0.3 ms of the
# shortest look, unless most vertices have no edges.
LEAST_LOOKED_AT = 1e5
# A look of up to a millisecond may take this share: most networks that took 1 to 4 ms took longer with a look.
SHORT_LOOK = 1e6
SHORT_SHARE = 0.25
# The reach of roots is searched for until one edge in so many is looked at: it is of use only where it is small. Then a
# root takes at least so many nanoseconds, on any number of threads. With 4,096 roots of a directed graph of 10**6
# vertices, where each root reaches some ten, the look took ten times as long as the sweeps.
REACH_SHARE = 8
LEAST_OF_ROOT = 4e3
# Nanoseconds of a look: 17 networks and generated graphs took 0.5 to 1.4 times as long on an EPYC, and 2.1 times where
# a bicomponent was contracted. An edge takes 16 in the cache, 30 and more far beyond it.
LOOK_COSTS = {"run": 3e5, "vertex": 200.0, "edge": 20.0, "directed_edge": 40.0}
# Nanoseconds of a root and a stored edge in sweeps on a GPU, by whether edges have lengths and the diameter is high:
# estimates from R-MAT 20-16, Delaunay and road-like graphs on an H200.
GPU_EDGE = {(False, False): 0.0025, (False, True): 0.03, (True, False): 0.003, (True, True): 0.06}
# Factor of an edge's time in sweeps from junctions, about; see JUNCTION_COSTS.
FROM_JUNCTIONS = 4.0
# A graph is reduced if at most this part of the work remains.
MOST_LEFT = 0.9
# Costs of bicomponents, by device and whether edges have lengths; see `lagbc.reduce.pieces`. On a CPU they are in
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

# ---- Sums within cutoffs and decays

# Roots are summed in blocks where the ball of a block has at most so many times the vertices that each root reaches;
# else one by one. Another number is another order of the sums. Results: cutoff_part.md.
WITHIN_TOGETHER = 5.0

# ---- The loop over the roots of all methods

# Seconds between two writes of a checkpoint: fewer lose less work to a kill and write the sums more often.
CHECKPOINT_SECONDS = 5.0
# Roots from which they are grouped on graphs of few levels. On the CPU grouping took as long as 30 to 2000 of them
# gained. Another number is another order of the sums. Results: root_order.md, by ``python -m benchmarks.root_order``.
GROUPED_ROOTS = 1024
# Roots of a chunk on each device: 16 blocks of 64 or of 256, so that the widest batch of a GPU by default is a chunk. A
# longer one is more work for the hand with the last chunk; a shorter one adds the sums of all vertices up more often, a
# 16th of the additions of the blocks. Another length is another order of the sums.
CHUNK_ROOTS = {"cpu": 1024, "cuda": 4096}
