"""A data centre as network namespaces that forward with plain Linux routing.

Links are unnumbered: the end nearer to the WAN is fe80::1, the other fe80::2, and IPv4 routes have
IPv6 next hops (RFC 5549). Leaves and the gateway spread flows over both spines.
"""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from fcn.hosts.processes import run
from fcn.topologies.data_centre import LEAVES, SPINES, DataCentre
from fcn.topologies.hosts import RoceHost

NAMESPACES = Path("/run/netns")
NEAR, FAR = "fe80::1", "fe80::2"


def prepare() -> None:
    """Give this mount namespace its own names of network namespaces; call it in a private one."""
    NAMESPACES.mkdir(parents=True, exist_ok=True)
    run(["mount", "-t", "tmpfs", "none", str(NAMESPACES)])


def answers(host: str, address: str) -> bool:
    """Whether `address` answers one ping from a host's namespace within a second."""
    done = subprocess.run(
        ["ip", "netns", "exec", host, "ping", "-n", "-c", "1", "-W", "1", address],
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


class Fabric:
    """The leaves, spines and hosts of one data centre, joined to its gateway on the PE's port."""

    def __init__(self, centre: DataCentre, gateway: RoceHost) -> None:
        self.centre = centre
        self._gateway = gateway
        self._links: list[str] = []
        self._configuration: dict[str, list[str]] = {}

    def start(self) -> None:
        """Create namespaces, links and routes; raises ProcessError when iproute2 fails."""
        self._plan()
        names = self._configuration
        _batch(f"netns add {name}" for name in names)
        _batch(self._links)
        for name, lines in names.items():
            _batch(lines, ["-n", name])
        for name in (*self._leaves, *self._spines):
            run(["ip", "netns", "exec", name, *_FORWARDING])
        self._configure_gateway()

    @property
    def _leaves(self) -> list[str]:
        return [self.centre.leaf(index) for index in range(1, LEAVES + 1)]

    @property
    def _spines(self) -> list[str]:
        return [self.centre.spine(index) for index in range(1, SPINES + 1)]

    def _plan(self) -> None:
        centre = self.centre
        for name in (*self._spines, *self._leaves, *(host.name for host in centre.hosts)):
            self._configuration[name] = ["link set lo up"]
        for spine_number, spine in enumerate(self._spines, 1):
            self._link(
                str(self._gateway.pid), spine, f"s{spine_number}", "uplink", configured=False
            )
            self._default(spine, "uplink")
            for leaf_number, leaf in enumerate(self._leaves, 1):
                self._link(spine, leaf, f"l{leaf_number}", f"uplink{spine_number}")
                for network in centre.leaf_networks(leaf_number):
                    self._route(spine, str(network), f"l{leaf_number}")
        for leaf in self._leaves:
            self._default(leaf, *(f"uplink{number}" for number in range(1, SPINES + 1)))
        for host in centre.hosts:
            leaf = centre.leaf(host.leaf)
            self._link(leaf, host.name, host.name, "uplink")
            lines = self._configuration[host.name]
            lines += [
                f"addr add {host.ipv4}/32 dev uplink",
                f"addr add {host.ipv6}/128 dev uplink nodad",
            ]
            self._default(host.name, "uplink")
            self._route(leaf, f"{host.ipv4}/32", host.name)
            self._route(leaf, f"{host.ipv6}/128", host.name)

    def _link(
        self, near: str, far: str, near_name: str, far_name: str, *, configured: bool = True
    ) -> None:
        """A veth pair; `near` is a process for the gateway, which configures its end itself."""
        self._links.append(
            f"link add {near_name} netns {near} type veth peer name {far_name} netns {far}"
        )
        if configured:
            self._configuration[near] += _link_up(near_name, NEAR)
        self._configuration[far] += _link_up(far_name, FAR)

    def _default(self, node: str, *interfaces: str) -> None:
        for everything in ("0.0.0.0/0", "::/0"):
            self._configuration[node].append(_route(everything, NEAR, interfaces))

    def _route(self, node: str, prefix: str, interface: str) -> None:
        self._configuration[node].append(_route(prefix, FAR, (interface,)))

    def _configure_gateway(self) -> None:
        downlinks = [f"s{number}" for number in range(1, SPINES + 1)]
        lines = [line for name in downlinks for line in _link_up(name, NEAR)]
        for network in self.centre.networks:
            lines.append(_route(str(network), FAR, downlinks))
        for name in downlinks:
            self._gateway.run(f"sysctl -qw net.ipv6.conf.{name}.disable_ipv6=0")
        for line in lines:
            self._gateway.run(f"ip {line}")
        self._gateway.run(" ".join(_FORWARDING))


# ECMP hashes addresses and ports, so that the flows of one host use both spines.
_FORWARDING = (
    "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1",
    "net.ipv4.fib_multipath_hash_policy=1", "net.ipv6.fib_multipath_hash_policy=1",
)  # fmt: skip


def _link_up(name: str, address: str) -> list[str]:
    return [
        f"link set {name} addrgenmode none",
        f"addr add {address}/64 dev {name} nodad",
        f"link set {name} up",
    ]


def _route(prefix: str, via: str, interfaces: Iterable[str]) -> str:
    # iproute2 needs the family of a next hop that is not the prefix's (IPv4 over an IPv6 next hop).
    family = "" if ":" in prefix else "inet6 "
    hops = " ".join(f"nexthop via {family}{via} dev {name}" for name in interfaces)
    return f"route add {prefix} {hops}"


def _batch(lines: Iterable[str], options: Iterable[str] = ()) -> None:
    """Run lines of iproute2 in one batch; stops at the first that fails."""
    run(["ip", *options, "-batch", "-"], stdin="\n".join(lines) + "\n")
