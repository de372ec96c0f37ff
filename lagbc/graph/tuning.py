"""Measured constants of the graph's orders: the trade of each, and the machine and graphs of its measurement.

``python -m benchmarks.tune`` measures them again, with the constants of `lagbc.methods.tuning`.
"""

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
