"""Scores as tasks: of one centrality or several, of a part of a run, and of all parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.document import arguments_of, columns_in_words, estimate_of, method_of
from lagbc.interfaces.cli.graphs import degrees_of, reasoned, title_lines, weight_lines
from lagbc.interfaces.cli.outputs import columns_of, titles_of, write_array, write_edges, write_table
from lagbc.interfaces.cli.rows import Rows, rows_of_edges, rows_of_vertices
from lagbc.interfaces.cli.task import Drawing, Task
from lagbc.interfaces.cli.text import counted, left_behind, size, timing

if TYPE_CHECKING:
    import numpy as np

    from lagbc.centrality.registry import Centrality
    from lagbc.graph.coordinates import Coordinates
    from lagbc.phases import Phase
    from lagbc.plan.choose import Selection

# Names of betweenness in figures, where a unit follows; other centralities have the names of their records.
_NAMES = {"bc": "betweenness", "edge_bc": "edge betweenness"}


@dataclass(eq=False, kw_only=True)
class Scores(Task):
    """Scores of one centrality, or of several together, whose names are in the titles of columns then."""

    records: tuple[Centrality, ...]
    together: bool
    given: dict[str, Any]
    found: dict[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the centralities."""
        return [record.name for record in self.records]

    @property
    def of_edges(self) -> bool:
        """Whether the scores are of edges."""
        return any(record.of_edges for record in self.records)

    @property
    def titles(self) -> list[str]:
        """The titles of all columns."""
        titles = []
        for record in self.records:
            alone, before = (record.name, f"{record.name}, ") if self.together else ("score", "")
            titles += titles_of(alone, record.takes, self.given, before)
        return titles

    def columns(self, titles: list[str]) -> dict[str, Any]:
        """Call all columns by titles: arrays, or matrices for edges."""
        columns = [column for scores in self.found.values() for column in columns_of(scores)]
        return dict(zip(titles, columns, strict=True))

    def write(self, path: Path) -> None:
        """Write all columns."""
        columns, labels = self.columns(self.titles), self.source.file.labels
        if self.of_edges:
            write_edges(path, columns, labels)
        elif path.suffix == ".npy" and not self.together:
            write_array(path, self.found[self.names[0]])
        else:
            write_table(path, columns, labels)

    @property
    def errors(self) -> np.ndarray | None:
        """The standard errors of scores, if there are any."""
        return None

    def rows(self, titles: list[str]) -> Rows:
        """Return the rows of a table or of a document."""
        columns = self.columns(titles)
        if self.of_edges:
            return rows_of_edges(columns, self.source, self.output)
        return rows_of_vertices(columns, self.source, self.output, self.errors)

    def text(self) -> Iterator[str]:
        """Yield the table of the highest."""
        if self.output.shown(self.source.graph.n):
            degrees = {} if self.of_edges or self.together else dict(degrees_of(self.source.graph))
            yield f"\n{self.rows(self.titles).as_text(degrees)}\n"


@dataclass(eq=False, kw_only=True)
class Sweep(Scores):
    """Scores that a command computes: of arguments, which were typed, from a sample, with options of a run."""

    typed: dict[str, Any]
    sample: options.SampleOptions
    run: dict[str, Any]
    error: bool = False
    plot_map: Path | None = None
    xy: Coordinates | None = None

    @cached_property
    def choice(self) -> Selection:
        """The method of the run."""
        from lagbc.centrality.preview import select_for
        from lagbc.centrality.registry import Arguments

        how: Any = {name: value for name, value in self.run.items() if name != "batch"}
        arguments = Arguments(**self.sample.arguments, **self.given)
        return select_for(self.source.graph, self.records, self.run["batch"], how, arguments)

    @property
    def how(self) -> dict[str, Any]:
        """All arguments and options of the call."""
        direction = {"directed": self.source.directed, "weighted": self.source.weighted}
        return self.sample.arguments | self.given | self.run | direction

    def introduction(self) -> str:
        """Describe the graph, the method, the values that are taken as lengths, and the roots."""
        from lagbc.plan.request import has_rounded_inverses

        source, sample = self.source, self.sample
        lines = [*title_lines(source), reasoned(self.choice), *weight_lines(source)]
        if source.lengths == "strengths" and self.given.get("rtol", 0) is None and has_rounded_inverses(source.graph):
            lines.append("ties: lengths 1 / w are rounded; --rtol 1e-9 takes paths for ties that are in exact numbers")
        if sample.k is not None:
            roots = f"{counted(sample.k, 'random root')} of {source.graph.n:,}"
            lines.append(f"estimate from {roots} (seed {sample.seed})")
        return "\n".join(lines)

    def compute(self) -> None:
        """Compute the scores."""
        self.found = self._computed(self.how)

    def _computed(self, how: dict[str, Any]) -> dict[str, Any]:
        """Call the public function of a centrality; `centralities` for several, or for a record without a function."""
        import lagbc
        from lagbc.centrality.declare import FUNCTIONS

        graph: Any = self.source.graph
        names: Any = self.names
        if self.together or names[0] not in FUNCTIONS:
            return dict(lagbc.centralities(graph, names, **how))
        return {names[0]: getattr(lagbc, names[0])(graph, **how)}

    def left_behind(self) -> str:
        """Describe the checkpoint."""
        return left_behind(self.run["checkpoint"])

    def document(self) -> dict[str, Any]:
        """Return the parts of the document."""
        columns = columns_in_words({record.name: record.takes for record in self.records}, self.given)
        return {
            "command": "centralities" if self.together else self.names[0],
            "method": method_of(self.choice),
            "estimate": estimate_of(self.source, self.sample),
            "arguments": arguments_of(self.typed),
            "columns": columns,
            "scores": self.rows(list(columns)).as_json(),
        }

    @property
    def errors(self) -> np.ndarray | None:
        """The standard errors of an estimate, if they are told."""
        return self._told[0]

    def text(self) -> Iterator[str]:
        """Yield the table of the highest, and a sentence on the standard errors."""
        for table in super().text():
            yield table if self.together else table.removesuffix("\n")
        if self._told[1]:
            yield f"\nstandard error: {self._told[1]}"

    @cached_property
    def _told(self) -> tuple[np.ndarray | None, str]:
        """The standard errors of an estimate, and a sentence on them; neither where there are no estimates."""
        (record, *_), sample, n = self.records, self.sample, self.source.graph.n
        is_estimate = "k" in record.takes and self.given.get("demand") is None and self.given.get("sources") is None
        if self.together or self.of_edges or not is_estimate or not self.output.shown(n):
            return None, ""
        if sample.k is None or sample.k >= n:
            return None, "none; all vertices are roots"
        if has_columns(self.given):
            return None, "not computed for several cutoffs or decays"
        if not self.error:
            return None, "not computed (--error does)"
        if sample.k < 2:
            return None, "none; one root does not tell it"
        if self.given.get("log2"):
            return None, "none; logarithms of estimates have none"
        from lagbc.centrality.standard_error import GROUPS, roots_of_group, standard_errors

        silent = self.how | {"checkpoint": None, "progress": False}

        def estimate(roots: int, rng: np.random.Generator) -> dict[str, Any]:
            return self._computed(silent | {"k": roots, "rng": rng})

        with self.steps.step("computing the standard error", " estimates"):
            errors = standard_errors(estimate, n, sample.k, sample.seed, self.steps.progress)
        return errors[record.name], f"from {GROUPS} more estimates, of {roots_of_group(sample.k)} random roots each"

    def drawings(self) -> list[Drawing]:
        """Return the map and the figure that are asked for."""
        first, drawings = self.names[0], []
        name, unit = _NAMES.get(first, first.replace("_", " ")), _unit(self.given) if first in _NAMES else ""
        if self.xy is not None and self.plot_map is not None:
            drawings.append(
                Drawing("map", self.plot_map, partial(self._draw_map, f"{name} ({unit})" if unit else name))
            )
        if self.output.plot is not None:
            draw = self._draw_networks if self.together else partial(self._draw_scores, name, unit)
            drawings.append(Drawing("plot", self.output.plot, draw))
        return drawings

    @property
    def _called(self) -> dict[str, Any]:
        """Names of the graph and of its vertices in figures."""
        return {"title": self.source.title, "labels": self.source.file.labels}

    def _draw_map(self, unit: str, path: Path) -> None:
        from lagbc.plots import plot_map

        scores, bounds = self.found[self.names[0]], {name: self.given.get(name) for name in ("cutoff", "decay")}
        plot_map(self.source.graph, self.xy, scores, path, unit=unit, **bounds, **self._called)

    def _draw_scores(self, name: str, unit: str, path: Path) -> None:
        from lagbc.plots import plot_scores

        scores, directed = self.found[self.names[0]], self.source.directed
        plot_scores(self.source.file.matrix, scores, path, directed=directed, unit=unit, name=name, **self._called)

    def _draw_networks(self, path: Path) -> None:
        from lagbc.plots import plot_centralities

        plot_centralities(self.source.file.matrix, self.columns(self.titles), path, **self._called)


def has_columns(given: Mapping[str, Any]) -> bool:
    """Whether scores have several columns."""
    return any(isinstance(given.get(name), list) for name in ("cutoff", "decay"))


def _unit(given: Mapping[str, Any]) -> str:
    """Name the unit of betweenness."""
    if given.get("demand") is not None:
        return "trips"
    return "fraction of vertex pairs" if given.get("normalized") else "vertex pairs"


class Part(Sweep):
    """Sums of a part of a run, in a file for `lagbc merge`."""

    def compute(self) -> None:
        """Compute the part, and write it."""
        import lagbc

        path: Any = self.output.out
        part: Any = self.output.part
        graph: Any = self.source.graph
        which: Any = self.names
        self.found = lagbc.save_part(path, part, graph, which, **self.how)._asdict()

    def left_behind(self) -> str:
        """Tell that the part is lost."""
        return f"{self.output.out} was not written; of more parts, less is lost"

    def write(self, path: Path) -> None:
        """Leave the file as `compute` has written it."""

    def lines(self, seconds: float, phases: Mapping[Phase, float]) -> Iterator[str]:
        """Yield the time, the roots and the file."""
        path: Any = self.output.out
        number, of = self.output.part or (1, 1)
        yield timing(seconds, {})
        roots = f"{self.found['roots']:,} of {counted(self.found['of'], 'root')}"
        yield f"part {number} of {of}: {roots}: {path} ({size(path.stat().st_size)})"
