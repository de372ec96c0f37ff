"""`lagbc compile`: a machine made ready, so that no run waits for a compiler."""

from __future__ import annotations

import click

from lagbc.interfaces.cli.text import duration


@click.command("compile")
@click.option(
    "--device", type=click.Choice(["all", "cpu", "cuda"]), default="all", show_default=True, help="What to compile for."
)
def compile_command(device: str) -> None:
    """Compile all functions and kernels now, for this machine and user, rather than when they are first called.

    A line is printed for each device, with the folder in which it is kept. With "all", a device that is not there is
    passed over.
    """
    from lagbc.centrality.compiled import compile_for
    from lagbc.errors import MissingDependencyError

    for one in ("cpu", "cuda") if device == "all" else (device,):
        try:
            done = compile_for("cpu" if one == "cpu" else "cuda")
        except MissingDependencyError as error:
            if device != "all":
                raise
            click.echo(f"{one}: nothing, {error}")
            continue
        click.echo(f"{one}: {done.what}, in {duration(done.seconds)}; kept in {done.folder}")
