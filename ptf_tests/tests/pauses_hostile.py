"""What a tenant can cause with PAUSE frames is bounded: time, packets, messages, whose traffic
(SRF-9, ALL-4)."""

import time
from collections.abc import Mapping
from functools import partial

import finsy as fy

from fcn.packets.arn import ArnType
from fcn.ptf_tests.lib.beds import HOST_MAC, NODE_MAC, PE_RED_SID, core_frame_in
from fcn.ptf_tests.lib.flow_control import LONG_US
from fcn.ptf_tests.lib.packets import ethernet, srv6
from fcn.ptf_tests.lib.paused_dc import (
    GLOBAL_PAUSE,
    PausedDcTest,
    arriving,
    blue,
    customer,
    delivered,
    delivered_to_blue,
    pause_frame,
    second,
)
from fcn.ptf_tests.lib.pe_flow_control import PRIORITY, QUANTA, PeFlowControlTest
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2, UNUSED_PORT

END = ArnType.ELIMINATED


class LongestHoldClampsIt(PausedDcTest):
    """SRF-9, ALL-4: no pause is longer than the longest hold of the domain."""

    def configure(self) -> None:
        """A short one."""
        super().configure()
        self.pe.hold_budget(48, longest_us=300_000)

    def runTest(self) -> None:
        started = time.monotonic()
        self.send(DC_PORT, pause_frame({PRIORITY: QUANTA}))
        self.send(CORE_PORT, self.frame(1))
        self.arrive(1)
        self.assertLess(time.monotonic() - started, self.longest_us / 2e6)


class TenantPausesNoOther(PausedDcTest):
    """SRF-9: RED's other port stops nothing that leaves by the port it shares with BLUE."""

    def runTest(self) -> None:
        self.pause(port=DC_PORT_2)
        inner = customer(1)
        self.check(CORE_PORT, blue(1), expect={DC_PORT: [delivered_to_blue(inner)]})
        self.check(CORE_PORT, self.frame(2), expect={DC_PORT: [delivered(customer(2))]})
        waiting = arriving(second(3))
        outcome = self.exchange(CORE_PORT, waiting)
        self.assertNotIn(DC_PORT_2, outcome.frames)


class SeveralPrioritiesInOneFrame(PausedDcTest):
    """SRF-9, ALL-4: one frame begins or ends at most a hold for each of eight priorities."""

    def runTest(self) -> None:
        quanta = dict.fromkeys(range(8), QUANTA)
        self.check(DC_PORT, pause_frame(quanta), events={"PAUSE_RECEIVED": 1, "HOLD_BEGUN": 8})
        inner = [customer(psn, psn << 3) for psn in range(8)]
        before = self.counts()
        self.exchange(CORE_PORT, *map(arriving, inner))
        self.assertEqual(self.growth(before)["event HOLD_PARKED"], 8)
        ends = {0: 0, 3: 0, 7: 0, 5: QUANTA}
        self.send(DC_PORT, pause_frame(ends))
        left = {self.hex(self.receive(DC_PORT)) for _ in range(3)}
        self.assertEqual(left, {delivered(inner[each]).hex() for each in (0, 3, 7)})
        grown = self.growth(before)
        self.assertEqual(grown["event HOLD_ENDED_EARLY"], 3)
        self.assertEqual(grown["event HOLD_RENEWED"], 1)
        nothing = self.counts()
        self.exchange(DC_PORT, pause_frame({}))
        self.assertEqual(self.growth(nothing), {"event PAUSE_RECEIVED": 1})
        self.check(DC_PORT, pause_frame({0: 0}), events={"PAUSE_RECEIVED": 1, "HOLD_UNKNOWN": 1})


class PortHasAShareOfTheBudget(PausedDcTest):
    """SRF-9: beyond its share a port's packets are dropped and counted, those of another port have
    room; none is lost that waits."""

    share = 6

    def configure(self) -> None:
        """A share, and as much for both ports together as the node holds."""
        PeFlowControlTest.configure(self)
        self.pe.heed_pauses(DC_PORT, longest_us=LONG_US, packets=self.share)
        octets = 2 * len(arriving(second(1)))
        self.pe.heed_pauses(DC_PORT_2, longest_us=LONG_US, octets=octets)

    def refused_since(self, before: Mapping[str, int], count: int) -> bool:
        """Whether so many packets had no room."""
        return self.growth(before).get("drop HOLD_NO_ROOM") == count

    def runTest(self) -> None:
        for _ in range(2):
            self.pause(event="BEGUN")
            before = self.counts()
            for psn in range(10):
                self.send(CORE_PORT, self.frame(psn))
            self.wait_for("the last", partial(self.refused_since, before, 10 - self.share))
            self.assertEqual(self.growth(before)["event HOLD_PARKED"], self.share)
            self.end()
            self.arrive(*range(self.share))
            self.assertEqual(self.hex(self.receive(CORE_PORT)), self.asked().hex())
            self.assertEqual(self.hex(self.receive(CORE_PORT)), self.asked(END).hex())
        self.pause(port=DC_PORT_2)
        before = self.counts()
        self.exchange(CORE_PORT, *(arriving(second(psn)) for psn in range(3)))
        grown = self.growth(before)
        self.assertEqual(grown["event HOLD_PARKED"], 2)
        self.assertEqual(grown["drop HOLD_NO_ROOM"], 1)


class FloodOfPausesAsksNoMore(PausedDcTest):
    """ALL-4: however many PAUSE frames and services there are, the node's limit bounds its ARNs."""

    limit = 3

    def runTest(self) -> None:
        config = fy.P4MeterConfig(cir=1, cburst=self.limit, pir=1, pburst=self.limit)
        self.pe.arn_meter(config)
        started = time.monotonic()
        frames = [
            core_frame_in(srv6(customer(psn), f"fc00:0:2::{psn + 1:x}", PE_RED_SID))
            for psn in range(20)
        ]
        quanta = dict.fromkeys(range(8), QUANTA)
        self.exchange(DC_PORT, *[pause_frame(quanta)] * 50)
        outcome = self.exchange(CORE_PORT, *frames)
        self.exchange(DC_PORT, *[pause_frame(quanta)] * 50)
        sent = self.counts()["event ARN_SENT"]
        self.assertGreaterEqual(sent, 1)
        self.assertLessEqual(sent, self.limit + 2 + time.monotonic() - started)
        self.assertNotIn(DC_PORT, outcome.frames)
        self.assertEqual(self.counts()["event HOLD_BEGUN"], 8)


class MalformedPausesAreCounted(PausedDcTest):
    """SRF-9: of a wrong length, with an unknown opcode, 802.3 PAUSE, on a core port."""

    def runTest(self) -> None:
        good = {PRIORITY: QUANTA}
        for length in (14, 16, 33, 59, 61, 64, 128):
            self.check(
                DC_PORT, pause_frame(good, length=length), drops={"NOTIFICATION_MALFORMED": 1}
            )
        for opcode in (0, GLOBAL_PAUSE, 0x0100, 0x0102, 0xFFFF):
            self.check(DC_PORT, pause_frame(good, opcode), drops={"UNSUPPORTED": 1})
        self.check(CORE_PORT, pause_frame(good), drops={"NOTIFICATION_UNTRUSTED": 1})
        self.check(UNUSED_PORT, pause_frame(good), drops={"UNKNOWN_PORT": 1})
        unicast = ethernet(
            pause_frame(good)[14:], src=HOST_MAC, dst=NODE_MAC[DC_PORT], ether_type=0x8808
        )
        self.check(DC_PORT, unicast, drops={"UNSUPPORTED": 1})
        group = ethernet(
            pause_frame(good)[14:], src=HOST_MAC, dst="01:80:c2:00:00:02", ether_type=0x8808
        )
        self.check(DC_PORT, group, drops={"OTHER_STATION": 1})
        self.check(CORE_PORT, self.frame(1), expect={DC_PORT: [delivered(customer(1))]})


class PortWithoutUntaggedTraffic(PausedDcTest):
    """SRF-9: a PAUSE frame has no tag, also where a port has tagged traffic only."""

    def runTest(self) -> None:
        self.pe.delete("port_role", match={"ingress_port": DC_PORT, "vlan_id": 0})
        before = self.counts()
        self.exchange(DC_PORT, pause_frame({PRIORITY: QUANTA}), marker_port=CORE_PORT)
        events = {"event PAUSE_RECEIVED": 1, "event HOLD_BEGUN": 1}
        self.assertEqual(self.growth(before), events)


class NotHeededUnlessConfigured(PeFlowControlTest):
    """SRF-9: a port that is not told to heed PAUSE frames drops and counts them."""

    def runTest(self) -> None:
        frame = pause_frame({PRIORITY: QUANTA})
        self.check(DC_PORT, frame, drops={"NOTIFICATION_ON_DC_PORT": 1})
        inner = customer(1)
        self.check(CORE_PORT, arriving(inner), expect={DC_PORT: [delivered(inner)]})


class NotHeededWithoutFlowControl(PausedDcTest):
    """SRF-9, FCN-16: nor does a domain without flow control."""

    def configure(self) -> None:
        """Off, whatever the port is told."""
        super().configure()
        self.pe.flow_control_mode("OFF")

    def runTest(self) -> None:
        frame = pause_frame({PRIORITY: QUANTA})
        self.check(DC_PORT, frame, drops={"NOTIFICATION_ON_DC_PORT": 1})
        self.check(CORE_PORT, self.frame(1), expect={DC_PORT: [delivered(customer(1))]})


class SwitchedOffWhilePacketsWait(PausedDcTest):
    """SRF-9: what waits when flow control or the port's heed is taken away leaves as it should."""

    longest_us = 600_000

    def runTest(self) -> None:
        self.send(DC_PORT, pause_frame({PRIORITY: QUANTA}))
        for psn in range(1, 6):
            self.send(CORE_PORT, self.frame(psn))
        self.wait_for("all wait", lambda: self.counts()["event HOLD_PARKED"] == 5)
        self.pe.delete("heeded_pauses", match={"port": DC_PORT})
        self.pe.flow_control_mode("OFF")
        self.arrive(*range(1, 6))
