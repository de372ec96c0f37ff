"""One competitor on one graph, in a process of its own, so that threads, libraries and peak memory are its own too.

``python -m benchmarks.worker DIRECTORY COMPETITOR THREADS`` reads ``DIRECTORY/case.npz`` (written by `save_case`),
warms up on a small graph and then computes once for every line on standard input. It answers in JSON lines: first
`Bench.ready`, then `Bench.run`. The scores of its first run go to ``DIRECTORY/COMPETITOR-THREADS.npy``.

Any interpreter that has NumPy, SciPy and the competitor's library can run it; lagbc is imported only to measure lagbc.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, TextIO, TypeVar

import numpy as np
from scipy.sparse import csr_array

from benchmarks.peers import Competitor, Scores, Sources, competitor

Answer = dict[str, Any]
T = TypeVar("T")


def save_case(directory: Path, matrix: csr_array, sources: Sources, directed: bool) -> None:
    """Write what a worker needs to know of a graph. Without `sources`, all vertices are roots."""
    np.savez(
        directory / "case.npz",
        indptr=matrix.indptr,
        indices=matrix.indices,
        data=matrix.data,
        sources=np.arange(0) if sources is None else sources,
        exact=sources is None,
        directed=directed,
    )


def load_case(directory: Path) -> tuple[csr_array, Sources, bool]:
    """Read what `save_case` wrote."""
    with np.load(directory / "case.npz") as case:
        indptr, indices, data = case["indptr"], case["indices"], case["data"]
        sources = None if case["exact"] else case["sources"]
        directed = bool(case["directed"])
    n = len(indptr) - 1
    return csr_array((data, indices, indptr), shape=(n, n)), sources, directed


class Bench:
    """A competitor, ready to run one case.

    Parameters
    ----------
    who
        The competitor; constructing the bench imports its library and calls it once on a small graph.
    threads
        How many threads it may use.
    directory
        Where the case lies and where the scores go.
    """

    def __init__(self, who: Competitor, threads: int, directory: Path) -> None:
        self.who, self.threads = who, threads
        self.scores_file: Path | None = directory / f"{who.name}-{threads}.npy"
        self.version, self.import_seconds = _timed(who.version)
        self.matrix, self.sources, self.directed = load_case(directory)
        _, self.warm_up_seconds = _timed(self._warm_up)
        _reset_peak()
        self.baseline = _memory("VmRSS")

    def ready(self) -> Answer:
        """Version, and the seconds that importing and the first call (compilation) took."""
        return {
            "version": self.version,
            "import_seconds": self.import_seconds,
            "warm_up_seconds": self.warm_up_seconds,
        }

    def run(self) -> Answer:
        """Seconds of conversion and of scoring, and the peak memory, since the matrix was loaded, above its own."""
        graph, convert_seconds = _timed(lambda: self.who.convert(self.matrix, self.directed))
        scores, seconds = _timed(lambda: self.who.score(graph, self.sources, self.threads, self.directed))
        peak = _memory("VmHWM")
        self._keep(scores)
        return {
            "seconds": seconds,
            "convert_seconds": convert_seconds,
            "peak_bytes": None if peak is None or self.baseline is None else peak - self.baseline,
        }

    def _warm_up(self) -> None:
        """Call on a cycle of 64 vertices with the case's types and options: whatever compiles, compiles now."""
        n = 64
        vertex = np.arange(n)
        neighbours = np.sort(np.column_stack([(vertex - 1) % n, (vertex + 1) % n]), axis=1)
        indices = neighbours.ravel().astype(self.matrix.indices.dtype)
        indptr = np.arange(0, 2 * n + 1, 2, dtype=self.matrix.indptr.dtype)
        cycle = csr_array((np.ones(2 * n, self.matrix.dtype), indices, indptr), shape=(n, n))
        self.who(cycle, None if self.sources is None else vertex, self.threads, self.directed)

    def _keep(self, scores: Scores) -> None:
        if self.scores_file is not None:
            np.save(self.scores_file, scores)
            self.scores_file = None


def main() -> None:
    """Serve until standard input ends."""
    directory, name, threads = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    # Answers keep the real standard output; what libraries print goes to standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    who = competitor(name)
    if find_spec(who.module) is None:
        _answer(answers, {"problem": f"absent: no module {who.module}"})
        return
    try:
        bench = Bench(who, threads, directory)
        _answer(answers, bench.ready())
        for _ in sys.stdin:
            _answer(answers, bench.run())
    except Exception as error:  # whatever a competitor raises is a result: it is recorded, and the others go on
        _answer(answers, {"problem": f"failed: {type(error).__name__}: {error}"})


def _answer(answers: TextIO, answer: Answer) -> None:
    print(json.dumps(answer), file=answers, flush=True)


def _timed(call: Callable[[], T]) -> tuple[T, float]:
    start = perf_counter()
    return call(), perf_counter() - start


def _reset_peak() -> None:
    """Let ``VmHWM`` start anew.

    (getrusage's ``ru_maxrss`` cannot be reset, and starts at the memory of the parent process.)
    """
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5")


def _memory(field: str) -> int | None:
    """Read ``VmRSS`` (resident now) or ``VmHWM`` (its peak) of ``/proc/self/status``, in bytes; None off Linux."""
    if sys.platform != "linux":
        return None
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


if __name__ == "__main__":
    main()
