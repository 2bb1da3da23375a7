"""An egress PE with a congested port to a data centre tells the ingress PE as a P does (FCN-18)."""

from collections.abc import Mapping

from fcn.packets.roce import CNP_RESERVED, Opcode
from fcn.ptf_tests.lib.beds import (
    BLUE,
    BLUE_HOST_MAC,
    BLUE_VLAN,
    HOST_V4,
    HOST_V6,
    NODE_MAC,
    PE_ADDRESS,
    PE_BLUE_SID,
    PE_RED_SID,
    RED,
    REMOTE_PE,
    REMOTE_V4,
    REMOTE_V6,
    core_frame_in,
    core_frame_out,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.end_con import end_con_cnp
from fcn.ptf_tests.lib.flow_control import priority_arn
from fcn.ptf_tests.lib.limits import BUDGET, FLOOD, LONG_US
from fcn.ptf_tests.lib.notifications import DEST_QP, LABEL_V4, SOURCE_QP, NotificationTest
from fcn.ptf_tests.lib.packets import (
    Ecn,
    IpFields,
    cnp,
    datagram_of,
    fast_cnp,
    gre,
    mpls_udp,
    roce,
    routed,
    srv6,
    udp,
    udp_checksum_valid,
    vxlan,
    with_ecn,
)
from fcn.ptf_tests.lib.pe_flow_control import (
    QUANTA,
    PeFlowControlTest,
    customer,
    from_p,
    leaving,
    pause,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT, DC_PORT_2

LABEL = 0x8CAFE
LEVEL = 5
TRAFFIC_CLASS = 0xC0
REMOTE_END_CON = "fc00:0:2:c0::"
SENT = {"FAST_CNP_TRIGGERED": 1, "FAST_CNP_SENT": 1}
END_CON_SENT = {"END_CON_CNP_TRIGGERED": 1, "END_CON_CNP_SENT": 1}
TO_HOSTS = ((REMOTE_V4, HOST_V4), (REMOTE_V6, HOST_V6))
VNI, KEY, VPN_LABEL = 0xABC, 0xBEEF, 0xFFF0


def tunnels(inner: bytes, src: str = REMOTE_PE) -> dict[str, bytes]:
    """A customer's packet in every tunnel that ends at this PE."""
    fields: IpFields = {"flow_label": LABEL, "traffic_class": Ecn.ECT0}
    sids = (PE_RED_SID, "fc00:0:1::2", "fc00:0:1::3", "fc00:0:1::4")
    overlay = vxlan(
        inner,
        src,
        PE_ADDRESS,
        VNI,
        inner_src_mac="02:aa:00:00:00:01",
        inner_dst_mac="02:aa:00:00:00:02",
        sport=0xC123,
        **fields,
    )
    return {
        "SRv6": srv6(inner, src, PE_RED_SID, **fields),
        **{
            f"SRv6, {count} segments": srv6(inner, src, PE_RED_SID, sids[:count], 0, **fields)
            for count in range(1, len(sids) + 1)
        },
        "VXLAN": overlay,
        "GRE": gre(inner, src, PE_ADDRESS, KEY, **fields),
        "MPLS": mpls_udp(inner, src, PE_ADDRESS, (VPN_LABEL,), sport=0xC124, **fields),
    }


def arriving(
    inner: bytes, *, label: int = LABEL, ecn: int = Ecn.ECT0, src: str = REMOTE_PE
) -> bytes:
    """The frame from the WAN."""
    return core_frame_in(srv6(inner, src, PE_RED_SID, flow_label=label, traffic_class=ecn))


def notice(label: int = LABEL, level: int = LEVEL, *, flow_label: int = 0) -> bytes:
    """The Fast CNP towards the ingress PE."""
    return core_frame_out(
        fast_cnp(
            PE_ADDRESS, REMOTE_PE, label, level, traffic_class=TRAFFIC_CLASS, flow_label=flow_label
        )
    )


class EgressPeTest(NotificationTest):
    """Every packet towards a host behind DC_PORT passes a queue at congestion level `level`."""

    level = LEVEL
    interval_us = 0
    mark = Ecn.NOT_ECT

    def configure(self) -> None:
        """Fast CNPs for ingress PEs, tunnels of all types, the congested port."""
        super().configure()
        pe, types = self.pe, self.enum("TunnelType")
        pe.tunnel_vrf(types["VXLAN"], VNI, RED)
        pe.tunnel_vrf(types["GRE"], KEY, RED)
        pe.tunnel_vrf(types["MPLS_UDP"], VPN_LABEL, RED)
        self.configure_feature()
        pe.queue_level(DC_PORT, self.level)
        pe.level_policy(self.level, mark=self.mark, notify=True, interval_us=self.interval_us)

    def configure_feature(self) -> None:
        """Fast CNPs on, label not copied."""
        self.pe.enable_fast_cnp(PE_ADDRESS, traffic_class=TRAFFIC_CLASS, translates="FAST_CNP")

    def tells(
        self, inner: bytes, frame: bytes, told: bytes, events: Mapping[str, int] = SENT
    ) -> None:
        """The packet reaches its host, and the ingress PE is told by this frame."""
        delivered = host_frame_out(routed(inner))
        self.check(
            CORE_PORT, frame, expect={DC_PORT: [delivered], CORE_PORT: [told]}, events=events
        )

    def tells_nobody(
        self, inner: bytes, frame: bytes, events: Mapping[str, int] | None = None
    ) -> None:
        """The packet reaches its host, and that is all."""
        expect = {DC_PORT: [host_frame_out(routed(inner))]}
        self.check(CORE_PORT, frame, expect=expect, events=events)


class IngressPeIsTold(EgressPeTest):
    """FCN-18, FCN-9: every octet, whatever the tunnel, IPv4 and IPv6; valid checksums."""

    def runTest(self) -> None:
        self.assertTrue(udp_checksum_valid(datagram_of(notice())))
        for remote, host in TO_HOSTS:
            inner = roce(remote, host, DEST_QP)
            for name, datagram in tunnels(inner).items():
                with self.subTest(tunnel=name, host=host):
                    self.tells(inner, core_frame_in(datagram), notice())


class PacketsOfAllSizes(EgressPeTest):
    """FCN-18: payload and customer's headers leave no octet behind."""

    def runTest(self) -> None:
        for remote, host in TO_HOSTS:
            for payload in (0, 4, 16, 100, 1024, 4096, 8192):
                with self.subTest(host=host, payload=payload):
                    inner = roce(remote, host, DEST_QP, payload=bytes(payload))
                    self.tells(inner, arriving(inner), notice())


class WhateverTheCustomerSends(EgressPeTest):
    """FCN-18, FCN-8: as at a P the label decides, not what is in the tunnel: connection set-up, a
    datagram that looks like a Fast CNP, fragments."""

    def runTest(self) -> None:
        for inner in (
            roce(REMOTE_V4, HOST_V4, 1, opcode=Opcode.UD_SEND_ONLY, payload=bytes(264)),
            udp(REMOTE_V6, HOST_V6, 7, 1021, payload=bytes(4), traffic_class=Ecn.ECT0),
            roce(REMOTE_V4, HOST_V4, DEST_QP, flags="MF"),
            roce(REMOTE_V4, HOST_V4, DEST_QP, opcode=Opcode.CNP, payload=CNP_RESERVED),
        ):
            with self.subTest(inner=inner.hex()):
                self.tells(inner, arriving(inner), notice())


class OtherPortsOfTheCustomer(EgressPeTest):
    """FCN-18: a host in a VLAN: the copy loses the tag. Its VRF makes no difference."""

    def runTest(self) -> None:
        for remote, host in TO_HOSTS:
            inner = roce(remote, host, DEST_QP)
            frame = core_frame_in(
                srv6(inner, REMOTE_PE, PE_BLUE_SID, flow_label=LABEL, traffic_class=Ecn.ECT0)
            )
            delivered = host_frame_out(routed(inner), vlan=BLUE_VLAN, host_mac=BLUE_HOST_MAC)
            expect = {DC_PORT: [delivered], CORE_PORT: [notice()]}
            self.check(CORE_PORT, frame, expect=expect, events=SENT)


class OnlyLabelledEcnCapablePackets(EgressPeTest):
    """FCN-8: the outer ECN field and the outer label decide, as they arrived."""

    def runTest(self) -> None:
        for ecn in (Ecn.ECT1, Ecn.ECT0):
            inner = roce(REMOTE_V4, HOST_V4, DEST_QP, ecn=ecn)
            self.tells(inner, arriving(inner, ecn=ecn), notice())
        marked = with_ecn(routed(inner), Ecn.CE)
        self.check(
            CORE_PORT,
            arriving(inner, ecn=Ecn.CE),
            expect={DC_PORT: [host_frame_out(marked)], CORE_PORT: [notice()]},
            events=SENT,
        )
        self.tells_nobody(inner, arriving(inner, ecn=Ecn.NOT_ECT))
        for label in (0, 0x7FFFF):
            self.tells_nobody(inner, arriving(inner, label=label))


class CeIsMarkedAsWell(EgressPeTest):
    """FCN-18, SRF-3: the receiver's own loop keeps working."""

    mark = Ecn.CE

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        expect = {
            DC_PORT: [host_frame_out(with_ecn(routed(inner), Ecn.CE))],
            CORE_PORT: [notice()],
        }
        self.check(CORE_PORT, arriving(inner), expect=expect, events=SENT | {"CE_MARKED": 1})


class ProfileIsConfiguration(EgressPeTest):
    """FCN-9: UDP ports, traffic class, hop limit and the label in the IPv6 header."""

    def runTest(self) -> None:
        self.pe.enable_fast_cnp(
            PE_ADDRESS,
            udp_src_port=0xD001,
            udp_dst_port=4000,
            traffic_class=0x28,
            hop_limit=9,
            copy_label=True,
        )
        inner = roce(REMOTE_V6, HOST_V6, DEST_QP)
        told = fast_cnp(
            PE_ADDRESS, REMOTE_PE, LABEL, self.level, sport=0xD001, dport=4000, ttl=9,
            traffic_class=0x28, flow_label=LABEL,
        )  # fmt: skip
        self.tells(inner, arriving(inner), core_frame_out(told))


class RoutedLikeAnyPacket(EgressPeTest):
    """FCN-9: the Fast CNP takes the route to the ingress PE; without one it is counted."""

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        delivered = {DC_PORT: [host_frame_out(routed(inner))]}
        nowhere = {"FAST_CNP_TRIGGERED": 1, "FAST_CNP_SENT": 1}
        frame = arriving(inner, src="2001:db8::1")
        self.check(CORE_PORT, frame, expect=delivered, drops={"NO_ROUTE": 1}, events=nowhere)
        self.pe.underlay("fc00:0:7::/48", (CORE_PORT_2, NODE_MAC[CORE_PORT_2], "02:c0:00:00:00:77"))
        outcome = self.exchange(CORE_PORT, arriving(inner, src="fc00:0:7::1"))
        (frame,) = outcome.frames[CORE_PORT_2]
        told = fast_cnp(PE_ADDRESS, "fc00:0:7::1", LABEL, self.level, traffic_class=TRAFFIC_CLASS)
        self.assertEqual(datagram_of(frame), told)


class OneNoticePerFlowAndInterval(EgressPeTest):
    """FCN-11, FCN-15: a flow causes one per interval; another flow has its own."""

    interval_us = LONG_US

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        frames = [arriving(inner)] * FLOOD
        delivered = host_frame_out(routed(inner))
        events = SENT | {"FAST_CNP_INTERVAL_SUPPRESSED": FLOOD - 1}
        expect = {DC_PORT: [delivered] * FLOOD, CORE_PORT: [notice()]}
        self.check(CORE_PORT, *frames, expect=expect, events=events)
        self.tells(inner, arriving(inner, label=LABEL + 1), notice(LABEL + 1))


class NodeBudget(EgressPeTest):
    """FCN-15: notices of many flows do not exceed the limit; CNPs for own senders have theirs."""

    def runTest(self) -> None:
        self.pe.notice_meter(BUDGET)
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        before = self.counts()
        frames = [arriving(inner, label=label) for label in range(LABEL, LABEL + FLOOD)]
        outcome = self.exchange(CORE_PORT, *frames)
        sent = len(outcome.frames[CORE_PORT])
        self.assertEqual(len(outcome.frames[DC_PORT]), FLOOD)
        growth = self.growth(before)
        self.assertEqual(growth["event FAST_CNP_SENT"], sent)
        self.assertEqual(growth["event FAST_CNP_RATE_SUPPRESSED"], FLOOD - sent)
        self.assertLess(sent, FLOOD)
        self.pe.queue_level(CORE_PORT, self.level)
        own = roce(HOST_V4, REMOTE_V4, DEST_QP)
        outcome = self.exchange(DC_PORT, host_frame_in(own))
        self.assertIn(host_frame_out(cnp(REMOTE_V4, HOST_V4, SOURCE_QP)), outcome.frames[DC_PORT])


class OffByDefault(EgressPeTest):
    """FCN-16: nothing without the feature; FANTEL is about paths, and CNP about own senders."""

    def configure_feature(self) -> None:
        """None."""

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        for kind in ("NONE", "CNP", "FANTEL"):
            self.pe.domain_mode(kind)
            self.tells_nobody(inner, arriving(inner))


class NoCongestion(EgressPeTest):
    """FCN-18: queues that are not congested, and levels that do not notify."""

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        self.pe.delete_queue_level(DC_PORT)
        self.pe.queue_level(DC_PORT_2, self.level)
        self.tells_nobody(inner, arriving(inner))
        self.pe.queue_level(DC_PORT, self.level + 1)
        self.pe.level_policy(self.level + 1, notify=False)
        self.tells_nobody(inner, arriving(inner))


class NotificationsCauseNone(EgressPeTest):
    """ALL-1: neither a CNP made here for a sender behind the congested port, nor a Fast CNP in a
    congested queue of the core, causes another."""

    def runTest(self) -> None:
        self.pe.queue_level(CORE_PORT, self.level)
        told = core_frame_in(fast_cnp(REMOTE_PE, PE_ADDRESS, LABEL_V4, 3))
        self.check(
            CORE_PORT,
            told,
            expect={DC_PORT: [host_frame_out(cnp(REMOTE_V4, HOST_V4, SOURCE_QP))]},
            events={"FAST_CNP_RECEIVED": 1, "CNP_SENT": 1},
        )
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        self.tells(inner, arriving(inner), notice())


class LocalSwitching(EgressPeTest):
    """FCN-18: between two ports of a VRF there is no tunnel and no label: nobody is told."""

    def runTest(self) -> None:
        inner = roce("10.1.1.20", HOST_V4, DEST_QP)
        frame = host_frame_in(inner, port=DC_PORT_2)
        expect = {DC_PORT: [host_frame_out(routed(inner))]}
        self.check(DC_PORT_2, frame, expect=expect)


class IngressPeOfOthers(EgressPeTest):
    """FCN-12, FCN-18: a PE is both: its own senders get CNPs, of the same level and interval."""

    def runTest(self) -> None:
        self.pe.queue_level(CORE_PORT, self.level)
        before = self.counts()
        outcome = self.exchange(DC_PORT, host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP)))
        told = host_frame_out(cnp(REMOTE_V4, HOST_V4, SOURCE_QP))
        self.assertEqual(outcome.frames[DC_PORT], [told])
        events = {"CNP_TRIGGERED": 1, "OWN_CONGESTION": 1, "CNP_SENT": 1}
        self.assertEqual(self.growth(before), {f"event {name}": n for name, n in events.items()})


class TwoThresholds(EgressPeTest):
    """PEC-2: light congestion is level 1; it marks no customer's packet."""

    level = 1

    def runTest(self) -> None:
        self.pe.treat_light_congestion(LONG_US)
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        self.tells(inner, arriving(inner), notice(level=1))


class EndConOfAnEgressPe(EgressPeTest):
    """SRF-4, FCN-18: the CNP for the sender, every octet, whatever the tunnel."""

    def configure_feature(self) -> None:
        """CNPs to END.CON in place of Fast CNPs."""
        self.pe.enable_end_con(PE_ADDRESS, traffic_class=TRAFFIC_CLASS)

    def told(self, remote: str, host: str) -> bytes:
        """The frame towards the ingress PE's END.CON SID."""
        return core_frame_out(
            end_con_cnp(host, remote, DEST_QP, LABEL, sid=REMOTE_END_CON, source=PE_ADDRESS)
        )

    def runTest(self) -> None:
        for remote, host in TO_HOSTS:
            for payload in (0, 16, 1024, 8192):
                inner = roce(remote, host, DEST_QP, payload=bytes(payload))
                for name, datagram in tunnels(inner, REMOTE_END_CON).items():
                    with self.subTest(tunnel=name, host=host, payload=payload):
                        frame, told = core_frame_in(datagram), self.told(remote, host)
                        self.tells(inner, frame, told, END_CON_SENT)


class IngressPeTakesTheCnp(EndConOfAnEgressPe):
    """SRF-4: what an egress PE has sent, an ingress PE completes: the same switch plays both."""

    def runTest(self) -> None:
        notices = []
        for remote, host in TO_HOSTS:
            inner = roce(remote, host, DEST_QP)
            frame = arriving(inner, src=REMOTE_END_CON)
            (sent,) = self.exchange(CORE_PORT, frame).frames[CORE_PORT]
            notices.append(datagram_of(sent))
        pe = self.pe
        pe.enable_cnp(translates="END_CON_CNP")
        pe.end_con_sid(REMOTE_END_CON, BLUE)
        for (remote, host), sent in zip(TO_HOSTS, notices, strict=True):
            self.route_to_host(
                BLUE, f"{remote}/{128 if ':' in remote else 32}", DC_PORT_2, BLUE_HOST_MAC
            )
            pe.label_to_cnp(LABEL, BLUE, host, remote, SOURCE_QP)
            told = host_frame_out(
                cnp(host, remote, SOURCE_QP), port=DC_PORT_2, host_mac=BLUE_HOST_MAC
            )
            self.check(
                CORE_PORT,
                core_frame_in(sent),
                expect={DC_PORT_2: [told]},
                events={"END_CON_CNP_RECEIVED": 1, "CNP_SENT": 1},
            )
            pe.delete_label(LABEL, 6 if ":" in host else 4)


class NoSenderToTell(EndConOfAnEgressPe):
    """SRF-4: what is no RoCEv2 packet, or a CNP, is counted, and nobody is told."""

    def runTest(self) -> None:
        for inner in (
            udp(REMOTE_V4, HOST_V4, 1, 2, traffic_class=Ecn.ECT0),
            roce(REMOTE_V4, HOST_V4, DEST_QP, opcode=Opcode.CNP, payload=CNP_RESERVED),
            roce(REMOTE_V6, HOST_V6, DEST_QP, opcode=Opcode.CNP, payload=CNP_RESERVED),
            roce(REMOTE_V4, HOST_V4, DEST_QP, flags="MF"),
        ):
            with self.subTest(inner=inner.hex()):
                frame = arriving(inner, src=REMOTE_END_CON)
                self.tells_nobody(inner, frame, {"INNER_OPAQUE": 1})


class BesideFlowControl(PeFlowControlTest):
    """ALL-1, ALL-2: where neighbours hold services, the ingress PE is told all the same, and nobody
    holds or names what tells it; a held priority does not hold it."""

    def configure(self) -> None:
        """Both are on; core and data centre are congested beyond all thresholds."""
        super().configure()
        pe = self.pe
        pe.notification_port()
        pe.enable_cnp()
        pe.enable_fast_cnp(PE_ADDRESS, traffic_class=TRAFFIC_CLASS)
        for port in (DC_PORT, CORE_PORT):
            pe.queue_level(port, LEVEL)
        pe.hold_level(CORE_PORT, "CONGESTED")
        pe.level_policy(LEVEL, mark=Ecn.NOT_ECT, notify=True, interval_us=0)
        pe.dc_relief(DC_PORT, "PAUSE", refresh_us=0, mac=NODE_MAC[DC_PORT], quanta=QUANTA)

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        frame = core_frame_in(
            srv6(inner, REMOTE_PE, PE_RED_SID, flow_label=LABEL, traffic_class=Ecn.ECT0)
        )
        expect = {DC_PORT: [host_frame_out(routed(inner))], CORE_PORT: [notice()]}
        self.check(CORE_PORT, frame, expect=expect, events=SENT)


class BesideFlowControlOfFlows(BesideFlowControl):
    """ALL-1, ALL-2: where they hold single flows."""

    mode = "FLOW"


class BesideFlowControlOfPriorities(BesideFlowControl):
    """ALL-1, ALL-2: where they hold a priority."""

    mode = "PRIORITY"


class HeldPriorities(BesideFlowControlOfPriorities):
    """ALL-1: the Fast CNP leaves while its own priority is held."""

    def runTest(self) -> None:
        self.hold_own_priority()
        super().runTest()

    def hold_own_priority(self) -> None:
        """That of TRAFFIC_CLASS."""
        self.check(
            CORE_PORT,
            from_p(priority_arn(priority=TRAFFIC_CLASS >> 5)),
            events={"ARN_RECEIVED": 1, "HOLD_BEGUN": 1},
        )


class BesideRelief(BesideFlowControl):
    """ALL-2, FCN-12, SRF-8: what goes the other way pauses its data centre and tells its sender,
    as if nothing else were."""

    def runTest(self) -> None:
        before = self.counts()
        outcome = self.exchange(DC_PORT, host_frame_in(customer(1)))
        told = host_frame_out(cnp(REMOTE_V4, HOST_V4, SOURCE_QP))
        self.assertCountEqual(outcome.frames[DC_PORT], [told, pause(QUANTA)])
        self.assertEqual(outcome.frames[CORE_PORT], [leaving(1)])
        kinds = ("CNP_TRIGGERED", "CNP_SENT", "OWN_CONGESTION", "PAUSE_TRIGGERED", "PAUSE_SENT")
        self.assertEqual(self.growth(before), {f"event {name}": 1 for name in kinds})
