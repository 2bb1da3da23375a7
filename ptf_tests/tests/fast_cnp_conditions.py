"""Conditions for notification and marking at a P (FCN-8, FCN-10, FCN-11, FCN-16, SRF-3)."""

from scapy.layers.inet6 import ICMPv6EchoRequest

from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    P_ADDRESS,
    PE_ADDRESS,
    REMOTE_PE,
    REMOTE_V4,
    core_frame_in,
    core_frame_out,
)
from fcn.ptf_tests.lib.congestion import (
    LABEL,
    SENT,
    CongestedPTest,
    from_ingress_pe,
    notice,
    tunnelled,
)
from fcn.ptf_tests.lib.packets import (
    Ecn,
    datagram_of,
    ecn_of,
    fast_cnp,
    ip,
    roce,
    routed,
    srv6,
    with_ecn,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT


class OnlyEcnCapablePackets(CongestedPTest):
    """FCN-8: Not-ECT under congestion causes no Fast CNP; ECT(0), ECT(1) and CE do."""

    def runTest(self) -> None:
        for ecn in Ecn:
            with self.subTest(ecn=ecn.name):
                datagram = tunnelled(ecn=ecn)
                capable = ecn != Ecn.NOT_ECT
                self.check(
                    DC_PORT,
                    from_ingress_pe(datagram),
                    expect={CORE_PORT: [core_frame_out(routed(datagram))]}
                    | ({DC_PORT: [notice(LABEL, self.level)]} if capable else {}),
                    events=SENT if capable else {},
                )


class OnlyFcnLabels(CongestedPTest):
    """FCN-8, FCN-2: label 0 and entropy labels, top bit clear, cause no Fast CNP."""

    def runTest(self) -> None:
        datagrams = [tunnelled(label) for label in (0, 1, 0x12345, 0x7FFFF)]
        self.check(
            DC_PORT,
            *(from_ingress_pe(datagram) for datagram in datagrams),
            expect={CORE_PORT: [core_frame_out(routed(datagram)) for datagram in datagrams]},
        )


class NotificationsCauseNoNotification(CongestedPTest):
    """FCN-8: a Fast CNP in a congested queue causes no other, even if ECN-capable and labelled."""

    def runTest(self) -> None:
        for ecn in Ecn:
            datagram = fast_cnp(
                "fc00:0:20::1", REMOTE_PE, LABEL, 7, flow_label=LABEL, traffic_class=ecn
            )
            self.check_forwarded(datagram)


class OwnNotificationMeetsCongestion(CongestedPTest):
    """FCN-8: the reverse path is congested too; the node's own Fast CNP causes no other."""

    def runTest(self) -> None:
        self.p.queue_level(DC_PORT, self.level)
        self.check_forwarded(tunnelled(), back=[notice(LABEL, self.level)], events=SENT)


class LabelledIcmpv6(CongestedPTest):
    """FCN-9: the notification is well-formed for a labelled packet of another protocol."""

    def runTest(self) -> None:
        datagram = ip(
            PE_ADDRESS,
            REMOTE_PE,
            ICMPv6EchoRequest(data=b"x" * 64),
            flow_label=LABEL,
            traffic_class=Ecn.ECT0,
        )
        self.check_forwarded(datagram, back=[notice(LABEL, self.level)], events=SENT)


class DisabledByDefault(CongestedPTest):
    """FCN-16: without configuration a congested P sends no Fast CNP."""

    def configure_feature(self) -> None:
        """Nothing."""

    def runTest(self) -> None:
        datagram = tunnelled()
        self.check_forwarded(datagram)


class SwitchedOffAgain(CongestedPTest):
    """FCN-16: notification is enabled and disabled per node at run time."""

    def runTest(self) -> None:
        frame = from_ingress_pe(tunnelled())
        self.assertIn(DC_PORT, self.exchange(DC_PORT, frame).frames)
        self.p.domain_mode()
        self.assertNotIn(DC_PORT, self.exchange(DC_PORT, frame).frames)
        self.p.enable_fast_cnp(P_ADDRESS)
        self.assertIn(DC_PORT, self.exchange(DC_PORT, frame).frames)


class LevelWithoutNotification(CongestedPTest):
    """FCN-11: a level whose policy does not notify causes no Fast CNP."""

    notify = False

    def runTest(self) -> None:
        datagram = tunnelled()
        self.check_forwarded(datagram)


class LevelsArePerPort(CongestedPTest):
    """FCN-10: congestion of a port does not affect other ports."""

    def runTest(self) -> None:
        datagram = srv6(
            roce(HOST_V4, REMOTE_V4, 7),
            PE_ADDRESS,
            "fc00:0:20::1",
            flow_label=LABEL,
            traffic_class=Ecn.ECT0,
        )
        self.check(
            DC_PORT,
            from_ingress_pe(datagram),
            expect={CORE_PORT_2: [core_frame_out(routed(datagram), CORE_PORT_2)]},
        )


class LevelsAreByDepth(CongestedPTest):
    """FCN-10: the level follows from the depth: an empty queue does not match deeper ranges."""

    def runTest(self) -> None:
        self.p.delete_queue_level(CORE_PORT)
        self.p.queue_level(CORE_PORT, 7, (1000, 2000))
        frame = from_ingress_pe(tunnelled())
        self.assertNotIn(DC_PORT, self.exchange(DC_PORT, frame).frames)
        self.p.queue_level(CORE_PORT, self.level, (0, 999))
        outcome = self.exchange(DC_PORT, frame)
        self.assertEqual(outcome.frames[DC_PORT], [notice(LABEL, self.level)])


class WorseCongestionNotifiesMoreOften(CongestedPTest):
    """FCN-11: each level has its interval: level 7 notifies every packet, level 1 the first."""

    level = 1
    interval_us = 60_000_000
    PACKETS = 48

    def runTest(self) -> None:
        self.p.level_policy(7, mark=Ecn.NOT_ECT, notify=True, interval_us=0)
        frames = [from_ingress_pe(tunnelled())] * self.PACKETS
        low = self.exchange(DC_PORT, *frames).frames[DC_PORT]
        self.assertEqual(low, [notice(LABEL, 1)])
        self.p.delete_queue_level(CORE_PORT)
        self.p.queue_level(CORE_PORT, 7)
        high = self.exchange(DC_PORT, *frames).frames[DC_PORT]
        self.assertEqual(high, [notice(LABEL, 7)] * self.PACKETS)


class FlowsHaveTheirOwnIntervals(CongestedPTest):
    """FCN-11: the interval of one flow does not suppress notifications of another."""

    interval_us = 60_000_000

    def runTest(self) -> None:
        labels = [0x80001 + i for i in range(32)]
        frames = [from_ingress_pe(tunnelled(label)) for label in labels]
        notices = self.exchange(DC_PORT, *frames, *frames).frames[DC_PORT]
        self.assertEqual(notices, [notice(label, self.level) for label in labels])


class CeIsMarked(CongestedPTest):
    """SRF-3: under congestion ECT(0) and ECT(1) of the outer header become CE; Not-ECT stays."""

    mark = Ecn.CE
    notify = False

    def runTest(self) -> None:
        for label in (LABEL, 0x12345, 0):
            for ecn in Ecn:
                with self.subTest(label=hex(label), ecn=ecn.name):
                    datagram = tunnelled(label, ecn)
                    marks = ecn in (Ecn.ECT0, Ecn.ECT1)
                    after = with_ecn(routed(datagram), Ecn.CE) if marks else routed(datagram)
                    self.check_forwarded(datagram, after, events={"CE_MARKED": 1} if marks else {})


class CeMarkingKeepsTheDscp(CongestedPTest):
    """SRF-3: marking changes the two ECN bits only."""

    mark = Ecn.CE
    notify = False

    def runTest(self) -> None:
        inner = roce(HOST_V4, REMOTE_V4, 7)
        for dscp in (0, 1, 46, 63):
            datagram = srv6(inner, PE_ADDRESS, REMOTE_PE, traffic_class=dscp << 2 | Ecn.ECT1)
            (frame,) = self.exchange(DC_PORT, from_ingress_pe(datagram)).frames[CORE_PORT]
            self.assertEqual(frame, core_frame_out(with_ecn(routed(datagram), Ecn.CE)))
            self.assertEqual(ecn_of(datagram_of(frame)), Ecn.CE)


class MarkingAndNotifying(CongestedPTest):
    """FCN-8, SRF-3: a level can do both: the packet is marked and forwarded, a Fast CNP sent."""

    mark = Ecn.CE

    def runTest(self) -> None:
        datagram = tunnelled()
        self.check_forwarded(
            datagram,
            with_ecn(routed(datagram), Ecn.CE),
            back=[notice(LABEL, self.level)],
            events=SENT | {"CE_MARKED": 1},
        )


class DroppedPacketsCauseNothing(CongestedPTest):
    """FCN-8: packets dropped before the queue cause no notification."""

    def runTest(self) -> None:
        expired = srv6(
            roce(HOST_V4, REMOTE_V4, 7),
            PE_ADDRESS,
            REMOTE_PE,
            flow_label=LABEL,
            traffic_class=Ecn.ECT0,
            ttl=1,
        )
        self.check(DC_PORT, core_frame_in(expired, DC_PORT), drops={"TTL_EXPIRED": 1})
