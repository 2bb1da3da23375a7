"""Checks that concern several fields: references, duplicates, overlaps. Yields (path, message)."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from ipaddress import IPv6Address
from itertools import combinations
from pathlib import Path

from fcn.contract.constants import VRF_CELLS, PipelineError
from fcn.contract.depth import Depth, DepthError
from fcn.contract.targets import Target
from fcn.controller.config.addressing import never_forwarded
from fcn.controller.config.check_addresses import check_hosts, check_next_hop, mac_owners
from fcn.controller.config.check_balancing import check_balancing, check_balancing_node, check_rates
from fcn.controller.config.check_end_con import check_end_con, end_con_problem
from fcn.controller.config.check_failures import check_fantel, check_watching
from fcn.controller.config.check_flow_control import check_holding, check_holding_node
from fcn.controller.config.check_modes import check_curves, check_modes
from fcn.controller.config.check_pauses import check_pauses
from fcn.controller.config.check_policies import (
    check_fantel_port,
    check_path_numbers,
    check_policies,
    check_room,
)
from fcn.controller.config.check_regions import check_regions
from fcn.controller.config.check_unused import check_roles
from fcn.controller.config.document import KeyPath, listed
from fcn.controller.config.model import MAX_SIDS, Config, Node, Port, Tunnel
from fcn.controller.config.modes import Notification
from fcn.controller.config.notation import Address, Network
from fcn.controller.config.paths import Planner
from fcn.controller.config.programs import profile_problem, program_of, program_problem
from fcn.controller.config.queue_depths import level_problem, own_depths, queue_depths
from fcn.controller.config.transport import Finding, check_transport
from fcn.controller.config.watching import Watching


def check(config: Config, planner: Planner) -> Iterator[Finding]:
    """Every problem of a configuration whose fields are valid individually. planner: its own."""
    wrong = False
    for finding in _check_fields(config, planner):
        wrong = True
        yield finding
    if not wrong:
        watching = Watching(config, planner)
        yield from check_watching(config, watching)
        yield from check_rates(config, watching)


def _check_fields(config: Config, planner: Planner) -> Iterator[Finding]:
    if config.metrics is not None and config.metrics.startswith("unix:"):
        yield ("metrics",), "Prometheus uses HTTP over TCP; write host:port"
    if config.page is not None and config.page.startswith("unix:"):
        yield ("page",), "browsers use HTTP over TCP; write host:port"
    yield from _check_listeners(config)
    yield from check_regions(config)
    if config.state is not None and not Path(config.state).is_dir():
        yield ("state",), f"there is no folder {config.state}; make it, for the controller's user"
    yield from check_holding(config)
    yield from check_pauses(config)
    yield from _check_vrfs(config)
    yield from _check_links(config)
    yield from _check_switches(config)
    yield from check_transport(config)
    yield from _check_owners(config)
    yield from _check_agents(config)
    yield from check_modes(config)
    yield from check_path_numbers(config)
    yield from check_fantel_port(config)
    yield from check_balancing(config)
    yield from _check_levels(config)
    for name, node in config.nodes.items():
        path: KeyPath = ("nodes", name)
        for checker in (
            _check_ports,
            check_roles,
            _check_subnets,
            _check_node_vrfs,
            _check_tunnels,
            partial(check_policies, planner),
            check_end_con,
            _check_underlay,
            _check_thresholds,
        ):
            for sub, message in checker(config, node):
                yield (*path, *sub), message
        yield from _check_target(config, name, node)


def _check_listeners(config: Config) -> Iterator[Finding]:
    """Two on one port: by port alone, as one address has many spellings, and some of them are every
    address."""
    agents = config.host_agents
    listeners = {
        "api": config.api,
        "metrics": config.metrics,
        "page": config.page,
        "host_agents.listen": agents.listen if agents is not None else None,
    }
    ports: list[tuple[KeyPath, Hashable]] = [
        (tuple(name.split(".")), endpoint.rpartition(":")[2])
        for name, endpoint in listeners.items()
        if endpoint is not None and not endpoint.startswith("unix:") and not endpoint.endswith(":0")
    ]
    yield from _duplicates(
        ports,
        lambda _, first: f"{first} listens on {listeners[first]}, too; give each its own port",
    )


def _duplicates(
    items: Iterable[tuple[KeyPath, Hashable]], message: Callable[[Hashable, str], str]
) -> Iterator[Finding]:
    first: dict[Hashable, KeyPath] = {}
    for path, value in items:
        if value in first:
            yield path, message(value, ".".join(map(str, first[value])))
        else:
            first[value] = path


def _check_vrfs(config: Config) -> Iterator[Finding]:
    for field in ("id", "vni", "gre_key", "mpls_label"):
        items = [
            (("vrfs", name, field), value)
            for name, vrf in config.vrfs.items()
            if (value := getattr(vrf, field)) is not None
        ]
        yield from _duplicates(items, lambda value, first: f"{value} is already used by {first}")
    yield from _check_cells(config)


def _check_cells(config: Config) -> Iterator[Finding]:
    """What switches keep per VRF is not shared between VRFs, nor with the underlay (0)."""
    taken = {0: "the underlay's 0"}
    used = {vrf.id % VRF_CELLS for vrf in config.vrfs.values()}
    for name, vrf in config.vrfs.items():
        other = taken.setdefault(vrf.id % VRF_CELLS, f"{vrf.id}")
        if other != f"{vrf.id}":
            free = next(number for number in range(1, VRF_CELLS) if number not in used)
            message = (
                f"{vrf.id} and {other} are equal modulo {VRF_CELLS}, so that switches would not "
                f"keep their rate limits apart; {free} is free"
            )
            yield ("vrfs", name, "id"), message


def _check_links(config: Config) -> Iterator[Finding]:
    ends: list[tuple[KeyPath, Hashable]] = []
    for index, link in enumerate(config.link_ends()):
        for side, (node_name, number) in enumerate(link):
            path: KeyPath = ("links", index, side)
            node = config.nodes.get(node_name)
            if node is None:
                yield path, f"there is no node {node_name}"
                continue
            port = node.port(number)
            if port is None:
                yield path, f"{node_name} has no port {number}"
            elif port.role != "core":
                yield path, f"port {number} of {node_name} is not a core port"
            ends.append((path, (node_name, number)))
        (near, near_port), (far, far_port) = link
        if near == far and near_port != far_port:
            yield ("links", index), f"both ends are of {near}; a link is between two nodes"
    yield from _duplicates(ends, lambda end, first: f"this port is already linked by {first}")


def _check_switches(config: Config) -> Iterator[Finding]:
    """A switch has one primary controller, and is one node of it."""
    switches: list[tuple[KeyPath, Hashable]] = [
        (("nodes", name, "grpc"), (node.grpc, node.device_id))
        for name, node in config.nodes.items()
    ]
    yield from _duplicates(
        switches, lambda switch, first: f"this switch (address and device_id) is already {first}"
    )


def _check_owners(config: Config) -> Iterator[Finding]:
    """Each underlay address and SID belongs to one node."""
    owned: list[tuple[KeyPath, Hashable]] = []
    for name, node in config.nodes.items():
        path: KeyPath = ("nodes", name)
        owned.append(((*path, "underlay_address"), node.underlay_address))
        sids: list[tuple[KeyPath, IPv6Address]] = [
            ((*path, "end_sids", index), sid) for index, sid in enumerate(node.end_sids)
        ]
        for vrf_name, vrf in node.vrfs.items():
            for field in ("service_sid", "end_con_sid"):
                sid: IPv6Address | None = getattr(vrf, field)
                if sid is not None:
                    sids.append(((*path, "vrfs", vrf_name, field), sid))
        owned += sids
        for where, address in owned:
            if isinstance(address, IPv6Address) and address.is_link_local and where[1] == name:
                yield where, f"{address} is link-local; other nodes cannot reach it"
        if node.locator is not None:
            for sid_path, sid in sids:
                if sid not in node.locator:
                    yield sid_path, f"{sid} is outside the node's locator {node.locator}"
        for index, port in enumerate(node.ports):
            if port.role == "core":
                owned += [
                    ((*path, "ports", index, "addresses", position), address.ip)
                    for position, address in enumerate(port.addresses)
                ]
    yield from _duplicates(owned, lambda value, first: f"{value} already belongs to {first}")
    locators: list[tuple[KeyPath, Hashable]] = [
        (("nodes", name, "locator"), node.locator)
        for name, node in config.nodes.items()
        if node.locator is not None
    ]
    yield from _duplicates(locators, lambda value, first: f"{value} is already {first}")
    macs = mac_owners(config)
    yield from _duplicates(macs, lambda value, first: f"{value} already belongs to {first}")


def _check_agents(config: Config) -> Iterator[Finding]:
    """Each address in a VRF belongs to one host."""
    owned: list[tuple[KeyPath, Hashable]] = []
    for name, host in (config.host_agents.hosts if config.host_agents else {}).items():
        path: KeyPath = ("host_agents", "hosts", name)
        if host.vrf not in config.vrfs:
            yield (*path, "vrf"), f"there is no VRF {host.vrf}"
        owned += [
            ((*path, "addresses", index), (host.vrf, address))
            for index, address in enumerate(host.addresses)
        ]
    yield from _duplicates(owned, lambda value, first: f"this address is already {first}")


def _check_ports(config: Config, node: Node) -> Iterator[Finding]:
    keys: list[tuple[KeyPath, Hashable]] = [
        (("ports", index, "number"), (port.number, port.vlan))
        for index, port in enumerate(node.ports)
    ]
    yield from _duplicates(keys, lambda key, first: f"this port and VLAN is already {first}")
    names: list[tuple[KeyPath, Hashable]] = [
        (("ports", index, "name"), port.name) for index, port in enumerate(node.ports) if port.name
    ]
    yield from _duplicates(names, lambda name, first: f"{name} is already the name of {first}")
    roles: dict[int, str] = {}
    for index, port in enumerate(node.ports):
        first = roles.setdefault(port.number, port.role)
        if first != port.role:
            yield ("ports", index, "role"), f"port {port.number} is already a {first} port"
        for path, text in _check_port(config, node, port):
            yield ("ports", index, *path), text


def _check_port(config: Config, node: Node, port: Port) -> Iterator[Finding]:
    if port.role == "core":
        if port.vrf is not None:
            yield ("vrf",), "a core port belongs to the underlay and to no VRF"
        if port.vlan:
            yield ("vlan",), "core ports are untagged"
        if port.hosts:
            yield ("hosts",), "static hosts are for DC ports; use underlay routes here"
        for index, address in enumerate(port.addresses):
            if address.version == 4:
                yield ("addresses", index), f"{address} is IPv4; the underlay is IPv6"
        return
    if node.role == "p":
        yield ("role",), "a P node has core ports only"
    if port.rate is not None and not port.heed_pause:
        yield (
            ("rate",),
            "the rate is that of links between nodes, or of a DC port with heed_pause; remove it "
            "from this DC port",
        )
    if port.vrf is None:
        yield ("role",), "a DC port needs its vrf"
    elif port.vrf not in config.vrfs:
        yield ("vrf",), f"there is no VRF {port.vrf} under vrfs"
    yield from check_hosts(port)


def _check_subnets(config: Config, node: Node) -> Iterator[Finding]:
    """Connected subnets of one VRF (or of the underlay) do not overlap on one node."""
    subnets: list[tuple[KeyPath, str, Network]] = [
        (("ports", index, "addresses", position), port.vrf or "", address.network)
        for index, port in enumerate(node.ports)
        for position, address in enumerate(port.addresses)
    ]
    for (first_path, first_vrf, first), (path, vrf, network) in combinations(subnets, 2):
        if vrf == first_vrf and first.version == network.version and first.overlaps(network):
            domain = f"VRF {vrf}" if vrf else "the underlay"
            other = ".".join(map(str, first_path))
            yield path, f"{network} overlaps {first} of {other} in {domain}"


def _check_node_vrfs(config: Config, node: Node) -> Iterator[Finding]:
    if node.role == "p" and (node.vrfs or node.tunnels or node.policies):
        yield ("role",), "a P node has neither VRFs nor tunnels nor policies"
    for name, vrf in node.vrfs.items():
        path: KeyPath = ("vrfs", name)
        if name not in config.vrfs:
            yield path, f"there is no VRF {name} under vrfs"
            continue
        prefixes: list[tuple[KeyPath, Hashable]] = [
            ((*path, "routes", index, "prefix"), route.prefix)
            for index, route in enumerate(vrf.routes)
        ]
        yield from _duplicates(prefixes, lambda prefix, first: f"{prefix} is already {first}")
        connected = [
            address.network
            for port in node.dc_ports
            if port.vrf == name
            for address in port.addresses
        ]
        for index, route in enumerate(vrf.routes):
            here = (*path, "routes", index)
            if route.tunnel is not None:
                if route.tunnel not in node.tunnels:
                    yield (*here, "tunnel"), f"the node has no tunnel {route.tunnel}"
                    continue
                tunnel = node.tunnels[route.tunnel]
                after = node.tunnels.get(tunnel.next) if tunnel.next else None
                for each in (tunnel, after) if after else (tunnel,):
                    reason = _tunnel_lacks(config, each, name)
                    if reason:
                        yield (*here, "tunnel"), reason
            elif route.policy is not None:
                yield from _lacking_for_policy(config, node, name, route.policy, here)
            elif route.via is not None:
                if route.via.version != route.prefix.version:
                    yield (*here, "via"), "next hop and prefix are of different IP versions"
                elif problem := check_next_hop(node, name, route.via):
                    yield (*here, "via"), problem
            if route.prefix in connected:
                yield (*here, "prefix"), f"{route.prefix} is connected here and needs no route"
            if not route.discard and (network := never_forwarded(route.prefix)):
                yield (*here, "prefix"), f"no router forwards packets to {network}"
    for index, port in enumerate(node.ports):
        if port.vrf in config.vrfs and port.vrf not in node.vrfs:
            yield ("ports", index, "vrf"), f"the node has no vrfs.{port.vrf}"


def _lacking_for_policy(
    config: Config, node: Node, vrf: str, policy: str, route: KeyPath
) -> Iterator[Finding]:
    if policy not in node.policies:
        known = listed(node.policies)
        yield (*route, "policy"), f"the node has no policy {policy}; it has: {known}"
        return
    found = node.policies[policy]
    for path in (*found.paths, *(found.backup or ())):
        tunnel = node.tunnels.get(path.tunnel)
        if tunnel is not None and (reason := _tunnel_lacks(config, tunnel, vrf)):
            yield (*route, "policy"), f"tunnel {path.tunnel}: {reason}"


def _tunnel_lacks(config: Config, tunnel: Tunnel, vrf: str) -> str | None:
    """Why this VRF cannot use the tunnel, or None."""
    needs = {"vxlan": "vni", "gre": "gre_key", "mpls-udp": "mpls_label"}.get(tunnel.type)
    if needs and getattr(config.vrfs[vrf], needs) is None:
        return f"a {tunnel.type} tunnel needs vrfs.{vrf}.{needs}"
    far = config.nodes.get(tunnel.to) if tunnel.to else None
    if far is not None and vrf not in far.vrfs:
        return f"{tunnel.to} has no VRF {vrf}"
    if far is not None and tunnel.type == "srv6" and far.vrfs[vrf].service_sid is None:
        return f"an SRv6 tunnel needs nodes.{tunnel.to}.vrfs.{vrf}.service_sid"
    return None


def _check_tunnels(config: Config, node: Node) -> Iterator[Finding]:
    for name, tunnel in node.tunnels.items():
        path: KeyPath = ("tunnels", name)
        if tunnel.to is not None:
            far = config.nodes.get(tunnel.to)
            if far is None:
                yield (*path, "to"), f"there is no node {tunnel.to}"
            elif far is node:
                yield (*path, "to"), "a tunnel must end at another node"
            elif far.role != "pe":
                yield (*path, "to"), f"{tunnel.to} is a P node; tunnels end at a PE"
        for index, visited in enumerate(tunnel.via):
            if visited not in config.nodes:
                yield (*path, "via", index), f"there is no node {visited}"
            elif config.nodes[visited] is node or visited == tunnel.to:
                yield (*path, "via", index), f"{visited} is an end of the tunnel itself"
            elif not config.nodes[visited].end_sids:
                yield (*path, "via", index), f"{visited} has no end_sids"
            elif visited in tunnel.via[:index]:
                yield (*path, "via", index), f"{visited} is visited already"
        if len(tunnel.via) >= MAX_SIDS:
            yield (*path, "via"), f"at most {MAX_SIDS} SIDs, the service SID included"
        owned: set[Address] = {node.underlay_address, *node.end_sids}
        owned |= {address.ip for port in node.core_ports for address in port.addresses}
        sids = {sid for vrf in node.vrfs.values() for sid in (vrf.service_sid, vrf.end_con_sid)}
        if tunnel.egress in owned:
            yield (*path, "egress"), f"{tunnel.egress} is an address of this node itself"
        if tunnel.sids and tunnel.sids[-1] in owned | sids:
            yield (*path, "sids"), f"{tunnel.sids[-1]} is an address of this node itself"
        if tunnel.source is not None and tunnel.source not in owned:
            yield (*path, "source"), f"{tunnel.source} is not an address of this node"


def _check_underlay(config: Config, node: Node) -> Iterator[Finding]:
    core = {port.number for port in node.core_ports}
    routes: list[tuple[KeyPath, Hashable]] = [
        (("underlay", index, "prefix"), route.prefix) for index, route in enumerate(node.underlay)
    ]
    yield from _duplicates(routes, lambda prefix, first: f"{prefix} is already {first}")
    for index, route in enumerate(node.underlay):
        for position, hop in enumerate(route.via):
            here: KeyPath = ("underlay", index, "via", position)
            if hop.port not in core:
                yield (*here, "port"), f"{hop.port} is not a core port of this node"
            elif hop.address is not None and not hop.address.is_link_local:
                port = node.port(hop.port)
                if port and not any(hop.address in own.network for own in port.addresses):
                    yield (*here, "address"), f"{hop.address} is in no subnet of port {hop.port}"


def _check_target(config: Config, name: str, node: Node) -> Iterator[Finding]:
    """Limits of the node's target: port numbers, and the unit and range of queue depth."""
    path: KeyPath = ("nodes", name)
    if problem := profile_problem(config, node):
        yield (*path, "profile"), problem
        return
    try:
        program = program_of(config, node, binary=False)
        target, problem = program.target, program_problem(config, node, program)
    except PipelineError as error:
        problem = str(error)
    if problem:
        yield (*path, "program"), problem
        return
    if problem := end_con_problem(config, name, program):
        yield path, problem
    for index, port in enumerate(node.ports):
        problem = target.ports.problem(port.number)
        if problem:
            number = (*path, "ports", index, "number")
            yield number, f"port {port.number} of {name} {problem} ({target.name})"
    yield from check_room(config, name, program)
    yield from check_fantel(config, name, program)
    yield from check_balancing_node(config, name, program)
    yield from check_holding_node(config, name, node, program)
    if config.notification is Notification.TWO_THRESHOLD:
        yield from check_curves(config, name, node, program)
        return
    own = own_depths(name, node)
    for (queue_port, queue), depths in queue_depths(config, node).items():
        where = own.get((queue_port, queue), ("congestion", "thresholds"))
        if problem := _depth_problem(target, depths, config.congestion.packet_size):
            yield where, f"{name} port {queue_port} ({target.name}): {problem}"


def _depth_problem(target: Target, depths: tuple[Depth, ...], packet_size: int) -> str | None:
    try:
        target.depth.thresholds(depths, packet_size)
    except DepthError as error:
        return str(error)
    return None


def _check_levels(config: Config) -> Iterator[Finding]:
    """The default depths, where a queue has them."""
    is_used = any(
        (port.number, 0) not in own_depths(name, node)
        for name, node in config.nodes.items()
        for port in node.core_ports
    )
    problem = level_problem(config, len(config.congestion.thresholds))
    if is_used and problem:
        yield ("congestion", "levels"), f"for congestion.thresholds: {problem}"


def _check_thresholds(config: Config, node: Node) -> Iterator[Finding]:
    numbers = {port.number for port in node.ports}
    queues: list[tuple[KeyPath, Hashable]] = [
        (("thresholds", index), (entry.port, entry.queue))
        for index, entry in enumerate(node.thresholds)
    ]
    yield from _duplicates(queues, lambda queue, first: f"this queue is already {first}")
    for index, entry in enumerate(node.thresholds):
        if entry.port not in numbers:
            yield ("thresholds", index, "port"), f"the node has no port {entry.port}"
        if problem := level_problem(config, len(entry.depths)):
            yield ("thresholds", index, "depths"), problem
