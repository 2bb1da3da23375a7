"""A PE's own links: a path whose first link is dead is left without a message from anybody."""

from fcn.packets.fantel import Event
from fcn.ptf_tests.lib.base import Outcome
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    NEIGHBOUR_MAC,
    NODE_MAC,
    PE_ADDRESS,
    REMOTE_PE_PREFIX,
    REMOTE_RED_SID,
    REMOTE_V4,
    PeTest,
    core_frame_out,
    host_frame_in,
)
from fcn.ptf_tests.lib.links import NEVER_US, LinkTest
from fcn.ptf_tests.lib.packets import roce, routed, srv6
from fcn.ptf_tests.lib.path_messages import LINKS, PathMessageTest
from fcn.ptf_tests.lib.paths import FIRST_PATH_ID
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT
from fcn.ptf_tests.tests.paths import SOME_FLOWS

CELL = 11


class FirstLink(LinkTest, PathMessageTest):
    """FAN-5: a PE moves the traffic of a path whose first link is dead, and back when it is well
    again; what others say of the path remains theirs."""

    node_address = PE_ADDRESS
    port = CORE_PORT_2
    """The policy's packets leave by CORE_PORT, whatever their path: hellos are not among them."""

    def configure(self) -> None:
        """In addition: the link of the first path, and a clock."""
        super().configure()
        self.tables = self.pe
        self.watch()
        self.pe.watch_path(1, self.port, FIRST_PATH_ID, cell=CELL, repeat_us=0, refresh_us=NEVER_US)
        self.start_clock()
        self.bring_up()

    def exchange(self, port: int, *frames: bytes, marker_port: int | None = None) -> Outcome:
        """Without hellos."""
        outcome = super().exchange(port, *frames, marker_port=marker_port)
        outcome.frames.pop(self.port, None)
        return outcome

    def wait_for_paths(self, paths: set[int]) -> None:
        """All flows of the host are on these paths, soon."""
        self.wait_for(f"paths {paths}", lambda: set(self.paths_of(SOME_FLOWS)) == paths)

    def runTest(self) -> None:
        self.wait_for_paths({0, 1})
        self.take_down()
        self.wait_for_paths({1})
        self.tell(Event.FAILURE, 0, LINKS[0])
        self.bring_up()
        self.wait_for_rounds(5)
        self.wait_for_paths({1})
        self.tell(Event.FAILURE_CLEARED, 0, LINKS[0])
        self.wait_for_paths({0, 1})


class AlternateAtPe(LinkTest, PeTest):
    """FAN-4: a PE, too, has a loop-free alternate for packets whose next hop is dead."""

    node_address = PE_ADDRESS
    says_hello = False

    def configure(self) -> None:
        """In addition: the link behind CORE_PORT is watched and up."""
        super().configure()
        self.tables = self.pe
        self.watch()
        self.start_clock()
        self.bring_up()

    def runTest(self) -> None:
        inner = roce(HOST_V4, REMOTE_V4, 0x118)
        wanted = srv6(routed(inner), PE_ADDRESS, REMOTE_RED_SID)
        self.take_down()
        self.check(DC_PORT, host_frame_in(inner), drops={"LINK_DOWN": 1})
        self.pe.alternate(
            CORE_PORT,
            REMOTE_PE_PREFIX,
            CORE_PORT_2,
            NODE_MAC[CORE_PORT_2],
            NEIGHBOUR_MAC[CORE_PORT_2],
        )
        before = self.counts()
        (frame,) = self.exchange(DC_PORT, host_frame_in(inner)).frames[CORE_PORT_2]
        expected = bytearray(core_frame_out(wanted, CORE_PORT_2))
        # The entropy label is this PE's choice.
        expected[14:18] = frame[14:18]
        self.assertEqual(frame, bytes(expected))
        self.assertEqual(self.growth(before), {"event REPAIRED": 1})
