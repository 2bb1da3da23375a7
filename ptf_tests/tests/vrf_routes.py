"""Routing in a VRF: longest prefix, TTL and hop limit, missing and blackhole routes (FCN-1)."""

from fcn.ptf_tests.lib.beds import (
    HOST2_MAC,
    HOST2_V4,
    HOST2_V6,
    HOST_MAC,
    HOST_V4,
    HOST_V6,
    NODE_MAC,
    PE_ADDRESS,
    RED,
    REMOTE_RED_SID,
    REMOTE_V4,
    REMOTE_V6,
    PeTest,
    core_frame_out,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.packets import datagram_of, flow_label_of, ip, routed, srv6, udp, with_ttl
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2


class LongestPrefixWins(PeTest):
    """FCN-1: the most specific of overlapping routes is used, for both IP versions."""

    def runTest(self) -> None:
        cases = {
            "203.0.113.9": [("203.0.0.0/16", "blackhole"), ("203.0.113.0/24", None)],
            "2001:db8:99::9": [("2001:db8::/32", "blackhole"), ("2001:db8:99::/48", None)],
        }
        for dst, routes in cases.items():
            for prefix, action in routes:
                if action:
                    self.pe.route(RED, prefix, action)
                else:
                    self.route_to_host(RED, prefix, DC_PORT_2, HOST2_MAC)
            with self.subTest(dst=dst):
                datagram = udp(HOST_V6 if ":" in dst else HOST_V4, dst, 1, 2)
                self.check_between_ports(datagram)


class DefaultRouteCatchesTheRest(PeTest):
    """FCN-1: a default route (prefix length zero) matches all other destinations."""

    def runTest(self) -> None:
        self.route_to_host(RED, "0.0.0.0/0", DC_PORT_2, HOST2_MAC)
        self.route_to_host(RED, "::/0", DC_PORT_2, HOST2_MAC)
        for src, dst in ((HOST_V4, "198.51.100.7"), (HOST_V6, "2001:db8:ffff::7")):
            datagram = udp(src, dst, 1, 2)
            expected = host_frame_out(routed(datagram), port=DC_PORT_2, host_mac=HOST2_MAC)
            self.check(DC_PORT, host_frame_in(datagram), expect={DC_PORT_2: [expected]})


class NoRouteIsCounted(PeTest):
    """FCN-1: packets to a destination without a route are dropped with that reason."""

    def runTest(self) -> None:
        for src, dst in ((HOST_V4, "198.51.100.7"), (HOST_V6, "2001:db8:ffff::7")):
            with self.subTest(dst=dst):
                self.check(DC_PORT, host_frame_in(udp(src, dst, 1, 2)), drops={"NO_ROUTE": 1})


class BlackholeIsCounted(PeTest):
    """FCN-1: packets to a blackhole route are dropped with a separate reason."""

    def runTest(self) -> None:
        self.pe.route(RED, "198.51.100.0/24", "blackhole")
        self.pe.route(RED, "2001:db8:ffff::/48", "blackhole")
        for src, dst in ((HOST_V4, "198.51.100.7"), (HOST_V6, "2001:db8:ffff::7")):
            with self.subTest(dst=dst):
                self.check(DC_PORT, host_frame_in(udp(src, dst, 1, 2)), drops={"BLACKHOLE": 1})


class TtlExpires(PeTest):
    """FCN-1: packets with TTL or hop limit 0 and 1 are dropped in both directions; 2 forwarded."""

    def runTest(self) -> None:
        pairs = (
            (HOST_V4, HOST2_V4),
            (HOST_V6, HOST2_V6),
            (HOST_V4, REMOTE_V4),
            (HOST_V6, REMOTE_V6),
        )
        for src, dst in pairs:
            for ttl in (0, 1):
                with self.subTest(dst=dst, ttl=ttl):
                    frame = host_frame_in(udp(src, dst, 1, 2, ttl=ttl))
                    self.check(DC_PORT, frame, drops={"TTL_EXPIRED": 1})
        for src, dst in pairs[:2]:
            datagram = udp(src, dst, 1, 2, ttl=2)
            expected = host_frame_out(with_ttl(datagram, 1), port=DC_PORT_2, host_mac=HOST2_MAC)
            self.check(DC_PORT, host_frame_in(datagram), expect={DC_PORT_2: [expected]})


class Ipv4ChecksumIsRightAtTheCorners(PeTest):
    """FCN-1: the updated IPv4 checksum equals the computed one, also where the sum wraps.

    The identification field sweeps the checksum over the values next to 0 and 0xffff.
    """

    def runTest(self) -> None:
        base = ip(HOST_V4, HOST2_V4, b"payload.", id=0, proto=253)
        start = int.from_bytes(base[10:12], "big")
        wanted = (0x0000, 0x0001, 0x00FE, 0x00FF, 0x0100, 0x0101, 0xFEFE, 0xFEFF, 0xFFFD, 0xFFFE)
        datagrams = [
            ip(HOST_V4, HOST2_V4, b"payload.", id=(start - value) % 0xFFFF, proto=253)
            for value in wanted
        ]
        self.check_between_ports(*datagrams)


class BadIpv4ChecksumIsCounted(PeTest):
    """FCN-1: a packet with a wrong IPv4 header checksum is dropped and counted."""

    def runTest(self) -> None:
        datagram = bytearray(udp(HOST_V4, REMOTE_V4, 1, 2))
        datagram[11] ^= 0x01
        self.check(DC_PORT, host_frame_in(bytes(datagram)), drops={"BAD_CHECKSUM": 1})


class RouteChangesTakeEffect(PeTest):
    """FCN-1: deletion and insertion of a route apply to the next packet."""

    def runTest(self) -> None:
        datagram = udp(HOST_V4, REMOTE_V4, 1, 2)

        def tunnelled(got: bytes) -> bytes:
            label = flow_label_of(datagram_of(got))
            return core_frame_out(
                srv6(routed(datagram), PE_ADDRESS, REMOTE_RED_SID, flow_label=label)
            )

        self.check(DC_PORT, host_frame_in(datagram), expect={CORE_PORT: [tunnelled]})
        self.pe.delete("route_ipv4", match={"vrf": RED, "dst": "10.2.0.0/16"})
        self.check(DC_PORT, host_frame_in(datagram), drops={"NO_ROUTE": 1})
        self.pe.route(
            RED,
            "10.2.0.0/16",
            "to_dc",
            port=DC_PORT,
            vlan_id=0,
            src_mac=NODE_MAC[DC_PORT],
            dst_mac=HOST_MAC,
        )
        self.check(
            DC_PORT, host_frame_in(datagram), expect={DC_PORT: [host_frame_out(routed(datagram))]}
        )
