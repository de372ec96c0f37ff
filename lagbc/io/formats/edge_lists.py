"""Lists of edges: a text of an edge a line, between integers or names; and Parquet, a table of an edge a row."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import GraphFormatError, InvalidTypeError, InvalidValueError, needed
from lagbc.io.edges import Edges, EdgeTable, Titles, chosen_columns, numeric_columns
from lagbc.io.formats import reader
from lagbc.io.graph_file import BadLength, GraphFile, bad_lengths, compressed
from lagbc.io.layout import Columns, Layout, recognise
from lagbc.io.scan import Integers, Lines, Names, quoted
from lagbc.io.source import Source

# Peak bytes an edge, without lengths and with them, until its matrix is made: of a list, directed and not; of a table.
_BYTES_PER_EDGE, _BYTES_PER_UNDIRECTED_EDGE, _BYTES_PER_ROW = (46, 82), (104, 152), 44
# Rows of Parquet that are read at a time.
_BATCH = 1 << 16


@reader("edge list", takes=("ends", "length", "header", "names"))
def read_edge_list(source: Source, largest: bool, named: Columns) -> GraphFile:
    """Read an edge list, with lengths or without."""
    layout = recognise(source, named)
    graph = read_edges(layout).to_graph(largest)
    if layout.in_doubt and (name := _title_below(layout, graph.labels)) is not None:
        graph = read_edge_list(source, largest, replace(named, header=False))
        again = f"the first line is taken for an edge, as {quoted(name)} is below, too; header=True takes it for titles"
        graph = replace(graph, notices=(*graph.notices, again))
    return graph


def read_edges(layout: Layout) -> ListedEdges:
    """Read the edges of a list, piece by piece; MemoryError says that those so far exceed the budget of the source."""
    edges, source = ListedEdges(layout), layout.source
    per_edge = (_BYTES_PER_EDGE if layout.directed else _BYTES_PER_UNDIRECTED_EDGE)[layout.length is not None]
    for line, piece in source.pieces():
        edges.add_lines(line, layout.prepared(line, piece))
        edges.require_room(source, per_edge, f"list of {{:,}} {layout.content.row}s")
    return edges


def _title_below(layout: Layout, labels: Any) -> bytes | None:
    """Return a title of the ends that is also the name of a vertex; None without one."""
    titles = [title for end in layout.ends for title in layout.titles[end : end + 1]]
    return next((title for title in titles if (labels == title.decode("utf-8", "replace")).any()), None)


class ListedEdges(Edges):
    """The edges of a list, read so far."""

    def __init__(self, layout: Layout) -> None:
        length = None if layout.length is None else "length"
        super().__init__(Titles("source", "target", length), Names() if layout.names else Integers())
        self.layout = layout
        self.comments = 0
        self.bad_length: BadLength | None = None
        self._types = Names()  # the values of the column that tells the direction

    def add_lines(self, line: int, piece: bytes) -> None:
        """Add the edges in whole lines; `line` numbers the first."""
        layout = self.layout
        lines = self._lines(piece)
        tail_names, head_names, *others = lines.fields
        lengths = None if layout.length is None else lines.floats(2)
        tails, heads, wrong_end = self.number(tail_names, head_names, lengths)
        lines.refuse(wrong_end)
        if layout.type is not None:
            types, _, wrong_type = self._types.number(others[-1], others[-1])
            lines.refuse(int(types.argmax()) if types.any() else wrong_type)
        if lines.wrong >= 0:
            layout.refuse(line + lines.wrong, piece.split(b"\n")[lines.wrong])
        if lengths is not None and self.bad_length is None and len(bad := bad_lengths(tails, heads, lengths)):
            e = int(bad[0])
            edge = f"the edge {tail_names.text_in(e)} -> {head_names.text_in(e)}"
            self.bad_length = BadLength(line + int(lines.numbers[e]), edge, float(lengths[e]))
        self.comments += lines.comments

    def _lines(self, piece: bytes) -> Lines:
        layout = self.layout
        wanted = [column for column in (*layout.ends, layout.length, layout.type) if column is not None]
        return Lines(piece, layout.separator, layout.columns, wanted, glued=not layout.names)

    def line_of(self, edge: int) -> tuple[int, bytes]:
        """Return number and text of the line of an edge, from the file, which is read again."""
        for line, piece in self.layout.source.pieces():
            prepared = self.layout.prepared(line, piece)
            numbers = self._lines(prepared).numbers
            if edge < len(numbers):
                return line + int(numbers[edge]), prepared.split(b"\n")[numbers[edge]]
            edge -= len(numbers)
        raise AssertionError

    def numbered(self) -> tuple[Any, NDArray[np.int32], NDArray[np.int32], NDArray[np.float64] | None]:
        """Return the names of the vertices, the numbers of tails and heads, and the lengths; the edges are freed."""
        try:
            return super().numbered()
        except UnicodeDecodeError:
            for line, text in self.layout.source.lines():
                if text.lstrip()[:1] not in (b"#", b"%"):
                    self.layout.source.require_utf8(line, text)
            raise

    def to_graph(self, largest: bool) -> GraphFile:
        """Make a graph of the edges read, and free these."""
        layout = self.layout
        labels, tails, heads, lengths = self.numbered()
        notices = self._doubt_notices(tails, heads, labels)
        matrix, repeats = compressed(labels.size, tails, heads, lengths, directed=layout.directed, largest=largest)
        return GraphFile(
            matrix,
            layout.directed,
            "edge list",
            labels,
            notices,
            said=layout.said(self.comments),
            bad_length=self.bad_length,
            tells_direction=bool(layout.mark),
            has_values=layout.length is not None,
            length_hint="length= says which column has them",
            repeats=repeats,
        )

    def _doubt_notices(self, tails: NDArray[np.int32], heads: NDArray[np.int32], labels: Any) -> tuple[str, ...]:
        """Return a notice that the first line was taken for an edge, if none of its names occurs again."""
        if not self.layout.in_doubt or self.layout.titles or self.count == 1:
            return ()
        first = tails[0], heads[0]
        if sum(np.count_nonzero((ends == first[0]) | (ends == first[1])) for ends in (tails, heads)) > 2:
            return ()
        tail, head = (quoted(labels[end].encode()) for end in first)
        return (
            f"the first line is taken for an edge, {tail} to {head}, although none of the names occurs again; "
            "header=True takes it for titles, header=False for an edge without this warning",
        )


@reader("Parquet", suffixes=(".parquet",), begins=re.compile(rb"PAR1"), takes=("ends", "length"))
def read_parquet(source: Source, largest: bool, named: Columns) -> GraphFile:
    """Read the columns of edges of a table."""
    with needed(f"{source.name}: Parquet is read by pyarrow", "pyarrow", "arrow"):
        import pyarrow
        from pyarrow import parquet
    try:
        with source.open() as stream, parquet.ParquetFile(stream) as file:
            return _read_table(source, file, largest, named)
    except (pyarrow.ArrowException, InvalidTypeError, InvalidValueError, OSError) as error:
        raise GraphFormatError(f"{source.name}: {error}") from error


def _read_table(source: Source, file: Any, largest: bool, named: Columns) -> GraphFile:
    import pyarrow

    schema = file.schema_arrow
    (tail, head), length = chosen_columns(source.name, schema.names, numeric_columns(schema), named)
    places = [tail, head] if length is None else [tail, head, length]
    titles = [schema.names[place] for place in places]
    if twice := next((title for title in titles if schema.names.count(title) > 1), None):
        raise GraphFormatError(f"{source.name} has several columns called {twice!r}; each has a title of its own")
    batches = (batch.select(titles) for batch in file.iter_batches(_BATCH, columns=titles))
    reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema([schema.field(title) for title in titles]), batches)
    table = EdgeTable(source.name, reader, Columns(ends=(1, 2), length=None if length is None else 3))
    edges = table.edges(lambda edges: edges.require_room(source, _BYTES_PER_ROW, "table of {:,} edges"))
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
