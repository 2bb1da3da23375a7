"""`fcn page`: the live page of a controller, from the package `page`."""

import typer

from fcn.controller.cli import programs


def missing_packages() -> str:
    """What to do where the packages of the page are not installed; empty where they are."""
    return programs.missing_packages("page", "starlette", "uvicorn")


def page(context: typer.Context) -> None:
    """Show the network live in a browser: `fcn page --help`."""
    programs.become("fcn.page", context.args, missing_packages())
