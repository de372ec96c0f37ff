"""Groups of junctions of a contracted bicomponent that are swept together, and their sums."""

from __future__ import annotations

from lagbc.methods.contract import Batching
from lagbc.reduce.chains import Contracted

# Most roots of a group on a CPU, which share the columns of far ends, and its least; most bytes of its distances.
GROUP, _BLOCK = 256, 64
_GROUP_BYTES = 2**27
# The same on a GPU, where the room for distances bounds a group.
_GPU_BLOCK, _GPU_GROUP_BYTES = 256, 2**31
# The sums that junctions need of a method.
ADDED = frozenset({"dependency", "edges"})


def group_size(contracted: Contracted, device: str = "cpu") -> int:
    """Return the roots of a group, by the graph alone: a multiple of the method's block, about equal on a GPU."""
    if device == "cuda":
        roots = len(contracted.roots)
        groups = -(-8 * contracted.graph.n * roots // _GPU_GROUP_BYTES)
        return -(-roots // (groups * _GPU_BLOCK)) * _GPU_BLOCK
    blocks = min(GROUP, _GROUP_BYTES // (8 * contracted.graph.n)) // _BLOCK
    return _BLOCK * max(1, blocks)


def widths(batching: Batching, size: int) -> tuple[int, int]:
    """Return how many roots of a group, and how many far ends, are swept at a time."""
    return (batching.block, batching.block) if batching.concurrent else (size, batching.round(-(-size // 4)))
