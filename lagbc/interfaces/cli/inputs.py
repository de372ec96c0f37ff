"""The inputs of a command: its graph, and the vertices, numbers, trips and coordinates that files hold for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lagbc.errors import InvalidValueError, MissingFileError, quantity
from lagbc.interfaces.cli.options import GraphOptions
from lagbc.interfaces.cli.terminal import note

if TYPE_CHECKING:
    from lagbc.call import Call as Planned
    from lagbc.graph.coordinates import Coordinates
    from lagbc.graph.graph import Graph
    from lagbc.interfaces.cli.terminal import Steps
    from lagbc.io.graph_file import GraphFile
    from lagbc.io.tables import Vertices


# Begins the name of a file of vertices.
_FILE = "@"


@dataclass(eq=False)
class Source:
    """A graph file, with its direction, and the use of its values, "lengths", "strengths" or None."""

    file: GraphFile
    directed: bool
    lengths: str | None
    title: str

    @property
    def weighted(self) -> bool:
        """Whether values are used."""
        return self.lengths is not None

    @cached_property
    def graph(self) -> Graph:
        """The graph of the file; rank 0 of a grid puts the graph of all parts in its place."""
        from lagbc.graph.validate import as_graph

        strength = self.file.strengths
        return as_graph(self.file, directed=self.directed, weighted=self.weighted, strength=strength, copy=False)

    @property
    def vertex_names(self) -> Any:
        """The names of its vertices, or else their numbers, as an array."""
        import numpy as np

        return np.arange(self.file.rows.shape[0]) if self.file.labels is None else self.file.labels

    @cached_property
    def vertices(self) -> Vertices:
        """The vertices of the graph, by their names."""
        from lagbc.io.tables import Vertices

        return Vertices(self.file.rows.shape[0], self.file.labels)


class Dealing(NamedTuple):
    """The dealing of a graph over ranks: options of the grid, sums of the call, and whether trees are folded."""

    how: Any
    sums: Callable[[], frozenset[str]]
    folds: bool = False

    @classmethod
    def of_run(cls, run: dict[str, Any], sums: Callable[[], frozenset[str]]) -> Dealing | None:
        """Move the options of a grid out of the options of a run; return None without a grid."""
        how = {name: run.pop(name, None) for name in ("grid", "overlap")}
        return None if how["grid"] is None else cls(how | {"device": run["device"]}, sums)


def deal_source(options: GraphOptions, steps: Steps, dealing: Dealing, lead: Callable[[Source], None]) -> None:
    """Read the graph, each rank a part, deal it over the ranks, and call `lead` with it on rank 0."""
    from lagbc.grid.run import Call, Part, on_grid, take_part
    from lagbc.interfaces.process import ranks
    from lagbc.options import of_grid

    if (comm := ranks()) is None:
        raise InvalidValueError("--grid deals a graph over ranks; start them: mpiexec -n 4 lagbc bc FILE --grid 2x2")
    opened = list[Source]()
    given: Any = {**dealing.how, "comm": comm}
    of_ranks = of_grid(given)
    assert of_ranks is not None

    def open_part() -> Part:
        source = open_source(options, steps, (comm.Get_rank(), comm.Get_size()))
        opened.append(source)
        return take_part(source.file, source.directed, source.weighted)

    def lead_with(graph: Graph) -> None:
        opened[0].graph = graph
        lead(opened[0])

    on_grid(of_ranks, Call(options.name, dealing.sums, dealing.folds), open_part, lead_with)


def open_source(options: GraphOptions, steps: Steps, part: tuple[int, int] | None = None) -> Source:
    """Read the graph, or a part of it; note if edges go one way because the format tells no direction."""
    from lagbc.io.read import read_graph
    from lagbc.io.source import EXAMPLE

    name = options.name
    with steps.step(f"reading {name}", "B"):
        file = read_graph(name, strengths=options.strength, progress=steps.progress, part=part, **options.columns)
    if options.directed is None and not file.tells_direction:
        note(f"the format, {file.format}, tells no direction: edges go one way (--undirected takes them both ways)")
    return Source(
        file=file,
        directed=file.directed if options.directed is None else options.directed,
        lengths=options.lengths,
        title=name.removeprefix(EXAMPLE) if name.startswith(EXAMPLE) else Path(name).name,
    )


def read_arguments(given: dict[str, Any], source: Source) -> dict[str, Any]:
    """Replace texts and names of files by the vertices and arrays in them."""
    read = dict(given)
    vertices = source.vertices
    for name in ("sources", "targets", "vertices", "u"):
        if given.get(name) is not None:
            read[name] = _read_vertices(given[name], vertices)
    for name in ("source_weights", "target_weights", "states"):
        if given.get(name) is not None:
            read[name] = _read_weights(name, given[name], vertices)
    if given.get("demand") is not None:
        from lagbc.io.tables import read_trips

        read["demand"] = read_trips(given["demand"], vertices)
    return read


def _read_vertices(text: str, vertices: Vertices) -> list[Any]:
    from lagbc.io.tables import read_vertices, vertices_in

    if not text.startswith(_FILE):
        return vertices_in(text, vertices)
    path = Path(text.removeprefix(_FILE))
    if not path.exists():
        raise MissingFileError(f"there is no file {str(path)!r} of vertices, for {text}; write names without @")
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


def find_coordinates(path: Path | None, source: Source) -> Coordinates:
    """Return the coordinates of the vertices: of a file, if one is named, else those of the graph."""
    from lagbc.graph.coordinates import as_coordinates
    from lagbc.io.tables import read_coordinates

    file = source.file
    found = file.coordinates
    if path is not None:
        found = read_coordinates(path, file.rows.shape[0], file.labels)
    if found is None:
        raise InvalidValueError(f"{file.name} does not say where its vertices are: give --coordinates FILE")
    return as_coordinates(found, file, source.graph, "--coordinates")


def file_layout(source: Source) -> str:
    """Return the format, and the layout of an edge list, in one line."""
    return f"{source.file.format}: {source.file.said}" if source.file.said else source.file.format


def headline(source: Source) -> str:
    """Return the title and the size in one line."""
    from lagbc.graph.names import size_in_words

    graph = source.graph
    return f"{source.title}: {size_in_words(graph.n, graph.nnz, directed=graph.directed)}"


def title_lines(source: Source) -> list[str]:
    """Return a line of title and size, and for an edge list a line of its layout."""
    return [headline(source), file_layout(source)] if source.file.said else [headline(source)]


def method_and_reason(call: Planned) -> str:
    """Return the method of a call and its reason, a line for each part of the reason that ends in a semicolon."""
    parts = re.split(r"; (?![^()]*\))", call.reason)
    return "\n  ".join([f"method: {call.plan.method} on {call.plan.device}", *parts])


def has_weights(source: Source) -> bool:
    """Whether the stored values differ."""
    values = source.file.rows.data
    return len(values) > 0 and bool((values != values[0]).any())


def weight_lines(source: Source) -> list[str]:
    """Return lines on the use of the stored values; none if they are ignored and all the same."""
    if not source.weighted:
        ignored = (
            "weights: ignored; paths are counted in hops (--weighted takes them as lengths, --strength as strengths)"
        )
        return [ignored] if has_weights(source) else []
    meaning = "w, taken as lengths 1 / w" if source.file.strengths else "of edges"
    taken = f"weights: {source.lengths} {meaning}"
    return [taken] if has_weights(source) else [taken, "weights: all are the same"]


def degrees_of(graph: Graph) -> list[tuple[str, Any]]:
    """Return the degrees by their titles."""
    if graph.directed:
        return [("out-degree", graph.out_degrees), ("in-degree", graph.in_degrees)]
    return [("degree", graph.out_degrees)]
