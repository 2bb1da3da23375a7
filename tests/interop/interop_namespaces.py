"""Network namespaces that end with the test process, and raw sockets inside them."""

import ctypes
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

CLONE_NEWNET = 0x40000000
ETH_P_ALL = 3
START_TIMEOUT_S = 60.0
_LIBC = ctypes.CDLL(None, use_errno=True)


class CommandError(AssertionError):
    """A command in a namespace failed; the message holds the command and its output."""


@contextmanager
def _entered(namespace: int) -> Iterator[None]:
    """This thread inside the network namespace of an open file descriptor."""
    with Path("/proc/thread-self/ns/net").open() as home:
        for target in (namespace, home.fileno()):
            if _LIBC.setns(target, CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
            if target == namespace:
                yield


class Namespace:
    """One network namespace, kept by a process that ends with this one.

    IPv6 is disabled on interfaces without an address, so that the kernel sends nothing on switch
    ports.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._holder = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sleep", "infinity"]
        )
        own = os.readlink("/proc/self/ns/net")
        deadline = time.monotonic() + START_TIMEOUT_S
        while self._comm() != "sleep" or os.readlink(self._path) == own:
            if time.monotonic() > deadline:
                raise CommandError(f"namespace {name} did not come up")
            time.sleep(0.005)
        self.run("ip", "link", "set", "lo", "up")
        self.sysctl("net.ipv6.conf.default.accept_dad", 0)
        self.sysctl("net.ipv6.conf.default.router_solicitations", 0)

    @property
    def pid(self) -> int:
        """Process to name in `ip link ... netns PID`."""
        return self._holder.pid

    @property
    def _path(self) -> str:
        return f"/proc/{self.pid}/ns/net"

    def _comm(self) -> str:
        return Path(f"/proc/{self.pid}/comm").read_text().strip()

    def command(self, *command: str) -> list[str]:
        """The command line that runs `command` inside."""
        return ["nsenter", f"--net={self._path}", "--", *command]

    def run(self, *command: str) -> str:
        """Run a command inside; returns its output, raises CommandError when it fails."""
        done = subprocess.run(
            self.command(*command), capture_output=True, text=True, timeout=60, check=False
        )
        if done.returncode != 0:
            raise CommandError(
                f"in {self.name}: {' '.join(command)}: {(done.stderr or done.stdout).strip()}"
            )
        return done.stdout

    def ip(self, arguments: str) -> None:
        """Run iproute2's ip inside."""
        self.run("ip", *arguments.split())

    def sysctl(self, name: str, value: int) -> None:
        """Set a sysctl of this namespace."""
        self.run("sysctl", "-qw", f"{name}={value}")

    def packet_socket(self, interface: str) -> socket.socket:
        """A raw socket that sends and receives whole frames on an interface inside."""
        with Path(self._path).open() as namespace, _entered(namespace.fileno()):
            raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            raw.bind((interface, ETH_P_ALL))
            return raw

    def close(self) -> None:
        """End the process that keeps the namespace; the kernel removes it with its contents."""
        self._holder.kill()
        self._holder.wait()


def link(near: Namespace, near_name: str, far: Namespace, far_name: str, mtu: int) -> None:
    """Connect two namespaces by a veth pair, both ends up and without offloads."""
    subprocess.run(
        ["ip", "link", "add", near_name, "netns", str(near.pid), "mtu", str(mtu), "type", "veth",
         "peer", "name", far_name, "netns", str(far.pid), "mtu", str(mtu)],
        check=True,
    )  # fmt: skip
    for namespace, interface in ((near, near_name), (far, far_name)):
        # With offload, packets on a veth have incomplete checksums, which the switch would forward.
        namespace.run("ethtool", "-K", interface, "tx", "off", "rx", "off", "gso", "off")
        namespace.ip(f"link set {interface} up")


def frames_until(
    raw: socket.socket, marker: bytes, timeout_s: float, *, sent: bool = False
) -> Sequence[bytes]:
    """Frames received before the one that contains `marker`.

    sent: frames the interface sent instead. Raises CommandError when the marker does not come.
    """
    frames: list[bytes] = []
    deadline = time.monotonic() + timeout_s
    while (left := deadline - time.monotonic()) > 0:
        raw.settimeout(left)
        try:
            frame, address = raw.recvfrom(65536)
        except TimeoutError:
            break
        if (address[2] == socket.PACKET_OUTGOING) != sent:
            continue
        if marker in frame:
            return frames
        frames.append(frame)
    raise CommandError(f"the marker did not arrive within {timeout_s} s; {len(frames)} frames did")
