"""Shared parts of the commands: options, the controller's client, errors and exit codes."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from fcn.controller.config.notation import parse_endpoint
from fcn.controller.logs import escaped

if TYPE_CHECKING:
    from fcn.controller.northbound.client import FcnClient
    from fcn.controller.proto import fcn_pb2 as pb

EXIT_FAILED = 1
EXIT_CONFIG = 3
EXIT_UNREACHABLE = 4
EXIT_NOT_READY = 5

MAX_QP = (1 << 24) - 1
"""Queue pair numbers have 24 bits (IBTA volume 1, chapter 9.2)."""

MAX_PATH_ID = (1 << 32) - 1
MAX_LABEL = (1 << 20) - 1


class _Aside(Console):
    """Where errors and progress are told: a reader who goes away ends nothing."""

    def on_broken_pipe(self) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


out = Console()
err = _Aside(stderr=True)

Api = Annotated[
    str,
    typer.Option(envvar="FCN_API", help="Where the controller listens: host:port or unix:/path."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
NodeName = Annotated[str, typer.Argument(help="Name of a node in the configuration.")]
AnyNode = Annotated[
    str, typer.Argument(help="Name of a node; default: all nodes.", show_default=False)
]


def plain(text: str) -> str:
    """Lines that a terminal prints as they are; names of files may have commands for it."""
    return "\n".join(map(escaped, text.split("\n")))


def marked(text: object) -> str:
    """The same for where square brackets would be markup."""
    return escape(plain(str(text)))


def say(text: str, console: Console = out) -> None:
    """Each line whole and as it is: square brackets in names of files are no markup."""
    console.print(plain(text), highlight=False, markup=False, soft_wrap=True)


def say_error(message: str) -> None:
    err.print(Text.assemble(("error:", "bold red"), " ", plain(message)), soft_wrap=True)


def fail(message: str, code: int = EXIT_FAILED) -> typer.Exit:
    """Print an error and return the exception to raise."""
    say_error(message)
    return typer.Exit(code)


@contextmanager
def ended_by(*errors: type[Exception], code: int = EXIT_FAILED) -> Iterator[None]:
    """Such an error ends the command, and is printed."""
    try:
        yield
    except errors as error:
        raise fail(str(error), code) from None


@contextmanager
def mistyped(option: str = "") -> Iterator[None]:
    """A ValueError is one of the command line: raises typer.BadParameter."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(f"{option}: {error}" if option else str(error)) from None


def check_api(api: str) -> None:
    """Raises typer.BadParameter where it is no address."""
    with mistyped("--api or FCN_API"):
        parse_endpoint(api)


@contextmanager
def controller(api: str) -> Iterator["FcnClient"]:
    """A client of the running controller; its errors end the command with a message."""
    from fcn.controller.northbound.client import ControllerError, FcnClient, UnreachableError

    check_api(api)
    unreachable = ended_by(UnreachableError, code=EXIT_UNREACHABLE)
    with ended_by(ControllerError), unreachable, FcnClient(api) as client:
        yield client


def number(text: str, what: str, most: int) -> int:
    """Parse a number, decimal or 0x…. Raises typer.BadParameter."""
    try:
        value = int(text.strip(), 0)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number") from None
    if not 0 <= value <= most:
        raise typer.BadParameter(f"{text} is not {what}; those are 0 to {most:#x}")
    return value


def queue_pair(text: str) -> int:
    """As `number`."""
    return number(text, "a queue pair", MAX_QP)


def switch_of(node: str, api: str) -> "pb.NodeStatus":
    with controller(api) as client:
        nodes = {item.name: item for item in client.status().nodes}
    if node not in nodes:
        raise fail(f"there is no node {node!r}; the nodes are: {', '.join(nodes)}")
    return nodes[node]
