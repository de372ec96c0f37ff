"""The program itself: its commands, and how it ends when something is wrong."""

from __future__ import annotations

import warnings
from typing import Any

import click

from lagbc import __version__
from lagbc.errors import GraphFileWarning, MemoryWarning
from lagbc.interfaces.cli.compare import compare_command
from lagbc.interfaces.cli.info import info_command
from lagbc.interfaces.cli.scores import score_commands
from lagbc.interfaces.cli.together import centralities_command
from lagbc.interfaces.signals import Terminated, sigterm_raises


class _Commands(click.Group):
    """Ends with one line and an exit status, never a traceback, where the input or the machine is at fault."""

    def invoke(self, ctx: click.Context) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("always", MemoryWarning)
            warnings.simplefilter("always", GraphFileWarning)
            warnings.showwarning = _show_warning
            try:
                with sigterm_raises():
                    return super().invoke(ctx)
            except KeyboardInterrupt as interrupt:
                what, status = ("terminated", 143) if isinstance(interrupt, Terminated) else ("interrupted", 130)
                click.echo(f"lagbc: {what}{': ' if str(interrupt) else ''}{interrupt}", err=True)
                ctx.exit(status)
            except BrokenPipeError:
                raise  # click ends quietly when the reader of a pipe has gone
            except MemoryError as error:
                _fail(ctx, f"out of memory: {error}")
            except (ValueError, TypeError, OSError, ImportError, OverflowError) as error:
                _fail(ctx, str(error))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lagbc", message="%(prog)s %(version)s")
def main() -> None:
    """Shortest-path centralities of large sparse graphs, by linear algebra on batches of roots."""


for command in (*score_commands(), centralities_command, info_command, compare_command):
    main.add_command(command)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"lagbc: warning: {' '.join(str(message).split())}", err=True)


def _fail(ctx: click.Context, message: str) -> None:
    click.echo(f"lagbc: error: {' '.join(message.split())}", err=True)
    ctx.exit(2)
