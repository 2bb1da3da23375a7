"""A hostile or broken neighbour, and what happens to held packets meanwhile (SRF-7)."""

import random
from ipaddress import IPv6Address

import finsy as fy

from fcn.packets.arn import ArnType
from fcn.ptf_tests.lib.flow_control import (
    BUDGET,
    NEIGHBOUR,
    OTHER_SERVICE,
    FlowControlTest,
    arn_in,
    arn_out,
    frames_in,
    frames_out,
    packet,
    packets,
    service_arn,
    services,
)
from fcn.ptf_tests.lib.packets import datagram_of
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT

END = ArnType.ELIMINATED
ELSEWHERE = "fc00:0:20::1"
"""Leaves by CORE_PORT_2."""
DESTINATION = slice(24, 40)
"""Of an IPv6 header."""


class FullBudgetIsNoConcernOfOthers(FlowControlTest):
    """SRF-7: at the mark of the budget only what waits is held upstream, not what passes."""

    def runTest(self) -> None:
        self.p.hold_budget(10, mark=5, low=2)
        for port in (CORE_PORT, CORE_PORT_2):
            self.p.hold_level(port, "RELIEVED")
        self.hold(service_arn())
        self.park(packets(4))
        self.check(
            DC_PORT,
            frames_in(packets(1, 5))[0],
            expect={DC_PORT: [arn_out(service_arn(time_us=700))]},
            events={"HOLD_PARKED": 1, "ARN_TRIGGERED": 1, "ARN_SENT": 1},
        )
        other = packets(3, dst=OTHER_SERVICE)
        self.check(DC_PORT, *frames_in(other), expect={CORE_PORT: frames_out(other)})
        elsewhere = [packet(psn, dst=ELSEWHERE) for psn in range(3)]
        self.check(
            DC_PORT, *frames_in(elsewhere), expect={CORE_PORT_2: frames_out(elsewhere, CORE_PORT_2)}
        )


class OrderDoesNotDependOnTheLongestHold(FlowControlTest):
    """SRF-7: nothing overtakes, and all room is free again, where a round of what waits takes
    longer than the longest hold."""

    def runTest(self) -> None:
        for _ in range(3):
            self.p.hold_budget(BUDGET)
            self.hold(service_arn())
            self.park(packets(BUDGET))
            self.p.hold_budget(BUDGET, longest_us=1)
            self.release(packets(BUDGET), service_arn(END))
        self.assertEqual(self.counts()["event HOLD_SKIPPED"], 0)


class SwitchedOffWhilePacketsWait(FlowControlTest):
    """FCN-16, SRF-7: what waits when flow control is switched off leaves in its order, with the
    time of its hold; switched on again, all room is free."""

    time_us = 1_000_000

    def runTest(self) -> None:
        self.hold(service_arn())
        self.park(packets(BUDGET))
        self.hold(service_arn(time_us=self.time_us), event="RENEWED")
        self.switch("OFF")
        self.p.hold_budget(0, mark=0xFFFFFFFF, longest_us=0)
        self.arrive(packets(BUDGET))
        self.switch(self.mode)
        self.p.hold_budget(BUDGET)
        self.hold(service_arn())
        self.park(packets(BUDGET))
        self.release(packets(BUDGET), service_arn(END))

    def switch(self, mode: str) -> None:
        """Set the mode of the domain."""
        value = self.enum("FlowControl")[mode]
        self.p.set_default("flow_control", "set_flow_control", mode=value, refresh=self.refresh_us)


class SwitchedOffAsTheControllerDoes(FlowControlTest):
    """FCN-16, SRF-7: where a node obeys nobody any more, and is switched off when its holds are
    over and nothing waits, no packet overtakes another one."""

    time_us = 1_000_000

    def runTest(self) -> None:
        self.hold(service_arn())
        self.park(packets(20))
        self.hold(service_arn(time_us=self.time_us), event="RENEWED")
        self.p.delete(
            "arn_neighbor", match={"ingress_port": CORE_PORT, "source": NEIGHBOUR[CORE_PORT]}
        )
        self.send(CORE_PORT, arn_in(service_arn()))
        for frame in frames_in(packets(20, 21)):
            self.send(DC_PORT, frame)
        self.arrive(packets(40))
        counts = self.counts()
        self.assertEqual(counts["drop NOTIFICATION_UNTRUSTED"], 1)
        self.assertEqual(counts["event HOLD_PARKED"], counts["event HOLD_LEFT"])
        self.p.flow_control_mode("OFF")
        after = packets(5, 41)
        self.check(DC_PORT, *frames_in(after), expect={CORE_PORT: frames_out(after)})


class RenewalsAreBounded(FlowControlTest):
    """SRF-7: a neighbour does not keep more holds than its limit by renewing those it began."""

    limit = 4
    count = 16

    def runTest(self) -> None:
        frames = [arn_in(service_arn(dst=dst)) for dst in services(self.count)]
        before = self.counts()
        self.exchange(CORE_PORT, *frames)
        begun = self.growth(before)["event HOLD_BEGUN"]
        config = fy.P4MeterConfig(cir=1, cburst=self.limit, pir=1, pburst=self.limit)
        self.p.hold_meter(CORE_PORT, config)
        before = self.counts()
        self.exchange(CORE_PORT, *frames)
        self.assertEqual(self.growth(before)["event HOLD_RENEWED"], begun, "not counted again yet")
        # Twice this time is over.
        self.p.hold_budget(BUDGET, longest_us=1)
        before = self.counts()
        self.exchange(CORE_PORT, *frames)
        grown = self.growth(before)
        self.assertGreaterEqual(grown.get("drop HOLD_LIMIT", 0), begun - 2 * self.limit)


class HoldsOfOthersStay(FlowControlTest):
    """SRF-7: only the neighbour on a port ends a hold of that port; a time of 0 ends one too."""

    def runTest(self) -> None:
        self.hold(service_arn())
        self.park(packets(5))
        for port in (CORE_PORT_2, DC_PORT):
            self.hold(service_arn(END), port, "UNKNOWN")
        for message in (service_arn(END, dst=OTHER_SERVICE), service_arn(END, dst=ELSEWHERE)):
            self.hold(message, event="UNKNOWN")
        for time_us in (0, 1):
            self.hold(service_arn(time_us=time_us), CORE_PORT_2)
        self.park(packets(5, 6))
        self.release(packets(10), service_arn(time_us=0))


class HeldAndReleasedAtRandom(FlowControlTest):
    """SRF-7: nothing within the budget is lost, and each flow keeps its order."""

    steps = 400

    def runTest(self) -> None:
        rng = random.Random(7)
        ends = services(6)
        wanted: dict[str, list[str]] = {dst: [] for dst in ends}
        arrived: dict[str, list[str]] = {dst: [] for dst in ends}
        inside = 0
        for _ in range(self.steps):
            draw, dst = rng.random(), rng.choice(ends)
            if draw < 0.15:
                time_us = rng.choice([0, 1_000, 20_000, 200_000])
                self.send(CORE_PORT, arn_in(service_arn(time_us=time_us, dst=dst)))
            elif draw < 0.3:
                self.send(CORE_PORT, arn_in(service_arn(END, dst=dst)))
            else:
                one = packets(1, len(wanted[dst]), dst=dst)
                wanted[dst].append(datagram_of(frames_out(one)[0]).hex())
                self.send(DC_PORT, frames_in(one)[0])
                inside += 1
            while inside and (frame := self.receive(CORE_PORT, 0 if inside < BUDGET - 8 else 30)):
                datagram = datagram_of(frame)
                arrived[str(IPv6Address(datagram[DESTINATION]))].append(datagram.hex())
                inside -= 1
        while inside:
            received = self.receive(CORE_PORT)
            self.assertIsNotNone(received, f"{inside} packets did not leave")
            if received is not None:
                datagram = datagram_of(received)
                arrived[str(IPv6Address(datagram[DESTINATION]))].append(datagram.hex())
                inside -= 1
        self.assertEqual(arrived, wanted)
        self.assertGreater(self.counts()["event HOLD_PARKED"], 0)
