"""What seldom happens to holds and to ARN messages, at a P and at a PE (SRF-5 to SRF-7)."""

import random
from ipaddress import IPv6Address

from ptf import testutils

from fcn.contract import parking
from fcn.contract.targets import V1MODEL
from fcn.packets.arn import Arn, ArnType, Parameter
from fcn.ptf_tests.lib.beds import P_ADDRESS, core_frame_in
from fcn.ptf_tests.lib.checksums import ALL_ONES, udp_checksum_of, word_of_zero_checksum
from fcn.ptf_tests.lib.flow_control import (
    ARN_TIME_US,
    BUDGET,
    LONG_US,
    NEIGHBOUR,
    PRIORITY,
    SERVICE,
    FlowControlTest,
    arn_in,
    arn_out,
    frames_in,
    frames_out,
    packet,
    packets,
    service_arn,
)
from fcn.ptf_tests.lib.packets import arn, datagram_of, with_udp_checksum
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT
from fcn.ptf_tests.lib.transit_pe import OnAPe
from fcn.ptf_tests.targets import TARGETS

END = ArnType.ELIMINATED
HOLDS = 128
"""Enough for some to have the same of 1,024 cells; below what the parking queue takes."""
SEED = 7
DRAIN_US = 20_000
ELSEWHERE = "fc00:0:2:1000::"


class NoCellForAnother(FlowControlTest):
    """SRF-7: where the cell of a hold is in use another is refused and counted, the first stays."""

    def runTest(self) -> None:
        chosen = random.Random(SEED)
        prefix = 0xFC00_0000_0002 << 80
        ends = [str(IPv6Address(prefix + chosen.getrandbits(80))) for _ in range(HOLDS)]
        before = self.counts()
        self.exchange(CORE_PORT, *(arn_in(service_arn(dst=dst)) for dst in ends))
        grown = self.growth(before)
        refused = grown["drop HOLD_NO_CELL"]
        self.assertEqual(grown["event HOLD_BEGUN"], HOLDS - refused)
        self.p.hold_budget(HOLDS)
        before = self.counts()
        passed = self.exchange(DC_PORT, *frames_in([packet(dst=dst) for dst in ends]))
        self.assertEqual(len(passed.frames[CORE_PORT]), refused)
        self.assertEqual(self.growth(before), {"event HOLD_PARKED": HOLDS - refused})


class NoCellForAnotherAtPe(OnAPe, NoCellForAnother):
    """SRF-7."""


class NoGapInTheQueue(FlowControlTest):
    """SRF-7: while the queue of its port is as long as the drain depth, what waited leaves one by
    one, a drain interval apart."""

    count = 6

    def runTest(self) -> None:
        self.p.hold_budget(BUDGET, drain=(0, DRAIN_US))
        self.hold(service_arn())
        self.park(packets(self.count))
        self.release(packets(self.count), service_arn(END))
        self.assertEqual(self.counts()["event HOLD_LEFT"], self.count)


class NoGapInTheQueueAtPe(OnAPe, NoGapInTheQueue):
    """SRF-7."""


class LostWhileTheyWait(FlowControlTest):
    """SRF-7: where the parking port loses packets, those behind them leave after a while, and all
    room is free again."""

    queue = 4
    count = 12
    wait_us = 50_000

    def set_parking(self, rate_pps: int, depth: int) -> None:
        """The queue in which held packets come round."""
        port = V1MODEL.ports.parking
        assert port is not None
        address = testutils.test_param_get("grpc_address")
        TARGETS[self.target].set_queue(address, port, rate_pps, depth)

    def runTest(self) -> None:
        deep = parking.depth_for(1000)
        self.addCleanup(self.set_parking, parking.RATE, deep)
        self.set_parking(100, self.queue)
        self.hold(service_arn())
        self.park(packets(self.count))
        self.set_parking(parking.RATE, deep)
        self.park(packets(self.count, 100))
        self.p.hold_budget(BUDGET, longest_us=self.wait_us)
        self.send(CORE_PORT, arn_in(service_arn(END)))
        behind = set(frames_out(packets(self.count, 100)))

        def have_left() -> bool:
            behind.discard(self.receive(CORE_PORT) or b"")
            return not behind

        self.wait_for("those behind them leave", have_left)
        self.exchange(DC_PORT)  # on BMv2 what was before the gap may leave last
        self.assertGreater(self.counts()["event HOLD_SKIPPED"], 0)
        self.p.hold_budget(BUDGET)
        self.hold(service_arn(dst=ELSEWHERE))
        self.park([packet(psn, dst=ELSEWHERE) for psn in range(BUDGET)])


class LostWhileTheyWaitAtPe(OnAPe, LostWhileTheyWait):
    """SRF-7."""


class PathIdSaysNothing(FlowControlTest):
    """SRF-6: an ARN may have a path ID besides, in every mode that has one for what it names; only
    what it names is held."""

    def runTest(self) -> None:
        message = service_arn(para_type=SERVICE | Parameter.PATH_ID)
        message.path_id = 0xF0000001
        self.hold(message)
        self.park(packets(3))
        self.release(packets(3), service_arn(END, para_type=Parameter.FIVE_TUPLE))
        self.p.flow_control_mode("PRIORITY")
        named = Arn(type=1, para_type=PRIORITY | Parameter.PATH_ID, path_id=9, priority=3)
        named.time = LONG_US
        self.hold(named)


class PathIdSaysNothingAtPe(OnAPe, PathIdSaysNothing):
    """SRF-6."""


class ChecksumOfZero(FlowControlTest):
    """SRF-5: an ARN whose checksum would be zero has all ones, sent and received; zero is none."""

    def runTest(self) -> None:
        def received(word: int) -> bytes:
            message = service_arn(time_us=LONG_US & ~0xFFFF | word)
            return arn(NEIGHBOUR[CORE_PORT], P_ADDRESS, message)

        datagram = received(word_of_zero_checksum(received))
        without = with_udp_checksum(datagram, 0)
        self.check(
            CORE_PORT,
            core_frame_in(without),
            drops={"NOTIFICATION_MALFORMED": 1},
            events={"ARN_RECEIVED": 1},
        )
        events = {"ARN_RECEIVED": 1, "HOLD_BEGUN": 1}
        self.check(CORE_PORT, core_frame_in(datagram), events=events)

        def named(word: int) -> Arn:
            return service_arn(time_us=ARN_TIME_US, dst=f"{ELSEWHERE}{word:x}")

        word = word_of_zero_checksum(
            lambda word: arn(P_ADDRESS, NEIGHBOUR[DC_PORT], named(word), traffic_class=48 << 2)
        )
        said = arn_out(named(word))
        self.assertEqual(udp_checksum_of(datagram_of(said)), ALL_ONES)
        self.p.hold_level(CORE_PORT, "CONGESTED")
        congested = packets(1, dst=f"{ELSEWHERE}{word:x}")
        self.check(
            DC_PORT,
            *frames_in(congested),
            expect={CORE_PORT: frames_out(congested), DC_PORT: [said]},
            events={"ARN_TRIGGERED": 1, "ARN_SENT": 1},
        )


class ChecksumOfZeroAtPe(OnAPe, ChecksumOfZero):
    """SRF-5."""
