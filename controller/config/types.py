"""Field types of the configuration: notation in YAML and the resulting values (notation.py)."""

from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
)
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, Strict, ValidationInfo

from fcn.contract.constants import enum_members
from fcn.contract.depth import Depth, DepthUnit
from fcn.contract.ports import QUEUES
from fcn.contract.units import parse_rate
from fcn.controller.config.features import (
    ROLE_FEATURES,
    Feature,
    Role,
    feature_names,
    parse_features,
)
from fcn.controller.config.notation import (
    format_depth,
    format_duration,
    parse_address,
    parse_depth,
    parse_duration,
    parse_endpoint,
    parse_interface,
    parse_ipv4,
    parse_ipv6,
    parse_ipv6_network,
    parse_mac,
    parse_network,
    parse_octets,
    parse_peer,
    parse_probability,
)

T = TypeVar("T")
Items = Annotated[tuple[T, ...], Strict(False)]
"""A YAML list, kept as a tuple so that the model stays frozen."""


def within(shortest: str, longest: str) -> AfterValidator:
    """Bounds of a duration, both inclusive; the message has them as they are written here."""
    low, high = parse_duration(shortest), parse_duration(longest)

    def check(microseconds: int) -> int:
        if low <= microseconds <= high:
            return microseconds
        shown = format_duration(microseconds)
        raise ValueError(f"{shown} is out of range; write {shortest} to {longest}")

    return AfterValidator(check)


def _octets_within(fewest: str, most: str) -> AfterValidator:
    """Bounds of a number of octets, both inclusive; the message has them as they are here."""
    low, high = parse_octets(fewest), parse_octets(most)

    def check(octets: int) -> int:
        if low <= octets <= high:
            return octets
        shown = format_depth(Depth(octets, DepthUnit.OCTETS))
        raise ValueError(f"{shown} is out of range; write {fewest} to {most}")

    return AfterValidator(check)


def _free_for_notifications(port: int) -> int:
    """Refuse the UDP ports that the programs parse as another protocol. Raises ValueError."""
    for name, taken in enum_members("UdpPort").items():
        if port == taken:
            raise ValueError(f"UDP port {port} is that of {name}; choose another")
    return port


def _parse_features(value: object, info: ValidationInfo) -> frozenset[Feature]:
    """`all`, or a list of names. Where the node's role is invalid, every name is accepted."""
    role: Role = info.data.get("role", "pe")
    if value == "all":
        return ROLE_FEATURES[role]
    if not isinstance(value, list | frozenset) or not all(isinstance(name, str) for name in value):
        choice = ", ".join(feature_names(ROLE_FEATURES[role]))
        raise ValueError(f"expected all or a list of features ({choice}), got {value!r}")
    return parse_features(value, role)


Mac = Annotated[int, BeforeValidator(parse_mac)]
IPv4 = Annotated[IPv4Address, BeforeValidator(parse_ipv4)]
IPv6 = Annotated[IPv6Address, BeforeValidator(parse_ipv6)]
AnyAddress = Annotated[IPv4Address | IPv6Address, BeforeValidator(parse_address)]
Prefix = Annotated[IPv4Network | IPv6Network, BeforeValidator(parse_network)]
IPv6Prefix = Annotated[IPv6Network, BeforeValidator(parse_ipv6_network)]
Gateway = Annotated[IPv4Interface | IPv6Interface, BeforeValidator(parse_interface)]
Duration = Annotated[int, BeforeValidator(parse_duration)]
Interval = Annotated[Duration, within("0us", "10s")]
"""Between notifications of one flow, at least; 0: none."""
Rate = Annotated[int, BeforeValidator(parse_rate)]
"""Bits per second."""
Probability = Annotated[float, BeforeValidator(parse_probability)]
Listen = Annotated[str, BeforeValidator(parse_endpoint)]
"""Address to listen on: host:port (port 0: any free one) or unix:/path."""
Endpoint = Annotated[str, BeforeValidator(parse_peer)]
"""Address to connect to, as `Listen`, but with a port other than 0."""

UdpPort = Annotated[int, Field(ge=1, le=65535)]
NotificationPort = Annotated[UdpPort, AfterValidator(_free_for_notifications)]
Octet = Annotated[int, Field(ge=0, le=255)]
PortNumber = Annotated[int, Field(ge=0)]
"""The target decides which numbers are front-panel ports (config/check.py)."""
VlanId = Annotated[int, Field(ge=0, le=4094)]
VrfId = Annotated[int, Field(ge=1, le=65535)]
Vni = Annotated[int, Field(ge=1, le=0xFFFFFF)]
GreKey = Annotated[int, Field(ge=0, le=0xFFFFFFFF)]
MplsLabel = Annotated[int, Field(ge=16, le=0xFFFFF)]
"""Labels 0 to 15 are special-purpose (RFC 7274)."""
QueueId = Annotated[int, Field(ge=QUEUES[0], le=QUEUES[-1])]
QueueDepth = Annotated[Depth, BeforeValidator(parse_depth)]
"""Its range depends on the node's target (config/check.py)."""
PacketSize = Annotated[int, BeforeValidator(parse_octets), _octets_within("64B", "65535B")]
OctetCount = Annotated[int, BeforeValidator(parse_octets), _octets_within("64B", "4GB")]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,62}$")]
Features = Annotated[frozenset[Feature], BeforeValidator(_parse_features)]
"""A field of a model that has `role` before it."""
