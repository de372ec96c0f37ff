"""Maps drawn by commands: `--plot-map` and `--coordinates`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lagbc.errors import InvalidValueError
from lagbc.interfaces.cli.outputs import check_outputs

if TYPE_CHECKING:
    from lagbc.graph.coordinates import Coordinates
    from lagbc.interfaces.cli.graphs import Source
    from lagbc.interfaces.cli.options import MapOptions


def check_map(options: MapOptions) -> None:
    """Raise the error of a map that cannot be written, before the graph is read."""
    if options.coordinates is not None and options.plot_map is None:
        raise InvalidValueError(f"--coordinates {options.coordinates} goes with --plot-map, which draws a map")
    check_outputs(None, options.plot_map)


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
