"""A PE watches its links as a P does: tests of a P, on a PE (FAN-4, FAN-8)."""

from scapy.contrib.bfd import BFD

from fcn.ptf_tests.lib.beds import NEIGHBOUR_MAC, NODE_MAC, P_ADDRESS, PE_ADDRESS, PTest
from fcn.ptf_tests.lib.checksums import ALL_ONES, udp_checksum_of, word_of_zero_checksum
from fcn.ptf_tests.lib.links import DOWN, FAR_END, INIT, INTERVAL_US, NEVER_US, OWN, LinkTest, hello
from fcn.ptf_tests.lib.packets import datagram_of
from fcn.ptf_tests.lib.ports import CORE_PORT
from fcn.ptf_tests.lib.transit_pe import OnAPe
from fcn.ptf_tests.lib.watched import CELL, EPOCH, NODE, PATH_ID, WatchedPTest
from fcn.ptf_tests.tests import watched_links

DISCRIMINATOR = 40 + 8 + 6
"""Low half of the own one, in a datagram."""


class WatchedPe(OnAPe, WatchedPTest):
    """A PE whose link behind CORE_PORT is watched and was up; it sends no messages of paths."""

    def configure(self) -> None:
        """The bed of a P, without what only a P says."""
        PTest.configure(self)
        self.tables = self.p
        self.watch()
        self.start_clock()
        self.bring_up()


class NobodyElseSpeaks(WatchedPe, watched_links.NobodyElseSpeaks):
    """FAN-8."""


class StateMachine(WatchedPe, watched_links.StateMachine):
    """FAN-4."""


class SilentLink(WatchedPe, watched_links.SilentLink):
    """FAN-4."""


class ClockStopsAndBegins(WatchedPe, watched_links.ClockStopsAndBegins):
    """FAN-4."""


class NeverUp(LinkTest, PTest):
    """FAN-4: of a path whose link was never up nothing is said; the link is down after 64 detection
    times, and then the path has failed."""

    node_address = P_ADDRESS
    detection_us = 20_000

    def runTest(self) -> None:
        self.tables = self.p
        self.watch()
        self.p.fantel_profile(P_ADDRESS, node=NODE.node, epoch=EPOCH)
        self.p.watch_path(
            1,
            CORE_PORT,
            PATH_ID,
            cell=CELL,
            ingress_pe=PE_ADDRESS,
            repeat_us=0,
            refresh_us=NEVER_US,
        )
        self.start_clock()
        self.wait_for_rounds(5)
        self.assertEqual(self.link_changes(), (0, 0))
        self.assertEqual(self.counts()["event FANTEL_TRIGGERED"], 0)
        self.wait_for("the silence is noticed", lambda: self.link_changes() == (1, 1))
        self.wait_for("it is said", lambda: self.counts()["event FANTEL_TRIGGERED"] > 0)


class ChecksumOfZero(LinkTest, PTest):
    """FAN-4: a hello whose checksum would be zero has all ones, sent and received."""

    node_address = P_ADDRESS

    def watch_as(self, discriminator: int) -> None:
        """In slot 0 of the clock."""
        self.p.watch_link(
            0,
            CORE_PORT,
            far_end=(NEIGHBOUR_MAC[CORE_PORT], FAR_END),
            own=(NODE_MAC[CORE_PORT], P_ADDRESS),
            interval_us=INTERVAL_US,
            detection_us=NEVER_US,
            discriminator=discriminator,
        )

    def runTest(self) -> None:
        self._token = 0
        self.p.bfd_session(CORE_PORT, FAR_END, OWN)
        self.watch_as(OWN)
        self.start_clock()
        said = datagram_of(bytes(self.next_hello(DOWN)))
        word = word_of_zero_checksum(
            lambda word: said[:DISCRIMINATOR] + word.to_bytes(2, "big") + said[DISCRIMINATOR + 2 :]
        )
        self.p.delete("clock_slot", match={"slot": 0})
        self.watch_as(word)

        def says_so() -> bytes | None:
            hello_said = self.next_hello(DOWN)
            is_it = hello_said[BFD].my_discriminator == word
            return datagram_of(bytes(hello_said)) if is_it else None

        said = self.wait_for("the discriminator is said", says_so) or b""
        self.assertEqual(udp_checksum_of(said), ALL_ONES)

        word = word_of_zero_checksum(
            lambda word: datagram_of(hello(DOWN, P_ADDRESS, my_discriminator=word))
        )
        self.send(CORE_PORT, hello(DOWN, P_ADDRESS, my_discriminator=word))
        self.assertEqual(self.next_hello(INIT)[BFD].your_discriminator, word)


class ChecksumOfZeroAtPe(OnAPe, ChecksumOfZero):
    """FAN-4."""
