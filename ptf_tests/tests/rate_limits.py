"""Rate limits of notifications, per flow and per node (FCN-11, FCN-15)."""

import time

from fcn.contract.constants import FCN_LABEL_BIT
from fcn.ptf_tests.lib.beds import HOST_V4, RED, REMOTE_V4, core_frame_out
from fcn.ptf_tests.lib.congestion import CongestedPTest, from_ingress_pe, notice, tunnelled
from fcn.ptf_tests.lib.limits import BUDGET, FLOOD, LONG_US, flood
from fcn.ptf_tests.lib.notifications import (
    LABEL_V4,
    LABEL_V6,
    SOURCE_QP,
    NotificationTest,
    cnp_v4_frame,
    cnp_v6_frame,
    fast_cnp_frame,
)
from fcn.ptf_tests.lib.packets import routed
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT


class OneCnpPerFlowAndInterval(NotificationTest):
    """FCN-15: many Fast CNPs of one flow cause one CNP per interval; other flows have their own."""

    def runTest(self) -> None:
        self.pe.enable_cnp(min_interval_us=LONG_US)
        self.check(
            CORE_PORT,
            *[fast_cnp_frame(LABEL_V4)] * FLOOD,
            expect={DC_PORT: [cnp_v4_frame()]},
            drops={"FLOW_INTERVAL": FLOOD - 1},
            events={"FAST_CNP_RECEIVED": FLOOD, "CNP_SENT": 1},
        )
        self.check_translated(fast_cnp_frame(LABEL_V6), cnp_v6_frame())


class CnpIntervalPasses(NotificationTest):
    """FCN-15: the next CNP of a flow is sent after the interval, not before."""

    interval_us = 300_000

    def runTest(self) -> None:
        self.pe.enable_cnp(min_interval_us=self.interval_us)

        def cnps() -> int:
            return len(self.exchange(CORE_PORT, fast_cnp_frame(LABEL_V4)).frames.get(DC_PORT, []))

        started = time.monotonic()
        self.assertEqual(cnps(), 1)
        self.wait_for("the second CNP", cnps)
        self.assertGreaterEqual(time.monotonic() - started, self.interval_us / 1e6)


class NodeBudgetOfCnps(NotificationTest):
    """FCN-15: CNPs of many flows do not exceed the node's rate limit."""

    def runTest(self) -> None:
        self.pe.notification_meter(BUDGET)
        labels = range(0xA0000, 0xA0000 + FLOOD)
        for label in labels:
            self.pe.label_to_cnp(label, RED, REMOTE_V4, HOST_V4, SOURCE_QP)
        before = self.counts()
        sent, _ = flood(self, CORE_PORT, map(fast_cnp_frame, labels))
        self.assertEqual(
            self.growth(before),
            {
                "drop NODE_RATE_LIMIT": FLOOD - sent,
                "event FAST_CNP_RECEIVED": FLOOD,
                "event CNP_SENT": sent,
            },
        )


class InventedLabelsTakeNothing(NotificationTest):
    """FCN-15: Fast CNPs about labels that no flow has leave the node's rate limit to others, also
    where they share its cell with a flow's."""

    def runTest(self) -> None:
        self.pe.notification_meter(BUDGET)
        invented = [LABEL_V4 ^ number << 4 for number in range(1, FLOOD)] + [LABEL_V4 ^ 1 << 16]
        self.check(
            CORE_PORT,
            *map(fast_cnp_frame, invented),
            drops={"LABEL_UNKNOWN": FLOOD},
            events={"FAST_CNP_RECEIVED": FLOOD},
        )
        self.check_translated(fast_cnp_frame(LABEL_V4), cnp_v4_frame())


class UnlimitedByDefault(NotificationTest):
    """FCN-15: without a configured rate limit every notification is sent."""

    def runTest(self) -> None:
        self.check(
            CORE_PORT,
            *[fast_cnp_frame(LABEL_V4)] * FLOOD,
            expect={DC_PORT: [cnp_v4_frame()] * FLOOD},
            events={"FAST_CNP_RECEIVED": FLOOD, "CNP_SENT": FLOOD},
        )


class PFloodTest(CongestedPTest):
    """A P whose queue towards the egress PE is congested at level 7."""

    level = 7
    interval_us = LONG_US


class OneFastCnpPerFlowAndInterval(PFloodTest):
    """FCN-11, FCN-15: a flow under continuous congestion causes one Fast CNP per interval."""

    def runTest(self) -> None:
        for label in (LABEL_V4, LABEL_V6):
            packet = tunnelled(label)
            self.check(
                DC_PORT,
                *[from_ingress_pe(packet)] * FLOOD,
                expect={
                    CORE_PORT: [core_frame_out(routed(packet))] * FLOOD,
                    DC_PORT: [notice(label, 7)],
                },
                events={
                    "FAST_CNP_TRIGGERED": 1,
                    "FAST_CNP_INTERVAL_SUPPRESSED": FLOOD - 1,
                    "FAST_CNP_SENT": 1,
                },
            )


class FastCnpIntervalPasses(PFloodTest):
    """FCN-11: the next Fast CNP of a flow is sent after the interval, not before."""

    interval_us = 300_000

    def runTest(self) -> None:
        frame = from_ingress_pe(tunnelled(LABEL_V4))

        def notices() -> int:
            return len(self.exchange(DC_PORT, frame).frames.get(DC_PORT, []))

        started = time.monotonic()
        self.assertEqual(notices(), 1)
        self.wait_for("the second Fast CNP", notices)
        self.assertGreaterEqual(time.monotonic() - started, self.interval_us / 1e6)


class NodeBudgetOfFastCnps(PFloodTest):
    """FCN-15: Fast CNPs of many flows do not exceed the node's rate limit."""

    def runTest(self) -> None:
        self.p.notification_meter(BUDGET)
        frames = [from_ingress_pe(tunnelled(FCN_LABEL_BIT + i)) for i in range(FLOOD)]
        before = self.counts()
        sent, outcome = flood(self, DC_PORT, frames)
        self.assertEqual(len(outcome.frames[CORE_PORT]), FLOOD, "traffic itself is not limited")
        self.assertEqual(
            self.growth(before),
            {
                "event FAST_CNP_TRIGGERED": sent,
                "event FAST_CNP_RATE_SUPPRESSED": FLOOD - sent,
                "event FAST_CNP_SENT": sent,
            },
        )
