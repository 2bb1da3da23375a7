"""Packets whose next hop is dead: another one takes them, and the ingress PE hears of it."""

from fcn.packets.fantel import Event
from fcn.ptf_tests.lib.beds import P_ADDRESS, PE_ADDRESS, REMOTE_PE, core_frame_out
from fcn.ptf_tests.lib.congestion import from_ingress_pe
from fcn.ptf_tests.lib.flow_control import packet
from fcn.ptf_tests.lib.links import DOWN, INIT, NEVER_US, OWN, hello
from fcn.ptf_tests.lib.packets import fast_cnp, routed
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT
from fcn.ptf_tests.lib.watched import (
    CELL,
    FAR_END_DOWN,
    PATH_ID,
    TRIGGERED,
    WatchedPTest,
    failure,
    message,
)

LOST = {"LINK_DOWN": 1}
REPEATED = {"FANTEL_INTERVAL_SUPPRESSED": 1}


class NoOtherWay(WatchedPTest):
    """FAN-4: where no other next hop leads there, the packet is dropped and the ingress PE told:
    which link, which path, which traffic; not with every packet. While the link is up, nothing."""

    def runTest(self) -> None:
        self.check_forwarded(packet())
        self.take_down()
        self.check_lost(packet(), failure(1))
        for psn in (2, 3):
            frame, suppressed = from_ingress_pe(packet(psn)), self.by_packet(REPEATED)
            self.check(DC_PORT, frame, drops=LOST, events=suppressed)
        self.bring_up()
        self.check_forwarded(packet())


class SaidAgain(WatchedPTest):
    """FAN-4: as long as packets of the path come, its PE is told again: a message may be lost."""

    repeat_us = 0

    def runTest(self) -> None:
        self.take_down()
        for sequence in range(1, 6):
            self.check_lost(packet(), failure(sequence))


class AnotherWay(WatchedPTest):
    """FAN-4: a loop-free alternate (RFC 5286) takes the packets until the PE has reacted."""

    def runTest(self) -> None:
        self.repair()
        self.take_down()
        moved = core_frame_out(routed(packet()), CORE_PORT_2)
        repaired = {"REPAIRED": 1}
        self.check(
            DC_PORT,
            from_ingress_pe(packet()),
            expect={CORE_PORT_2: [moved]} | self.by_packet({DC_PORT: [failure(1)]}),
            events=self.by_packet(TRIGGERED) | repaired,
        )
        self.check(
            DC_PORT,
            from_ingress_pe(packet()),
            expect={CORE_PORT_2: [moved]},
            events=self.by_packet(REPEATED) | repaired,
        )
        # Notifications take it too, and cause none.
        notice = fast_cnp(PE_ADDRESS, REMOTE_PE, 0x8CAFE, 1)
        self.check(
            DC_PORT,
            from_ingress_pe(notice),
            expect={CORE_PORT_2: [core_frame_out(routed(notice), CORE_PORT_2)]},
            events=repaired,
        )


class NobodyWatchesAnyMore(WatchedPTest):
    """FAN-4: what was known of a link is no longer believed when nobody looks at links any more."""

    def runTest(self) -> None:
        self.take_down()
        self.check_lost(packet(), failure(1))
        self.stop_clock()
        self.wait_for(
            "the packet takes its own next hop",
            lambda: (
                self.exchange(DC_PORT, from_ingress_pe(packet())).frames
                == {CORE_PORT: [core_frame_out(routed(packet()))]}
            ),
        )
        rounds = self.rounds()
        self.exchange(DC_PORT)
        self.assertEqual(self.rounds(), rounds)


class TheOtherWayIsDead(WatchedPTest):
    """FAN-4: an alternate whose link is dead as well is none."""

    def runTest(self) -> None:
        self.repair()
        self.p.bfd_session(CORE_PORT_2, "fc00:0:20::1", OWN)
        for state in (DOWN, INIT, DOWN):
            frame = hello(state, P_ADDRESS, yours=OWN, source="fc00:0:20::1", port=CORE_PORT_2)
            self.exchange(CORE_PORT_2, frame)
        self.take_down()
        self.check_lost(packet(), failure(1))


class PathByTag(WatchedPTest):
    """FAN-4: the tag of the SRH (RFC 8754 section 2) tells paths of one PE to one end apart."""

    def runTest(self) -> None:
        for tag in (1, 2):
            self.p.core_path(
                PE_ADDRESS, PATH_ID + tag, CORE_PORT, cell=CELL + tag, interval_us=NEVER_US, tag=tag
            )
        self.take_down()
        for sequence, tag in enumerate((1, 2), 1):
            self.check_lost(packet(tag=tag), failure(sequence, PATH_ID + tag))
        self.check(DC_PORT, from_ingress_pe(packet(tag=3)), drops=LOST)


class NoPathOfAPolicy(WatchedPTest):
    """FAN-4: of packets on no path of a policy nobody is told."""

    def runTest(self) -> None:
        self.take_down()
        other = "fc00:0:2:99::"
        self.check(DC_PORT, from_ingress_pe(packet(dst=other)), drops=LOST)


class SaidByTheClock(WatchedPTest):
    """FAN-4, FAN-5: without a packet on it, too, the PE hears of a path that it has failed and that
    it is well again; news are said three times, then again from time to time."""

    says_hello = True

    def sent(self) -> int:
        """Messages about paths so far."""
        return self.counts()["event FANTEL_SENT"]

    def runTest(self) -> None:
        self.watch_the_path()
        for number, change in enumerate((None, self.take_down, self.bring_up)):
            if change is not None:
                change()
            cause = [FAR_END_DOWN] if number == 1 else []
            event = Event.FAILURE if number == 1 else Event.FAILURE_CLEARED
            first = 3 * number + 1
            for sequence in range(first, first + 3):
                frame = self.receive(DC_PORT)
                self.assertIsNotNone(frame)
                self.assertEqual(frame, message(event, sequence, *cause))
            self.wait_for_rounds(3)
            self.assertEqual(self.sent(), first + 2)
