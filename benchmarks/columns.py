"""What edges in columns and in files take to become a graph: ``python -m benchmarks.columns``.

Edges between vertices called by text of 14 characters, 20 ends a vertex on average, are held in every form that a
library has for them, or lie in a file. Each form is read once, in a process of its own, which has called lagbc before.
Columns have the seconds, those of the processor, the peak of resident memory above that of the process before, which
holds the columns, and the peak of the whole process.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import click
import numpy as np

import lagbc
from benchmarks import machine
from lagbc.comparison.measure import PeakMemory, resident

OUT = machine.ROOT / "benchmarks" / "results" / "columns.md"
ENDS_OF_A_VERTEX = 20
HEAD = "| edges in | s | processor s | MB above | MB at peak |"


def write_edges(folder: Path, m: int) -> None:
    """Write edges as CSV and as Parquet."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng = np.random.default_rng(1)
    n = 2 * m // ENDS_OF_A_VERTEX
    ids = pa.array([f"person-{v:07d}" for v in rng.permutation(n).tolist()])
    edges = pa.table({title: ids.take(pa.array(rng.integers(0, n, m))) for title in ("source", "target")})
    parquet.write_table(edges, folder / "edges.parquet")
    csv.write_csv(edges, folder / "edges.csv", csv.WriteOptions(quoting_style="none"))


def held(form: str, path: Path) -> tuple[Any, Any]:
    """Return both columns in a form."""
    import pandas as pd
    import polars as pl
    from pyarrow import parquet

    table = parquet.read_table(path)
    made: dict[str, Callable[[Any], Any]] = {
        "Arrow": lambda column: column,
        "Arrow, dictionary": lambda column: column.dictionary_encode(),
        "polars": pl.Series,
        "polars, Categorical": lambda column: pl.Series(column).cast(pl.Categorical),
        "pandas": lambda column: pd.Series(column.to_pandas(), dtype="str"),
        "pandas, object": lambda column: pd.Series(column.to_pylist(), dtype=object),
        "pandas, category": lambda column: column.dictionary_encode().to_pandas(),
        "lists": lambda column: column.to_pylist(),
    }
    return made[form](table["source"]), made[form](table["target"])


FORMS = (
    *("a CSV file", "a Parquet file", "Arrow", "Arrow, dictionary", "polars", "polars, Categorical", "pandas"),
    *("pandas, object", "pandas, category", "lists"),
)


def measure(form: str, folder: Path, to: Connection) -> None:
    """Read edges in a form, and send seconds, processor seconds, and bytes above and at the peak."""
    names = ["a", "b"], ["b", "c"]
    (folder / "small.csv").write_text("a,b\nb,c\n")
    lagbc.graph_from_edges(*names, directed=True)
    lagbc.read_graph(folder / "small.csv")
    files = {"a CSV file": "edges.csv", "a Parquet file": "edges.parquet"}
    columns = () if form in files else held(form, folder / "edges.parquet")
    with PeakMemory("cpu") as peak:
        begun, before = perf_counter(), process_time()
        if form in files:
            lagbc.read_graph(folder / files[form])
        else:
            lagbc.graph_from_edges(*columns, directed=True)
        seconds = perf_counter() - begun, process_time() - before
    to.send((*seconds, peak.bytes, resident("VmHWM")))


@click.command(help=__doc__)
@click.option("--edges", default=10_000_000, show_default=True)
@click.option("--forms", default=";".join(FORMS), show_default=True, help="Separated by semicolons.")
@click.option("--note", default="", help="A sentence about the machine, for the page.")
@click.option("--out", type=click.Path(path_type=Path), default=OUT, show_default=True)
def main(edges: int, forms: str, note: str, out: Path) -> None:
    """Measure the forms, print the rows, and write the page."""
    context = multiprocessing.get_context("spawn")
    where = f"{machine.cpu_model()}, {machine.cores()} cores; commit {machine.commit()}; one run. {note}".strip()
    versions = ", ".join(f"{name} {machine.package_version(name)}" for name in ("pyarrow", "polars", "pandas"))
    lines = [f"# Edges in columns\n\n{edges:,} edges of {edges // 10:,} vertices. {where}", f"{versions}. By\n"]
    lines += ["    python -m benchmarks.columns\n", HEAD, "|" + " --- |" * (HEAD.count("|") - 1)]
    with tempfile.TemporaryDirectory() as folder:
        write_edges(Path(folder), edges)
        for form in forms.split(";"):
            ours, theirs = context.Pipe(duplex=False)
            child = context.Process(target=measure, args=(form, Path(folder), theirs))
            child.start()
            theirs.close()
            seconds, processor, above, most = ours.recv()
            child.join()
            lines.append(f"| {form} | {seconds:.2f} | {processor:.2f} | {above / 1e6:.0f} | {most / 1e6:.0f} |")
            click.echo(lines[-1])
            out.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
