"""A call leaves no memory of the GPU in use when it returns, before garbage is collected."""

import gc

import pytest
from strategies import grid, scale_free, with_lengths

import lagbc

GRAPHS = {
    "scale-free": (scale_free(2000, 12000, seed=1), {}),
    "mesh": (grid(30, 40), {}),
    "lengths": (with_lengths(grid(30, 40), [1, 2, 3]), {"weighted": True}),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("options", [{}, {"reduce": "all"}, {"device": [0, 0]}], ids=["one", "reduced", "two"])
def test_memory_is_free_again(cupy, name, options):
    (A, given), pool = GRAPHS[name], cupy.get_default_memory_pool()

    def run():
        lagbc.bc(A, directed=False, **{"device": "cuda", **given, **options})
        return pool.used_bytes()

    run()
    gc.collect()
    gc.disable()
    try:
        before = pool.used_bytes()
        assert [run(), run()] == [before, before]
    finally:
        gc.enable()
