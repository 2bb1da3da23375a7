"""Names and addresses of one data centre: 16 leaves, 2 spines, a gateway, hosts on the leaves.

Hosts of leaf l in data centre d: 10.(100+d).l.(10+i) and 2001:db8:d<d>:l::(10+i), i from 0.
"""

from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

LEAVES = 16
SPINES = 2
MAX_HOSTS = 16 * 200
FIRST_HOST = 10


@dataclass(frozen=True, slots=True)
class DcHost:
    """One host on a leaf (counted from 1). rate_bps: bits per second of its link, each direction
    (0: not limited)."""

    name: str
    leaf: int
    ipv4: IPv4Address
    ipv6: IPv6Address
    rate_bps: int = 0

    def address(self, family: int) -> str:
        """Its address of IP version 4 or 6."""
        return str(self.ipv4 if family == 4 else self.ipv6)


@dataclass(frozen=True)
class DataCentre:
    """Data centre `number` with `size` hosts, spread evenly over the leaves; rate_bps: of the link
    of each.

    Raises ValueError when the hosts do not fit.
    """

    number: int
    size: int
    rate_bps: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.size <= MAX_HOSTS:
            raise ValueError(f"a data centre has 1 to {MAX_HOSTS} hosts, not {self.size}")

    @property
    def gateway(self) -> str:
        return f"gw{self.number}"

    def leaf(self, index: int) -> str:
        return f"d{self.number}l{index}"

    def spine(self, index: int) -> str:
        return f"d{self.number}s{index}"

    @property
    def networks(self) -> tuple[IPv4Network, IPv6Network]:
        """The prefixes of this data centre."""
        return (
            IPv4Network(f"10.{100 + self.number}.0.0/16"),
            IPv6Network(f"2001:db8:d{self.number:x}::/48"),
        )

    def leaf_networks(self, index: int) -> tuple[IPv4Network, IPv6Network]:
        """The prefixes of the hosts of one leaf."""
        return (
            IPv4Network(f"10.{100 + self.number}.{index}.0/24"),
            IPv6Network(f"2001:db8:d{self.number:x}:{index:x}::/64"),
        )

    @cached_property
    def hosts(self) -> tuple[DcHost, ...]:
        """All hosts: with 64 of them H1 to H4 are on leaf 1, H61 to H64 on leaf 16."""
        hosts: list[DcHost] = []
        for number in range(self.size):
            leaf = number * LEAVES // self.size + 1
            before = sum(host.leaf == leaf for host in hosts)
            ipv4, ipv6 = self.leaf_networks(leaf)
            position = FIRST_HOST + before
            hosts.append(
                DcHost(
                    f"d{self.number}h{number + 1}",
                    leaf,
                    ipv4[position],
                    ipv6[position],
                    self.rate_bps,
                )
            )
        return tuple(hosts)
