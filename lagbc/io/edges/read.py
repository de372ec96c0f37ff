"""Edge lists: read a piece at a time, by the compiled loops over their bytes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from lagbc.io.columns import Columns
from lagbc.io.edges import vertices
from lagbc.io.edges.fields import shown
from lagbc.io.edges.layout import Layout, recognise
from lagbc.io.graph_file import BadLength, GraphFile, compressed, repeat_notices
from lagbc.io.scan import Field, read_floats, split_lines
from lagbc.io.source import Source

# Peak bytes of an edge while it is read and its matrix is made, and of an undirected edge's way back.
_BYTES_PER_EDGE, _BYTES_BACK = 44, 36


def read_edge_list(source: Source, strengths: bool, said: Columns) -> GraphFile:
    """Read an edge list, with lengths or without."""
    layout = recognise(source, said)
    edges = _Edges(layout)
    per_edge = _BYTES_PER_EDGE + (0 if layout.directed else _BYTES_BACK)
    for line, piece in source.pieces():
        edges.add(line, layout.prepared(line, piece))
        source.require(per_edge * edges.count + edges.vertices.most_bytes, f"a list of {edges.count:,} edges or more")
    graph = edges.file(strengths)
    if layout.in_doubt and (name := _title_below(layout, graph.labels)) is not None:
        graph = read_edge_list(source, strengths, replace(said, header=False))
        again = f"the first line is taken for an edge, as {shown(name)} is below, too; header=True takes it for titles"
        graph = replace(graph, notices=(*graph.notices, again))
    return graph


def _title_below(layout: Layout, labels: Any) -> bytes | None:
    """Return a title of the ends that is the name of a vertex, if there is one."""
    titles = [layout.titles[end] for end in layout.ends] if layout.titles else []
    return next((title for title in titles if (labels == title.decode("utf-8", "replace")).any()), None)


@dataclass
class _Edges:
    """The edges read so far, in pieces."""

    layout: Layout
    tails: list[NDArray[np.int32]] = field(default_factory=list)
    heads: list[NDArray[np.int32]] = field(default_factory=list)
    lengths: list[NDArray[np.float64]] = field(default_factory=list)
    count: int = 0
    comments: int = 0
    bad_length: BadLength | None = None

    def __post_init__(self) -> None:
        self.vertices = vertices.Names() if self.layout.names else vertices.Integers()

    def add(self, line: int, piece: bytes) -> None:
        """Read whole lines, the first of which has this number."""
        layout = self.layout
        wanted = [*layout.ends] if layout.length is None else [*layout.ends, layout.length]
        text, fields, lines, comments, wrong = split_lines(
            piece, layout.separator, layout.columns, wanted, glued=not layout.names
        )
        # Tail and head of an edge follow each other, so that names are met in the order of the text.
        ends, wrong_end = self.vertices.number(
            text, *(np.stack(one, axis=1).ravel() for one in zip(*fields[:2], strict=True))
        )
        lengths, wrong_length = read_floats(text, *fields[2]) if layout.length is not None else (None, -1)
        refused = [lines[e] for e in (wrong_end // 2, wrong_length) if e >= 0]
        if refused or wrong >= 0:
            first = int(min(refused, default=wrong))
            layout.refuse(line + first, piece.split(b"\n")[first])
        self.tails.append(ends[::2].copy())
        self.heads.append(ends[1::2].copy())
        if lengths is not None:
            self.lengths.append(lengths)
            self.bad_length = self.bad_length or self._bad_length(line + lines, text, fields)
        self.count += len(lines)
        self.comments += comments

    def _bad_length(self, lines: NDArray[np.int64], text: NDArray[np.uint8], fields: list[Field]) -> BadLength | None:
        """Return the first value of an edge of the last piece that is no length."""
        lengths = self.lengths[-1]
        wrong = ~(np.isfinite(lengths) & (lengths > 0)) & (self.tails[-1] != self.heads[-1])
        if not wrong.any():
            return None
        e = int(np.argmax(wrong))
        tail, head = (text[starts[e] : stops[e]].tobytes().decode("utf-8", "replace") for starts, stops in fields[:2])
        return BadLength(int(lines[e]), f"the edge {tail} -> {head}", float(lengths[e]))

    def file(self, strengths: bool) -> GraphFile:
        """Make a matrix of them."""
        layout = self.layout
        ends = np.concatenate([*self.tails, *self.heads])
        self.tails.clear()
        self.heads.clear()
        try:
            labels = self.vertices.labelled(ends)
        except UnicodeDecodeError:
            _refuse_other_text(layout.source)
        notices = self._doubts(ends, labels)
        lengths = np.concatenate(self.lengths) if layout.length is not None else None
        self.lengths.clear()
        tails, heads = np.split(ends, 2)
        matrix, repeats = compressed(labels.size, tails, heads, lengths, directed=layout.directed, largest=strengths)
        notices += repeat_notices(repeats, largest=strengths)
        said = layout.said(self.comments)
        return GraphFile(
            matrix,
            layout.directed,
            "edge list",
            labels,
            notices,
            said=said,
            bad_length=self.bad_length,
            tells_direction=bool(layout.mark),
            has_values=layout.length is not None,
        )

    def _doubts(self, ends: NDArray[np.int32], labels: Any) -> tuple[str, ...]:
        """Say that the first line was taken for an edge, if none of its names occurs again."""
        if not self.layout.in_doubt or self.layout.titles or self.count == 1:
            return ()
        first = ends[0], ends[self.count]
        if np.count_nonzero((ends == first[0]) | (ends == first[1])) > 2:
            return ()
        tail, head = (shown(labels[end].encode()) for end in first)
        return (
            f"the first line is taken for an edge, {tail} to {head}, although none of the names occurs again; "
            "header=True takes it for titles, header=False for an edge without this warning",
        )


def _refuse_other_text(source: Source) -> NoReturn:
    for line, text in source.lines():
        try:
            text.decode("utf-8")
        except UnicodeDecodeError:
            if text.lstrip()[:1] not in (b"#", b"%"):
                source.fail(line, "text that is not UTF-8", text, "names in UTF-8 (iconv -f latin1 -t utf-8 makes it)")
    raise AssertionError
