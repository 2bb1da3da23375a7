"""The nodes, hosts and links of a scenario's network, as the laboratory builds them.

Data centres are not built of leaves and spines, which run no P4 program: the hosts of one are
attached to its gateway, a plain router, and the gateway to its PE by a link without a limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address
from itertools import count
from typing import Any, Literal

from fcn.contract.depth import Depth
from fcn.controller.config.notation import Address, format_mac
from fcn.lab.controls import CONTROLS, Model
from fcn.lab.core import ETHERNET_OVERHEAD
from fcn.lab.impairment import Impairment
from fcn.lab.scenario.model import (
    HostSettings,
    LinkDefaults,
    LinkSettings,
    PfcSettings,
    RedSettings,
    Scenario,
)
from fcn.topologies.model import ROOMY_DEPTH, Topology

HOST_MACS = 0x02_00_00_00_00_00
"""MAC addresses of hosts are counted from here, and gateways have them, too."""

Kind = Literal["core", "host", "gateway"]


@dataclass(frozen=True, slots=True)
class EndHost:
    """A host: the PE or gateway it is attached to and the port there."""

    name: str
    site: str
    port: int
    ipv4: IPv4Address
    ipv6: IPv6Address
    number: int

    def address(self, version: int) -> Address:
        """Its address of an IP version."""
        return self.ipv4 if version == 4 else self.ipv6

    @property
    def mac(self) -> str:
        return format_mac(HOST_MACS + self.number)


@dataclass(frozen=True, slots=True)
class Wire:
    """A link and its ends. rate_bps: None is without a limit, 0 is missing. buffer, red: of each
    queue of a switch at its ends. impairment: None is none."""

    kind: Kind
    a: str
    a_port: int
    b: str
    b_port: int
    rate_bps: int | None
    delay_ns: int
    buffer: Depth
    pfc: PfcSettings | None
    red: RedSettings | None
    impairment: Impairment | None

    @property
    def ends(self) -> frozenset[str]:
        """The names of both ends."""
        return frozenset((self.a, self.b))

    @property
    def promised(self) -> int:
        """Octets of a switch's memory that its flow control keeps for what comes by it."""
        if self.pfc is None or self.rate_bps is None:
            return 0
        most_ns = self.delay_ns + (self.impairment.jitter_ns if self.impairment else 0)
        size = self.pfc.of_port.size(self.rate_bps, most_ns, ETHERNET_OVERHEAD)
        return len(self.pfc.priorities) * size


@dataclass(frozen=True)
class Gateway:
    """The router in front of a data centre: its port 1 is the one towards its PE, where it has
    `addresses`, of IPv4 and IPv6."""

    name: str
    pe: str
    pe_port: int
    number: int
    addresses: tuple[Address, Address]
    hosts: tuple[EndHost, ...]

    @property
    def mac(self) -> str:
        """Its MAC address, of every port."""
        return format_mac(HOST_MACS + self.number)


def _given(model: Model) -> dict[str, Any]:
    """What a scenario says, without defaults."""
    return {key: getattr(model, key) for key in model.model_fields_set}


@dataclass(frozen=True)
class Wiring:
    """A scenario's network."""

    scenario: Scenario
    topology: Topology

    @cached_property
    def gateways(self) -> tuple[Gateway, ...]:
        """The gateways of data centres."""
        return tuple(gateway for gateway, _ in self._sites if gateway is not None)

    @cached_property
    def hosts(self) -> dict[str, EndHost]:
        """Every host by its name, in the order of the network."""
        return {host.name: host for _, hosts in self._sites for host in hosts}

    @cached_property
    def _sites(self) -> list[tuple[Gateway | None, tuple[EndHost, ...]]]:
        numbers = count(1)
        centres = {centre.gateway: centre for centre in self.topology.centres}
        sites: list[tuple[Gateway | None, tuple[EndHost, ...]]] = []
        for host, port in self.topology.host_ports():
            addresses = self.topology.addresses(host.name)
            if host.name not in centres:
                end = EndHost(
                    host.name,
                    host.pe,
                    port.number,
                    addresses.ipv4.ip,
                    addresses.ipv6.ip,
                    next(numbers),
                )
                sites.append((None, (end,)))
                continue
            number = next(numbers)
            hosts = tuple(
                EndHost(each.name, host.name, at, each.ipv4, each.ipv6, next(numbers))
                for at, each in enumerate(centres[host.name].hosts, 2)
            )
            own = addresses.ipv4.ip, addresses.ipv6.ip
            sites.append((Gateway(host.name, host.pe, port.number, number, own, hosts), hosts))
        return sites

    @cached_property
    def wires(self) -> tuple[Wire, ...]:
        """Every link: those of the core, then those of hosts and gateways."""
        return tuple(self._wires())

    def wire(self, a: str, b: str) -> Wire | None:
        """The link between two neighbours, if there is one."""
        return self._by_ends.get(frozenset((a, b)))

    @cached_property
    def _by_ends(self) -> dict[frozenset[str], Wire]:
        return {wire.ends: wire for wire in self.wires}

    @cached_property
    def has_red(self) -> bool:
        """Whether queues mark by random early detection in this mode; then nothing else does."""
        return self.scenario.mode == "ecn" and any(wire.red for wire in self.wires)

    @property
    def core_directions(self) -> list[tuple[str, str]]:
        """Both directions of every core link: node, neighbour."""
        core = [wire for wire in self.wires if wire.kind == "core"]
        return [pair for wire in core for pair in ((wire.a, wire.b), (wire.b, wire.a))]

    def _wires(self) -> Iterator[Wire]:
        links, topology = self.scenario.links, self.topology
        for link in topology.links:
            ports = topology.port(link.a, link.b).number, topology.port(link.b, link.a).number
            yield self._wire(
                "core", (link.a, ports[0]), (link.b, ports[1]), link.rate_bps, link.delay_ns,
                links.core,
            )  # fmt: skip
        rates = {host.name: host.rate_bps for host in topology.hosts}
        rates |= {host.name: host.rate_bps for centre in topology.centres for host in centre.hosts}
        for gateway in self.gateways:
            ends = (gateway.name, 1), (gateway.pe, gateway.pe_port)
            yield self._wire("gateway", *ends, 0, 0, links.gateways)
        for host in self.hosts.values():
            ends = (host.name, 0), (host.site, host.port)
            yield self._wire("host", *ends, rates.get(host.name, 0), 0, links.hosts)

    def _wire(
        self,
        kind: Kind,
        a: tuple[str, int],
        b: tuple[str, int],
        rate: int,
        delay: int,
        defaults: LinkDefaults,
    ) -> Wire:
        own = self._own_settings(a[0], b[0])
        jitter = defaults.jitter if own.jitter is None else own.jitter
        errors = defaults.bit_errors if own.bit_errors is None else own.bit_errors
        return Wire(
            kind,
            *a,
            *b,
            own.rate or rate or defaults.rate or (None if kind == "gateway" else 0),
            (delay or defaults.delay) if own.delay is None else own.delay,
            own.buffer or defaults.buffer or Depth(ROOMY_DEPTH),
            own.pfc or defaults.pfc,
            own.red or defaults.red,
            Impairment(jitter, errors) if jitter or errors else None,
        )

    def _own_settings(self, a: str, b: str) -> LinkSettings:
        for settings in self.scenario.links.only:
            if set(settings.between) == {a, b}:
                return settings
        return LinkSettings(between=(a, b))

    def settings(self, host: EndHost) -> HostSettings:
        settings: HostSettings = self.scenario.hosts
        for some in self.scenario.hosts.only:
            if any(host in self.select(name) for name in some.names):
                changes = _given(some.settings)
                for control in CONTROLS:
                    if control in changes:
                        own = _given(changes[control])
                        changes[control] = getattr(settings, control).model_copy(update=own)
                settings = settings.model_copy(update=changes)
        return settings

    def pe_of(self, host: EndHost) -> str:
        return self._pes.get(host.site, host.site)

    def memory_of(self, switch: str) -> int | None:
        """Octets that the queues of a switch share; None is without a limit."""
        switches = self.scenario.switches
        return switches.only.get(switch, switches.memory)

    def vrf_of(self, host: EndHost) -> str:
        """The VRF a host is in."""
        return self._vrfs.get(host.name) or self._vrfs[host.site]

    @cached_property
    def _vrfs(self) -> dict[str, str]:
        return {host.name: host.vrf for host in self.topology.hosts}

    @cached_property
    def _pes(self) -> dict[str, str]:
        return {gateway.name: gateway.pe for gateway in self.gateways}

    def address(self, host: EndHost) -> Address:
        """The address a host uses."""
        return host.address(self.settings(host).ip)

    def select(self, pattern: str) -> tuple[EndHost, ...]:
        """The hosts a pattern of a scenario names: of a site, or by name with `*` and `?`."""
        return tuple(
            host
            for host in self.hosts.values()
            if host.site == pattern or fnmatchcase(host.name, pattern)
        )
