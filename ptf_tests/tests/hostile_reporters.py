"""Who speaks in the name of a node, and what his message may do (FAN-8, ALL-4)."""

from fcn.packets.fantel import Event
from fcn.ptf_tests.lib.beds import core_frame_in
from fcn.ptf_tests.lib.path_messages import LINKS, PathMessageTest, notification
from fcn.ptf_tests.lib.paths import FIRST_PATH_ID
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2
from fcn.ptf_tests.tests.paths import SOME_FLOWS

RECEIVED = {"FANTEL_RECEIVED": 1}
STARTED = 1_790_000_000
"""An epoch is the time of a node's start, in seconds."""
DAY = 86_400


class ReporterTest(PathMessageTest):
    """A PE of two paths; messages are about the first, of the first link."""

    def speak(
        self, event: Event, epoch: int, sequence: int, drop: str = "", port: int = CORE_PORT
    ) -> None:
        """Send a message; it is news, or dropped for this reason."""
        message = notification(event, FIRST_PATH_ID, LINKS[0], epoch, sequence)
        drops = {drop: 1} if drop else {}
        self.check(port, core_frame_in(message, port), events=RECEIVED, drops=drops)

    def assert_failed(self, *, failed: bool) -> None:
        """Of the first path."""
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1} if failed else {0, 1})


class OtherPort(ReporterTest):
    """FAN-8: a message in the name of a node counts by those ports alone by which that node's
    come, and another changes nothing of their order."""

    def runTest(self) -> None:
        self.speak(Event.FAILURE, STARTED, 1, "NOTIFICATION_WRONG_PORT", CORE_PORT_2)
        self.assert_failed(failed=False)
        self.speak(Event.FAILURE, STARTED, 1)
        self.assert_failed(failed=True)
        self.speak(Event.LOAD, STARTED + 1, 1, "NOTIFICATION_WRONG_PORT", CORE_PORT_2)
        self.speak(Event.FAILURE_CLEARED, STARTED, 2)
        # With ECMP, and around a dead link, they come by several.
        self.pe.reporter_port(LINKS[0].address, CORE_PORT_2)
        self.speak(Event.FAILURE, STARTED, 3, port=CORE_PORT_2)
        self.speak(Event.FAILURE_CLEARED, STARTED, 4)
        self.assert_failed(failed=False)


class Jumps(ReporterTest):
    """FAN-8: epochs and numbers farther ahead than a node's own can be are counted and change
    nothing; a node that starts again after two years is heard."""

    def runTest(self) -> None:
        self.speak(Event.FAILURE, STARTED, 10)
        for epoch, sequence in (
            (STARTED + (1 << 30), 11),
            (STARTED + (1 << 31) - 1, 11),
            (STARTED + (1 << 26) + 1, 11),
            (STARTED, 11 + (1 << 30)),
            (STARTED, 11 + (1 << 24)),
        ):
            with self.subTest(epoch=epoch, sequence=sequence):
                self.speak(Event.FAILURE, epoch, sequence, "NOTIFICATION_JUMP")
        self.speak(Event.FAILURE_CLEARED, STARTED, 11)
        self.assert_failed(failed=False)
        self.speak(Event.FAILURE, STARTED, 11 + (1 << 24))
        self.speak(Event.FAILURE_CLEARED, STARTED + 730 * DAY, 1)
        self.assert_failed(failed=False)


class HeardAgain(ReporterTest):
    """ALL-4: whoever has spoken in the name of a link with higher numbers keeps its own node from
    being heard for no longer than some seconds."""

    def runTest(self) -> None:
        self.speak(Event.FAILURE_CLEARED, STARTED + 700 * DAY, 1)
        self.speak(Event.FAILURE, STARTED, 1, "NOTIFICATION_STALE")
        message = notification(Event.FAILURE, FIRST_PATH_ID, LINKS[0], STARTED, 2)

        def is_heard() -> bool:
            before = self.counts()
            self.exchange(CORE_PORT, core_frame_in(message))
            return "drop NOTIFICATION_STALE" not in self.growth(before)

        self.wait_for("the link is heard again", is_heard)
        self.assert_failed(failed=True)


class Forgotten(ReporterTest):
    """FAN-8: what the controller lets the PE forget keeps no message back; of other reporters
    nothing is forgotten."""

    def runTest(self) -> None:
        other = notification(Event.FAILURE, FIRST_PATH_ID, LINKS[1], STARTED, 1)
        self.check(CORE_PORT, core_frame_in(other), events=RECEIVED)
        self.speak(Event.FAILURE, STARTED + 700 * DAY, 1)
        self.speak(Event.FAILURE_CLEARED, STARTED, 1, "NOTIFICATION_STALE")
        self.forget(0)
        self.speak(Event.FAILURE_CLEARED, STARTED, 1)
        self.check(
            CORE_PORT, core_frame_in(other), events=RECEIVED, drops={"NOTIFICATION_STALE": 1}
        )
        self.say("WELL", 0)
        self.assert_failed(failed=False)
