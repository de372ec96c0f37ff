"""Parquet: a table of edges, read by pyarrow, a piece at a time."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from lagbc.errors import GraphFormatError, InvalidTypeError, InvalidValueError, MissingDependencyError
from lagbc.io.columns import Columns
from lagbc.io.edge_table import Edges, chosen_columns, edge_table
from lagbc.io.formats import reader
from lagbc.io.graph_file import GraphFile, compressed
from lagbc.io.held import PIECE
from lagbc.io.source import Source

# Peak bytes of an edge while it is read and its matrix is made, as of an edge list.
_BYTES_PER_EDGE = 44


@reader("Parquet", suffixes=(".parquet",), begins=re.compile(rb"PAR1"), takes=("ends", "length"))
def read_parquet(source: Source, largest: bool, named: Columns) -> GraphFile:
    """Read the columns of edges of a table."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        file = PurePath(source.name).name
        raise MissingDependencyError(
            f"{source.name}: Parquet is read by pyarrow (pip install pyarrow); or in Python by polars: "
            f"edges = polars.read_parquet({file!r}); lagbc.graph_from_edges(edges, directed=False)"
        ) from error
    try:
        with source.open() as stream, parquet.ParquetFile(stream) as file:
            return _read_edges(source, file, largest, named)
    except (pyarrow.ArrowException, InvalidTypeError, InvalidValueError, OSError) as error:
        raise GraphFormatError(f"{source.name}: {error}") from error


def _read_edges(source: Source, file: Any, largest: bool, named: Columns) -> GraphFile:
    import pyarrow

    schema = file.schema_arrow
    are_numbers = [pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) for kind in schema.types]
    (tail, head), length = chosen_columns(source.name, schema.names, are_numbers, named)
    places = [tail, head] if length is None else [tail, head, length]
    titles = [schema.names[place] for place in places]
    if twice := next((title for title in titles if schema.names.count(title) > 1), None):
        raise GraphFormatError(f"{source.name} has several columns called {twice!r}; each has a title of its own")
    batches = (batch.select(titles) for batch in file.iter_batches(PIECE, columns=titles))
    reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema([schema.field(title) for title in titles]), batches)
    with edge_table(source.name, reader, Columns(ends=(1, 2), length=None if length is None else 3)) as table:
        edges = Edges(table.titles)
        for piece in table.pieces():
            edges.add(*piece)
            needed = _BYTES_PER_EDGE * edges.count + edges.most_bytes
            source.require(needed, f"a table of {edges.count:,} edges or more")
    labels, tails, heads, lengths = edges.numbered()
    matrix, repeats = compressed(len(labels), tails, heads, lengths, directed=True, largest=largest)
    values = "" if length is None else f", values in {table.titles.length}"
    kind = "integers" if labels.dtype.kind == "i" else "names"
    return GraphFile(
        matrix,
        True,
        "Parquet",
        labels,
        said=f"{kind} in {table.titles.source} and {table.titles.target}{values}",
        tells_direction=False,
        has_values=length is not None,
        length_hint="length= says which column has them",
        repeats=repeats,
    )
