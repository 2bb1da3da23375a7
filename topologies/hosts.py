"""Mininet hosts for RoCEv2: dual-stack, a gateway, nothing offloaded."""

from typing import Any

from mininet.node import Host

from fcn.topologies.model import HostAddresses

# What would leave checksums or segmentation to hardware that no veth has: the switches in between
# read whole packets and must find them finished.
OFFLOADS = ("tx", "rx", "sg", "tso", "gso", "gro", "lro", "rxvlan", "txvlan")


class HostError(RuntimeError):
    """A host could not be configured; the message holds the command and what it said."""


class RoceHost(Host):  # type: ignore[misc]
    """A host with the addresses of its place in the topology (parameter `addresses`)."""

    def __init__(self, name: str, addresses: HostAddresses, **parameters: Any) -> None:  # noqa: ANN401
        self.addresses = addresses
        super().__init__(name, **{**parameters, "ip": None})

    def run(self, command: str) -> str:
        """Run a command in the host; raises HostError when it fails."""
        output, errors, status = self.pexec(command)
        if status != 0:
            raise HostError(f"{self.name}: {command}: {(output + errors).strip()}")
        return str(output)

    def answers(self, address: str) -> bool:
        """Whether `address` answers one ping from here within a second."""
        return bool(self.pexec(f"ping -n -c 1 -W 1 {address}")[2] == 0)

    def configure(self) -> None:
        """Set addresses, default routes and offloads of the only interface."""
        device = self.defaultIntf().name
        for feature in OFFLOADS:
            # Drivers differ in which of these exist; those a veth has can all be switched off.
            self.pexec(f"ethtool -K {device} {feature} off")
        self.run(f"sysctl -qw net.ipv6.conf.{device}.disable_ipv6=0")
        self.run(f"sysctl -qw net.ipv6.conf.{device}.accept_ra=0")
        self.run(f"ip addr add {self.addresses.ipv4} dev {device}")
        self.run(f"ip addr add {self.addresses.ipv6} dev {device} nodad")
        self.run(f"ip route replace default via {self.addresses.ipv4_gateway.ip}")
        self.run(f"ip -6 route replace default via {self.addresses.ipv6_gateway.ip}")
        leftover = [
            line.split(":")[0].strip()
            for line in self.run(f"ethtool -k {device}").splitlines()
            if line.split(":")[0].strip()
            in ("tx-checksumming", "generic-segmentation-offload", "generic-receive-offload")
            and ": on" in line
        ]
        if leftover:
            raise HostError(f"{self.name}: offloads that stay on: {', '.join(leftover)}")
