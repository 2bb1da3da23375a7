"""FlowLearning: digests of customers' flows (p4src/common/pe/flow_learning.p4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address

from finsy import P4DigestEntry, P4TableAction, P4TableEntry

from fcn.contract.names import CM_DIGESTS, NEW_FLOW_DIGESTS
from fcn.contract.targets import Target
from fcn.controller.config.types import Address
from fcn.controller.owners.intent import Intent

DIGESTS = (*NEW_FLOW_DIGESTS.values(), *CM_DIGESTS.values())

MAX_LIST_SIZE = 256
MAX_DELAY_NS = 5_000_000
ACK_TIMEOUT_NS = 1_000_000_000

ADDRESSES = 65536
"""Addresses kept: the same object each time, which is compared faster."""


@dataclass(frozen=True, slots=True)
class NewFlow:
    """A packet of a flow without label, or of a watched one (digest new_flow_*)."""

    vrf: int
    src: Address
    dst: Address
    dest_qp: int
    p_key: int
    opcode: int
    psn: int
    udp_src_port: int


@dataclass(frozen=True, slots=True)
class ConnectionMessage:
    """A message of the connection manager (digest cm_*)."""

    vrf: int
    src: Address
    dst: Address
    attribute: int
    local_comm_id: int
    remote_comm_id: int
    qpn: int


Report = NewFlow | ConnectionMessage


@lru_cache(ADDRESSES)
def _address(digest: str, value: int) -> Address:
    return (
        IPv4Address(value) if digest in (NEW_FLOW_DIGESTS[4], CM_DIGESTS[4]) else IPv6Address(value)
    )


class FlowLearning:
    """Enables and decodes the digests of new flows and CM messages (FCN-3, FCN-16)."""

    def __init__(self, intent: Intent, target: Target) -> None:
        self._intent = intent
        self._target = target

    def report_digests(self) -> None:
        """Enable the digests: lists of up to MAX_LIST_SIZE, delayed by at most MAX_DELAY_NS."""
        for digest in DIGESTS:
            self._intent.put(
                P4DigestEntry(
                    digest,
                    max_list_size=MAX_LIST_SIZE,
                    max_timeout_ns=MAX_DELAY_NS,
                    ack_timeout_ns=ACK_TIMEOUT_NS,
                )
            )

    def enable(self, window: int) -> None:
        """Report flows; the same flow again after `window` microseconds at the earliest."""
        self._set(P4TableAction("learning_on", window=self._target.clock.ticks(window)))

    def disable(self) -> None:
        """Report nothing."""
        self._set(P4TableAction("learning_off"))

    @staticmethod
    def report(digest: str, item: Mapping[str, int]) -> Report:
        """Decode an item of a digest (p4src/common/pe/digests.p4)."""
        ends = item["vrf"], _address(digest, item["src"]), _address(digest, item["dst"])
        if digest in NEW_FLOW_DIGESTS.values():
            return NewFlow(
                *ends,
                dest_qp=item["dest_qp"],
                p_key=item["p_key"],
                opcode=item["opcode"],
                psn=item["psn"],
                udp_src_port=item["udp_src_port"],
            )
        return ConnectionMessage(
            *ends,
            attribute=item["attribute"],
            local_comm_id=item["local_comm_id"],
            remote_comm_id=item["remote_comm_id"],
            qpn=item["qpn"],
        )

    def _set(self, action: P4TableAction) -> None:
        self._intent.put(P4TableEntry("flow_learning", action=action, is_default_action=True))
