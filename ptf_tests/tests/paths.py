"""Policies with several paths: weights, and reaction to what is said of a path (FAN-4 to FAN-6)."""

from collections import Counter
from math import sqrt

from fcn.contract.constants import FCN_LABEL_BIT
from fcn.contract.paths import PathShare, path_cell
from fcn.ptf_tests.lib.beds import (
    BLUE,
    BLUE_HOST_MAC,
    BLUE_VLAN,
    HOST_V4,
    HOST_V6,
    PE_ADDRESS,
    RED,
    REMOTE_BLUE_SID,
    REMOTE_V4,
    REMOTE_V6,
    core_frame_out,
    host_frame_in,
)
from fcn.ptf_tests.lib.counters import read_counter
from fcn.ptf_tests.lib.packets import datagram_of, flow_label_of, roce, routed, srv6, udp_flows
from fcn.ptf_tests.lib.paths import FIRST_PATH_ID, NEVER_US, POLICY, POLICY_IN_RED, PathTest
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

SOME_FLOWS = udp_flows(HOST_V4, REMOTE_V4, 1000, 96)
"""So many that a path in use takes one: of 64 buckets it has at least 8."""


class WeightsByFlow(PathTest):
    """FAN-4: of 4,096 flows, of UDP and RoCEv2 and both IP versions, each path takes its share, and
    a flow stays on its path."""

    shares = (PathShare(1), PathShare(2), PathShare(5))
    flows = 4096

    def runTest(self) -> None:
        quarter = self.flows // 4
        flows = udp_flows(HOST_V4, REMOTE_V4, 1000, quarter)
        flows += udp_flows(HOST_V6, REMOTE_V6, 1000, quarter)
        # From one port to one port: these differ in their queue pair alone.
        flows += [roce(HOST_V4, REMOTE_V4, 0x100 + i) for i in range(quarter)]
        flows += [roce(HOST_V6, REMOTE_V6, 0x100 + 2 * i) for i in range(quarter)]
        taken = self.paths_of(flows)
        total = sum(share.weight for share in self.shares)
        for name, part in (
            ("all", taken),
            *((f"quarter {i}", taken[i * quarter : (i + 1) * quarter]) for i in range(4)),
        ):
            count = Counter(part)
            for slot, share in enumerate(self.shares):
                with self.subTest(flows=name, slot=slot):
                    p = share.weight / total
                    deviation = sqrt(p * (1 - p) / len(part))
                    self.assertAlmostEqual(count[slot] / len(part), p, delta=5 * deviation)
        self.assertEqual(self.traffic(), Counter(taken))
        self.assertEqual(self.paths_of(flows[::64]), taken[::64])


class EverySetOfPaths(PathTest):
    """FAN-4, FAN-5: whichever paths have failed, traffic goes by those left, backups only where all
    others have failed; no other flow leaves its path."""

    shares = (
        PathShare(1),
        PathShare(2),
        PathShare(1, is_backup=True),
        PathShare(3, is_backup=True),
    )

    def runTest(self) -> None:
        primaries, backups = {0, 1}, {2, 3}
        whole = self.paths_of(SOME_FLOWS)
        self.assertEqual(set(whole), primaries)
        failed: set[int] = set()
        # Gray code: one report leads from each set to the next.
        for step in range(1, 1 << len(self.shares)):
            slot = (step & -step).bit_length() - 1
            self.say("WELL" if slot in failed else "FAILED", slot)
            failed ^= {slot}
            left = primaries - failed or backups - failed
            if not left:
                continue
            with self.subTest(failed=failed):
                taken = self.paths_of(SOME_FLOWS)
                self.assertEqual(set(taken), left)
                if left <= primaries:
                    stayed = [(a, b) for a, b in zip(whole, taken, strict=True) if a in left]
                    self.assertTrue(all(a == b for a, b in stayed))


class LastPathStays(PathTest):
    """FAN-4: the path that was left when all others had failed is not given up when it is said to
    have failed, too; the first that is well again is taken, with no hold-down."""

    shares = (PathShare(1), PathShare(1), PathShare(1))
    hold_down_us = NEVER_US

    def runTest(self) -> None:
        for slot in (0, 2):
            self.say("FAILED", slot)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1})
        before = self.counts()
        self.say("FAILED", 1)
        self.assertEqual(self.growth(before), {"event PATH_NONE_LEFT": 1})
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1})
        self.say("WELL", 2)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {2})


class OnlyPathStays(PathTest):
    """FAN-4: a policy with one path keeps it."""

    shares = (PathShare(1),)

    def runTest(self) -> None:
        for report in ("FAILED", "CONGESTED"):
            self.say(report, 0)
            self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0})


class CongestedPathIsAvoided(PathTest):
    """FAN-6: traffic avoids a congested path where another is not; one that has failed always."""

    def runTest(self) -> None:
        self.say("CONGESTED", 0)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1})
        before = self.counts()
        self.say("CONGESTED", 1)
        self.assertEqual(self.growth(before), {"event PATH_NONE_LEFT": 1})
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0, 1})
        self.say("FAILED", 1)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0})
        self.say("RELIEVED", 0)
        self.say("RELIEVED", 1)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0})
        self.say("WELL", 1)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0, 1})


class UnknownPath(PathTest):
    """FAN-8: what is said of a path that no policy has is counted and changes nothing."""

    def runTest(self) -> None:
        for path_id in (0, FIRST_PATH_ID - 1, FIRST_PATH_ID + 2, 0xFFFFFFFF):
            with self.subTest(path_id=path_id):
                before = self.counts()
                self.say_of("FAILED", path_id)
                self.assertEqual(self.growth(before), {"event PATH_UNKNOWN": 1})
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0, 1})
        self.assertEqual(self.news(), {})


class OnlyNewsCounts(PathTest):
    """FAN-4: what is known already changes nothing and is not counted."""

    def runTest(self) -> None:
        before = self.counts()
        for report in (
            "WELL",
            "FAILED",
            "FAILED",
            "CONGESTED",
            "CONGESTED",
            "RELIEVED",
            "RELIEVED",
        ):
            self.say(report, 1)
        self.assertEqual(self.news(), {(1, "FAILED"): 1, (1, "CONGESTED"): 1, (1, "RELIEVED"): 1})
        self.assertEqual(self.growth(before), {})
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0})


class HoldDown(PathTest):
    """FAN-5: a path that is well again is left alone for the hold-down, but not where the others
    have failed meanwhile."""

    hold_down_us = NEVER_US

    def runTest(self) -> None:
        for _ in range(3):
            self.say("FAILED", 0)
            self.say("WELL", 0)
            self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1})
        self.say("FAILED", 1)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0})


class CongestionEndsNoHoldDown(PathTest):
    """FAN-6, FAN-8: two paths of which each is congested when it has the traffic do not pass it
    back and forth."""

    hold_down_us = NEVER_US

    def runTest(self) -> None:
        self.say("CONGESTED", 0)
        for congested, other in ((1, 0), (0, 1), (1, 0)):
            self.say("RELIEVED", other)
            self.say("CONGESTED", congested)
            self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1})
        self.say("FAILED", 1)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0})


class FlappingKeepsNobodyOut(PathTest):
    """FAN-5, FAN-8: the hold-down of a path ends although another fails and recovers again and
    again."""

    shares = (PathShare(1), PathShare(1), PathShare(1))
    hold_down_us = 200_000

    def runTest(self) -> None:
        self.say("FAILED", 0)
        self.say("WELL", 0)

        def is_back() -> bool:
            self.say("FAILED", 2)
            self.say("WELL", 2)
            return 0 in self.paths_of(SOME_FLOWS)

        self.wait_for("the path that is well", is_back)


class HoldDownEnds(PathTest):
    """FAN-5: after the hold-down traffic comes back by itself."""

    hold_down_us = 200_000

    def runTest(self) -> None:
        whole = self.paths_of(SOME_FLOWS)
        self.say("FAILED", 0)
        self.say("WELL", 0)
        self.wait_for("the old paths", lambda: self.paths_of(SOME_FLOWS) == whole)


class LabelChangesNoPath(PathTest):
    """FAN-7: a flow stays on its path when it is given its label."""

    def runTest(self) -> None:
        flows = [roce(HOST_V4, REMOTE_V4, 0x100 + i) for i in range(64)]
        taken = self.paths_of(flows)
        for i in range(64):
            self.pe.flow(RED, HOST_V4, REMOTE_V4, 0x100 + i, FCN_LABEL_BIT + 7919 * i)
        self.assertEqual(self.paths_of(flows), taken)
        outcome = self.exchange(DC_PORT, *map(host_frame_in, flows))
        labels = [flow_label_of(datagram_of(frame)) for frame in outcome.frames[CORE_PORT]]
        self.assertEqual(labels, [FCN_LABEL_BIT + 7919 * i for i in range(64)])


class OtherTrafficIsUnaffected(PathTest):
    """FAN-4: a VRF whose routes name a tunnel keeps it, whatever is said of paths."""

    def runTest(self) -> None:
        datagram = roce(HOST_V4, REMOTE_V4, 0x100)
        self.pe.flow(BLUE, HOST_V4, REMOTE_V4, 0x100, FCN_LABEL_BIT)
        outer = srv6(
            routed(datagram),
            PE_ADDRESS,
            REMOTE_BLUE_SID,
            flow_label=FCN_LABEL_BIT,
            traffic_class=datagram[1] & 3,
        )
        frame = host_frame_in(datagram, vlan=BLUE_VLAN, host_mac=BLUE_HOST_MAC)
        for slot in (0, 1):
            self.check(DC_PORT, frame, expect={CORE_PORT: [core_frame_out(outer)]})
            self.say("FAILED", slot)
        self.assertEqual(self.traffic(), Counter({0: 0, 1: 0}))


class UnknownPolicy(PathTest):
    """FAN-8: packets of a policy that is not there, or has no path for them, are dropped and
    counted."""

    def runTest(self) -> None:
        frame = host_frame_in(SOME_FLOWS[0])
        slot = self.paths_of(SOME_FLOWS[:1])[0]
        for bucket in range(64):
            self.pe.delete("path", match={"policy": POLICY, "avoided": 0, "bucket": bucket})
        self.check(DC_PORT, frame, drops={"UNKNOWN_TUNNEL": 1})
        self.pe.delete("policy", match={"tunnel": POLICY_IN_RED})
        self.check(DC_PORT, frame, drops={"UNKNOWN_TUNNEL": 1})
        self.assertEqual(sum(self.traffic().values()), 1, "what is dropped took no path")
        cell = path_cell(POLICY, slot)
        self.assertEqual(read_counter(self.client, "path_traffic", cell)[cell][1], len(frame))
