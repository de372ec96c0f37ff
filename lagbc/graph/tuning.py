"""Constants of the graph's orders that were measured: what each trades, and where it was measured."""

# A BFS deeper than this many times log2(n) marks a mesh or a road network; see `Graph.has_high_diameter`.
HIGH_DIAMETER = 2.0
# A graph given on the host, with up to so many edges, is ordered there also for the GPU. The order of 2**18 mesh
# vertices takes 2 s on the host, and 0.3 s on an H100; but there 30 s the first time, when CuPy compiles its kernels.
HOST_EDGES = 2**20
# Coordinates of a vertex in `proximity_order`: 4 left a row live at 20 % more levels on a mesh, 16 at none less.
LANDMARKS = 8
# Power iterations that find the principal axis of a piece.
POWER_STEPS = 4
# Hubs whose distances group the roots, at most 16: on R-MAT graphs 8 gained two thirds as much, 64 a tenth more.
HUBS = 16
# Levels that are searched for them. The graphs for which it is done have less, but where edges have directions.
HUB_LEVELS = 64
