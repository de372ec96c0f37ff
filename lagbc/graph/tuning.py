"""Constants of the graph's orders that were measured: what each trades, and where it was measured.

``python -m benchmarks.tune`` measures them again, as those of `lagbc.methods.tuning`.
"""

# A BFS deeper than this many times log2(n) marks a mesh or a road network; see `Graph.has_high_diameter`.
HIGH_DIAMETER = 2.0
# A graph given on the host, with up to so many edges, is ordered there also for the GPU. Whole calls from 512 roots on
# an H200, ordered on the host by NumPy and on the device: a mesh of 49,000 edges 36 and 19 ms, R-MAT 12-16 16 and 5,
# R-MAT 14-16 53 and 6; the first call on a machine waits half a second for the kernels of the order.
HOST_EDGES = 2**15
# Coordinates of a vertex in `proximity_order`: 4 left a row live at 20 % more levels on a mesh, 16 at none less.
LANDMARKS = 8
# Power iterations that find the principal axis of a piece.
POWER_STEPS = 4
# Hubs whose distances group the roots, at most 16: on R-MAT graphs 8 gained two thirds as much, 64 a tenth more.
HUBS = 16
# Levels that are searched for them. The graphs for which it is done have less, but where edges have directions.
HUB_LEVELS = 64
