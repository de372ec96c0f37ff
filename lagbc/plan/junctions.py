"""How many junctions of a contracted block are swept together, and which sums they have."""

from __future__ import annotations

from lagbc.methods.contract import Batching
from lagbc.reduce.chains import Contracted

# Most roots of a group, which share the columns of far ends, and most bytes of their distances; the least is a block.
GROUP, _BLOCK = 256, 64
_GROUP_BYTES = 2**27
# The same on a GPU, where a group has as many roots as its distances have room for.
_GPU_BLOCK, _GPU_GROUP_BYTES = 256, 2**31
# What a method is asked for.
ADDED = frozenset({"dependency", "edges"})


def group_size(contracted: Contracted, device: str = "cpu") -> int:
    """Return how many roots are a group where memory allows it, by the graph alone; a multiple of the method's block.

    On a GPU the groups are about as large as each other.
    """
    if device == "cuda":
        roots = len(contracted.roots)
        groups = -(-8 * contracted.graph.n * roots // _GPU_GROUP_BYTES)
        return -(-roots // (groups * _GPU_BLOCK)) * _GPU_BLOCK
    blocks = min(GROUP, _GROUP_BYTES // (8 * contracted.graph.n)) // _BLOCK
    return _BLOCK * max(1, blocks)


def widths(batching: Batching, size: int) -> tuple[int, int]:
    """Return how many roots of a group, and how many far ends, are swept at a time."""
    return (batching.block, batching.block) if batching.concurrent else (size, batching.round(-(-size // 4)))
