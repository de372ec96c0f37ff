"""`lagbc compile`: a GPU made ready, so that no run waits for a compiler."""

from __future__ import annotations

import click

from lagbc.interfaces.cli.text import duration


@click.command("compile")
def compile_command() -> None:
    """Compile all kernels of the GPU now, for this user, rather than when they are first called.

    The line that is printed names the folder in which they are kept. What runs on a CPU is compiled when lagbc is
    installed.
    """
    from lagbc.centrality.compiled import compile_kernels

    done = compile_kernels()
    click.echo(f"cuda: {done.what}, in {duration(done.seconds)}; kept in {done.folder}")
