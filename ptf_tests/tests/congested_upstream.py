"""A P that tells of congestion on a path both ways: its ingress PE by FANTEL messages, and its
upstream neighbour, which holds that traffic, by ARN messages (FAN-6)."""

from fcn.packets.arn import Arn
from fcn.packets.fantel import Event
from fcn.packets.fantel_tlvs import BufferStatus
from fcn.ptf_tests.lib.beds import core_frame_in
from fcn.ptf_tests.lib.flow_control import (
    ARN_TIME_US,
    FlowControlTest,
    arn_out,
    flow_arn,
    frames_in,
    frames_out,
    packet,
    packets,
    priority_arn,
    service_arn,
)
from fcn.ptf_tests.lib.packets import Ecn
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT
from fcn.ptf_tests.lib.watched import TRIGGERED, WatchedPTest, affected, message

LEVEL = 4
ASKED = {"ARN_TRIGGERED": 1, "ARN_SENT": 1}
SILENT = {"ARN_INTERVAL_SUPPRESSED": 1, "FANTEL_INTERVAL_SUPPRESSED": 1}


class BothAreTold(FlowControlTest, WatchedPTest):
    """FAN-6: the first packet in a congested queue causes an ARN for the upstream neighbour, the
    second a message for the ingress PE, and neither is said with every packet. No packet is
    lost."""

    def configure(self) -> None:
        """Both modes, and a queue beyond a level that notifies and beyond the hold threshold."""
        super().configure()
        self.p.domain_mode("FANTEL")
        self.p.level_policy(LEVEL, mark=Ecn.NOT_ECT, notify=True)
        self.p.queue_level(CORE_PORT, LEVEL)
        self.p.hold_level(CORE_PORT, "CONGESTED")

    def asked(self) -> Arn:
        """What the upstream neighbour holds."""
        return service_arn(time_us=ARN_TIME_US)

    def runTest(self) -> None:
        first, second, third = packets(3)
        self.check(
            DC_PORT,
            *frames_in([first]),
            expect={CORE_PORT: frames_out([first]), DC_PORT: [arn_out(self.asked())]},
            events=ASKED,
        )
        before = self.counts()
        frames = self.exchange(DC_PORT, *frames_in([second])).frames
        self.assertEqual(frames.keys(), {CORE_PORT, DC_PORT})
        self.assertEqual(frames[CORE_PORT], frames_out([second]))
        (said,) = frames[DC_PORT]
        # How many packets stand behind it in the queue is the target's business.
        status = BufferStatus(queue=0, level=LEVEL, depth=int.from_bytes(said[-4:], "big"))
        self.assertEqual(said, message(Event.CONGESTION, 1, affected(), status))
        events = TRIGGERED | {"ARN_INTERVAL_SUPPRESSED": 1}
        self.assertEqual(self.growth(before), {f"event {name}": n for name, n in events.items()})
        self.check(
            DC_PORT, *frames_in([third]), expect={CORE_PORT: frames_out([third])}, events=SILENT
        )


class BothAreToldOfFlows(BothAreTold):
    """FAN-6: the same where the neighbour holds single flows."""

    mode = "FLOW"

    def asked(self) -> Arn:
        """The flow of packet()."""
        return flow_arn(time_us=ARN_TIME_US)


class BothAreToldOfPriorities(BothAreTold):
    """FAN-6: the same where the neighbour holds a priority."""

    mode = "PRIORITY"

    def asked(self) -> Arn:
        """That of packet()."""
        return priority_arn(time_us=ARN_TIME_US, priority=0)


class EveryPacketAsksUpstream(BothAreTold):
    """FAN-6: where each packet is the first of its flow, and its copy an ARN, the clock says that
    the path is congested."""

    mode = "FLOW"
    says_hello = True
    RELIEF_US = 30_000_000

    def runTest(self) -> None:
        self.watch_the_path(self.RELIEF_US)
        relieved = [message(Event.CONGESTION_CLEARED, sequence) for sequence in (1, 2, 3)]
        self.assertEqual([self.receive(DC_PORT) for _ in relieved], relieved)
        self.send(DC_PORT, core_frame_in(packet(), DC_PORT))
        # The clock may be sooner than the second pass of the copy.
        expected = {arn_out(flow_arn(time_us=ARN_TIME_US)), message(Event.CONGESTION, 4)}
        self.assertEqual({self.receive(DC_PORT), self.receive(DC_PORT)}, expected)
