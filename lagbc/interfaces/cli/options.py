"""The options that commands share: each is declared once, and reaches a command in a record of its kind."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lagbc.errors import shortened
from lagbc.interfaces.cli.completion import DEVICES, complete_device, complete_graph, complete_method

if TYPE_CHECKING:
    from lagbc.types import Auto, Devices, DTypeName, MethodName, ReduceName

GRAPH_HELP = """GRAPH is a Matrix Market file, a SciPy .npz, an edge list, a METIS or a GraphML file, plain or
gzip-compressed, or example:NAME for a network that comes with lagbc. The vertices of an edge list and of GraphML keep
their ids or names; in the other formats they are the rows of the matrix, counted from 0."""

_Function = Callable[..., Any]


@dataclass(frozen=True)
class GraphOptions:
    """Which graph, and how it is taken: one way or both ways, in hops or with lengths or strengths."""

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
        """What is said of the columns of the file, as `read_graph` names it."""
        return {"ends": self.ends, "length": self.length, "header": self.header, "names": self.names or None}

    @property
    def lengths(self) -> str | None:
        """What the stored values are taken as: "lengths", "strengths" or nothing."""
        return "strengths" if self.strength else "lengths" if self.weighted else None


@dataclass(frozen=True)
class SampleOptions:
    """An estimate from `k` random roots."""

    k: int | None
    seed: int

    @property
    def arguments(self) -> dict[str, Any]:
        """As the public functions name them."""
        return {} if self.k is None else {"k": self.k, "rng": self.seed}


NO_SAMPLE = SampleOptions(k=None, seed=0)


@dataclass(frozen=True)
class RunOptions:
    """How a run is carried out, as the public functions name it."""

    method: MethodName | Auto
    device: Devices
    reduce: ReduceName
    batch: int | str
    bucket_width: float | str
    threads: int | None
    memory: str | None
    dtype: DTypeName
    variant: str | None
    virtual_warp: int | None
    checkpoint: Path | None
    progress: bool


@dataclass(frozen=True)
class OutputOptions:
    """What becomes of the scores.

    Attributes
    ----------
    top : int or None
        How many are shown; None is ten in a table, and all as JSON.
    out, plot : Path or None
        Files that are written.
    as_json : bool
        Whether JSON is printed in the place of a table.
    part : (int, int), or None
        Which part of how many is computed alone.
    """

    top: int | None
    out: Path | None
    plot: Path | None
    as_json: bool
    part: tuple[int, int] | None = None

    def shown(self, n: int) -> int:
        """How many of n scores are shown."""
        if self.top is None:
            return n if self.as_json else min(n, 10)
        return min(n, self.top)


@dataclass(frozen=True)
class MapOptions:
    """A map of the scores, and where the vertices are."""

    plot_map: Path | None
    coordinates: Path | None


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


def _column(ctx: click.Context, param: click.Parameter, value: str | None) -> int | str | None:
    return int(value) if value is not None and value.isdecimal() else value


def _two_columns(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[int | str | None, int | str | None] | None:
    if value is None:
        return None
    columns = [_column(ctx, param, column.strip()) for column in value.split(",")]
    if len(columns) != 2:
        raise click.BadParameter(shortened(f"{value!r} is not two columns, such as 1,2 or from,to"), ctx, param)
    return columns[0], columns[1]


def _devices(ctx: click.Context, param: click.Parameter, value: str) -> str | list[int]:
    numbers = [part.strip() for part in value.split(",")]
    if all(map(str.isdecimal, numbers)):
        return [int(number) for number in numbers]
    if value not in DEVICES:
        raise click.BadParameter(
            shortened(f"{value!r} is none of {', '.join(DEVICES)}, and no numbers of GPUs"), ctx, param
        )
    return value


def _part(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, int] | None:
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
batch_option = click.option(
    "--batch",
    callback=_number_or_auto(int, "an integer from 1 on"),
    metavar="N|auto",
    default="auto",
    show_default=True,
    help="Roots at a time.",
)
bucket_width_option = click.option(
    "--bucket-width",
    callback=_number_or_auto(float, "a length, finite and > 0"),
    metavar="LENGTH|auto",
    default="auto",
    show_default=True,
    help="Of Delta-stepping, with --weighted or --strength.",
)
dtype_option = click.option(
    "--dtype",
    type=click.Choice(["float64", "float32"]),
    default="float64",
    show_default=True,
    help="Type of path counts; float32 on the GPU only.",
)
threads_option = click.option(
    "--threads", type=click.IntRange(1), help="CPU threads.  [default: as many as there are cores]"
)
memory_option = click.option(
    "--memory", metavar="SIZE", help="What the run may take, e.g. 8GB.  [default: half of what is free]"
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON, for scripts.")
progress_option = click.option(
    "--progress/--no-progress", default=None, callback=_is_terminal, help="[default: on if stderr is a terminal]"
)


def plot_option(drawn: str) -> Callable[[_Function], _Function]:
    """Declare the option that draws something."""
    return click.option("--plot", type=click.Path(path_type=Path), help=f"Draw {drawn}: .png, .pdf or .svg.")


def _record(kind: type, parameter: str, *declarations: Callable[[_Function], _Function]) -> Callable[..., _Function]:
    """Declare options, and hand their values to the command as one record."""

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


takes_graph = _record(
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
        callback=_two_columns,
        help="Of an edge list: the columns of source and target, from 1 on or by their titles.  [default: told by the "
        "first lines]",
    ),
    click.option(
        "--length",
        metavar="COLUMN",
        callback=_column,
        help="Its column of values, or in GraphML the attribute.",
    ),
    click.option("--header/--no-header", default=None, help="Whether its first line has titles."),
    click.option("--names", is_flag=True, help="Its vertices are names, also where they look like integers."),
)

takes_sample = _record(
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

takes_run = _record(
    RunOptions,
    "run",
    click.option(
        "--method",
        default="auto",
        show_default=True,
        shell_complete=complete_method,
        help="A row of the table that lagbc info prints.",
    ),
    click.option(
        "--device",
        callback=_devices,
        metavar="NAME|I[,I...]",
        default="auto",
        show_default=True,
        shell_complete=complete_device,
        help="Where to compute: cpu, cuda, all for all GPUs, or the numbers of some.",
    ),
    click.option(
        "--reduce",
        type=click.Choice(["auto", "none", "all"]),
        default="auto",
        show_default=True,
        help="What of the graph is not swept, as its structure gives it: what pays, nothing, or all that can be.",
    ),
    batch_option,
    bucket_width_option,
    threads_option,
    memory_option,
    dtype_option,
    click.option("--variant", help="Which of its ways a traversal on the GPU takes."),
    click.option("--virtual-warp", type=int, help="Threads that share the edges of a vertex in some traversals."),
    click.option(
        "--checkpoint", type=click.Path(path_type=Path), help="Keep the state here (.npz), and go on from it."
    ),
    progress_option,
)

takes_output = _record(
    OutputOptions,
    "output",
    click.option(
        "--top", type=click.IntRange(0), help="How many of the highest to print.  [default: 10; with --json all]"
    ),
    click.option("--out", type=click.Path(path_type=Path), help="Write all scores: a .npy array or a .csv table."),
    plot_option("scores of vertices"),
    json_option,
    click.option(
        "--part",
        metavar="I/N",
        callback=_part,
        help="Compute only the I-th of N parts, and write its sums to --out FILE.npz; lagbc merge makes scores of all.",
    ),
)

takes_map = _record(
    MapOptions,
    "map_options",
    click.option(
        "--plot-map",
        type=click.Path(path_type=Path),
        help="Draw a map of the scores, a panel for each column: .png, .pdf or .svg.",
    ),
    click.option(
        "--coordinates",
        type=click.Path(path_type=Path),
        help="For --plot-map: a table of vertex, x and y, or of vertex, lon and lat.  [default: attributes x and y of "
        "the vertices of a GraphML file]",
    ),
)
