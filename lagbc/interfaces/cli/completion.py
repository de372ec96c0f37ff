"""Completions offered by a shell while a command is typed, and `lagbc completion`, which prints their script."""

from __future__ import annotations

import glob

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class, get_completion_class

from lagbc.io.examples import EXAMPLE, example_names

# Devices with names.
DEVICES = ("auto", "cpu", "cuda", "all")

_VARIABLE = "_LAGBC_COMPLETE"
_HELP = """Print what SHELL needs to complete commands, options and file names of lagbc.

\b
bash:  eval "$(lagbc completion bash)"    in ~/.bashrc
zsh:   eval "$(lagbc completion zsh)"     in ~/.zshrc, below compinit
fish:  lagbc completion fish | source     in ~/.config/fish/config.fish"""


class _Bash(BashComplete):
    """Completion for bash, which splits words at colons: of example:NAME it completes NAME."""

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


def complete_graph(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the networks that come with lagbc if the word begins as their names do, else files."""
    is_example = incomplete.startswith(EXAMPLE)
    if is_example or (incomplete and EXAMPLE.startswith(incomplete) and not glob.glob(glob.escape(incomplete) + "*")):
        names = (EXAMPLE + name for name in example_names())
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return complete_file(ctx, param, incomplete)


def complete_file(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Have the shell offer files."""
    return [CompletionItem(incomplete, type="file")]


def complete_method(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the names of methods."""
    from lagbc.methods.table import METHODS

    names = dict.fromkeys(["auto", *(row.name for row in METHODS)])
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_device(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the names of devices."""
    return [CompletionItem(name) for name in DEVICES if name.startswith(incomplete)]


@click.command("completion", help=_HELP)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the script of a shell."""
    program = click.get_current_context().find_root()
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(program.command, {}, "lagbc", _VARIABLE).source())
