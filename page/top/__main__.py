"""`fcn top`, as `python -m fcn.page.top`.

Exit codes: 0 stopped, 2 usage error.
"""

from typing import Annotated

import typer

from fcn.controller.config.notation import DEFAULT_ENDPOINT, parse_endpoint
from fcn.page.top.app import Top
from fcn.page.watcher import Watcher


def main(
    api: Annotated[
        str,
        typer.Option(
            envvar="FCN_API", help="Where the controller listens: host:port or unix:/path."
        ),
    ] = DEFAULT_ENDPOINT,
) -> None:
    """Show the network live in the terminal; read-only, until q."""
    try:
        parse_endpoint(api)
    except ValueError as error:
        raise typer.BadParameter(f"--api or FCN_API: {error}") from None
    app = Top(api)
    with Watcher(api, app.tell, app.tell).running():
        app.run()


if __name__ == "__main__":
    command = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    command.command(name="top")(main)
    command(prog_name="fcn top")
