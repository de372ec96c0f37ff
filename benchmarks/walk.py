"""The functions of lagbc that run in one warm call: ``python -m benchmarks.walk``.

A call is made three times, and the third is followed: which functions run, properties and lambdas among them, in which
modules, and how often. Up to Python 3.11 comprehensions are functions, too. The page tells these numbers of each call,
and of each folder of lagbc.
"""

from __future__ import annotations

import platform
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import click

import lagbc
from benchmarks import machine
from benchmarks.generators import delaunay, with_lengths
from benchmarks.sanitize_page import table

HEAD = "| call | functions | modules | calls |"
PACKAGE = str(Path(lagbc.__file__).parent)
OUT = machine.ROOT / "benchmarks" / "results" / "walk.md"


def follow(call: Callable[[], Any]) -> Counter[tuple[str, str]]:
    """Count how often each function of lagbc runs in a call, by its module and name, in any thread of it."""
    import threading

    ran = Counter[tuple[str, str]]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(PACKAGE):
            ran[file[len(PACKAGE) + 1 :], frame.f_code.co_qualname] += 1

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return ran


def calls(folder: Path) -> dict[str, Callable[[], Any]]:
    """Name the calls that are followed."""
    A = lagbc.read_graph("example:karate").matrix
    mesh = with_lengths(delaunay(1000).astype(float))
    how: Any = {"directed": False, "weighted": True, "k": 100, "rng": 1, "reduce": "all", "threads": 2}

    def weighted() -> None:
        path = folder / "run"
        path.unlink(missing_ok=True)
        lagbc.bc(mesh, checkpoint=path, **how)

    return {
        "`bc(A)`, karate": lambda: lagbc.bc(A, directed=False),
        '`bc(A, weighted=True, k=100, reduce="all", checkpoint=..., threads=2)`, a mesh': weighted,
        "`bc(A, cutoff=[2, 4])`, karate": lambda: lagbc.bc(A, directed=False, cutoff=[2, 4]),
    }


@click.command(help=__doc__)
@click.option("--out", type=click.Path(path_type=Path), default=OUT, help="The page.")
@click.option("--each", is_flag=True, help="Print every function, too.")
def main(out: Path, each: bool) -> None:
    """Follow the calls, print what ran, and write the page."""
    warnings.simplefilter("ignore")
    rows, folders = list[str](), list[str]()
    with TemporaryDirectory() as folder:
        for name, call in calls(Path(folder)).items():
            call()
            call()
            ran = follow(call)
            modules = Counter(module for module, _ in ran)
            rows.append(f"| {name} | {len(ran)} | {len(modules)} | {ran.total()} |")
            of_folders = Counter(module.partition("/")[0].removesuffix(".py") for module, _ in ran)
            folders.append(f"{name}: " + ", ".join(f"{of} {count}" for of, count in of_folders.most_common()) + ".")
            for module, count in modules.most_common() if each else ():
                click.echo(f"{count:4d} {module}: {', '.join(of for at, of in ran if at == module)}")
    told = [line for of in folders for line in ("", of)]
    lines = ["# Functions of lagbc that run in a warm call", ""]
    run = f"Python {platform.python_version()}; commit {machine.commit()}; `python -m benchmarks.walk`."
    lines += [run, "", *table(HEAD, rows), *told, ""]
    out.write_text("\n".join(lines), encoding="utf-8")
    click.echo(out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
