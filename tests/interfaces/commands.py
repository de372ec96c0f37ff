"""Run the command `lagbc` in this process."""

from itertools import dropwhile, takewhile

from click.testing import CliRunner

from lagbc.interfaces.cli import main


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def succeed(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def reason_in(lines):
    """Put the reason of the method together, of the lines that it is printed in."""
    _, *after = dropwhile(lambda line: not line.startswith("method: "), lines)
    return "; ".join(line.removeprefix("  ") for line in takewhile(lambda line: line.startswith("  "), after))


def fail(*arguments, status=2):
    """Return the one line that the command ends with, where something that is given is wrong, or the run failed."""
    result = run(*arguments)
    assert result.exit_code == status
    assert isinstance(result.exception, SystemExit), "no traceback"
    *notes, line = result.stderr.splitlines()
    assert all(note.startswith("lagbc: note: ") for note in notes)
    assert line.startswith("lagbc: error: ")
    return line
