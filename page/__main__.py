"""`fcn page`, as `python -m fcn.page`: the live page of a controller that runs.

Exit codes: 0 stopped, 1 the page cannot be served, 2 usage error.
"""

import asyncio
import os
import socket
from contextlib import suppress
from typing import Annotated

import typer

from fcn.contract.command_line import Commands
from fcn.controller.cli.common import Api, check_api, ended_by
from fcn.controller.config.notation import DEFAULT_ENDPOINT
from fcn.page.address import DEFAULT_LISTEN, PageError, listen, url
from fcn.page.hub import Hub
from fcn.page.server import serve, watching
from fcn.page.stories import of_network

NICENESS = 10
"""The controller goes before the page."""


def main(
    api: Api = DEFAULT_ENDPOINT,
    listen_: Annotated[
        str, typer.Option("--listen", help="Where the page is served: host:port of this machine.")
    ] = DEFAULT_LISTEN,
    fd: Annotated[
        int | None, typer.Option(help="A socket that listens already, instead.", hidden=True)
    ] = None,
    stories: Annotated[
        bool,
        typer.Option(
            "--stories",
            help="Packets tell their stories, as of `fcn trace`: who opens the page sees what they "
            "carry, and makes switches slower meanwhile.",
        ),
    ] = False,
) -> None:
    """Show the network live in a browser; read-only, until Ctrl-C or SIGTERM."""
    check_api(api)
    with ended_by(PageError):
        listening = listen(listen_) if fd is None else socket.socket(fileno=fd)
    os.nice(NICENESS)
    hub = Hub()

    def announce() -> None:
        # As with the controller's, nobody has to read it.
        with suppress(OSError):
            print(f"live page of the controller at {api}: {url(listening)}", flush=True)

    told = of_network(api) if stories else None
    asyncio.run(serve(hub, listening, watching(api, hub, stories), told, announce))
    # A thread of gRPC that gets on while Python ends would abort the process.
    os._exit(0)


if __name__ == "__main__":
    app = Commands(add_completion=False)
    app.command(name="page")(main)
    app(prog_name="fcn page")
