"""`fcn capture`: captures packets on a port of a running switch, as a pcap or as text.

The switch is a process of this machine: its command line contains the interface of each port, which
is in the network namespace of the process. tcpdump writes pcaps; tshark, with the dissector of
packets/wireshark, prints packets as text. Either replaces this process (exec), so that signals,
exit code and the summary of captured and dropped packets need no forwarding.
"""

import argparse
import os
import shutil
import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from fcn import packets

PROC = Path("/proc")
_UCRED = struct.Struct("3i")
"""struct ucred (unix(7)): process, user and group."""

DISSECTOR = Path(packets.__file__).parent / "wireshark" / "fcn.lua"


class CaptureError(Exception):
    """The port cannot be captured; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class SwitchProcess:
    """A running simple_switch_grpc or fcn-softswitch and its interfaces by port number."""

    pid: int
    interfaces: dict[int, str]


def running_switch(address: str, api: str, proc: Path = PROC) -> SwitchProcess:
    """The process that serves P4Runtime at `address` (host:port). Raises CaptureError.

    api: endpoint of the controller that uses the address. Where switches in several network
    namespaces have the same address, the one in the controller's namespace is returned.
    """
    wanted = address.rpartition(":")[2]
    found = [
        SwitchProcess(pid, interfaces)
        for pid, (served, interfaces) in (
            (pid, _switch_options(arguments)) for pid, arguments in _commands(proc)
        )
        if interfaces and served.rpartition(":")[2] == wanted
    ]
    if len(found) > 1:
        namespace = _network_namespace(controller_process(api), proc)
        found.sort(key=lambda each: _network_namespace(each.pid, proc) != namespace)
    if found:
        return found[0]
    raise CaptureError(
        f"no switch of this machine serves {address} (looked for -i PORT@INTERFACE and "
        f"--grpc-server-addr in {proc}); run the command as root where the switch runs"
    )


def controller_process(api: str) -> int:
    """The process ID of the controller that listens on a Unix socket; for host:port that of this
    process, which is in the same network namespace when it uses a loopback address."""
    if not api.startswith("unix:"):
        return os.getpid()
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(api.removeprefix("unix:"))
        except OSError as error:
            raise CaptureError(f"the controller at {api} is gone: {error.strerror}") from None
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
    pid: int = _UCRED.unpack(credentials)[0]
    return pid


def _network_namespace(pid: int, proc: Path) -> str | None:
    try:
        return os.readlink(proc / str(pid) / "ns" / "net")
    except OSError:
        return None


def _commands(proc: Path) -> Iterator[tuple[int, list[str]]]:
    """Command lines of switch processes, newest first: a wrapper is older than the switch."""
    for pid in sorted(int(entry.name) for entry in proc.iterdir() if entry.name.isdecimal())[::-1]:
        try:
            command = (proc / str(pid) / "cmdline").read_bytes()
        except OSError:
            continue  # the process has ended
        arguments = command.decode(errors="replace").split("\0")
        if any("simple_switch_grpc" in part or "softswitch" in part for part in arguments):
            yield pid, arguments


def _switch_options(arguments: Sequence[str]) -> tuple[str, dict[int, str]]:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("-i", "--interface", action="append", default=[])
    parser.add_argument("--grpc-server-addr", default="")
    try:
        options, _ = parser.parse_known_args([each for each in arguments if each != "--"])
    except argparse.ArgumentError:
        return "", {}
    pairs = (value.partition("@") for value in options.interface)
    return options.grpc_server_addr, {
        int(port): interface for port, _, interface in pairs if port.isdecimal() and interface
    }


def capture(
    address: str, api: str, node: str, port: int, *, file: Path | None, count: int, expression: str
) -> NoReturn:
    """Replace this process by the capture program. Raises CaptureError.

    address: of the node's P4Runtime server; api: endpoint of its controller; file: pcap to write,
    `-` is standard output, None prints packets as text; count: stop after this many packets, 0: no
    limit; expression: a pcap filter.
    """
    switch = running_switch(address, api)
    interface = switch.interfaces.get(port)
    if interface is None:
        ports = ", ".join(
            f"{number} ({name})" for number, name in sorted(switch.interfaces.items())
        )
        raise CaptureError(f"{node} has no port {port}; its ports are: {ports}")
    command = entering(switch.pid)
    if file is not None:
        command += _tcpdump(interface, count, ["-w", "-"], expression)
    elif shutil.which("tshark"):
        command += ["tshark", "-l", "-n", "-i", interface, "-X", f"lua_script:{DISSECTOR}"]
        command += ["-c", str(count)] if count else []
        command += ["-f", expression] if expression else []
    else:
        command += _tcpdump(interface, count, ["-l"], expression)
    program = shutil.which(command[0])
    if program is None:
        raise CaptureError(f"{command[0]} is not installed: apt-get install {command[0]}")
    if file is not None and str(file) != "-":
        _redirect_output(file)
    os.execv(program, command)


def _tcpdump(interface: str, count: int, output: Sequence[str], expression: str) -> list[str]:
    limit = ["-c", str(count)] if count else []
    return [
        "tcpdump",
        "-i",
        interface,
        "-n",
        "-U",
        *output,
        *limit,
        *([expression] if expression else []),
    ]


def entering(pid: int) -> list[str]:
    """Command prefix to enter a process's network namespace; empty when it is the same."""
    try:
        theirs = os.readlink(PROC / str(pid) / "ns" / "net")
    except PermissionError:
        raise CaptureError(
            "the switch is in another network namespace, which needs root: use sudo fcn"
        ) from None
    except FileNotFoundError:
        raise CaptureError("the switch has just ended") from None
    if theirs == os.readlink(PROC / "self" / "ns" / "net"):
        return []
    return ["nsenter", f"--net=/proc/{pid}/ns/net"]


def _redirect_output(file: Path) -> None:
    """Redirect standard output to the file, opened here because tcpdump changes its user ID."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    except OSError as error:
        raise CaptureError(f"cannot write {file}: {error.strerror}") from None
    os.dup2(descriptor, 1)
    os.close(descriptor)
