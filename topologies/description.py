"""A network described in YAML: what it may say, what must fit together, and the `Topology` of it.

`networks/example.yaml` explains every key.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from fcn.controller.config.balancing import LoadBalancing
from fcn.controller.config.base import not_empty
from fcn.controller.config.document import KeyPath, listed, model_problems, read_document
from fcn.controller.config.failures import FailureDetection
from fcn.controller.config.load import EXAMPLE as CONTROLLER_EXAMPLE
from fcn.controller.config.model import MAX_SIDS
from fcn.controller.config.policies import MAX_PATHS, MAX_WEIGHT
from fcn.controller.config.types import Items, Name, Prefix, VrfId
from fcn.topologies import model
from fcn.topologies.data_centre import MAX_HOSTS, DataCentre
from fcn.topologies.units import Delay, PacketRate, Rate, Time

MAX_SITES = 99
"""PEs, and data centres: from 10.101.0.0/16 on addresses are the data centres'."""

MAX_VIA = MAX_SIDS - 1
"""Nodes a path is led through; the last SID is the far PE's."""

MAX_ATTACHED = 254
"""Hosts and gateways of a PE: the third octet of their IPv4 addresses is their port."""

NodeName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,7}$")]
"""Of a node or host; the names of its interfaces have at most 15 characters."""

_CABLE = re.compile(r"line[0-9]+")
"""Names of the programs that delay what BMv2 sends."""

NETWORKS = Path(__file__).parent / "networks"
EXAMPLE = NETWORKS / "example.yaml"


class _Description(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class Node(_Description):
    role: model.Role


class Link(_Description):
    between: Items[NodeName] = Field(min_length=2, max_length=2)
    delay: Delay = 0
    rate: Rate | None = None


class Host(_Description):
    """An end system on a DC port of its own, or a router with `networks` behind it."""

    pe: NodeName
    vrf: Name | None = None
    networks: Items[Prefix] = ()
    rate: Rate | None = None


class Site(_Description):
    """A data centre: leaves, spines and hosts behind a gateway on a DC port. `rate`: of the link of
    each host."""

    pe: NodeName
    hosts: Annotated[int, Field(ge=1, le=MAX_HOSTS)]
    vrf: Name | None = None
    rate: Rate | None = None


class Queue(_Description):
    """A limited queue of a node towards its neighbour."""

    node: NodeName
    towards: NodeName
    rate: PacketRate
    depth: Annotated[int, Field(ge=1, le=1_000_000)]


class Way(_Description):
    """A path of a policy, in one direction; the other has its nodes in the reverse order."""

    via: Items[NodeName] = Field(min_length=1, max_length=MAX_VIA)
    weight: Annotated[int, Field(ge=1, le=MAX_WEIGHT)] = 1


class Policy(_Description):
    """Several paths between two PEs, a policy in each direction."""

    between: Items[NodeName] = Field(min_length=2, max_length=2)
    paths: Items[Way] = Field(min_length=1, max_length=MAX_PATHS)
    backup: Items[Way] = Field(default=(), max_length=MAX_PATHS)
    hold_down: Time = 0


class Network(_Description):
    vrfs: dict[Name, VrfId] = Field(default={"blue": 1}, min_length=1)
    tunnel: model.TunnelType = "srv6"
    nodes: dict[NodeName, Node] = Field(min_length=1)
    links: Items[Link] = ()
    hosts: dict[NodeName, Host] = {}
    data_centres: Items[Site] = Field(default=(), max_length=MAX_SITES)
    queues: Items[Queue] = ()
    policies: Items[Policy] = ()
    failure_detection: dict[str, Any] = {}
    load_balancing: Annotated[dict[str, Any] | None, BeforeValidator(not_empty)] = None


def parse_topology(text: str, file: str, hosts: int | None = None) -> model.Topology:
    """The network that `text` describes, named like the file it is of; `hosts` overrides the number
    of hosts of each data centre. Raises DocumentError with every problem found."""
    network = read_document(text, file, Network, EXAMPLE, _problems)
    return _topology(network, Path(file).stem, hosts)


def _problems(network: Network) -> Iterator[tuple[KeyPath, str]]:
    gateways = {f"gw{number}" for number in range(1, len(network.data_centres) + 1)}
    for name in network.hosts:
        if name in network.nodes or name in gateways:
            yield ("hosts", name), f"{name} is the name of another node or gateway, too"
    for name in network.nodes:
        if name in gateways:
            yield ("nodes", name), f"{name} is the name of a data centre's gateway, too"
    for kind, names in (("nodes", network.nodes), ("hosts", network.hosts)):
        for name in filter(_CABLE.fullmatch, names):
            yield (kind, name), f"{name} is the name of a cable; take another"
    if len(_pes(network)) > MAX_SITES:
        yield ("nodes",), f"{len(_pes(network))} PEs; at most {MAX_SITES} have addresses"
    attached = Counter(end.pe for _, end in _attachments(network))
    for pe, number in attached.items():
        if number > MAX_ATTACHED:
            yield ("hosts",), f"{number} hosts on {pe}; at most {MAX_ATTACHED} have addresses"
    numbers = list(network.vrfs.values())
    for name, number in network.vrfs.items():
        if numbers.count(number) > 1:
            yield ("vrfs", name), f"{number} is the ID of another VRF, too"
    for index, link in enumerate(network.links):
        yield from _link_problems(network, index, link)
    for place, end in _attachments(network):
        if end.pe not in network.nodes or network.nodes[end.pe].role != "pe":
            yield (*place, "pe"), f"{end.pe} is no PE; PEs are {listed(_pes(network))}"
        if end.vrf is None and len(network.vrfs) > 1:
            yield place, f"vrf is missing; there are {listed(network.vrfs)}"
        elif end.vrf is not None and end.vrf not in network.vrfs:
            yield (*place, "vrf"), f"no VRF {end.vrf}; there are {listed(network.vrfs)}"
    neighbours = {frozenset(link.between) for link in network.links}
    neighbours |= {frozenset((host.pe, name)) for name, host in network.hosts.items()}
    linked = {end for link in network.links for end in link.between} | attached.keys()
    for name in network.nodes:
        if name not in linked:
            yield ("nodes", name), f"{name} has no link"
    for index, policy in enumerate(network.policies):
        yield from _policy_problems(network, index, policy)
    yield from _section_problems(network)
    limited = [(queue.node, queue.towards) for queue in network.queues]
    for index, queue in enumerate(network.queues):
        here = (queue.node, queue.towards)
        if queue.node not in network.nodes or frozenset(here) not in neighbours:
            yield ("queues", index), f"{queue.node} has no port towards {queue.towards}"
        elif here in limited[:index]:
            yield ("queues", index), f"the queue of {queue.node} towards {queue.towards} is above"


def _link_problems(network: Network, index: int, link: Link) -> Iterator[tuple[KeyPath, str]]:
    place = ("links", index, "between")
    for end in link.between:
        if end not in network.nodes:
            yield place, f"no node {end}; there are {listed(network.nodes)}"
    if link.between[0] == link.between[1]:
        yield place, f"{link.between[0]} is linked to itself"
    if any(set(link.between) == set(other.between) for other in network.links[:index]):
        yield place, f"{' and '.join(link.between)} are linked above; a second link has no name"


def _policy_problems(network: Network, index: int, policy: Policy) -> Iterator[tuple[KeyPath, str]]:
    place = ("policies", index)
    pes = _pes(network)
    for end in policy.between:
        if end not in pes:
            yield (*place, "between"), f"{end} is no PE; PEs are {listed(pes)}"
    ends = set(policy.between)
    if len(ends) == 1:
        yield (*place, "between"), f"{policy.between[0]} has no way to itself"
    if any(set(other.between) == ends for other in network.policies[:index]):
        yield (*place, "between"), "a policy between these is above"
    for kind, ways in (("paths", policy.paths), ("backup", policy.backup)):
        for number, way in enumerate(ways):
            for name in way.via:
                if name not in network.nodes:
                    where = (*place, kind, number, "via")
                    yield where, f"no node {name}; there are {listed(network.nodes)}"


def _section_problems(network: Network) -> Iterator[tuple[KeyPath, str]]:
    """What is wrong with sections of the controller's configuration."""
    for key, section, kind in (
        ("failure_detection", network.failure_detection, FailureDetection),
        ("load_balancing", network.load_balancing or {}, LoadBalancing),
    ):
        try:
            kind.model_validate(section)
        except ValidationError as error:
            for path, message in model_problems(error, CONTROLLER_EXAMPLE):
                yield (key, *path), message
    if network.load_balancing is None:
        return
    if not network.failure_detection:
        reason = "it needs failure_detection, whose clock measures the links"
        yield ("load_balancing",), f"{reason}; write for example {{interval: 100ms}} there"
    for index, link in enumerate(network.links):
        if link.rate is None:
            yield ("links", index), "load_balancing needs its rate, as in `rate: 10 Gb/s`"


def _attachments(network: Network) -> Iterator[tuple[KeyPath, Host | Site]]:
    for name, host in network.hosts.items():
        yield ("hosts", name), host
    for index, site in enumerate(network.data_centres):
        yield ("data_centres", index), site


def _pes(network: Network) -> list[str]:
    return [name for name, node in network.nodes.items() if node.role == "pe"]


def _topology(network: Network, name: str, hosts: int | None) -> model.Topology:
    only_vrf = next(iter(network.vrfs))
    centres = tuple(
        DataCentre(number, hosts or site.hosts, site.rate or 0)
        for number, site in enumerate(network.data_centres, 1)
    )
    gateways = (
        model.Host(centre.gateway, site.pe, site.vrf or only_vrf, centre.networks)
        for centre, site in zip(centres, network.data_centres, strict=True)
    )
    return model.Topology(
        name=name,
        nodes=tuple(model.Node(name, node.role) for name, node in network.nodes.items()),
        links=tuple(
            model.Link(link.between[0], link.between[1], link.delay, link.rate or 0)
            for link in network.links
        ),
        hosts=(
            *(
                model.Host(name, host.pe, host.vrf or only_vrf, host.networks, host.rate or 0)
                for name, host in network.hosts.items()
            ),
            *gateways,
        ),
        queues=tuple(model.Queue(q.node, q.towards, q.rate, q.depth) for q in network.queues),
        vrfs=network.vrfs,
        tunnel=network.tunnel,
        centres=centres,
        policies=tuple(
            _policy(policy, ends)
            for policy in network.policies
            for ends in (policy.between, policy.between[::-1])
        ),
        detection=network.failure_detection,
        balancing=network.load_balancing,
    )


def _policy(policy: Policy, ends: Sequence[str]) -> model.Policy:
    forward = ends == policy.between
    return model.Policy(
        ends[0],
        ends[1],
        tuple(
            model.Way(way.via if forward else way.via[::-1], way.weight, is_backup)
            for is_backup, ways in ((False, policy.paths), (True, policy.backup))
            for way in ways
        ),
        policy.hold_down,
    )
