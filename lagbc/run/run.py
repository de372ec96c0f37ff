"""One run, as all public functions make it: choose a method, fit it into memory, sweep."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import MemoryWarning
from lagbc.graph.graph import Graph
from lagbc.graph.tuning import HOST_EDGES
from lagbc.graph.validate import is_cupy
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import Method, choose
from lagbc.run import memory
from lagbc.run.arguments import check_dtype, parse_batch, parse_threads, parse_tolerance, parse_width
from lagbc.run.checkpoint import open_checkpoint
from lagbc.run.sweep import Reporter, sweep


class Options(TypedDict, total=False):
    """How a run is carried out; `lagbc.bc` says what each of them means."""

    method: str
    device: str
    dtype: str
    rtol: float
    bucket_width: float | str
    progress: bool | Reporter
    checkpoint: str | os.PathLike[str] | None
    threads: int | None


@dataclass(frozen=True, eq=False)
class Run:
    """What a run summed, on the host.

    Attributes
    ----------
    sums : Sums
    roots : ndarray of int64
        A checkpoint may hold others than were drawn for this call.
    method : Method
    plan : SweepPlan
    """

    sums: Sums
    roots: NDArray[np.int64]
    method: Method
    plan: SweepPlan


def run(
    graph: Graph,
    outputs: frozenset[str],
    roots: NDArray[np.int64],
    *,
    batch: int | str,
    sampled: bool = False,
    redraw: bool = False,
    endpoints: bool = False,
    omega: NDArray[np.float64] | None = None,
    multiplicity: NDArray[np.float64] | None = None,
    method: str = "auto",
    device: str = "auto",
    dtype: str = "float64",
    rtol: float = 0.0,
    bucket_width: float | str = "auto",
    progress: bool | Reporter = False,
    checkpoint: str | os.PathLike[str] | None = None,
    threads: int | None = None,
) -> Run:
    """Sum over roots. To be called by a public function itself, which warnings then point above.

    Parameters
    ----------
    graph : Graph
    outputs : frozenset of str
        The sums asked for: names of fields of `lagbc.methods.sums.Sums`.
    roots : ndarray of int64
        Distinct vertices.
    sampled, redraw : bool
        Whether the roots are a random sample, and whether one that a checkpoint holds is as good.
    endpoints, omega, multiplicity : as in `SweepPlan`
    batch, method, device, dtype, rtol, bucket_width, progress, checkpoint, threads : as for `lagbc.bc`
    """
    asked, most = parse_batch(batch), parse_threads(threads)
    row = choose(graph, method=method, device=device, roots=len(roots), outputs=outputs).method
    placed = graph.on_device if row.device == "cuda" and graph.nnz > HOST_EDGES else graph
    needed = memory.fit(placed, row, asked, most, len(roots), outputs)
    if needed.is_over and device == "auto" and row.device == "cuda":
        placed, row = graph, choose(graph, method=method, device="cpu", outputs=outputs).method
        needed = memory.fit(placed, row, asked, most, len(roots), outputs)
    check_dtype(dtype, row)
    tolerance, width = parse_tolerance(rtol, row), parse_width(bucket_width, row)
    memory.require(needed)
    if asked is not None and needed.batch < row.round_batch(min(asked, max(len(roots), 1))):
        warnings.warn(f"batch={asked} is over the memory budget; taking {needed.batch}", MemoryWarning, stacklevel=3)
    plan = SweepPlan(
        batch=needed.batch,
        threads=needed.threads,
        # Weights of targets may leave the range of float32, and so may what stress counts.
        dtype="float64" if omega is not None or "stress" in outputs else dtype,
        endpoints=endpoints,
        omega=omega,
        multiplicity=multiplicity,
        rtol=tolerance,
        bucket_width=width,
        sums=outputs,
        roots=len(roots),
        method=row.name,
    )
    resumed = None
    if checkpoint is not None:
        resumed = open_checkpoint(checkpoint, placed, row, plan, roots, sampled=sampled, redraw=redraw)
        roots = resumed.roots
    sums = sweep(placed, row, plan, roots, report=progress, checkpoint=resumed)
    return Run(sums, roots, row, plan)


def on_device_of(A: Any, scores: Any) -> Any:
    """Return an array of the host as one of the device that a CuPy matrix `A` is on; else as it is."""
    if not is_cupy(A):
        return scores
    import cupy

    return cupy.asarray(scores)
