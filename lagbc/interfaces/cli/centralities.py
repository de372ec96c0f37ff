"""Commands of centralities: one for each record, several together, `merge` of parts of a run, and `distances`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lagbc.arguments import OF_THE_SCORES, OF_THE_SUMS, Arguments
from lagbc.errors import InvalidValueError, quantity
from lagbc.files import require_writable
from lagbc.interfaces.cli import inputs, options, outputs
from lagbc.interfaces.cli.inputs import Source
from lagbc.interfaces.cli.outputs import Rows
from lagbc.interfaces.cli.task import Drawing, Task, carry_out, deliver
from lagbc.interfaces.cli.terminal import Steps, note, shown_steps, table, timing
from lagbc.limits import in_units
from lagbc.scores.records import STRAIGHTNESS, Centrality, all_sums, find, registered, usual

if TYPE_CHECKING:
    import numpy as np

    from lagbc.call import Call
    from lagbc.calls import Phase
    from lagbc.graph.coordinates import Coordinates


# Names in figures; other centralities have the names of their records.
_NAMES = {"bc": "betweenness", "edge_bc": "edge betweenness"}


def scored() -> dict[str, Centrality]:
    """Return the centralities of vertices and edges, by the names of their commands."""
    return {one.name.replace("_", "-"): one for one in registered() if one.sums and not one.of_graph}


def score_command(record: Centrality) -> click.Command:
    """Make a command with the arguments of its centrality."""

    def run_command(
        output: options.OutputOptions, plot_map: Path | None, coordinates: Path | None, **asked: Any
    ) -> None:
        if record.needs and output.part is not None:
            raise InvalidValueError(f"{record.name} is not computed in parts; leave out --part")
        _require_writable_result(output, plot_map)
        if output.plot is not None and outputs.has_columns(asked):
            raise InvalidValueError("--plot draws scores for one cutoff and one decay; write several with --out")
        if coordinates is not None and plot_map is None and record is not STRAIGHTNESS:
            raise InvalidValueError(f"--coordinates {coordinates} goes with --plot-map, which draws a map")
        outputs.check_outputs(None, plot_map)
        how: Any = {"together": False, "plot_map": plot_map, "coordinates": coordinates, **asked}
        _carry_out_records(lambda given: (record,), output, **how)

    of_sample = [options.takes_sample, options.error_option][: 1 if record.of_edges else 2]
    declarations = (
        options.takes_graph,
        *(of_sample if "k" in record.takes else ()),
        options.takes_arguments(*record.takes),
        options.takes_output(top=True, plot="" if record.of_edges else "scores of vertices", part=True),
        options.takes_map,
        options.takes_run(grid=True),
    )
    summary = f"{record.summary[0].upper()}{record.summary[1:]}."
    command = click.command(record.name.replace("_", "-"), epilog=options.GRAPH_HELP, help=summary)
    return command(options.declared(run_command, declarations))


@click.command("centralities", epilog=options.GRAPH_HELP)
@options.takes_graph
@click.option(
    "--which",
    help="Names of commands, separated by commas; the first one ranks.  [default: bc,closeness,harmonic,eccentricity,"
    "stress, as far as they take the arguments that are given]",
)
@options.takes_sample
@options.takes_arguments(*OF_THE_SUMS, *OF_THE_SCORES)
@options.takes_output(top=True, plot="scores of vertices", part=True)
@options.takes_run()
def centralities_command(which: str | None, output: options.OutputOptions, **asked: Any) -> None:
    """Several centralities of the vertices of GRAPH from one sweep."""
    _require_writable_result(output)
    names = [] if which is None else [name.strip().replace("-", "_") for name in which.split(",")]
    named = [find(name, lambda one: not one.of_edges) for name in names]
    if len({*named}) < len(named):
        raise InvalidValueError(f"--which {which} names a centrality twice")
    if any(record.of_edges for record in named):
        raise InvalidValueError("--which names vertices' centralities; for edges: lagbc edge-bc")

    def records(given: dict[str, Any]) -> tuple[Centrality, ...]:
        return tuple(named) or usual(Arguments(**given))

    _carry_out_records(records, output, together=True, **asked)


def _require_writable_result(output: options.OutputOptions, plot_map: Path | None = None) -> None:
    """Raise an error, before the computation, if a file cannot be written, or a part shall show scores."""
    if output.part is None:
        outputs.check_outputs(output.out, output.plot)
        return
    if output.out is None or output.out.suffix != ".npz":
        raise InvalidValueError(
            "--part writes sums to a file for lagbc merge: name it with --out, such as --out part1.npz"
        )
    for option, given in (("--plot", output.plot), ("--plot-map", plot_map), ("--json", output.as_json)):
        if given:
            raise InvalidValueError(f"{option} shows scores, and a part has none; leave it out")
    require_writable(output.out)


def _carry_out_records(
    records_of: Callable[[dict[str, Any]], tuple[Centrality, ...]],
    output: options.OutputOptions,
    source: options.GraphOptions,
    run: dict[str, Any],
    together: bool,
    error: bool = False,
    sample: dict[str, Any] | None = None,
    plot_map: Path | None = None,
    coordinates: Path | None = None,
    **typed: Any,
) -> None:
    """Compute the centralities that `records_of` returns for the arguments."""
    if typed.get("demand") is not None and sample:
        raise InvalidValueError("--demand says how often each pair of vertices counts; leave out --k")
    into = typed.get("u") is not None
    pictures = {"--plot": output.plot, "--plot-map": plot_map}
    for option, given in {**pictures, "--part": output.part, "--grid": run.get("grid")}.items():
        if into and given is not None:
            raise InvalidValueError(f"--vertices asks for a search from each of some vertices; leave out {option}")
    dealing = inputs.Dealing.of_run(run, lambda: all_sums(records_of({})))
    if dealing is not None:
        if output.part is not None:
            raise InvalidValueError("--part computes part of a run in one process; leave out --grid")
        for option, path in pictures.items():
            if path is not None:
                raise InvalidValueError(f"{option} draws a graph that one process has; leave it out, or --grid")
        folds = [record.name for record in records_of({})] == ["bc"] and not typed["endpoints"]
        dealing = dealing._replace(folds=folds and run["reduce"] != "none")

    def prepare(taken: Source, steps: Steps) -> Task:
        with steps.step("reading the arguments"):
            given = inputs.read_arguments(typed, taken) | (sample or {})
            records, xy = records_of(given), None
            if plot_map is not None or STRAIGHTNESS in records:
                xy = inputs.find_coordinates(coordinates, taken)
        if STRAIGHTNESS in records:
            given["coordinates"] = xy
        if any(record.of_edges for record in records):
            outputs.require_numbers(output.out, taken.file.labels)
        how: dict[str, Any] = {"source": taken, "output": output, "steps": steps, "run": run, "records": records}
        how |= {"together": together, "typed": typed}
        if into:
            return _Into(given=given, **how)
        given.pop("u", None)
        kind = _Sweep if output.part is None else _Part
        return kind(given=given, error=error, plot_map=plot_map, xy=xy, **how)

    carry_out(source, run["progress"], prepare, dealing)


@click.command("merge")
@click.argument("parts", nargs=-1, required=True, type=click.Path(path_type=Path))
@options.takes_output(top=True, json=False)
def merge_command(parts: tuple[Path, ...], output: options.OutputOptions) -> None:
    """Scores of all PARTS, files written by --part of a command, with the bits of one run."""
    import numpy as np

    from lagbc.centrality.parts import merge_files
    from lagbc.graph.given import Rows
    from lagbc.io.graph_file import GraphFile

    outputs.check_outputs(output.out, None)
    start = time.perf_counter()
    graph, found, arguments = merge_files(parts)
    given: Mapping[str, Any] = {"cutoff": arguments.cutoff, "decay": arguments.decay}
    host = graph.on_host
    rows = Rows(host.indptr, host.indices, np.ones(host.nnz) if host.weights is None else host.weights)
    file = GraphFile(rows, graph.directed, "parts", graph.names)
    if not output.quiet:
        click.echo(f"{quantity(len(parts), 'part')}: {', '.join(found)} of {quantity(graph.n, 'vertex', 'vertices')}")
    with shown_steps(False) as steps:
        task = _Scores(
            source=Source(file, graph.directed, None, "parts"),
            output=output,
            steps=steps,
            run={},
            records=tuple(map(find, found)),
            together=len(found) > 1,
            given={name: None if one is None else np.asarray(one).tolist() for name, one in given.items()},
            found=found,
        )
        if task.of_edges and task.together:
            raise InvalidValueError("scores of edges and others are in these parts; lagbc.merge_parts returns both")
        if task.of_edges:
            outputs.require_numbers(output.out, file.labels)
        deliver(task, time.perf_counter() - start, {})


@dataclass(slots=True, eq=False, kw_only=True)
class _Scores(Task):
    """The task of scores of one centrality, or of several `together`, whose names begin the titles of columns."""

    records: tuple[Centrality, ...]
    together: bool
    given: dict[str, Any]
    found: dict[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return [record.name for record in self.records]

    @property
    def of_edges(self) -> bool:
        return any(record.of_edges for record in self.records)

    @property
    def columns(self) -> list[outputs.Column]:
        return [one for each in self.records for one in outputs.columns_of(each, self.given, together=self.together)]

    def rows(self, titles: Iterable[str] | None = None, errors: np.ndarray | None = None) -> Rows:
        """Return all scores in rows, with titles of a table unless others are given."""
        values = (column for scores in self.found.values() for column in outputs.split_columns(scores))
        named = dict(zip(titles or [column.title for column in self.columns], values, strict=True))
        if self.of_edges:
            return outputs.rows_of_edges(named, self.source)
        return outputs.rows_of_vertices(named, self.source, errors)

    def write(self, path: Path) -> None:
        """Write all columns; an array of one centrality as it is computed."""
        if path.suffix == ".npy" and not (self.of_edges or self.together):
            outputs.write_array(path, self.found[self.names[0]])
        else:
            self.rows().write(path)

    @property
    def errors(self) -> np.ndarray | None:
        return None

    @property
    def degrees(self) -> list[tuple[str, np.ndarray]]:
        return [] if self.of_edges or self.together else inputs.degrees_of(self.source.graph)

    def text(self) -> Iterator[str]:
        if self.output.count_shown(self.source.graph.n):
            places, rows = self.rows(errors=self.errors).shown(self.output)
            yield f"\n{rows.as_text({title: degree[places] for title, degree in self.degrees})}\n"


@dataclass(slots=True, eq=False, kw_only=True)
class _Into(_Scores):
    """The task of scores of the vertices `u` alone."""

    typed: dict[str, Any]

    @property
    def degrees(self) -> list[tuple[str, np.ndarray]]:
        return []

    def compute(self) -> None:
        import lagbc

        (name,) = self.names
        self.found = {name: getattr(lagbc, name)(self.source.graph, **self.given, **self.run)}

    def rows(self, titles: Iterable[str] | None = None, errors: np.ndarray | None = None) -> Rows:
        import numpy as np

        return _Scores.rows(self, titles)._replace(keys={"vertex": np.array(self.given["u"])})

    def document(self) -> dict[str, Any]:
        scores = self.rows().shown(self.output)[1].as_json()
        return {"command": self.names[0], "arguments": outputs.arguments_of(self.typed), "scores": scores}


@dataclass(eq=False, kw_only=True)
class _Sweep(_Scores):
    """The task of computing scores; `given` are the arguments, `typed` their texts on the command line."""

    typed: dict[str, Any]
    error: bool = False
    plot_map: Path | None = None
    xy: Coordinates | None = None

    @cached_property
    def call(self) -> Call:
        from lagbc.arguments import Read
        from lagbc.centrality.compute import plan_call

        how = self.run["batch"], Read(), self._options, self._arguments
        return plan_call(self.source.graph, self.records, *how)

    @property
    def _options(self) -> Any:
        return {name: value for name, value in self.run.items() if name != "batch"}

    @property
    def _arguments(self) -> Arguments:
        from lagbc.arguments import Arguments

        return Arguments(**self.given)

    def introduction(self) -> str:
        from lagbc.request import has_rounded_inverses

        source, k = self.source, self.given.get("k")
        plan, method = self.call.plan, inputs.method_and_reason(self.call)
        if self._ends_early:
            method = f"method: searches that end early; if they do not pay, {plan.method} on {plan.device}"
        lines = [*inputs.title_lines(source), method, *inputs.weight_lines(source)]
        graph = source.graph
        if graph.of_strengths and self.given.get("rtol", 0) is None and has_rounded_inverses(graph):
            lines.append("ties: lengths 1 / w are rounded; --rtol 1e-9 takes paths for ties that are in exact numbers")
        if k is not None:
            roots = f"{quantity(k, 'random root')} of {graph.n:,}"
            lines.append(f"estimate from {roots} (seed {self.given['rng']})")
        return "\n".join(lines)

    def compute(self) -> None:
        """Compute all scores, or only the highest if no others are shown, written or drawn."""
        from lagbc.centrality.compute import highest_scores, run_call

        graph = self.source.graph
        if self._shows_all:
            self.found = run_call(graph, self.call)
            return
        self.found = {self.names[0]: highest_scores(graph, self.call, self.output.count_shown(graph.n))}

    @property
    def _shows_all(self) -> bool:
        output, n = self.output, self.source.graph.n
        is_all = output.out is not None or output.plot is not None or self.plot_map is not None
        is_one = not self.together and "top" in self.records[0].takes and not outputs.has_columns(self.given)
        return is_all or not is_one or not 0 < output.count_shown(n) < n

    @property
    def _ends_early(self) -> bool:
        from lagbc.centrality.highest import may_end_early

        return not self._shows_all and may_end_early(self.call)

    def complete(self) -> None:
        """Compute the standard errors that are asked for; note the trips that are not assigned."""
        _ = self._errors_and_sentence
        if self.given.get("demand") is None or self.output.quiet:
            return
        from lagbc.centrality.beside import unassigned_trips
        from lagbc.options import check_options

        settings, cutoff = check_options(self.run["batch"], self._options), self.given.get("cutoff")
        with self.steps.step("counting trips that are not assigned"):
            unassigned = unassigned_trips(self.source.graph, self.given["demand"], cutoff, settings)
        if unassigned.sums.any():
            note(str(unassigned))

    def document(self) -> dict[str, Any]:
        k, n = self.given.get("k"), self.source.graph.n
        columns = {
            one.name: {"centrality": one.centrality, "cutoff": outputs.as_json(one.cutoff), "decay": one.decay}
            for one in self.columns
        }
        early = {"reason": f"searches end early; if they do not pay, {self.call.reason}"} if self._ends_early else {}
        return {
            "command": "centralities" if self.together else self.names[0],
            "method": outputs.method_of(self.call) | early,
            "estimate": None if k is None else {"roots": min(k, n), "seed": self.given["rng"]},
            "arguments": outputs.arguments_of(self.typed),
            "columns": columns,
            "scores": self.rows(columns, self.errors).shown(self.output)[1].as_json(),
        }

    @property
    def errors(self) -> np.ndarray | None:
        return self._errors_and_sentence[0]

    def remarks(self) -> Iterator[str]:
        if self._errors_and_sentence[1]:
            yield f"standard error: {self._errors_and_sentence[1]}"

    @cached_property
    def _errors_and_sentence(self) -> tuple[np.ndarray | None, str]:
        """The standard errors of an estimate, and a sentence on them; neither for other scores."""
        (record, *_), k, n = self.records, self.given.get("k"), self.source.graph.n
        is_estimate = "k" in record.takes and self.given.get("demand") is None and self.given.get("sources") is None
        if self.together or self.of_edges or not is_estimate or not self.output.count_shown(n):
            return None, ""
        if k is None or k >= n:
            return None, "none; all vertices are roots"
        if outputs.has_columns(self.given):
            return None, "not computed for several cutoffs or decays"
        if not self.error:
            return None, "not computed (--error does)"
        if k < 2:
            return None, "none; one root does not tell it"
        if self.given.get("log2"):
            return None, "none; logarithms of estimates have none"
        from lagbc.centrality.beside import GROUPS, roots_of_group
        from lagbc.centrality.compute import errors_of

        errors = errors_of(self.call)
        more = f"from {GROUPS} more estimates, of {roots_of_group(k)} random roots each"
        return errors[record.name][0], more

    def drawings(self) -> list[Drawing]:
        drawings, plot = list[Drawing](), self.output.plot
        if self.plot_map is None and plot is None:
            return drawings
        from lagbc.plots import plot_centralities, plot_map, plot_scores

        source, first = self.source, self.names[0]
        captions: dict[str, Any] = {"title": source.title, "labels": source.file.labels}
        name, unit = _NAMES.get(first, first.replace("_", " ")), ""
        if first in _NAMES:
            unit = _unit_of_betweenness(self.given)
        if self.plot_map is not None:
            bounds: dict[str, Any] = {bound: self.given.get(bound) for bound in ("cutoff", "decay")}
            scale = f"{name} ({unit})" if unit else name
            draw = partial(plot_map, source.graph, self.found[first], xy=self.xy, unit=scale, **bounds, **captions)
            drawings.append(Drawing("map", self.plot_map, draw))
        if plot is not None and self.together:
            figure = partial(plot_centralities, source.file.matrix, self.rows().scores, **captions)
            drawings.append(Drawing("plot", plot, figure))
        elif plot is not None:
            how = {"directed": source.directed, "unit": unit, "name": name, **captions}
            drawings.append(Drawing("plot", plot, partial(plot_scores, source.file.matrix, self.found[first], **how)))
        return drawings


def _unit_of_betweenness(given: Mapping[str, Any]) -> str:
    if given.get("demand") is not None:
        return "trips"
    return "fraction of vertex pairs" if given.get("normalized") else "vertex pairs"


class _Part(_Sweep):
    """The task of a part of a run: sums, in a file for `lagbc merge`."""

    def compute(self) -> None:
        import lagbc

        save: Any = lagbc.save_part
        output, source = self.output, self.source
        given = self.given | self.run
        how = {"directed": source.directed, "weighted": source.weighted}
        self.found = save(output.out, output.part, source.graph, self.names, **given, **how)._asdict()

    def complete(self) -> None:
        """Do nothing: a part tells of its own roots alone."""

    def left_behind(self) -> str:
        return f"{self.output.out} was not written; of more parts, less is lost"

    def write(self, path: Path) -> None:
        """Do nothing: `compute` has written the file."""

    def lines(self, seconds: float, phases: Mapping[Phase, float]) -> Iterator[str]:
        path: Any = self.output.out
        number, of = self.output.part or (1, 1)
        yield timing(seconds, {})
        roots = f"{self.found['roots']:,} of {quantity(self.found['of'], 'root')}"
        yield f"part {number} of {of}: {roots}: {path} ({in_units(path.stat().st_size)})"


@click.command("distances", epilog=options.GRAPH_HELP)
@options.takes_graph
@options.takes_arguments("sources", "cutoff")
@options.takes_sample
@options.error_option
@options.takes_output(out="Write a row for each cutoff: a .npy array, or a table, .csv or .parquet.")
@options.takes_run()
def distances_command(
    source: options.GraphOptions,
    sample: dict[str, Any],
    error: bool,
    output: options.OutputOptions,
    run: dict[str, Any],
    **typed: Any,
) -> None:
    """Average distance, Wiener index, efficiency, diameter and radius of GRAPH."""
    outputs.check_outputs(output.out, None)

    def prepare(taken: Source, steps: Steps) -> _Distances:
        with steps.step("reading the arguments"):
            given = inputs.read_arguments(typed, taken) | sample
        return _Distances(taken, output, steps, run, typed, given, error and sample.get("k", 1) > 1)

    carry_out(source, run["progress"], prepare)


@dataclass(slots=True, eq=False)
class _Distances(Task):
    """The task of distances; `given` are the arguments, `typed` their texts on the command line."""

    typed: dict[str, Any]
    given: dict[str, Any]
    has_error: bool
    found: Any = field(init=False)
    errors: Any = field(init=False, default=None)

    def compute(self) -> None:
        import lagbc

        distances: Any = lagbc.distances
        found = distances(self.source.graph, standard_error=self.has_error, **self.given, **self.run)
        self.found, self.errors = found if self.has_error else (found, None)

    def write(self, path: Path) -> None:
        self._rows().write(path)

    def document(self) -> dict[str, Any]:
        rows = self._rows()
        scores = rows._replace(keys={}).as_json()
        return {
            "command": "distances",
            "estimate": {"roots": self.found.roots, "seed": self.given["rng"]} if "k" in self.given else None,
            "arguments": outputs.arguments_of(self.typed),
            "scores": {name: outputs.as_json(one.tolist()) for name, one in rows.keys.items()} | scores,
        }

    def text(self) -> Iterator[str]:
        """Yield a line for each number, with its error, and a column for each cutoff."""
        rows = self._rows()
        heads = [f"within {cutoff:g}" for cutoff in rows.keys["cutoff"]] if "cutoff" in rows.keys else []
        lines: list[tuple[str, ...]] = [("", *heads)] if heads else []
        for name, values in rows.scores.items():
            lines.append((name, *(f"{value:.10g}" for value in values)))
        yield "\n" + table(lines, right=True)

    def remarks(self) -> Iterator[str]:
        """Say that diameter and radius from some roots are bounds."""
        if not self.found.exact:
            roots = f"{self.found.roots:,} of {self.found.n:,} roots"
            yield f"from {roots}: the diameter of the graph is at least, its radius at most, the one found"

    def _rows(self) -> Rows:
        """Return a row for each cutoff, with errors beside their numbers."""
        import numpy as np

        cutoff = self.given.get("cutoff")
        columns: dict[str, Any] = {}
        for name in self.found._fields[2:]:
            columns[name] = np.atleast_1d(getattr(self.found, name))
            if self.has_error and name not in ("diameter", "radius"):
                columns[f"{name}_error"] = np.atleast_1d(getattr(self.errors, name))
        return Rows({} if cutoff is None else {"cutoff": np.atleast_1d(cutoff).astype(float)}, columns)
