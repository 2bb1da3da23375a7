"""The two test beds: a PE and a P with addresses, ports and routes that most tests need.

PE bed: customers RED (untagged) and BLUE (802.1Q) use the same addresses behind this PE and behind
a remote PE; the core is one neighbour per core port. P bed: core ports only.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from fcn.ptf_tests.lib.base import FcnTest
from fcn.ptf_tests.lib.p_entries import PTables
from fcn.ptf_tests.lib.packets import ethernet, routed
from fcn.ptf_tests.lib.pe_entries import PeTables
from fcn.ptf_tests.lib.ports import ALL_PORTS, CORE_PORT, CORE_PORT_2, DC_PORT, DC_PORT_2

RED = 1
BLUE = 2
BLUE_VLAN = 100

HOST_V4 = "10.1.0.10"
HOST_V6 = "2001:db8:1::10"
HOST2_V4 = "10.1.1.20"
HOST2_V6 = "2001:db8:1:1::20"
"""A second host of RED, behind DC_PORT_2."""
REMOTE_V4 = "10.2.0.20"
REMOTE_V6 = "2001:db8:2::20"
"""A host behind the remote PE."""
TO_REMOTE = ((HOST_V4, REMOTE_V4), (HOST_V6, REMOTE_V6))
"""Source and destination of a customer's packets into the WAN, of each IP version."""
TO_HOST = ((REMOTE_V4, HOST_V4), (REMOTE_V6, HOST_V6))
"""The same out of the WAN."""

PE_ADDRESS = "fc00:0:1::1"
PE_RED_SID = "fc00:0:1:46::"
PE_BLUE_SID = "fc00:0:1:47::"
PE_END_SID = "fc00:0:1:e::"
REMOTE_PE = "fc00:0:2::1"
REMOTE_RED_SID = "fc00:0:2:46::"
REMOTE_BLUE_SID = "fc00:0:2:47::"
REMOTE_PE_PREFIX = "fc00:0:2::/48"
P_ADDRESS = "fc00:0:10::1"
P_END_SID = "fc00:0:10:e::"
P2_END_SID = "fc00:0:20:e::"
P3_END_SID = "fc00:0:30:e::"
DOMAIN = "fc00::/16"

RED_TUNNEL = 1
BLUE_TUNNEL = 2

HOST_MAC = "02:de:00:00:00:01"
HOST2_MAC = "02:de:00:00:00:02"
BLUE_HOST_MAC = "02:de:00:00:00:03"
NEIGHBOUR_MAC = {port: f"02:c0:00:00:00:{port:02x}" for port in ALL_PORTS}
"""The neighbour on the other side of each core port."""
NODE_MAC = {port: f"02:fc:00:00:00:{port:02x}" for port in ALL_PORTS}
"""The node's own addresses."""


def core_frame_in(datagram: bytes, port: int = CORE_PORT) -> bytes:
    """A frame the neighbour on a core port sends to the node."""
    return ethernet(datagram, src=NEIGHBOUR_MAC[port], dst=NODE_MAC[port])


def core_frame_out(datagram: bytes, port: int = CORE_PORT) -> bytes:
    """The frame the node sends to the neighbour on a core port."""
    return ethernet(datagram, src=NODE_MAC[port], dst=NEIGHBOUR_MAC[port])


def host_frame_in(
    datagram: bytes, *, port: int = DC_PORT, vlan: int = 0, host_mac: str = HOST_MAC
) -> bytes:
    """A frame a customer's host sends to the PE."""
    return ethernet(datagram, src=host_mac, dst=NODE_MAC[port], vlan=vlan)


def host_frame_out(
    datagram: bytes, *, port: int = DC_PORT, vlan: int = 0, host_mac: str = HOST_MAC
) -> bytes:
    """The frame the PE sends to a customer's host."""
    return ethernet(datagram, src=NODE_MAC[port], dst=host_mac, vlan=vlan)


class PeTest(FcnTest):
    """A test of the PE program; `self.pe` writes its tables."""

    program: ClassVar[str] = "pe"

    def configure(self) -> None:
        """Ports, customer and underlay routes, SRv6 tunnels both ways; no feature."""
        pe = self.pe = PeTables(self.client)
        pe.dc_port(DC_PORT, RED)
        pe.dc_port(DC_PORT_2, RED)
        pe.dc_port(DC_PORT, BLUE, BLUE_VLAN)
        pe.core_port(CORE_PORT)
        pe.core_port(CORE_PORT_2)
        for port in (DC_PORT, DC_PORT_2, CORE_PORT, CORE_PORT_2):
            pe.own_mac(port, NODE_MAC[port])
        pe.recirculation()
        self.addCleanup(pe.delete_recirculation)
        for host, host2, remote in (
            (f"{HOST_V4}/32", f"{HOST2_V4}/32", "10.2.0.0/16"),
            (f"{HOST_V6}/128", f"{HOST2_V6}/128", "2001:db8:2::/64"),
        ):
            self.route_to_host(RED, host, DC_PORT, HOST_MAC)
            self.route_to_host(RED, host2, DC_PORT_2, HOST2_MAC)
            self.route_to_host(BLUE, host, DC_PORT, BLUE_HOST_MAC, BLUE_VLAN)
            pe.route(RED, remote, "to_tunnel", tunnel=RED_TUNNEL)
            pe.route(BLUE, remote, "to_tunnel", tunnel=BLUE_TUNNEL)
        self.configure_red_tunnel()
        pe.tunnel(BLUE_TUNNEL, "encap_srv6", src=PE_ADDRESS, dst=REMOTE_BLUE_SID)
        pe.local_address(PE_ADDRESS)
        pe.end_sid(PE_END_SID)
        pe.service_sid(PE_RED_SID, RED)
        pe.service_sid(PE_BLUE_SID, BLUE)
        pe.decap_rules()
        self.configure_underlay()

    def configure_red_tunnel(self) -> None:
        """RED's tunnel to the remote PE; tests of other tunnels override this."""
        self.pe.tunnel(RED_TUNNEL, "encap_srv6", src=PE_ADDRESS, dst=REMOTE_RED_SID)

    def configure_underlay(self) -> None:
        self.pe.underlay(DOMAIN, (CORE_PORT, NODE_MAC[CORE_PORT], NEIGHBOUR_MAC[CORE_PORT]))

    def route_to_host(self, vrf: int, prefix: str, port: int, mac: str, vlan: int = 0) -> None:
        """A route to a host behind a DC port."""
        self.pe.route(
            vrf, prefix, "to_dc", port=port, vlan_id=vlan, src_mac=NODE_MAC[port], dst_mac=mac
        )

    def check_into_wan(
        self, datagram: bytes, outer: bytes, events: Mapping[str, int] | None = None
    ) -> None:
        """A host's datagram leaves by the core as `outer`, and nothing else happens."""
        expect = {CORE_PORT: [core_frame_out(outer)]}
        self.check(DC_PORT, host_frame_in(datagram), expect=expect, events=events)

    def check_out_of_wan(
        self, outer: bytes, datagram: bytes, events: Mapping[str, int] | None = None
    ) -> None:
        """What comes from the core reaches the host as `datagram`, and nothing else happens."""
        expect = {DC_PORT: [host_frame_out(datagram)]}
        self.check(CORE_PORT, core_frame_in(outer), expect=expect, events=events)

    def check_transit(
        self, datagram: bytes, after: bytes | None = None, events: Mapping[str, int] | None = None
    ) -> None:
        """What comes from the core leaves by the same port, as `after` or one hop later."""
        onward = core_frame_out(routed(datagram) if after is None else after)
        frame = core_frame_in(datagram)
        self.check(CORE_PORT, frame, expect={CORE_PORT: [onward]}, events=events)

    def check_between_ports(self, *datagrams: bytes) -> None:
        """What RED's host sends reaches its second host."""
        expect = [
            host_frame_out(routed(datagram), port=DC_PORT_2, host_mac=HOST2_MAC)
            for datagram in datagrams
        ]
        self.check(DC_PORT, *map(host_frame_in, datagrams), expect={DC_PORT_2: expect})


class PTest(FcnTest):
    """A test of the P program; `self.p` writes its tables. Traffic goes DC_PORT -> CORE_PORT."""

    program: ClassVar[str] = "p"

    def make_tables(self) -> PTables:
        """Of the program."""
        return PTables(self.client)

    def configure(self) -> None:
        """Core ports; the ingress PE behind DC_PORT, the egress PE behind CORE_PORT; no feature."""
        p = self.p = self.make_tables()
        for port in (DC_PORT, DC_PORT_2, CORE_PORT, CORE_PORT_2):
            p.core_port(port)
            p.own_mac(port, NODE_MAC[port])
        p.recirculation()
        self.addCleanup(p.delete_recirculation)
        p.local_address(P_ADDRESS)
        p.end_sid(P_END_SID)
        p.underlay("fc00:0:1::/48", (DC_PORT, NODE_MAC[DC_PORT], NEIGHBOUR_MAC[DC_PORT]))
        p.underlay(REMOTE_PE_PREFIX, (CORE_PORT, NODE_MAC[CORE_PORT], NEIGHBOUR_MAC[CORE_PORT]))
        p.underlay(
            "fc00:0:20::/48", (CORE_PORT_2, NODE_MAC[CORE_PORT_2], NEIGHBOUR_MAC[CORE_PORT_2])
        )

    def check_forwarded(
        self,
        datagram: bytes,
        after: bytes | None = None,
        *,
        back: Sequence[bytes] = (),
        events: Mapping[str, int] | None = None,
    ) -> None:
        """A datagram of the ingress PE leaves towards the egress PE, as `after` or one hop later;
        frames of `back` go to the ingress PE, and nothing else happens."""
        onward = core_frame_out(routed(datagram) if after is None else after)
        expect = {CORE_PORT: [onward]} | ({DC_PORT: back} if back else {})
        self.check(DC_PORT, core_frame_in(datagram, DC_PORT), expect=expect, events=events)
