"""The kernels of the traversals."""

from lagbc.cuda.compiler import Source
from lagbc.cuda.kernel import Program
from lagbc.methods.gpu.common.kernels import COMMON, GROUP, VALUES, Kernels

_HERE = "methods/gpu/traversal"
# Bytes of a depth.
DEPTH_BYTES = (1, 2, 4)
_SCAN = (COMMON, VALUES, GROUP, f"{_HERE}/search.cuh", f"{_HERE}/scan.cuh")
_QUEUE = (COMMON, VALUES, f"{_HERE}/search.cuh", f"{_HERE}/queue.cuh")

HOPS = {
    name: Kernels(Source(f"{_HERE}/{name}.cu", headers), depth_bytes=DEPTH_BYTES)
    for name, headers in (
        ("node_parallel", _SCAN),
        ("edge_parallel", _SCAN),
        ("work_efficient", _QUEUE),
        ("active_edge", _QUEUE),
    )
}
_LENGTHS = (COMMON, VALUES, f"{_HERE}/lengths.cuh")
# By the variants of the method.
DIJKSTRA = {
    variant: Kernels(Source(f"{_HERE}/{name}.cu", _LENGTHS), resident=("DIJKSTRA",))
    for variant, name in (("work-efficient", "dijkstra"), ("node-parallel", "dijkstra_node_parallel"))
}
ROOTS = Program(Source(f"{_HERE}/roots.cu", (COMMON,)))

KERNELS: tuple[Kernels | Program, ...] = (*HOPS.values(), *DIJKSTRA.values(), ROOTS)
