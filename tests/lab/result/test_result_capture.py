"""Captures as tshark reads them."""

import subprocess
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from fcn.lab.result.capture import pcap

FIELDS = ("frame.time_epoch", "frame.len", "frame.cap_len", "ip.src", "udp.dstport")


@dataclass(frozen=True)
class Frame:
    time_ns: int
    length: int
    data: bytes


def packet(source: int, octets: int) -> bytes:
    made = Ether() / IP(src=str(IPv4Address(source)), dst="10.0.0.2") / UDP(dport=4791)
    return bytes(made / Raw(bytes(octets)))


def tshark(file: Path) -> list[list[str]]:
    options = [option for field in FIELDS for option in ("-e", field)]
    done = subprocess.run(
        ["tshark", "-r", file, "-T", "fields", *options],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_tshark_reads_times_to_the_nanosecond_and_frames_cut_short(tmp_path: Path) -> None:
    whole, long = packet(0x0A000001, 100), packet(0x0A000003, 4096)
    frames = [
        Frame(1, len(whole), whole),
        Frame(3_000_000_007, len(long), long[:64]),
        Frame(3_000_000_007, len(whole), whole),
    ]
    file = tmp_path / "link.pcap"
    file.write_bytes(pcap(frames))
    assert tshark(file) == [
        ["0.000000001", "142", "142", "10.0.0.1", "4791"],
        ["3.000000007", "4138", "64", "10.0.0.3", "4791"],
        ["3.000000007", "142", "142", "10.0.0.1", "4791"],
    ]


def test_a_capture_of_nothing_is_a_file_without_frames(tmp_path: Path) -> None:
    file = tmp_path / "link.pcap"
    file.write_bytes(pcap([]))
    assert tshark(file) == []
