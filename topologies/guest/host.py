"""A Mininet host that is a QEMU guest with a SoftRoCE device.

switch port --veth-- [ host's namespace: bridge --TAP-- QEMU: eth0, rxe0 ]
"""

from functools import cached_property
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

from topologies.guest.channel import Channel, GuestError
from topologies.guest.image import Image
from topologies.guest.qemu import Guest
from topologies.hosts import OFFLOADS, RoceHost
from topologies.model import HostAddresses

BRIDGE = "br0"
TAP = "tap0"
DEVICE = "rxe0"


class GuestHost(RoceHost):
    """A host of a topology whose stack is the guest's; the namespace only carries its frames."""

    def __init__(
        self,
        name: str,
        addresses: HostAddresses,
        image: Image,
        directory: Path,
        **parameters: Any,  # noqa: ANN401
    ) -> None:
        """Parameters besides RoceHost's: what to boot and where console and log go."""
        super().__init__(name, addresses, **parameters)
        self._image = image
        self._directory = directory
        self._guest: Guest | None = None

    def configure(self) -> None:
        """Join the guest's TAP to the switch port and let it boot; does not wait for it."""
        device = self.defaultIntf().name
        for feature in OFFLOADS:
            self.pexec(f"ethtool -K {device} {feature} off")
        self.run("sysctl -qw net.ipv6.conf.all.disable_ipv6=1")
        # A bridge that snoops would hold back neighbour discovery.
        self.run(f"ip link add {BRIDGE} type bridge mcast_snooping 0")
        self.run(f"ip tuntap add {TAP} mode tap")
        for port in (device, TAP):
            self.run(f"ip link set {port} master {BRIDGE} up")
        self.run(f"ip link set {BRIDGE} up")
        self.boot()

    @property
    def mac(self) -> str:
        """Of the guest's network card."""
        last = sum(ord(letter) << shift * 8 for shift, letter in enumerate(self.name[-2:]))
        return f"02:67:75:65:{last >> 8:02x}:{last & 0xFF:02x}"

    def boot(self) -> None:
        """Start the guest, also again after `kill_guest`."""
        prefix = ("mnexec", "-a", str(self.pid))
        self._guest = Guest(self.name, self._image, TAP, self.mac, self._directory, prefix)
        self.__dict__.pop("channel", None)

    def wait_ready(self) -> None:
        """Wait until the guest has booted and has its addresses."""
        self.channel.run("true")

    @cached_property
    def channel(self) -> Channel:
        """Commands inside the guest; the first use waits for its boot and sets up its network."""
        if self._guest is None:
            raise RuntimeError(f"{self.name} has no guest: configure it first")
        channel = self._guest.channel
        ip = "/bin/ip"
        addresses = self.addresses
        channel.run(
            "set -e\n"
            "sysctl -qw net.ipv6.conf.eth0.accept_ra=0\n"
            f"{ip} link set eth0 up\n"
            f"{ip} addr add {addresses.ipv4} dev eth0\n"
            f"{ip} addr add {addresses.ipv6} dev eth0 nodad\n"
            f"{ip} route replace default via {addresses.ipv4_gateway.ip}\n"
            f"{ip} -6 route replace default via {addresses.ipv6_gateway.ip}\n"
            f"rdma link add {DEVICE} type rxe netdev eth0\n"
        )
        return channel

    def answers(self, address: str) -> bool:
        """Whether `address` answers one ping from inside the guest within a second."""
        return self.channel.wait(self.channel.start(f"ping -c 1 -W 1 {address}")).status == 0

    def kill_guest(self) -> None:
        """Cut the guest's power."""
        if self._guest is not None:
            self._guest.stop()

    def address(self, family: int) -> str:
        """The guest's address of IP version 4 or 6."""
        return str((self.addresses.ipv4 if family == 4 else self.addresses.ipv6).ip)

    def gid_index(self, address: str) -> int:
        """Index of the GID of one of the guest's addresses, as tools without CM want it."""
        gids = f"/sys/class/infiniband/{DEVICE}/ports/1/gids"
        wanted = IPv6Address(f"::ffff:{address}" if "." in address else address).exploded
        found = self.channel.run(f"cd {gids}; grep -lx {wanted} [0-9] || true").split()
        if not found:
            raise GuestError(f"{self.name}: {DEVICE} has no GID for {address}")
        return int(found[0])

    def queue_pairs(self) -> frozenset[tuple[int, int]]:
        """(own QPN, peer's QPN) of every connected RC queue pair, as `rdma resource` reports."""
        return frozenset(
            (qp["lqpn"], qp["rqpn"])
            for qp in self.channel.json("rdma resource show qp -j")
            # A perftest server that only receives leaves its queue pairs in RTR.
            if qp["type"] == "RC" and qp["state"] in ("RTR", "RTS") and qp.get("rqpn")
        )

    def terminate(self) -> None:
        """End guest and namespace (Mininet's clean-up)."""
        self.kill_guest()
        super().terminate()
