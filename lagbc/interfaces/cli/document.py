"""Documents that commands print with ``--json``: one line of JSON, in the layout of docs/command-line.md."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from lagbc import __version__

if TYPE_CHECKING:
    from lagbc.call import Call
    from lagbc.interfaces.cli.graphs import Source

# The number of the layout, raised by changes that break scripts; new names break none.
_LAYOUT = 1


def show_document(command: str, source: Source, **parts: Any) -> None:
    """Print a document about a graph: its head, the same for all commands, and parts."""
    head = {"layout": _LAYOUT, "version": __version__, "command": command, "graph": _describe_graph(source)}
    click.echo(json.dumps(head | parts, allow_nan=False))


def _describe_graph(source: Source) -> dict[str, Any]:
    graph = source.graph
    return {
        "name": source.title,
        "format": source.file.format,
        "recognised": source.file.said,
        "vertices": graph.n,
        "edges": graph.nnz if graph.directed else graph.nnz // 2,
        "directed": graph.directed,
        "values": source.lengths,
    }


def method_of(call: Call) -> dict[str, str]:
    """Return the method of a call, and its reason."""
    return {"name": call.plan.method, "device": call.plan.device, "reason": call.reason}


def arguments_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments typed on the command line."""
    context = click.get_current_context()
    source_of, given = context.get_parameter_source, {**given, "memory": context.params.get("memory")}
    return {name: as_json(value) for name, value in given.items() if source_of(name) is ParameterSource.COMMANDLINE}


def as_json(value: Any) -> Any:
    """Return a value that JSON can hold: an infinite cutoff becomes text."""
    if isinstance(value, list):
        return [as_json(one) for one in value]
    return str(value) if isinstance(value, Path) or (isinstance(value, float) and math.isinf(value)) else value
