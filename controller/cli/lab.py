"""`fcn lab`: networks in virtual time, from the package `lab`."""

import importlib.util
import os
import sys

import typer

from fcn.contract.version import DISTRIBUTION
from fcn.controller.cli.common import fail

LAB_OPTIONS = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "help_option_names": [],
}
"""Commands and options are parsed by the laboratory, which needs packages a controller does not."""


def lab(context: typer.Context) -> None:
    """Run networks in virtual time, and look at the results: `fcn lab --help`."""
    if importlib.util.find_spec("pandas") is None:
        how = f"pip install '{DISTRIBUTION}[lab]'"
        raise fail(f"pandas is not installed for {sys.executable}: {how}")
    os.execv(sys.executable, [sys.executable, "-m", "fcn.lab", *context.args])
