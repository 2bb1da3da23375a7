"""How values are written in the configuration and on the command line, and what they are.

Every parser accepts one notation (a string or a number). For anything else the ValueError has the
reason and an example, because it is shown with the line of the file.
"""

import os
import re
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_interface,
    ip_network,
)
from typing import Any, TypeVar

from fcn.contract.depth import Depth, DepthUnit
from fcn.contract.units import OCTETS, read_amount

A = TypeVar("A", IPv4Address, IPv6Address)
Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Interface = IPv4Interface | IPv6Interface

BROADCAST = IPv4Address("255.255.255.255")
_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", re.IGNORECASE)
MAX_DURATION = 366 * 24 * 3_600_000_000
"""Microseconds of a year: longer ones are mistyped, and P4Runtime holds nanoseconds in 63 bits."""

MIN_PROBABILITY = 0.001
"""A smaller one marks nothing in the time of any congestion."""

SECOND = 1_000_000
"""Microseconds."""

_MICROSECONDS = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}
_PACKETS = re.compile(r"([0-9]{1,18}) ?(p|packets?)?")

SOCKET_PATH_MAX = 102
"""Octets the path of a Unix socket may have: 107 (unix(7): sun_path, with its end), less what is
appended for the one beside it (northbound/local_users.py)."""

DEFAULT_ENDPOINT = "unix:/run/fcn/api"
"""Where the controller listens, and is looked for: a socket whose mode says who may use it."""

_ENDPOINT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\s]+):([0-9]{1,5})")


def _text(value: Any, what: str) -> str:  # noqa: ANN401 - whatever YAML holds
    if not isinstance(value, str):
        raise ValueError(f"expected {what}, got {value!r}")
    return value


def parse_mac(value: Any) -> int:  # noqa: ANN401
    """MAC address as a 48-bit number; group addresses are refused."""
    text = _text(value, "a MAC address such as 02:00:00:00:00:01")
    if not _MAC.fullmatch(text):
        raise ValueError(f"{text!r} is not a MAC address; write it as 02:00:00:00:00:01")
    mac = int(text.replace(":", ""), 16)
    if mac == 0 or mac >> 40 & 1:
        raise ValueError(f"{text!r} is not a unicast MAC address")
    return mac


def format_mac(mac: int) -> str:
    """`02:00:00:00:00:01` for a 48-bit number."""
    return mac.to_bytes(6, "big").hex(":")


def _without_zone(text: str) -> str:
    """Packets carry no zone, and two spellings of one address would be different ones."""
    if "%" in text:
        raise ValueError(f"{text} names a zone; write the address alone")
    return text


def parse_ipv4(value: Any) -> IPv4Address:  # noqa: ANN401
    """An IPv4 address that a node can have."""
    text = _text(value, "an IPv4 address such as 192.0.2.1")
    try:
        address = IPv4Address(text)
    except ValueError:
        raise ValueError(_not_an_address(text, "an IPv4 address such as 192.0.2.1")) from None
    if address == BROADCAST:
        raise ValueError(f"{address} is the broadcast address; write that of a node")
    return _of_a_node(address)


def parse_ipv6(value: Any) -> IPv6Address:  # noqa: ANN401
    """An IPv6 address that a node can have, without a zone."""
    text = _without_zone(_text(value, "an IPv6 address such as 2001:db8::1"))
    try:
        address = IPv6Address(text)
    except ValueError:
        raise ValueError(_not_an_address(text, "an IPv6 address such as 2001:db8::1")) from None
    if address.ipv4_mapped is not None:
        raise ValueError(f"{text} stands for an IPv4 address; expected one of IPv6 alone")
    return _of_a_node(address)


def _not_an_address(text: str, expected: str) -> str:
    """Why `text` is not what is expected: something near it, or something else."""
    try:
        found = ip_interface(text)
    except ValueError:
        return f"{text!r} is not {expected}"
    if "/" in text:
        return f"{text} is a prefix; expected {expected}"
    return f"{text} is an IPv{found.version} address; expected {expected}"


def _of_a_node(address: A) -> A:
    _check_unicast(address)
    return address


def _check_unicast(address: Address) -> None:
    if address.is_unspecified or address.is_multicast or address.is_loopback:
        raise ValueError(f"{address} is not a unicast address a node can have")


def parse_address(value: Any) -> Address:  # noqa: ANN401
    """An IPv4 or IPv6 address without a zone."""
    text = _without_zone(_text(value, "an IPv4 or IPv6 address"))
    try:
        return IPv6Address(text) if ":" in text else IPv4Address(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not an IPv4 or IPv6 address: {error}") from None


def parse_network(value: Any) -> Network:  # noqa: ANN401
    """An IPv4 or IPv6 prefix without host bits."""
    text = _without_zone(_text(value, "a prefix such as 10.2.0.0/16 or 2001:db8:2::/64"))
    try:
        return ip_network(text)
    except ValueError as error:
        if "host bits" in str(error):
            raise ValueError(
                f"{text} has host bits set; did you mean {ip_interface(text).network}?"
            ) from None
        raise


def parse_ipv6_network(value: Any) -> IPv6Network:  # noqa: ANN401
    """A prefix of the underlay."""
    network = parse_network(value)
    if not isinstance(network, IPv6Network):
        raise ValueError(f"{network} is IPv4; the underlay is IPv6")
    return network


def parse_interface(value: Any) -> Interface:  # noqa: ANN401
    """An address with the prefix length of its subnet."""
    text = _without_zone(_text(value, "an address with prefix length such as 10.1.0.1/24"))
    if "/" not in text:
        raise ValueError(f"{text} lacks the prefix length, as in {text}/24 or {text}/64")
    interface = ip_interface(text)
    _check_unicast(interface.ip)
    subnet = interface.network
    ends = (subnet.network_address, subnet.broadcast_address)
    if subnet.version == 4 and subnet.prefixlen < 31 and interface.ip in ends:
        raise ValueError(f"{text} is the network or broadcast address of its subnet")
    return interface


def parse_duration(value: Any) -> int:  # noqa: ANN401
    """Duration in microseconds from `50us`, `1ms`, `60s`, `5m` or `1h`."""
    text = _text(value, "a duration with its unit such as 50us, 10ms or 60s")
    microseconds = read_amount(text, _MICROSECONDS, "a duration; write 50us, 10ms, 60s, 5m or 1h")
    if microseconds > MAX_DURATION:
        raise ValueError(f"{text!r} is longer than a year")
    if microseconds.denominator != 1:
        raise ValueError(f"{text!r} is finer than a microsecond; write whole ones")
    return int(microseconds)


def format_duration(microseconds: int) -> str:
    """The shortest notation that `parse_duration` reads as the same value (microseconds)."""
    for unit in ("h", "m", "s", "ms"):
        if microseconds and microseconds % _MICROSECONDS[unit] == 0:
            return f"{microseconds // _MICROSECONDS[unit]}{unit}"
    return f"{microseconds}us"


def parse_probability(value: Any) -> float:  # noqa: ANN401
    """A number from MIN_PROBABILITY to 1."""
    # A boolean is a number to Python.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not MIN_PROBABILITY <= value <= 1:
        raise ValueError(
            f"{value!r} is not a probability; write a number from {MIN_PROBABILITY} to 1"
        )
    return float(value)


def parse_depth(value: Any) -> Depth:  # noqa: ANN401
    """Queue depth: packets as `8`, `8p` or `8 packets`, or octets as `64kB`, `64KiB` or `2MB`."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if packets := _PACKETS.fullmatch(_text(text, "a queue depth such as 8 packets or 64kB")):
        depth = Depth(int(packets[1]))
    else:
        what = "a queue depth; write 8 (packets), 8 packets, 64kB or 2MB"
        depth = Depth(round(read_amount(value, OCTETS, what)), DepthUnit.OCTETS)
    if depth.amount < 1:
        raise ValueError(f"{value!r}: a queue depth is at least 1")
    return depth


def format_depth(depth: Depth) -> str:
    """The shortest notation that `parse_depth` reads as the same depth."""
    if depth.unit is DepthUnit.PACKETS:
        return str(depth.amount)
    unit = next(name for name, octets in OCTETS.items() if depth.amount % octets == 0)
    return f"{depth.amount // OCTETS[unit]}{unit}"


def parse_octets(value: Any) -> int:  # noqa: ANN401
    """Octets from `1500B` or `9kB`."""
    try:
        depth = parse_depth(value)
    except ValueError:
        raise ValueError(f"{value!r} is no number of octets; write 1500B, 9kB or 4MB") from None
    if depth.unit is not DepthUnit.OCTETS:
        raise ValueError(f"{value!r} has no unit; write 1500B or 9kB")
    return depth.amount


def parse_endpoint(value: Any) -> str:  # noqa: ANN401
    """`host:port`, `[IPv6]:port` or `unix:/path`, as it is."""
    text = _text(value, "host:port")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{text!r} is not written in UTF-8") from None
    if text.startswith("unix:"):
        path = text.removeprefix("unix:")
        if not path.startswith("/"):
            raise ValueError(f"{text!r} is not an absolute path; write unix:/run/fcn/api")
        if len(os.fsencode(path)) > SOCKET_PATH_MAX:
            raise ValueError(
                f"the path of a Unix socket has at most {SOCKET_PATH_MAX} octets, "
                f"{path} has {len(os.fsencode(path))}"
            )
        return text
    found = _ENDPOINT.fullmatch(text)
    if not found or int(found[2]) > 65535 or not _is_host(found[1]):
        raise ValueError(f"{text!r} is not host:port, [IPv6]:port or unix:/path")
    return text


def _is_host(text: str) -> bool:
    """Whether what is in brackets, if anything is, is an IPv6 address."""
    try:
        return not text.startswith("[") or bool(IPv6Address(text.strip("[]")))
    except ValueError:
        return False


def parse_peer(value: Any) -> str:  # noqa: ANN401
    text = parse_endpoint(value)
    if text.endswith(":0"):
        raise ValueError(f"{text!r} names no port to connect to")
    return text
