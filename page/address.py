"""Where the page is served."""

import os
import socket

from fcn.contract.transport import is_local
from fcn.controller.config.notation import parse_endpoint

DEFAULT_LISTEN = "127.0.0.1:9664"


class PageError(Exception):
    """The page cannot be served; the message says why and what to do."""


def listen(endpoint: str) -> socket.socket:
    """A socket on host:port of this machine. Raises PageError, also for an address that others
    reach."""
    try:
        parse_endpoint(endpoint)
    except ValueError as error:
        raise PageError(str(error)) from None
    if not is_local(endpoint) or endpoint.startswith("unix:"):
        raise PageError(
            f"{endpoint} is no loopback address, and whoever reaches the page sees all tenants; "
            "use 127.0.0.1:PORT, and from another machine `ssh -L PORT:127.0.0.1:PORT`"
        )
    host, _, port = endpoint.rpartition(":")
    address = (host.strip("[]"), int(port))
    family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
    try:
        return socket.create_server(address, family=family)
    except OSError as error:
        raise PageError(
            f"cannot serve the page on {endpoint}: {os.strerror(error.errno or 0)}; choose another "
            "address with --listen, or `page:` of the configuration"
        ) from None


def url(listening: socket.socket) -> str:
    """What to enter in a browser."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
