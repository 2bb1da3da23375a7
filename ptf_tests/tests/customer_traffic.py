"""Traffic other than RoCE crosses the WAN unchanged (FCN-1)."""

from collections.abc import Iterator
from functools import partial

from scapy.layers.inet import ICMP, TCP, UDP, IPOption_NOP, IPOption_RR
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
)
from scapy.packet import Raw

from fcn.contract.constants import FCN_LABEL_BIT
from fcn.packets.wire import FAST_CNP_PORT
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    HOST_V6,
    PE_ADDRESS,
    PE_RED_SID,
    REMOTE_PE,
    REMOTE_RED_SID,
    REMOTE_V4,
    REMOTE_V6,
    TO_REMOTE,
    PeTest,
    core_frame_out,
    host_frame_in,
)
from fcn.ptf_tests.lib.packets import (
    datagram_of,
    ecn_of,
    flow_label_of,
    gre,
    ip,
    mpls_udp,
    roce,
    routed,
    srv6,
    udp,
    vxlan,
    with_udp_checksum,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT


def plain_ipv4(src: str, dst: str) -> Iterator[tuple[str, bytes]]:
    """IPv4 packets of all kinds."""
    yield "TCP", ip(src, dst, TCP(sport=5000, dport=80, flags="S") / Raw(b"x" * 100))
    yield "TCP to 4791", ip(src, dst, TCP(sport=5000, dport=4791, flags="PA") / Raw(b"x" * 100))
    yield "ICMP echo", ip(src, dst, ICMP(id=7, seq=1) / Raw(b"ping" * 14))
    yield "empty UDP", udp(src, dst, 1, 2, b"")
    yield "UDP without checksum", with_udp_checksum(udp(src, dst, 1, 2), 0)
    yield "UDP to the Fast CNP port", udp(src, dst, 1, FAST_CNP_PORT, b"four")
    yield "UDP from the RoCE port", udp(src, dst, 4791, 53)
    yield "SCTP", ip(src, dst, bytes(range(64)), proto=132)
    yield "unknown protocol", ip(src, dst, b"?" * 20, proto=253)
    yield "no payload", ip(src, dst, b"", proto=253)
    yield "ESP", ip(src, dst, bytes(48), proto=50)
    yield (
        "first fragment of RoCE",
        ip(src, dst, UDP(sport=1, dport=4791, len=400) / Raw(b"f" * 64), flags="MF", id=3),
    )
    yield "later fragment", ip(src, dst, b"g" * 64, proto=17, frag=9, id=3)
    yield (
        "options",
        ip(src, dst, UDP(sport=1, dport=2) / Raw(b"o" * 8), options=[IPOption_NOP()] * 4),
    )
    yield (
        "longest options",
        ip(
            src,
            dst,
            TCP(sport=1, dport=2),
            options=[IPOption_RR(routers=["0.0.0.0"] * 9), IPOption_NOP()],
        ),
    )
    yield (
        "RoCE with options",
        ip(src, dst, UDP(sport=1, dport=4791) / Raw(b"r" * 40), options=[IPOption_NOP()] * 4),
    )
    yield "IPv4 in IPv4", ip(src, dst, udp("192.0.2.1", "192.0.2.2", 1, 2), proto=4)
    yield "jumbo frame", udp(src, dst, 1, 2, bytes(8000))
    yield "DSCP and CE", udp(src, dst, 1, 2, traffic_class=46 << 2 | 3)


def plain_ipv6(src: str, dst: str) -> Iterator[tuple[str, bytes]]:
    """IPv6 packets of all kinds."""
    yield "TCP", ip(src, dst, TCP(sport=5000, dport=80, flags="S") / Raw(b"x" * 100))
    yield "ICMPv6 echo", ip(src, dst, ICMPv6EchoRequest(id=7, seq=1, data=b"ping" * 14))
    yield "empty UDP", udp(src, dst, 1, 2, b"")
    yield "UDP of 4 octets", udp(src, dst, 1, 2, b"four")
    yield "UDP of 4 octets, wrong checksum", with_udp_checksum(udp(src, dst, 1, 2, b"four"), 1)
    yield "unknown next header", ip(src, dst, b"?" * 20, nh=253)
    yield "no next header", ip(src, dst, b"", nh=59)
    yield "hop-by-hop", ip(src, dst, IPv6ExtHdrHopByHop() / UDP(sport=1, dport=4791) / Raw(b"h"))
    yield (
        "destination options",
        ip(src, dst, IPv6ExtHdrDestOpt() / UDP(sport=1, dport=2) / Raw(b"d" * 9)),
    )
    yield (
        "first fragment of RoCE",
        ip(
            src,
            dst,
            IPv6ExtHdrFragment(m=1, id=5) / UDP(sport=1, dport=4791, len=400) / Raw(b"f" * 64),
        ),
    )
    yield "later fragment", ip(src, dst, IPv6ExtHdrFragment(offset=9, id=5, nh=17) / Raw(b"g" * 64))
    yield "flow label of its own", udp(src, dst, 1, 2, flow_label=0xFEDCB)
    yield "jumbo frame", udp(src, dst, 1, 2, bytes(8000))


def customers_own_tunnels(src: str, dst: str) -> Iterator[tuple[str, bytes]]:
    """Tunnels between a customer's own sites: for the PE they are payload."""
    inner4 = udp("192.0.2.1", "192.0.2.2", 1, 2)
    inner6 = udp("2001:db8:aaaa::1", "2001:db8:aaaa::2", 1, 2)
    inner_roce = roce("192.0.2.1", "192.0.2.2", 0x77)
    damaged = inner4[:10] + b"\0\0" + inner4[12:]
    bridged = partial(
        vxlan,
        src=src,
        dst=dst,
        vni=5,
        sport=0xC000,
        inner_src_mac="02:bb:00:00:00:01",
        inner_dst_mac="02:bb:00:00:00:02",
    )
    yield "VXLAN", bridged(inner_roce)
    yield "VXLAN without I flag", _with_octet(bridged(inner4, checksum_zero=True), 48, 0)
    yield "IPv4 in IPv6", srv6(inner4, src, dst)
    yield "IPv6 in IPv6", srv6(inner6, src, dst)
    yield "IPv4 in IPv6, inner checksum wrong", srv6(damaged, src, dst)
    yield "IPv6 in IPv6, inner cut off", srv6(inner6[:20], src, dst)
    yield "IPv4 in IPv6, inner TTL 1", srv6(udp("192.0.2.1", "192.0.2.2", 1, 2, ttl=1), src, dst)
    yield "SRv6", srv6(inner4, src, dst, ["2001:db8:bbbb::1", dst], 1)
    yield "SRv6 with six segments", srv6(inner6, src, dst, ["2001:db8:bbbb::1"] * 6, 5)
    yield "GRE", gre(inner4, src, dst, 9)
    yield "GRE with sequence number", _with_octet(gre(inner4, src, dst, 9), 40, 0x30)
    yield "MPLS over UDP", mpls_udp(inner4, src, dst, [20])
    yield "four MPLS labels", mpls_udp(inner6, src, dst, [16, 17, 18, 19])


def _with_octet(datagram: bytes, offset: int, value: int) -> bytes:
    return datagram[:offset] + bytes([value]) + datagram[offset + 1 :]


class UnharmedTest(PeTest):
    """Learning and notifications are enabled, so that they process traffic other than RoCE."""

    def configure(self) -> None:
        """All features on."""
        super().configure()
        self.pe.enable_cnp()
        self.pe.trust("::/0")
        self.pe.set_default("flow_learning", "learning_on", window=0)

    def check_into_the_wan(self, what: str, datagram: bytes) -> None:
        """A host's packet leaves in the tunnel with nothing changed but its TTL."""
        with self.subTest(what=what, direction="into the WAN"):

            def tunnelled(got: bytes) -> bytes:
                label = flow_label_of(datagram_of(got))
                self.assertEqual(label & FCN_LABEL_BIT, 0, "an entropy label's top bit is clear")
                return core_frame_out(
                    srv6(
                        routed(datagram),
                        PE_ADDRESS,
                        REMOTE_RED_SID,
                        flow_label=label,
                        traffic_class=ecn_of(datagram),
                    )
                )

            self.check(DC_PORT, host_frame_in(datagram), expect={CORE_PORT: [tunnelled]})

    def check_out_of_the_wan(self, what: str, datagram: bytes) -> None:
        """A tunnelled packet reaches the host with nothing changed but its TTL."""
        with self.subTest(what=what, direction="out of the WAN"):
            outer = srv6(datagram, REMOTE_PE, PE_RED_SID, traffic_class=ecn_of(datagram))
            self.check_out_of_wan(outer, routed(datagram))


class Ipv4CustomersAreUnharmed(UnharmedTest):
    """FCN-1: TCP, ICMP, fragments, options, other protocols over IPv4, both directions."""

    def runTest(self) -> None:
        for what, datagram in plain_ipv4(HOST_V4, REMOTE_V4):
            self.check_into_the_wan(what, datagram)
        for what, datagram in plain_ipv4(REMOTE_V4, HOST_V4):
            self.check_out_of_the_wan(what, datagram)


class Ipv6CustomersAreUnharmed(UnharmedTest):
    """FCN-1: TCP, ICMPv6, extension headers, fragments over IPv6, both directions."""

    def runTest(self) -> None:
        for what, datagram in plain_ipv6(HOST_V6, REMOTE_V6):
            self.check_into_the_wan(what, datagram)
        for what, datagram in plain_ipv6(REMOTE_V6, HOST_V6):
            self.check_out_of_the_wan(what, datagram)


class CustomersOwnTunnelsIntoTheWan(UnharmedTest):
    """FCN-1: a customer's VXLAN, IP in IPv6, SRv6, GRE and MPLS are payload, valid or not."""

    def runTest(self) -> None:
        for what, datagram in customers_own_tunnels(HOST_V6, REMOTE_V6):
            self.check_into_the_wan(what, datagram)


class CustomersOwnTunnelsOutOfTheWan(UnharmedTest):
    """FCN-1: the same in the other direction."""

    def runTest(self) -> None:
        for what, datagram in customers_own_tunnels(REMOTE_V6, HOST_V6):
            self.check_out_of_the_wan(what, datagram)


class EthernetPaddingIsNoPayload(UnharmedTest):
    """FCN-1: a short packet padded to 60 octets keeps its IP length; padding is not delivered."""

    def runTest(self) -> None:
        for src, dst in TO_REMOTE:
            datagram = udp(src, dst, 1, 2, b"x")
            padding = bytes(26)
            outcome = self.exchange(DC_PORT, host_frame_in(datagram) + padding)
            outer = datagram_of(outcome.frames[CORE_PORT][0])
            payload_length = int.from_bytes(outer[4:6], "big")
            self.assertEqual(payload_length, len(datagram))
            self.assertEqual(outer[40 : 40 + payload_length], routed(datagram))
