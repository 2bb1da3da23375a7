"""The P and PE beds with a watched link."""

from ipaddress import IPv6Address
from typing import TypeVar

from fcn.packets.fantel import FANTEL_HOP_LIMIT, Event
from fcn.packets.fantel_tlvs import Cause, FailureCause, FiveTuple, Tlv
from fcn.ptf_tests.lib.beds import (
    NEIGHBOUR_MAC,
    NODE_MAC,
    P_ADDRESS,
    PE_ADDRESS,
    REMOTE_PE,
    REMOTE_PE_PREFIX,
    PTest,
    core_frame_in,
    core_frame_out,
)
from fcn.ptf_tests.lib.flow_control import ANY_PROTOCOL, LABEL
from fcn.ptf_tests.lib.links import NEVER_US, LinkTest
from fcn.ptf_tests.lib.path_messages import Link, notification
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT

K = TypeVar("K")
V = TypeVar("V")

PATH_ID = 0xF0000001
CELL = 5
NODE = Link(P_ADDRESS, 70, CORE_PORT)
EPOCH = 1000
FAR_END_DOWN = FailureCause(cause=Cause.NEIGHBOR_DOWN)
"""Why the link is down after take_down()."""
TRIGGERED = {"FANTEL_TRIGGERED": 1, "FANTEL_SENT": 1}


def affected(dst: str = REMOTE_PE) -> FiveTuple:
    """The flow of packet() in its tunnel."""
    return FiveTuple(ip_version=6, label=LABEL, protocol=ANY_PROTOCOL, src6=PE_ADDRESS, dst6=dst)


def failure(sequence: int, path_id: int = PATH_ID) -> bytes:
    """The frame in which the P tells PE_ADDRESS what packet() met."""
    return message(Event.FAILURE, sequence, affected(), FAR_END_DOWN, path_id=path_id)


def message(event: Event, sequence: int, *parameters: Tlv, path_id: int = PATH_ID) -> bytes:
    """A frame with a FANTEL message of the P for PE_ADDRESS."""
    datagram = bytearray(notification(event, path_id, NODE, EPOCH, sequence, *parameters))
    # It passes the node's own forwarding, but for the hop limit; class selector 6.
    datagram[7] = FANTEL_HOP_LIMIT
    datagram[0:2] = (6 << 12 | 48 << 6).to_bytes(2, "big")
    assert IPv6Address(bytes(datagram[24:40])) == IPv6Address(PE_ADDRESS)
    return core_frame_out(bytes(datagram), DC_PORT)


class WatchedPTest(LinkTest, PTest):
    """A P whose link behind CORE_PORT is watched and was up."""

    node_address = P_ADDRESS
    repeat_us = NEVER_US
    says_hello = False

    def configure(self) -> None:
        """The bed of every P test, and who it is in its messages."""
        super().configure()
        self.tables = self.p
        self.watch()
        self.p.notification_port()
        self.p.fantel_profile(P_ADDRESS, node=NODE.node, epoch=EPOCH)
        self.p.core_path(
            PE_ADDRESS, PATH_ID, CORE_PORT, cell=CELL, interval_us=self.repeat_us, dst=REMOTE_PE
        )
        self.start_clock()
        self.bring_up()

    def by_packet(self, said: dict[K, V]) -> dict[K, V]:
        """What a packet on a path causes that meets a dead link: nothing at a chip, where PEs hear
        of it by the clock alone."""
        return said if self.client.pipeline.target.ports.paces_clock else {}

    def watch_the_path(self, relief_us: int | None = None) -> None:
        """Say in the slot behind the link's how the path is, or its queue; no news said again."""
        self.p.watch_path(
            int(self.watches),
            CORE_PORT,
            PATH_ID,
            cell=CELL,
            ingress_pe=PE_ADDRESS,
            repeat_us=0,
            refresh_us=NEVER_US,
            relief_us=relief_us,
        )

    def repair(self) -> None:
        """A loop-free alternate through CORE_PORT_2."""
        self.p.alternate(
            CORE_PORT, REMOTE_PE_PREFIX, CORE_PORT_2, NODE_MAC[CORE_PORT_2],
            NEIGHBOUR_MAC[CORE_PORT_2],
        )  # fmt: skip

    def check_lost(self, datagram: bytes, told: bytes) -> None:
        """A datagram whose next hop is dead is dropped, and the ingress PE is told so."""
        self.check(
            DC_PORT,
            core_frame_in(datagram, DC_PORT),
            expect=self.by_packet({DC_PORT: [told]}),
            drops={"LINK_DOWN": 1},
            events=self.by_packet(TRIGGERED),
        )
