"""Testbed: our PE connected to a Linux PE, a Linux host behind each.

    host --- dc [ our PE ] core --- wan [ Linux PE ] site --- remote

Our PE is any target of the packet tests, configured over P4Runtime as in those; no controller, so
neighbours are static everywhere. The Linux PE is a namespace of this machine's kernel or a guest.
"""

import os
import shutil
from pathlib import Path

import pytest
from interop_guest import GuestPe
from interop_namespaces import Namespace, link

from fcn.contract.pipeline import load_pipeline
from fcn.ptf_tests.lib.p4runtime import P4RuntimeClient
from fcn.ptf_tests.lib.pe_entries import PeTables
from fcn.ptf_tests.targets import TARGETS, Target

VRF = 1
TUNNEL_V4, TUNNEL_V6 = 4, 6
DC_PORT = 1
CORE_PORT = 2
DC_MTU = 1500
CORE_MTU = 9000
DEVICE_ID = 1

HOST_V4, HOST_V6 = "10.1.0.10", "2001:db8:1::10"
REMOTE_V4, REMOTE_V6 = "10.2.0.20", "2001:db8:2::20"
HOST_PREFIXES = ("10.1.0.0/24", "2001:db8:1::/64")
PE_ADDRESS, PE_SID, PE_END_SID = "fc00:0:1::1", "fc00:0:1:46::", "fc00:0:1:e::"
LINUX_ADDRESS = "fc00:0:2::1"
DOMAIN = "fc00::/16"
VXLAN_DEVICE = "vx"

HOST_MAC, REMOTE_MAC = "02:de:00:00:00:01", "02:de:00:00:00:02"
PE_DC_MAC, PE_CORE_MAC = "02:fc:00:00:00:01", "02:fc:00:00:00:02"
LINUX_WAN_MAC, LINUX_SITE_MAC = "02:c0:00:00:00:01", "02:c0:00:00:00:02"


def skip_unless_possible(target: str) -> None:
    """Skip, with the reason, where the testbed cannot be built or the target is not installed."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    if target == "bmv2" and shutil.which("simple_switch_grpc") is None:
        pytest.skip("simple_switch_grpc is not on PATH; the softswitch ran the same test")


class InteropTestbed:
    """Namespaces, links and addresses; the switch has ports and routes but no tunnel yet.

    `wires` is the namespace with the Linux PE's ends of the links; `linux` is that PE.
    """

    def __init__(self, target: str, directory: Path, *, guest: bool = False) -> None:
        self._namespaces: list[Namespace] = []
        self.linux: Namespace | GuestPe
        self._switch: Target | None = None
        self._client: P4RuntimeClient | None = None
        try:
            self._wire(directory, guest=guest)
            self._start(target, directory)
        except BaseException:
            self.close()
            raise

    def _namespace(self, name: str) -> Namespace:
        self._namespaces.append(Namespace(name))
        return self._namespaces[-1]

    def _wire(self, directory: Path, *, guest: bool) -> None:
        self.host, self.pe = self._namespace("host"), self._namespace("pe")
        self.wires, self.remote = self._namespace("linux"), self._namespace("remote")
        for silent in (self.pe, self.wires) if guest else (self.pe,):
            silent.sysctl("net.ipv6.conf.all.disable_ipv6", 1)
            silent.sysctl("net.ipv6.conf.default.disable_ipv6", 1)
        link(self.host, "eth0", self.pe, "dc", DC_MTU)
        link(self.pe, "core", self.wires, "wan", CORE_MTU)
        link(self.wires, "site", self.remote, "eth0", DC_MTU)
        macs = (LINUX_WAN_MAC, LINUX_SITE_MAC)
        self.linux = GuestPe(self.wires, macs, CORE_MTU, directory) if guest else self.wires
        self._end_host(self.host, HOST_MAC, HOST_V4, HOST_V6, PE_DC_MAC)
        self._end_host(self.remote, REMOTE_MAC, REMOTE_V4, REMOTE_V6, LINUX_SITE_MAC)
        self._linux_pe()

    def _linux_pe(self) -> None:
        linux = self.linux
        for name in ("all", "wan"):
            linux.sysctl(f"net.ipv6.conf.{name}.seg6_enabled", 1)
            linux.sysctl(f"net.ipv4.conf.{name}.rp_filter", 0)
        linux.sysctl("net.ipv4.ip_forward", 1)
        linux.sysctl("net.ipv6.conf.all.forwarding", 1)
        linux.ip(f"link set wan address {LINUX_WAN_MAC}")
        linux.ip(f"link set site address {LINUX_SITE_MAC}")
        linux.ip(f"addr add {LINUX_ADDRESS}/128 dev lo nodad")
        linux.ip("addr add fc00:0:12::2/64 dev wan nodad")
        linux.ip(f"neigh replace fc00:0:12::1 lladdr {PE_CORE_MAC} dev wan nud permanent")
        linux.ip("-6 route add fc00:0:1::/48 via fc00:0:12::1 dev wan src " + LINUX_ADDRESS)
        linux.ip("addr add 10.2.0.1/24 dev site")
        linux.ip("addr add 2001:db8:2::1/64 dev site nodad")
        for address in (REMOTE_V4, REMOTE_V6):
            linux.ip(f"neigh replace {address} lladdr {REMOTE_MAC} dev site nud permanent")

    @staticmethod
    def _end_host(host: Namespace, mac: str, ipv4: str, ipv6: str, gateway_mac: str) -> None:
        host.ip(f"link set eth0 address {mac}")
        host.ip(f"addr add {ipv4}/32 dev eth0")
        host.ip(f"addr add {ipv6}/128 dev eth0 nodad")
        for gateway in ("169.254.0.1", "fe80::1"):
            host.ip(f"neigh replace {gateway} lladdr {gateway_mac} dev eth0 nud permanent")
            host.ip(f"route replace default via {gateway} dev eth0 onlink")

    def _start(self, target: str, directory: Path) -> None:
        # A Unix socket is reachable from every network namespace; targets need a port number at its
        # end, from which they derive their other ports.
        address = f"unix:{directory}/p4rt:9559"
        kind = TARGETS[target]
        pe = self.pe

        class InNamespace(kind):  # type: ignore[misc, valid-type]
            def program(self) -> list[str]:
                return pe.command(*super().program())

        self._switch = InNamespace(
            {DC_PORT: "dc", CORE_PORT: "core"}, address, DEVICE_ID, directory / "switch.log"
        )
        self._switch.__enter__()
        self._client = P4RuntimeClient(address, DEVICE_ID)
        self._client.become_primary()

    def configure(self) -> PeTables:
        """Load the program again; write ports, routes into tunnel 4 and 6 by family, SIDs."""
        assert self._client is not None
        self._client.set_pipeline(load_pipeline("pe"))
        pe = PeTables(self._client)
        pe.dc_port(DC_PORT, VRF)
        pe.core_port(CORE_PORT)
        pe.own_mac(DC_PORT, PE_DC_MAC)
        pe.own_mac(CORE_PORT, PE_CORE_MAC)
        for host, remote, tunnel in (
            (f"{HOST_V4}/32", "10.2.0.0/24", TUNNEL_V4),
            (f"{HOST_V6}/128", "2001:db8:2::/64", TUNNEL_V6),
        ):
            pe.route(
                VRF, host, "to_dc", port=DC_PORT, vlan_id=0, src_mac=PE_DC_MAC, dst_mac=HOST_MAC
            )
            pe.route(VRF, remote, "to_tunnel", tunnel=tunnel)
        pe.local_address(PE_ADDRESS)
        pe.end_sid(PE_END_SID)
        pe.service_sid(PE_SID, VRF)
        pe.decap_rules()
        pe.underlay(DOMAIN, (CORE_PORT, PE_CORE_MAC, LINUX_WAN_MAC))
        return pe

    def ping(self, size: int) -> None:
        """The host reaches the remote host over both families with packets of `size` octets."""
        for address in (REMOTE_V4, REMOTE_V6):
            self.host.run("ping", "-n", "-c", "2", "-i", "0.2", "-W", "3", "-s", str(size), address)

    def clear_linux(self) -> None:
        """Remove a test's configuration from the Linux PE: static routes and the VXLAN device."""
        self.linux.ip("route flush table all proto static")
        self.linux.ip("-6 route flush table all proto static")
        if VXLAN_DEVICE in self.linux.run("/bin/ip", "-o", "link"):
            self.linux.ip(f"link del {VXLAN_DEVICE}")

    def close(self) -> None:
        """Stop the switch and remove the namespaces."""
        if self._client is not None:
            self._client.close()
        if self._switch is not None:
            self._switch.stop()
        if isinstance(getattr(self, "linux", None), GuestPe):
            self.linux.close()
        for namespace in self._namespaces:
            namespace.close()
