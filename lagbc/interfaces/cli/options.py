"""Options that commands share: each is declared once, and reaches a command in a record of its kind."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any

import click

from lagbc.errors import shortened
from lagbc.interfaces.cli.completion import DEVICES, complete_device, complete_graph, complete_method
from lagbc.plan.options import OPTIONS, Option

GRAPH_HELP = """GRAPH is a Matrix Market file, a SciPy .npz, an edge list, METIS, GraphML, GML, GEXF or Pajek, plain or
gzip-compressed, or example:NAME for a network that comes with lagbc. Vertices keep the ids or names of the file; in
Matrix Market, .npz and METIS they are the rows of the matrix, counted from 0."""

_Function = Callable[..., Any]


@dataclass(frozen=True)
class GraphOptions:
    """The graph of a command, its direction, the use of its values, and the columns of its file."""

    name: str
    directed: bool | None
    weighted: bool
    strength: bool
    ends: tuple[int | str, int | str] | None
    length: int | str | None
    header: bool | None
    names: bool

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of the file, as arguments of `read_graph`."""
        return {"ends": self.ends, "length": self.length, "header": self.header, "names": self.names or None}

    @property
    def lengths(self) -> str | None:
        """The use of the stored values: "lengths", "strengths" or None."""
        return "strengths" if self.strength else "lengths" if self.weighted else None


@dataclass(frozen=True)
class SampleOptions:
    """An estimate from `k` random roots."""

    k: int | None
    seed: int

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the public functions."""
        return {} if self.k is None else {"k": self.k, "rng": self.seed}


NO_SAMPLE = SampleOptions(k=None, seed=0)


@dataclass(frozen=True)
class OutputOptions:
    """Scores to show, and files for all or for a picture; `part` is (number, of) of a part whose sums are written."""

    top: int | None
    out: Path | None
    plot: Path | None
    as_json: bool
    part: tuple[int, int] | None = None

    def count_shown(self, n: int) -> int:
        """Return the number of scores to show, among n."""
        if self.top is None:
            return n if self.as_json else min(n, 10)
        return min(n, self.top)


@dataclass(frozen=True)
class MapOptions:
    """The file of a map of the scores, and the file of coordinates."""

    plot_map: Path | None
    coordinates: Path | None


NO_MAP = MapOptions(None, None)


def _number_or_auto(kind: type[int] | type[float], wanted: str) -> Callable[[click.Context, click.Parameter, str], Any]:
    def parse(ctx: click.Context, param: click.Parameter, value: str) -> Any:
        if value == "auto":
            return value
        try:
            number = kind(value)
        except ValueError:
            number = kind(0)
        if not 0 < number < float("inf"):
            raise click.BadParameter(shortened(f"{value!r} is neither 'auto' nor {wanted}"), ctx, param)
        return number

    return parse


def _parse_column(ctx: click.Context, param: click.Parameter, value: str | None) -> int | str | None:
    return int(value) if value is not None and value.isdecimal() else value


def _parse_two_columns(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[int | str | None, int | str | None] | None:
    if value is None:
        return None
    columns = [_parse_column(ctx, param, column.strip()) for column in value.split(",")]
    if len(columns) != 2:
        raise click.BadParameter(shortened(f"{value!r} is not two columns, such as 1,2 or from,to"), ctx, param)
    return columns[0], columns[1]


def _parse_devices(ctx: click.Context, param: click.Parameter, value: str) -> str | list[int]:
    numbers = [part.strip() for part in value.split(",")]
    if all(map(str.isdecimal, numbers)):
        return [int(number) for number in numbers]
    if value not in DEVICES:
        raise click.BadParameter(
            shortened(f"{value!r} is none of {', '.join(DEVICES)}, and no numbers of GPUs"), ctx, param
        )
    return value


def _parse_part(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    number, slash, of = value.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise click.BadParameter(shortened(f"{value!r} is no part and their number, such as 2/4"), ctx, param)
    return int(number), int(of)


def _is_terminal(ctx: click.Context, param: click.Parameter, value: bool | None) -> bool:
    return sys.stderr.isatty() if value is None else value


def _only_with_k(ctx: click.Context, param: click.Parameter, value: int | None) -> int:
    if value is not None and ctx.params["k"] is None:
        raise click.UsageError("--seed goes with --k, the number of roots to draw.", ctx)
    return value or 0


seed_option = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws the roots.")
# Settings of click for options of a run: how their texts are read, and their completions in a shell.
_SETTINGS: dict[str, dict[str, Any]] = {
    "method": {"shell_complete": complete_method},
    "device": {"callback": _parse_devices, "shell_complete": complete_device},
    "batch": {"callback": _number_or_auto(int, "an integer from 1 on")},
    "bucket_width": {"callback": _number_or_auto(float, "a length, finite and > 0")},
    "threads": {"type": click.IntRange(1)},
    "virtual_warp": {"type": int},
    "checkpoint": {"type": click.Path(path_type=Path)},
    "progress": {"default": None, "show_default": False, "callback": _is_terminal},
}


def _run_option(option: Option) -> Callable[[_Function], _Function]:
    """Declare an option of a run by its row in the table of options."""
    flag = f"--{option.name.replace('_', '-')}"
    shown = {
        "default": option.default,
        "show_default": option.default is not None,
        **({"type": click.Choice(option.shown)} if isinstance(option.shown, tuple) else {"metavar": option.shown}),
    }
    declared = f"{flag}/--no-{option.name}" if isinstance(option.default, bool) else flag
    return click.option(declared, help=option.help, **shown | _SETTINGS.get(option.name, {}))


_RUN_OPTIONS = {option.name: _run_option(option) for option in OPTIONS if option.help}


def takes(*names: str) -> Callable[[_Function], _Function]:
    """Declare some options of a run, each as a parameter of the command."""

    def declare(command: _Function) -> _Function:
        for name in reversed(names):
            command = _RUN_OPTIONS[name](command)
        return command

    return declare


def takes_run(*names: str) -> Callable[[_Function], _Function]:
    """Declare options of a run, all by default, and pass their values to the command as `run`."""
    names = names or tuple(_RUN_OPTIONS)

    def declare(command: _Function) -> _Function:
        @wraps(command)
        def call(**values: Any) -> Any:
            return command(run={name: values.pop(name) for name in names}, **values)

        return takes(*names)(call)

    return declare


def takes_grid(command: _Function) -> _Function:
    """Declare options of a graph that is dealt over ranks, and pass their values to the command in `run`."""

    @wraps(command)
    def call(run: dict[str, Any], grid: str | None, overlap: bool, **values: Any) -> Any:
        if overlap and grid is None:
            raise click.UsageError("--overlap goes with --grid, the shape of the ranks.")
        return command(run=run | {"grid": grid, "overlap": overlap}, **values)

    shape = click.option(
        "--grid", metavar="RxC|auto", help="Under mpiexec: deal the graph over ranks in R rows and C columns."
    )
    return shape(click.option("--overlap", is_flag=True, help="With --grid: two batches in flight.")(call))


json_option = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON, for scripts.")


_FIGURES = ".png, .pdf, .svg or another of matplotlib's formats."


def plot_option(drawn: str) -> Callable[[_Function], _Function]:
    """Declare the option of a picture."""
    return click.option("--plot", type=click.Path(path_type=Path), help=f"Draw {drawn}: {_FIGURES}")


def _takes_record(
    kind: type, parameter: str, *declarations: Callable[[_Function], _Function]
) -> Callable[..., _Function]:
    """Declare options, and pass their values to the command as one record."""

    def declare(command: _Function) -> _Function:
        @wraps(command)
        def call(**values: Any) -> Any:
            own = {field.name: values.pop(field.name) for field in fields(kind)}
            return command(**{parameter: kind(**own)}, **values)

        declared: _Function = call
        for declaration in reversed(declarations):
            declared = declaration(declared)
        return declared

    return declare


takes_graph = _takes_record(
    GraphOptions,
    "source",
    click.argument("name", metavar="GRAPH", shell_complete=complete_graph),
    click.option(
        "--directed/--undirected", default=None, help="Edges one way or both ways.  [default: what the file says]"
    ),
    click.option("--weighted", is_flag=True, help="Take the stored values as lengths of edges."),
    click.option(
        "--strength", is_flag=True, help="Take them as strengths w, that is, lengths 1 / w; implies --weighted."
    ),
    click.option(
        "--ends",
        metavar="COLUMN,COLUMN",
        callback=_parse_two_columns,
        help="Of an edge list: the columns of source and target, from 1 on or by their titles.  [default: told by the "
        "first lines]",
    ),
    click.option(
        "--length",
        metavar="COLUMN",
        callback=_parse_column,
        help="Its column of values, or in GraphML, GML and GEXF the attribute.",
    ),
    click.option("--header/--no-header", default=None, help="Whether its first line has titles."),
    click.option("--names", is_flag=True, help="Its vertices are names, also where they look like integers."),
)

takes_sample = _takes_record(
    SampleOptions,
    "sample",
    click.option("--k", metavar="K", type=click.IntRange(1), is_eager=True, help="Estimate from K random roots."),
    click.option(
        "--seed", type=click.IntRange(0), callback=_only_with_k, help="With --k: draws the roots.  [default: 0]"
    ),
)
error_option = click.option(
    "--error/--no-error",
    default=True,
    show_default=True,
    help="The standard error of the estimate, from ten more of at most 64 roots each.",
)

top_option = click.option(
    "--top", type=click.IntRange(0), help="How many of the highest to print.  [default: 10; with --json all]"
)
out_option = click.option(
    "--out", type=click.Path(path_type=Path), help="Write all scores: a .npy array or a .csv table."
)

takes_output = _takes_record(
    OutputOptions,
    "output",
    top_option,
    out_option,
    plot_option("scores of vertices"),
    json_option,
    click.option(
        "--part",
        metavar="I/N",
        callback=_parse_part,
        help="Compute only the I-th of N parts, and write its sums to --out FILE.npz; lagbc merge makes scores of all.",
    ),
)

takes_map = _takes_record(
    MapOptions,
    "map_options",
    click.option(
        "--plot-map",
        type=click.Path(path_type=Path),
        help=f"Draw a map of the scores, a panel for each column: {_FIGURES}",
    ),
    click.option(
        "--coordinates",
        type=click.Path(path_type=Path),
        help="For --plot-map: a table of vertex, x and y, or of vertex, lon and lat.  [default: attributes x and y of "
        "the vertices of a GraphML file]",
    ),
)
