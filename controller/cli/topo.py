"""`fcn topo`: runs a network on this machine, from the package `topologies`."""

import importlib.util
import os
import sys
from typing import NoReturn

import typer

from fcn.controller.cli.common import fail

topo_app = typer.Typer(help="Run a whole network on this machine.", no_args_is_help=True)


# The options are parsed by the topologies, which need packages a controller does not.
_PASSED_ON = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "help_option_names": [],
}


@topo_app.command("run", context_settings=_PASSED_ON)
def topo_run(context: typer.Context) -> None:
    """Start a topology, as `python -m fcn.topologies.run`: `fcn topo run dual-dc --hosts 64`."""
    if importlib.util.find_spec("mininet") is None:
        raise fail(
            f"Mininet is not installed for {sys.executable}: apt-get install mininet, and make the "
            "environment with --system-site-packages"
        )
    _become("run", *context.args)


@topo_app.command("cut", context_settings=_PASSED_ON)
def topo_cut(context: typer.Context) -> None:
    """Cut links of a network that runs, both directions: `fcn topo cut r1:r3`."""
    _become("cables", "cut", *context.args)


@topo_app.command("mend", context_settings=_PASSED_ON)
def topo_mend(context: typer.Context) -> None:
    """Mend links that were cut: `fcn topo mend r1:r3`."""
    _become("cables", "mend", *context.args)


@topo_app.command("traffic", context_settings=_PASSED_ON)
def topo_traffic(context: typer.Context) -> None:
    """Send RoCEv2 traffic between hosts of a network that runs: `fcn topo traffic h1 h3`."""
    _become("traffic", *context.args)


def _become(module: str, *arguments: str) -> NoReturn:
    os.execv(sys.executable, [sys.executable, "-m", f"fcn.topologies.{module}", *arguments])
