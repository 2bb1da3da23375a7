"""A PE none of whose paths is well tells the senders, as for a Fast CNP (FAN-4, FAN-6)."""

from fcn.contract.constants import PATH_CNPS
from fcn.packets.fantel import Event
from fcn.packets.fantel_tlvs import FiveTuple
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    HOST_V6,
    PE_ADDRESS,
    RED,
    REMOTE_V4,
    REMOTE_V6,
    core_frame_in,
    host_frame_in,
)
from fcn.ptf_tests.lib.notifications import (
    DEST_QP,
    LABEL_V4,
    LABEL_V6,
    SOURCE_QP,
    cnp_v4_frame,
    cnp_v6_frame,
)
from fcn.ptf_tests.lib.packets import Ecn, roce
from fcn.ptf_tests.lib.path_messages import LINKS, PathMessageTest, notification
from fcn.ptf_tests.lib.paths import FIRST_PATH_ID, NEVER_US
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

LEVEL = 3
RECEIVED = {"FANTEL_RECEIVED": 1}
TOLD = RECEIVED | {"CNP_SENT": 1}


def affected(label: int) -> FiveTuple:
    """The flow with this label, in its tunnel."""
    return FiveTuple(ip_version=6, label=label, protocol=4, src6=PE_ADDRESS, dst6="fc00:0:2::")


class NothingLeftTest(PathMessageTest):
    """A policy of two paths; CNPs are on, and two flows have labels."""

    translates = "FAST_CNP"
    hold_down_us = NEVER_US

    def configure(self) -> None:
        """In addition: CNPs and flows."""
        super().configure()
        self.pe.enable_cnp(translates=self.translates)
        self.pe.flow(RED, HOST_V4, REMOTE_V4, DEST_QP, LABEL_V4)
        self.pe.label_to_cnp(LABEL_V4, RED, REMOTE_V4, HOST_V4, SOURCE_QP)
        self.pe.label_to_cnp(LABEL_V6, RED, REMOTE_V6, HOST_V6, SOURCE_QP)

    def frame(self, event: Event, slot: int, label: int) -> bytes:
        """The next message of a link about a path and a flow on it."""
        self.sequence += 1
        path = FIRST_PATH_ID + slot
        return core_frame_in(notification(event, path, LINKS[0], 1, self.sequence, affected(label)))


class SendersHear(NothingLeftTest):
    """FAN-4, FAN-6: while another path is well nobody is told; when none is, the sender of the flow
    that met it gets a CNP, again with every message; good news are for no sender."""

    def runTest(self) -> None:
        for bad, good in (
            (Event.FAILURE, Event.FAILURE_CLEARED),
            (Event.CONGESTION, Event.CONGESTION_CLEARED),
        ):
            with self.subTest(bad=bad):
                self.check(CORE_PORT, self.frame(bad, 0, LABEL_V4), events=RECEIVED)
                self.check(
                    CORE_PORT,
                    self.frame(bad, 1, LABEL_V4),
                    expect={DC_PORT: [cnp_v4_frame()]},
                    events=TOLD | {"PATH_NONE_LEFT": 1},
                )
                self.check(
                    CORE_PORT,
                    self.frame(bad, 0, LABEL_V6),
                    expect={DC_PORT: [cnp_v6_frame()]},
                    events=TOLD,
                )
                for slot in (0, 1):
                    self.check(CORE_PORT, self.frame(good, slot, LABEL_V4), events=RECEIVED)


class FlowsOnACongestedPath(NothingLeftTest):
    """FAN-6: while no path is better the sender of every labelled flow on a congested one gets a
    CNP for each time that a node says so, whichever flow its message names; the packet goes on."""

    cnp_us = 1

    def sent(self, host: str, remote: str, *, told: bool) -> None:
        """A packet of the flow goes on, and its sender is told or not."""
        frames = {DC_PORT: [cnp_v4_frame() if host == HOST_V4 else cnp_v6_frame()]} if told else {}
        before = self.counts()
        outcome = self.exchange(DC_PORT, host_frame_in(roce(host, remote, DEST_QP, ecn=Ecn.ECT0)))
        self.assertEqual(len(outcome.frames.pop(CORE_PORT)), 1)
        self.assertEqual(outcome.frames, frames)
        grown = {"CNP_TRIGGERED": 1, "OWN_CONGESTION": 1, "CNP_SENT": 1} if told else {}
        self.assertLessEqual(
            {f"event {name}": count for name, count in grown.items()}.items(),
            self.growth(before).items(),
        )

    def runTest(self) -> None:
        self.pe.flow(RED, HOST_V6, REMOTE_V6, DEST_QP, LABEL_V6)
        self.sent(HOST_V4, REMOTE_V4, told=False)
        self.tell(Event.CONGESTION, 0)
        self.sent(HOST_V4, REMOTE_V4, told=False)
        self.tell(Event.CONGESTION, 1)
        self.sent(HOST_V4, REMOTE_V4, told=True)
        self.sent(HOST_V4, REMOTE_V4, told=False)
        self.sent(HOST_V6, REMOTE_V6, told=True)
        self.tell(Event.CONGESTION, 1)
        self.sent(HOST_V4, REMOTE_V4, told=True)
        self.sent(HOST_V4, REMOTE_V4, told=False)
        self.tell(Event.CONGESTION_CLEARED, 1)
        self.sent(HOST_V6, REMOTE_V6, told=False)


class NoMoreThanSoMany(FlowsOnACongestedPath):
    """ALL-4: one message is for PATH_CNPS senders at most; others hear with the next."""

    def label_flows(self) -> list[bytes]:
        """A frame of each of more flows than that."""
        flows = range(PATH_CNPS + 20)
        for number in flows:
            self.pe.flow(RED, HOST_V4, REMOTE_V4, DEST_QP + 1 + number, LABEL_V4 + 1 + number)
            self.pe.label_to_cnp(LABEL_V4 + 1 + number, RED, REMOTE_V4, HOST_V4, 0x1000 + number)
        return [
            host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP + 1 + number, ecn=Ecn.ECT0))
            for number in flows
        ]

    def runTest(self) -> None:
        frames = self.label_flows()
        self.tell(Event.CONGESTION, 0)
        self.tell(Event.CONGESTION, 1)
        told = self.told(frames)
        self.assertEqual(len(told), PATH_CNPS)
        self.assertEqual(self.told(frames), set())
        self.tell(Event.CONGESTION, 1)
        self.assertEqual(len(self.told(frames)), PATH_CNPS)

    def told(self, frames: list[bytes]) -> set[bytes]:
        """The CNPs that these packets cause; the packets go on."""
        before = self.counts()
        outcome = self.exchange(DC_PORT, *frames).frames
        self.assertEqual(len(outcome[CORE_PORT]), len(frames))
        cnps = outcome.get(DC_PORT, [])
        refused = self.growth(before)["event CNP_RATE_SUPPRESSED"]
        self.assertEqual(refused, len(frames) - len(cnps))
        self.assertEqual(len(set(cnps)), len(cnps))
        return set(cnps)


class OnceInTheInterval(FlowsOnACongestedPath):
    """FAN-6: however often a node says so, a sender hears of it once in the interval."""

    cnp_us = NEVER_US

    def runTest(self) -> None:
        self.tell(Event.CONGESTION, 0)
        self.tell(Event.CONGESTION, 1)
        self.sent(HOST_V4, REMOTE_V4, told=True)
        self.tell(Event.CONGESTION, 1)
        self.sent(HOST_V4, REMOTE_V4, told=False)


class CongestedHereToo(FlowsOnACongestedPath):
    """FCN-12, FAN-6: where this PE's own queue is congested, too, senders hear of it as often as of
    that alone."""

    def runTest(self) -> None:
        self.pe.queue_level(CORE_PORT, LEVEL)
        self.pe.level_policy(LEVEL, mark=Ecn.NOT_ECT, notify=True, interval_us=0)
        self.tell(Event.CONGESTION, 0)
        self.tell(Event.CONGESTION, 1)
        for _ in range(3):
            self.sent(HOST_V4, REMOTE_V4, told=True)


class WithoutCnpsNobodyHears(FlowsOnACongestedPath):
    """FCN-16: not where CNPs are off."""

    translates = "NONE"

    def runTest(self) -> None:
        self.tell(Event.CONGESTION, 0)
        self.tell(Event.CONGESTION, 1)
        self.sent(HOST_V4, REMOTE_V4, told=False)


class FailedAndCongested(NothingLeftTest):
    """FAN-6: where one path has failed and the other is congested, nothing is better, either."""

    def runTest(self) -> None:
        self.check(CORE_PORT, self.frame(Event.FAILURE, 0, LABEL_V4), events=RECEIVED)
        self.check(
            CORE_PORT,
            self.frame(Event.CONGESTION, 1, LABEL_V4),
            expect={DC_PORT: [cnp_v4_frame()]},
            events=TOLD | {"PATH_NONE_LEFT": 1},
        )


class NobodyToTell(NothingLeftTest):
    """FAN-8: a message that names no flow, a flow without a label, or one whose sender is not known
    says what it says of the path, and no sender hears of it."""

    def runTest(self) -> None:
        self.tell(Event.FAILURE, 0)
        self.tell(Event.FAILURE, 1)
        for label in (0, LABEL_V4 & 0x7FFFF, LABEL_V4 + 1):
            with self.subTest(label=label):
                self.check(CORE_PORT, self.frame(Event.FAILURE, 0, label), events=RECEIVED)


class CnpsAreOff(NothingLeftTest):
    """FCN-16: without CNPs in this domain no sender hears of paths."""

    translates = "NONE"

    def runTest(self) -> None:
        self.tell(Event.FAILURE, 0)
        self.check(
            CORE_PORT,
            self.frame(Event.FAILURE, 1, LABEL_V4),
            events=RECEIVED | {"PATH_NONE_LEFT": 1},
        )
