"""Messages whose UDP checksum would be zero, which is sent as all ones (RFC 8200 section 8.1)."""

from collections.abc import Callable

from fcn.ptf_tests.lib.packets import with_udp_checksum

ALL_ONES = 0xFFFF
_UDP_CHECKSUM = slice(46, 48)
"""Of an IPv6 datagram."""


def udp_checksum_of(datagram: bytes) -> int:
    """That of a UDP datagram over IPv6 without extension headers."""
    return int.from_bytes(datagram[_UDP_CHECKSUM], "big")


def word_of_zero_checksum(datagram: Callable[[int], bytes]) -> int:
    """The 16-bit word of a datagram, UDP over IPv6, with which the checksum would be zero.

    The word stands once in what the checksum is over, at an even place.
    """
    word = udp_checksum_of(with_udp_checksum(datagram(0)))
    if udp_checksum_of(with_udp_checksum(datagram(word))) != ALL_ONES:
        raise AssertionError("the word is not in the checksum once")
    return word
