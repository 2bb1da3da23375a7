"""Format of Fast CNPs (FCN-9, FCN-10)."""

from scapy.layers.inet6 import IPv6ExtHdrDestOpt
from scapy.packet import Raw

from fcn.contract.constants import FCN_LABEL_BIT
from fcn.contract.depth import LEVELS
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    HOST_V6,
    P_ADDRESS,
    P_END_SID,
    PE_ADDRESS,
    REMOTE_PE,
    REMOTE_RED_SID,
    REMOTE_V4,
    REMOTE_V6,
    core_frame_out,
)
from fcn.ptf_tests.lib.congestion import (
    LABEL,
    SENT,
    TRAFFIC_CLASS,
    CongestedPTest,
    from_ingress_pe,
    notice,
    tunnelled,
)
from fcn.ptf_tests.lib.packets import (
    IPV6_HEADER,
    Ecn,
    IpFields,
    datagram_of,
    fast_cnp,
    gre,
    ip,
    mpls_udp,
    roce,
    routed,
    srv6,
    srv6_red_path,
    udp_checksum_valid,
    vxlan,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT


class FormatOnTheWire(CongestedPTest):
    """FCN-9: every octet of the Fast CNP, for various labels and packet sizes."""

    def runTest(self) -> None:
        for label in (FCN_LABEL_BIT, 0x80001, 0xABCDE, 0xFFFFF):
            for payload in (0, 4, 64, 1024, 4096, 8192):
                with self.subTest(label=hex(label), payload=payload):
                    datagram = tunnelled(label, payload=payload)
                    expected = notice(label, self.level)
                    self.assertEqual(len(expected), 66)
                    self.check_forwarded(datagram, back=[expected], events=SENT)


class EveryTunnelType(CongestedPTest):
    """FCN-9: the same for SRv6, VXLAN, GRE and MPLS tunnels, with IPv4 and IPv6 inside."""

    def runTest(self) -> None:
        for inner in (roce(HOST_V4, REMOTE_V4, 7), roce(HOST_V6, REMOTE_V6, 7)):
            outer: IpFields = {"flow_label": LABEL, "traffic_class": Ecn.ECT1}
            datagrams = {
                "SRv6": srv6(inner, PE_ADDRESS, REMOTE_RED_SID, **outer),
                "SRv6 with SRH": srv6(
                    inner, PE_ADDRESS, REMOTE_RED_SID, ("fc00::1", "fc00::2", "fc00::3"), 0, **outer
                ),
                "SRv6 with six segments": srv6(
                    inner, PE_ADDRESS, REMOTE_RED_SID, ("fc00::1",) * 6, 3, **outer
                ),
                "VXLAN": vxlan(inner, PE_ADDRESS, REMOTE_PE, 9, **outer),
                "GRE": gre(inner, PE_ADDRESS, REMOTE_PE, 10, **outer),
                "MPLS": mpls_udp(inner, PE_ADDRESS, REMOTE_PE, (16, 17), **outer),
                "destination options": ip(
                    PE_ADDRESS, REMOTE_PE, IPv6ExtHdrDestOpt() / Raw(inner), **outer
                ),
            }
            for what, datagram in datagrams.items():
                with self.subTest(what=what):
                    self.check_forwarded(datagram, back=[notice(LABEL, self.level)], events=SENT)


class AtAnSrv6Endpoint(CongestedPTest):
    """FCN-9: the same at a P that is also an SRv6 endpoint; the packet is forwarded."""

    def runTest(self) -> None:
        destination, segments, left = srv6_red_path((P_END_SID, "fc00:0:2:e::", REMOTE_RED_SID))
        inner = roce(HOST_V6, REMOTE_V6, 7)
        before = srv6(
            inner, PE_ADDRESS, destination, segments, left, flow_label=LABEL, traffic_class=2
        )
        after = srv6(
            inner,
            PE_ADDRESS,
            "fc00:0:2:e::",
            segments,
            left - 1,
            flow_label=LABEL,
            traffic_class=2,
            ttl=63,
        )
        self.check_forwarded(before, after, back=[notice(LABEL, self.level)], events=SENT)


class LevelIsCarried(CongestedPTest):
    """FCN-10: the level of the queue, 1 to 7, is in the Fast CNP."""

    level = 1

    def runTest(self) -> None:
        for level in LEVELS:
            if level > 1:
                self.p.delete_queue_level(CORE_PORT)
                self.p.queue_level(CORE_PORT, level)
                self.p.level_policy(level, mark=Ecn.NOT_ECT, notify=True)
            outcome = self.exchange(DC_PORT, from_ingress_pe(tunnelled()))
            self.assertEqual(outcome.frames[DC_PORT], [notice(LABEL, level)])


class LevelZeroWhenUnused(CongestedPTest):
    """FCN-10: a node that uses no levels sends level 0."""

    level = 0

    def runTest(self) -> None:
        outcome = self.exchange(DC_PORT, from_ingress_pe(tunnelled()))
        self.assertEqual(outcome.frames[DC_PORT], [notice(LABEL, 0)])


class LabelIsCopiedOnRequest(CongestedPTest):
    """FCN-9: optionally the label is also the Fast CNP's own IPv6 flow label."""

    def configure_feature(self) -> None:
        """Fast CNPs with the label copied."""
        self.p.enable_fast_cnp(P_ADDRESS, traffic_class=TRAFFIC_CLASS, copy_label=True)

    def runTest(self) -> None:
        outcome = self.exchange(DC_PORT, from_ingress_pe(tunnelled()))
        self.assertEqual(outcome.frames[DC_PORT], [notice(LABEL, self.level, flow_label=LABEL)])


class ProfileIsConfiguration(CongestedPTest):
    """FCN-9: source address, ports, traffic class and hop limit are configurable."""

    def configure_feature(self) -> None:
        """Values other than the defaults."""
        self.p.enable_fast_cnp(
            "fc00:0:10::abcd",
            udp_src_port=1,
            udp_dst_port=0xFFFE,
            traffic_class=0xBB,
            hop_limit=255,
        )

    def runTest(self) -> None:
        outcome = self.exchange(DC_PORT, from_ingress_pe(tunnelled()))
        (frame,) = outcome.frames[DC_PORT]
        expected = fast_cnp(
            "fc00:0:10::abcd",
            PE_ADDRESS,
            LABEL,
            self.level,
            sport=1,
            dport=0xFFFE,
            traffic_class=0xB8,
            ttl=255,
        )
        self.assertEqual(frame, core_frame_out(expected, DC_PORT), "a notification is Not-ECT")


class ChecksumIsValid(CongestedPTest):
    """FCN-9: the UDP checksum is valid for many labels; 0xffff where it computes to zero."""

    def runTest(self) -> None:
        labels = [FCN_LABEL_BIT + 4099 * i for i in range(64)]
        frames = [from_ingress_pe(tunnelled(label, payload=label % 61)) for label in labels]
        notices = self.exchange(DC_PORT, *frames).frames[DC_PORT]
        self.assertEqual(len(notices), len(labels))
        for frame in notices:
            self.assertTrue(udp_checksum_valid(datagram_of(frame)), frame.hex())
        zero_sum_port = int.from_bytes(
            fast_cnp(P_ADDRESS, PE_ADDRESS, LABEL, self.level, sport=0)[
                IPV6_HEADER + 6 : IPV6_HEADER + 8
            ],
            "big",
        )
        self.p.enable_fast_cnp(P_ADDRESS, traffic_class=TRAFFIC_CLASS, udp_src_port=zero_sum_port)
        (frame,) = self.exchange(DC_PORT, from_ingress_pe(tunnelled())).frames[DC_PORT]
        self.assertEqual(datagram_of(frame)[IPV6_HEADER + 6 : IPV6_HEADER + 8], b"\xff\xff")


class SentAlongTheRouteBack(CongestedPTest):
    """FCN-9: the Fast CNP is routed to the packet's source, not sent out of the ingress port."""

    def runTest(self) -> None:
        datagram = srv6(
            roce(HOST_V4, REMOTE_V4, 7),
            "fc00:0:20::1",
            REMOTE_PE,
            flow_label=LABEL,
            traffic_class=Ecn.ECT0,
        )
        expected = fast_cnp(
            P_ADDRESS, "fc00:0:20::1", LABEL, self.level, traffic_class=TRAFFIC_CLASS
        )
        self.check(
            DC_PORT,
            from_ingress_pe(datagram),
            expect={
                CORE_PORT: [core_frame_out(routed(datagram))],
                CORE_PORT_2: [core_frame_out(expected, CORE_PORT_2)],
            },
            events=SENT,
        )


class SourceWithoutRoute(CongestedPTest):
    """FCN-9: a Fast CNP without a route is dropped and counted; the packet is forwarded."""

    def runTest(self) -> None:
        datagram = srv6(
            roce(HOST_V4, REMOTE_V4, 7),
            "2001:db8::1",
            REMOTE_PE,
            flow_label=LABEL,
            traffic_class=Ecn.ECT0,
        )
        before = self.counts()
        outcome = self.exchange(DC_PORT, from_ingress_pe(datagram))
        self.assertEqual(outcome.frames, {CORE_PORT: [core_frame_out(routed(datagram))]})
        growth = self.growth(before)
        self.assertEqual(growth["drop NO_ROUTE"], 1)
        self.assertEqual(growth["event FAST_CNP_TRIGGERED"], 1)
