"""A PE that balances by load: new flows, and others after a pause, take the path used less."""

from collections.abc import Sequence
from functools import partial

from fcn.contract.paths import PathShare
from fcn.packets.fantel import Event
from fcn.packets.fantel_tlvs import BufferStatus, LinkUtilization, Tlv
from fcn.ptf_tests.lib.beds import HOST_V4, PE_ADDRESS, REMOTE_V4, host_frame_in
from fcn.ptf_tests.lib.links import LinkTest
from fcn.ptf_tests.lib.packets import udp_flows
from fcn.ptf_tests.lib.path_messages import LINKS, Link, PathMessageTest
from fcn.ptf_tests.lib.paths import FIRST_PATH_ID, FIRST_TUNNEL, NEVER_US, POLICY, POLICY_IN_RED
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT
from fcn.ptf_tests.tests.paths import SOME_FLOWS

NEW_FLOWS = udp_flows(HOST_V4, REMOTE_V4, 5000, 96)
"""Others than SOME_FLOWS."""
STANDING = BufferStatus(queue=0, level=7, depth=9)


class LoadTest(PathMessageTest):
    """Two paths of equal weight; flows may move after `flowlet_us`."""

    flowlet_us = NEVER_US

    def load(self, slot: int, permille: int, *before: Tlv, link: Link = LINKS[0]) -> None:
        """Tell the PE how much of a link of a path is in use."""
        self.tell(Event.LOAD, slot, link, [*before, LinkUtilization(permille=permille)])

    def are_on(self, flows: Sequence[bytes], paths: Sequence[int]) -> bool:
        """Whether each flow takes this path now."""
        return self.paths_of(flows) == paths

    def moved(self) -> Sequence[int]:
        """Flows that were moved to each path because of load."""
        return self.of_slots("path_flowlets")


class FlowsKeepTheirPath(LoadTest):
    """FAN-7: without a pause no flow leaves its path for load: nothing overtakes. A new flow takes
    the other path where the difference is large."""

    def runTest(self) -> None:
        before = self.paths_of(SOME_FLOWS)
        self.assertEqual(set(before), {0, 1})
        self.load(0, 1000)
        self.load(1, 100)
        self.assertEqual(self.paths_of(SOME_FLOWS), before)
        self.assertEqual(self.moved(), [0, 0])
        self.assertEqual(set(self.paths_of(NEW_FLOWS)), {1})
        self.assertEqual(self.moved()[0], 0)
        self.assertGreater(self.moved()[1], 0)
        self.assertEqual(self.paths_of(SOME_FLOWS), before)


class FlowsLeaveInAPause(LoadTest):
    """FAN-7: after a pause flows leave the path that is used more, a part of them each time, and
    come back when it is used less."""

    flowlet_us = 1

    def runTest(self) -> None:
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0, 1})
        for busy in (0, 1, 0):
            self.load(busy, 1000, STANDING)
            self.load(1 - busy, 0)
            all_idle = [1 - busy] * len(SOME_FLOWS)
            self.wait_for(
                f"all flows on path {1 - busy}", partial(self.are_on, SOME_FLOWS, all_idle)
            )


class CongestionWaitsForAPause(LoadTest):
    """FAN-6, FAN-7: flows leave a congested path, too, only in a pause, so that nothing overtakes.
    New ones avoid it, and all leave it when it fails."""

    def runTest(self) -> None:
        before = self.paths_of(SOME_FLOWS)
        self.assertEqual(set(before), {0, 1})
        self.tell(Event.CONGESTION, 0)
        self.assertEqual(self.paths_of(SOME_FLOWS), before)
        self.assertEqual(set(self.paths_of(NEW_FLOWS)), {1})
        self.tell(Event.FAILURE, 0)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1})


class APartOfThem(LoadTest):
    """FAN-7: how many flows move follows from the difference of loads and from their pause, against
    how long loads take to show that: of those that begin half by 128 permille, of those that pause
    shortly next to none, so that all do not go by the same news. Those of less than the margin
    stay."""

    flowlet_us = 1
    margin = 8
    settle_us = 100_000_000

    def runTest(self) -> None:
        flows = udp_flows(HOST_V4, REMOTE_V4, 10_000, 2048)
        before = self.paths_of(flows)
        self.load(0, 64)
        self.assertEqual(self.paths_of(flows), before)
        # 16 in the unit of path_load_t
        self.load(0, 128)
        after = self.paths_of(flows)
        left = [new for old, new in zip(before, after, strict=True) if old == 0]
        self.assertLess(sum(left) / len(left), 0.02)
        came = [new for old, new in zip(before, after, strict=True) if old == 1]
        self.assertEqual(came.count(0), 0)
        self.assertEqual(self.moved(), [0, sum(left)])
        new = self.paths_of(udp_flows(HOST_V4, REMOTE_V4, 20_000, 2048))
        self.assertAlmostEqual(sum(new) / len(new), 3 / 4, delta=0.06)


class TheHighestCounts(LoadTest):
    """FAN-7: of the links of a path the one that is used most counts, until whoever said so says
    less; the queue's level counts beside the utilization."""

    def takes(self, first: int, paths: set[int]) -> None:
        """Flows that begin now, from this port on, take these paths."""
        flows = udp_flows(HOST_V4, REMOTE_V4, first, 96)
        self.assertEqual(set(self.paths_of(flows)), paths)

    def runTest(self) -> None:
        self.load(1, 300)
        self.load(0, 900, link=LINKS[0])
        self.load(0, 100, link=LINKS[2])
        self.takes(10_000, {1})
        self.load(0, 300, link=LINKS[0])
        self.takes(20_000, {0, 1})
        self.load(1, 300, STANDING)
        self.takes(30_000, {0})
        self.assertEqual(self.of_slots("path_loads"), [3, 2])
        self.assertEqual(self.news(), {})


class LoadIsNoFailure(LoadTest):
    """FAN-4, FAN-7: a path that has failed is left at once, by every flow, however little of it is
    in use; a backup is not used because of load."""

    shares = (PathShare(1), PathShare(1), PathShare(1, is_backup=True))

    def runTest(self) -> None:
        self.load(0, 1000, STANDING)
        self.load(1, 1000, STANDING)
        before = self.paths_of(SOME_FLOWS)
        self.assertEqual(set(before), {0, 1})
        self.load(1, 0)
        self.assertEqual(self.paths_of(SOME_FLOWS), before)
        self.tell(Event.FAILURE, 1)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0})
        self.assertEqual(set(self.paths_of(NEW_FLOWS)), {0})
        self.tell(Event.FAILURE, 0)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {2})


class PathOfAnotherPolicy(LoadTest):
    """FAN-7: where a policy has other paths than the one whose number it has, a flow keeps no path
    that is not there any more: its tunnel may be another VRF's by now."""

    def runTest(self) -> None:
        self.load(0, 1000, STANDING)
        self.load(1, 0)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1})
        match = {"tunnel": POLICY_IN_RED}
        self.pe.delete("policy", match=match)
        self.pe.insert(
            "policy",
            "to_policy",
            match=match,
            number=POLICY,
            first=FIRST_TUNNEL,
            hold=0,
            flowlet_gap=NEVER_US,
            margin=0,
            settle=0,
            cnp_interval=0,
            paths=1,
        )
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0, 1})


class OwnLink(LinkTest, LoadTest):
    """FAN-7: a PE measures its own links, too: new flows take the path whose first link is used
    less."""

    node_address = PE_ADDRESS
    interval_us = NEVER_US
    rate_kbps = 80
    """A packet in each look fills it."""

    def configure(self) -> None:
        """In addition: a clock, the link of the first path."""
        super().configure()
        self.tables = self.pe
        self.watch()
        self.pe.watch_path_load(
            1, CORE_PORT, FIRST_PATH_ID, cell=9, change=100, refresh_us=NEVER_US
        )
        self.start_clock()
        self.bring_up()
        self.fall_silent()

    def runTest(self) -> None:
        port = 10_000

        def is_moved() -> bool:
            nonlocal port
            port += 96
            flows = udp_flows(HOST_V4, REMOTE_V4, port, 96)
            self.exchange(DC_PORT, *map(host_frame_in, flows))
            return self.moved()[1] > 0

        self.wait_for("new flows take the other path", is_moved)
        self.assertEqual(self.moved()[0], 0)
