"""What the digests of the PE program mean (p4src/common/digests.p4)."""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address

from fcn.controller.config.types import Address
from fcn.controller.flows.connections import CmMessage
from fcn.controller.flows.inference import Sample
from fcn.controller.flows.key import FlowKey


def _address(digest: str, value: int) -> Address:
    return IPv4Address(value) if "ipv4" in digest else IPv6Address(value)


def new_flow(digest: str, vrf: str, data: Mapping[str, int]) -> tuple[FlowKey, int, Sample]:
    """Flow, P_Key and the rest of the packet of a new_flow_* item."""
    src, dst = _address(digest, data["src"]), _address(digest, data["dst"])
    sample = Sample(data["opcode"], data["psn"], data["udp_src_port"])
    return FlowKey(vrf, src, dst, data["dest_qp"]), data["p_key"], sample


def cm_message(digest: str, vrf: str, data: Mapping[str, int]) -> CmMessage:
    """The message of a cm_* item."""
    return CmMessage(
        vrf,
        _address(digest, data["src"]),
        _address(digest, data["dst"]),
        data["attribute"],
        data["local_comm_id"],
        data["remote_comm_id"],
        data["qpn"],
    )
