"""A node holds what its neighbour asks for, and nothing else (SRF-6, SRF-7)."""

import time

import finsy as fy

from fcn.packets.arn import ArnType
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    HOST_V6,
    P_ADDRESS,
    PE_ADDRESS,
    REMOTE_PE,
    REMOTE_V4,
    REMOTE_V6,
    PTest,
    core_frame_in,
)
from fcn.ptf_tests.lib.flow_control import (
    BUDGET,
    LABEL,
    NEIGHBOUR,
    OTHER_SERVICE,
    PRIORITY,
    SERVICE,
    FlowControlTest,
    arn_in,
    arn_out,
    frames_in,
    frames_out,
    packet,
    packets,
    priority_arn,
    service_arn,
    services,
)
from fcn.ptf_tests.lib.packets import Ecn, IpFields, arn, roce, srv6, with_udp_checksum
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT

END = ArnType.ELIMINATED
ENTROPY_LABEL = 0x12345


class ServiceIsHeldAndReleased(FlowControlTest):
    """SRF-7: a held service waits, leaves in its order on "eliminated", new packets behind it,
    whatever the Metric is (SRF-11)."""

    def runTest(self) -> None:
        begin, end = service_arn(), service_arn(END, 0)
        begin.metric, end.metric = 0xA5, 0x5A
        self.hold(begin)
        first = packets(20)
        self.park(first)
        self.park(packets(12, 21))
        self.release([*first, *packets(12, 21)], end)
        after = packets(5, 100)
        self.check(DC_PORT, *frames_in(after), expect={CORE_PORT: frames_out(after)})
        self.assertEqual(self.counts()["event HOLD_LEFT"], 32)


class BothVersionsAreHeld(FlowControlTest):
    """SRF-6: a service is one for customers of IPv4 and IPv6, with or without an SRH; a neighbour
    may name it by the next header of what it saw, too."""

    def runTest(self) -> None:
        inner = roce(HOST_V6, REMOTE_V6, 0x118, psn=3)
        outer: IpFields = {"flow_label": LABEL, "traffic_class": Ecn.ECT0}
        of_all = [packet(1), srv6(inner, PE_ADDRESS, REMOTE_PE, **outer), packet(2, tag=1)]
        for protocol in (0, 4, 41, 43):
            with self.subTest(protocol=protocol):
                begin, end = service_arn(), service_arn(END)
                begin.protocol = protocol
                self.hold(begin)
                self.park(of_all)
                self.release(of_all, end)
                self.wait_for(
                    "the hold has ended",
                    lambda: (
                        self.exchange(DC_PORT, *frames_in(of_all)).frames
                        == {CORE_PORT: frames_out(of_all)}
                    ),
                )


class OtherTrafficPasses(FlowControlTest):
    """SRF-7: another service of the same port, and the same through another port, are not held."""

    def runTest(self) -> None:
        self.hold(service_arn())
        held, other = packets(10), packets(10, dst=OTHER_SERVICE)
        self.park(held)
        self.check(DC_PORT, *frames_in(other), expect={CORE_PORT: frames_out(other)})
        elsewhere = [packet(psn, dst="fc00:0:20::1") for psn in range(10)]
        self.check(
            DC_PORT, *frames_in(elsewhere), expect={CORE_PORT_2: frames_out(elsewhere, CORE_PORT_2)}
        )
        self.release(held, service_arn(END))


class PacketsJoinWhatWaits(FlowControlTest):
    """SRF-7: nothing overtakes: packets that come while held ones leave stay behind them."""

    def runTest(self) -> None:
        count = 40
        self.hold(service_arn())
        self.park(packets(count // 2))
        self.send(CORE_PORT, arn_in(service_arn(END)))
        for frame in frames_in(packets(count // 2, count // 2 + 1)):
            self.send(DC_PORT, frame)
        self.arrive(packets(count))


class LabelComesWhileHeld(FlowControlTest):
    """SRF-7: packets of a flow that gets its label while others of it wait stay behind them, and
    so do those that come when it has lost its label again."""

    def runTest(self) -> None:
        self.hold(service_arn())
        waiting = [
            *packets(8, label=ENTROPY_LABEL),
            *packets(8, 9),
            *packets(8, 17, label=ENTROPY_LABEL),
        ]
        self.park(waiting)
        self.release(waiting, service_arn(END))


class LostArnEndsWithTheTime(FlowControlTest):
    """SRF-7: without another ARN the hold ends with the time of the last one, not before."""

    time_us = 400_000

    def runTest(self) -> None:
        self.hold(service_arn())
        self.park(packets(3))
        started = time.monotonic()
        self.release(packets(3), service_arn(time_us=self.time_us))
        self.assertGreaterEqual(time.monotonic() - started, self.time_us / 1e6)
        self.assertEqual(self.counts()["event HOLD_RENEWED"], 1)


class TimeIsClamped(FlowControlTest):
    """SRF-7: a time beyond the configured maximum is the maximum."""

    longest_us = 300_000

    def runTest(self) -> None:
        self.hold(service_arn())
        self.park(packets(3))
        self.p.hold_budget(BUDGET, longest_us=self.longest_us)
        started = time.monotonic()
        self.release(packets(3), service_arn(time_us=0xFFFFFFFF))
        self.assertGreaterEqual(time.monotonic() - started, self.longest_us / 1e6)


class PriorityIsHeld(FlowControlTest):
    """SRF-6: in mode priority every service of that priority waits, others do not."""

    mode = "PRIORITY"

    def runTest(self) -> None:
        held = packets(6, dscp=26) + packets(6, 50, dst=OTHER_SERVICE, dscp=31)
        other = packets(6, dscp=32)
        self.hold(priority_arn(priority=3))
        self.park(held)
        self.check(DC_PORT, *frames_in(other), expect={CORE_PORT: frames_out(other)})
        self.release(held, priority_arn(END, priority=3))


class ForeignArnIsRefused(FlowControlTest):
    """SRF-5, SRF-7: not of the neighbour on that port, or routed: dropped, counted, no hold."""

    def runTest(self) -> None:
        message = service_arn()
        stranger = core_frame_in(arn("fc00:0:99::1", P_ADDRESS, message), CORE_PORT)
        elsewhere = core_frame_in(arn(NEIGHBOUR[DC_PORT], P_ADDRESS, message), CORE_PORT)
        routed_before = arn_in(message, ttl=254)
        for frame in (stranger, elsewhere, routed_before):
            self.check(
                CORE_PORT, frame, drops={"NOTIFICATION_UNTRUSTED": 1}, events={"ARN_RECEIVED": 1}
            )
        self.check(DC_PORT, *frames_in(packets(3)), expect={CORE_PORT: frames_out(packets(3))})


class MalformedArnIsRefused(FlowControlTest):
    """SRF-5: cut at every word, longer ones, unknown parameters, version and a wrong checksum."""

    def runTest(self) -> None:
        whole = bytes(service_arn())
        bad = [whole[:length] for length in range(4, len(whole), 4)]
        bad += [whole + bytes(4), bytes([whole[0], 0x10, *whole[2:]])]
        bad += [bytes([*whole[:3], whole[3] | bit, *whole[4:]]) for bit in (0x10, 0x20, 0x40, 0x80)]
        bad += [bytes([*whole[:4], 0x50, *whole[5:]])]
        frames = [arn_in(message) for message in bad]
        wrong_sum = with_udp_checksum(arn(NEIGHBOUR[CORE_PORT], P_ADDRESS, whole), 0x1234)
        frames.append(core_frame_in(wrong_sum, CORE_PORT))
        self.check(
            CORE_PORT,
            *frames,
            drops={"NOTIFICATION_MALFORMED": len(frames)},
            events={"ARN_RECEIVED": len(frames)},
        )
        self.check(DC_PORT, *frames_in(packets(3)), expect={CORE_PORT: frames_out(packets(3))})


class ArnOfAnotherModeIsRefused(FlowControlTest):
    """SRF-6: sound ones about what this domain does not hold, unknown types, one without a time."""

    def runTest(self) -> None:
        messages = [
            priority_arn(),
            service_arn(para_type=SERVICE | PRIORITY),
            service_arn(para_type=1),
            service_arn(kind=ArnType(2), para_type=PRIORITY),
        ]
        unknown_type = b"\x03" + bytes(service_arn())[1:]
        frames = [arn_in(unknown_type), *(arn_in(message) for message in messages)]
        self.check(
            CORE_PORT,
            *frames,
            drops={"ARN_UNSUPPORTED": len(frames)},
            events={"ARN_RECEIVED": len(frames)},
        )


class FloodOfHoldsIsBounded(FlowControlTest):
    """SRF-7: a neighbour begins no more holds than its port's limit; another has its own."""

    limit = 4

    def runTest(self) -> None:
        config = fy.P4MeterConfig(cir=1, cburst=self.limit, pir=1, pburst=self.limit)
        self.p.hold_meter(CORE_PORT, config)
        before, started = self.counts(), time.monotonic()
        self.exchange(CORE_PORT, *(arn_in(service_arn(dst=dst)) for dst in services(64)))
        grown, elapsed = self.growth(before), time.monotonic() - started
        begun = grown["event HOLD_BEGUN"]
        self.assertGreaterEqual(begun, self.limit)
        self.assertLessEqual(begun, self.limit + 1 + elapsed)
        self.assertEqual(grown["drop HOLD_LIMIT"] + grown.get("drop HOLD_NO_CELL", 0), 64 - begun)
        self.hold(service_arn(dst="fc00:0:20::1"), CORE_PORT_2)


class BudgetBoundsWhatWaits(FlowControlTest):
    """SRF-7: beyond the budget packets are dropped and counted; what is held is not lost."""

    def runTest(self) -> None:
        budget = 10
        self.p.hold_budget(budget)
        self.hold(service_arn())
        self.check(
            DC_PORT,
            *frames_in(packets(15)),
            drops={"HOLD_NO_ROOM": 5},
            events={"HOLD_PARKED": budget},
        )
        self.release(packets(budget), service_arn(END))
        # All room is free again.
        self.hold(service_arn())
        self.park(packets(budget))
        self.release(packets(budget), service_arn(END))


class FullBudgetIsPassedUpstream(FlowControlTest):
    """SRF-7: at its mark a node asks its upstream neighbour to hold, at its low mark to go on."""

    def runTest(self) -> None:
        self.p.hold_budget(10, mark=5, low=2)
        self.hold(service_arn())
        self.park(packets(4))
        self.check(
            DC_PORT,
            frames_in(packets(1, 5))[0],
            expect={DC_PORT: [arn_out(service_arn(time_us=700))]},
            events={"HOLD_PARKED": 1, "ARN_TRIGGERED": 1, "ARN_SENT": 1},
        )
        self.p.hold_level(CORE_PORT, "RELIEVED")
        self.release(packets(5), service_arn(END))
        frame = self.receive(DC_PORT)
        self.assertEqual(frame, arn_out(service_arn(END, 700)))


class OffByDefault(PTest):
    """FCN-16: without flow control an ARN is a packet for the controller, and nothing is held."""

    def runTest(self) -> None:
        frame = core_frame_in(arn(NEIGHBOUR[CORE_PORT], P_ADDRESS, service_arn()), CORE_PORT)
        self.check(CORE_PORT, frame, punts=[("UNDERLAY_LOCAL", frame)])
        datagrams = packets(3)
        self.check(DC_PORT, *frames_in(datagrams), expect={CORE_PORT: frames_out(datagrams)})


class TurnedOffWhileHeld(FlowControlTest):
    """SRF-7: what is held when flow control is turned off leaves in its order when its time ends,
    and takes no room when flow control is on again."""

    time_us = 2_000_000
    longest_us = 60_000_000

    def runTest(self) -> None:
        held = packets(BUDGET)
        self.hold(service_arn())
        self.park(held)
        renewed = self.exchange(CORE_PORT, arn_in(service_arn(time_us=self.time_us)))
        self.p.flow_control_mode("OFF")
        self.p.hold_budget(0, mark=1 << 20, longest_us=self.longest_us)
        left = [bytes(frame) for frame in renewed.frames.get(CORE_PORT, [])]
        while len(left) < len(held):
            frame = self.receive(CORE_PORT)
            if frame is None:
                self.fail(f"{len(left)} of {len(held)} packets left")
            left.append(frame)
        self.compare(left, frames_out(held))
        self.p.hold_budget(BUDGET)
        self.p.flow_control_mode(self.mode, self.refresh_us)
        self.hold(service_arn())
        self.park(held)
        self.release(held, service_arn(END))

    def compare(self, left: list[bytes], expected: list[bytes]) -> None:
        """What left, in its order."""
        self.assertEqual(left, expected)


class PassedOverTakesNoRoom(TurnedOffWhileHeld):
    """SRF-7: packets leave out of their order when those in front are taken for lost; late ones
    leave too, and no room is lost or counted twice."""

    longest_us = 0

    def compare(self, left: list[bytes], expected: list[bytes]) -> None:
        """What left, in any order."""
        self.assertCountEqual(left, expected)


class CrossingFlowsDrain(FlowControlTest):
    """SRF-7: two flows in opposite directions, both held, with their ARN messages lost afterwards,
    leave when their times end, each in its order."""

    count = 12
    time_us = 500_000

    def runTest(self) -> None:
        there = packets(self.count)
        inner = [roce(REMOTE_V4, HOST_V4, 0x119, psn=psn) for psn in range(self.count)]
        back = [srv6(each, REMOTE_PE, PE_ADDRESS) for each in inner]
        about_back = service_arn()
        about_back.src6, about_back.dst6 = REMOTE_PE, PE_ADDRESS
        self.hold(service_arn())
        self.hold(about_back, DC_PORT)
        self.park(there)
        self.check(CORE_PORT, *frames_in(back, CORE_PORT), events={"HOLD_PARKED": len(back)})
        about_back.time = self.time_us
        self.send(DC_PORT, arn_in(about_back, DC_PORT))
        self.release(there, service_arn(time_us=self.time_us))
        self.arrive(back, DC_PORT)
        self.assertEqual(self.counts()["event HOLD_LEFT"], 2 * self.count)
