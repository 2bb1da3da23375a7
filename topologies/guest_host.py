"""A Mininet host that is a QEMU guest with a SoftRoCE device.

switch port --veth-- [ host's namespace: bridge --TAP-- QEMU: eth0, rxe0 ]
  this host --veth-- [                   bridge --TAP-- QEMU: eth1, for management ]
"""

from functools import cached_property
from ipaddress import IPv4Interface, IPv6Address
from pathlib import Path
from typing import Any

from fcn.hosts.guest.channel import Channel, GuestError
from fcn.hosts.guest.image import Image
from fcn.hosts.guest.qemu import SHARE_TAG, Guest, Nic
from fcn.hosts.processes import run
from fcn.topologies.hosts import OFFLOADS, HostError, RoceHost
from fcn.topologies.model import HostAddresses

TAP = "tap0"
MANAGEMENT_TAP = "tap1"
DEVICE = "rxe0"
HOST_ROOT = "/host"
"""Where `mount_host` puts this machine's files in the guest."""


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
        self._bridge("br0", device, TAP)
        self._connect_management()
        self.boot()

    def _bridge(self, name: str, port: str, tap: str) -> None:
        # A bridge that snoops would hold back neighbour discovery.
        self.run(f"ip link add {name} type bridge mcast_snooping 0")
        self.run(f"ip tuntap add {tap} mode tap")
        for member in (port, tap):
            self.run(f"ip link set {member} master {name} up")
        self.run(f"ip link set {name} up")

    def _connect_management(self) -> None:
        outside = f"{self.name}-mgmt"
        for command in (
            f"ip link add {outside} type veth peer name mgmt netns {self.pid}",
            f"ip addr add {self.management[0]} dev {outside}",
            f"ip link set {outside} up",
        ):
            run(command.split(), error=HostError)
        self._bridge("br1", "mgmt", MANAGEMENT_TAP)

    @property
    def management(self) -> tuple[IPv4Interface, IPv4Interface]:
        """Addresses of the management link: this machine's and the guest's."""
        _, site, port, _ = self.addresses.ipv4.ip.packed
        first = 4 * port + 1
        return (
            IPv4Interface(f"172.31.{site}.{first}/30"),
            IPv4Interface(f"172.31.{site}.{first + 1}/30"),
        )

    @property
    def mac(self) -> str:
        """Of the guest's network card in the data centre."""
        return f"02:67:75:65:{self._suffix}"

    @property
    def _suffix(self) -> str:
        last = sum(ord(letter) << shift * 8 for shift, letter in enumerate(self.name[-2:]))
        return f"{last >> 8:02x}:{last & 0xFF:02x}"

    def boot(self) -> None:
        """Start the guest, also again after `kill_guest`."""
        prefix = ("mnexec", "-a", str(self.pid))
        nics = (Nic(TAP, self.mac), Nic(MANAGEMENT_TAP, f"02:67:75:66:{self._suffix}"))
        self._guest = Guest(self.name, self._image, nics, self._directory, prefix, Path("/"))
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
            f"{ip} link set eth1 up\n"
            f"{ip} addr add {self.management[1]} dev eth1\n"
        )
        return channel

    def mount_host(self) -> None:
        """Put this machine's files, read-only, at HOST_ROOT, with the guest's own /proc and /sys.

        `chroot HOST_ROOT` then runs what is installed on this machine on the guest's kernel.
        """
        self.channel.run(
            "set -e\n"
            f"mkdir -p {HOST_ROOT}\n"
            "mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=524288 "
            f"{SHARE_TAG} {HOST_ROOT}\n"
            f"for each in proc sys dev; do mount --bind /$each {HOST_ROOT}/$each; done\n"
        )

    def answers(self, address: str) -> bool:
        """Whether `address` answers one ping from inside the guest within a second."""
        return self.channel.wait(self.channel.start(f"ping -c 1 -W 1 {address}")).status == 0

    def kill_guest(self) -> None:
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
