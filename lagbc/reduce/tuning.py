"""Constants of the reductions that were measured: what each trades, and where it was measured."""

# A block with at most so many vertices, and at most so much work (roots x stored edges), is computed by one search from
# each root; a larger one is left to a method. Both with one thread, against a call of `batched` on the CPU, random
# blocks of 60 and 200 vertices took 1/1.1 to 1/3.5 as long in hops and with lengths, of 600 vertices and work 1.6e6 to
# 2.9e6 from 1/1.3 to 1.1 as long; with work 4e6 and more dense ones took up to 5 times as long.
SMALL_VERTICES = 600
SMALL_WORK = 2**21
# Work of small blocks between two times that a caller can stop: 20 ms in hops, up to 100 with lengths. A block costs as
# much as so much work, besides its own.
SLICE_WORK = 2**21
BLOCK_WORK = 500
# A run is looked at from so many roots on, and so many roots x stored edges: finding the blocks takes as long as a few
# dozen roots on a CPU, and is done there for a GPU, too.
LEAST_ROOTS = {"cpu": 256, "cuda": 16384}
LEAST_WORK = 2**20
# It is reduced if at most this part of the work is left.
MOST_LEFT = 0.9
# What chains take, in roots x stored edges of a sweep of the block: an edge of a sweep with lengths, and an evaluation
# of the streams.
LENGTHS_FACTOR = 4.0
STREAM_FACTOR = 0.5
