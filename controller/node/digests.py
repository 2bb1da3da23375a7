"""What the PE's reports mean to flows: VRFs by name (owners/flow_learning.py decodes them)."""

from fcn.controller.flows.connections import CmMessage
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.trail import Sample
from fcn.controller.owners.flow_learning import ConnectionMessage, NewFlow


def new_flow(vrf: str, report: NewFlow) -> tuple[FlowKey, int, Sample]:
    """Flow, P_Key and the rest of the packet."""
    key = FlowKey(vrf, report.src, report.dst, report.dest_qp)
    return key, report.p_key, Sample(report.opcode, report.psn, report.udp_src_port)


def cm_message(vrf: str, report: ConnectionMessage) -> CmMessage:
    """The connection manager's message."""
    return CmMessage(
        vrf,
        report.src,
        report.dst,
        report.attribute,
        report.local_comm_id,
        report.remote_comm_id,
        report.qpn,
    )
