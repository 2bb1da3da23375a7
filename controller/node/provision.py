"""Turns a node's part of the configuration into its intent, through the owners."""

from collections.abc import Iterable, Mapping
from ipaddress import IPv6Address, IPv6Network, ip_network

from fcn.contract.constants import LIGHT_CONGESTION_LEVEL
from fcn.contract.depth import LEVELS, DepthError
from fcn.contract.ecn import CLASSIC_RULES, TWO_THRESHOLD_RULES, Ecn
from fcn.contract.marking import MarkingCurves
from fcn.contract.names import CORE_PORTS, EGRESS_PE_TABLES, ROUTE_TABLES
from fcn.contract.pipeline import Pipeline
from fcn.contract.profiles import Mode
from fcn.controller.config.addressing import (
    attachment,
    core_subnets,
    link_local,
    node_mac,
    port_mac,
    underlay_next_hops,
)
from fcn.controller.config.arrivals import arrival_ports
from fcn.controller.config.base import RateLimit
from fcn.controller.config.features import Feature
from fcn.controller.config.model import Config, LevelPolicy, Node
from fcn.controller.config.modes import FlowControl as FlowControlMode
from fcn.controller.config.modes import Notification, Treatment
from fcn.controller.config.notation import Address, Network, format_duration
from fcn.controller.config.paths import (
    NumberedTunnel,
    Plan,
    numbered_tunnels,
    policy_numbers,
)
from fcn.controller.config.queue_depths import curve_steps, queue_curves, queue_depths
from fcn.controller.config.reporters import Reporter, reporters
from fcn.controller.config.tunnel_ends import (
    tunnel_egress,
    tunnel_sids,
    tunnel_source,
)
from fcn.controller.config.watching import Watching
from fcn.controller.node.policies import PolicyProvision
from fcn.controller.node.recognition import recognise_notifications
from fcn.controller.node.watched import LinkProvision
from fcn.controller.owners.cnp_profile import CnpProfile
from fcn.controller.owners.core_ports import CorePorts
from fcn.controller.owners.domain_mode import DomainMode
from fcn.controller.owners.ecn_decap import EcnDecap
from fcn.controller.owners.endpoint import Endpoint
from fcn.controller.owners.fast_cnp_profile import FastCnpProfile
from fcn.controller.owners.flow_control import FlowControl, HoldNeighbor
from fcn.controller.owners.flow_learning import FlowLearning
from fcn.controller.owners.flow_tables import FlowByLabel, FlowTable
from fcn.controller.owners.gateway import Gateway
from fcn.controller.owners.intent import Intent
from fcn.controller.owners.light_congestion import LightCongestion
from fcn.controller.owners.marking_curve import MarkingCurve
from fcn.controller.owners.port_mac import PortMac
from fcn.controller.owners.port_role import PortRole
from fcn.controller.owners.queue_level import QueueLevel, Thresholds
from fcn.controller.owners.rate_limits import (
    UNDERLAY,
    MeterCell,
    NoticeLimit,
    NotificationLimit,
    PuntLimit,
    ReportLimit,
    meter_cells,
)
from fcn.controller.owners.recirculation import Recirculation
from fcn.controller.owners.service_sid import ServiceSid
from fcn.controller.owners.trust_boundary import TrustBoundary
from fcn.controller.owners.tunnel_encap import Outer, TunnelEncap
from fcn.controller.owners.tunnel_vrf import TunnelVrf
from fcn.controller.owners.underlay import Adjacency, Underlay
from fcn.controller.owners.vrf_routing import VrfRouting

HEAVY_CONGESTION_LEVEL = LEVELS[-1]
"""The level of a Fast CNP that says heavy congestion in the two-threshold mode (PEC-2)."""

TWO_LEVELS = (LIGHT_CONGESTION_LEVEL, HEAVY_CONGESTION_LEVEL)

NOTICES = {Notification.END_CON: "END_CON_CNP", Notification.FANTEL: "FANTEL"}
"""What a congested node sends, member of NotificationKind; in other modes Fast CNPs."""

UNDERLAY_LIMIT = RateLimit(rate=2_000, burst=500)
"""Packets per second of the underlay sent to the controller: enough for neighbour discovery, too
few to overload it."""


def level_policies(config: Config) -> dict[int, LevelPolicy]:
    """What is done at each level in the domain's mode. In the two-threshold mode levels only
    notify: marking has curves."""
    if config.notification is not Notification.TWO_THRESHOLD:
        return dict(config.congestion.levels)
    mode = config.two_threshold
    intervals = (mode.light_interval, mode.heavy_interval)
    return {
        level: LevelPolicy.model_validate({"mark": False, "interval": format_duration(interval)})
        for level, interval in zip(TWO_LEVELS, intervals, strict=True)
    }


class Provision:
    """The intent of one node as configured, with the parts that can be changed at run time.

    watching: what the nodes of the configuration watch, where there are several provisions of it.
    """

    def __init__(
        self, config: Config, name: str, pipeline: Pipeline, watching: Watching | None = None
    ) -> None:
        self.config = config
        self.name = name
        self.node: Node = config.nodes[name]
        self.intent = Intent(pipeline.schema)
        self.pipeline = pipeline
        self._target = pipeline.target
        self.features = self.node.features
        self.thresholds = queue_depths(config, self.node)
        self.levels = level_policies(config)
        watching = watching or Watching(config)
        self.plans: tuple[Plan, ...] = watching.planner.plans(name) if self.node.policies else ()
        self.watched = LinkProvision(
            config, name, self.intent, pipeline, watching, self.neighbors(), self._link_adjacency
        )
        self.reporters: dict[int, list[Reporter]] = reporters(config, name, self.plans)
        self._tunnels = tuple(numbered_tunnels(self.node, self.plans))
        # Of a tunnel that is a path of several policies, any.
        self._numbers = {(each.name, each.vrf): each.number for each in self._tunnels}
        self.routing = VrfRouting(self.intent)
        self.underlay = Underlay(self.intent)
        self.flow_table = FlowTable(self.intent)
        self.flow_by_label = FlowByLabel(self.intent)
        self._learning = FlowLearning(self.intent, self._target)
        self._build()
        self.host_room = self._room_of_hosts() if self.is_pe else {}
        """How many hosts may have a route, by IP version: the tables but for the configuration."""

    @property
    def _two_thresholds(self) -> bool:
        return self.config.notification is Notification.TWO_THRESHOLD

    @property
    def is_pe(self) -> bool:
        """Whether the node is a provider edge."""
        return self.node.role == "pe"

    def _build(self) -> None:
        self._recirculate_and_limit()
        self._own_the_underlay()
        if self.is_pe:
            self._end_tunnels()
            self._begin_tunnels()
            self._route_customers()
            self._learning.report_digests()
            self._answer_for_gateways()
        self._route_underlay()
        self._describe_notifications()
        self._hold()
        self.watched.write()
        self.set_thresholds(self.thresholds)
        self.set_features(self.features)
        self._admit_ports()

    def set_features(self, features: frozenset[Feature]) -> None:
        """Enable exactly these features (FCN-16)."""
        self.features = features
        told = features if self.config.notification is not Notification.NONE else frozenset()
        notice = NOTICES.get(self.config.notification, "FAST_CNP")
        sent = notice
        if self.is_pe and (notice == "FANTEL" or not self._tells_ingress_pes):
            # Its own senders alone. FANTEL is about paths, and all of them end at a PE's port.
            sent = "CNP"
        DomainMode(self.intent, self.pipeline).set(
            congestion_kind=sent if Feature.NOTIFICATION in told else "NONE",
            translates=notice if Feature.TRANSLATION in told else "NONE",
        )
        if self.is_pe and Feature.LEARNING in features:
            self._learning.enable(self.config.flows.learning_window)
        elif self.is_pe:
            self._learning.disable()

    @property
    def _tells_ingress_pes(self) -> bool:
        """Whether the node tells ingress PEs of congestion; a PE, of ports to data centres
        (FCN-18)."""
        return self.pipeline.has_tables(EGRESS_PE_TABLES)

    def _describe_notifications(self) -> None:
        if self.is_pe:
            CnpProfile(self.intent, self._target).set(self.node.cnp)
            rules = TWO_THRESHOLD_RULES if self._two_thresholds else CLASSIC_RULES
            EcnDecap(self.intent).set_rules(rules)
        if self._tells_ingress_pes:
            FastCnpProfile(self.intent).set(
                self.node.underlay_address, self.config.fast_cnp_port, self.node.fast_cnp
            )
        levels = QueueLevel(self.intent, self._target)
        for level, policy in self.levels.items():
            levels.set_policy(
                level,
                mark=Ecn.CE if policy.mark else Ecn.NOT_ECT,
                notify=policy.notify,
                interval=policy.interval,
            )

    def _hold(self) -> None:
        """Precise flow control, as the domain's mode says (SRF-6)."""
        control = FlowControl(self.intent, self.pipeline)
        if not control.is_possible:
            return
        mode, holding = self.config.flow_control, self.config.holding
        if mode is FlowControlMode.OFF:
            control.turn_off(holding.longest)
            return
        size = self.config.congestion.packet_size
        control.turn_on(mode, holding, self.node.notifications, size)
        control.know(self.neighbors(), holding)
        ports = [port.number for port in self.node.core_ports]
        control.watch(ports, holding, size)
        if self.is_pe:
            macs = {p.number: port_mac(self.name, self.node, p) for p in self.node.dc_ports}
            control.relieve(macs, holding)
            rates = {p.number: p.rate for p in self.node.dc_ports if p.heed_pause and p.rate}
            control.heed(rates, holding)

    def neighbors(self) -> dict[int, HoldNeighbor]:
        """The nodes on the other side of links, by port."""
        neighbors: dict[int, HoldNeighbor] = {}
        for link in self.config.link_ends():
            for (name, number), (peer, peer_port) in (link, link[::-1]):
                own, far = self.node.port(number), self.config.nodes[peer]
                far_port = far.port(peer_port)
                if name != self.name or own is None or far_port is None:
                    continue
                neighbors[number] = HoldNeighbor(
                    far.underlay_address,
                    port_mac(peer, far, far_port),
                    self.node.underlay_address,
                    port_mac(self.name, self.node, own),
                )
        return neighbors

    def set_thresholds(self, thresholds: Thresholds) -> None:
        """Set the queue depths at which levels begin, in the two-threshold mode T1, T2 and maximum;
        queues not named have no levels.

        Raises DepthError, and changes nothing, when the target cannot represent a depth.
        """
        levels = QueueLevel(self.intent, self._target)
        size = self.config.congestion.packet_size
        if self._two_thresholds:
            curves = {
                queue: queue_curves(self.config, self._target, tuple(depths))
                for queue, depths in thresholds.items()
            }
            self._check_room(curves.values())
            core = {port.number for port in self.node.core_ports}
            inner = frozenset(port for port, _ in curves if port not in core)
            levels.set_thresholds(
                {queue: depths[:2] for queue, depths in thresholds.items()}, size, TWO_LEVELS
            )
            MarkingCurve(self.intent, self._target).set_curves(curves, inner)
        else:
            levels.set_thresholds(thresholds, size)
        self.thresholds = {queue: tuple(depths) for queue, depths in thresholds.items()}

    def _check_room(self, curves: Iterable[MarkingCurves]) -> None:
        steps = curve_steps(curves, self._target)
        size = self.pipeline.table_size("marking_curve")
        if steps > size:
            raise DepthError(
                f"the curves take {steps} steps; the program has room for {size}: set the "
                "thresholds of another queue to none, or lower the probabilities"
            )

    def _recirculate_and_limit(self) -> None:
        Recirculation(self.intent, self._target.clone_sessions).enable()
        NotificationLimit(self.intent).allow(self.node.notifications)
        if self.is_pe and self._tells_ingress_pes:
            NoticeLimit(self.intent).allow(self.node.notifications)
        punts, reports = PuntLimit(self.intent), ReportLimit(self.intent)
        punts.allow(UNDERLAY, UNDERLAY_LIMIT)
        for name in self.node.vrfs if self.is_pe else ():
            punts.allow(self.vrf_id(name), self.config.controller_share.packets)
            reports.allow(self.vrf_id(name), self.config.controller_share.reports)

    @property
    def meter_cells(self) -> list[MeterCell]:
        """Cells of the program's meters that the controller sets."""
        meters = [meter.alias for meter in self.pipeline.schema.meters]
        ports = (port.number for port in self.node.core_ports)
        return list(meter_cells(meters, map(self.vrf_id, self.node.vrfs), ports))

    def _admit_ports(self) -> None:
        if self.pipeline.has_value_set(CORE_PORTS):
            CorePorts(self.intent).admit(port.number for port in self.node.core_ports)
        macs = PortMac(self.intent)
        # Ports that differ in their VLAN alone share an address.
        own = {(port.number, port_mac(self.name, self.node, port)) for port in self.node.ports}
        for number, mac in sorted(own):
            macs.own(number, mac)
        roles = PortRole(self.intent)
        for port in self.node.ports:
            if port.role == "core":
                roles.admit_core(port.number)
            elif port.vrf is not None:
                roles.admit_customer(port.number, port.vlan, self.vrf_id(port.vrf))

    def vrf_id(self, name: str) -> int:
        """The number the switches store for a VRF."""
        return self.config.vrfs[name].id

    def _own_the_underlay(self) -> None:
        endpoint = Endpoint(self.intent)
        for address in sorted(self.underlay_addresses()):
            endpoint.own(address)
        for sid in self.node.end_sids:
            endpoint.end_segment(sid)
        recognise_notifications(self.intent, self.pipeline, self.config, self.name)
        if self.is_pe:
            trust = TrustBoundary(self.intent)
            for prefix in sorted(self._trusted()):
                trust.trust(prefix)

    def underlay_addresses(self) -> set[IPv6Address]:
        """Addresses of this node in the underlay, link-local ones included."""
        addresses = {self.node.underlay_address}
        for port in self.node.core_ports:
            addresses.add(link_local(port_mac(self.name, self.node, port)))
            addresses |= {
                interface.ip
                for interface in port.addresses
                if isinstance(interface.ip, IPv6Address)
            }
        return addresses

    def _trusted(self) -> set[IPv6Network]:
        if self.config.trusted_prefixes is not None:
            return set(self.config.trusted_prefixes)
        return {IPv6Network(node.underlay_address) for node in self.config.nodes.values()}

    def _end_tunnels(self) -> None:
        sids = ServiceSid(self.intent)
        service = TunnelVrf(self.intent, self.pipeline)
        for name, local in self.node.vrfs.items():
            vrf = self.config.vrfs[name]
            if local.service_sid is not None:
                sids.terminate(local.service_sid, vrf.id)
            if local.end_con_sid is not None and self._target.end_con:
                sids.notify(local.end_con_sid, vrf.id)
            if vrf.vni is not None:
                service.terminate_vxlan(vrf.vni, vrf.id)
            if vrf.gre_key is not None:
                service.terminate_gre(vrf.gre_key, vrf.id)
            if vrf.mpls_label is not None:
                service.terminate_mpls_udp(vrf.mpls_label, vrf.id)

    def _begin_tunnels(self) -> None:
        for each in self._tunnels:
            self._begin_tunnel(each)
        policies = PolicyProvision(self.config, self.node, self.intent, self.pipeline)
        speakers = {each.node for found in self.reporters.values() for each in found}
        ports = arrival_ports(self.config, self.name, sorted(speakers))
        policies.write(self.plans, self.reporters, ports)
        if Mode.TWO_THRESHOLD in self.pipeline.modes:
            self._treat_light_congestion()

    def _treat_light_congestion(self) -> None:
        """PEC-3: what is done with lightly congested flows, by tunnel; nothing in other modes."""
        light = LightCongestion(self.intent, self._target)
        if not self._two_thresholds:
            light.treat_for(0)
            return
        mode = self.config.two_threshold
        light.treat_for(mode.hold)
        for each in self._tunnels:
            treatment = each.tunnel.light or mode.treatment
            if treatment is Treatment.SLOW:
                light.slow(each.number, mode.rate)
            elif treatment is Treatment.REROUTE and each.tunnel.next is not None:
                light.reroute(each.number, self._numbers[each.tunnel.next, each.vrf])

    def _begin_tunnel(self, numbered: NumberedTunnel) -> None:
        number, tunnel, vrf_name = numbered.number, numbered.tunnel, numbered.vrf
        encap = TunnelEncap(self.intent, self.pipeline)
        vrf = self.config.vrfs[vrf_name]
        far = self.config.nodes[tunnel.to] if tunnel.to is not None else None
        source = tunnel_source(self.config, self.name, tunnel, vrf_name)
        # ECT(1) means light congestion in this mode (PEC-5).
        ecn_mode = "two_threshold" if self._two_thresholds else tunnel.ecn
        if tunnel.type == "srv6":
            sids = tunnel_sids(self.config, tunnel, vrf_name)
            reduced = tunnel.mode == "encaps.red"
            encap.encap_srv6(
                number, source, sids, reduced=reduced, ecn_mode=ecn_mode, tag=numbered.tag
            )
            return
        outer = Outer(source, tunnel_egress(self.config, tunnel), ecn_mode)
        if tunnel.type == "vxlan":
            assert vrf.vni is not None
            own_mac = node_mac(self.name, self.node)
            far_mac = tunnel.inner_dst_mac
            if far_mac is None:
                far_mac = node_mac(tunnel.to, far) if tunnel.to and far else own_mac
            encap.encap_vxlan(number, outer, vrf.vni, own_mac, far_mac)
        elif tunnel.type == "gre":
            assert vrf.gre_key is not None
            encap.encap_gre(number, outer, vrf.gre_key)
        else:
            assert vrf.mpls_label is not None
            encap.encap_mpls_udp(number, outer, vrf.mpls_label, tunnel.sr_label)

    def _route_customers(self) -> None:
        for prefix, name in self._connected():
            self.routing.resolve(self.vrf_id(name), prefix)
        for port in self.node.dc_ports:
            assert port.vrf is not None, "config/check.py saw to it"
            vrf = self.vrf_id(port.vrf)
            for interface in port.addresses:
                self.routing.own(vrf, interface.ip)
            src_mac = port_mac(self.name, self.node, port)
            for host, mac in port.hosts.items():
                self.routing.deliver(vrf, ip_network(host), port.number, port.vlan, src_mac, mac)
        numbers, policies = self._numbers, policy_numbers(self.node)
        for name, local in self.node.vrfs.items():
            vrf = self.vrf_id(name)
            for route in local.routes:
                if route.tunnel is not None:
                    self.routing.tunnel(vrf, route.prefix, numbers[route.tunnel, name])
                elif route.policy is not None:
                    self.routing.tunnel(vrf, route.prefix, policies[route.policy, name])
                elif route.via is not None:
                    self._route_via(name, route.prefix, route.via)
                else:
                    self.routing.discard(vrf, route.prefix)

    def _room_of_hosts(self) -> dict[int, int]:
        vias = {route.via for local in self.node.vrfs.values() for route in local.routes}
        room = {}
        for version, table in ROUTE_TABLES.items():
            next_hops = sum(via is not None and via.version == version for via in vias)
            taken = self.intent.count(table) + next_hops
            room[version] = max(0, self.pipeline.table_size(table) - taken)
        return room

    def _answer_for_gateways(self) -> None:
        """The PE's addresses on DC ports, with the link-local address where it has an IPv6 one."""
        gateway = Gateway(self.intent)
        for port in self.node.dc_ports:
            mac = port_mac(self.name, self.node, port)
            addresses: set[Address] = {interface.ip for interface in port.addresses}
            if any(address.version == 6 for address in addresses):
                addresses.add(link_local(mac))
            for address in sorted(addresses, key=str):
                gateway.answer(port.number, port.vlan, address, mac)
        gateway.report_askers()

    def _route_via(self, vrf_name: str, prefix: Network, next_hop: Address) -> None:
        """Install the route now for a static host; otherwise when the next hop is resolved."""
        vrf = self.vrf_id(vrf_name)
        found = attachment(self.node, vrf_name, next_hop)
        mac = found.port.hosts.get(next_hop) if found else None
        if found is None or mac is None:
            self.routing.resolve(vrf, prefix)
        else:
            port = found.port
            src_mac = port_mac(self.name, self.node, port)
            self.routing.deliver(vrf, prefix, port.number, port.vlan, src_mac, mac)

    def _connected(self) -> list[tuple[Network, str]]:
        return [
            (interface.network, port.vrf)
            for port in self.node.dc_ports
            for interface in port.addresses
            if port.vrf is not None
        ]

    def _route_underlay(self) -> None:
        computed: Mapping[IPv6Network, list[Adjacency]] = {
            prefix: [self._link_adjacency(*hop) for hop in hops]
            for prefix, hops in underlay_next_hops(self.config, self.name).items()
        }
        for prefix, hops in computed.items():
            self.underlay.route(prefix, hops)
        for subnet in sorted(core_subnets(self.node)):
            self.underlay.resolve(subnet)
        for route in self.node.underlay:
            known = [self.adjacency(hop.port, hop.mac) for hop in route.via if hop.mac is not None]
            if known:
                self.underlay.route(route.prefix, known)
            else:
                self.underlay.resolve(route.prefix)

    def _link_adjacency(self, number: int, peer: str, peer_port: int) -> Adjacency:
        far = self.config.nodes[peer]
        port = far.port(peer_port)
        assert port is not None, "config/check.py saw to it"
        return self.adjacency(number, port_mac(peer, far, port))

    def adjacency(self, number: int, mac: int) -> Adjacency:
        """The neighbour with this MAC on a core port."""
        port = self.node.port(number)
        assert port is not None, "config/check.py saw to it"
        return Adjacency(number, port_mac(self.name, self.node, port), mac)
