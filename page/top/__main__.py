"""`fcn top`, as `python -m fcn.page.top`.

Exit codes: 0 stopped, 1 there is no terminal, or no longer, 2 usage error.
"""

import os
from threading import Event, Thread

from fcn.contract.command_line import Commands
from fcn.controller.cli.common import Api, check_api, fail
from fcn.controller.config.notation import DEFAULT_ENDPOINT
from fcn.page.top.app import Top
from fcn.page.watcher import Watcher

LOOK = 1.0
"""Seconds from one look at the terminal to the next."""


def main(api: Api = DEFAULT_ENDPOINT) -> None:
    """Show the network live in the terminal; read-only, until q."""
    check_api(api)
    if not _is_terminal():
        raise fail("fcn top needs a terminal; `fcn status` and `fcn counters` need none")
    app = Top(api)
    ended = Event()
    Thread(target=_end_with_terminal, args=(ended,), daemon=True).start()
    with Watcher(api, app.tell, app.tell).running():
        app.run()
    ended.set()


def _is_terminal() -> bool:
    """Textual reads the one, draws on the other, and puts its own in place of sys.stdin."""
    return os.isatty(0) and os.isatty(2)


def _end_with_terminal(ended: Event) -> None:
    """A terminal that is gone sends no signal to whom it does not control, and Textual would go on
    without: nothing can be written any more, so there is nothing to put back."""
    while not ended.wait(LOOK):
        if not _is_terminal():
            os._exit(1)


if __name__ == "__main__":
    command = Commands(add_completion=False)
    command.command(name="top")(main)
    command(prog_name="fcn top")
