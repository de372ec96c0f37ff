"""The choice of a method: the row of METHODS that a run takes, and why."""

from __future__ import annotations

from dataclasses import dataclass

from lagbc.graph.graph import Graph
from lagbc.graph.tuning import HOST_EDGES
from lagbc.methods import table, tuning
from lagbc.methods.table import Method

# What searches from one root after the other.
_ALONE = "work-efficient"


@dataclass(frozen=True)
class Selection:
    """A method and the sentence that says why it was taken."""

    method: Method
    reason: str

    def __str__(self) -> str:
        return self.reason


def choose(
    graph: Graph,
    *,
    method: str,
    device: str,
    roots: int | None = None,
    outputs: frozenset[str] = frozenset({"dependency"}),
) -> Selection:
    """Choose a row of `METHODS` for a graph that offers all sums asked for, from so many roots, if not all."""
    if device not in ("auto", "cpu", "cuda"):
        raise ValueError(f"device={device!r} is none of 'auto', 'cpu' and 'cuda'")
    rows = [
        row
        for row in table.METHODS
        if row.weighted == graph.weighted and method in ("auto", row.name) and device in ("auto", row.device)
    ]
    if not rows:
        if any(row.name == method and device in ("auto", row.device) for row in table.METHODS):
            takes = "no lengths: leave out weighted=True" if graph.weighted else "lengths: pass weighted=True"
            problem = f"method={method!r} takes {takes}"
        else:
            problem = f"there is no method={method!r} with device={device!r}{' for weights' if graph.weighted else ''}"
        raise ValueError(
            f"{problem}; there are: "
            + "; ".join(f"{row.name} on {row.device}{' (weighted)' if row.weighted else ''}" for row in table.METHODS)
        )
    rows = _that_offer(outputs, rows, graph.weighted)
    ready = [row for row in rows if row.available]
    if not ready:
        rows[0].load()  # says what is missing
    on_cpu = next((row for row in ready if row.device == "cpu"), None)
    on_gpu = next((row for row in ready if row.device == "cuda"), None)
    roots = graph.n if roots is None else roots
    work = roots * graph.nnz
    row = on_gpu if on_gpu and (on_cpu is None or work >= tuning.GPU_WORK) else on_cpu
    assert row is not None
    if len({row.device for row in rows}) == 1:
        where = f"{rows[0].device} asked for" if device != "auto" else f"it runs on {rows[0].device} alone"
    elif on_gpu is None:
        where = table.why_no_gpu()
    else:
        where = f"roots * nnz = {work:.2g}, and a GPU pays from {tuning.GPU_WORK:.0g}"
    which = "asked for" if method != "auto" else "the fastest there as a rule"
    alone = next((other for other in ready if other.name == _ALONE), None)
    if method == "auto" and row.device == "cuda" and alone and (why := _best_alone(graph, roots)):
        row, which = alone, why
    return Selection(row, f"{row.name} on {row.device} ({where}; {which})")


def _best_alone(graph: Graph, roots: int) -> str | None:
    """Say why a GPU is faster from one root after the other; None if it is not."""
    is_small = roots * graph.n < tuning.SMALL_RUN[0] and roots * graph.nnz < tuning.SMALL_RUN[1]
    is_sparse = roots < tuning.FEW_ROOTS * graph.n
    if not (is_small or is_sparse):
        return None
    if (graph.on_device if graph.nnz > HOST_EDGES else graph).has_high_diameter:
        return "so few roots of a deep graph are far from each other" if is_sparse else None
    return "a run so small is mostly launches" if is_small else None


def _that_offer(outputs: frozenset[str], rows: list[Method], weighted: bool) -> list[Method]:
    """Keep the rows that offer all sums asked for; ValueError, with the rows there are, if none does."""
    offering = [row for row in rows if outputs <= set(row.sums)]
    if not offering:
        there = [row for row in table.METHODS if row.weighted == weighted and outputs <= set(row.sums)]
        asked = ", ".join(f"{row.name} on {row.device}" for row in rows)
        weights = " with weighted=True" if weighted else ""
        raise ValueError(
            f"{asked} does not sum {', '.join(sorted(outputs))}{weights}; "
            + (f"these do: {', '.join(f'{row.name} on {row.device}' for row in there)}" if there else "no method does")
        )
    return offering
