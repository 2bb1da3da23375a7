"""A P that tells an ingress PE of congestion on its paths by FANTEL messages (FAN-6)."""

from fcn.packets.fantel import Event
from fcn.packets.fantel_tlvs import BufferStatus
from fcn.ptf_tests.lib.beds import core_frame_out
from fcn.ptf_tests.lib.congestion import from_ingress_pe
from fcn.ptf_tests.lib.flow_control import packet
from fcn.ptf_tests.lib.packets import Ecn, routed
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT
from fcn.ptf_tests.lib.watched import FAR_END_DOWN, TRIGGERED, WatchedPTest, affected, message

LEVEL = 4
REPEATED = {"FANTEL_INTERVAL_SUPPRESSED": 1}


def passed(datagram: bytes) -> bytes:
    """The frame as it goes on."""
    return core_frame_out(routed(datagram))


class CongestedPathTest(WatchedPTest):
    """Every packet towards the egress PE passes a congested queue."""

    def configure(self) -> None:
        """The mode in which congestion is said of paths."""
        super().configure()
        self.p.domain_mode("FANTEL")
        self.p.level_policy(LEVEL, mark=Ecn.NOT_ECT, notify=True)

    def congest(self) -> None:
        """From now on."""
        self.p.queue_level(CORE_PORT, LEVEL)


class SaidOfThePath(CongestedPathTest):
    """FAN-6: a packet in a congested queue causes a message that names the queue's state, the path
    and the packet's flow; not every packet does, and a packet on no path causes none."""

    def runTest(self) -> None:
        self.check(DC_PORT, from_ingress_pe(packet()), expect={CORE_PORT: [passed(packet())]})
        self.congest()
        before = self.counts()
        frames = self.exchange(DC_PORT, from_ingress_pe(packet())).frames
        self.assertEqual(frames.keys(), {CORE_PORT, DC_PORT})
        self.assertEqual(frames[CORE_PORT], [passed(packet())])
        # How many packets stand behind it in the queue is the target's business.
        (said,) = frames[DC_PORT]
        depth = int.from_bytes(said[-4:], "big")
        status = BufferStatus(queue=0, level=LEVEL, depth=depth)
        self.assertEqual(said, message(Event.CONGESTION, 1, affected(), status))
        self.assertEqual(self.growth(before), {f"event {name}": 1 for name in TRIGGERED})
        again = packet(2)
        self.check(
            DC_PORT, from_ingress_pe(again), expect={CORE_PORT: [passed(again)]}, events=REPEATED
        )
        other = packet(dst="fc00:0:2:99::")
        self.check(DC_PORT, from_ingress_pe(other), expect={CORE_PORT: [passed(other)]})


class CongestionAndFailure(CongestedPathTest):
    """FAN-4, FAN-6: that a path is congested was said: that it has failed is said nevertheless."""

    def runTest(self) -> None:
        self.congest()
        self.exchange(DC_PORT, from_ingress_pe(packet()))
        self.take_down()
        self.check_lost(packet(), message(Event.FAILURE, 2, affected(), FAR_END_DOWN))


class OtherModesSayNothing(CongestedPathTest):
    """FAN-6: in another mode congestion is not said of paths."""

    def runTest(self) -> None:
        self.congest()
        self.p.domain_mode()
        self.check(DC_PORT, from_ingress_pe(packet()), expect={CORE_PORT: [passed(packet())]})


class Relief(CongestedPathTest):
    """FAN-6: a path on which no packet met congestion for the time of relief is relieved; this is
    said three times (by a chip once), then from time to time."""

    says_hello = True
    RELIEF_US = 200_000

    def runTest(self) -> None:
        self.watch_the_path(self.RELIEF_US)
        times = 3 if self.client.pipeline.target.ports.paces_clock else 1
        for sequence in range(1, times + 1):
            self.assertEqual(self.next_message(), message(Event.CONGESTION_CLEARED, sequence))
        self.congest()
        self.send(DC_PORT, from_ingress_pe(packet()))
        status = self.next_message()
        self.assertEqual(status[54 + 8 + 1], Event.CONGESTION)
        first = int.from_bytes(status[54 + 8 + 20 : 54 + 8 + 24], "big")
        self.assertEqual(first, times + 1)
        # The clock may say the same a few times before the relief.
        while self.next_message()[54 + 8 + 1] == Event.CONGESTION:
            pass

    def next_message(self) -> bytes:
        """What comes next for the PE."""
        frame = self.receive(DC_PORT)
        self.assertIsNotNone(frame, "no message")
        assert frame is not None
        return frame
