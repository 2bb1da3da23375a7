"""`fcn topo`: runs a network on this machine, from the package `topologies`."""

import importlib.util
import os
import sys

import typer

from fcn.controller.cli.common import fail

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
    if importlib.util.find_spec("mininet") is None:
        raise fail(
            f"Mininet is not installed for {sys.executable}: apt-get install mininet, and make the "
            "environment with --system-site-packages"
        )
    os.execv(sys.executable, [sys.executable, "-m", "fcn.topologies.run", *context.args])
