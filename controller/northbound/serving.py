"""Where the API listens: a Unix socket, whose mode says who may use it, or TCP with mutual TLS."""

import grp
import logging
import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import grpc

from fcn.contract.certificates import Revoked
from fcn.contract.grpc_tls import server_credentials
from fcn.contract.rpc import KEEPALIVE_MS, bounded, handler_of
from fcn.contract.transport import ServerFiles, is_socket
from fcn.controller.config.document import MAX_OCTETS
from fcn.controller.config.notation import DEFAULT_ENDPOINT
from fcn.controller.northbound.access import AT_ONCE, Guarded
from fcn.controller.northbound.api import FcnService
from fcn.controller.northbound.audit import AuditLog
from fcn.controller.northbound.local_users import SUFFIX, LocalUsers
from fcn.controller.northbound.network import Network
from fcn.controller.proto import fcn_pb2 as pb

LOG = logging.getLogger("fcn")

STOP_GRACE = 1.0

CONNECTIONS = 256
"""At a time."""

MAX_REQUEST = MAX_OCTETS + (1 << 16)
"""Octets: a file, and its name."""


class ApiError(Exception):
    """The API server cannot start; the message says why and what to do."""


def _prepare_socket(endpoint: str) -> None:
    """Remove a socket left by a controller that has ended. Raises ApiError."""
    path = Path(endpoint.removeprefix("unix:"))
    if endpoint == DEFAULT_ENDPOINT:
        _make_folder(path.parent)
    if not path.parent.is_dir():
        raise ApiError(f"cannot listen on {endpoint}: there is no directory {path.parent}")
    if not path.exists():
        return
    if not path.is_socket():
        raise ApiError(f"cannot listen on {endpoint}: {path} exists and is not a socket")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except OSError as error:
            raise ApiError(f"cannot listen on {endpoint}: {error.strerror}") from None
    raise ApiError(
        f"cannot listen on {endpoint}: another controller does; "
        "stop it, or choose another `api:` in the configuration"
    )


def _make_folder(folder: Path) -> None:
    """`/run` is empty after each start of the machine. Raises ApiError."""
    try:
        folder.mkdir(mode=0o755, exist_ok=True)
    except OSError as error:
        raise ApiError(
            f"cannot listen below {folder}: {error.strerror}; make that folder for this user, or "
            "say `api: unix:/PATH` in the configuration, and FCN_API=unix:/PATH to `fcn`"
        ) from None


def _listen_on_socket(server: grpc.aio.Server, endpoint: str, group: str | None) -> None:
    """Its file is this user's alone, and that group's if there is one. Raises RuntimeError,
    OSError, ApiError."""
    _prepare_socket(endpoint)
    before = os.umask(0o177)
    try:
        server.add_insecure_port(endpoint)
    finally:
        os.umask(before)
    if group is not None:
        path = endpoint.removeprefix("unix:")
        try:
            os.chown(path, -1, grp.getgrnam(group).gr_gid)
        except (OSError, KeyError) as error:
            raise ApiError(f"cannot give {path} to the group {group}: {error}") from None
        os.chmod(path, 0o660)


def _remove(path: Path) -> None:
    """A socket; what is something else is not ours."""
    if path.is_socket():
        path.unlink(missing_ok=True)


async def _tell_users(stack: AsyncExitStack, endpoint: str, users: LocalUsers) -> None:
    """By a socket beside that of the API, for the same users. Raises ApiError."""
    path = endpoint.removeprefix("unix:")
    beside = Path(path + SUFFIX)
    try:
        found = os.stat(path)
        # Also what a controller that was killed has left: nobody else listens on the API.
        _remove(beside)
        stack.callback(_remove, beside)
        listening = users.listening(str(beside), found.st_mode & 0o777, found.st_gid)
        await stack.enter_async_context(listening)
    except OSError as error:
        raise ApiError(f"cannot listen on {beside}: {error.strerror or error}") from None


@asynccontextmanager
async def serving(
    network: Network,
    endpoint: str,
    *,
    tls: ServerFiles | None = None,
    group: str | None = None,
    audit: AuditLog | None = None,
) -> AsyncIterator[str]:
    """Serve on host:port or unix:/path, which `group` may use, too; yields the address in use.
    Raises ApiError, TlsFileError, OSError."""
    server = grpc.aio.server(
        options=[
            ("grpc.so_reuseport", 0),
            ("grpc.max_receive_message_length", MAX_REQUEST),
            # Of a connection; more wait at the client. gRPC refuses others where 1000 wait here.
            ("grpc.max_concurrent_streams", 2 * AT_ONCE),
            *bounded(CONNECTIONS),
            # Other controllers look whether this one is there (following.py).
            ("grpc.http2.min_recv_ping_interval_without_data_ms", KEEPALIVE_MS // 2),
        ]
    )
    revoked = tls.revoked(LOG.error).now if tls is not None else Revoked
    credentials = server_credentials(tls, LOG.error) if tls is not None else None
    users = LocalUsers()
    guarded = Guarded(FcnService(network), audit or AuditLog(), users, revoked)
    service = pb.DESCRIPTOR.services_by_name["Fcn"]
    server.add_generic_rpc_handlers((handler_of(service, guarded),))
    port = 0
    try:
        if is_socket(endpoint):
            _listen_on_socket(server, endpoint, group)
        elif credentials is not None:
            port = server.add_secure_port(endpoint, credentials)
        else:
            port = server.add_insecure_port(endpoint)
    except RuntimeError:
        raise ApiError(
            f"cannot listen on {endpoint}: is another controller running? "
            "Choose another `api:` in the configuration"
        ) from None
    async with AsyncExitStack() as stack:
        if is_socket(endpoint):
            await _tell_users(stack, endpoint, users)
        await server.start()
        stack.push_async_callback(server.stop, STOP_GRACE)
        yield endpoint if is_socket(endpoint) else f"{endpoint.rpartition(':')[0]}:{port}"
