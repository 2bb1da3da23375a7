"""Packets to END.CON SIDs (SRF-4): a CNP for the sender; the ingress PE completes it."""

from fcn.ptf_tests.lib.beds import P_ADDRESS
from fcn.ptf_tests.lib.packets import cnp, srv6, with_udp_checksum

PE_RED_END_CON = "fc00:0:1:c0::"
PE_BLUE_END_CON = "fc00:0:1:c1::"
TRAFFIC_CLASS = 0xC0
UDP_SOURCE_PORT = 0xC0DE
_ICRC_LENGTH = 4


def incomplete_cnp(receiver: str, sender: str, dest_qp: int) -> bytes:
    """The CNP a P writes: DestQP is that of the data packets, the ICRC zero."""
    complete = cnp(receiver, sender, dest_qp, traffic_class=TRAFFIC_CLASS, sport=UDP_SOURCE_PORT)
    datagram = complete[:-_ICRC_LENGTH] + bytes(_ICRC_LENGTH)
    return with_udp_checksum(datagram) if ":" in sender else datagram


def end_con_cnp(
    receiver: str,
    sender: str,
    dest_qp: int,
    label: int,
    *,
    sid: str = PE_RED_END_CON,
    source: str = P_ADDRESS,
) -> bytes:
    """The same in the packet to the END.CON SID; the flow's label is that of the outer header."""
    inner = incomplete_cnp(receiver, sender, dest_qp)
    return srv6(inner, source, sid, flow_label=label, traffic_class=TRAFFIC_CLASS)
