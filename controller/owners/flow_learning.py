"""FlowLearning: digests of customers' flows (p4src/learning/flow_learning.p4)."""

from typing import NamedTuple

from fcn.contract.names import CM_DIGESTS, NEW_FLOW_DIGESTS
from fcn.contract.ports import LAST_PORT, PORT_BITS
from fcn.controller.config.notation import Address
from fcn.controller.finsy_adapter import Data
from fcn.controller.owners.addresses import ipv4, ipv6
from fcn.controller.owners.digests import enable_digests
from fcn.controller.owners.tables import Tables

_NEW_FLOW = frozenset(NEW_FLOW_DIGESTS.values())
_IPV4 = frozenset({NEW_FLOW_DIGESTS[4], CM_DIGESTS[4]})

DIGESTS = (*NEW_FLOW_DIGESTS.values(), *CM_DIGESTS.values())

MAX_LIST_SIZE = 256


class NewFlow(NamedTuple):
    """A packet of a flow without label, or of a watched one (digest new_flow_*); in its order."""

    vrf: int
    src: Address
    dst: Address
    dest_qp: int
    p_key: int
    psn: int
    udp_src_port: int
    opcode: int
    port: int


class ConnectionMessage(NamedTuple):
    """A message of the connection manager (digest cm_*, whose last field is two of these).

    `attribute`: the last 7 bits of the attribute ID, of which no more are used.
    """

    vrf: int
    src: Address
    dst: Address
    attribute: int
    local_comm_id: int
    remote_comm_id: int
    qpn: int
    port: int


Report = NewFlow | ConnectionMessage

Item = tuple[int, ...]
"""What a digest says about a packet: its fields as declared; the first are VRF and source, the last
is the port."""


class FlowLearning(Tables):
    """Enables and decodes the digests of new flows and CM messages (FCN-3, FCN-16)."""

    def report_digests(self) -> None:
        """Enable the digests of flows."""
        enable_digests(self.intent, DIGESTS, MAX_LIST_SIZE)

    def enable(self, window: int) -> None:
        """Report flows; the same flow again after `window` microseconds at the earliest."""
        self.set("flow_learning", "learning_on", window=self.ticks(window))

    def disable(self) -> None:
        """Report nothing."""
        self.set("flow_learning", "learning_off")

    @staticmethod
    def sender(data: Data) -> tuple[int, int, int]:
        """Who sent what is reported: VRF, port, source address. Who speaks for another behind
        another port is somebody else."""
        vrf, src, port = (int.from_bytes(data[i].bitstring, "big") for i in (0, 1, -1))
        return vrf, port & LAST_PORT, src

    @staticmethod
    def item(data: Data) -> Item:
        """All fields of what is reported."""
        return tuple([int.from_bytes(field.bitstring, "big") for field in data])

    @staticmethod
    def report(digest: str, item: Item) -> Report:
        """Decode an item of a digest (p4src/learning/digests.p4)."""
        vrf, src, dst, *others = item
        address = ipv4 if digest in _IPV4 else ipv6
        if digest in _NEW_FLOW:
            return NewFlow(vrf, address(src), address(dst), *others)
        local_comm_id, remote_comm_id, qpn, attribute_and_port = others
        attribute, port = attribute_and_port >> PORT_BITS, attribute_and_port & LAST_PORT
        ends = address(src), address(dst)
        return ConnectionMessage(vrf, *ends, attribute, local_comm_id, remote_comm_id, qpn, port)
