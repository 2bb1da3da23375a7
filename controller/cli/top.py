"""`fcn top`: the network live in the terminal, from the package `page`."""

import typer

from fcn.controller.cli.programs import become, missing_packages


def top(context: typer.Context) -> None:
    """Show the network live in the terminal: `fcn top --help`."""
    become("fcn.page.top", context.args, missing_packages("top", "textual"))
