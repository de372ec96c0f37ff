"""Constants of the reductions that were measured: what each trades, and where it was measured."""

# A block with at most so many vertices, and at most so much work (roots x stored edges), is computed by one search from
# each root; a larger one is left to a method. With one thread a call of `batched` took 1.0 to 2.6 times as long on
# blocks of 60 and 200 vertices, 0.7 to 3.1 times on others of work 4e5 to 2.5e6, and 0.5 to 1.0 times beyond. Path
# counts of so few vertices are far from the ends of float64. Results: blocks.md, by ``python -m benchmarks.blocks``.
SMALL_VERTICES = 600
SMALL_WORK = 2**21
# Work of small blocks between two times that a caller can stop: 20 ms in hops, up to 100 with lengths. A block costs as
# much as so much work, besides its own.
SLICE_WORK = 2**21
BLOCK_WORK = 500
# Steps along the arcs between strong components, over roots x stored edges: a directed graph in which they may be more
# is swept as it is. Networks had at most 0.014, and took a fifth of a second at most.
MOST_STEPS = 0.05
# So many are taken whatever the work: some 20 ms.
FEW_STEPS = 2**24
# A run is looked at from so many roots on, and so many roots x stored edges: finding the blocks takes as long as a few
# dozen roots on a CPU, and is done there for a GPU, too.
LEAST_ROOTS = {"cpu": 256, "cuda": 16384}
LEAST_WORK = 2**20
# It is reduced if at most this part of the work is left.
MOST_LEFT = 0.9
# What chains take, in roots x stored edges of a sweep of the block: an edge of a sweep with lengths, on graphs of few
# levels and of many, and an evaluation of the streams. Those of a GPU are estimates: of edges of few levels, from the
# costs of its methods, where they are swept in one launch for chains alone; of many, from usroads, which lost 1.2 times
# with 0.69 of the work left by a factor of 3; of evaluations, from their loads.
LENGTHS_FACTOR = {"cpu": (2.0, 2.0), "cuda": (12.0, 4.5)}
STREAM_FACTOR = {"cpu": 0.5, "cuda": 0.2}
