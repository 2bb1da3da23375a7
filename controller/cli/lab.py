"""`fcn lab`: networks in virtual time, from the package `lab`."""

import typer

from fcn.controller.cli.programs import become, missing_packages


def lab(context: typer.Context) -> None:
    """Run networks in virtual time, and look at the results: `fcn lab --help`."""
    become("fcn.lab", context.args, missing_packages("lab", "pandas"))
