"""Arrays that are stated, and allocated."""

import numpy as np
import pytest

from lagbc.methods.arrays import FLOAT, NARROW, Array, allocate


@pytest.mark.parametrize("fill", [None, 0, 7])
def test_large_arrays_begin_with_a_cache_line(fill):
    """NumPy's begin with one by chance, or 16, 32 or 48 bytes behind it."""
    stated = {f"{dtype}{n}": Array((n, 64), dtype, fill) for n in range(130, 160) for dtype in (FLOAT, NARROW)}
    made = allocate(np, {"rows": stated, "few": Array((3,), FLOAT, fill)})
    for name, array in made["rows"].items():
        assert array.ctypes.data % 64 == 0
        assert (array.shape, array.dtype, array.flags.c_contiguous) == (*stated[name][:2], True)
        assert fill is None or (array == fill).all()
    assert fill is None or made["few"].tolist() == [fill] * 3
