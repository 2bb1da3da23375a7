"""The provider edge in the two-threshold mode: tunnels, light and heavy congestion (PEC-2 to 5)."""

import time

from fcn.contract.ecn import TWO_THRESHOLD_RULES
from fcn.contract.profiles import Mode
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    HOST_V6,
    PE_ADDRESS,
    PE_RED_SID,
    RED,
    RED_TUNNEL,
    REMOTE_PE,
    REMOTE_RED_SID,
    REMOTE_V4,
    REMOTE_V6,
    TO_HOST,
    TO_REMOTE,
    PeTest,
    core_frame_in,
    core_frame_out,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.notifications import (
    DEST_QP,
    LABEL_V4,
    LABEL_V6,
    RECEIVED,
    NotificationTest,
    cnp_v4_frame,
    cnp_v6_frame,
    fast_cnp_frame,
)
from fcn.ptf_tests.lib.packets import Ecn, roce, routed, srv6, with_ecn
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

LIGHT, HEAVY = 1, 7
LONG_US = 600_000_000
"""Longer than any test."""

NEXT_TUNNEL = 9
NEXT_SID = "fc00:0:2:99::"

DROP = None
QUIET: dict[str, int] = {}
DANGEROUS = {"ECN_DANGEROUS_COMBINATION": 1}
LIGHT_CE = {"LIGHT_CE": 1}

DECAPSULATION = {
    (Ecn.NOT_ECT, Ecn.NOT_ECT): (Ecn.NOT_ECT, QUIET),
    (Ecn.NOT_ECT, Ecn.ECT0): (Ecn.NOT_ECT, DANGEROUS),
    (Ecn.NOT_ECT, Ecn.ECT1): (Ecn.NOT_ECT, DANGEROUS),
    (Ecn.NOT_ECT, Ecn.CE): (DROP, DANGEROUS),
    (Ecn.ECT0, Ecn.NOT_ECT): (Ecn.ECT0, QUIET),
    (Ecn.ECT0, Ecn.ECT0): (Ecn.ECT0, QUIET),
    (Ecn.ECT0, Ecn.ECT1): (Ecn.ECT0, LIGHT_CE),
    (Ecn.ECT0, Ecn.CE): (Ecn.CE, QUIET),
    (Ecn.ECT1, Ecn.NOT_ECT): (Ecn.ECT1, QUIET),
    (Ecn.ECT1, Ecn.ECT0): (Ecn.ECT1, QUIET),
    (Ecn.ECT1, Ecn.ECT1): (Ecn.ECT1, LIGHT_CE),
    (Ecn.ECT1, Ecn.CE): (Ecn.CE, QUIET),
    (Ecn.CE, Ecn.NOT_ECT): (Ecn.CE, QUIET),
    (Ecn.CE, Ecn.ECT0): (Ecn.CE, QUIET),
    (Ecn.CE, Ecn.ECT1): (Ecn.CE, DANGEROUS),
    (Ecn.CE, Ecn.CE): (Ecn.CE, QUIET),
}
"""Figure 2 of the draft: (inner, outer) to the outgoing ECN field and the event."""


class TwoThresholdDecapsulation(PeTest):
    """PEC-5, PEC-4: all 16 cells; light CE leaves the inner codepoint and is counted, CE reaches
    the receiver."""

    def runTest(self) -> None:
        for rule in TWO_THRESHOLD_RULES:
            self.pe.delete("decap_ecn", match={"inner_ecn": rule.inner, "outer_ecn": rule.outer})
        self.pe.decap_rules(TWO_THRESHOLD_RULES)
        self.assertEqual(len(DECAPSULATION), 16)
        for (inner, outer_ecn), (result, events) in DECAPSULATION.items():
            for remote, host in TO_HOST:
                with self.subTest(inner=inner.name, outer=outer_ecn.name, host=host):
                    datagram = roce(remote, host, DEST_QP, ecn=inner)
                    outer = srv6(datagram, REMOTE_PE, PE_RED_SID, traffic_class=outer_ecn)
                    expect = {}
                    if result is not DROP:
                        after = host_frame_out(with_ecn(routed(datagram), result))
                        expect = {DC_PORT: [after]}
                    self.check(
                        CORE_PORT,
                        core_frame_in(outer),
                        expect=expect,
                        drops={} if expect else {"ECN_NOT_ECT_CE": 1},
                        events=events,
                    )


class TwoThresholdEncapsulation(PeTest):
    """PEC-5: outside, ECT(1) of a sender is ECT(0), so that nobody takes it for light congestion;
    the inner header keeps it."""

    def configure_red_tunnel(self) -> None:
        """A tunnel of the two-threshold mode."""
        mode = self.enum("EcnEncapMode")["TWO_THRESHOLD"]
        self.pe.tunnel(RED_TUNNEL, "encap_srv6", ecn_mode=mode, src=PE_ADDRESS, dst=REMOTE_RED_SID)

    def runTest(self) -> None:
        for host, remote in TO_REMOTE:
            self.pe.flow(RED, host, remote, DEST_QP, LABEL_V4)
            for ecn in Ecn:
                with self.subTest(remote=remote, ecn=ecn.name):
                    datagram = roce(host, remote, DEST_QP, ecn=ecn)
                    outer = srv6(
                        routed(datagram),
                        PE_ADDRESS,
                        REMOTE_RED_SID,
                        flow_label=LABEL_V4,
                        traffic_class=Ecn.ECT0 if ecn is Ecn.ECT1 else ecn,
                    )
                    self.check_into_wan(datagram, outer)


class LightCongestionTest(NotificationTest):
    """A PE that treats lightly congested flows for `hold_us` microseconds."""

    needs = frozenset({Mode.TWO_THRESHOLD})

    hold_us = LONG_US

    def configure(self) -> None:
        """The hold, a second tunnel, and what the test does with flows."""
        super().configure()
        self.pe.treat_light_congestion(self.hold_us)
        self.pe.tunnel(NEXT_TUNNEL, "encap_srv6", src=PE_ADDRESS, dst=NEXT_SID)
        self.configure_treatment()

    def configure_treatment(self) -> None:
        """Flows of RED's tunnel are rerouted."""
        self.pe.reroute(RED_TUNNEL, NEXT_TUNNEL)

    def told(self, label: int = LABEL_V4) -> None:
        """Tell the PE of light congestion; nobody else hears of it."""
        self.check(
            CORE_PORT, fast_cnp_frame(label, LIGHT), events=RECEIVED | {"LIGHT_CONGESTION": 1}
        )

    @staticmethod
    def sent(label: int = LABEL_V4, sid: str = REMOTE_RED_SID, ecn: int = Ecn.ECT0) -> bytes:
        """The flow's packet as it leaves."""
        source, remote = (HOST_V4, REMOTE_V4) if label == LABEL_V4 else (HOST_V6, REMOTE_V6)
        datagram = routed(roce(source, remote, DEST_QP))
        return core_frame_out(srv6(datagram, PE_ADDRESS, sid, flow_label=label, traffic_class=ecn))


PACKET_V4 = host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP))
PACKET_V6 = host_frame_in(roce(HOST_V6, REMOTE_V6, DEST_QP))


class LightCongestionReroutesTheFlow(LightCongestionTest):
    """PEC-3: that flow, and no other, takes the next tunnel; its inner packet is the same and its
    sender hears nothing."""

    def runTest(self) -> None:
        self.check(DC_PORT, PACKET_V4, expect={CORE_PORT: [self.sent()]})
        self.told()
        for _ in range(2):
            self.check(
                DC_PORT,
                PACKET_V4,
                expect={CORE_PORT: [self.sent(sid=NEXT_SID)]},
                events={"REROUTED": 1},
            )
        self.check(DC_PORT, PACKET_V6, expect={CORE_PORT: [self.sent(LABEL_V6)]})
        self.told(LABEL_V6)
        self.check(
            DC_PORT,
            PACKET_V6,
            expect={CORE_PORT: [self.sent(LABEL_V6, NEXT_SID)]},
            events={"REROUTED": 1},
        )


class LightCongestionSlowsTheFlow(LightCongestionTest):
    """PEC-3: three packets are within the rate, others of the flow are dropped and counted; other
    flows are not."""

    def configure_treatment(self) -> None:
        """A packet in 10 minutes, three at a time."""
        self.pe.slow(RED_TUNNEL, interval_us=LONG_US, burst=3)

    def runTest(self) -> None:
        self.check(DC_PORT, *[PACKET_V4] * 5, expect={CORE_PORT: [self.sent()] * 5})
        self.told()
        self.check(
            DC_PORT,
            *[PACKET_V4] * 5,
            expect={CORE_PORT: [self.sent()] * 3},
            drops={"LIGHT_CONGESTION_RATE": 2},
            events={"SLOWED": 5},
        )
        self.check(DC_PORT, PACKET_V6, expect={CORE_PORT: [self.sent(LABEL_V6)]})


class SlowedFlowHasItsRate(LightCongestionTest):
    """PEC-3: what is slowed down goes on at its rate."""

    interval_us = 200_000

    def configure_treatment(self) -> None:
        """Five packets per second."""
        self.pe.slow(RED_TUNNEL, interval_us=self.interval_us, burst=1)

    def runTest(self) -> None:
        self.told()
        begun = time.monotonic()
        for number in range(4):
            self.wait_for("a packet", lambda: self.exchange(DC_PORT, PACKET_V4).frames)
            elapsed = time.monotonic() - begun
            self.assertGreaterEqual(elapsed, number * self.interval_us / 1e6)


class TreatmentEndsWithItsHold(LightCongestionTest):
    """PEC-3: when nothing is told for a hold, the flow takes its own path again."""

    hold_us = 1_000_000

    def runTest(self) -> None:
        begun = time.monotonic()
        self.exchange(CORE_PORT, fast_cnp_frame(LABEL_V4, LIGHT))
        self.wait_for(
            "the flow's own path",
            lambda: self.exchange(DC_PORT, PACKET_V4).frames == {CORE_PORT: [self.sent()]},
        )
        self.assertGreaterEqual(time.monotonic() - begun, self.hold_us / 1e6)


class HeavyCongestionTellsTheSender(LightCongestionTest):
    """PEC-4: every other level is a CNP for the sender, and changes no path."""

    def runTest(self) -> None:
        for level in (0, 2, HEAVY):
            with self.subTest(level=level):
                self.check_translated(fast_cnp_frame(LABEL_V4, level), cnp_v4_frame())
        self.check(DC_PORT, PACKET_V4, expect={CORE_PORT: [self.sent()]})


class LightCongestionOfUnknownFlows(LightCongestionTest):
    """PEC-3, FCN-13: an unknown label is dropped and counted; a flow whose source QP is unknown is
    treated as well, since nothing is sent to it."""

    def runTest(self) -> None:
        self.check(
            CORE_PORT, fast_cnp_frame(0xABCDE, LIGHT), drops={"LABEL_UNKNOWN": 1}, events=RECEIVED
        )
        self.pe.flow(RED, HOST_V4, REMOTE_V4, 0x777, 0x96000)
        self.pe.label_without_source_qp(0x96000, 4)
        self.told(0x96000)
        datagram = roce(HOST_V4, REMOTE_V4, 0x777)
        outer = srv6(
            routed(datagram), PE_ADDRESS, NEXT_SID, flow_label=0x96000, traffic_class=Ecn.ECT0
        )
        self.check_into_wan(datagram, outer, events={"REROUTED": 1})


class OwnLightCongestion(LightCongestionTest):
    """PEC-3, FCN-12: the PE's own queue at the light level treats the flow and tells nobody; at the
    heavy level the sender is told."""

    def runTest(self) -> None:
        for level in (LIGHT, HEAVY):
            self.pe.level_policy(level, notify=True)
        self.pe.queue_level(CORE_PORT, LIGHT)
        self.check(
            DC_PORT,
            PACKET_V4,
            expect={CORE_PORT: [self.sent()]},
            events={"CNP_TRIGGERED": 1, "LIGHT_CONGESTION": 1},
        )
        self.pe.delete_queue_level(CORE_PORT)
        self.check(
            DC_PORT,
            PACKET_V4,
            expect={CORE_PORT: [self.sent(sid=NEXT_SID)]},
            events={"REROUTED": 1},
        )
        self.pe.queue_level(CORE_PORT, HEAVY)
        self.check(
            DC_PORT,
            PACKET_V6,
            expect={CORE_PORT: [self.sent(LABEL_V6)], DC_PORT: [cnp_v6_frame()]},
            events={"CNP_TRIGGERED": 1, "OWN_CONGESTION": 1, "CNP_SENT": 1},
        )


class UntrustedLightNotification(LightCongestionTest):
    """FCN-17, PEC-3: a notification from elsewhere treats nothing."""

    def configure_trust(self) -> None:
        """Nobody is trusted."""

    def runTest(self) -> None:
        self.check(CORE_PORT, fast_cnp_frame(LABEL_V4, LIGHT), drops={"NOTIFICATION_UNTRUSTED": 1})
        self.check(DC_PORT, PACKET_V4, expect={CORE_PORT: [self.sent()]})


class TranslationOffTreatsNothing(LightCongestionTest):
    """FCN-16: with translation off, light congestion is counted only."""

    def runTest(self) -> None:
        self.pe.domain_mode()
        self.check(
            CORE_PORT,
            fast_cnp_frame(LABEL_V4, LIGHT),
            drops={"TRANSLATION_DISABLED": 1},
            events=RECEIVED,
        )
        self.check(DC_PORT, PACKET_V4, expect={CORE_PORT: [self.sent()]})


class OtherModesDoNotTreat(LightCongestionTest):
    """PEC-6: in every other mode a Fast CNP of level 1 tells the sender, and no flow is treated."""

    hold_us = 0

    def runTest(self) -> None:
        self.check_translated(fast_cnp_frame(LABEL_V4, LIGHT), cnp_v4_frame())
        self.check(DC_PORT, PACKET_V4, expect={CORE_PORT: [self.sent()]})
