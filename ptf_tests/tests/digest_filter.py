"""The filter of digests keeps apart what it can mistake for the same (FCN-3)."""

import zlib
from ipaddress import ip_address

from fcn.packets.cm import CmAttribute
from fcn.ptf_tests.lib.beds import BLUE, BLUE_VLAN, RED, TO_REMOTE, host_frame_in
from fcn.ptf_tests.lib.cm import cm_message
from fcn.ptf_tests.lib.learning import LearningTest
from fcn.ptf_tests.lib.packets import roce
from fcn.ptf_tests.lib.ports import DC_PORT, DC_PORT_2

MRA = CmAttribute.MRA
LOCAL = 0xA1


def _around(vrf: int, src: str, dst: str, remote_comm_id: int) -> tuple[bytes, bytes]:
    """What p4src/learning/v1model/fingerprint.p4 hashes before and behind an MRA's local ID."""
    hosts = ip_address(src).packed + ip_address(dst).packed
    origin = (MRA << 9 | DC_PORT).to_bytes(2)
    return vrf.to_bytes(2) + hosts + origin, remote_comm_id.to_bytes(4) + bytes(3)


def _completed(head: bytes, tail: bytes, crc: int) -> int:
    """The four octets between `head` and `tail` with which the CRC-32 is `crc`: it is affine in
    them, so this solves 32 linear equations over GF(2)."""
    base = zlib.crc32(head + bytes(4) + tail)
    solved: dict[int, tuple[int, int]] = {}

    def reduced(value: int, bits: int) -> tuple[int, int]:
        while value and value.bit_length() in solved:
            other, its_bits = solved[value.bit_length()]
            value, bits = value ^ other, bits ^ its_bits
        return value, bits

    for bit in (1 << number for number in range(32)):
        value, bits = reduced(zlib.crc32(head + bit.to_bytes(4) + tail) ^ base, bit)
        solved[value.bit_length()] = value, bits
    return reduced(base ^ crc, 0)[1]


class EqualHashesOfTenantsAreToldApart(LearningTest):
    """FCN-3: a tenant that computes packets with the hash of another's does not silence them; its
    own it can, which shows that the hashes are equal."""

    def runTest(self) -> None:
        for remote_comm_id, (host, remote) in enumerate(TO_REMOTE, 1):
            head, tail = _around(RED, host, remote, remote_comm_id)
            crc = zlib.crc32(head + LOCAL.to_bytes(4) + tail)
            for vrf, vlan, other_id, expected in (
                (RED, 0, 1 << 16 | remote_comm_id, []),
                (BLUE, BLUE_VLAN, remote_comm_id, [BLUE]),
            ):
                local = _completed(*_around(vrf, host, remote, other_id), crc)
                with self.subTest(vrf=vrf, host=host):
                    first = cm_message(
                        host, remote, MRA, local_comm_id=LOCAL, remote_comm_id=remote_comm_id
                    )
                    second = cm_message(
                        host, remote, MRA, local_comm_id=local, remote_comm_id=other_id
                    )
                    self.reports(DC_PORT, host_frame_in(first))
                    found = self.reports(DC_PORT, host_frame_in(second, vlan=vlan))
                    self.assertEqual([fields["vrf"] for _, fields in found], expected)


class HostBehindAnotherPortSilencesNobody(LearningTest):
    """FCN-3: packets invented in the name of a host behind another port do not use up its
    report."""

    def runTest(self) -> None:
        for host, remote in TO_REMOTE:
            for packet in (
                roce(host, remote, 0x118),
                cm_message(host, remote, CmAttribute.REQ, local_comm_id=LOCAL, qpn=7),
            ):
                ports = [
                    [
                        (fields["port"] if "port" in fields else fields["attribute_and_port"] & 511)
                        for _, fields in self.reports(port, host_frame_in(packet, port=port))
                    ]
                    for port in (DC_PORT_2, DC_PORT, DC_PORT_2, DC_PORT)
                ]
                self.assertEqual(ports, [[DC_PORT_2], [DC_PORT], [], []])
