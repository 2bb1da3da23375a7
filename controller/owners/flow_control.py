"""FlowControl, Hold, Arn and relief: precise flow control (p4src/flow_control/flow_control.p4)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address

from finsy import P4TableAction, P4TableEntry
from finsy.p4entity import P4Entity

from fcn.contract.constants import enum_members
from fcn.contract.pipeline import Pipeline
from fcn.controller.config.base import RateLimit
from fcn.controller.config.holding import QUANTUM_BITS, Holding
from fcn.controller.config.modes import FlowControlMode, Relief
from fcn.controller.config.notation import SECOND
from fcn.controller.owners.rate_limits import ARN_METER, HOLD_METER, meter_entry
from fcn.controller.owners.tables import Tables

DSCP = 48
"""DSCP of ARN and FANTEL messages, that of network control (RFC 2474 section 4.2.2.2)."""
UDP_SOURCE_PORT = 49152
"""Of ARN and FANTEL messages: the first dynamic one (RFC 6335 section 6)."""
PAUSE_QUANTA = 0xFFFF
"""The longest PAUSE (IEEE 802.1Qbb), which a frame of time 0 ends earlier."""
_QUANTUM_FRACTION = 1 << 16
"""Parts of a microsecond in which a switch is told how long a quantum is."""
_RELIEF = {Relief.PFC: "PAUSE", Relief.CNP: "CNP"}


@dataclass(frozen=True, slots=True)
class HoldNeighbor:
    """The node on the other side of a core port, and this node's own side. MACs of 48 bits."""

    address: IPv6Address
    mac: int
    own_address: IPv6Address
    own_mac: int


@dataclass(frozen=True, slots=True)
class Running:
    """Flow control as a switch has it: its mode, the longest hold in seconds, its neighbours, the
    ports whose PAUSE frames it heeds."""

    mode: FlowControlMode
    longest_s: float
    neighbors: list[P4Entity]
    pauses: list[P4TableEntry]


class FlowControl(Tables):
    """What this node holds for its neighbours, and asks them to hold (SRF-5 to SRF-9)."""

    @staticmethod
    def running_in(held: Iterable[P4Entity], pipeline: Pipeline) -> Running | None:
        """Flow control among what was read from a switch; None where it is off."""
        tables = pipeline.schema.tables
        defaults: dict[str, Mapping[str, int]] = {}
        neighbors: list[P4Entity] = []
        pauses: list[P4TableEntry] = []
        for entity in held:
            if not isinstance(entity, P4TableEntry):
                continue
            table = tables[entity.table_id].alias
            if table == "arn_neighbor":
                neighbors.append(entity)
            elif table == "heeded_pauses":
                pauses.append(entity)
            elif entity.is_default_action and isinstance(entity.action, P4TableAction):
                defaults[table] = entity.action.args
        if not defaults.keys() >= {"flow_control", "hold_budget"}:
            return None
        numbers = {
            value: FlowControlMode[name] for name, value in pipeline.enum("FlowControl").items()
        }
        mode = numbers[defaults["flow_control"]["mode"]]
        if mode is FlowControlMode.OFF:
            return None
        ticks = defaults["hold_budget"]["longest"]
        return Running(mode, ticks * pipeline.target.tick / 1e9, neighbors, pauses)

    @property
    def _holds(self) -> bool:
        """Whether the program holds traffic itself: those of chips only ask for it."""
        return self.intent.schema.tables.get("hold_budget") is not None

    def turn_off(self, longest: int) -> None:
        """Hold nothing more, and ask nobody to (FCN-16).

        What is held leaves in its order; beyond `longest` (microseconds) after its hold, what does
        not come round is taken for lost.
        """
        self.set(
            "flow_control", "set_flow_control", mode=self._mode(FlowControlMode.OFF), refresh=0
        )
        self.set("arn_profile", "set_arn_profile", udp_src_port=0, udp_dst_port=0, dscp=0, time=0)
        if self._holds:
            self.set(
                "hold_budget", "set_hold_budget", packets=0, octet_count=0, packets_mark=0xFFFFFFFF,
                octets_mark=0xFFFFFFFF, packets_low=0, octets_low=0,
                longest=self.ticks(longest), drain_depth=0, drain_interval=0,
            )  # fmt: skip

    def turn_on(
        self, mode: FlowControlMode, holding: Holding, limit: RateLimit, packet_size: int
    ) -> None:
        """Hold in this mode, within a budget; limit: messages per second, and their burst.
        packet_size in octets."""
        refresh = self.ticks(holding.repeat)
        self.set("flow_control", "set_flow_control", mode=self._mode(mode), refresh=refresh)
        self.set(
            "arn_profile", "set_arn_profile", udp_src_port=UDP_SOURCE_PORT,
            udp_dst_port=holding.udp_port, dscp=DSCP, time=holding.time,
        )  # fmt: skip
        if self._holds:
            self.set(
                "hold_budget",
                "set_hold_budget",
                packets=holding.packets,
                octet_count=holding.octets,
                packets_mark=max(1, holding.packets * holding.pass_on_at // 100),
                octets_mark=max(1, holding.octets * holding.pass_on_at // 100),
                packets_low=holding.packets * holding.pass_off_at // 100,
                octets_low=holding.octets * holding.pass_off_at // 100,
                longest=self.ticks(holding.longest),
                drain_depth=self.target.depth.convert(holding.drain_below, packet_size),
                drain_interval=self.ticks(holding.drain_every),
            )
        self.intent.put(meter_entry(ARN_METER, 0, limit.rate, limit.burst))

    def know(self, neighbors: Mapping[int, HoldNeighbor], holding: Holding) -> None:
        """Obey these neighbours, by core port, and tell them.

        Each begins at most `holds_per_port` holds that are not over: half at once, and as many in
        the time of the longest. One that is renewed counts again after twice that time.
        """
        at_once = holding.holds_at_once
        rate = at_once * SECOND // holding.longest
        for port, neighbor in neighbors.items():
            self.put(
                "arn_upstream",
                {"port": port},
                "set_arn_upstream",
                src_mac=neighbor.own_mac,
                dst_mac=neighbor.mac,
                src=neighbor.own_address,
                dst=neighbor.address,
            )
            if self._holds:
                match = {"ingress_port": port, "source": neighbor.address}
                self.put("arn_neighbor", match, "neighbor")
                self.intent.put(meter_entry(HOLD_METER, port, rate, at_once))

    def watch(self, ports: Iterable[int], holding: Holding, packet_size: int) -> None:
        """Tell the upstream neighbour when queue 0 of one of these ports is congested, and when no
        longer; packet_size in octets."""
        depth = self.target.depth
        high = depth.convert(holding.hold_at, packet_size)
        low = depth.convert(holding.release_at, packet_size)
        states = enum_members("QueueState")
        ranges = ((states["CONGESTED"], high, depth.maximum), (states["RELIEVED"], 0, low - 1))
        for port in ports:
            for state, first, last in ranges:
                match = {"egress_port": port, "queue_id": 0, "queue_depth": (first, last)}
                self.put("hold_level", match, "set_queue_state", 1, state=state)

    def relieve(self, macs: Mapping[int, int], holding: Holding) -> None:
        """Ask the data centres on these DC ports to send less; macs: the node's own, by port."""
        relief = enum_members("Relief")[_RELIEF[holding.relief]]
        refresh = self.ticks(holding.relief_repeat)
        for port, mac in macs.items():
            match = {"port": port}
            self.put("dc_relief", match, "set_relief", relief=relief, refresh=refresh)
            if holding.relief is Relief.PFC:
                pause = {"src_mac": mac, "quanta": PAUSE_QUANTA}
                self.put("pause_profile", match, "set_pause_profile", **pause)

    def heed(self, rates: Mapping[int, int], holding: Holding) -> None:
        """Heed PAUSE frames of the data centres on these DC ports; rates in bits per second, by
        port (SRF-9). What may wait for each is its part of their share of the budget."""
        for port, rate in rates.items():
            self.put(
                "heeded_pauses",
                {"port": port},
                "heed",
                quantum_time=QUANTUM_BITS * _QUANTUM_FRACTION * SECOND // rate,
                packets=holding.pause_room(holding.packets, len(rates)),
                octets=holding.pause_room(holding.octets, len(rates)),
            )

    @staticmethod
    def paused_port(heeded: P4TableEntry) -> int:
        """The port of such an entry."""
        assert heeded.match is not None
        port = heeded.match["port"]
        assert isinstance(port, int)
        return port

    @staticmethod
    def without_pauses(heeded: P4TableEntry) -> P4TableEntry:
        """The entry of a port whose data centre pauses nothing more: what waits keeps its order."""
        assert isinstance(heeded.action, P4TableAction)
        action = P4TableAction("heed", **heeded.action.args | {"quantum_time": 0})
        return P4TableEntry("heeded_pauses", match=heeded.match, action=action)

    def _mode(self, mode: FlowControlMode) -> int:
        return enum_members("FlowControl")[mode.name]
