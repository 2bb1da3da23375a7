"""A customer sends what he likes, damaged and forged: what leaves is in his own tunnel, and nothing
of it is a message to the node (FCN-1, FCN-6, FCN-17)."""

from ipaddress import IPv4Address, IPv6Address
from random import Random

import pytest
import yaml
from domain_modes import DC_PORTS, HOST_MACS, host_address, network
from scapy.contrib.bfd import BFD
from scapy.layers.inet import UDP

from fcn.contract.constants import FCN_LABEL_BIT, compiled_programs
from fcn.contract.names import COUNTERS, named_cells
from fcn.controller.config import Config, parse_config
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.notation import format_mac
from fcn.lab.entries import provision_of, write_entries
from fcn.packets.arn import Arn
from fcn.packets.fantel import Event, Fantel, FantelIcmpv6
from fcn.packets.fantel_tlvs import Origin, PathId
from fcn.packets.roce import DEFAULT_P_KEY
from fcn.ptf_tests.lib import packets
from fcn.softswitch.engine import MemoryEngine, load_program

FRAMES = 2_500
CORE_PORTS = (2, 3)
PE, P, FAR_PE = "2001:db8:0:ff::1", "2001:db8:0:ff::b", "2001:db8:0:ff::2"
SIDS = {4: "2001:db8:0:2::d46", 5: "2001:db8:0:2::d47"}
"""Service SIDs at the other PE, by DC port."""
OWN_SIDS = ("2001:db8:0:1::d46", "2001:db8:0:1::d47", "2001:db8:0:1::c1", "2001:db8:0:1::e")
SOURCES = {PE, "2001:db8:0:1::c0", "2001:db8:0:1::c1"}
LABELS = {4: FCN_LABEL_BIT | 0x100, 5: FCN_LABEL_BIT | 0x200}
"""Of the one flow of each customer that has a label."""
DEST_QP, SOURCE_QP = 0x1000, 0x100


def _config(modes: dict[str, str]) -> Config:
    """Each DC port is another customer's."""
    data = network(modes)
    data["vrfs"]["red"] = {"id": 2, "vni": 1002, "gre_key": 1002, "mpls_label": 1002}
    for side in (1, 2):
        node = data["nodes"][f"pe{side}"]
        (port,) = (each for each in node["ports"] if each["number"] == 5)
        port["vrf"] = "red"
        sids = {"service_sid": f"2001:db8:0:{side}::d47", "end_con_sid": f"2001:db8:0:{side}::c1"}
        node["vrfs"]["red"] = node["vrfs"]["blue"] | sids
    return parse_config(yaml.safe_dump(data))


def _datagrams(port: int) -> list[bytes]:
    """Customers' packets of every kind, and what no customer should send."""
    src, dst = host_address(1, port), host_address(2, port)
    src6, dst6 = host_address(1, port, 6), host_address(2, port, 6)
    inner = packets.roce(src, dst, DEST_QP)
    found = [
        packets.roce(src, dst, qp, opcode=opcode, ecn=1)
        for qp in (0, 1, DEST_QP, 0xFFFFFF)
        for opcode in (0, 4, 10, 17, 0x64, 0xFF)
    ]
    found += [packets.roce(src6, dst6, DEST_QP, flow_label=LABELS[9 - port], ecn=2)]
    found += [packets.cnp(src, dst, SOURCE_QP), packets.cnp(src6, dst6, SOURCE_QP)]
    origin = Origin(node=11, link=1, epoch=0xFFFFFFFF, sequence=0xFFFFFFFF)
    about = [origin, PathId(path_id=1)]
    for end in (PE, P, FAR_PE, *OWN_SIDS, *SIDS.values(), dst6):
        for source in (src6, P):
            udp_fantel = UDP(dport=61021) / Fantel(event=Event.FAILURE, parameters=about)
            icmp_fantel = FantelIcmpv6(event=Event.FAILURE, parameters=about)
            bfd = UDP(sport=49152, dport=3784) / BFD(sta=1, your_discriminator=1)
            found += [
                packets.fast_cnp(source, end, LABELS[9 - port], 7),
                packets.arn(source, end, Arn(type=1, para_type=12, time=0xFFFFFFFF)),
                packets.ip(source, end, udp_fantel, nh=17, ttl=255),
                packets.ip(source, end, icmp_fantel, nh=58, ttl=255),
                packets.ip(source, end, bfd, nh=17, ttl=255),
                packets.srv6(inner, source, end),
                packets.srv6(inner, source, end, [SIDS[9 - port], end], 1),
                packets.gre(inner, source, end, 1001),
                packets.mpls_udp(inner, source, end, [1002], sport=1),
                packets.vxlan(
                    inner, source, end, 1002, sport=1,
                    inner_src_mac=HOST_MACS[port], inner_dst_mac=HOST_MACS[port],
                ),
            ]  # fmt: skip
        for header in (0, 43, 44, 51, 60):
            chain = bytes((header, 0)) + bytes(6) + bytes((17, 1)) + bytes(14) + inner[20:]
            found.append(packets.ip(src6, end, chain, nh=header))
    found += [packets.ip(src, dst, inner[20:], proto=17, flags="MF", frag=part) for part in (0, 9)]
    return found


def _damaged(frame: bytes, rng: Random) -> bytes:
    octets = bytearray(frame)
    for _ in range(rng.choice((0, 0, 0, 1, 3))):
        octets[rng.randrange(14, len(octets))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.1:
        del octets[rng.randrange(14, len(octets)) :]
    return bytes(octets)


@pytest.mark.parametrize(
    ("tunnel", "notification", "flow_control"),
    [("srv6", "fcn", "flow"), ("vxlan", "end-con", "service"), ("gre", "fantel", "priority")],
)
def test_it_stays_in_its_tunnel(tunnel: str, notification: str, flow_control: str) -> None:
    config = _config({"notification": notification, "tunnel": tunnel, "flow_control": flow_control})
    engine = MemoryEngine(load_program(compiled_programs() / "pe.json"))
    provision = provision_of(config, "pe1")
    for vrf, port in ((1, 4), (2, 5)):
        ends = IPv4Address(host_address(1, port)), IPv4Address(host_address(2, port))
        label = LABELS[port]
        provision.intent.put_encoded(
            provision.flow_table.label(vrf, *ends, DEST_QP, label, 0, watched=False)
        )
        provision.intent.put_encoded(
            provision.flow_by_label.notify_sender(
                label, vrf, ends[1], ends[0], SOURCE_QP, DEFAULT_P_KEY, ""
            )
        )
    write_entries(provision, engine)
    node, rng = config.nodes["pe1"], Random(tunnel)
    sent = {}
    for number, vlan in DC_PORTS.items():
        own = node.port(number, vlan)
        assert own is not None
        mac = format_mac(port_mac("pe1", node, own))
        sent[number] = [
            packets.ethernet(each, src=HOST_MACS[number], dst=mac, vlan=vlan)
            for each in _datagrams(number)
        ]
    tunnelled = 0
    for _ in range(FRAMES):
        number = rng.choice(list(DC_PORTS))
        frame = _damaged(rng.choice(sent[number]), rng)
        engine.inject(number, frame)
        engine.advance(1_000)
        for output in engine.outputs():
            assert output.port in (number, *CORE_PORTS, engine.cpu_port), frame.hex()
            if output.port in CORE_PORTS:
                _check_tunnel(output.data, number, tunnel)
                tunnelled += 1
    assert tunnelled > FRAMES // 20
    for full in engine.program.counters:
        if (alias := full.rpartition(".")[2]) in COUNTERS:
            for index, cell in named_cells(alias).items():
                if cell.endswith("_RECEIVED") or cell in ("HOLD_BEGUN", "CNP_SENT"):
                    assert engine.counter_read(full, index).packets == 0, cell
    engine.close()


def _check_tunnel(frame: bytes, port: int, tunnel: str) -> None:
    """The customer's own, with a label of his own flow or with none of a flow."""
    datagram = frame[14:]
    assert datagram[0] >> 4 == 6
    assert str(IPv6Address(datagram[8:24])) in SOURCES
    assert str(IPv6Address(datagram[24:40])) == (SIDS[port] if tunnel == "srv6" else FAR_PE)
    label = packets.flow_label_of(datagram)
    assert label == LABELS[port] or not label & FCN_LABEL_BIT
    if tunnel == "vxlan":
        assert int.from_bytes(datagram[52:55]) == 1001 + (port == 5)
    if tunnel == "gre":
        assert int.from_bytes(datagram[44:48]) == 1001 + (port == 5)
