"""A PE with a policy of several paths, and what is said of them."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from ipaddress import IPv6Address
from typing import TypeVar

from fcn.contract.constants import PATH_SLOTS, POLICY_BIT
from fcn.contract.paths import PATH_REPORTS, PathShare, path_cell, path_report, report_cell
from fcn.contract.profiles import Mode
from fcn.ptf_tests.lib.beds import PE_ADDRESS, RED, PeTest, host_frame_in
from fcn.ptf_tests.lib.counters import read_counter
from fcn.ptf_tests.lib.packets import datagram_of
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

POLICY = 3
"""The policy's number, and its number in RED as that of a tunnel."""
POLICY_IN_RED = POLICY_BIT | 5
FIRST_TUNNEL = 20
FIRST_PATH_ID = 0xF0000001
_Key = TypeVar("_Key", bound=Hashable)
NEVER_US = 600_000_000
"""A hold-down longer than any test."""


def path_sid(slot: int) -> str:
    """Where the tunnel of a path ends."""
    return f"fc00:0:2:{0x100 + slot:x}::"


class PathTest(PeTest):
    """A test of a policy; RED's routes to the remote site name it."""

    needs = frozenset({Mode.FANTEL})

    shares: Sequence[PathShare] = (PathShare(1), PathShare(1))
    hold_down_us = 0
    flowlet_us = 0
    """The pause after which a flow may move because of load; by default never."""
    margin = 0
    settle_us = 1
    cnp_us = 0

    def configure(self) -> None:
        """The bed of every PE test, with the policy for RED in place of its tunnel."""
        super().configure()
        for prefix in ("10.2.0.0/16", "2001:db8:2::/64"):
            self.pe.delete(
                "route_ipv6" if ":" in prefix else "route_ipv4", match={"vrf": RED, "dst": prefix}
            )
            self.pe.route(RED, prefix, "to_tunnel", tunnel=POLICY_IN_RED)
        for slot in range(len(self.shares)):
            self.pe.tunnel(FIRST_TUNNEL + slot, "encap_srv6", src=PE_ADDRESS, dst=path_sid(slot))
        self.pe.policy(
            POLICY,
            POLICY_IN_RED,
            FIRST_TUNNEL,
            FIRST_PATH_ID,
            self.shares,
            hold_down_us=self.hold_down_us,
            flowlet_us=self.flowlet_us,
            margin=self.margin,
            settle_us=self.settle_us,
            cnp_us=self.cnp_us,
        )

    def say(self, report: str, slot: int) -> None:
        """Tell the PE of a path by hand (member of PathReport); it knows when this returns."""
        self.say_of(report, FIRST_PATH_ID + slot)

    def say_of(self, report: str, path_id: int) -> None:
        """The same by the path's ID."""
        self.packet_out(self.pe.target.ports.cpu, path_report(path_id, report))
        # What follows by the same stream comes after it.
        self.exchange(DC_PORT)

    def paths_of(self, datagrams: Sequence[bytes]) -> list[int]:
        """The slot each datagram of RED's host takes, in order."""
        outcome = self.exchange(DC_PORT, *map(host_frame_in, datagrams))
        self.assertEqual(outcome.frames.keys(), {CORE_PORT})
        frames = outcome.frames[CORE_PORT]
        self.assertEqual(len(frames), len(datagrams))
        slots = {IPv6Address(path_sid(slot)).packed: slot for slot in range(PATH_SLOTS)}
        return [slots[datagram_of(frame)[24:40]] for frame in frames]

    def traffic(self) -> Counter[int]:
        """Packets by slot, as counted."""
        return Counter(dict(enumerate(self.of_slots("path_traffic"))))

    def of_slots(self, counter: str) -> list[int]:
        """What it counted of each slot."""
        cells = {slot: path_cell(POLICY, slot) for slot in range(len(self.shares))}
        return list(self._counted(counter, cells).values())

    def news(self) -> dict[tuple[int, str], int]:
        """How often each report of each slot was news; without zeros."""
        cells = {
            (slot, report): report_cell(POLICY, slot, number)
            for slot in range(len(self.shares))
            for report, number in PATH_REPORTS.items()
        }
        return {key: count for key, count in self._counted("path_reports", cells).items() if count}

    def _counted(self, counter: str, cells: Mapping[_Key, int]) -> dict[_Key, int]:
        found = read_counter(self.client, counter, *cells.values())
        return {key: found[cell][0] for key, cell in cells.items()}
