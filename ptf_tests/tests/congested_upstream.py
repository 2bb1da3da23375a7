"""A P that tells of congestion on a path both ways: its ingress PE by FANTEL messages, and its
upstream neighbour, which holds that traffic, by ARN messages (FAN-6)."""

from fcn.contract.profiles import Mode
from fcn.packets.arn import Arn
from fcn.packets.fantel import Event
from fcn.packets.fantel_tlvs import BufferStatus
from fcn.ptf_tests.lib.flow_control import (
    ARN_TIME_US,
    FlowControlTest,
    arn_out,
    flow_arn,
    frames_in,
    frames_out,
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
    """FAN-6: the first packet in a congested queue causes an ARN for the upstream neighbour and a
    message for the ingress PE, and neither is said with every packet. No packet is lost."""

    needs = frozenset({Mode.FANTEL, Mode.FLOW_CONTROL})

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
        first, second = packets(2)
        before = self.counts()
        frames = self.exchange(DC_PORT, *frames_in([first])).frames
        self.assertEqual(frames.keys(), {CORE_PORT, DC_PORT})
        self.assertEqual(frames[CORE_PORT], frames_out([first]))
        said, asked = sorted(frames[DC_PORT], key=len, reverse=True)
        # How many packets stand behind it in the queue is the target's business.
        status = BufferStatus(queue=0, level=LEVEL, depth=int.from_bytes(said[-4:], "big"))
        self.assertEqual(said, message(Event.CONGESTION, 1, affected(), status))
        wanted = self.asked()
        wanted.metric = LEVEL
        self.assertEqual(asked, arn_out(wanted))
        events = TRIGGERED | ASKED
        self.assertEqual(self.growth(before), {f"event {name}": n for name, n in events.items()})
        self.check(
            DC_PORT, *frames_in([second]), expect={CORE_PORT: frames_out([second])}, events=SILENT
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
