"""An egress PE with a congested port to a data centre tells the ingress PE as a P does (FCN-18)."""

from fcn.contract.profiles import Mode
from fcn.packets.roce import CNP_RESERVED, Opcode
from fcn.ptf_tests.lib.beds import (
    BLUE_HOST_MAC,
    BLUE_VLAN,
    HOST2_MAC,
    HOST2_V4,
    HOST_V4,
    HOST_V6,
    NODE_MAC,
    PE_ADDRESS,
    PE_BLUE_SID,
    RED,
    REMOTE_PE,
    REMOTE_V4,
    REMOTE_V6,
    TO_HOST,
    core_frame_in,
    core_frame_out,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.egress import (
    LABEL,
    LEVEL,
    SENT,
    TRAFFIC_CLASS,
    EgressPeTest,
    arriving,
    notice,
    tunnels,
)
from fcn.ptf_tests.lib.limits import BUDGET, FLOOD, LONG_US
from fcn.ptf_tests.lib.notifications import DEST_QP, LABEL_V4, SOURCE_QP
from fcn.ptf_tests.lib.packets import (
    Ecn,
    cnp,
    datagram_of,
    fast_cnp,
    roce,
    routed,
    srv6,
    udp,
    udp_checksum_valid,
    with_ecn,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT, DC_PORT_2


class IngressPeIsTold(EgressPeTest):
    """FCN-18, FCN-9: every octet, whatever the tunnel, IPv4 and IPv6; valid checksums."""

    def runTest(self) -> None:
        self.assertTrue(udp_checksum_valid(datagram_of(notice())))
        for remote, host in TO_HOST:
            inner = roce(remote, host, DEST_QP)
            for name, datagram in tunnels(inner).items():
                with self.subTest(tunnel=name, host=host):
                    self.tells(inner, core_frame_in(datagram), notice())


class PacketsOfAllSizes(EgressPeTest):
    """FCN-18: payload and customer's headers leave no octet behind."""

    def runTest(self) -> None:
        for remote, host in TO_HOST:
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
        for remote, host in TO_HOST:
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
        expect = {DC_PORT: [host_frame_out(with_ecn(routed(inner), Ecn.CE))], CORE_PORT: [notice()]}
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
        inner = roce(HOST2_V4, HOST_V4, DEST_QP)
        frame = host_frame_in(inner, port=DC_PORT_2)
        expect = {DC_PORT: [host_frame_out(routed(inner))]}
        self.check(DC_PORT_2, frame, expect=expect)


class TunnelThatComesBack(EgressPeTest):
    """FCN-12, FCN-13: where ingress and egress PE are one (`fcn check` refuses such tunnels), what
    it tells itself comes by the WAN as the packet did, and becomes one CNP for its own sender."""

    def runTest(self) -> None:
        inner = roce(HOST2_V4, HOST_V4, DEST_QP)
        self.pe.delete_label(LABEL_V4, 4)
        self.pe.label_to_cnp(LABEL_V4, RED, HOST_V4, HOST2_V4, SOURCE_QP)
        told = fast_cnp(PE_ADDRESS, PE_ADDRESS, LABEL_V4, LEVEL, traffic_class=TRAFFIC_CLASS)
        frame = arriving(inner, label=LABEL_V4, src=PE_ADDRESS)
        self.tells(inner, frame, core_frame_out(told))
        answer = host_frame_out(
            cnp(HOST_V4, HOST2_V4, SOURCE_QP), port=DC_PORT_2, host_mac=HOST2_MAC
        )
        self.check(
            CORE_PORT,
            core_frame_in(routed(told)),
            expect={DC_PORT_2: [answer]},
            events={"FAST_CNP_RECEIVED": 1, "CNP_SENT": 1},
        )


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

    needs = frozenset({Mode.TWO_THRESHOLD})

    level = 1

    def runTest(self) -> None:
        self.pe.treat_light_congestion(LONG_US)
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        self.tells(inner, arriving(inner), notice(level=1))
