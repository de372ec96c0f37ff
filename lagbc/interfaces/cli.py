"""The command `lagbc`: betweenness of a graph file, and what lagbc would do with one.

Nothing heavy is imported here at the top, so that ``lagbc --help`` answers at once.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from lagbc import __version__
from lagbc.errors import GraphFileWarning, MemoryWarning
from lagbc.interfaces.signals import Terminated, sigterm_raises

if TYPE_CHECKING:
    import numpy as np

    from lagbc.graph.graph import Graph
    from lagbc.io.graph_file import GraphFile

_GRAPH_HELP = """GRAPH is a Matrix Market file, a SciPy .npz, an edge list or a METIS file, plain or gzip-compressed, or
example:NAME for a network that comes with lagbc. The vertices of an edge list keep their ids; in the other formats they
are the rows of the matrix, counted from 0."""


class _Commands(click.Group):
    """Ends with one line and an exit status, never a traceback, where the input or the machine is at fault."""

    def invoke(self, ctx: click.Context) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("always", MemoryWarning)
            warnings.simplefilter("always", GraphFileWarning)
            warnings.showwarning = _show_warning
            try:
                with sigterm_raises():
                    return super().invoke(ctx)
            except KeyboardInterrupt as interrupt:
                what, status = ("terminated", 143) if isinstance(interrupt, Terminated) else ("interrupted", 130)
                click.echo(f"lagbc: {what}{': ' if str(interrupt) else ''}{interrupt}", err=True)
                ctx.exit(status)
            except BrokenPipeError:
                raise  # click ends quietly when the reader of a pipe has gone
            except MemoryError as error:
                _fail(ctx, f"out of memory: {error}")
            except (ValueError, TypeError, OSError, ImportError, OverflowError) as error:
                _fail(ctx, str(error))


def _batch(ctx: click.Context, param: click.Parameter, value: str) -> int | str:
    if value == "auto":
        return value
    if not value.isdecimal() or int(value) < 1:
        raise click.BadParameter(f"{value!r} is neither 'auto' nor an integer from 1 on", ctx, param)
    return int(value)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lagbc", message="%(prog)s %(version)s")
def main() -> None:
    """Exact betweenness centrality of large sparse graphs, by linear algebra on batches of roots."""


_directed_option = click.option(
    "--directed/--undirected", default=None, help="Edges one way or both ways.  [default: what the file says]"
)
_weighted_option = click.option(
    "--weighted", "lengths", flag_value="lengths", default=None, help="Take the stored values as lengths of edges."
)
_strength_option = click.option(
    "--strength", "lengths", flag_value="strengths", help="Take them as strengths w, that is, lengths 1 / w."
)


@main.command("bc", epilog=_GRAPH_HELP)
@click.argument("name", metavar="GRAPH")
@_directed_option
@_weighted_option
@_strength_option
@click.option("--sources", "k", metavar="K", type=click.IntRange(1), help="Estimate from K random roots.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws the K roots.")
@click.option("--normalized", is_flag=True, help="Divide by the number of vertex pairs, as NetworkX does.")
@click.option("--endpoints", is_flag=True, help="Count the two ends of a path too.")
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="How many vertices to print.")
@click.option("--out", type=click.Path(path_type=Path), help="Write all scores: a .npy array or a .csv table.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the scores: .png, .pdf or .svg.")
@click.option("--method", default="auto", show_default=True, help="A row of the table that lagbc info prints.")
@click.option("--device", default="auto", show_default=True, help="Where to compute: cpu or cuda.")
@click.option("--batch", callback=_batch, metavar="N|auto", default="auto", show_default=True, help="Roots at a time.")
@click.option("--threads", type=click.IntRange(1), help="CPU threads.  [default: as many as there are cores]")
@click.option("--checkpoint", type=click.Path(path_type=Path), help="Keep the state here (.npz), and go on from it.")
@click.option("--progress/--no-progress", default=None, help="[default: on if stderr is a terminal]")
def bc_command(
    name: str,
    directed: bool | None,
    lengths: str | None,
    k: int | None,
    seed: int,
    normalized: bool,
    endpoints: bool,
    top: int,
    out: Path | None,
    plot: Path | None,
    method: str,
    device: str,
    batch: int | str,
    threads: int | None,
    checkpoint: Path | None,
    progress: bool | None,
) -> None:
    """Betweenness centrality of every vertex of GRAPH."""
    import lagbc
    from lagbc.graph.validate import as_graph

    _check_outputs(out, plot)
    file = _open(name, lengths)
    A, directed = file.matrix, file.directed if directed is None else directed
    weighted = lengths is not None
    if lengths == "strengths":
        A = _as_lengths(A)
    graph = as_graph(A, directed=directed, weighted=weighted)
    choice = lagbc.select_method(
        graph, directed=directed, weighted=weighted, roots=k, method=cast(Any, method), device=cast(Any, device)
    )
    click.echo(_headline(name, graph))
    click.echo(f"method: {choice.reason}")
    if weighted:
        click.echo(f"weights: {lengths}{' w, taken as lengths 1 / w' if lengths == 'strengths' else ' of edges'}")
        if not _has_weights(file):
            click.echo("weights: all are the same; the file may have none")
    elif _has_weights(file):
        click.echo("weights: ignored; paths are counted in hops (--weighted takes them as lengths)")
    if k is not None:
        click.echo(f"estimate from {k:,} random roots of {graph.n:,} (seed {seed})")
    start = time.perf_counter()
    try:
        scores = lagbc.bc(
            graph,
            cast(Any, batch),
            directed=directed,
            weighted=weighted,
            k=k,
            rng=None if k is None else seed,
            normalized=normalized,
            endpoints=endpoints,
            method=cast(Any, method),
            device=cast(Any, device),
            progress=sys.stderr.isatty() if progress is None else progress,
            checkpoint=checkpoint,
            threads=threads,
        )
    except KeyboardInterrupt as interrupt:
        raise type(interrupt)(_left_behind(checkpoint)) from None
    seconds = time.perf_counter() - start
    if top:
        click.echo()
        click.echo(_top_table(scores, graph, file.labels, top))
        click.echo()
    click.echo(f"time: {seconds:.3g} s")
    if out is not None:
        _write_scores(out, scores, file.labels)
        click.echo(f"scores: {out}")
    if plot is not None:
        from lagbc.plots import plot_scores

        unit = "fraction of vertex pairs" if normalized else "vertex pairs"
        plot_scores(A, scores, plot, directed=directed, title=_short(name), unit=unit)
        click.echo(f"plot: {plot}")


@main.command("info", epilog=_GRAPH_HELP)
@click.argument("name", metavar="GRAPH")
@_directed_option
def info_command(name: str, directed: bool | None) -> None:
    """Size and shape of GRAPH, the memory it needs, and the methods there are."""
    import lagbc
    from lagbc.graph.validate import as_graph

    file = _open(name)
    A, directed = file.matrix, file.directed if directed is None else directed
    graph = as_graph(A, directed=directed)
    click.echo(_headline(name, graph))
    for label, value in _facts(file, graph):
        click.echo(f"  {label:<18} {value}")
    memory = lagbc.estimate_memory(graph, directed=directed)
    choice = lagbc.select_method(graph, directed=directed)
    click.echo(
        f"memory: {_size(memory.total)} (graph {_size(memory.graph)}, workspace {_size(memory.workspace)}, "
        f"scores {_size(memory.scores)}) with batch {memory.batch}, threads {memory.threads}"
    )
    click.echo(f"method: {choice.reason}")
    click.echo()
    click.echo(_methods_table())


@main.command("compare", epilog=_GRAPH_HELP)
@click.argument("name", metavar="GRAPH")
@_directed_option
@_weighted_option
@_strength_option
@click.option("--roots", type=click.IntRange(1), default=256, show_default=True, help="How many roots to draw.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws the roots.")
@click.option("--methods", metavar="NAME,...", default="all", show_default=True, help="Which of lagbc info's table.")
@click.option("--device", default="all", show_default=True, help="Where to compute: all, cpu or cuda.")
@click.option("--batch", callback=_batch, metavar="N|auto", default="auto", show_default=True, help="Roots at a time.")
@click.option("--dtype", default="float64", show_default=True, help="Of path counts on the GPU; or float32.")
@click.option("--threads", type=click.IntRange(1), help="CPU threads.  [default: as many as there are cores]")
@click.option(
    "--time-limit", type=float, default=60.0, show_default=True, help="Seconds; a method that takes longer is skipped."
)
@click.option("--plot", type=click.Path(path_type=Path), help="Draw times and memory: .png, .pdf or .svg.")
@click.option("--progress/--no-progress", default=None, help="[default: on if stderr is a terminal]")
def compare_command(
    name: str,
    directed: bool | None,
    lengths: str | None,
    roots: int,
    seed: int,
    methods: str,
    device: str,
    batch: int | str,
    dtype: str,
    threads: int | None,
    time_limit: float,
    plot: Path | None,
    progress: bool | None,
) -> None:
    """Time, memory and agreement of every method on GRAPH.

    A row is printed as soon as its method is measured. The exit status is 1 if the scores of some method are wrong.
    """
    import lagbc
    from lagbc.comparison.records import TABLE_COLUMNS

    _check_outputs(None, plot)
    file = _open(name, lengths)
    directed = file.directed if directed is None else directed
    # As wide as their titles or as the names and figures that come.
    longest = {"method": max(len(row.name) for row in lagbc.METHODS), "formulation": 11, "device": 6, "difference": 13}
    widths = [max(len(title), longest.get(title, 8)) for title, _ in TABLE_COLUMNS]
    echo = _above_bar()

    def show(record: lagbc.Measurement) -> None:
        cells = [cell(record) for _, cell in TABLE_COLUMNS]
        if record.skipped:
            cells[3:] = [f"skipped: {record.skipped}"]
        echo("  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=False)).rstrip())

    echo("  ".join(f"{title:<{width}}" for (title, _), width in zip(TABLE_COLUMNS, widths, strict=True)).rstrip())
    comparison = lagbc.compare(
        _as_lengths(file.matrix) if lengths == "strengths" else file.matrix,
        roots,
        methods=methods if methods == "all" else methods.split(","),
        device=device,
        directed=directed,
        weighted=lengths is not None,
        batch=batch,
        dtype=dtype,
        threads=threads,
        rng=seed,
        time_limit=time_limit,
        progress=sys.stderr.isatty() if progress is None else progress,
        report=show,
    )
    click.echo()
    click.echo(f"{_short(name)}: {comparison.headline}")
    for remark in comparison.remarks():
        click.echo(remark)
    if plot is not None:
        comparison.plot(plot, title=_short(name))
        click.echo(f"plot: {plot}")
    if any(record.agrees is False for record in comparison.records):
        click.get_current_context().exit(1)


def _above_bar() -> Callable[[str], None]:
    """Return a function that prints a line on standard output, above a progress bar if one is drawn."""
    from tqdm import tqdm

    return lambda line: tqdm.write(line, file=sys.stdout)


def _open(name: str, lengths: str | None = None) -> GraphFile:
    from lagbc.io.examples import EXAMPLE, example_names
    from lagbc.io.read import read_graph

    if not name.startswith(EXAMPLE) and not Path(name).exists():
        shipped = ", ".join(EXAMPLE + example for example in example_names())
        raise FileNotFoundError(f"there is no file {name!r}; networks that come with lagbc: {shipped}")
    return read_graph(name, strengths=lengths == "strengths")


def _as_lengths(strengths: Any) -> Any:
    """1 / w; what is no strength gives what is no length, which is refused."""
    import numpy as np

    A = strengths.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        A.data = 1.0 / A.data
    return A


def _check_outputs(out: Path | None, plot: Path | None) -> None:
    """Find out before the computation, not after it, that its result cannot be written."""
    if out is not None and out.suffix not in (".npy", ".csv"):
        raise ValueError(f"--out {out}: scores are written to a .npy or a .csv file")
    if plot is not None:
        from lagbc.plots import check_figure_path

        check_figure_path(plot)
    for path in (out, plot):
        if path is not None and not path.parent.is_dir():
            raise FileNotFoundError(f"{path}: there is no directory {str(path.parent)!r}")


def _left_behind(checkpoint: Path | None) -> str:
    if checkpoint is None:
        return "nothing is kept; with --checkpoint a run can go on where it was stopped"
    if checkpoint.exists():
        return f"{checkpoint} keeps the roots that are done; the same command goes on from there"
    return f"no root was done, so {checkpoint} was not written"


def _write_scores(path: Path, scores: np.ndarray, labels: np.ndarray | None) -> None:
    if path.suffix == ".npy":
        import numpy as np

        np.save(path, scores)
        return
    vertices = range(scores.size) if labels is None else labels.tolist()
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.write("vertex,score\n")
        file.writelines(f"{vertex},{score!r}\n" for vertex, score in zip(vertices, scores.tolist(), strict=True))


def _facts(file: GraphFile, graph: Graph) -> list[tuple[str, str]]:
    import numpy as np

    entries = file.matrix.tocoo()
    members = np.bincount(graph.components)
    isolated = np.count_nonzero(graph.out_degrees + graph.in_degrees == 0)
    return [
        ("format", file.format),
        ("weights", "ignored: paths are counted in hops" if _has_weights(file) else "none"),
        ("stored entries", f"{file.matrix.nnz:,}"),
        ("self loops", f"{np.count_nonzero(entries.row == entries.col):,} (ignored)"),
        ("isolated vertices", f"{isolated:,}"),
        ("weak components", f"{members.size:,} (largest {members.max(initial=0):,} vertices)"),
        *((name, _spread(degrees)) for name, degrees in _degrees(graph)),
    ]


def _has_weights(file: GraphFile) -> bool:
    return file.matrix.nnz > 0 and bool((file.matrix.data != file.matrix.data[0]).any())


def _degrees(graph: Graph) -> list[tuple[str, np.ndarray]]:
    if graph.directed:
        return [("out-degree", graph.out_degrees), ("in-degree", graph.in_degrees)]
    return [("degree", graph.out_degrees)]


def _spread(values: np.ndarray) -> str:
    return f"min {values.min()}, mean {values.mean():.3g}, max {values.max()}" if values.size else "no vertices"


def _methods_table() -> str:
    from lagbc.methods.table import METHODS

    rows: list[tuple[str, ...]] = [("method", "formulation", "device", "weighted", "available")]
    for row in METHODS:
        rows.append((row.name, row.formulation, row.device, _yes(row.weighted), _yes(row.available)))
    return _table(rows, right=False)


def _top_table(scores: np.ndarray, graph: Graph, labels: np.ndarray | None, top: int) -> str:
    import numpy as np

    names, degrees = zip(*_degrees(graph), strict=True)
    rows: list[tuple[str, ...]] = [("rank", "vertex", "score", *names)]
    for rank, v in enumerate(np.argsort(-scores, kind="stable")[:top], 1):
        vertex = v if labels is None else labels[v]
        rows.append((str(rank), str(vertex), f"{scores[v]:.8g}", *(str(degree[v]) for degree in degrees)))
    return _table(rows, right=True)


def _table(rows: list[tuple[str, ...]], *, right: bool) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    align = ">" if right else "<"
    lines = ("  ".join(f"{cell:{align}{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _headline(name: str, graph: Graph) -> str:
    if graph.directed:
        return f"{_short(name)}: {graph.n:,} vertices, {graph.nnz:,} directed edges"
    return f"{_short(name)}: {graph.n:,} vertices, {graph.nnz // 2:,} undirected edges"


def _short(name: str) -> str:
    from lagbc.io.examples import EXAMPLE

    return name.removeprefix(EXAMPLE) if name.startswith(EXAMPLE) else Path(name).name


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} TiB"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"lagbc: warning: {' '.join(str(message).split())}", err=True)


def _fail(ctx: click.Context, message: str) -> None:
    click.echo(f"lagbc: error: {' '.join(message.split())}", err=True)
    ctx.exit(2)
