"""`fcn topo`: runs a network on this machine, from the package `topologies`."""

import os
import sys

import typer

topo_app = typer.Typer(help="Run a whole network on this machine.", no_args_is_help=True)


@topo_app.command(
    "run",
    # The options are parsed by the topologies, which need packages a controller does not.
    context_settings={
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "help_option_names": [],
    },
)
def topo_run(context: typer.Context) -> None:
    """Start a topology, as `python -m fcn.topologies.run`: `fcn topo run dual-dc --hosts 64`."""
    os.execv(sys.executable, [sys.executable, "-m", "fcn.topologies.run", *context.args])
