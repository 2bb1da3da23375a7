"""An egress PE whose data centre sends PAUSE frames holds what would leave there, and asks its
neighbours to hold (SRF-9, ALL-4)."""

import time

import finsy as fy

from fcn.packets.arn import Arn, ArnType
from fcn.ptf_tests.lib.beds import (
    HOST2_V4,
    HOST_MAC,
    HOST_V4,
    NODE_MAC,
    PE_RED_SID,
    RED,
    REMOTE_PE,
    REMOTE_V4,
    core_frame_in,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.end_con import PE_RED_END_CON, end_con_cnp
from fcn.ptf_tests.lib.flow_control import ARN_TIME_US, LONG_US, flow_arn, priority_arn
from fcn.ptf_tests.lib.notifications import cnp_v4_frame, fast_cnp_frame
from fcn.ptf_tests.lib.packets import Ecn, ethernet, ip, roce, routed, srv6, with_ecn
from fcn.ptf_tests.lib.paused_dc import (
    GLOBAL_PAUSE,
    OTHER_PRIORITY,
    PausedDcTest,
    arriving,
    blue,
    customer,
    delivered,
    delivered_to_blue,
    delivered_to_second,
    pause_frame,
    second,
)
from fcn.ptf_tests.lib.pe_flow_control import (
    DEST_QP,
    LABEL,
    PRIORITY,
    QUANTA,
    SOURCE_QP,
    PeFlowControlTest,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2, UNUSED_PORT
from fcn.ptf_tests.lib.tunnels import customer_label

END = ArnType.ELIMINATED


class HeldUntilQuantumZero(PausedDcTest):
    """SRF-9: what would leave by the paused port in that priority waits, the neighbour is told once
    in `repeat`; a time of 0 ends it: the neighbour is told, and all leave in order."""

    def runTest(self) -> None:
        self.check(CORE_PORT, self.frame(0), expect={DC_PORT: [delivered(customer(0))]})
        self.pause()
        self.park_first(1, 2)
        self.park(*range(3, 21))
        self.pause(event="RENEWED")
        self.park(21)
        self.end()
        self.arrive(*range(1, 22))
        self.assertEqual(self.hex(self.receive(CORE_PORT)), self.asked(END).hex())
        self.check(CORE_PORT, self.frame(22), expect={DC_PORT: [delivered(customer(22))]})
        counts = self.counts()
        self.assertEqual(counts["event HOLD_LEFT"], 21)
        self.assertEqual(counts["event ARN_SENT"], 2)
        self.assertEqual(counts["event HOLD_ENDED_EARLY"], 1)


class HeldUntilQuantumZeroInModeFlow(HeldUntilQuantumZero):
    """SRF-9: the neighbour is to hold the flow inside the tunnel."""

    mode = "FLOW"

    def name(self, kind: ArnType = ArnType.DETECTED, time_us: int = ARN_TIME_US) -> Arn:
        """The inner five-tuple, and whose it is."""
        label = customer_label(PE_RED_SID)
        return flow_arn(kind, time_us, src=REMOTE_V4, dst=HOST_V4, customer=label)


class HeldUntilQuantumZeroInModePriority(HeldUntilQuantumZero):
    """SRF-9: the neighbour is to hold the priority of the tunnel."""

    mode = "PRIORITY"
    outer_priority = 3

    def name(self, kind: ArnType = ArnType.DETECTED, time_us: int = ARN_TIME_US) -> Arn:
        """That of the outer header."""
        return priority_arn(kind, time_us, self.outer_priority)


class NamelessTrafficWaits(PausedDcTest):
    """SRF-6, SRF-9: in mode flow what is no UDP has no name for the neighbour;
    it waits all the same."""

    mode = "FLOW"

    def runTest(self) -> None:
        inner = ip(
            REMOTE_V4, HOST_V4, b"no datagram", proto=6, traffic_class=PRIORITY << 5 | Ecn.ECT0
        )
        self.pause()
        self.check(CORE_PORT, arriving(inner), events={"HOLD_PARKED": 1})
        self.check(CORE_PORT, arriving(inner), events={"HOLD_PARKED": 1})
        self.end()
        for _ in range(2):
            self.assertEqual(self.hex(self.receive(DC_PORT)), delivered(inner).hex())
        self.assertEqual(self.counts()["event ARN_SENT"], 0)


class NewPacketsStayBehind(PausedDcTest):
    """SRF-9: packets that come while others leave do not overtake them."""

    def runTest(self) -> None:
        self.pause()
        self.park_first(*range(1, 21))
        self.end()
        for psn in range(21, 41):
            self.send(CORE_PORT, self.frame(psn))
        self.arrive(*range(1, 41))


class EndsWithItsTime(PausedDcTest):
    """SRF-9: a pause lasts as long as the last frame says, no longer, no shorter."""

    longest_us = 3_000_000
    quanta = QUANTA // 2

    def runTest(self) -> None:
        self.send(DC_PORT, pause_frame({PRIORITY: QUANTA}))
        started = time.monotonic()
        self.send(DC_PORT, pause_frame({PRIORITY: self.quanta}))
        self.send(CORE_PORT, self.frame(1))
        self.arrive(1)
        lasted = time.monotonic() - started
        self.assertGreaterEqual(lasted, 0.45 * self.longest_us / 1e6)
        self.assertLess(lasted, self.longest_us / 1e6)


class ShortPauseIsSaid(PausedDcTest):
    """SRF-9: an ARN asks for no more than is left of the pause."""

    longest_us = 800_000

    def configure(self) -> None:
        """ARNs would ask for longer."""
        super().configure()
        self.pe.arn_profile(LONG_US)

    def runTest(self) -> None:
        self.send(DC_PORT, pause_frame({PRIORITY: QUANTA}))
        self.send(CORE_PORT, self.frame(1))
        told = self.receive(CORE_PORT)
        if told is None:
            self.fail("the neighbour was not told")
        asked_for = int.from_bytes(told[-4:], "big")
        self.assertLessEqual(asked_for, self.longest_us)
        self.assertGreater(asked_for, 0)
        self.assertEqual(told.hex(), self.asked(time_us=asked_for).hex())
        self.arrive(1)


class RenewedPauseIsSaidAgain(PausedDcTest):
    """SRF-9: a pause that is shorter than `repeat` and goes on is said again before the neighbour's
    hold ends."""

    longest_us = 600_000

    def configure(self) -> None:
        """ARNs would ask for longer."""
        super().configure()
        self.pe.arn_profile(LONG_US)

    def runTest(self) -> None:
        self.send(DC_PORT, pause_frame({PRIORITY: QUANTA}))
        self.send(CORE_PORT, self.frame(1))
        first = self.receive(CORE_PORT)
        told = time.monotonic()
        if first is None:
            self.fail("the neighbour was not told")
        ends = told + int.from_bytes(first[-4:], "big") / 1e6
        self.send(DC_PORT, pause_frame({PRIORITY: QUANTA}))
        self.assertIsNotNone(self.receive(CORE_PORT))
        self.assertLess(time.monotonic(), max(ends, told + 1))
        self.end()
        self.arrive(1)


class LongestHoldClampsIt(PausedDcTest):
    """SRF-9, ALL-4: no pause is longer than the longest hold of the domain."""

    def configure(self) -> None:
        """A short one."""
        super().configure()
        self.pe.hold_budget(48, longest_us=300_000)

    def runTest(self) -> None:
        self.send(DC_PORT, pause_frame({PRIORITY: QUANTA}))
        self.send(CORE_PORT, self.frame(1))
        self.arrive(1)


class OthersAreNotHeld(PausedDcTest):
    """SRF-9: other priorities, other ports of the same tenant, and what leaves for the WAN go on;
    another tenant behind the same port waits with it, as on any link."""

    def runTest(self) -> None:
        self.pause()
        self.park_first(1)
        other = customer(2, OTHER_PRIORITY << 3)
        self.check(CORE_PORT, arriving(other), expect={DC_PORT: [delivered(other)]})
        elsewhere = second(3)
        self.check(
            CORE_PORT, arriving(elsewhere), expect={DC_PORT_2: [delivered_to_second(elsewhere)]}
        )
        outcome = self.exchange(DC_PORT, host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP)))
        self.assertEqual(len(outcome.frames[CORE_PORT]), 1)
        self.pause(priority=OTHER_PRIORITY)
        self.check(CORE_PORT, arriving(other), events={"HOLD_PARKED": 1})
        self.end(OTHER_PRIORITY)
        self.assertEqual(self.receive(DC_PORT), delivered(other))


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


class BetweenPortsOfOnePe(PausedDcTest):
    """SRF-9: what comes from another DC port waits, too, and its own data centre is not paused."""

    def configure(self) -> None:
        """Relief by PAUSE frames."""
        super().configure()
        self.pe.dc_relief(
            DC_PORT_2, "PAUSE", refresh_us=LONG_US, mac=NODE_MAC[DC_PORT_2], quanta=QUANTA
        )

    def runTest(self) -> None:
        inner = [roce(HOST2_V4, HOST_V4, DEST_QP, psn=psn) for psn in range(5)]
        self.pause()
        frames = [host_frame_in(each, port=DC_PORT_2) for each in inner]
        self.check(DC_PORT_2, *frames, events={"HOLD_PARKED": 5})
        self.end()
        for each in inner:
            self.assertEqual(self.receive(DC_PORT), delivered(each))


class EveryTunnelIsHeld(PausedDcTest):
    """SRF-9: a packet waits as it came, whatever its tunnel, over IPv4 and IPv6."""

    def runTest(self) -> None:
        inners = [
            roce("2001:db8:2::20", "2001:db8:1::10", DEST_QP, psn=psn, dscp=PRIORITY << 3)
            for psn in range(4)
        ]
        segments = [
            core_frame_in(srv6(each, REMOTE_PE, PE_RED_SID, [PE_RED_SID], 0)) for each in inners
        ]
        self.pause()
        self.exchange(CORE_PORT, *segments)
        self.end()
        for each in inners:
            self.assertEqual(self.hex(self.receive(DC_PORT)), delivered(each).hex())


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

    def runTest(self) -> None:
        for _ in range(2):
            self.pause(event="BEGUN")
            before = self.counts()
            for psn in range(10):
                self.send(CORE_PORT, self.frame(psn))
            refused = "drop HOLD_NO_ROOM"
            self.wait_for("beyond", lambda: self.counts()[refused] - before[refused] == 4)
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


class BesideFastCnps(PausedDcTest):
    """ALL-1, SRF-9: CNPs made here pass a paused port, in each mode that has them; congestion of
    the port is marked as ever on what goes on."""

    kind = "FAST_CNP"

    def configure(self) -> None:
        """Translation as well; the port's queue is congested."""
        super().configure()
        self.pe.notification_port()
        self.pe.enable_cnp(translates=self.kind)
        self.pe.queue_level(DC_PORT, 3)
        self.pe.level_policy(3, mark=Ecn.CE, notify=True)

    def notice(self) -> bytes:
        """What a congested P sends."""
        return fast_cnp_frame(LABEL)

    def runTest(self) -> None:
        quanta = dict.fromkeys(range(8), QUANTA)
        self.check(DC_PORT, pause_frame(quanta), events={"PAUSE_RECEIVED": 1, "HOLD_BEGUN": 8})
        self.check(
            CORE_PORT,
            self.notice(),
            expect={DC_PORT: [cnp_v4_frame(SOURCE_QP)]},
            events={f"{self.kind}_RECEIVED": 1, "CNP_SENT": 1},
        )
        self.park_first(1)
        self.end()
        marked = host_frame_out(with_ecn(routed(customer(1)), Ecn.CE))
        self.assertEqual(self.hex(self.receive(DC_PORT)), marked.hex())


class BesideEndCon(BesideFastCnps):
    """ALL-1, SRF-9: with END.CON."""

    kind = "END_CON_CNP"

    def configure(self) -> None:
        """The SID of RED."""
        super().configure()
        self.pe.end_con_sid(PE_RED_END_CON, RED)

    def notice(self) -> bytes:
        """To that SID."""
        return core_frame_in(end_con_cnp(REMOTE_V4, HOST_V4, DEST_QP, LABEL))
