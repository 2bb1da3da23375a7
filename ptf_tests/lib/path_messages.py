"""FANTEL messages for the ingress PE of a policy, and who may send them."""

from collections.abc import Sequence
from dataclasses import dataclass

from scapy.layers.inet import UDP

from fcn.contract.paths import forget_order
from fcn.packets.fantel import FANTEL_HOP_LIMIT, FANTEL_PORT, Event, Fantel
from fcn.packets.fantel_tlvs import Origin, PathId, Tlv
from fcn.ptf_tests.lib.beds import P_ADDRESS, PE_ADDRESS, core_frame_in
from fcn.ptf_tests.lib.packets import ip
from fcn.ptf_tests.lib.paths import FIRST_PATH_ID, PathTest
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT


@dataclass(frozen=True, slots=True)
class Link:
    """Who speaks: a node's address and number, and which of its links it speaks of; 0: itself."""

    address: str
    node: int
    port: int


LINKS = (Link(P_ADDRESS, 7, 1), Link(P_ADDRESS, 7, 2), Link("fc00:0:10::2", 8, 0))
"""On every path of these tests."""


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


class PathMessageTest(PathTest):
    """A test of a policy of which every link of LINKS may speak."""

    def configure(self) -> None:
        """In addition: the port, trust, and who may speak of each path."""
        super().configure()
        self.sequence = 0
        self.pe.notification_port(FANTEL_PORT, "FANTEL")
        self.pe.trust("fc00:0:10::/48")
        for address in {link.address for link in LINKS}:
            self.pe.reporter_port(address, CORE_PORT)
        for slot in range(len(self.shares)):
            for number, link in enumerate(LINKS):
                self.may_report(slot, link, slot * len(LINKS) + number, 1 << number)

    def tell(
        self, event: Event, slot: int, link: Link = LINKS[0], parameters: Sequence[Tlv] = ()
    ) -> None:
        """Send the PE the next message of the link about a path; it knows when this returns."""
        self.sequence += 1
        message = notification(event, FIRST_PATH_ID + slot, link, 1, self.sequence, *parameters)
        self.exchange(CORE_PORT, core_frame_in(message))

    def forget(self, cell: int) -> None:
        """What the controller sends so that the PE forgets the numbers of a reporter's messages."""
        self.packet_out(self.pe.target.ports.cpu, forget_order(cell))
        # What follows by the same stream comes after it.
        self.exchange(DC_PORT)

    def may_report(self, slot: int, link: Link, cell: int, bit: int) -> None:
        self.pe.path_reporter(
            link.address, link.node, link.port, FIRST_PATH_ID + slot, cell=cell, bit=bit
        )
