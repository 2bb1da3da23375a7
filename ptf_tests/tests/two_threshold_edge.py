"""The provider edge in the two-threshold mode: light and heavy congestion (PEC-2 to 4)."""

import time

from fcn.contract.profiles import Mode
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    HOST_V6,
    PE_ADDRESS,
    RED,
    RED_TUNNEL,
    REMOTE_RED_SID,
    REMOTE_V4,
    REMOTE_V6,
    core_frame_out,
    host_frame_in,
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
from fcn.ptf_tests.lib.packets import Ecn, roce, routed, srv6
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

LIGHT, HEAVY = 1, 7
LONG_US = 600_000_000
"""Longer than any test."""

NEXT_TUNNEL = 9
NEXT_SID = "fc00:0:2:99::"


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
        """Flows of RED's tunnel are rerouted, where the program has treatments: chips do not."""
        if self.client.schema.tables.get("light_policy") is not None:
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

    def check_own_light(self) -> None:
        """The PE's own queue gets to the light level: it notes so, and tells nobody."""
        self.pe.queue_level(CORE_PORT, LIGHT)
        self.check(
            DC_PORT,
            PACKET_V4,
            expect={CORE_PORT: [self.sent()]},
            events={"CNP_TRIGGERED": 1, "LIGHT_CONGESTION": 1},
        )


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


class LightCongestionWithoutTreatment(LightCongestionTest):
    """PEC-3: with treatment `none` the PE hears of light congestion, of others and of its own, and
    the flow goes on as before; its sender hears nothing."""

    def configure_treatment(self) -> None:
        """None."""

    def runTest(self) -> None:
        self.told()
        self.check(DC_PORT, PACKET_V4, expect={CORE_PORT: [self.sent()]})
        self.pe.level_policy(LIGHT, notify=True)
        self.check_own_light()


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
        self.check_own_light()
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
