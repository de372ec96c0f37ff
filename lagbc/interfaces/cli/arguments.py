"""The arguments of centralities as options of commands: their declarations, and the files and vertices they name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lagbc.errors import InvalidValueError, MissingFileError, quantity, shortened
from lagbc.interfaces.cli.completion import complete_file
from lagbc.interfaces.cli.options import NO_SAMPLE, MapOptions, SampleOptions
from lagbc.interfaces.cli.text import note

if TYPE_CHECKING:
    from lagbc.graph.coordinates import Coordinates
    from lagbc.interfaces.cli.graphs import Source
    from lagbc.io.tables import Vertices

_Function = Callable[..., Any]

# Prefix of the name of a file, in place of vertices.
_FILE = "@"


def _parse_numbers(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[float] | float | None:
    """Parse the numbers of an option that may be given more than once."""
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


def _vertex_option(name: str, meaning: str) -> Callable[[_Function], _Function]:
    told = f"{meaning}; or a file of them. Names that hold commas in quotes: '\"Lee, C.\"'."
    return click.option(f"--{name}", metavar="V[,V...]|@FILE", help=told)


def _weight_option(name: str, meaning: str, *, required: bool = False) -> Callable[[_Function], _Function]:
    return click.option(
        f"--{name}",
        metavar="FILE[:COLUMN]",
        shell_complete=complete_file,
        required=required,
        help=f"{meaning}: lines of a vertex and a number >= 0, or a .npy array; vertices that are left out have 0.",
    )


# Options by the names of their arguments in Python.
_ARGUMENTS = {
    "sources": _vertex_option("sources", "Only paths that begin at these vertices"),
    "targets": _vertex_option("targets", "Only paths that end at these"),
    "vertices": _vertex_option("vertices", "Scores of these vertices alone"),
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

    def declare(command: _Function) -> _Function:
        for name, option in reversed(_ARGUMENTS.items()):
            if name in names:
                command = option(command)
        return command

    return declare


def read_arguments(given: dict[str, Any], source: Source, sample: SampleOptions = NO_SAMPLE) -> dict[str, Any]:
    """Replace names of files and texts by the arrays and vertices in them."""
    read = dict(given)
    vertices = source.vertices
    for name in ("sources", "targets", "vertices"):
        if given.get(name) is not None:
            read[name] = _read_vertices(given[name], vertices)
    for name in ("source_weights", "target_weights", "states"):
        if given.get(name) is not None:
            read[name] = _read_weights(name, given[name], vertices)
    if given.get("demand") is not None:
        read["demand"] = _read_trips(given["demand"], vertices, sample)
    return read


def _read_vertices(text: str, vertices: Vertices) -> list[Any]:
    from lagbc.io.tables import read_vertices, vertices_in

    if not text.startswith(_FILE):
        return vertices_in(text, vertices)
    path = Path(text.removeprefix(_FILE))
    if not path.exists():
        raise MissingFileError(
            f"there is no file {str(path)!r}, of which {text} has the vertices; write names without @"
        )
    return read_vertices(path, vertices)


def _read_weights(name: str, text: str, vertices: Vertices) -> Any:
    from lagbc.io.tables import read_numbers

    path, _, column = (text, "", "") if Path(text).exists() else text.rpartition(":")
    if not path:
        path, column = text, ""
    numbers, named = read_numbers(Path(path), column or None, vertices)
    if named < vertices.n:
        among = f"{quantity(named, 'vertex', 'vertices')} of {vertices.n:,}"
        note(f"{path} names {among}; the others have 0 ({name.replace('_', ' ')})")
    return numbers


def _read_trips(path: Path, vertices: Vertices, sample: SampleOptions) -> Any:
    from lagbc.io.trips import read_trips

    if sample.k is not None:
        raise InvalidValueError("demand= says how often each pair of vertices counts; leave out k=")
    return read_trips(path, vertices)


def find_coordinates(options: MapOptions, source: Source) -> Coordinates | None:
    """Return the coordinates of the vertices, before the computation; None if no map is drawn."""
    if options.plot_map is None:
        return None
    from lagbc.graph.coordinates import as_coordinates
    from lagbc.io.tables import read_coordinates

    file = source.file
    found = file.coordinates
    if options.coordinates is not None:
        found = read_coordinates(options.coordinates, file.rows.shape[0], file.labels)
    if found is None:
        raise InvalidValueError(f"{file.name} does not say where its vertices are: give --coordinates FILE")
    return as_coordinates(found, file, source.graph)
