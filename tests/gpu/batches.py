"""One batch through a method's module: `search` for what is swept at once, `sweep` for what may come apart."""

from contextlib import contextmanager
from types import SimpleNamespace

from lagbc.methods.sums import Sums

# The sums that the batched methods are tested for.
EVERYTHING = frozenset({"dependency", "stress", "reached", "distance", "inverse", "edges", "depth"})


def search(module, state, roots):
    """The levels of a batch, all of which are found at once."""
    (levels,) = module.forward(state, roots)
    return levels


def sweep(module, state, roots, sums):
    """Add what the roots of a batch sum to; the levels, one after the other, each swept backward before the next."""
    found = []
    for levels in module.forward(state, roots):
        module.backward(state, levels, sums)
        found.append(levels)
    return found


def dependency_of(cupy, module, roots, n):
    """The zero sums of a batch of so many roots: a row a block, all of which together are what they sum to."""
    return Sums(dependency=cupy.zeros((module.batching.rows(0, max(1, roots)).stop, n)))


@contextmanager
def peak_of(cupy):
    """Most bytes of the device that arrays take at a time."""
    pool, peak = cupy.cuda.MemoryPool(), SimpleNamespace(bytes=0)

    class Watch(cupy.cuda.MemoryHook):
        name = "watch"

        def malloc_postprocess(self, **allocated):
            peak.bytes = max(peak.bytes, pool.used_bytes())

    with cupy.cuda.using_allocator(pool.malloc), Watch():
        yield peak
