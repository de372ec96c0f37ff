"""`lagbc compile`: kernels of a GPU, compiled before any run waits for them."""

from __future__ import annotations

import click

from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.text import duration


@click.command("compile")
@options.quiet_option
def compile_command(quiet: bool) -> None:
    """Compile all kernels of the GPU now, for this user, rather than at their first call.

    The line that is printed names the folder of the kernels. Kernels of a CPU are compiled when lagbc is installed.
    """
    from lagbc.centrality.compiled import compile_kernels

    done = compile_kernels()
    if not quiet:
        click.echo(f"cuda: {done.what}, in {duration(done.seconds)}; kept in {done.folder}")
