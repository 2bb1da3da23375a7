"""Captures as tshark reads them."""

import subprocess
from ipaddress import IPv4Address
from pathlib import Path

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from fcn.lab.result.capture import Captured, pcap
from fcn.lab.result.folder import save
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import make_scenario

FIELDS = ("frame.time_epoch", "frame.len", "frame.cap_len", "ip.src", "udp.dstport")


def packet(source: int, octets: int) -> bytes:
    made = Ether() / IP(src=str(IPv4Address(source)), dst="10.0.0.2") / UDP(dport=4791)
    return bytes(made / Raw(bytes(octets)))


def tshark(file: Path, *fields: str) -> list[list[str]]:
    options = [option for field in fields for option in ("-e", field)]
    done = subprocess.run(
        ["tshark", "-r", file, "-T", "fields", *options],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_tshark_reads_times_to_the_nanosecond_and_frames_cut_short(tmp_path: Path) -> None:
    whole, long = packet(0x0A000001, 100), packet(0x0A000003, 4096)
    frames = [
        Captured(1, "p1", "p2", len(whole), whole),
        Captured(3_000_000_007, "p1", "p2", len(long), long[:64]),
        Captured(3_000_000_007, "p1", "p2", len(whole), whole),
    ]
    file = tmp_path / "link.pcap"
    file.write_bytes(pcap(frames))
    assert tshark(file, *FIELDS) == [
        ["0.000000001", "142", "142", "10.0.0.1", "4791"],
        ["3.000000007", "4138", "64", "10.0.0.3", "4791"],
        ["3.000000007", "142", "142", "10.0.0.1", "4791"],
    ]


def test_a_capture_of_nothing_is_a_file_without_frames(tmp_path: Path) -> None:
    file = tmp_path / "link.pcap"
    file.write_bytes(pcap([]))
    assert tshark(file, *FIELDS) == []


def test_a_link_of_a_run_is_captured_whole(tmp_path: Path) -> None:
    """As many frames as the link counted, in order, RoCEv2 in SRv6; captured as they arrive."""
    plan = make_scenario(
        {
            "network": "dumbbell",
            "duration": "3500us",
            "hosts": {"mtu": 1024},
            "traffic": [{"pattern": "messages", "from": ["h1"], "to": ["h5"], "size": "64kB"}],
            "measure": {"interval": "100us", "pcap": [["p1", "p2"]], "snap": 200},
        }
    )
    result = run_scenario(plan)
    save(result, tmp_path / "result")
    frames = tshark(tmp_path / "result" / "p1-to-p2.pcap", "frame.time_epoch", "infiniband.bth.psn")
    link = result.links[(result.links["node"] == "p1") & (result.links["towards"] == "p2")]
    packets = result.connections["packets"].sum()
    assert len(frames) == link["frames"].max() == packets == 63
    numbers = [int(psn) for _, psn in frames]
    assert numbers == list(range(numbers[0], numbers[0] + 63))
    times = [float(time) for time, _ in frames]
    assert times == sorted(times)
    assert 0.0005 < times[0] < 0.0006, "100 km from the host"
