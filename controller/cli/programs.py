"""Commands that are programs of their own, in packages that a controller does not need."""

import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from fcn.contract.command_line import Commands
from fcn.contract.version import DISTRIBUTION
from fcn.controller.cli.common import fail

OPTIONS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
"""Commands and options are parsed by the program."""

topo_app = Commands(help="Run a whole network on this machine.", no_args_is_help=True)


def missing_packages(extra: str, *packages: str) -> str:
    """What to do where the packages of an extra are not installed; empty where they are."""
    if all(map(importlib.util.find_spec, packages)):
        return ""
    lacking = f"{' and '.join(packages)} {'are' if len(packages) > 1 else 'is'} not installed"
    return f"{lacking} for {sys.executable}: pip install '{DISTRIBUTION}[{extra}]'"


def page_missing() -> str:
    """As of `missing_packages`, for the live page."""
    return missing_packages("page", "numpy", "starlette", "uvicorn")


def become(
    module: str, arguments: Sequence[str], missing: str = "", inside: Sequence[str] = ()
) -> NoReturn:
    """Run the program in place of this one; missing: as of `missing_packages`; inside: a command
    that runs it elsewhere."""
    if missing:
        raise fail(missing)
    command = [*inside, sys.executable, "-m", "fcn.contract.program", module, *arguments]
    os.execvp(command[0], command)


def page(context: typer.Context) -> None:
    """Show the network live in a browser: `fcn page --help`."""
    become("fcn.page", context.args, page_missing())


def top(context: typer.Context) -> None:
    """Show the network live in the terminal: `fcn top --help`."""
    become("fcn.page.top", context.args, missing_packages("top", "textual"))


def lab(context: typer.Context) -> None:
    """Run networks in virtual time, and look at the results: `fcn lab --help`."""
    become("fcn.lab", context.args, missing_packages("lab", "pandas"))


@topo_app.command("run", context_settings=OPTIONS)
def topo_run(context: typer.Context) -> None:
    """Start a topology, as `python -m fcn.topologies.run`: `fcn topo run dual-dc --hosts 64`."""
    missing = (
        ""
        if importlib.util.find_spec("mininet")
        else (
            f"Mininet is not installed for {sys.executable}: apt-get install mininet, and make the "
            "environment with --system-site-packages"
        )
    )
    become("fcn.topologies.run", context.args, missing)


@topo_app.command("cut", context_settings=OPTIONS)
def topo_cut(context: typer.Context) -> None:
    """Cut links of a network that runs, both directions: `fcn topo cut r1:r3`."""
    become("fcn.topologies.cables", ["cut", *context.args])


@topo_app.command("mend", context_settings=OPTIONS)
def topo_mend(context: typer.Context) -> None:
    """Mend links that were cut: `fcn topo mend r1:r3`."""
    become("fcn.topologies.cables", ["mend", *context.args])


@topo_app.command("traffic", context_settings=OPTIONS)
def topo_traffic(context: typer.Context) -> None:
    """Send RoCEv2 traffic between hosts of a network that runs: `fcn topo traffic h1 h3`."""
    become("fcn.topologies.traffic", context.args)
