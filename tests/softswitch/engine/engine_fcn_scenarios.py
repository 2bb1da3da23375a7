"""The PE and P programs of this project as scenarios, with every feature enabled.

Intervals are zero: with others the number of notifications would depend on the wall clock.
"""

import random
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address

from engine_scenarios import Scenario, Target
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6ND_NS, IPv6, IPv6ExtHdrSegmentRouting
from scapy.layers.l2 import ARP, GRE, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw

from fcn.contract.constants import POLICY_BIT, compiled_programs, enum_members
from fcn.contract.ecn import CLASSIC_RULES, Ecn
from fcn.contract.names import (
    COUNTERS,
    LINK_COUNTERS,
    LOAD_COUNTERS,
    PATH_COUNTERS,
    PORT_COUNTERS,
    VRF_COUNTERS,
    named_cells,
)
from fcn.contract.paths import PathShare, distributions
from fcn.contract.pipeline import load_pipeline
from fcn.contract.targets import V1MODEL
from fcn.softswitch.api import (
    ActionCall,
    Exact,
    GroupMember,
    GroupRef,
    Lpm,
    MatchKey,
    Range,
    Replica,
)

COMPILED = compiled_programs()
FAST_CNP, CNP = (enum_members("NotificationKind")[kind] for kind in ("FAST_CNP", "CNP"))
CNP_PORT = 50000
ROCE = 4791
RED, BLUE = 1, 2
NODE_MAC = 0x02FC00000001
PEER_MAC = 0x02C000000001
PE = "fc00:0:1::1"
SID_RED, SID_BLUE, SID_END = "fc00:0:1:46::", "fc00:0:1:47::", "fc00:0:1:e::"
REMOTE = "fc00:0:2::1"
SIDS = [f"fc00:0:{n}:46::" for n in (2, 3, 4, 5)]
HOST4, FAR4 = "10.1.0.10", "10.2.0.20"
HOST6, FAR6 = "2001:db8:1::10", "2001:db8:2::20"
UNROUTED4 = ("0.0.0.0", "127.0.0.1", "169.254.1.1", "224.0.0.5", "255.255.255.255")
UNROUTED6 = ("::", "::1", "fe80::1", "ff02::1")
"""Sources that no router forwards."""
TUNNELS = tuple(range(1, 14))
POLICY_TUNNEL = 13
"""The number that stands for the policy, whose paths are tunnels 2 to 4."""


def ip6(text: str) -> int:
    """An IPv6 address as an integer."""
    return int(IPv6Address(text))


def ip4(text: str) -> int:
    """An IPv4 address as an integer."""
    return int(IPv4Address(text))


class Tables:
    """Short names for a target's tables; `top` is the program's ingress control."""

    def __init__(self, target: Target, top: str) -> None:
        self.target = target
        self.top = top

    def add(
        self, table: str, match: list[MatchKey], action: str, *args: int, prefix: str = ""
    ) -> None:
        """Insert an entry; `prefix` of the action's name is the ingress control by default."""
        name = f"{prefix or self.top}.{action}"
        self.target.table_insert(table, match, 10 if _ranked(match) else 0, ActionCall(name, args))


def _ranked(match: list[MatchKey]) -> bool:
    return any(isinstance(x, Range) for x in match)


def _common(t: Tables, recognise: str, endpoint: str, egress: str) -> None:
    ports = (1, 2, 3, 4)
    for session in V1MODEL.clone_sessions:
        replicas = [Replica(*replica) for replica in session.replicas]
        t.target.clone_session_set(session.number, replicas, 0, 0)
    recognised = f"{recognise}.notification_port.set_notification_kind"
    t.add("notification_port", [Exact(CNP_PORT)], recognised, FAST_CNP)
    for port in ports:
        t.add("port_mac", [Exact(port), Exact(NODE_MAC)], "admit.port_mac.to_this_node")
    t.add("endpoint", [Exact(ip6(PE))], f"{endpoint}.local_address")
    t.add("endpoint", [Exact(ip6(SID_END))], f"{endpoint}.end")
    members = [(3, 1), (4, 2), (3, 3)]
    for number, (port, mac) in enumerate(members, 1):
        args = (port, NODE_MAC + port, PEER_MAC + mac)
        t.target.member_insert(
            "underlay_ecmp",
            number,
            ActionCall(f"{t.top}.to_wan.underlay.set_underlay_nexthop", args),
        )
    glean = ActionCall(f"{t.top}.to_wan.underlay.underlay_glean")
    t.target.member_insert("underlay_ecmp", 4, glean)
    t.target.group_set("underlay_ecmp", 1, [GroupMember(1), GroupMember(2, 2), GroupMember(3)])
    t.target.group_set("underlay_ecmp", 2, [GroupMember(2)])
    t.target.group_set("underlay_ecmp", 3, [GroupMember(4)])
    for prefix, length, group in (("fc00::", 16, 1), ("fc00:0:3::", 48, 2), ("fc00:9::", 32, 3)):
        t.target.table_insert("underlay", [Lpm(ip6(prefix), length)], 0, GroupRef(group))
    for port in ports:
        level = ActionCall(f"{egress}.leave.queue_level.set_level", (port,))
        depths = Range(0, 5 if port % 2 else V1MODEL.depth.maximum)
        t.target.table_insert("queue_level", [Exact(port), Exact(0), depths], 10, level)
        policy = (Ecn.CE if port % 2 else Ecn.NOT_ECT, int(port > 2), 0)
        t.add("level_policy", [Exact(port)], "leave.queue_level.set_policy", *policy, prefix=egress)


def pe_setup(target: Target) -> None:
    """Two customers on ports 1 and 2, the core on 3 and 4, every kind of tunnel."""
    t = Tables(target, "PeIngress")
    t.add("port_role", [Exact(1), Exact(0)], "admit.port_role.set_dc_port", RED)
    t.add("port_role", [Exact(1), Exact(100)], "admit.port_role.set_dc_port", BLUE)
    t.add("port_role", [Exact(2), Exact(0)], "admit.port_role.set_dc_port", RED)
    for port in (3, 4):
        t.add("port_role", [Exact(port), Exact(0)], "admit.port_role.set_core_port")
    lookup = "arrive.from_wan.look_up.underlay_lookup."
    _common(t, "admit", f"{lookup}endpoint", "PeEgress")
    t.add("trusted_source", [Lpm(ip6("fc00::"), 16)], lookup + "trust_boundary.trust")
    for sid, vrf in ((SID_RED, RED), (SID_BLUE, BLUE)):
        t.add("service_sid", [Exact(ip6(sid))], lookup + "service_sid.end_dt46", vrf)
    for kind, number in ((1, 100), (2, 200), (3, 300)):
        t.add(
            "tunnel_vrf", [Exact(kind), Exact(number)],
            lookup + "tunnel_vrf.set_tunnel_vrf", RED,
        )  # fmt: skip
    _pe_routes(t)
    _pe_tunnels(t)
    _pe_policy(t)
    _pe_flows(t)
    for rule in CLASSIC_RULES:
        match: list[MatchKey] = [Exact(rule.inner), Exact(rule.outer)]
        # In the order in which the program declares them.
        args = [rule.parameters[name] for name in ("reason", "event") if name in rule.parameters]
        t.add("decap_ecn", match, f"arrive.from_wan.end_tunnel.ecn_decap.{rule.verdict}", *args)


def _pe_routes(t: Tables) -> None:
    for vrf, vlan in ((RED, 0), (BLUE, 100)):
        to_dc = (1, vlan, NODE_MAC, 0x02DE00000001)
        for family, host, far, width, bits in (
            ("ipv4", ip4(HOST4), ip4(FAR4), 32, 16),
            ("ipv6", ip6(HOST6), ip6(FAR6), 128, 48),
        ):
            table = f"route_{family}"
            t.add(table, [Exact(vrf), Lpm(host, width)], "route.vrf_routing.to_dc", *to_dc)
            wide = far >> (width - bits) << (width - bits)
            t.add(table, [Exact(vrf), Lpm(wide, bits)], "route.vrf_routing.to_tunnel", vrf)
            # One more-specific route per tunnel: the last octet chooses it.
            for tunnel in TUNNELS:
                number = POLICY_BIT | 1 if tunnel == POLICY_TUNNEL else tunnel
                far_host: list[MatchKey] = [Exact(vrf), Lpm(wide + tunnel, width)]
                t.add(table, far_host, "route.vrf_routing.to_tunnel", number)
            t.add(table, [Exact(vrf), Lpm(host + 1, width)], "route.vrf_routing.glean")
            t.add(table, [Exact(vrf), Lpm(host + 2, width)], "route.vrf_routing.to_local")
            t.add(table, [Exact(vrf), Lpm(host + 3, width)], "route.vrf_routing.blackhole")


def _pe_tunnels(t: Tables) -> None:
    segments = [ip6(s) for s in SIDS]
    ends = (ip6(PE), ip6(SIDS[0]))
    kinds: list[tuple[str, tuple[int, ...]]] = [
        ("encap_srv6", ends),
        ("encap_srv6", (ip6(PE), ip6("fc00:0:3:47::"))),
        *((f"encap_srv6_srh{n}", (*ends, n - 1, n, *segments[:n])) for n in (1, 2, 3, 4)),
        ("encap_vxlan", (ip6(PE), ip6(REMOTE), 100, 0x020000000001, 0x020000000002)),
        ("encap_gre", (ip6(PE), ip6(REMOTE), 200)),
        ("encap_mpls_udp1", (ip6(PE), ip6(REMOTE), 300)),
        ("encap_mpls_udp2", (ip6(PE), ip6(REMOTE), 16001, 300)),
    ]
    for number, (action, args) in enumerate(kinds, 1):
        t.add(
            "tunnel",
            [Exact(number)],
            f"route.enter_tunnel.tunnel_encap.{action}",
            number % 2,
            *args,
        )


def _pe_policy(t: Tables) -> None:
    """Three paths, of different weights."""
    choose = "route.enter_tunnel.path_chosen.choose_path."
    t.add(
        "policy",
        [Exact(POLICY_BIT | 1)],
        choose + "policy_of_tunnel.to_policy",
        0,
        2,
        0,
        1,
        0,
        8,
        50,
        7,
    )
    for avoided, slots in distributions((PathShare(1), PathShare(2), PathShare(5))):
        for bucket, slot in enumerate(slots):
            key: list[MatchKey] = [Exact(0), Exact(avoided), Exact(bucket)]
            t.add("path", key, choose + "path_of_bucket.take_path", slot, 7 & ~avoided)


def _pe_flows(t: Tables) -> None:
    for qp in range(1, 5):
        for family, src, dst in (("ipv4", ip4(HOST4), ip4(FAR4)), ("ipv6", ip6(HOST6), ip6(FAR6))):
            key: list[MatchKey] = [Exact(RED), Exact(src), Exact(dst), Exact(qp)]
            action = "set_flow_label" if qp % 2 else "set_flow_label_watched"
            t.add(
                f"flow_{family}",
                key,
                f"route.enter_tunnel.flow_table.{action}_{family}",
                0x80000 + qp,
            )
    cnp = "arrive.from_wan.look_up.underlay_lookup.flow_by_label."
    t.add("flow_by_label_ipv4", [Exact(0x80001)], cnp + "cnp_ipv4", RED, ip4(FAR4), ip4(HOST4), 17,
          0xFFFF)  # fmt: skip
    t.add("flow_by_label_ipv6", [Exact(0x80002)], cnp + "cnp_ipv6", RED, ip6(FAR6), ip6(HOST6), 18,
          0xFFFF)  # fmt: skip
    t.add("flow_by_label_ipv6", [Exact(0x80003)], cnp + "source_qp_unknown_ipv6")
    mode = ActionCall("PeIngress.domain_mode.set_mode", (CNP, 1))
    t.target.table_set_default("domain_mode", mode)
    profile = ActionCall(
        "PeIngress.arrive.from_wan.sender_notification.cnp_profile.set_cnp_profile",
        (0xB8, 64, 49152, 7, 0),
    )
    t.target.table_set_default("cnp_profile", profile)
    learning = ActionCall("PeIngress.route.enter_tunnel.learn_flow.flow_learning.learning_on", (0,))
    t.target.table_set_default("flow_learning", learning)


def p_setup(target: Target) -> None:
    """Core ports only, Fast CNP on."""
    t = Tables(target, "PIngress")
    for port in (1, 2, 3, 4):
        t.add("port_role", [Exact(port), Exact(0)], "admit.port_role.set_core_port")
    _common(t, "look_up", "look_up.endpoint", "PEgress")
    target.table_set_default(
        "domain_mode", ActionCall("PEgress.tell.congested_flow.domain_mode.set_mode", (FAST_CNP, 0))
    )
    args = (ip6("fc00:0:10::1"), 49153, CNP_PORT, 0xB8, 64, 1)
    target.table_set_default(
        "fast_cnp_profile", ActionCall("PEgress.fast_cnp_profile.set_fast_cnp_profile", args)
    )


def _roce(rng: random.Random) -> Packet:
    opcode = rng.choice((0x04, 0x04, 0x0A, 0x64, 0x81, 0x11))
    qp = rng.choice((1, 2, 3, 4, 5, 9))
    bth = bytes((opcode, 0x40, 0xFF, 0xFF, rng.choice((0, 0x40)))) + qp.to_bytes(3, "big")
    bth += bytes((rng.choice((0, 0x80)),)) + rng.randbytes(3)
    return UDP(sport=rng.randrange(1 << 16), dport=ROCE, chksum=0) / Raw(
        bth + rng.randbytes(rng.choice((4, 8, 20, 60, 260)))
    )


def _cm(rng: random.Random) -> Packet:
    bth = bytes((0x64, 0x40, 0xFF, 0xFF, 0, 0, 0, 1, 0)) + rng.randbytes(3)
    deth = bytes((0x80, 1, 0, 0, 0, 0, 0, 1))
    mad = bytes((1, 7, 2, 3)) + rng.randbytes(12)
    mad += rng.choice((0x10, 0x13, 0x14, 0x15, 0x16)).to_bytes(2, "big") + bytes(6)
    return UDP(sport=1, dport=ROCE, chksum=0) / Raw(bth + deth + mad + rng.randbytes(232 + 4))


def _rarely(rng: random.Random, usual: str, others: Sequence[str]) -> str:
    return usual if rng.randrange(16) else rng.choice(others)


def _payload(rng: random.Random) -> Packet:
    return rng.choice((_roce, _roce, _roce, _cm, lambda _: TCP() / Raw(b"x" * 9),
                       lambda _: UDP(sport=1, dport=2) / Raw(b"y" * 30)))(rng)  # fmt: skip


def _inner(rng: random.Random, far: bool) -> Packet:
    """A customer datagram, leaving (far) or arriving."""
    ecn, ttl = rng.randrange(4), rng.choice((64, 64, 64, 2, 1, 0))
    last = rng.choice((FAR4, f"10.2.0.{rng.choice(TUNNELS)}", "10.9.9.9", "10.1.0.12", "10.1.0.13"))
    if rng.randrange(2):
        src, dst = (HOST4, last) if far else (FAR4, rng.choice((HOST4, "10.1.0.11")))
        src = _rarely(rng, src, UNROUTED4)
        options = [] if rng.randrange(8) else [b"\x01\x01\x01\x01"]
        return IP(src=src, dst=dst, tos=ecn | 0x28, ttl=ttl, id=rng.randrange(9),
                  flags=rng.choice(("", "DF", "MF")), options=options) / _payload(rng)  # fmt: skip
    last6 = rng.choice((FAR6, f"2001:db8:2::{rng.choice(TUNNELS):x}", "2001:db8:1::12"))
    src, dst = (HOST6, last6) if far else (FAR6, HOST6)
    src = _rarely(rng, src, UNROUTED6)
    upper = ICMPv6EchoRequest() if not rng.randrange(6) else _payload(rng)
    return IPv6(src=src, dst=dst, tc=ecn | 0x28, hlim=ttl, fl=rng.randrange(1 << 20)) / upper


def _outer(rng: random.Random, dst: str) -> IPv6:
    src = rng.choice((REMOTE, REMOTE, "fc00:0:7::1", "2001:db8:bad::1"))
    src = _rarely(rng, src, UNROUTED6)
    label = rng.choice((0x80001, 0x80002, 0x80003, 5, rng.randrange(1 << 20)))
    return IPv6(src=src, dst=dst, tc=rng.randrange(4) | 0xB8, fl=label,
                hlim=rng.choice((64, 64, 2, 1, 0)))  # fmt: skip


def _fast_cnp(rng: random.Random, dst: str) -> Packet:
    label = rng.choice((0x80001, 0x80002, 0x80003, 0x80004, 0, rng.randrange(1 << 20)))
    word = (label << 12 | rng.randrange(8) << 9).to_bytes(4, "big")
    udp = UDP(sport=49153, dport=CNP_PORT, chksum=rng.choice((0, 1, None)))
    if not rng.randrange(6):
        udp.len = rng.choice((0, 8, 11, 13))
    return _outer(rng, dst) / udp / Raw(word)


def _core(rng: random.Random) -> Packet:
    kind = rng.randrange(9)
    inner = _inner(rng, far=False)
    if kind == 0:
        return _fast_cnp(rng, rng.choice((PE, "fc00:0:2::9")))
    if kind == 1:
        return _outer(rng, rng.choice((SID_RED, SID_BLUE, SID_END, "fc00:0:3::7"))) / inner
    if kind == 2:
        n = rng.randrange(1, 5)
        srh = IPv6ExtHdrSegmentRouting(
            addresses=[SID_RED, *rng.sample(SIDS, n - 1)], segleft=rng.randrange(n + 1),
            lastentry=n - 1,
        )  # fmt: skip
        return _outer(rng, rng.choice((SID_END, SID_RED, "fc00:0:3::7"))) / srh / inner
    if kind == 3:
        vxlan = VXLAN(vni=rng.choice((100, 7)), flags=8)
        return (
            _outer(rng, PE)
            / UDP(sport=5, dport=4789, chksum=0)
            / vxlan
            / Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
            / inner
        )
    if kind == 4:
        proto = 0x0800 if isinstance(inner, IP) else 0x86DD
        gre = GRE(key_present=1, key=rng.choice((200, 3)), proto=proto)
        return _outer(rng, PE) / gre / inner
    if kind == 5:
        labels = MPLS(label=rng.choice((300, 4)), s=1, ttl=9)
        if rng.randrange(2):
            labels = MPLS(label=16, s=0, ttl=9) / labels
        return _outer(rng, PE) / UDP(sport=5, dport=6635, chksum=0) / labels / inner
    if kind == 6:
        return _outer(rng, "fc00:9::1") / inner
    if kind == 7:
        return IPv6(src="fe80::1", dst="ff02::1", hlim=255) / ICMPv6ND_NS(tgt=PE)
    return _outer(rng, rng.choice((PE, "fc00:0:44::1"))) / ICMPv6EchoRequest()


def _frame(rng: random.Random, payload: Packet, vlan: int | None = None) -> bytes:
    others = ("02:fc:00:00:00:02", "ff:ff:ff:ff:ff:ff", "33:33:00:00:00:01")
    ether = Ether(dst=_rarely(rng, "02:fc:00:00:00:01", others), src="02:c0:00:00:00:01")
    return bytes(ether / Dot1Q(vlan=vlan) / payload if vlan is not None else ether / payload)


def pe_packet(rng: random.Random, port: int) -> bytes:
    """Mostly packets valid on the port: customers' on 1 and 2, the core's on 3 and 4."""
    if rng.randrange(12) == 0:
        port = rng.choice((1, 3))
    if port > 2:
        return _frame(rng, _core(rng))
    vlan = rng.choice((None, None, None, 100, 5)) if port == 1 else None
    kind = rng.randrange(12)
    if kind == 0:
        return _frame(rng, ARP(pdst=HOST4), vlan)
    if kind == 1:
        return _frame(rng, _fast_cnp(rng, PE), vlan)
    return _frame(rng, _inner(rng, far=True), vlan)


def p_packet(rng: random.Random, _port: int) -> bytes:
    """Core traffic."""
    return _frame(rng, _core(rng))


def _counters(role: str) -> tuple[tuple[str, int], ...]:
    """Every indirect counter of a program, and how many of its cells are compared."""
    sizes = {name: max(named_cells(name)) + 1 for name in COUNTERS}
    several = (*PORT_COUNTERS, *VRF_COUNTERS, *PATH_COUNTERS, *LOAD_COUNTERS)
    sizes |= dict.fromkeys(several, 5)
    # Of the clock there is one cell.
    sizes |= dict.fromkeys(LINK_COUNTERS, 1)
    return tuple((name, sizes[name]) for name in sorted(load_pipeline(role).counters))


FCN_SCENARIOS = (
    Scenario("pe", pe_setup, pe_packet, json=COMPILED / "pe.json", counters=_counters("pe")),
    Scenario("p", p_setup, p_packet, json=COMPILED / "p.json", counters=_counters("p")),
)
