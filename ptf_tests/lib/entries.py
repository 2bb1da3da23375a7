"""Methods that write the tables that both programs have (P4Info contract).

Names of tables, keys, actions and parameters are those of the contract; units of time and of queue
depth, and the clone session, come from the target of the loaded program.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import finsy as fy
from finsy.p4entity import P4UpdateList, P4ValueSetMember

from fcn.contract.constants import enum_members
from fcn.contract.depth import PACKET_SIZE, Depth
from fcn.contract.ecn import Ecn
from fcn.contract.names import CORE_PORTS
from fcn.contract.pipeline import Pipeline
from fcn.contract.targets import Target
from fcn.controller.owners.core_ports import PortSet
from fcn.packets.wire import ARN_PORT, FAST_CNP_PORT

KINDS = enum_members("NotificationKind")


class Writer(Protocol):
    """The part of P4RuntimeClient used here."""

    @property
    def pipeline(self) -> Pipeline:
        """The program loaded last."""

    def write(self, *entities: P4UpdateList) -> None:
        """Write entities."""


def table_entry(
    table: str, action: str, match: dict[str, Any], parameters: dict[str, Any]
) -> P4UpdateList:
    """An entry to be inserted."""
    return +fy.P4TableEntry(
        table, match=fy.P4TableMatch(match), action=fy.P4TableAction(action, **parameters)
    )


class NodeTables:
    """Tables of PE and P: ports, underlay, endpoints, queues, clone session."""

    def __init__(self, client: Writer) -> None:
        self.client = client
        self._core_ports: set[int] = set()

    @property
    def target(self) -> Target:
        """The target the loaded program is compiled for."""
        return self.client.pipeline.target

    def insert(self, table: str, action: str, *, match: dict[str, Any], **parameters: Any) -> None:  # noqa: ANN401
        """Insert one entry; match and parameters by their P4Info names."""
        self.client.write(table_entry(table, action, match, parameters))

    def delete(self, table: str, *, match: dict[str, Any]) -> None:
        """Remove the entry with this match."""
        self.client.write(-fy.P4TableEntry(table, match=fy.P4TableMatch(match)))

    def set_default(self, table: str, action: str, **parameters: Any) -> None:  # noqa: ANN401
        """Replace the default action of a table without key."""
        self.client.write(
            ~fy.P4TableEntry(
                table, action=fy.P4TableAction(action, **parameters), is_default_action=True
            )
        )

    def core_port(self, port: int) -> None:
        """A port towards the WAN domain; a chip's parser has to know it, too."""
        self.insert("port_role", "set_core_port", match={"ingress_port": port, "vlan_id": 0})
        if self.client.pipeline.has_value_set(CORE_PORTS):
            self._core_ports.add(port)
            members = [P4ValueSetMember(each) for each in sorted(self._core_ports)]
            self.client.write(~PortSet(CORE_PORTS, members=members))

    def own_mac(self, port: int, mac: str) -> None:
        """An address the node takes frames for on a port."""
        match = {"ingress_port": port, "dst_mac": mac}
        self.insert("port_mac", "to_this_node", match=match)

    def underlay(
        self, prefix: str, *nexthops: tuple[int, str, str], weights: Sequence[int] = ()
    ) -> None:
        """Route an underlay prefix over (port, source MAC, destination MAC) members.

        Equal cost unless `weights` has one number for each.
        """
        actions = [
            (weight, fy.P4TableAction("set_underlay_nexthop", port=port, src_mac=src, dst_mac=dst))
            for weight, (port, src, dst) in zip(
                weights or [1] * len(nexthops), nexthops, strict=True
            )
        ]
        self.client.write(
            +fy.P4TableEntry(
                "underlay", match=fy.P4TableMatch(dst=prefix), action=fy.P4IndirectAction(actions)
            )
        )

    def underlay_glean(self, prefix: str) -> None:
        """A connected underlay prefix whose neighbours the controller resolves."""
        self.insert("underlay", "underlay_glean", match={"dst": prefix})

    def local_address(self, address: str) -> None:
        """An underlay address of the node itself."""
        self.insert("endpoint", "local_address", match={"dst": address})

    def end_sid(self, sid: str) -> None:
        """An SRv6 End SID of the node."""
        self.insert("endpoint", "end", match={"dst": sid})

    def notification_port(self, udp_port: int = FAST_CNP_PORT, kind: str = "FAST_CNP") -> None:
        """The UDP port on which notifications of a kind are recognised."""
        self.insert(
            "notification_port",
            "set_notification_kind",
            match={"udp_dst_port": udp_port},
            kind=KINDS[kind],
        )

    def domain_mode(self, congestion_kind: str = "NONE", *, translates: str = "NONE") -> None:
        """Set the kind of notification sent for a congested queue, and the kind that becomes a CNP
        here (members of NotificationKind); without arguments both are off (FCN-16)."""
        self.set_default(
            "domain_mode",
            "set_mode",
            congestion_kind=KINDS[congestion_kind],
            translates=KINDS[translates],
        )

    def enable_fast_cnp(
        self,
        src: str,
        *,
        udp_src_port: int = 0xC0DE,
        udp_dst_port: int = FAST_CNP_PORT,
        traffic_class: int = 0xC0,
        hop_limit: int = 64,
        copy_label: bool = False,
        translates: str = "NONE",
    ) -> None:
        """Turn Fast CNPs on (FCN-16); a PE may translate those of others."""
        self.domain_mode("FAST_CNP", translates=translates)
        self._fast_cnp_profile(
            src, udp_src_port, udp_dst_port, traffic_class, hop_limit, copy_label
        )

    def enable_end_con(self, src: str, *, traffic_class: int) -> None:
        """Turn CNPs to END.CON on (SRF-4)."""
        self.domain_mode("END_CON_CNP")
        self._fast_cnp_profile(src, 0xC0DE, 0, traffic_class, 64, copy_label=False)

    def _fast_cnp_profile(
        self,
        src: str,
        udp_src_port: int,
        udp_dst_port: int,
        traffic_class: int,
        hop_limit: int,
        copy_label: bool,
    ) -> None:
        self.set_default(
            "fast_cnp_profile",
            "set_fast_cnp_profile",
            src=src,
            udp_src_port=udp_src_port,
            udp_dst_port=udp_dst_port,
            traffic_class=traffic_class,
            hop_limit=hop_limit,
            copy_label=int(copy_label),
        )

    def recirculation(self) -> None:
        """Set up the clone sessions whose copies are recirculated, where P4Runtime does it."""
        for session in self._recirculation_sessions():
            self.client.write(+session)

    def delete_recirculation(self) -> None:
        """Delete the clone sessions: BMv2 keeps them when another pipeline is set, and a new insert
        would add replicas."""
        for session in self._recirculation_sessions():
            self.client.write(-session)

    def _recirculation_sessions(self) -> list[fy.P4CloneSessionEntry]:
        return [
            fy.P4CloneSessionEntry(session.number, replicas=session.replicas)
            for session in self.target.clone_sessions
        ]

    def queue_level(self, port: int, level: int, depths: tuple[int, int] | None = None) -> None:
        """Set `level` for queue 0 of a port at these depths in packets, both inclusive.

        Without depths the level applies at any depth, so that every packet passes a congested
        queue on any target.
        """
        action = fy.P4TableAction("set_level", level=level)
        self.client.write(+self._by_depth("queue_level", port, depths, action))

    def delete_queue_level(self, port: int, depths: tuple[int, int] | None = None) -> None:
        self.client.write(-self._by_depth("queue_level", port, depths))

    def _by_depth(
        self,
        table: str,
        port: int,
        depths: tuple[int, int] | None,
        action: fy.P4TableAction | None = None,
    ) -> fy.P4TableEntry:
        """An entry for queue 0 of a port at these depths in packets, or at any."""
        match = fy.P4TableMatch(egress_port=port, queue_id=0)
        if depths is not None:
            low, end = (
                self.target.depth.convert(Depth(packets), PACKET_SIZE)
                for packets in (depths[0], depths[1] + 1)
            )
            match["queue_depth"] = (low, end - 1)
        return fy.P4TableEntry(table, match=match, action=action, priority=1)

    def level_policy(
        self, level: int, *, mark: Ecn = Ecn.NOT_ECT, notify: bool, interval_us: int = 0
    ) -> None:
        """Set the policy of a level; `mark` NOT_ECT: no mark; `interval` in microseconds."""
        self.insert(
            "level_policy",
            "set_policy",
            match={"level": level},
            mark=mark,
            notify=int(notify),
            interval=self.target.ticks(interval_us),
        )

    def marking_curve(
        self, port: int, codepoint: Ecn, threshold: int, depths: tuple[int, int] | None = None
    ) -> None:
        """Mark packets of queue 0 of a port with `codepoint` when a random number of 16 bits is at
        most `threshold`, at these depths in packets, both inclusive, or at any depth."""
        action = fy.P4TableAction("set_curve", set_codepoint=codepoint, set_probability=threshold)
        self.client.write(+self._by_depth("marking_curve", port, depths, action))

    def delete_marking_curve(self, port: int) -> None:
        """Delete the entry written by `marking_curve` for any depth."""
        self.client.write(-self._by_depth("marking_curve", port, None))

    def notification_meter(self, config: fy.P4MeterConfig) -> None:
        """Set the node's notification rate limit (FCN-15), in packets per second and packets."""
        self.client.write(fy.P4MeterEntry("notification_meter", index=0, config=config))

    def punt_limit(self, vrf: int, config: fy.P4MeterConfig | None = None) -> None:
        """Limit what a VRF (0: the underlay) sends to the CPU, or, without `config`, do not."""
        self.client.write(fy.P4MeterEntry("punt_meter", index=vrf, config=config))

    def notification_sid(self, sid: str) -> None:
        """The END.CON SID of another PE."""
        self.insert("notification_sid", "on_its_way", match={"dst": sid})

    # -- precise flow control (SRF-5 to SRF-8) ---------------------------------------------

    def flow_control(self, mode: str, refresh_us: int = 0) -> None:
        """What neighbours stop for each other (member of FlowControl); the port of ARN messages."""
        self.flow_control_mode(mode, refresh_us)
        if mode != "OFF":
            self.notification_port(ARN_PORT, "ARN")

    def flow_control_mode(self, mode: str, refresh_us: int = 0) -> None:
        """What neighbours stop for each other (member of FlowControl)."""
        self.set_default(
            "flow_control",
            "set_flow_control",
            mode=enum_members("FlowControl")[mode],
            refresh=self.target.ticks(refresh_us),
        )

    def arn_profile(self, time_us: int) -> None:
        """How ARN messages sent here look, and for how long they ask to hold."""
        self.set_default(
            "arn_profile",
            "set_arn_profile",
            udp_src_port=0xC0DE,
            udp_dst_port=ARN_PORT,
            dscp=48,
            time=time_us,
        )

    def arn_neighbor(self, port: int, source: str) -> None:
        """Accept ARN messages of a neighbour on a core port."""
        self.insert("arn_neighbor", "neighbor", match={"ingress_port": port, "source": source})

    def arn_upstream(self, port: int, src_mac: str, dst_mac: str, src: str, dst: str) -> None:
        """The neighbour on a port, which hears of congestion that its packets meet here."""
        self.insert(
            "arn_upstream",
            "set_arn_upstream",
            match={"port": port},
            src_mac=src_mac,
            dst_mac=dst_mac,
            src=src,
            dst=dst,
        )

    def hold_level(self, port: int, state: str, depths: tuple[int, int] | None = None) -> None:
        """Set the state (member of QueueState) of queue 0 of a port at these depths in packets;
        without depths at any."""
        action = fy.P4TableAction("set_queue_state", state=enum_members("QueueState")[state])
        self.client.write(+self._by_depth("hold_level", port, depths, action))

    def delete_hold_level(self, port: int) -> None:
        """Delete the entry of a port written by `hold_level` without depths."""
        self.client.write(-self._by_depth("hold_level", port, None))

    def hold_budget(
        self,
        packets: int,
        *,
        mark: int | None = None,
        low: int = 0,
        longest_us: int = 60_000_000,
        drain: tuple[int, int] = (1 << 18, 0),
    ) -> None:
        """What the node holds at most; at `mark` packets it tells its upstream neighbours, at `low`
        that this is over. longest_us: longest hold. drain: what waited leaves while its port's
        queue has fewer packets than this, otherwise one per so many microseconds."""
        octets = 1 << 20
        self.set_default(
            "hold_budget",
            "set_hold_budget",
            packets=packets,
            octet_count=octets,
            packets_mark=packets + 1 if mark is None else mark,
            octets_mark=octets + 1,
            packets_low=low,
            octets_low=octets,
            longest=self.target.ticks(longest_us),
            drain_depth=drain[0],
            drain_interval=self.target.ticks(drain[1]),
        )

    def arn_meter(self, config: fy.P4MeterConfig) -> None:
        """Limit the messages of flow control that the node makes (FCN-15)."""
        self.client.write(fy.P4MeterEntry("arn_meter", index=0, config=config))

    def hold_meter(self, port: int, config: fy.P4MeterConfig) -> None:
        """Limit the holds that the neighbour on a port begins."""
        self.client.write(fy.P4MeterEntry("hold_meter", index=port, config=config))

    # -- links whose far end is watched (FAN-4) --------------------------------------------

    def watch_link(
        self,
        slot: int,
        port: int,
        *,
        far_end: tuple[str, str],
        own: tuple[str, str],
        interval_us: int,
        detection_us: int,
        discriminator: int = 1,
        rate_kbps: int = 0,
    ) -> None:
        """Look at a link in this slot of the clock; far_end, own: MAC and underlay address. Its
        utilization is measured where its rate is given."""
        self.insert(
            "clock_slot",
            "watch_link",
            match={"slot": slot},
            port=port,
            interval=interval_us,
            detection_time=self.target.ticks(detection_us),
            detect_multiplier=3,
            discriminator=discriminator,
            src_mac=own[0],
            dst_mac=far_end[0],
            src=own[1],
            dst=far_end[1],
            rate=rate_kbps,
        )

    def watch_path_load(
        self,
        slot: int,
        port: int,
        path_id: int,
        *,
        cell: int,
        ingress_pe: str = "::",
        change: int,
        refresh_us: int,
    ) -> None:
        """Say in this slot of the clock how much of the link is in use by which a path leaves, when
        that changes by so many permille."""
        self.insert(
            "clock_slot",
            "watch_path_load",
            match={"slot": slot},
            port=port,
            path_cell=cell,
            path_id=path_id,
            ingress_pe=ingress_pe,
            change=change,
            refresh=refresh_us,
        )

    def watch_path(
        self,
        slot: int,
        port: int,
        path_id: int,
        *,
        cell: int,
        ingress_pe: str = "::",
        repeat_us: int,
        refresh_us: int,
        relief_us: int | None = None,
    ) -> None:
        """Say in this slot of the clock how a path is that leaves by this port: whether it has
        failed; with relief_us whether the queue there is congested, which is relieved so long after
        the last packet that met congestion."""
        ticks = self.target.ticks
        self.insert(
            "clock_slot",
            "watch_path" if relief_us is None else "watch_path_queue",
            match={"slot": slot},
            port=port,
            path_cell=cell,
            path_id=path_id,
            ingress_pe=ingress_pe,
            repeat=ticks(repeat_us),
            refresh=ticks(refresh_us),
            **({} if relief_us is None else {"relief": ticks(relief_us)}),
        )

    def bfd_session(self, port: int, source: str, discriminator: int = 1) -> None:
        """Who may speak of the state of a link."""
        match = {"port": port, "source": source}
        self.insert("bfd_session", "set_bfd_session", match=match, discriminator=discriminator)

    def alternate(self, dead_port: int, prefix: str, port: int, src_mac: str, dst_mac: str) -> None:
        """The next hop of packets to a prefix while the link of their own is dead."""
        self.insert(
            "alternate",
            "set_alternate",
            match={"port": dead_port, "dst": prefix},
            port=port,
            src_mac=src_mac,
            dst_mac=dst_mac,
        )
