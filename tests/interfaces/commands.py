"""Run the command `lagbc` in this process."""

import csv
import json
from itertools import dropwhile, takewhile

from click.testing import CliRunner

import lagbc
from lagbc.interfaces.cli import main


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def succeed(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def document(*arguments):
    """Return what the command prints with ``--json``: one line, whose layout has a number."""
    printed = succeed(*arguments, "--json")
    assert printed.count("\n") == 1
    found = json.loads(printed)
    assert (found["layout"], found["version"]) == (1, lagbc.__version__)
    return found


def rows_of(path):
    """Return the rows of a CSV file, as dicts by title."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def reason_in(printed):
    """Put the reason of the method together, of the lines that it is printed in."""
    _, *after = dropwhile(lambda line: not line.startswith("method: "), printed.splitlines())
    return "; ".join(line.removeprefix("  ") for line in takewhile(lambda line: line.startswith("  "), after))


def reason_of(graph, **given):
    """Return the reason of the method that is planned for a graph, and that of its order."""
    return f"{lagbc.plan(graph, **given).reason}; {graph.order_in_words}"


def fail(*arguments, status=2):
    """Return the one line that the command ends with, where something that is given is wrong, or the run failed."""
    result = run(*arguments)
    assert result.exit_code == status
    assert isinstance(result.exception, SystemExit), "no traceback"
    *notes, line = result.stderr.splitlines()
    assert all(note.startswith("lagbc: note: ") for note in notes)
    assert line.startswith("lagbc: error: ")
    return line
