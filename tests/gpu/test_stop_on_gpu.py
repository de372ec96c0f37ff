"""`stop=` ends what a GPU sweeps, by whichever method, from another thread."""

import threading

import numpy as np
import pytest
from strategies import grid, scale_free, with_lengths

import lagbc

ROWS = [row for row in lagbc.METHODS if row.device == "cuda" and row.available]
pytestmark = pytest.mark.skipif(not ROWS, reason="CuPy sees no GPU")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name}-{row.weighted}")
def test_a_method(row, tmp_path):
    A, event, path = with_lengths(scale_free(3000, 20000, seed=1), [1, 2]), threading.Event(), tmp_path / "run"
    options = {"method": row.name, "device": "cuda", "weighted": row.weighted, "reduce": "none"}

    def report(progress):
        thread = threading.Thread(target=event.set)
        thread.start()
        thread.join()

    with pytest.raises(lagbc.StoppedError, match="holds what is summed so far"):
        lagbc.bc(A, batch=256, stop=event, progress=report, checkpoint=path, **options)
    assert 0 < np.load(path)["done"].sum() < A.shape[0]
    np.testing.assert_allclose(
        lagbc.bc(A, batch=256, checkpoint=path, **options), lagbc.bc(A, batch=256, **options), rtol=1e-12
    )


def test_while_a_kernel_runs():
    """Of one batch, that takes some 0.1 s at least: the timer sets the event while it is swept, or before."""
    A, event = grid(300, 300), threading.Event()
    timer = threading.Timer(0.05, event.set)
    timer.start()
    with pytest.raises(lagbc.StoppedError):
        lagbc.bc(A, batch=4096, device="cuda", method="batched", reduce="none", stop=event)
    timer.join()
