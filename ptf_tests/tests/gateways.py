"""The PE answers for the gateways of its customers without a controller (FCN-1)."""

import math
import time
from ipaddress import ip_address
from typing import Any

import finsy as fy
from scapy.layers.inet6 import (
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr,
    IPv6,
)
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw

from fcn.contract.names import NEIGHBOR_DIGESTS
from fcn.ptf_tests.lib.beds import (
    BLUE,
    BLUE_VLAN,
    HOST_MAC,
    HOST_V4,
    HOST_V6,
    NODE_MAC,
    RED,
    PeTest,
)
from fcn.ptf_tests.lib.counters import read_counter
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2

GATEWAY_V4 = "10.1.0.1"
GATEWAY_V6 = "2001:db8:1::1"
GATEWAY_LINK_LOCAL = "fe80::fc:ff:fe00:0"
OTHER_V4 = "10.1.0.2"
OTHER_V6 = "2001:db8:1::2"
MAC = NODE_MAC[DC_PORT]
BLUE_MAC = "02:fc:00:00:01:00"
BROADCAST = "ff:ff:ff:ff:ff:ff"
ALL_NODES_MAC = "33:33:00:00:00:01"
NONCE = Raw(b"\x0e\x01\x01\x02\x03\x04\x05\x06")
"""The option of a host that tries an address (RFC 7527)."""
ROUTER = 0x80


def tagged(frame: bytes) -> bytes:
    """The frame with BLUE's VLAN tag."""
    return frame[:12] + b"\x81\x00" + BLUE_VLAN.to_bytes(2, "big") + frame[12:]


def arp_request(
    target: str = GATEWAY_V4, sender: str = HOST_V4, dst: str = BROADCAST, **fields: int
) -> bytes:
    """A host's ARP request, padded to the shortest frame."""
    arp = ARP(hwsrc=HOST_MAC, psrc=sender, pdst=target, **fields)
    return bytes(Ether(dst=dst, src=HOST_MAC) / arp).ljust(60, b"\0")


def arp_reply(sender: str = HOST_V4, mac: str = MAC) -> bytes:
    """The answer to `arp_request`, with its padding."""
    arp = ARP(op=2, hwsrc=mac, psrc=GATEWAY_V4, hwdst=HOST_MAC, pdst=sender)
    return bytes(Ether(dst=HOST_MAC, src=mac) / arp).ljust(60, b"\0")


def solicitation(
    target: str = GATEWAY_V6,
    sender: str = HOST_V6,
    option: Packet | None = None,
    src_mac: str = HOST_MAC,
    **fields: int,
) -> bytes:
    """A host's neighbour solicitation; `fields` of its IPv6 header."""
    header = IPv6(src=sender, dst="ff02::1:ff00:1", tc=0xC0, fl=5, **{"hlim": 255} | fields)
    message = header / ICMPv6ND_NS(tgt=target)
    whole = message if option is None else message / option
    return bytes(Ether(dst="33:33:ff:00:00:01", src=src_mac) / whole)


def advertisement(
    target: str = GATEWAY_V6,
    receiver: str = HOST_V6,
    receiver_mac: str = HOST_MAC,
    mac: str = MAC,
    solicited: int = 1,
) -> bytes:
    """The answer: router, override, solicited when the sender has an address; traffic class and
    flow label are those of the request."""
    return bytes(
        Ether(dst=receiver_mac, src=mac)
        / IPv6(src=target, dst=receiver, tc=0xC0, fl=5, hlim=255)
        / ICMPv6ND_NA(tgt=target, R=1, S=solicited, O=1)
        / ICMPv6NDOptDstLLAddr(lladdr=mac)
    )


class GatewayTest(PeTest):
    """RED's gateway on DC_PORT and BLUE's, the same addresses, in its VLAN there."""

    def configure(self) -> None:
        """Gateways of both address families; reports of hosts are subscribed to."""
        super().configure()
        for address in (GATEWAY_V4, GATEWAY_V6, GATEWAY_LINK_LOCAL):
            self.pe.gateway(DC_PORT, address, MAC)
            self.pe.gateway(DC_PORT, address, BLUE_MAC, BLUE_VLAN)
        self.client.write(
            [
                +fy.P4DigestEntry(digest, max_list_size=1, max_timeout_ns=1)
                for digest in NEIGHBOR_DIGESTS.values()
            ]
        )

    def check_answer(self, request: bytes, answer: bytes) -> None:
        """The answer, and nothing else, leaves the port the request came from."""
        event = "ARP_ANSWERED" if b"\x08\x06" in (answer[12:14], answer[16:18]) else "ND_ANSWERED"
        self.check(DC_PORT, request, expect={DC_PORT: [answer]}, events={event: 1})

    def check_reported(self, address: str, mac: str, vlan: int = 0) -> None:
        """The one report there is names this host."""
        wanted: dict[str, Any] = {
            "port": DC_PORT,
            "vlan_id": vlan,
            "address": int(ip_address(address)),
            "mac": int(mac.replace(":", ""), 16),
        }
        messages = self.wait_for("the report", self.digests)
        self.assertEqual([(NEIGHBOR_DIGESTS[ip_address(address).version], wanted)], messages)


class ArpRequestForTheGatewayIsAnswered(GatewayTest):
    """FCN-1: RFC 826: broadcast or unicast; the controller is told of the host."""

    def runTest(self) -> None:
        for dst in (BROADCAST, MAC):
            self.check_answer(arp_request(dst=dst), arp_reply())
            self.check_reported(HOST_V4, HOST_MAC)
        self.check_answer(tagged(arp_request()), tagged(arp_reply(mac=BLUE_MAC)))
        self.check_reported(HOST_V4, HOST_MAC, BLUE_VLAN)


class ArpReplyGoesToTheSenderInTheRequest(GatewayTest):
    """FCN-1: RFC 826: a request sent on for another host is answered to that host."""

    def runTest(self) -> None:
        request = arp_request()
        proxied = request[:6] + b"\x02\xde\x00\x00\x00\x99" + request[12:]
        self.check_answer(proxied, arp_reply())


class ArpProbeIsAnswered(GatewayTest):
    """FCN-1: RFC 5227 section 2.1.1: who tries the gateway's address learns that it is taken."""

    def runTest(self) -> None:
        self.check_answer(arp_request(sender="0.0.0.0"), arp_reply(sender="0.0.0.0"))


class SolicitationOfTheGatewayIsAnswered(GatewayTest):
    """FCN-1: RFC 4861 section 7.2.4, for the global and the link-local address; the controller is
    told of the host, by its option where it has one."""

    def runTest(self) -> None:
        own_mac = "02:de:00:00:00:77"
        for target in (GATEWAY_V6, GATEWAY_LINK_LOCAL):
            for option, mac in (
                (ICMPv6NDOptSrcLLAddr(lladdr=own_mac), own_mac),
                (None, HOST_MAC),
                (NONCE, HOST_MAC),
            ):
                with self.subTest(target=target, option=option):
                    request = solicitation(target, option=option)
                    answer = advertisement(target, receiver_mac=mac)
                    self.check_answer(request, answer)
                    self.check_reported(HOST_V6, mac)
                    blue = advertisement(target, receiver_mac=mac, mac=BLUE_MAC)
                    self.check_answer(tagged(request), tagged(blue))
                    self.check_reported(HOST_V6, mac, BLUE_VLAN)


class DuplicateAddressDetectionIsAnswered(GatewayTest):
    """FCN-1: RFC 4861 section 7.2.4: to all nodes, not solicited."""

    def runTest(self) -> None:
        answer = advertisement(receiver="ff02::1", receiver_mac=ALL_NODES_MAC, solicited=0)
        for option in (None, NONCE):
            self.check_answer(solicitation(sender="::", option=option), answer)


class OtherRequestsAreNotAnswered(GatewayTest):
    """FCN-1: other addresses, ports, operations and malformed requests are the controller's."""

    def runTest(self) -> None:
        option = ICMPv6NDOptSrcLLAddr(lladdr=HOST_MAC)
        sound = solicitation(option=option)
        for what, reason, port, frame in (
            ("another address", "ARP", DC_PORT, arp_request(target=OTHER_V4)),
            ("another port", "ARP", DC_PORT_2, arp_request()),
            ("a core port", "ARP", CORE_PORT, arp_request()),
            ("a reply", "ARP", DC_PORT, arp_request(op=2)),
            ("an unknown operation", "ARP", DC_PORT, arp_request(op=3)),
            ("no Ethernet", "ARP", DC_PORT, arp_request(hwtype=6)),
            ("no IPv4", "ARP", DC_PORT, arp_request(ptype=0x86DD)),
            ("too short", "ARP", DC_PORT, arp_request()[:40]),
            ("another address", "ND", DC_PORT, solicitation(OTHER_V6, option=option)),
            ("another port", "ND", DC_PORT_2, sound),
            ("a core port", "ND", CORE_PORT, sound),
            ("an advertisement", "ND", DC_PORT, advertisement(receiver_mac=NODE_MAC[DC_PORT])),
            ("a wrong checksum", "ND", DC_PORT, sound[:-1] + bytes([sound[-1] ^ 1])),
            ("two options", "ND", DC_PORT, solicitation(option=option / option)),
            ("an option of no length", "ND", DC_PORT, solicitation(option=Raw(b"\1\0" + bytes(6)))),
        ):
            with self.subTest(what=what, reason=reason):
                self.check(port, frame, punts=[(reason, frame)])
        self.assertEqual(self.digests(), [])


class SolicitationFromBehindARouterIsTraffic(GatewayTest):
    """FCN-1: RFC 4861 section 7.1.1: a hop limit below 255 makes it invalid. It is a packet like
    others then, and one in a frame to a group."""

    def runTest(self) -> None:
        frame = solicitation(hlim=254)
        self.check(DC_PORT, frame, drops={"OTHER_STATION": 1})
        to_node = bytes.fromhex(NODE_MAC[DC_PORT].replace(":", "")) + frame[6:]
        self.check(DC_PORT, to_node, drops={"NO_ROUTE": 1})


class ReportsOfHostsAreLimitedPerVrf(GatewayTest):
    """FCN-15: beyond the limit of its VRF a host is answered, but not reported; another VRF's
    reports go on, and what was not reported is counted for the VRF."""

    def runTest(self) -> None:
        budget = fy.P4MeterConfig(cir=1, cburst=4, pir=1, pburst=4)
        self.pe.punt_limit(RED, budget)
        self.addCleanup(self.pe.punt_limit, RED)
        flood, started = 30, time.monotonic()
        for _ in range(flood):
            self.send(DC_PORT, arp_request())
        for _ in range(flood):
            self.assertEqual(self.receive(DC_PORT), arp_reply())
        refused = read_counter(self.client, "vrf_refused", RED, BLUE)
        earned = math.ceil(budget.cir * (time.monotonic() - started))
        self.assertIn(
            refused[RED][0], range(flood - budget.cburst - earned, flood - budget.cburst + 1)
        )
        self.assertEqual(refused[BLUE][0], 0)
        self.send(DC_PORT, tagged(arp_request()))
        self.assertEqual(self.receive(DC_PORT), tagged(arp_reply(mac=BLUE_MAC)))
        seen: list[int] = []

        def blue_is_reported() -> bool:
            seen.extend(data["vlan_id"] for _, data in self.digests())
            return BLUE_VLAN in seen

        self.wait_for("BLUE's report", blue_is_reported)
