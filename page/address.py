"""Where the page is served."""

import socket

DEFAULT_LISTEN = "127.0.0.1:9664"


class PageError(Exception):
    """The page cannot be served; the message says why and what to do."""


def listen(endpoint: str) -> socket.socket:
    """A socket on host:port of this machine. Raises PageError."""
    host, _, port = endpoint.rpartition(":")
    address = (host.strip("[]"), int(port))
    family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
    try:
        return socket.create_server(address, family=family)
    except OSError as error:
        raise PageError(
            f"cannot serve the page on {endpoint}: {error.strerror}; choose another address"
        ) from None


def url(listening: socket.socket) -> str:
    """What to enter in a browser."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
