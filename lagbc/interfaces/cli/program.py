"""The program `lagbc`: its commands, its end by an error or a signal, and the command `compile`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EDQUOT, EFBIG, ENOSPC
from functools import partial
from importlib import import_module
from itertools import takewhile
from typing import Any

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class

from lagbc import __version__
from lagbc.errors import Error, GraphFileWarning, MemoryWarning, shortened
from lagbc.extensions import OF_CENTRALITIES, load_extensions
from lagbc.interfaces.cli.centralities import score_command, scored
from lagbc.interfaces.cli.options import quiet_option
from lagbc.interfaces.cli.terminal import argument_among, duration, in_options
from lagbc.interfaces.process import Terminated, on_all_ranks, signals_raise
from lagbc.io.source import EXAMPLE

# Commands that are not made of records, and their modules.
_MODULES = {
    "centralities": "centralities",
    "compare": "methods",
    "compile": "program",
    "distances": "centralities",
    "estimate": "estimate",
    "girvan-newman": "groups",
    "group-bc": "groups",
    "group-closeness": "groups",
    "group-degree": "groups",
    "group-harmonic": "groups",
    "info": "methods",
    "merge": "centralities",
}
# Errors of the input; all others are of the run.
_WRONG_GIVEN = (ValueError, TypeError, FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)


class _Commands(click.Group):
    """Commands, made on demand; an error of one prints a line, and gives the exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        load_extensions(OF_CENTRALITIES)
        return sorted([*_MODULES, *scored()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = cmd_name.replace("_", "-")  # names of functions are names of commands, too
        if name not in self.commands:
            if name in _MODULES:
                module = import_module(f"lagbc.interfaces.cli.{_MODULES[name]}")
                self.add_command(getattr(module, f"{name.replace('-', '_')}_command"))
                return super().get_command(ctx, name)
            if name not in scored():
                load_extensions(OF_CENTRALITIES)
            if name in scored():
                self.add_command(score_command(scored()[name]))
        return super().get_command(ctx, name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None and (meant := _meant(args[0])):
            ctx.fail(f"No such command {args[0]!r}; {meant} is one.")
        name, command, typed = super().resolve_command(ctx, args)
        flags = {*takewhile("--".__ne__, typed)}
        if command and not ctx.resilient_parsing and (wrong := argument_among(flags, command)):
            of_command = click.Context(command, ctx, name)
            raise click.UsageError(f"No such option {wrong[0]!r}; {wrong[1]} is one.", of_command)
        for option in command.params if command and not ctx.resilient_parsing else ():
            yes, no = flags.intersection(option.opts), flags.intersection(option.secondary_opts)
            if yes and no:
                raise click.UsageError(f"{yes.pop()} and {no.pop()} are opposites; leave out one.", ctx)
        return name, command, typed

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _ended_by_signals():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _ended_by_signals(), warnings.catch_warnings():
            warnings.simplefilter("always", MemoryWarning)
            warnings.simplefilter("always", GraphFileWarning)
            warnings.showwarning = lambda message, *_, **__: self._print_message(ctx, "warning", str(message))
            try:
                with signals_raise():
                    typed = [*ctx._protected_args, *ctx.args]
                    dealt = any(one.partition("=")[0] == "--grid" for one in typed)
                    return on_all_ranks(partial(super().invoke, ctx), dealt=dealt)
            except BrokenPipeError:
                raise  # click ends quietly when the reader of a pipe has gone
            except MemoryError as error:
                self._fail(ctx, shortened(f"out of memory: {error}"))
            except (Error, ValueError, TypeError, OSError, ImportError, OverflowError) as error:
                self._fail(ctx, _error_in_words(error), 2 if isinstance(error, _WRONG_GIVEN) else 1)

    def _fail(self, ctx: click.Context, message: str, status: int = 1) -> None:
        self._print_message(ctx, "error", message)
        ctx.exit(status)

    def _print_message(self, ctx: click.Context, kind: str, message: str) -> None:
        """Print a message in one line, with options of the command for arguments of Python."""
        line = in_options(" ".join(message.split()), self.get_command(ctx, ctx.invoked_subcommand or ""))
        click.echo(f"lagbc: {kind}: {line}", err=True)


def _meant(typed: str) -> str | None:
    """Return the command of the name, or of the function of NetworkX, most similar to a wrong name."""
    from difflib import get_close_matches

    names = {name: name for name in (*scored(), *_MODULES)}
    names |= {function: command for command, one in scored().items() for function in one.networkx}
    near = next((name for name in names if name.startswith(typed.replace("-", "_"))), None)
    return names.get(near or next(iter(get_close_matches(typed, names, 1)), ""))


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End the command with a line, and its status, at Ctrl-C or SIGTERM."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        kind, status = ("terminated", 143) if isinstance(interrupt, Terminated) else ("interrupted", 130)
        click.echo(f"lagbc: {kind}{': ' if str(interrupt) else ''}{interrupt}", err=True)
        sys.exit(status)


def _error_in_words(error: Exception) -> str:
    """Return the message of an error; a full disk without the name of a file is that of the standard output."""
    if isinstance(error, OSError) and error.filename is not None:
        return shortened(f"{error.filename}: {error.strerror}")
    if isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT, EFBIG):
        return f"standard output: {error.strerror}"
    return shortened(str(error))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lagbc", message="%(prog)s %(version)s")
def main() -> None:
    """Shortest-path centralities of large sparse graphs, by linear algebra on batches of roots.

    Before a long run, lagbc info GRAPH tells the memory and predicts the time that it takes.

    Exit status: 0; 1 if the run failed; 2 if an argument, a file or a graph is wrong; 3 if compare finds wrong scores;
    130 after Ctrl-C, 143 after SIGTERM.
    """


class _Bash(BashComplete):
    """Completion for bash, which splits words at colons, so that it completes the NAME of example:NAME."""

    _has_colon = False

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        words: list[str] = []
        for word in (*args, incomplete):
            if words and (words[-1] == EXAMPLE or (word == ":" and words[-1] + word == EXAMPLE)):
                words[-1] += word
            else:
                words.append(word)
        self._has_colon = words[-1].startswith(EXAMPLE)
        return words[:-1], words[-1]

    def format_completion(self, item: CompletionItem) -> str:
        if self._has_colon:
            item = CompletionItem(item.value.removeprefix(EXAMPLE), item.type, item.help)
        return super().format_completion(item)


add_completion_class(_Bash)


@click.command("compile")
@quiet_option
def compile_command(quiet: bool) -> None:
    """Compile all kernels of the GPU now, for this user, rather than at their first call.

    The line that is printed names the folder of the kernels. Kernels of a CPU are compiled when lagbc is installed.
    """
    from lagbc.centrality.compiled import compile_kernels

    done = compile_kernels()
    if not quiet:
        click.echo(f"cuda: {done.what}, in {duration(done.seconds)}; kept in {done.folder}")
