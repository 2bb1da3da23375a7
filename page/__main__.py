"""`fcn page`, as `python -m fcn.page`: the live page of a controller that runs.

Exit codes: 0 stopped, 1 the page cannot be served, 2 usage error.
"""

import asyncio
import os
import socket
import sys
from contextlib import suppress
from typing import Annotated

import typer

from fcn.contract.transport import is_local
from fcn.controller.config.notation import DEFAULT_ENDPOINT, parse_endpoint
from fcn.page.address import DEFAULT_LISTEN, PageError, listen, url
from fcn.page.server import serve

NICENESS = 10
"""The controller goes before the page."""


def main(
    api: Annotated[
        str,
        typer.Option(
            envvar="FCN_API", help="Where the controller listens: host:port or unix:/path."
        ),
    ] = DEFAULT_ENDPOINT,
    listen_: Annotated[
        str, typer.Option("--listen", help="Where the page is served: host:port of this machine.")
    ] = DEFAULT_LISTEN,
    fd: Annotated[
        int | None, typer.Option(help="A socket that listens already, instead.", hidden=True)
    ] = None,
) -> None:
    """Show the network live in a browser; read-only, until Ctrl-C or SIGTERM."""
    for option, value in (("--api or FCN_API", api), ("--listen", listen_)):
        try:
            parse_endpoint(value)
        except ValueError as error:
            raise typer.BadParameter(f"{option}: {error}") from None
    if not is_local(listen_) or listen_.startswith("unix:"):
        raise typer.BadParameter(
            f"--listen: {listen_} is no loopback address, and whoever reaches the page sees all "
            "tenants; use 127.0.0.1:PORT, and from another machine `ssh -L PORT:127.0.0.1:PORT`"
        )
    try:
        listening = listen(listen_) if fd is None else socket.socket(fileno=fd)
    except PageError as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    # As with the controller's, nobody has to read it.
    with suppress(OSError):
        print(f"live page of the controller at {api}: {url(listening)}", flush=True)
    os.nice(NICENESS)
    asyncio.run(serve(api, listening))


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(name="page")(main)
    app(prog_name="fcn page")
