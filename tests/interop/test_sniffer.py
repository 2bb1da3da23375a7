"""The sniffer on a guest's TAP: classification of datagrams, ICRC."""

import pytest
from scapy.layers.l2 import Ether
from scapy.utils import PcapReader

from fcn.packets.icrc import icrc_valid
from fcn.packets.roce import Opcode
from fcn.ptf_tests.lib.captures import SOFTROCE
from fcn.ptf_tests.lib.packets import cnp, roce, udp
from fcn.topologies.interop.sniffer import Cnp, read_cnp, roce_opcode


@pytest.mark.parametrize(
    ("src", "dst"), [("10.2.1.10", "10.1.1.10"), ("2001:db8:2:1::10", "2001:db8:1:1::10")]
)
def test_a_cnp_is_read_whole(src: str, dst: str) -> None:
    datagram = cnp(src, dst, 0x123456)
    assert roce_opcode(datagram) == Opcode.CNP
    family = 6 if ":" in src else 4
    assert read_cnp(datagram) == Cnp(family, src, dst, 0x123456, icrc_valid=True)
    assert not read_cnp(datagram[:-1] + b"\x00").icrc_valid


def test_other_packets_are_not_taken_for_cnps() -> None:
    assert roce_opcode(roce("10.2.1.10", "10.1.1.10", 5)) == Opcode.RC_RDMA_WRITE_ONLY
    assert roce_opcode(udp("10.2.1.10", "10.1.1.10", 1, 53)) is None
    assert roce_opcode(cnp("10.2.1.10", "10.1.1.10", 5)[:39]) is None
    assert roce_opcode(cnp("2001:db8::1", "2001:db8::2", 5)[:59]) is None
    assert roce_opcode(b"") is None


def test_the_kernels_own_icrcs_check_by_the_same_routine() -> None:
    """The capture is two Debian kernels' rdma_rxe: the routine agrees with them on every packet."""
    checked = 0
    with PcapReader(str(SOFTROCE)) as packets:
        for packet in packets:
            datagram = bytes(Ether(bytes(packet)).payload)
            if roce_opcode(datagram) is not None:
                assert icrc_valid(datagram)
                checked += 1
    assert checked > 100
