"""The configuration file as frozen, strict pydantic models with the defaults.

Durations are in microseconds, MAC addresses are 48-bit numbers; a queue depth keeps its unit.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from fcn.contract.depth import DEFAULT_THRESHOLDS, LEVELS, PACKET_SIZE, Depth, check_thresholds
from fcn.contract.transport import ServerFiles
from fcn.controller.config.balancing import GivenBalancing
from fcn.controller.config.base import Model, RateLimit
from fcn.controller.config.failures import GivenDetection
from fcn.controller.config.holding import Holding
from fcn.controller.config.modes import FantelTransport, FlowControlMode, Notification
from fcn.controller.config.notation import DEFAULT_ENDPOINT
from fcn.controller.config.policies import Policy
from fcn.controller.config.tls import ControllerTls, HostAgents, Tls
from fcn.controller.config.two_threshold import TreatmentName, TwoThreshold
from fcn.controller.config.types import (
    AnyAddress,
    Duration,
    Endpoint,
    Features,
    Gateway,
    GreKey,
    Interval,
    IPv4,
    IPv6,
    IPv6Prefix,
    Items,
    Listen,
    Mac,
    MplsLabel,
    Name,
    NotificationPort,
    Octet,
    PacketSize,
    PortNumber,
    Prefix,
    QueueDepth,
    QueueId,
    Rate,
    UdpPort,
    VlanId,
    Vni,
    VrfId,
    within,
)
from fcn.packets.wire import FANTEL_PORT, FAST_CNP_PORT

MAX_SIDS = 4
"""Longest SRv6 segment list the PE program supports."""


class CnpProfile(Model):
    """The standard CNP an ingress PE sends to the sender (FCN-12, FCN-13).

    `source: pe` is the draft's behaviour; `peer` uses the flow's destination address, for senders
    that check the source address of CNPs. The default traffic class is DSCP 48 with ECT(0), as NICs
    send it. `min_interval`: microseconds between CNPs of one flow, at least (FCN-15).
    """

    source: Literal["pe", "peer"] = "pe"
    ipv4_source: IPv4 | None = None
    ipv6_source: IPv6 | None = None
    traffic_class: Octet = 0xC2
    ttl: Annotated[int, Field(ge=1, le=255)] = 64
    udp_source_port: Annotated[int, Field(ge=0, le=65535)] = 49152
    ipv4_id: Annotated[int, Field(ge=0, le=65535)] = 0
    min_interval: Interval = 50


class FastCnpProfile(Model):
    """The Fast CNP a congested P node sends (FCN-9). It is Not-ECT, so that it is never marked."""

    traffic_class: Octet = 0xC0
    hop_limit: Annotated[int, Field(ge=1, le=255)] = 64
    udp_source_port: UdpPort = 49152
    copy_label: bool = False

    @model_validator(mode="after")
    def _not_ect(self) -> "FastCnpProfile":
        if self.traffic_class & 3:
            raise ValueError("traffic_class of Fast CNPs must be Not-ECT (last two bits 0)")
        return self


class LevelPolicy(Model):
    """Policy of a congestion level: mark CE, notify, and the minimum `interval` (microseconds)
    between notifications of one flow (FCN-11)."""

    mark: bool = True
    notify: bool = True
    interval: Interval


def _default_levels() -> dict[int, LevelPolicy]:
    intervals = ("1ms", "500us", "250us", "100us", "50us", "20us", "10us")
    return {
        level: LevelPolicy.model_validate({"interval": interval})
        for level, interval in zip(LEVELS, intervals, strict=True)
    }


def _checked(depths: tuple[Depth, ...]) -> tuple[Depth, ...]:
    check_thresholds(depths)
    return depths


Depths = Annotated[Items[QueueDepth], Field(min_length=1), AfterValidator(_checked)]


class QueueThresholds(Model):
    """The depths of one queue at which levels 1, 2, … begin; in the two-threshold mode, T1, T2 and
    the maximum."""

    port: PortNumber
    queue: QueueId = 0
    depths: Depths


class Congestion(Model):
    """Domain-wide defaults of thresholds (every core port, queue 0) and of the level policy.

    `packet_size` is the size in octets of the packets that fill queues, tunnel headers included;
    depths are converted with it between packets, octets and a chip's cells (contract/depth.py).
    """

    thresholds: Depths = DEFAULT_THRESHOLDS
    packet_size: PacketSize = PACKET_SIZE
    levels: dict[Annotated[int, Field(ge=LEVELS[0], le=LEVELS[-1])], LevelPolicy] = Field(
        default_factory=_default_levels
    )


INFERENCE_WINDOW = 50_000
"""Longest learning window (microseconds) with enough samples for inference."""


class FlowSettings(Model):
    """Times of learning, labels and mappings, in microseconds (FCN-2 to FCN-4).

    `watched`: how many flows are reported at a time, once per learning window each, to infer their
    source, an eighth of them to verify what was inferred (FCN-3 b); 0 disables inference. Two hosts
    of one tenant can have all of them, and each response is weighed against every flow the other
    way: with more than 256 that would be all the controller does.
    """

    timeout: Annotated[Duration, within("100ms", "8784h")] = 60_000_000
    label_quarantine: Annotated[Duration, within("0us", "24h")] = 30_000_000
    learning_window: Annotated[Duration, within("1us", "10s")] = 10_000
    watched: Annotated[int, Field(ge=0, le=256)] = 128

    @model_validator(mode="after")
    def _samples_suffice(self) -> "FlowSettings":
        if self.watched and self.learning_window > INFERENCE_WINDOW:
            raise ValueError(
                "inference needs a learning_window of 50ms or less; "
                "shorten it, or turn inference off with watched: 0"
            )
        return self


class NeighborSettings(Model):
    """ARP and neighbour discovery towards hosts and routers."""

    retry: Annotated[Duration, within("1ms", "1h")] = 1_000_000
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    refresh: Annotated[Duration, within("1ms", "24h")] = 30_000_000


class ControllerShare(Model):
    """What one VRF may send to the controller from one switch.

    `packets`: ARP, neighbour discovery, packets to unresolved hosts or to a gateway, and reports of
    hosts that ask for their gateway. `reports`: new flows, watched flows and messages of the
    connection manager.
    """

    packets: RateLimit = RateLimit(rate=1_000, burst=250)
    reports: RateLimit = RateLimit(rate=10_000, burst=2_000)


class Vrf(Model):
    """A customer network, the same on every PE. `id` is stored in the switches: do not change it
    in a running network."""

    id: VrfId
    vni: Vni | None = None
    gre_key: GreKey | None = None
    mpls_label: MplsLabel | None = None


class Port(Model):
    """A port, or one VLAN of a DC port. `rate`: of the link of a core port, or of a DC port whose
    PAUSE frames are heeded (`heed_pause`, SRF-9), in bits per second. `hosts` are static neighbours
    (address: MAC)."""

    number: PortNumber
    name: Name | None = None
    role: Literal["dc", "core"]
    rate: Rate | None = None
    heed_pause: bool = False
    mac: Mac | None = None
    vlan: VlanId = 0
    vrf: str | None = None
    addresses: Items[Gateway] = ()
    hosts: dict[AnyAddress, Mac] = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name of the port in messages."""
        return self.name or (f"{self.number}.{self.vlan}" if self.vlan else str(self.number))


class Route(Model):
    """A customer prefix: through a tunnel, by the paths of a policy, via a next hop behind a DC
    port, or discarded."""

    prefix: Prefix
    tunnel: str | None = None
    policy: str | None = None
    via: AnyAddress | None = None
    discard: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_target(self) -> "Route":
        targets = (self.tunnel, self.policy, self.via, self.discard)
        if sum(target is not None for target in targets) != 1:
            raise ValueError("a route has exactly one of tunnel, policy, via and discard")
        return self


class NodeVrf(Model):
    """A VRF on one PE: the SID that decapsulates into it (End.DT46), the END.CON SID, which is the
    source of its tunnels when senders are notified by END.CON (SRF-4), and its routes."""

    service_sid: IPv6 | None = None
    end_con_sid: IPv6 | None = None
    routes: Items[Route] = ()


class Tunnel(Model):
    """A tunnel to another PE (FCN-5).

    Either `to` names the egress node and the controller derives addresses, SIDs and MACs from it,
    or the egress is not a node of this file and `sids` (SRv6: the whole list, service SID last) or
    `egress` (other types) is its address. `via` lists nodes whose End SIDs come first in the path.

    In the two-threshold mode, `light` is the treatment of this tunnel's flows instead of the
    domain's, and `next` the tunnel they take when they are rerouted (PEC-3).
    """

    type: Literal["srv6", "vxlan", "gre", "mpls-udp"]
    to: str | None = None
    via: Items[str] = ()
    mode: Literal["encaps", "encaps.red"] = "encaps.red"
    sids: Annotated[Items[IPv6], Field(max_length=MAX_SIDS)] = ()
    egress: IPv6 | None = None
    source: IPv6 | None = None
    ecn: Literal["normal", "compatibility"] = "normal"
    sr_label: MplsLabel | None = None
    inner_dst_mac: Mac | None = None
    light: TreatmentName | None = None
    next: str | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "Tunnel":
        srv6 = self.type == "srv6"
        target = "sids" if srv6 else "egress"
        given = self.to is not None, bool(self.sids) if srv6 else self.egress is not None
        if given.count(True) != 1:
            raise ValueError(f"a {self.type} tunnel has exactly one of to and {target}")
        for name, allowed in (
            ("sids", srv6),
            ("via", srv6 and self.to is not None),
            ("mode", srv6),
            ("egress", not srv6),
            ("sr_label", self.type == "mpls-udp"),
            ("inner_dst_mac", self.type == "vxlan"),
        ):
            if name in self.model_fields_set and not allowed:
                raise ValueError(f"{name} does not apply to this {self.type} tunnel")
        return self


class NextHop(Model):
    """An underlay neighbour on a core port, by MAC or by an address that is resolved to a MAC."""

    port: PortNumber
    mac: Mac | None = None
    address: IPv6 | None = None

    @model_validator(mode="after")
    def _one(self) -> "NextHop":
        if (self.mac is None) == (self.address is None):
            raise ValueError("a next hop has exactly one of mac and address")
        return self


class UnderlayRoute(Model):
    """An explicit underlay route; several next hops share the load (ECMP)."""

    prefix: IPv6Prefix
    via: Annotated[Items[NextHop], Field(min_length=1, max_length=32)]


class Node(Model):
    """One switch. `region`: of `regions`, whose controllers rule it.

    `grpc` is its address; `tls` is added to the network's `switch_tls`; `insecure` allows plain
    text, also where other machines can read it.
    `program` is the folder of its compiled program (for a PE `pe.p4info.txtpb`, and `pe.json` or
    `pe.bin`); default: a BMv2 program that is part of fcn. `profile` says which of these; default:
    the one with the fewest modes besides those that the configuration asks of the node.
    """

    role: Literal["pe", "p"]
    region: str | None = None
    grpc: Endpoint
    tls: Tls | None = None
    insecure: bool = False
    device_id: Annotated[int, Field(ge=0, le=2**64 - 1)] = 1
    program: Annotated[str, Field(min_length=1)] | None = None
    profile: str | None = None
    features: Features = frozenset()
    underlay_address: IPv6
    mac: Mac | None = None
    locator: IPv6Prefix | None = None
    end_sids: Items[IPv6] = ()
    cnp: CnpProfile = CnpProfile()
    fast_cnp: FastCnpProfile = FastCnpProfile()
    notifications: RateLimit = RateLimit()
    ports: Annotated[Items[Port], Field(min_length=1)]
    vrfs: dict[str, NodeVrf] = Field(default_factory=dict)
    tunnels: dict[Name, Tunnel] = Field(default_factory=dict)
    policies: dict[Name, Policy] = Field(default_factory=dict)
    underlay: Items[UnderlayRoute] = ()
    thresholds: Items[QueueThresholds] = ()

    @property
    def program_folder(self) -> Path | None:
        """`program` as a path; None for the programs that are part of fcn."""
        return Path(self.program) if self.program else None

    def port(self, number: int, vlan: int = 0) -> Port | None:
        """The port with this number and VLAN (0: untagged), if configured."""
        for port in self.ports:
            if (port.number, port.vlan) == (number, vlan):
                return port
        return None

    @property
    def core_ports(self) -> tuple[Port, ...]:
        return tuple(port for port in self.ports if port.role == "core")

    @property
    def dc_ports(self) -> tuple[Port, ...]:
        return tuple(port for port in self.ports if port.role == "dc")


LinkEnd = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]*:[0-9]{1,3}$")]


def _off(value: object) -> object:
    """YAML 1.1, which other tools write, reads and writes `off` as false."""
    return FlowControlMode.OFF.value if value is False else value


FlowControlName = Annotated[FlowControlMode, Field(strict=False), BeforeValidator(_off)]
NotificationName = Annotated[Notification, Field(strict=False)]


FantelTransportName = Annotated[FantelTransport, Field(strict=False)]


MAX_RIVALS = 8
"""Controllers of the same switches: as many as there are election IDs for those that wait
(controller/leadership/ids.py)."""


class Config(Model):
    """The whole network. `state`: the folder for what has to outlive the controller however it ends
    (controller/store.py). `controllers`: where the API of each is, of which one rules the switches
    (controller/leadership); `follow_tls`: the folder of the certificate with which this one asks
    others over TCP, as that of an operator. `regions`: the controllers of each part of the network,
    of which one rules the switches there.

    `api_group` may use the Unix socket of `api` beside its owner. `insecure` names what may be
    reached over TCP in plain text all the same. `audit`: the file for what was changed by whom."""

    notification: NotificationName = Notification.FCN
    fast_cnp_port: NotificationPort = FAST_CNP_PORT
    fantel_port: NotificationPort = FANTEL_PORT
    fantel_transport: FantelTransportName = FantelTransport.UDP
    flow_control: FlowControlName = FlowControlMode.OFF
    holding: Holding = Holding()
    failure_detection: GivenDetection = None
    load_balancing: GivenBalancing = None
    trusted_prefixes: Items[IPv6Prefix] | None = None
    api: Listen = DEFAULT_ENDPOINT
    controllers: Annotated[dict[Name, Endpoint], Field(min_length=2)] | None = None
    regions: dict[Name, Annotated[Items[str], Field(min_length=1, max_length=MAX_RIVALS)]] = Field(
        default_factory=dict
    )
    follow_tls: Annotated[str, Field(min_length=1)] | None = None
    api_group: Annotated[str, Field(min_length=1)] | None = None
    metrics: Listen | None = None
    page: Listen | None = None
    tls: ControllerTls | None = None
    insecure: Items[Literal["api", "metrics"]] = ()
    audit: Annotated[str, Field(min_length=1)] | None = None
    state: Annotated[str, Field(min_length=1)] | None = None
    switch_tls: Tls | None = None
    flows: FlowSettings = FlowSettings()
    host_agents: HostAgents | None = None
    neighbors: NeighborSettings = NeighborSettings()
    congestion: Congestion = Congestion()
    two_threshold: TwoThreshold = TwoThreshold()
    controller_share: ControllerShare = ControllerShare()
    vrfs: dict[Name, Vrf] = Field(default_factory=dict)
    nodes: Annotated[dict[Name, Node], Field(min_length=1)]
    links: Items[Annotated[Items[LinkEnd], Field(min_length=2, max_length=2)]] = ()

    def listener_tls(self, listener: Literal["api", "metrics"]) -> ServerFiles | None:
        """How it is spoken with over TCP; None is plain text."""
        if self.tls is None or listener in self.insecure:
            return None
        return self.tls.files

    def tls_of(self, node: Node) -> Tls | None:
        """How the controller speaks TLS to a switch; None is plain text."""
        given = [tls for tls in (self.switch_tls, node.tls) if tls is not None]
        if node.insecure or not given:
            return None
        return Tls(**{key: value for tls in given for key, value in tls if value is not None})

    def region_of(self, controller: str | None) -> str | None:
        """Of a controller by name; None where there are no regions."""
        return next((name for name, each in self.regions.items() if controller in each), None)

    def ruled_by(self, controller: str | None) -> dict[str, Node]:
        """The nodes whose switches this controller may rule."""
        region = self.region_of(controller)
        return {name: node for name, node in self.nodes.items() if node.region == region}

    def link_ends(self) -> list[tuple[tuple[str, int], tuple[str, int]]]:
        ends = [tuple(_split_end(end) for end in link) for link in self.links]
        return [(a, b) for a, b in ends]


def _split_end(end: str) -> tuple[str, int]:
    node, _, port = end.rpartition(":")
    return node, int(port)
