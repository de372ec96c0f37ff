"""Constants of the reductions that were measured: what each trades, and where it was measured."""

# A block of at most so many vertices, whose roots x stored edges are at most so many, is computed at once by one search
# from each root; a larger one is left to a method.
SMALL_VERTICES = 600
SMALL_WORK = 2**24
# Roots x stored edges of the small blocks that are computed between two looks at the clock: some 50 ms.
SLICE_WORK = 2**24
# A run is looked at from so many roots on, and so many roots x stored edges: finding the blocks takes as long as a few
# dozen roots on a CPU, and is done there for a GPU, too.
LEAST_ROOTS = {"cpu": 256, "cuda": 16384}
LEAST_WORK = 2**20
# It is reduced if at most this part of the work is left.
MOST_LEFT = 0.9
