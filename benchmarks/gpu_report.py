"""Table of a results file of the GPU: ``python -m benchmarks.gpu_report RESULTS.jsonl``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

Row = dict[str, Any]

HEADER = (
    "graph | n | nnz | levels | method | type | roots | batch | ms a root | GTEPS | of the model | prepare, s | "
    "peak GiB | error | commit"
)


def write(results: Path) -> Path:
    """Write the Markdown table beside `results`; returns its path."""
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    page = results.with_suffix(".md")
    page.write_text(markdown(rows))
    return page


def markdown(rows: list[Row]) -> str:
    """Lay out the page: conditions, one line a measurement, and what failed."""
    first = rows[0]
    sampled = [row for row in rows if row["status"] == "ok" and not row.get("exact")]
    exact = [row for row in rows if row["status"] == "ok" and row.get("exact")]
    failed = [row for row in rows if row["status"] != "ok"]
    packages = first["machine"]["packages"]
    lines = [
        f"{first['device']}, CUDA {first['cuda']}, CuPy {first['cupy']}, NumPy {packages['numpy']}, "
        f"SciPy {packages['scipy']}, Python {first['machine']['python']}; a copy moves "
        f"{first['copy_bandwidth'] / 1e12:.2f} TB/s.",
        "",
        "GTEPS = nnz / 2 * roots / seconds / 1e9 (nnz if directed); best of three, less the one-off order and prepare, "
        "which are given apart. Model: 9.6 bytes (float32: 6.7) a directed edge and root at the speed of a copy, what "
        "masked products move on R-MAT graphs with roots in any order and counts in float64; above 100 % they move "
        "less. "
        "Error: the largest difference from another method, over 1 + score.",
        "",
        f"| {HEADER} |",
        "|" + " --- |" * (HEADER.count("|") + 1),
        *(f"| {' | '.join(_cells(row))} |" for row in sampled),
        "",
        "## All roots",
        "",
        "| graph | roots | type | seconds | GTEPS | peak GiB | commit |",
        "|" + " --- |" * 7,
        *(
            f"| {row['graph']} | {row['roots']} | {row['dtype']} | {row['seconds']:.1f} | {row['gteps']:.1f} | "
            f"{row['peak_bytes'] / 2**30:.1f} | {row['machine']['commit']} |"
            for row in exact
        ),
    ]
    if failed:
        lines += ["", "## Failed", ""]
        lines += [f"- {row['graph']}, {row['method']} {row['dtype']}: {row['status']}" for row in failed]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> list[str]:
    return [
        row["graph"],
        f"{row['n']:,}",
        f"{row['nnz']:,}",
        str(row["levels"]),
        row["method"],
        row["dtype"],
        str(row["roots"]),
        str(row["batch"]),
        f"{row['ms_per_root']:.4f}",
        f"{row['gteps']:.1f}",
        f"{row['of_bound']:.0%}",
        # Roots near each other are drawn from the order, which is then made before the clock starts.
        f"{row['order_seconds'] + row['prepare_seconds']:.2f}" if row["draw"] == "random" else "-",
        f"{row['peak_bytes'] / 2**30:.1f}",
        f"{max(row['checks'].values()):.0e}",
        row["machine"]["commit"],
    ]


def main() -> None:
    """Read the file's name from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    print(write(parser.parse_args().results))


if __name__ == "__main__":
    main()
