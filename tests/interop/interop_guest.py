"""The Linux PE in a QEMU guest, for features that the kernel here may lack.

core --veth-- wan [ bridge --TAP-- QEMU: wan, site --TAP-- bridge ] site --veth-- remote
"""

from pathlib import Path

from interop_namespaces import CommandError, Namespace

from fcn.hosts.guest.image import guest_image
from fcn.hosts.guest.qemu import Guest, Nic

INTERFACES = ("wan", "site")


class GuestPe:
    """The interface of a Linux PE's namespace, for a guest bridged to the interfaces of `wires`."""

    def __init__(self, wires: Namespace, macs: tuple[str, str], mtu: int, directory: Path) -> None:
        self._wires = wires
        for interface in INTERFACES:
            wires.ip(f"link add br-{interface} type bridge mcast_snooping 0")
            wires.ip(f"tuntap add tap-{interface} mode tap")
            wires.ip(f"link set tap-{interface} mtu {mtu}")
            for port in (interface, f"tap-{interface}"):
                wires.ip(f"link set {port} master br-{interface} up")
            wires.ip(f"link set br-{interface} up")
        nics = [
            Nic(f"tap-{interface}", mac) for interface, mac in zip(INTERFACES, macs, strict=True)
        ]
        prefix = wires.command()
        self._guest = Guest("linux-pe", guest_image(), nics, directory, prefix)
        try:
            for number, interface in enumerate(INTERFACES):
                self.ip(f"link set eth{number} name {interface} mtu {mtu}")
                self.ip(f"link set {interface} up")
        except BaseException:
            self.close()
            raise

    def run(self, *command: str) -> str:
        """Run a command in the guest; returns its output, raises CommandError when it fails."""
        done = self._guest.channel.wait(self._guest.channel.start(" ".join(command)))
        if done.status != 0:
            raise CommandError(f"in the guest: {' '.join(command)}: {done.output.strip()}")
        return done.output

    def ip(self, arguments: str) -> None:
        """Run iproute2's ip in the guest."""
        self.run("/bin/ip", arguments)

    def sysctl(self, name: str, value: int) -> None:
        """Set a sysctl of the guest."""
        self.run("sysctl", "-qw", f"{name}={value}")

    def close(self) -> None:
        """End the guest."""
        self._guest.stop()
