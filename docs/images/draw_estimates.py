"""Draw estimates.png: `python docs/images/draw_estimates.py`. How far estimates of a network are off, and may be."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import lagbc

ROOTS = (192, 384, 640, 896, 1280, 1664, 2176)


def main() -> None:
    """Draw the picture."""
    A = lagbc.read_graph(lagbc.example_path("ca-GrQc")).matrix
    exact = lagbc.bc(A, directed=False, normalized=True)
    given = {"directed": False, "rng": 1, "error": 1e-6}
    figure = Figure(figsize=(7.5, 4.2), dpi=120, layout="constrained")
    axes = figure.subplots()
    for label, guarantee, mark in (("guaranteed for all", True, "o"), ("normal, each by itself", False, "s")):
        runs = [lagbc.estimate(A, max_roots=roots, guarantee=guarantee, **given) for roots in ROOTS]
        widths = [np.maximum(run.upper - run.scores, run.scores - run.lower).max() for run in runs]
        axes.plot(ROOTS, widths, f"{mark}-", label=f"widest interval, {label}")
        axes.plot(ROOTS, [np.abs(run.scores - exact).max() for run in runs], f"{mark}:", label=f"in fact, {label}")
    samples = [lagbc.bc(A, directed=False, normalized=True, k=roots, rng=1) for roots in ROOTS]
    axes.plot(ROOTS, [np.abs(one - exact).max() for one in samples], "^--", color="0.5", label="in fact, bc(k=)")
    axes.set(xlabel="roots, of 5,242", ylabel="error of the worst vertex", yscale="log")
    axes.set_title(f"ca-GrQc; the highest score is {exact.max():.3f}", fontsize="medium")
    axes.legend(fontsize="small")
    figure.savefig(Path(__file__).parent / "estimates.png", metadata={"Software": None})


if __name__ == "__main__":
    main()
