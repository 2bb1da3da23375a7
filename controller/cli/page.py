"""`fcn page`: the live page of a controller, from the package `page`."""

import importlib.util
import os
import sys

import typer

from fcn.contract.version import DISTRIBUTION
from fcn.controller.cli.common import fail

PAGE_OPTIONS = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "help_option_names": [],
}
"""Options are parsed by the page, which needs packages a controller does not."""


def missing_packages() -> str:
    """What to do where the packages of the page are not installed; empty where they are."""
    if all(map(importlib.util.find_spec, ("starlette", "uvicorn"))):
        return ""
    return (
        f"starlette and uvicorn are not installed for {sys.executable}: "
        f"pip install '{DISTRIBUTION}[page]'"
    )


def page(context: typer.Context) -> None:
    """Show the network live in a browser: `fcn page --help`."""
    if missing := missing_packages():
        raise fail(missing)
    os.execv(sys.executable, [sys.executable, "-m", "fcn.page", *context.args])
