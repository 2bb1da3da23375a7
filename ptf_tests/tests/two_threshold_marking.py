"""Marking curves of the two-threshold mode at P and PE (PEC-1), and what they leave alone."""

from fcn.contract.profiles import Mode
from fcn.ptf_tests.lib.beds import HOST_V4, PE_ADDRESS, REMOTE_RED_SID, REMOTE_V4
from fcn.ptf_tests.lib.congestion import (
    LABEL,
    SENT,
    CongestedPTest,
    from_ingress_pe,
    notice,
    tunnelled,
)
from fcn.ptf_tests.lib.notifications import DEST_QP, LABEL_V4, NotificationTest
from fcn.ptf_tests.lib.packets import Ecn, datagram_of, ecn_of, roce, routed, srv6, with_ecn
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT

CERTAIN = 0xFFFF
HALF = 0x7FFF
LIGHT, HEAVY = 1, 7

MARKED = {Ecn.ECT1: {Ecn.ECT0: Ecn.ECT1}, Ecn.CE: {Ecn.ECT0: Ecn.CE, Ecn.ECT1: Ecn.CE}}
"""By the codepoint of the curve: what packets become; others stay as they are."""


class CurveTest(CongestedPTest):
    """A P whose levels do not mark, as in the two-threshold mode."""

    needs = frozenset({Mode.TWO_THRESHOLD})

    level = LIGHT

    def configure_feature(self) -> None:
        """Nothing is sent: these tests look at marks."""


class OnlyTheRightPacketsAreMarked(CurveTest):
    """PEC-1: ECT(1) is set on ECT(0) only, CE on ECT(0) and ECT(1); Not-ECT and CE stay."""

    def runTest(self) -> None:
        for codepoint, becomes in MARKED.items():
            self.p.marking_curve(CORE_PORT, codepoint, CERTAIN)
            for ecn in Ecn:
                with self.subTest(curve=codepoint.name, packet=ecn.name):
                    datagram = tunnelled(ecn=ecn)
                    after = routed(with_ecn(datagram, becomes.get(ecn, ecn)))
                    self.check_forwarded(
                        datagram,
                        after,
                        events={f"{codepoint.name}_MARKED": 1} if ecn in becomes else {},
                    )
            self.p.delete_marking_curve(CORE_PORT)


class HalfOfThePacketsAreMarked(CurveTest):
    """PEC-1: the draw is fair. Of 480 packets at probability 1/2, between 170 and 310 are marked:
    6.4 standard deviations, wrong once in 10^9 runs."""

    def runTest(self) -> None:
        self.p.marking_curve(CORE_PORT, Ecn.CE, HALF)
        frames = [from_ingress_pe(tunnelled(ecn=Ecn.ECT0))] * 480
        sent = self.exchange(DC_PORT, *frames).frames[CORE_PORT]
        self.assertEqual(len(sent), len(frames))
        marked = sum(ecn_of(datagram_of(frame)) == Ecn.CE for frame in sent)
        self.assertTrue(170 <= marked <= 310, f"{marked} of {len(frames)} packets are marked")


class NeverIsNever(CurveTest):
    """PEC-1: at probability 1/65536 hardly a packet is marked: of 64, none but once in 1000 runs,
    and never two."""

    def runTest(self) -> None:
        self.p.marking_curve(CORE_PORT, Ecn.CE, 0)
        sent = self.exchange(DC_PORT, *[from_ingress_pe(tunnelled())] * 64).frames[CORE_PORT]
        self.assertLessEqual(sum(ecn_of(datagram_of(frame)) == Ecn.CE for frame in sent), 1)


class OtherQueuesAreNotMarked(CurveTest):
    """PEC-1: a curve is that of one port, and of the depths it names."""

    def runTest(self) -> None:
        self.p.marking_curve(CORE_PORT_2, Ecn.CE, CERTAIN)
        self.p.marking_curve(CORE_PORT, Ecn.CE, CERTAIN, (5000, 6000))
        datagram = tunnelled()
        self.check_forwarded(datagram)


class LevelSaysWhichThreshold(CongestedPTest):
    """PEC-2: the Fast CNP says light or heavy, whether the packet itself was marked or not."""

    needs = frozenset({Mode.TWO_THRESHOLD})

    def runTest(self) -> None:
        self.p.delete_queue_level(CORE_PORT)
        for level, codepoint in ((LIGHT, Ecn.ECT1), (HEAVY, Ecn.CE)):
            self.p.queue_level(CORE_PORT, level)
            self.p.level_policy(level, notify=True)
            for curve in (False, True):
                with self.subTest(level=level, curve=curve):
                    if curve:
                        self.p.marking_curve(CORE_PORT, codepoint, CERTAIN)
                    after = with_ecn(tunnelled(), codepoint) if curve else tunnelled()
                    self.check_forwarded(
                        tunnelled(),
                        routed(after),
                        back=[notice(LABEL, level)],
                        events=SENT | ({f"{codepoint.name}_MARKED": 1} if curve else {}),
                    )
            self.p.delete_marking_curve(CORE_PORT)
            self.p.delete_queue_level(CORE_PORT)


class IngressPeMarksToo(NotificationTest):
    """PEC-1, PEC-3: a PE marks the outer header of its own queue; the inner one stays."""

    needs = frozenset({Mode.TWO_THRESHOLD})

    def runTest(self) -> None:
        datagram = roce(HOST_V4, REMOTE_V4, DEST_QP)
        for codepoint in MARKED:
            self.pe.marking_curve(CORE_PORT, codepoint, CERTAIN)
            outer = srv6(
                routed(datagram),
                PE_ADDRESS,
                REMOTE_RED_SID,
                flow_label=LABEL_V4,
                traffic_class=codepoint,
            )
            self.check_into_wan(datagram, outer, events={f"{codepoint.name}_MARKED": 1})
            self.pe.delete_marking_curve(CORE_PORT)
