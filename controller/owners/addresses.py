"""Addresses that compute their hash once: what digests report is looked up again and again, and
the hash of the library's addresses takes a microsecond, ten times as long as the rest of a look-up.
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address

from fcn.controller.config.notation import Address, parse_address

KEPT = 65536
"""Addresses kept: the same object each time, which is compared faster."""


class HashedIPv4Address(IPv4Address):
    """Equal to the IPv4Address of the same value."""

    __slots__ = ("_hash",)

    def __init__(self, address: int) -> None:
        super().__init__(address)
        self._hash = super().__hash__()

    def __hash__(self) -> int:
        return self._hash

    __eq__ = IPv4Address.__eq__


class HashedIPv6Address(IPv6Address):
    """Equal to the IPv6Address of the same value."""

    __slots__ = ("_hash",)

    def __init__(self, address: int) -> None:
        super().__init__(address)
        self._hash = super().__hash__()

    def __hash__(self) -> int:
        return self._hash

    __eq__ = IPv6Address.__eq__


@lru_cache(KEPT)
def ipv4(value: int) -> IPv4Address:
    return HashedIPv4Address(value)


@lru_cache(KEPT)
def ipv6(value: int) -> IPv6Address:
    return HashedIPv6Address(value)


@lru_cache(KEPT)
def address_of(text: str) -> Address:
    """The same object as of the number. Raises ValueError."""
    address = parse_address(text)
    return ipv4(int(address)) if address.version == 4 else ipv6(int(address))
