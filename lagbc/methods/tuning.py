"""Constants that were found by measuring, of all methods and of the loop: what each trades, where, and how to measure.

They change the time and never a bit of the result, except as the last section says. Each is read where it is used, so
that a benchmark may set another value in this module. Results are in ``benchmarks/results``.
"""

# ---- batched on the CPU, in hops and with lengths

# Queue entries a vertex that are allocated at first; the queue doubles on demand, up to an entry a column. More takes
# memory that scale-free graphs (1 to 4 entries a vertex) do not use, less copies the queue once more on meshes.
BATCHED_FIRST_ENTRIES = 4
# Pull once the edges out of the frontier are more than this share of all; the second is for deep graphs. On scale-free
# graphs 0.03 to 0.12 were alike, and 0.2 took 5 % longer on one; on meshes and grids 0.12 took up to 19 % longer than
# 0.2. Results: cpu_batched_variants.md.
BATCHED_PULL_SHARE, BATCHED_DEEP_PULL_SHARE = 0.1, 0.2
# The default width of a bucket, in mean lengths: wider relaxes more edges in vain, narrower has more phases. On
# scale-free graphs 0.1 to 0.5 were alike, and 2 took up to 1.9 times as long; on deep graphs, for which the second is,
# 1 to 4 were alike, and 0.25 took up to 1.6 times as long. Results: cpu_weighted_variants.jsonl, by
# ``python -m benchmarks.cpu_weighted_variants``.
BATCHED_WIDTH, BATCHED_DEEP_WIDTH = 0.25, 2.0
# The same for the order in which rows are counted: wider reads a row more often, in fewer columns each time; on
# scale-free graphs 0.5 was as good. Same results and command.
BATCHED_COUNT_WIDTH = 2.0

# ---- graphblas

# Hops: pull from a matrix that fills more than this share of its places: 0.05 to 0.2 were alike, and never pulling was
# slower on R-MAT graphs. Results: graphblas_orientation.md, which also has the vertex-major layout that lost, by
# ``python -m benchmarks.graphblas_orientation``.
GRAPHBLAS_PULL_SHARE = 0.1
# Lengths: a bucket is this many mean lengths over the mean degree wide, unless its width is given. On five kinds of
# graphs 4 and 64 took 0.9 to 1.2 times as long, 1 up to 2.0 times, and all edges light up to 1.9 times. Results:
# graphblas_weighted.md, by ``python -m benchmarks.graphblas_weighted``.
GRAPHBLAS_WIDTH_FACTOR = 16.0

# ---- The loop over the roots of all methods

# Seconds between two writes of a checkpoint: fewer lose less work to a kill and write the sums more often.
CHECKPOINT_SECONDS = 5.0
# Roots from which they are grouped on graphs of few levels. On the CPU that took as long as 30 to 2000 of them gained.
# Another number is another order of the sums. Results: root_order.md, by ``python -m benchmarks.root_order``.
GROUPED_ROOTS = 1024
# Roots of a chunk on each device: 16 blocks of 64 or of 256, so that the widest batch of a GPU by default is a chunk. A
# longer one is more work for whoever has the last, where chunks are shared out; a shorter one adds the sums of all
# vertices up more often, a 16th of the additions of the blocks. Another length is another order of the sums.
CHUNK_ROOTS = {"cpu": 1024, "cuda": 4096}
