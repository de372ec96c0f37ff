"""Table of a results file of the GPU: ``python -m benchmarks.gpu_report RESULTS.jsonl``.

With ``--former FORMER.jsonl``, the same cases by another commit in turns, the table has both, and their ratio.
"""

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


def write_beside(results: Path, former: Path) -> Path:
    """Write the table of two files, the least seconds of each case, beside `results`; returns its path."""
    page = results.with_suffix(".md")
    found = [[json.loads(line) for line in path.read_text().splitlines()] for path in (results, former)]
    (now, before), first = map(_least, found), found[0][0]
    commits = [rows[0]["machine"]["commit"][:8] for rows in found]
    lines = [
        f"{first['device']}, CuPy {first['cupy']}, Python {first['machine']['python']}; commits {commits[1]} and "
        f"{commits[0]}, in turns, in milliseconds a root of sweeps, the least of all rounds.",
        "",
        f"| graph | lengths | method | type | roots | {commits[1]} | {commits[0]} | ratio |",
        "|" + " --- |" * 8,
    ]
    for case, seconds in now.items():
        lines.append(f"| {' | '.join(case)} | {before[case]:.4f} | {seconds:.4f} | {seconds / before[case]:.3f} |")
    page.write_text("\n".join(lines) + "\n")
    return page


def _least(rows: list[Row]) -> dict[tuple[str, ...], float]:
    """Return the least milliseconds a root of each case."""
    least: dict[tuple[str, ...], float] = {}
    for row in rows:
        case = row["graph"], row["lengths"], row["method"], row["dtype"], str(row["roots"])
        least[case] = min(row["ms_per_root"], least.get(case, row["ms_per_root"]))
    return least


def main() -> None:
    """Read the files' names from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--former", type=Path, help="the same cases of another commit")
    given = parser.parse_args()
    print(write(given.results) if given.former is None else write_beside(given.results, given.former))


if __name__ == "__main__":
    main()
