"""Where a topology's controller is reached: a Unix socket, from any network namespace."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fcn.controller.config.notation import SOCKET_PATH_MAX
from fcn.controller.northbound.client import ControllerError, FcnClient
from fcn.hosts.processes import ProcessError
from fcn.hosts.scratch import scratch_folder

VARIABLE = "FCN_API"
NAME = "fcn.sock"


@contextmanager
def api_endpoint(directory: Path) -> Iterator[str]:
    """`unix:/path` below `directory`, for its owner only; elsewhere where that path is too long.

    Inside, FCN_API is set to it, for this process and those it starts.
    """
    with _place(directory.absolute() / "api") as place:
        endpoint = f"unix:{place / NAME}"
        before = os.environ.get(VARIABLE)
        os.environ[VARIABLE] = endpoint
        try:
            yield endpoint
        finally:
            if before is None:
                del os.environ[VARIABLE]
            else:
                os.environ[VARIABLE] = before


@contextmanager
def _place(wanted: Path) -> Iterator[Path]:
    if len(os.fsencode(wanted / NAME)) > SOCKET_PATH_MAX:
        with scratch_folder("fcn-api-") as place:
            yield place
        return
    _make_own(wanted)
    try:
        yield wanted
    finally:
        shutil.rmtree(wanted, ignore_errors=True)


def _make_own(folder: Path) -> None:
    """Make a folder that is ours alone, also where one of ours is there. A link that somebody put
    there would give the mode to the folder it leads to. Raises ProcessError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if os.fstat(descriptor).st_uid != os.geteuid():
                raise ProcessError(f"{folder} belongs to somebody else; remove it")
            os.fchmod(descriptor, 0o700)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ProcessError(
            f"{folder} is not a folder of this user ({error.strerror}); remove it, or choose "
            "another directory with --out"
        ) from None


def topology_client() -> FcnClient:
    """The controller of the topology that this process runs."""
    return FcnClient(os.environ[VARIABLE])


def all_nodes_up(api: str) -> bool:
    """Whether a controller answers at `api` whose nodes have all it wants of them. Raises
    ProcessError when some refused entries."""
    try:
        with FcnClient(api) as client:
            nodes = client.status().nodes
    except ControllerError:
        return False
    if refused := [node.name for node in nodes if node.refused]:
        raise ProcessError(f"switches refused entries: {', '.join(refused)}")
    return all(node.state == "up" and not node.pending for node in nodes)


def fcn_command() -> str:
    """The `fcn` that belongs to this Python."""
    beside = Path(sys.executable).with_name("fcn")
    return str(beside) if beside.exists() else "fcn"


def commands_to_try(endpoint: str, shown: Sequence[str] = ("status", "counters", "events")) -> str:
    """What to enter in another terminal, a command per line."""
    where = f"--api {shlex.quote(endpoint)}"
    return "\n".join(f"  {_shortest()} {what} {where}" for what in shown)


def commands_for_network(directory: Path, *what: str) -> str:
    """The same, of `fcn topo`: to cut a link and to mend it, to send traffic."""
    where = f"--out {shlex.quote(str(directory))}"
    return "\n".join(f"  {_shortest()} topo {each} {where}" for each in what)


def _shortest() -> str:
    command = fcn_command()
    return "fcn" if shutil.which("fcn") == command else shlex.quote(command)
