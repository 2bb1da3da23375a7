"""packets/wireshark/fcn.lua, as tshark runs it (Debian package tshark)."""

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import UDP
from scapy.layers.inet6 import ICMPv6PacketTooBig, IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import wrpcap

from fcn.packets.arn import ARN_HOP_LIMIT, ARN_PORT, Arn, ArnType, Parameter
from fcn.packets.fantel import FANTEL_PORT, Event, Fantel, FantelIcmpv6
from fcn.packets.fantel_tlvs import (
    BufferStatus,
    Cause,
    DeviceLoad,
    FailureCause,
    FiveTuple,
    LinkUtilization,
    Origin,
    PathId,
)
from fcn.packets.fast_cnp import FAST_CNP_PORT
from fcn.packets.roce import CNP_RESERVED, ROCEV2_PORT, Opcode
from fcn.ptf_tests.lib import vectors
from fcn.ptf_tests.lib.captures import SOFTROCE
from fcn.ptf_tests.lib.packets import (
    BECN,
    ethernet,
    fast_cnp,
    gre,
    mpls_udp,
    roce,
    srv6,
    udp,
    vxlan,
)

pytestmark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is not installed (Debian package tshark)"
)

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "packets" / "wireshark" / "fcn.lua"
PE, P = "2001:db8::1", "2001:db8::2"
SENDER, RECEIVER = "10.0.0.10", "10.1.0.1"
MAC_A, MAC_B = "02:00:00:00:00:01", "02:00:00:00:00:02"
CNP_V4, CNP_V6, CNP_REAL = (vector.datagram for vector in vectors.CNP_VECTORS)
CNP_QP = 0x118
ORIGIN = Origin(node=2, link=3, epoch=1000, sequence=7)


def _frame(datagram: bytes, vlan: int = 0) -> bytes:
    return ethernet(datagram, src=MAC_A, dst=MAC_B, vlan=vlan)


def _tshark(capture: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["tshark", "-n", "-X", f"lua_script:{SCRIPT}", "-r", capture, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "HOME": str(capture.parent)},
        check=True,
    )
    assert "Lua" not in done.stdout + done.stderr
    return done.stdout


def _dissect(frames: Sequence[bytes], directory: Path, *options: str) -> list[dict[str, Any]]:
    """The layers tshark sees in each frame."""
    capture = directory / "built.pcap"
    wrpcap(str(capture), [Ether(frame) for frame in frames])
    output = _tshark(capture, "-T", "json", *options)
    return [packet["_source"]["layers"] for packet in json.loads(output)]


def _columns(frames: Sequence[bytes], directory: Path) -> list[list[str]]:
    """Protocol, Info and expert messages of each frame."""
    fields = ("_ws.col.Protocol", "_ws.col.Info", "_ws.expert.message")
    return _fields(frames, directory, fields)


def _fields(frames: Sequence[bytes], directory: Path, fields: Iterable[str]) -> list[list[str]]:
    """The last value of each field in each frame."""
    capture = directory / "built.pcap"
    wrpcap(str(capture), [Ether(frame) for frame in frames])
    chosen = [part for field in fields for part in ("-e", field)]
    output = _tshark(capture, "-T", "fields", "-E", "occurrence=l", *chosen)
    return [line.split("\t") for line in output.split("\n")[:-1]]


def test_fast_cnp_fields(tmp_path: Path) -> None:
    labels = [0x80000, 0x8A1B2, 0xFFFFF]
    frames = [_frame(fast_cnp(P, PE, label, level)) for label in labels for level in range(8)]
    layers = _dissect(frames, tmp_path)
    seen = [
        (int(each["fast_cnp"]["fast_cnp.label"], 16), int(each["fast_cnp"]["fast_cnp.level"]))
        for each in layers
    ]
    assert seen == [(label, level) for label in labels for level in range(8)]
    assert not any("expert" in json.dumps(each["fast_cnp"]) for each in layers)


def test_fast_cnp_of_a_wrong_length_is_malformed(tmp_path: Path) -> None:
    sizes = (1, 2, 3, 5, 6, 64)
    frames = [_frame(udp(P, PE, 1, FAST_CNP_PORT, bytes(size))) for size in sizes]
    for size, (protocol, info, expert) in zip(sizes, _columns(frames, tmp_path), strict=True):
        assert (protocol, info) == ("FastCNP", f"Malformed Fast CNP, {size} octets")
        assert expert.startswith("Malformed: a Fast CNP is 4 octets")
    assert not any("fast_cnp.label" in each["fast_cnp"] for each in _dissect(frames, tmp_path))


def test_fast_cnp_with_reserved_bits_or_a_foreign_label(tmp_path: Path) -> None:
    frames = [
        _frame(fast_cnp(P, PE, 0x8A1B2, 5)),
        _frame(fast_cnp(P, PE, 0x80001, 1, reserved=0x101)),
        _frame(fast_cnp(P, PE, 0x00001, 1)),
    ]
    whole, reserved, foreign = _columns(frames, tmp_path)
    assert whole == ["FastCNP", "Fast CNP: flow label 0x8a1b2, level 5", ""]
    assert reserved[2].startswith("Reserved bits are not zero")
    assert foreign[2].startswith("The label has the top bit clear")


def test_the_port_is_a_preference(tmp_path: Path) -> None:
    """A source port does not make a Fast CNP."""
    frames = [_frame(fast_cnp(P, PE, 0x80001, 1, dport=port)) for port in (1021, 2021)]
    frames.append(_frame(udp(P, PE, FAST_CNP_PORT, 9, bytes(4))))
    default = _dissect(frames, tmp_path)
    assert ["fast_cnp" in each for each in default] == [True, False, False]
    moved = _dissect(frames, tmp_path, "-o", "fast_cnp.port:2021")
    assert ["fast_cnp" in each for each in moved] == [False, True, False]


def test_cnps_are_shown_by_name_also_in_tunnels(tmp_path: Path) -> None:
    frames = [
        _frame(CNP_V4),
        _frame(CNP_V6),
        _frame(CNP_REAL),
        _frame(CNP_V4, vlan=5),
        _frame(srv6(CNP_V4, PE, P)),
        _frame(srv6(CNP_V6, PE, P, [P, PE], 2)),
        _frame(vxlan(CNP_V6, PE, P, 7, inner_src_mac=MAC_A, inner_dst_mac=MAC_B, sport=50000)),
        _frame(gre(CNP_V4, PE, P, 7)),
        _frame(mpls_udp(CNP_V6, PE, P, [16, 17], sport=50000)),
    ]
    wanted = ["RoCEv2 CNP", f"CNP: slow down QP 0x{CNP_QP:06x}", ""]
    assert _columns(frames, tmp_path) == [wanted] * len(frames)
    for frame, layers in zip(frames, _dissect(frames, tmp_path), strict=True):
        cnp = layers["roce_cnp"]
        assert int(cnp["roce_cnp.qp"], 16) == CNP_QP
        assert cnp["roce_cnp.becn"] in ("1", "True")
        assert cnp["roce_cnp.fecn"] in ("0", "False")
        assert int(cnp["roce_cnp.icrc"], 16) == int.from_bytes(frame[-4:], "little")


def test_odd_cnps_are_flagged(tmp_path: Path) -> None:
    def cnp_like(payload: bytes, becn: int = BECN) -> bytes:
        return _frame(roce(SENDER, RECEIVER, 5, opcode=Opcode.CNP, payload=payload, fecn_becn=becn))

    frames = [cnp_like(CNP_RESERVED, becn=0), cnp_like(bytes(15) + b"\1")]
    frames += [cnp_like(bytes(size)) for size in (0, 4, 12, 20)]
    columns = _columns(frames, tmp_path)
    assert columns[0][2] == "BECN is clear"
    assert columns[1][2] == "The 16 octets behind the BTH are not zero"
    for _, info, expert in columns[2:]:
        assert info == "Malformed CNP"
        assert expert.startswith("Malformed: a CNP is 32 octets")


def test_truncation_at_every_octet_is_no_error_of_the_script(tmp_path: Path) -> None:
    """`_tshark` fails on any Lua error."""
    payload = CNP_V4[28:]
    frames = [
        _frame(udp(SENDER, RECEIVER, 1, ROCEV2_PORT, payload[:size]))
        for size in range(len(payload))
    ]
    assert not any("slow down" in info for _, info, _ in _columns(frames, tmp_path))


def test_real_traffic_has_neither_and_stays_as_it_was(tmp_path: Path) -> None:
    capture = tmp_path / SOFTROCE.name
    capture.write_bytes(SOFTROCE.read_bytes())
    assert _tshark(capture, "-Y", "fast_cnp || roce_cnp") == ""
    opcodes = _tshark(capture, "-T", "fields", "-e", "infiniband.bth.opcode").split()
    assert Counter(opcodes)[str(int(Opcode.UD_SEND_ONLY))] == 20
    assert len(opcodes) == 404


def test_arn_fields(tmp_path: Path) -> None:
    service = Arn(
        para_type=Parameter.FIVE_TUPLE | Parameter.PATH_ID | Parameter.TIME,
        label=0x8CAFE, protocol=41, src6=PE, dst6=P, path_id=5, time=500,
    )  # fmt: skip
    priority = Arn(type=ArnType.ELIMINATED, para_type=Parameter.PRIORITY, priority=3)
    layers = _dissect([_arn(bytes(service)), _arn(bytes(priority), 64)], tmp_path)
    first, second = (layer["arn"] for layer in layers)
    assert first["arn.type"] == "1"
    assert (first["arn.label"], first["arn.protocol"]) == ("0x0008cafe", "41")
    assert (first["arn.src6"], first["arn.dst6"]) == (PE, P)
    assert (first["arn.path"], first["arn.time"]) == ("5", "500")
    assert second["arn.priority"] == "3"
    assert "arn.hop_limit" not in str(first)
    assert "arn.hop_limit" in str(second)


def test_malformed_arns_are_shown_as_such(tmp_path: Path) -> None:
    sound = bytes(Arn(para_type=Parameter.FIVE_TUPLE | Parameter.TIME, src6=PE, dst6=P, time=1))
    frames = [_arn(sound[:length]) for length in range(1, len(sound))]
    frames += [_arn(sound + b"\0"), _arn(b"\x03" + sound[1:]), _arn(bytes(Arn(para_type=0x18)))]
    for frame, (protocol, info, message) in zip(frames, _columns(frames, tmp_path), strict=True):
        assert (protocol, info.partition(",")[0]) == ("ARN", "Malformed ARN"), frame.hex()
        assert message.startswith("Malformed")


def _arn(message: bytes, hop_limit: int = ARN_HOP_LIMIT) -> bytes:
    packet = IPv6(src=P, dst=PE, hlim=hop_limit) / UDP(sport=49152, dport=ARN_PORT) / Raw(message)
    return _frame(bytes(packet))


@pytest.mark.parametrize("form", [Fantel, FantelIcmpv6])
def test_fantel_fields(tmp_path: Path, form: type[Packet]) -> None:
    inner = FiveTuple(
        ip_version=4, label=7, protocol=17, src4=SENDER, dst4=RECEIVER, sport=9, dport=4791
    )
    cause = FailureCause(cause=Cause.NEIGHBOR_SILENT)
    failure = form(event=Event.FAILURE, parameters=[ORIGIN, PathId(path_id=5), inner, cause])
    outer = FiveTuple(label=0x8CAFE, protocol=41, src6=PE, dst6=P)
    buffer = BufferStatus(queue=1, level=6, depth=48)
    congestion = form(event=Event.CONGESTION, parameters=[ORIGIN, outer, buffer])
    load = form(
        event=Event.LOAD,
        parameters=[ORIGIN, LinkUtilization(permille=905), DeviceLoad(permille=250)],
    )
    messages = [failure, congestion, load]
    common = {"version": "0", "node": "2", "link": "3", "epoch": "1000", "sequence": "7"}
    wanted = [
        {
            "type": "1", "code": "0x0f", **common, "path": "5", "ip_version": "4",
            "label": "0x00000007", "protocol": "17", "src": SENDER, "dst": RECEIVER,
            "sport": "9", "dport": "4791", "cause": "2",
        },
        {
            "type": "3", "code": "0x15", **common, "ip_version": "6", "label": "0x0008cafe",
            "protocol": "41", "src6": PE, "dst6": P, "sport": "0", "dport": "0",
            "queue": "1", "level": "6", "depth": "48",
        },
        {"type": "5", "code": "0x61", **common, "utilization": "905", "load": "250"},
    ]  # fmt: skip
    frames = [_frame(_fantel(message)) for message in messages]
    names = sorted({name for each in wanted for name in each})
    rows = _fields(frames, tmp_path, [f"fantel.{name}" for name in names])
    for each, row in zip(wanted, rows, strict=True):
        assert dict(zip(names, row, strict=True)) == {name: each.get(name, "") for name in names}
    assert [columns[:2] for columns in _columns(frames, tmp_path)] == [
        [
            "FANTEL",
            "FANTEL: failure, node 2, link 3, message 1000.7, path 5, five-tuple, neighbour silent",
        ],
        [
            "FANTEL",
            "FANTEL: congestion, node 2, link 3, message 1000.7, five-tuple, queue 1 at level 6",
        ],
        ["FANTEL", "FANTEL: load, node 2, link 3, message 1000.7, link at 90.5 %, node at 25.0 %"],
    ]


@pytest.mark.parametrize("form", [Fantel, FantelIcmpv6])
def test_malformed_fantel_messages_are_shown_as_such(tmp_path: Path, form: type[Packet]) -> None:
    tlvs = [ORIGIN, PathId(), FiveTuple(), FailureCause(), LinkUtilization()]
    sound = bytes(form(parameters=tlvs))
    header = 4 if form is Fantel else 8
    # Of the ICMPv6 form the first octets are Wireshark's own header.
    messages: list[bytes | Packet] = [sound[:size] for size in range(header, len(sound))]
    messages += [sound + b"\0", form(version=1, parameters=[ORIGIN])]
    messages += [form(event=event, parameters=[ORIGIN]) for event in (0, 6)]
    messages += [form(code=code, parameters=[ORIGIN]) for code in (0, 3, 0x81)]
    messages += [form(parameters=[PathId(), ORIGIN]), form(parameters=[PathId()])]
    odd = [
        PathId(tlv_version=1), PathId(tlv_length=0), PathId(tlv_length=5), FiveTuple(ip_version=5),
        FiveTuple(tlv_length=16), BufferStatus(level=8), LinkUtilization(permille=1001),
        DeviceLoad(permille=1001),
    ]  # fmt: skip
    messages += [form(parameters=[ORIGIN, tlv]) for tlv in odd]
    frames = [
        _frame(_fantel(each if isinstance(each, Packet) else Raw(each), form)) for each in messages
    ]
    for frame, (protocol, info, message) in zip(frames, _columns(frames, tmp_path), strict=True):
        assert (protocol, info.partition(",")[0]) == ("FANTEL", "Malformed FANTEL"), frame.hex()
        assert message.startswith("Malformed: "), frame.hex()


def test_fantel_is_told_from_other_messages(tmp_path: Path) -> None:
    udp_form, icmpv6_form = (_fantel(form(parameters=[ORIGIN])) for form in (Fantel, FantelIcmpv6))
    quoted = bytes(IPv6(src=PE, dst=P) / ICMPv6PacketTooBig() / Raw(icmpv6_form))
    moved = _fantel(Fantel(parameters=[ORIGIN]), dport=2021)
    from_port = udp(P, PE, FANTEL_PORT, 9, bytes(4))
    frames = [_frame(each) for each in (udp_form, icmpv6_form, quoted, moved, from_port)]
    seen = ["fantel" in layers for layers in _dissect(frames, tmp_path)]
    assert seen == [True, True, False, False, False]
    seen = ["fantel" in layers for layers in _dissect(frames, tmp_path, "-o", "fantel.port:2021")]
    assert seen == [False, True, False, True, False]


def test_fantel_messages_cut_short_by_the_capture_are_not_called_malformed(tmp_path: Path) -> None:
    capture = tmp_path / "cut.pcap"
    whole = [
        _frame(_fantel(form(parameters=[ORIGIN, PathId()]))) for form in (Fantel, FantelIcmpv6)
    ]
    cut = [Ether(frame[:-4]) for frame in whole]
    for packet, frame in zip(cut, whole, strict=True):
        packet.wirelen = len(frame)
    wrpcap(str(capture), cut)
    info = _tshark(capture, "-T", "fields", "-e", "_ws.col.Info", "-e", "fantel.malformed")
    assert info.splitlines() == ["FANTEL, cut short in the capture\t"] * 2


def _fantel(message: Packet, form: type[Packet] | None = None, dport: int = FANTEL_PORT) -> bytes:
    header = IPv6(src=P, dst=PE, nh=58)
    if (form or type(message)) is Fantel:
        header = IPv6(src=P, dst=PE) / UDP(sport=49152, dport=dport)
    return bytes(header / message)
