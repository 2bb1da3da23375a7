"""An egress PE whose data centre sends PAUSE frames holds what would leave there, and asks its
neighbours to hold (SRF-9, ALL-4)."""

import time

from fcn.packets.arn import Arn, ArnType
from fcn.ptf_tests.lib.beds import (
    HOST2_V4,
    HOST_V4,
    NODE_MAC,
    PE_ADDRESS,
    PE_RED_SID,
    RED,
    REMOTE_PE,
    REMOTE_V4,
    TO_HOST,
    core_frame_in,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.end_con import PE_RED_END_CON, end_con_cnp
from fcn.ptf_tests.lib.flow_control import ARN_TIME_US, LONG_US, flow_arn, priority_arn
from fcn.ptf_tests.lib.notifications import cnp_v4_frame, fast_cnp_frame
from fcn.ptf_tests.lib.packets import (
    Ecn,
    IpFields,
    gre,
    ip,
    mpls_udp,
    roce,
    routed,
    srv6,
    vxlan,
    with_ecn,
)
from fcn.ptf_tests.lib.paused_dc import (
    OTHER_PRIORITY,
    PausedDcTest,
    arriving,
    customer,
    delivered,
    delivered_to_second,
    pause_frame,
    second,
)
from fcn.ptf_tests.lib.pe_flow_control import DEST_QP, LABEL, PRIORITY, QUANTA, SOURCE_QP, to_p
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2
from fcn.ptf_tests.lib.tunnels import GRE_KEY, MPLS_LABEL, VNI, customer_label

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
    """SRF-6, SRF-9: a packet waits as it came, whatever its tunnel, and is named as on the wire."""

    mode = "FLOW"
    mac = "02:aa:00:00:00:01"

    def tunnels(self, inner: bytes) -> list[tuple[bytes, int]]:
        """The packet in each tunnel, and the label of the customer there."""
        outer: IpFields = {"traffic_class": int(Ecn.ECT0)}
        ends = REMOTE_PE, PE_ADDRESS
        frame = vxlan(inner, *ends, VNI, inner_src_mac=self.mac, inner_dst_mac=self.mac, **outer)
        return [
            (frame, customer_label(PE_ADDRESS, VNI)),
            (gre(inner, *ends, GRE_KEY, **outer), customer_label(PE_ADDRESS, GRE_KEY)),
            (mpls_udp(inner, *ends, [MPLS_LABEL], **outer), customer_label(PE_ADDRESS, MPLS_LABEL)),
            (
                srv6(inner, REMOTE_PE, PE_RED_SID, [PE_RED_SID], 0, **outer),
                customer_label(PE_RED_SID),
            ),
        ]

    def runTest(self) -> None:
        for kind, number in (("VXLAN", VNI), ("GRE", GRE_KEY), ("MPLS_UDP", MPLS_LABEL)):
            self.pe.tunnel_vrf(self.enum("TunnelType")[kind], number, RED)
        self.pe.hold_budget(48, low=8)
        dscp = PRIORITY << 3
        for remote, host in TO_HOST:
            inner = roce(remote, host, DEST_QP, dscp=dscp)
            self.pause()
            for datagram, label in self.tunnels(inner):
                self.send(CORE_PORT, core_frame_in(datagram))
                named = flow_arn(time_us=ARN_TIME_US, src=remote, dst=host, customer=label)
                told = self.receive(CORE_PORT)
                self.assertEqual(self.hex(told), to_p(named).hex())
            self.end()
            for _ in self.tunnels(inner):
                self.assertEqual(self.hex(self.receive(DC_PORT)), delivered(inner).hex())
                self.assertIsNotNone(self.receive(CORE_PORT))


class CountedOnce(PausedDcTest):
    """SRF-2, SRF-9: what waits is counted when it comes, not again when it leaves."""

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP, dscp=PRIORITY << 3, ecn=Ecn.NOT_ECT)
        event = "ECN_DANGEROUS_COMBINATION"
        self.pause()
        self.send(CORE_PORT, arriving(inner))
        self.assertEqual(self.hex(self.receive(CORE_PORT)), self.asked().hex())
        self.end()
        self.assertEqual(self.hex(self.receive(DC_PORT)), delivered(inner).hex())
        self.assertEqual(self.counts()[f"event {event}"], 1)


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
