"""Options of commands, each declared once; most reach a command in a record."""

from __future__ import annotations

import glob
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from lagbc.errors import Error, shortened
from lagbc.interfaces.cli.terminal import in_options
from lagbc.io.source import EXAMPLE, example_names
from lagbc.options import OPTIONS, Option

GRAPH_HELP = """GRAPH is a Matrix Market file, a SciPy .npz, an edge list, Parquet, METIS, GraphML, GML, GEXF or Pajek,
plain or in gzip, or example:NAME for a network that comes with lagbc. Vertices keep the ids or names of the file; in
Matrix Market, .npz and METIS they are the rows of the matrix, counted from 0."""

_Function = Callable[..., Any]


class GraphOptions(NamedTuple):
    """The graph of a command, its direction, the use of its values, and the columns of its file."""

    name: str
    directed: bool | None
    weighted: bool
    strength: bool
    ends: tuple[int | str, int | str] | None
    length: int | str | None
    header: bool | None
    names: bool
    memory: str | None = None  # of the process

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of the file, as arguments of `read_graph`."""
        return {"ends": self.ends, "length": self.length, "header": self.header, "names": self.names or None}

    @property
    def lengths(self) -> str | None:
        """The use of the stored values: "lengths", "strengths" or None."""
        return "strengths" if self.strength else "lengths" if self.weighted or self.length is not None else None


class OutputOptions(NamedTuple):
    """The number of scores to show, files of all scores and of a picture, and the part (number, of) of a run."""

    top: int | None = None
    out: Path | None = None
    plot: Path | None = None
    as_json: bool = False
    quiet: bool = False
    part: tuple[int, int] | None = None

    @property
    def is_shown(self) -> bool:
        """Whether a result is printed; a quiet command that writes it does not."""
        return self.as_json or not self.quiet or self.out is None

    def count_shown(self, n: int) -> int:
        """Return how many of n scores to show."""
        if not self.is_shown:
            return 0
        if self.top is None:
            return n if self.as_json else min(n, 10)
        return min(n, self.top)


def _complete_graph(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the networks that come with lagbc if the word begins their names, else files."""
    is_example = incomplete.startswith(EXAMPLE)
    if is_example or (incomplete and EXAMPLE.startswith(incomplete) and not glob.glob(glob.escape(incomplete) + "*")):
        names = (EXAMPLE + name for name in example_names())
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return [CompletionItem(incomplete, type="file")]


def _complete_method(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from lagbc.methods.table import METHODS

    names = dict.fromkeys(["auto", *(row.name for row in METHODS)])
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _complete_device(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in ("auto", "cpu", "cuda", "all") if name.startswith(incomplete)]


def _column(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _two_columns(text: str) -> tuple[int | str, int | str]:
    columns = [_column(column.strip()) for column in text.split(",")]
    if len(columns) != 2:
        raise click.BadParameter(shortened(f"{text!r} is not two columns, such as 1,2 or from,to"))
    return columns[0], columns[1]


def _part(text: str) -> tuple[int, int]:
    number, slash, of = text.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise click.BadParameter(shortened(f"{text!r} is no part and their number, such as 2/4"))
    return int(number), int(of)


def _number(text: str) -> float:
    """Return an integer as int, any other number as float."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _only_with(name: str, meaning: str) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Make a callback of an option that needs the eager option `name`; the value is 0 or False if neither is given."""

    def check(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value is not None and value is not False and ctx.params[name] is None:
            raise click.UsageError(f"{param.opts[0]} goes with --{name}, {meaning}.", ctx)
        return 0 if value is None else value

    return check


def _of_run(option: Option) -> Callable[[str], Any]:
    """Make a function that reads the text of an option of a run, and checks it by the table of options."""

    def read(text: str) -> Any:
        given: Any = text
        with suppress(ValueError):
            given = [_number(one) for one in text.split(",")] if option.name == "device" else _number(text)
        try:
            option.parse(option.name, given)
        except Error as error:
            said = str(error).replace(repr(given), repr(text), 1)
            raise click.UsageError(in_options(said, click.get_current_context().command)) from None
        return given

    return read


seed_option = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws the roots.")
# Settings of click for options of a run.
_SETTINGS: dict[str, dict[str, Any]] = {
    "method": {"shell_complete": _complete_method},
    "device": {"shell_complete": _complete_device},
    "threads": {"type": click.IntRange(1)},
    "checkpoint": {"type": click.Path(path_type=Path)},
    "progress": {
        "default": None,
        "show_default": False,
        "callback": lambda ctx, _, on: sys.stderr.isatty() and not ctx.params.get("quiet") if on is None else on,
    },
}
_OF_NUMBERS = ("device", "batch", "bucket_width")


def _run_option(option: Option) -> Callable[[_Function], _Function]:
    flag = f"--{option.name.replace('_', '-')}"
    shown = {
        "default": option.default,
        "show_default": option.default is not None,
        **({"type": click.Choice(option.shown)} if isinstance(option.shown, tuple) else {"metavar": option.shown}),
    }
    if option.name in _OF_NUMBERS:
        shown["type"] = _of_run(option)
    declared = f"{flag}/--no-{option.name}" if isinstance(option.default, bool) else flag
    return click.option(declared, help=option.help, **shown | _SETTINGS.get(option.name, {}))


_RUN_OPTIONS = {option.name: _run_option(option) for option in OPTIONS if option.help}


_GRID_OPTIONS = (
    click.option(
        "--grid",
        metavar="RxC|auto",
        is_eager=True,
        help="Under mpiexec: deal the graph over ranks in R rows and C columns.",
    ),
    click.option(
        "--overlap",
        is_flag=True,
        callback=_only_with("grid", "the shape of the ranks"),
        help="With --grid: two batches in flight.",
    ),
)


def _takes_record(
    kind: Callable[..., Any], parameter: str, *declarations: Callable[[_Function], _Function]
) -> Callable[[_Function], _Function]:
    """Declare options whose values reach the command in one record, its argument `parameter`."""
    names = [option.name for option in declared(lambda: None, declarations).__click_params__]

    def declare(command: _Function) -> _Function:
        @wraps(command)
        def call(**values: Any) -> Any:
            own = {name: values.pop(name) for name in names}
            return command(**{parameter: kind(**own)}, **values)

        return declared(call, declarations)  # type: ignore[no-any-return]

    return declare


def declared(command: Any, declarations: Iterable[Callable[[_Function], _Function]]) -> Any:
    """Return a command with some declarations, as if they were its decorators, from top to bottom."""
    for declaration in reversed([*declarations]):
        command = declaration(command)
    return command


def takes_run(*names: str, grid: bool = False) -> Callable[[_Function], _Function]:
    """Declare options of a run, all by default, and of a `grid` of ranks; the command gets them in a dict `run`."""
    declarations = (_RUN_OPTIONS[name] for name in names or _RUN_OPTIONS)

    def run_of(memory: str | None = None, **own: Any) -> dict[str, Any]:
        return own  # the memory is that of the process: `GraphOptions` has it

    return _takes_record(run_of, "run", *declarations, *_GRID_OPTIONS * grid)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON, for scripts.")
quiet_option = click.option(
    "--quiet",
    is_flag=True,
    is_eager=True,
    help="Print the result alone: no introduction, times, notes and bars; if it is written to a file, nothing but "
    "warnings.",
)


def _plot_option(flag: str, drawn: str) -> Callable[[_Function], _Function]:
    formats = ".png, .pdf, .svg or another of matplotlib's formats"
    return click.option(flag, type=click.Path(path_type=Path), help=f"Draw {drawn}: {formats}.")


takes_graph = _takes_record(
    lambda **own: GraphOptions(**own, memory=click.get_current_context().params.get("memory")),
    "source",
    click.argument("name", metavar="GRAPH", shell_complete=_complete_graph),
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
        type=_two_columns,
        help="Of an edge list: the columns of source and target, from 1 on or by their titles.  [default: told by the "
        "first lines]",
    ),
    click.option(
        "--length",
        metavar="COLUMN",
        type=_column,
        help="Its column of values, or in GraphML, GML and GEXF the attribute; implies --weighted.",
    ),
    click.option("--header/--no-header", default=None, help="Whether its first line has titles."),
    click.option("--names", is_flag=True, help="Its vertices are names, also where they look like integers."),
)

takes_sample = _takes_record(
    lambda k, seed: {} if k is None else {"k": k, "rng": seed},
    "sample",
    click.option("--k", metavar="K", type=click.IntRange(1), is_eager=True, help="Estimate from K random roots."),
    click.option(
        "--seed",
        type=click.IntRange(0),
        callback=_only_with("k", "the number of roots to draw"),
        help="With --k: draws the roots.  [default: 0]",
    ),
)
error_option = click.option(
    "--error/--no-error",
    default=True,
    show_default=True,
    help="The standard error of the estimate, from ten more of at most 64 roots each.",
)

_OUT = "Write all scores: a .npy array, or a table, .csv or .parquet."
_PART = click.option(
    "--part",
    metavar="I/N",
    type=_part,
    help="Compute only the I-th of N parts, and write its sums to --out FILE.npz; lagbc merge makes scores of all.",
)


def takes_output(
    *, top: bool = False, out: str = _OUT, plot: str = "", json: bool = True, part: bool = False
) -> Callable[[_Function], _Function]:
    """Declare options of outputs; `out` is the help of `--out`, and `plot` names the drawing."""
    most = f"How many of the highest to print.  [default: 10{'; with --json all' * json}]"
    declarations: dict[Callable[[_Function], _Function], bool] = {
        click.option("--top", type=click.IntRange(0), help=most): top,
        click.option("--out", type=click.Path(path_type=Path), help=out): True,
        _plot_option("--plot", plot): bool(plot),
        json_option: json,
        quiet_option: True,
        _PART: part,
    }
    wanted = (declare for declare, is_wanted in declarations.items() if is_wanted)
    return _takes_record(OutputOptions, "output", *wanted)


def takes_map(command: _Function) -> _Function:
    """Declare the options of a map of the scores."""
    coordinates = click.option(
        "--coordinates",
        type=click.Path(path_type=Path),
        help="For maps and straightness: a table of vertex, x and y, or of vertex, lon and lat.  [default: attributes "
        "x and y of the vertices of a GraphML file]",
    )
    return _plot_option("--plot-map", "a map of the scores, a panel for each column")(coordinates(command))


def _parse_numbers(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[float] | float | None:
    if not values:
        return None
    value = ",".join(values)
    try:
        numbers = [float(part) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter(
            shortened(f"{value!r} is no number, and no numbers with commas between"), ctx, param
        ) from None
    if len(set(numbers)) < len(numbers):
        raise click.BadParameter(shortened(f"{value!r} holds a number twice; each is a column"), ctx, param)
    return numbers if len(numbers) > 1 else numbers[0]


def _vertex_option(name: str, meaning: str, argument: str | None = None) -> Callable[[_Function], _Function]:
    told = f"{meaning}; or a file of them. Names that hold commas in quotes: '\"Lee, C.\"'."
    return click.option(f"--{name}", argument or name, metavar="V[,V...]|@FILE", help=told)


def _weight_option(name: str, meaning: str, *, required: bool = False) -> Callable[[_Function], _Function]:
    return click.option(
        f"--{name}",
        metavar="FILE[:COLUMN]",
        type=click.Path(),
        required=required,
        help=f"{meaning}: lines of a vertex and a number >= 0, or a .npy array; vertices that are left out have 0.",
    )


# Options by the names of their arguments in Python.
_ARGUMENTS = {
    "sources": _vertex_option("sources", "Only paths that begin at these vertices"),
    "targets": _vertex_option("targets", "Only paths that end at these"),
    "vertices": _vertex_option("vertices", "Scores of these vertices alone"),
    "u": _vertex_option("vertices", "Scores of these vertices alone, by a search from each", "u"),
    "source_weights": _weight_option("source-weights", "How often each vertex counts as a beginning"),
    "target_weights": _weight_option("target-weights", "How often each counts as an end"),
    "states": _weight_option("states", "How far each vertex is percolated", required=True),
    "demand": click.option(
        "--demand",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Loads by trips: a table of the columns origin, destination and trips, or a matrix (.npz or .mtx) with a "
        "row for each origin.",
    ),
    "cutoff": click.option(
        "--cutoff",
        multiple=True,
        callback=_parse_numbers,
        metavar="D[,D...]",
        help="Only pairs of vertices at most so far apart, in hops or lengths; several give a column each.",
    ),
    "decay": click.option(
        "--decay",
        multiple=True,
        callback=_parse_numbers,
        metavar="B[,B...]",
        help="A pair at distance d counts exp(-B d); several give a column each, for every cutoff.",
    ),
    "normalized": click.option("--normalized", is_flag=True, help="Divide by the number of pairs, as NetworkX does."),
    "endpoints": click.option("--endpoints", is_flag=True, help="Count the two ends of a path too."),
    "wf_improved": click.option(
        "--wf-improved/--no-wf-improved",
        default=True,
        show_default=True,
        help="Scale closeness down where few vertices reach one.",
    ),
    "log2": click.option("--log2", is_flag=True, help="Base-2 logarithms of stress."),
    "rtol": click.option(
        "--rtol", type=float, help="Relative difference up to which two lengths of paths are equal; 0 by default."
    ),
}


def takes_arguments(*names: str) -> Callable[[_Function], _Function]:
    """Declare some arguments, in the order of the table above."""
    wanted = [option for name, option in _ARGUMENTS.items() if name in names]
    return lambda command: declared(command, wanted)  # type: ignore[no-any-return]
