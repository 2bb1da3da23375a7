"""`fcn top`, as `python -m fcn.page.top`.

Exit codes: 0 stopped, 2 usage error.
"""

import typer

from fcn.controller.cli.common import Api, check_api
from fcn.controller.config.notation import DEFAULT_ENDPOINT
from fcn.page.top.app import Top
from fcn.page.watcher import Watcher


def main(api: Api = DEFAULT_ENDPOINT) -> None:
    """Show the network live in the terminal; read-only, until q."""
    check_api(api)
    app = Top(api)
    with Watcher(api, app.tell, app.tell).running():
        app.run()


if __name__ == "__main__":
    command = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    command.command(name="top")(main)
    command(prog_name="fcn top")
