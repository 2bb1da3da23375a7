"""Converts decoded digests (owners/flow_learning.py) to the types of the flow service."""

from fcn.controller.flows.connections import CmMessage
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.trail import Sample
from fcn.controller.owners.flow_learning import ConnectionMessage, NewFlow


def new_flow(vrf: str, report: NewFlow) -> tuple[FlowKey, int, Sample]:
    """A new-flow digest as flow, P_Key, and sample for the inference."""
    key = FlowKey(vrf, report.src, report.dst, report.dest_qp)
    return key, report.p_key, Sample(report.opcode, report.psn, report.udp_src_port)


def cm_message(vrf: str, report: ConnectionMessage) -> CmMessage:
    """A digest of a connection manager message."""
    return CmMessage(
        vrf,
        report.src,
        report.dst,
        report.attribute,
        report.local_comm_id,
        report.remote_comm_id,
        report.qpn,
    )
