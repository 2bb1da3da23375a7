"""Methods that write the tables of the provider edge (P4Info contract)."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import ip_network
from typing import Any

import finsy as fy
from finsy.p4entity import encode_updates
from finsy.proto import p4r

from fcn.contract.constants import enum_members
from fcn.contract.ecn import CLASSIC_RULES, DecapRule
from fcn.contract.names import FLOW_TABLES, GATEWAY_TABLES, LABEL_TABLES, ROUTE_TABLES
from fcn.contract.paths import PathShare, distributions, paths_in_use
from fcn.contract.pipeline import Pipeline
from fcn.ptf_tests.lib.entries import NodeTables, table_entry


class PeTables(NodeTables):
    def dc_port(self, port: int, vrf: int, vlan_id: int = 0) -> None:
        """A customer's port, or one VLAN of it."""
        self.insert(
            "port_role", "set_dc_port", match={"ingress_port": port, "vlan_id": vlan_id}, vrf=vrf
        )

    def gateway(self, port: int, address: str, mac: str, vlan_id: int = 0) -> None:
        """An address for which the PE answers requests of hosts behind a DC port."""
        version = ip_network(address).version
        self.insert(
            GATEWAY_TABLES[version],
            {4: "answer_arp", 6: "answer_nd"}[version],
            match={"port": port, "vlan_id": vlan_id, "address": address},
            mac=mac,
        )

    def report_limit(self, vrf: int, config: fy.P4MeterConfig) -> None:
        """Limit the digests of a VRF's flows."""
        self.client.write(fy.P4MeterEntry("report_meter", index=vrf, config=config))

    def route(self, vrf: int, prefix: str, action: str, **parameters: Any) -> None:  # noqa: ANN401
        """A customer route: to_dc, to_tunnel, glean, to_local or blackhole."""
        table = ROUTE_TABLES[ip_network(prefix).version]
        self.insert(table, action, match={"vrf": vrf, "dst": prefix}, **parameters)

    def tunnel(self, tunnel: int, action: str, **parameters: Any) -> None:  # noqa: ANN401
        """A tunnel by its encap_* action; ECN mode normal unless given (SRF-1)."""
        if "srh" in action:
            parameters = {"tag": 0} | parameters
        self.insert("tunnel", action, match={"tunnel": tunnel}, **{"ecn_mode": 0} | parameters)

    def dc_relief(
        self, port: int, relief: str, *, refresh_us: int, mac: str = "", quanta: int = 0
    ) -> None:
        """How the data centre on a port is asked to send less (member of Relief, SRF-8); quanta and
        source MAC of PAUSE frames."""
        self.insert(
            "dc_relief",
            "set_relief",
            match={"port": port},
            relief=enum_members("Relief")[relief],
            refresh=self.target.ticks(refresh_us),
        )
        if relief == "PAUSE":
            self.insert(
                "pause_profile",
                "set_pause_profile",
                match={"port": port},
                src_mac=mac,
                quanta=quanta,
            )

    def heed_pauses(
        self, port: int, *, longest_us: int, packets: int = 1 << 20, octets: int = 1 << 30
    ) -> None:
        """Heed PAUSE frames of the data centre on a port, where 65,535 quanta take `longest_us`
        (rounded down, at 2^-16 microseconds a quantum); what may wait for it (SRF-9)."""
        quantum_time = (longest_us << 16) // 0xFFFF
        self.insert(
            "heeded_pauses",
            "heed",
            match={"port": port},
            quantum_time=quantum_time,
            packets=packets,
            octets=octets,
        )

    def service_sid(self, sid: str, vrf: int) -> None:
        self.insert("service_sid", "end_dt46", match={"dst": sid}, vrf=vrf)

    def end_con_sid(self, sid: str, vrf: int) -> None:
        """The END.CON SID of a VRF (SRF-4)."""
        self.insert("service_sid", "end_con", match={"dst": sid}, vrf=vrf)

    def tunnel_vrf(self, tunnel_type: int, tunnel_id: int, vrf: int) -> None:
        """Where packets of a VXLAN VNI, GRE key or VPN label go (enum TunnelType)."""
        self.insert(
            "tunnel_vrf",
            "set_tunnel_vrf",
            match={"tunnel_type": tunnel_type, "tunnel_id": tunnel_id},
            vrf=vrf,
        )

    def flow(
        self,
        vrf: int,
        src: str,
        dst: str,
        dest_qp: int,
        label: int,
        idle_timeout_ns: int = 0,
        *,
        watched: bool = False,
    ) -> None:
        """Give a RoCE flow its label (FCN-2), with an idle timeout in nanoseconds (FCN-4).

        watched: the flow is still reported, so that its source QP can be inferred (FCN-3).
        """
        version = ip_network(dst).version
        verb = "set_flow_label_watched" if watched else "set_flow_label"
        self.client.write(
            +fy.P4TableEntry(
                FLOW_TABLES[version],
                match=fy.P4TableMatch(vrf=vrf, src=src, dst=dst, dest_qp=dest_qp),
                action=fy.P4TableAction(f"{verb}_ipv{version}", flow_label=label),
                idle_timeout_ns=idle_timeout_ns,
            )
        )

    def label_to_cnp(
        self, label: int, vrf: int, src: str, dst: str, dest_qp: int, p_key: int = 0xFFFF
    ) -> None:
        """Set the CNP for Fast CNPs with `label` (FCN-13); src: the PE's or the peer's address."""
        self.insert(
            LABEL_TABLES[ip_network(dst).version],
            f"cnp_ipv{ip_network(dst).version}",
            match={"flow_label": label},
            vrf=vrf,
            src=src,
            dst=dst,
            dest_qp=dest_qp,
            p_key=p_key,
        )

    def delete_label(self, label: int, ip_version: int) -> None:
        """The label is no flow's any more."""
        self.delete(LABEL_TABLES[ip_version], match={"flow_label": label})

    def label_without_source_qp(self, label: int, ip_version: int) -> None:
        """A label whose flow is known but not its source QP."""
        table = LABEL_TABLES[ip_version]
        self.insert(table, f"source_qp_unknown_ipv{ip_version}", match={"flow_label": label})

    def enable_cnp(
        self,
        *,
        traffic_class: int = 0xC0,
        ttl: int = 64,
        udp_src_port: int = 0xC000,
        ipv4_id: int = 0,
        min_interval_us: int = 0,
        translates: str = "FAST_CNP",
    ) -> None:
        """CNPs for own congestion and for notifications of a kind (FCN-16); interval in
        microseconds per flow."""
        self.domain_mode("CNP", translates=translates)
        self.set_default(
            "cnp_profile",
            "set_cnp_profile",
            traffic_class=traffic_class,
            ttl=ttl,
            udp_src_port=udp_src_port,
            ipv4_id=ipv4_id,
            min_interval=self.target.ticks(min_interval_us),
        )

    def decap_rules(self, rules: Iterable[DecapRule] = CLASSIC_RULES) -> None:
        """Set the rules for the ECN field at decapsulation (SRF-2)."""
        for rule in rules:
            self.insert(
                "decap_ecn",
                rule.verdict,
                match={"inner_ecn": rule.inner, "outer_ecn": rule.outer},
                **rule.parameters,
            )

    def treat_light_congestion(self, hold_us: int) -> None:
        """Treat lightly congested flows for `hold_us` microseconds; 0: tell their senders."""
        self.set_default("light_congestion", "set_hold", hold=self.target.ticks(hold_us))

    def slow(self, tunnel: int, *, interval_us: int, burst: int) -> None:
        """Slow lightly congested flows of a tunnel down to a packet in `interval_us` microseconds
        each, `burst` of them at a time."""
        interval = interval_us << 16
        parameters = {"interval": interval, "tolerance": interval * (burst - 1)}
        self.insert("light_policy", "slow", match={"tunnel": tunnel}, **parameters)

    def reroute(self, tunnel: int, next_tunnel: int) -> None:
        """Send lightly congested flows of a tunnel through another."""
        self.insert("light_policy", "reroute", match={"tunnel": tunnel}, next_tunnel=next_tunnel)

    def policy(
        self,
        policy: int,
        number: int,
        first_tunnel: int,
        first_path_id: int,
        shares: Sequence[PathShare],
        *,
        hold_down_us: int = 0,
        flowlet_us: int = 0,
        margin: int = 0,
        settle_us: int = 1,
        cnp_us: int = 0,
    ) -> None:
        """Distribute what a route sends to the tunnel `number` over paths (FAN-4).

        Their tunnels have numbers from first_tunnel on, and IDs from first_path_id on. flowlet_us:
        after such a pause a flow may take a path whose load is less by more than `margin`, in the
        unit of path_load_t; 0: never. settle_us: the pause after which half the difference is the
        probability (FAN-7). cnp_us: how often a sender hears that its flow's path is congested; 0:
        never (FAN-6).
        """
        self.insert(
            "policy",
            "to_policy",
            match={"tunnel": number},
            number=policy,
            first=first_tunnel,
            hold=self.target.ticks(hold_down_us),
            flowlet_gap=self.target.ticks(flowlet_us),
            margin=margin,
            settle=self.target.ticks(settle_us),
            cnp_interval=self.target.ticks(cnp_us),
            paths=(1 << len(shares)) - 1,
        )
        for slot in range(len(shares)):
            self.insert(
                "path_by_id",
                "set_path",
                match={"path_id": first_path_id + slot},
                number=policy,
                path_slot=slot,
                path_bit=1 << slot,
                policy_paths=(1 << len(shares)) - 1,
            )
        self.client.write(_paths(self.client.pipeline, policy, tuple(shares)))

    def path_reporter(
        self, source: str, node: int, link: int, path_id: int, *, cell: int, bit: int
    ) -> None:
        """Hear of a path what this node says of this link; 0 is the node itself (FAN-8).

        cell: where its last message is kept; bit: its own among those of the path.
        """
        self.insert(
            "path_reporter",
            "set_reporter",
            match={"source": source, "node": node, "link": link, "path_id": path_id},
            reporter_cell=cell,
            bit_of_path=bit,
        )

    def notice_meter(self, config: fy.P4MeterConfig) -> None:
        """Limit the notifications for other PEs (FCN-15), in packets per second and packets."""
        self.client.write(fy.P4MeterEntry("notice_meter", index=0, config=config))

    def trust(self, prefix: str) -> None:
        """Accept notifications from this prefix (FCN-17)."""
        self.insert("trusted_source", "trust", match={"src": prefix})

    def reporter_port(self, source: str, port: int) -> None:
        """Hear a node of paths by this port (FAN-8)."""
        self.insert(
            "reporter_port", "comes_this_way", match={"source": source, "ingress_port": port}
        )

    def learn_flows(self, digests: Sequence[str], window_us: int) -> None:
        """Turn flow learning on and subscribe to digests, each message sent at once."""
        self.set_default("flow_learning", "learning_on", window=self.target.ticks(window_us))
        self.client.write(
            [+fy.P4DigestEntry(digest, max_list_size=1, max_timeout_ns=1) for digest in digests]
        )


@lru_cache
def _paths(pipeline: Pipeline, policy: int, shares: tuple[PathShare, ...]) -> list[p4r.Update]:
    """Entries of a policy for every set of avoided paths: thousands, the same in many tests."""
    entries = [
        table_entry(
            "path",
            "take_path",
            {"policy": policy, "avoided": avoided, "bucket": bucket},
            {"path": slot, "in_use": sum(1 << each for each in paths_in_use(shares, avoided))},
        )
        for avoided, slots in distributions(shares)
        for bucket, slot in enumerate(slots)
    ]
    updates = encode_updates(entries, pipeline.schema)
    return [update for update in updates if isinstance(update, p4r.Update)]
