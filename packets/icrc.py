"""Invariant CRC of RoCEv2 (IBTA volume 1, annex A17), independent of the data plane.

It uses zlib's CRC-32 and nothing of P4: the reference of the tests.
"""

import struct
import zlib

_LRH = b"\xff" * 8
"""RoCEv2 has no local route header; the CRC starts over eight octets of ones in its place."""
_UDP_LENGTH = 8
_IPV6_LENGTH = 40


def icrc(datagram: bytes) -> bytes:
    """The 4 ICRC octets, in wire order, of an IPv4 or IPv6 datagram given without them.

    datagram: from the IP header to the last octet before the ICRC, lengths as on the wire (ICRC
    counted). Raises ValueError for anything but IP version 4 or 6.
    """
    masked = bytearray(datagram)
    version = datagram[0] >> 4
    if version == 4:
        ip_length = (datagram[0] & 0x0F) * 4
        masked[1] = 0xFF  # TOS
        masked[8] = 0xFF  # TTL
        masked[10:12] = b"\xff\xff"  # header checksum
    elif version == 6:
        ip_length = _IPV6_LENGTH
        masked[0:4] = b"\x6f\xff\xff\xff"  # traffic class and flow label
        masked[7] = 0xFF  # hop limit
    else:
        raise ValueError(f"IP version {version} has no ICRC")
    masked[ip_length + 6 : ip_length + 8] = b"\xff\xff"  # UDP checksum
    masked[ip_length + _UDP_LENGTH + 4] = 0xFF  # FECN, BECN and six reserved bits of the BTH
    return struct.pack("<I", zlib.crc32(_LRH + bytes(masked)))


def icrc_valid(datagram: bytes) -> bool:
    """Whether the ICRC at the end of a whole RoCEv2 datagram (from its IP header on) is valid."""
    return icrc(datagram[:-4]) == datagram[-4:]
