"""A PE with a policy of several paths, and what is said of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address

import finsy as fy
from scapy.layers.inet import UDP

from fcn.contract.constants import PATH_SLOTS, POLICY_BIT
from fcn.contract.paths import PATH_REPORTS, Share, distributions, path_cell, report_cell
from fcn.packets.fantel import FANTEL_HOP_LIMIT, FANTEL_PORT, Event, Fantel
from fcn.packets.fantel_tlvs import Origin, PathId, Tlv
from fcn.ptf_tests.lib.beds import P_ADDRESS, PE_ADDRESS, RED, PeTest, core_frame_in, host_frame_in
from fcn.ptf_tests.lib.counters import read_counter
from fcn.ptf_tests.lib.packets import datagram_of, ip
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

POLICY = 3
"""The policy's number, and its number in RED as that of a tunnel."""
POLICY_IN_RED = POLICY_BIT | 5
FIRST_TUNNEL = 20
FIRST_PATH_ID = 0xF0000001
NEVER_US = 600_000_000
"""A hold-down longer than any test."""


@dataclass(frozen=True, slots=True)
class Link:
    """Who speaks: a node's address and number, and which of its links it speaks of; 0: itself."""

    address: str
    node: int
    port: int


LINKS = (Link(P_ADDRESS, 7, 1), Link(P_ADDRESS, 7, 2), Link("fc00:0:10::2", 8, 0))
"""On every path of these tests."""

EVENT_OF_REPORT = {
    "FAILED": Event.FAILURE,
    "WELL": Event.FAILURE_CLEARED,
    "CONGESTED": Event.CONGESTION,
    "RELIEVED": Event.CONGESTION_CLEARED,
}


def notification(
    event: int, path_id: int, link: Link, epoch: int, sequence: int, *parameters: Tlv
) -> bytes:
    """An IPv6 packet with a FANTEL message for the PE; more parameters stand behind the path ID."""
    origin = Origin(node=link.node, link=link.port, epoch=epoch, sequence=sequence)
    return fantel(
        link.address, Fantel(event=event, parameters=[origin, PathId(path_id=path_id), *parameters])
    )


def fantel(source: str, message: Fantel | bytes, checksum: int | None = None) -> bytes:
    """An IPv6 packet with this for the PE behind UDP, by default with a right checksum."""
    datagram = UDP(sport=0xC0DE, dport=FANTEL_PORT, chksum=checksum) / message
    return ip(source, PE_ADDRESS, datagram, nh=17, ttl=FANTEL_HOP_LIMIT)


def path_sid(slot: int) -> str:
    """Where the tunnel of a path ends."""
    return f"fc00:0:2:{0x100 + slot:x}::"


class PathTest(PeTest):
    """A test of a policy; RED's routes to the remote site name it."""

    shares: Sequence[Share] = (Share(1), Share(1))
    hold_down_us = 0

    def configure(self) -> None:
        """The bed of every PE test, with the policy for RED in place of its tunnel."""
        super().configure()
        for prefix in ("10.2.0.0/16", "2001:db8:2::/64"):
            self.pe.delete(
                "route_ipv6" if ":" in prefix else "route_ipv4", match={"vrf": RED, "dst": prefix}
            )
            self.pe.route(RED, prefix, "to_tunnel", tunnel=POLICY_IN_RED)
        self.pe.insert(
            "policy",
            "to_policy",
            match={"tunnel": POLICY_IN_RED},
            number=POLICY,
            first=FIRST_TUNNEL,
            hold=self.pe.target.clock.ticks(self.hold_down_us),
        )
        self.epoch, self.sequence = 1, 0
        self.pe.notification_port(FANTEL_PORT, "FANTEL")
        self.pe.trust("fc00:0:10::/48")
        everything = (1 << len(self.shares)) - 1
        for slot in range(len(self.shares)):
            self.pe.tunnel(FIRST_TUNNEL + slot, "encap_srv6", src=PE_ADDRESS, dst=path_sid(slot))
            self.pe.insert(
                "path_by_id",
                "set_path",
                match={"path_id": FIRST_PATH_ID + slot},
                number=POLICY,
                path_slot=slot,
                path_bit=1 << slot,
                policy_paths=everything,
            )
            for number, link in enumerate(LINKS):
                self.may_report(slot, link, slot * len(LINKS) + number, 1 << number)
        self.client.write(
            [
                +fy.P4TableEntry(
                    "path",
                    match=fy.P4TableMatch(policy=POLICY, avoided=avoided, bucket=bucket),
                    action=fy.P4TableAction("take_path", path=slot),
                )
                for avoided, slots in distributions(self.shares)
                for bucket, slot in enumerate(slots)
            ]
        )

    def say(self, report: str, slot: int, link: Link = LINKS[0]) -> None:
        """Tell the PE of a path (member of PathReport); it knows when this returns."""
        self.sequence += 1
        message = notification(
            EVENT_OF_REPORT[report], FIRST_PATH_ID + slot, link, self.epoch, self.sequence
        )
        self.exchange(CORE_PORT, core_frame_in(message))

    def may_report(self, slot: int, link: Link, cell: int, bit: int) -> None:
        """This link is on the path."""
        self.pe.insert(
            "path_reporter",
            "set_reporter",
            match={
                "source": link.address,
                "node": link.node,
                "link": link.port,
                "path_id": FIRST_PATH_ID + slot,
            },
            path_cell=path_cell(POLICY, slot),
            reporter_cell=cell,
            bit_of_path=bit,
        )

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
        cells = read_counter(self.client, "path_traffic")
        return Counter(
            {slot: cells[path_cell(POLICY, slot)][0] for slot in range(len(self.shares))}
        )

    def news(self) -> dict[tuple[int, str], int]:
        """How often each report of each slot was news; without zeros."""
        cells = read_counter(self.client, "path_reports")
        found = {
            (slot, report): cells[report_cell(POLICY, slot, number)][0]
            for slot in range(len(self.shares))
            for report, number in PATH_REPORTS.items()
        }
        return {key: count for key, count in found.items() if count}
