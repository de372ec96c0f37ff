"""The one way of commands that compute scores: read, introduce, compute, write, show, draw."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from lagbc.calls import record
from lagbc.errors import InvalidValueError
from lagbc.interfaces.cli.inputs import deal_source, open_source, title_lines, weight_lines
from lagbc.interfaces.cli.outputs import show_document
from lagbc.interfaces.cli.terminal import left_behind, shown_steps, timing
from lagbc.limits import stating

if TYPE_CHECKING:
    from lagbc.calls import Phase
    from lagbc.interfaces.cli.inputs import Dealing, Source
    from lagbc.interfaces.cli.options import GraphOptions, OutputOptions
    from lagbc.interfaces.cli.terminal import Steps


class Drawing(NamedTuple):
    """A picture of scores: its name in messages, its file, and the function that draws it."""

    name: str
    path: Path
    draw: Callable[[Path], object]


@dataclass(slots=True, eq=False)
class Task:
    """The computation of a command, whose methods `carry_out` and `deliver` call in the order below."""

    source: Source
    output: OutputOptions
    steps: Steps
    run: dict[str, Any]  # options of the run

    def introduction(self) -> str:
        """Describe the computation to come."""
        return "\n".join([*title_lines(self.source), *weight_lines(self.source)])

    def compute(self) -> None:
        """Compute the scores."""
        raise NotImplementedError

    def left_behind(self) -> str:
        """Describe the remains of an interrupted computation."""
        return left_behind(self.run["checkpoint"]) if "checkpoint" in self.run else ""

    def write(self, path: Path) -> None:
        """Write all scores."""
        raise NotImplementedError

    def complete(self) -> None:
        """Compute all else that is shown, after the scores are written, as a user may interrupt it."""

    def document(self) -> dict[str, Any]:
        """Return the name of the command, and the parts of its document in JSON."""
        raise NotImplementedError

    def text(self) -> Iterator[str]:
        """Yield the result, the lines that a quiet command prints."""
        yield from ()

    def remarks(self) -> Iterator[str]:
        """Yield remarks on the result."""
        yield from ()

    def lines(self, seconds: float, phases: Mapping[Phase, float]) -> Iterator[str]:
        """Yield all lines of a terminal after the computation."""
        yield from self.text()
        yield from self.remarks()
        yield timing(seconds, phases)
        if self.output.out is not None:
            yield f"scores: {self.output.out}"

    def drawings(self) -> list[Drawing]:
        """Return the pictures to draw."""
        return []

    def seconds(self, total: float, phases: Mapping[Phase, float]) -> Mapping[Any, float]:
        """Return the times that the document has."""
        return {"total": total, **phases}

    @property
    def status(self) -> int:
        """The exit status of the command."""
        return 0


def carry_out(
    source: GraphOptions, progress: bool, prepare: Callable[[Source, Steps], Task], dealing: Dealing | None = None
) -> None:
    """Open a graph, prepare its task, compute and deliver the scores; rank 0 leads if the graph is dealt."""
    with stating(source.memory), shown_steps(progress) as steps:

        def lead(taken: Source) -> None:
            task = prepare(taken, steps)
            graph, out = Path(source.name), task.output.out
            if out is not None and out.exists() and graph.exists() and out.samefile(graph):
                raise InvalidValueError(f"--out {out} is the file of the graph; name another one")
            _carry_out(task)

        if dealing is None:
            lead(open_source(source, steps))
        else:
            deal_source(source, steps, dealing, lead)


def _carry_out(task: Task) -> None:
    start = time.perf_counter()
    with record(watch=task.steps.phase) as recorder:
        introduction = task.introduction()
        if not (task.output.as_json or task.output.quiet):
            click.echo(introduction)
        try:
            task.compute()
        except KeyboardInterrupt as interrupt:
            raise type(interrupt)(task.left_behind()) from None
    deliver(task, time.perf_counter() - start, recorder.seconds)


def deliver(task: Task, seconds: float, phases: Mapping[Phase, float]) -> None:
    """Write, show and draw the scores of a task."""
    output, steps = task.output, task.steps
    if output.out is not None:  # first, as the user may interrupt the rest
        with steps.step(f"writing {output.out}"):
            task.write(output.out)
    begun = time.perf_counter()
    with record(watch=steps.phase) as recorder:
        task.complete()
    seconds += time.perf_counter() - begun
    phases = {name: spent + recorder.seconds[name] for name, spent in phases.items()}
    if output.as_json:
        show_document(source=task.source, **task.document(), seconds=task.seconds(seconds, phases))
    elif not output.quiet:
        for line in task.lines(seconds, phases):
            click.echo(line)
    elif output.is_shown and (text := "\n".join(task.text()).strip("\n")):
        click.echo(text)
    drawings = task.drawings()
    for drawing in drawings:
        with steps.step(f"drawing {drawing.path}"):
            drawing.draw(drawing.path)
    if not (output.as_json or output.quiet):
        for drawing in drawings:
            click.echo(f"{drawing.name}: {drawing.path}")
    if task.status:
        click.get_current_context().exit(task.status)
