"""Packets between switch and controller: what is punted and why, and packet-out (FCN-1)."""

import math
import time

import finsy as fy
from scapy.layers.inet import ICMP
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    ICMPv6MLReport2,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6ND_RA,
    ICMPv6ND_Redirect,
    ICMPv6ND_RS,
)
from scapy.layers.l2 import ARP, Ether

from fcn.ptf_tests.lib.base import FcnTest
from fcn.ptf_tests.lib.beds import (
    BLUE,
    BLUE_VLAN,
    HOST_V4,
    HOST_V6,
    P_ADDRESS,
    PE_ADDRESS,
    PE_RED_SID,
    RED,
    REMOTE_PE,
    REMOTE_V4,
    PeTest,
    PTest,
    core_frame_in,
    host_frame_in,
)
from fcn.ptf_tests.lib.counters import read_counter
from fcn.ptf_tests.lib.packets import ip, roce, srv6, udp
from fcn.ptf_tests.lib.ports import ALL_PORTS, CORE_PORT, DC_PORT, DC_PORT_2, UNUSED_PORT

ARP_REQUEST = bytes(
    Ether(dst="ff:ff:ff:ff:ff:ff", src="02:de:00:00:00:01")
    / ARP(hwsrc="02:de:00:00:00:01", psrc=HOST_V4, pdst="10.1.0.1")
)
ND_MESSAGES = {
    "router solicitation": ICMPv6ND_RS(),
    "router advertisement": ICMPv6ND_RA(),
    "neighbour solicitation": ICMPv6ND_NS(tgt="2001:db8:1::1"),
    "neighbour advertisement": ICMPv6ND_NA(tgt="2001:db8:1::1"),
    "redirect": ICMPv6ND_Redirect(tgt="2001:db8:1::1", dst="2001:db8:1::2"),
}


def nd(message: object, hop_limit: int = 255) -> bytes:
    """A neighbour discovery datagram."""
    return ip("fe80::1", "ff02::1", message, ttl=hop_limit)


class PuntMetadata(PeTest):
    """FCN-1: a packet-in has port, VLAN and VRF as metadata; the tag is removed."""

    def runTest(self) -> None:
        tagged = ARP_REQUEST[:12] + b"\x81\x00" + BLUE_VLAN.to_bytes(2, "big") + ARP_REQUEST[12:]
        reason = self.enum("PuntReason")["ARP"]
        for port, frame, vlan_id, vrf in (
            (DC_PORT, ARP_REQUEST, 0, RED),
            (DC_PORT_2, ARP_REQUEST, 0, RED),
            (DC_PORT, tagged, BLUE_VLAN, BLUE),
            (CORE_PORT, ARP_REQUEST, 0, 0),
        ):
            (punt,) = self.exchange(port, frame).punts
            self.assertEqual(punt.payload.hex(), ARP_REQUEST.hex())
            self.assertEqual(
                {name: punt[name] for name in ("ingress_port", "reason", "vlan_id", "vrf")},
                {"ingress_port": port, "reason": reason, "vlan_id": vlan_id, "vrf": vrf},
            )


class NeighbourDiscoveryIsPunted(PeTest):
    """FCN-1: ICMPv6 133 to 137 with hop limit 255 (RFC 4861) from any port."""

    def runTest(self) -> None:
        for what, message in ND_MESSAGES.items():
            with self.subTest(what=what):
                frame = host_frame_in(nd(message))
                self.check(DC_PORT, frame, punts=[("ND", frame)])
                frame = core_frame_in(nd(message))
                self.check(CORE_PORT, frame, punts=[("ND", frame)])


class OtherIcmpv6IsTraffic(PeTest):
    """FCN-1: echo, MLD, and ND with a hop limit below 255 are not punted; from a link-local source
    they are not routed either."""

    def runTest(self) -> None:
        for message in (ICMPv6EchoRequest(), ICMPv6MLReport2()):
            self.check(DC_PORT, host_frame_in(nd(message)), drops={"BAD_SOURCE": 1})
        solicitation = ND_MESSAGES["neighbour solicitation"]
        self.check(DC_PORT, host_frame_in(nd(solicitation, 254)), drops={"BAD_SOURCE": 1})


class NeighbourDiscoveryInsideATunnelIsTraffic(PeTest):
    """FCN-17: a customer's ND behind the WAN does not reach this PE's controller."""

    def runTest(self) -> None:
        inner = nd(ND_MESSAGES["neighbour advertisement"])
        outer = srv6(inner, REMOTE_PE, PE_RED_SID)
        self.check(CORE_PORT, core_frame_in(outer), drops={"NO_ROUTE": 1})


class LocalAndGlean(PeTest):
    """FCN-1: packets to the gateway and to unresolved neighbours go to the controller."""

    def configure(self) -> None:
        """A connected prefix with its gateway, per family."""
        super().configure()
        for prefix, gateway in (
            ("10.1.0.0/24", "10.1.0.1/32"),
            ("2001:db8:1::/64", "2001:db8:1::1/128"),
        ):
            self.pe.route(RED, prefix, "glean")
            self.pe.route(RED, gateway, "to_local")

    def runTest(self) -> None:
        for src, gateway, neighbour in (
            (HOST_V4, "10.1.0.1", "10.1.0.77"),
            (HOST_V6, "2001:db8:1::1", "2001:db8:1::77"),
        ):
            echo = ICMPv6EchoRequest(data=b"ping") if ":" in src else ICMP() / b"ping"
            frame = host_frame_in(ip(src, gateway, echo, ttl=1))
            self.check(DC_PORT, frame, punts=[("LOCAL", frame)])
            frame = host_frame_in(udp(src, neighbour, 1, 2))
            self.check(DC_PORT, frame, punts=[("NEIGHBOR_MISS", frame)])


class UnderlayLocalAndGleanAtPe(PeTest):
    """FCN-5: packets to the PE's own address and to unresolved core neighbours."""

    def runTest(self) -> None:
        self.pe.underlay_glean("fc00:0:c::/64")
        frame = core_frame_in(ip(REMOTE_PE, PE_ADDRESS, ICMPv6EchoRequest(data=b"ping")))
        self.check(CORE_PORT, frame, punts=[("UNDERLAY_LOCAL", frame)])
        before = self.counts()
        outcome = self.exchange(CORE_PORT, core_frame_in(udp(REMOTE_PE, "fc00:0:c::9", 1, 2)))
        (punt,) = outcome.punts
        self.assertEqual(punt["reason"], self.enum("PuntReason")["UNDERLAY_GLEAN"])
        self.assertEqual(self.growth(before), {"event PUNTED_UNDERLAY_GLEAN": 1})


class UnderlayLocalAndGleanAtP(PTest):
    """FCN-9: the same at a P node."""

    def runTest(self) -> None:
        self.p.underlay_glean("fc00:0:c::/64")
        frame = core_frame_in(ip(REMOTE_PE, P_ADDRESS, ICMPv6EchoRequest(data=b"ping")))
        self.check(CORE_PORT, frame, punts=[("UNDERLAY_LOCAL", frame)])
        outcome = self.exchange(CORE_PORT, core_frame_in(udp(REMOTE_PE, "fc00:0:c::9", 1, 2)))
        (punt,) = outcome.punts
        self.assertEqual(punt["reason"], self.enum("PuntReason")["UNDERLAY_GLEAN"])
        for message in ND_MESSAGES.values():
            frame = core_frame_in(nd(message))
            self.check(CORE_PORT, frame, punts=[("ND", frame)])


class PuntsAreLimited(PeTest):
    """FCN-15: punts beyond the rate limit of a VRF are dropped and counted, per VRF too; another
    VRF's are not."""

    def runTest(self) -> None:
        budget = fy.P4MeterConfig(cir=1, cburst=4, pir=1, pburst=4)
        self.pe.punt_limit(RED, budget)
        flood = 30
        self.addCleanup(self.pe.punt_limit, RED)
        before, started = self.counts(), time.monotonic()
        for _ in range(flood):
            self.send(DC_PORT, ARP_REQUEST)
        self.wait_for("all requests counted", lambda: sum(self.growth(before).values()) == flood)
        counted = self.growth(before)
        passed = counted["event PUNTED_ARP"]
        self.assertGreaterEqual(passed, budget.cburst)
        self.assertLessEqual(
            passed, budget.cburst + math.ceil(budget.cir * (time.monotonic() - started))
        )
        self.assertEqual(counted["drop PUNT_RATE_LIMIT"], flood - passed)
        refused = read_counter(self.client, "vrf_refused", 0, RED, BLUE)
        self.assertEqual([refused[vrf][0] for vrf in (0, RED, BLUE)], [0, flood - passed, 0])
        tagged = ARP_REQUEST[:12] + b"\x81\x00" + BLUE_VLAN.to_bytes(2, "big") + ARP_REQUEST[12:]
        self.client.discard_messages()
        for port, frame, vrf in ((DC_PORT, tagged, BLUE), (CORE_PORT, ARP_REQUEST, 0)):
            self.send(port, frame)
            punt = self.next_from(self.client.packet_ins, f"the packet of VRF {vrf}")
            self.assertEqual(punt["vrf"], vrf)


class PacketOutTest(FcnTest):
    """Frames of packet-outs are sent unchanged on the given port."""

    def check_packet_outs(self) -> None:
        """IP, tagged, malformed and arbitrary frames; every port; no drop is counted."""
        frames = (
            ARP_REQUEST,
            host_frame_in(roce(HOST_V4, REMOTE_V4, 0x118)),
            host_frame_in(udp(HOST_V4, REMOTE_V4, 1, 2), vlan=BLUE_VLAN),
            core_frame_in(srv6(udp(HOST_V4, REMOTE_V4, 1, 2), REMOTE_PE, PE_RED_SID)),
            b"\xff" * 60,
            host_frame_in(udp(HOST_V4, REMOTE_V4, 1, 2, ttl=0))[:40] + bytes(20),
        )
        before = self.counts()
        for port in ALL_PORTS:
            for frame in frames:
                self.packet_out(port, frame)
                self.assertEqual(self.receive(port), frame)
        self.assertEqual(self.growth(before), {})


class PacketOutAtPe(PeTest, PacketOutTest):
    """FCN-1: packet-out at a PE."""

    def runTest(self) -> None:
        self.check_packet_outs()


class PacketOutAtP(PTest, PacketOutTest):
    """FCN-1: packet-out at a P."""

    def runTest(self) -> None:
        self.check_packet_outs()


class UnknownPortIsNotPunted(PeTest):
    """FCN-1: packets from a port without a role are not punted."""

    def runTest(self) -> None:
        self.check(UNUSED_PORT, ARP_REQUEST, drops={"UNKNOWN_PORT": 1})
