"""IP lengths that lie: beyond the frame at a P, below the header at a PE (FCN-1, FCN-8)."""

from fcn.ptf_tests.lib.beds import (
    HOST2_MAC,
    HOST2_V4,
    HOST_V4,
    PE_ADDRESS,
    REMOTE_PE,
    PeTest,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.congestion import CongestedPTest, from_ingress_pe, tunnelled
from fcn.ptf_tests.lib.packets import IPV6_HEADER, ip, routed, udp, with_total_length
from fcn.ptf_tests.lib.ports import DC_PORT, DC_PORT_2

MIN_IHL, MAX_IHL = 5, 15


class PayloadLengthAtATransitNode(CongestedPTest):
    """FCN-8: a P drops a packet longer than its frame, and notifies nobody because of it; one that
    is shorter is followed by padding and forwarded as it is."""

    def runTest(self) -> None:
        datagram = tunnelled()
        length = len(datagram) - IPV6_HEADER
        for wrong in (length + 1, length + 4, 0xFFFF):
            frame = from_ingress_pe(datagram[:4] + wrong.to_bytes(2, "big") + datagram[6:])
            self.check(DC_PORT, frame, drops={"BAD_LENGTH": 1})
        small = ip(PE_ADDRESS, REMOTE_PE, b"", nh=59)
        self.check_forwarded(small + bytes(6), routed(small) + bytes(6))


class HeaderLongerThanThePacket(PeTest):
    """FCN-1: an IPv4 total length below the header's length is wrong (RFC 1812 section 5.2.2)."""

    def runTest(self) -> None:
        for ihl in range(MIN_IHL + 1, MAX_IHL + 1):
            # No-operation options, with room for them in the frame
            header = bytearray(udp(HOST_V4, HOST2_V4, 1, 2, b"")[:20])
            header[0] = 0x40 | ihl
            datagram = bytes(header) + b"\x01" * (4 * ihl - 20) + bytes(40)
            with self.subTest(ihl=ihl):
                for total in (20, 4 * ihl - 1):
                    frame = host_frame_in(with_total_length(datagram, total))
                    self.check(DC_PORT, frame, drops={"BAD_LENGTH": 1})
                whole = with_total_length(datagram, 4 * ihl)
                expected = host_frame_out(routed(whole), port=DC_PORT_2, host_mac=HOST2_MAC)
                self.check(DC_PORT, host_frame_in(whole), expect={DC_PORT_2: [expected]})
