"""The live page of a network that runs in namespaces of its own, at an address outside of them.

A socket belongs to the network namespace in which it was made: it is made outside, and handed on.
"""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fcn.controller.cli.programs import page_missing
from fcn.hosts.processes import Process
from fcn.page.address import DEFAULT_LISTEN, PageError, listen, url

VARIABLE = "FCN_PAGE_FD"
"""The number of the socket, for the program inside."""


def page_socket() -> socket.socket | None:
    """One that listens, at any port where the usual one is taken; None where the packages of the
    page are not installed."""
    if page_missing():
        return None
    try:
        return listen(DEFAULT_LISTEN)
    except PageError:
        return listen("127.0.0.1:0")


@contextmanager
def live_page(api: str, logs: Path) -> Iterator[str]:
    """Serve the page of a controller at that socket; yields its address, empty without a socket."""
    number = os.environ.get(VARIABLE)
    if number is None:
        yield ""
        return
    with socket.socket(fileno=os.dup(int(number))) as listening:
        fd = listening.fileno()
        command = [sys.executable, "-m", "fcn.page", "--stories", "--api", api, "--fd", str(fd)]
        with Process("fcn page", command, logs / "page.log", pass_fds=[fd]):
            yield url(listening)
