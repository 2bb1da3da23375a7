"""A P node between two senders and a sink that asks it to hold one of their flows (SRF-7)."""

from ipaddress import IPv6Address, IPv6Network

from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from fcn.contract.pipeline import load_pipeline
from fcn.controller.config.base import RateLimit
from fcn.controller.config.holding import Holding
from fcn.controller.config.modes import FlowControlMode
from fcn.controller.owners.flow_control import FlowControl, HoldNeighbor
from fcn.controller.owners.intent import Intent
from fcn.controller.owners.tables import Tables
from fcn.controller.owners.underlay import Adjacency, Underlay
from fcn.controller.provision.limits import recirculate
from fcn.controller.provision.ports import admit_core, take_frames
from fcn.controller.provision.recognition import expect
from fcn.packets.arn import ARN_HOP_LIMIT, ARN_PORT, Arn, ArnType, Parameter

SIZE = 1500
"""Octets of a packet."""
PORTS = {"held": 1, "other": 2, "sink": 3}
ADDRESS = IPv6Address("fc00:0:10::1")
SOURCES = {
    "held": IPv6Address("fc00:0:1::1"),
    "other": IPv6Address("fc00:0:3::1"),
}
"""Where the tunnel of each flow begins."""
SINK = IPv6Address("fc00:0:2::1")
SEQUENCE = 8
"""Octets of a packet's number, behind the IPv6 header."""
ETHERNET_OCTETS, IPV6_OCTETS = 14, 40
OCTETS_BEFORE_PACKET = ETHERNET_OCTETS + IPV6_OCTETS
_SOURCE = slice(ETHERNET_OCTETS + 8, ETHERNET_OCTETS + 24)
_FLOWS = {source.packed: flow for flow, source in SOURCES.items()}


def flow_of(data: bytes) -> str | None:
    """The flow of a frame, None for other frames."""
    return _FLOWS.get(data[_SOURCE])


def number_of(data: bytes) -> int:
    return int.from_bytes(data[OCTETS_BEFORE_PACKET:][:SEQUENCE], "big")


def mac(port: int, own: bool) -> int:
    """Of a port of the node (own), or of what is behind it."""
    return 0x02_00_00_00_00_00 | own << 8 | port


def data_frame(flow: str, port: int, number: int) -> bytes:
    """A tunnelled packet of a flow with a number, as it arrives at this port."""
    payload = number.to_bytes(SEQUENCE, "big").ljust(SIZE - IPV6_OCTETS, b"\0")
    source = str(SOURCES[flow])
    header = bytes(IPv6(src=source, dst=str(SINK), nh=41, plen=len(payload), tc=2))
    return (
        mac(port, True).to_bytes(6, "big")
        + mac(port, False).to_bytes(6, "big")
        + (b"\x86\xdd" + header + payload)
    )


def arn_frame(kind: ArnType, time_us: int) -> bytes:
    """The sink's neighbour asks to hold the flow "held", or no longer."""
    message = Arn(
        type=kind, para_type=Parameter.FIVE_TUPLE | Parameter.TIME, protocol=0,
        src6=str(SOURCES["held"]), dst6=str(SINK), time=time_us,
    )  # fmt: skip
    port = PORTS["sink"]
    macs = [
        ":".join(f"{octet:02x}" for octet in mac(port, own).to_bytes(6, "big"))
        for own in (False, True)
    ]
    packet = IPv6(src=str(SINK), dst=str(ADDRESS), hlim=ARN_HOP_LIMIT)
    packet /= UDP(sport=49152, dport=ARN_PORT) / Raw(bytes(message))
    return bytes(Ether(src=macs[0], dst=macs[1]) / packet)


def entries(holding: Holding) -> Intent:
    """What the node needs to forward to the sink, and to hold for it."""
    pipeline = load_pipeline("p")
    intent = Intent(pipeline.schema)
    tables = Tables(intent)
    for port in PORTS.values():
        admit_core(tables, port)
        take_frames(tables, port, mac(port, True))
    recirculate(tables)
    tables.put("endpoint", {"dst": ADDRESS}, "local_address")
    sink = PORTS["sink"]
    hop = Adjacency(sink, mac(sink, True), mac(sink, False))
    Underlay(intent).route(IPv6Network((SINK, 48), strict=False), [hop])
    expect(tables, "ARN", holding.udp_port)
    control = FlowControl(intent)
    control.turn_on(FlowControlMode.SERVICE, holding, RateLimit(), SIZE)
    neighbor = HoldNeighbor(SINK, mac(sink, False), ADDRESS, mac(sink, True))
    control.know({sink: neighbor}, holding)
    return intent
