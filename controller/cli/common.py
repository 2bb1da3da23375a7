"""Shared parts of the commands: options, the controller's client, errors and exit codes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console

from fcn.controller.northbound.client import ControllerError, FcnClient

EXIT_FAILED = 1
EXIT_CONFIG = 3
EXIT_UNREACHABLE = 4

out = Console()
err = Console(stderr=True)

Api = Annotated[
    str,
    typer.Option(envvar="FCN_API", help="Where the controller listens: host:port or unix:/path."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
NodeName = Annotated[str, typer.Argument(help="Name of a node in the configuration.")]
AnyNode = Annotated[
    str, typer.Argument(help="Name of a node; default: all nodes.", show_default=False)
]


def fail(message: str, code: int = EXIT_FAILED) -> typer.Exit:
    """Print an error and return the exception to raise."""
    err.print(f"[bold red]error:[/] {message}", highlight=False, soft_wrap=True)
    return typer.Exit(code)


@contextmanager
def controller(api: str) -> Iterator[FcnClient]:
    """A client of the running controller; its errors end the command with a message."""
    try:
        with FcnClient(api) as client:
            yield client
    except ControllerError as error:
        unreachable = "no controller answers" in str(error)
        raise fail(str(error), EXIT_UNREACHABLE if unreachable else EXIT_FAILED) from None


def number(text: str) -> int:
    """Parse a number, decimal or 0x…. Raises typer.BadParameter."""
    try:
        return int(text.strip(), 0)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number") from None
