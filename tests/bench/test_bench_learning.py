"""The benchmark of learning: its frames are what hosts send, and it reads its records rightly."""

import os
import struct
import subprocess
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from fcn.bench import learning
from fcn.bench.forwarding import workspace
from fcn.bench.handshakes import INITIATOR_QP, RESPONDER_QP, Site, first_packets, replies, requests
from fcn.bench.learning import percentile
from fcn.bench.network import Installed
from fcn.packets.cm import CmAttribute, CmRep, CmReq, Mad
from fcn.packets.roce import BTH

HERE = Site(IPv4Address("10.1.1.1"), 3, "02:00:00:00:00:01")
THERE = Site(IPv4Address("10.2.1.1"), 3, "02:00:00:00:00:02")


def checked(frame: bytes) -> Ether:
    """The frame, whose IPv4 checksum is right."""
    packet = Ether(frame)
    assert packet[UDP].dport == 4791
    rebuilt = packet.copy()
    del rebuilt[IP].chksum
    assert Ether(bytes(rebuilt))[IP].chksum == packet[IP].chksum
    return packet


def test_a_handshake_is_between_the_hosts_and_queue_pairs_of_its_number() -> None:
    request = checked(list(requests(HERE, THERE, 5))[4])
    assert (request[IP].src, request[IP].dst) == ("10.1.1.2", "10.2.1.2")
    assert request[Mad].attribute == CmAttribute.REQ
    assert request[CmReq].local_qpn == INITIATOR_QP + 4
    reply = checked(list(replies(HERE, THERE, 5))[4])
    assert (reply[IP].src, reply[IP].dst) == ("10.2.1.2", "10.1.1.2")
    assert reply[Mad].attribute == CmAttribute.REP
    assert reply[CmRep].local_qpn == RESPONDER_QP + 4
    assert reply[CmRep].remote_comm_id == request[CmReq].local_comm_id


def test_first_packets_are_of_one_flow_each() -> None:
    packets = [checked(frame) for frame in first_packets(HERE, THERE, 4)]
    assert [packet[BTH].dqpn for packet in packets] == [RESPONDER_QP + n for n in range(4)]


def test_of_an_entry_written_twice_the_first_counts(tmp_path: Path) -> None:
    record = tmp_path / "record"
    record.write_text(
        "10 sender 524289 17\n11 label 1 2 3 33 524289\n12 label 1 2 3 33 524290\n13 label 1 2"
    )
    found = Installed.read(record)
    assert found.labels == {(1, 2, 3, 33): (11, 524289)}
    assert found.senders == {524289: (10, 17)}


def test_what_is_never_learned_is_later_than_all_others() -> None:
    never = float("inf")
    assert percentile([0.001] * 99 + [never], 0.99) == 1.0
    assert percentile([0.001] * 98 + [never] * 2, 0.99) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="raw sockets need root")
def test_every_frame_that_is_due_is_sent_however_late(tmp_path: Path) -> None:
    frames = tmp_path / "frames"
    frames.write_bytes(struct.pack("!H", 60) + bytes(60))
    longer_than_all = "0.2"
    with workspace() as (blaster, _):
        command = [str(blaster), "lo", str(frames), "0.05", "1000", longer_than_all]
        said = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    assert said.split()[0] == "50"


def test_wrong_options(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def entered(*arguments: object) -> None:
        raise AssertionError(f"nothing is to be started: {arguments}")

    monkeypatch.setattr(learning, "enter", entered)
    monkeypatch.setattr("sys.argv", ["learning", "--baseline", "NONSENSE"])
    with pytest.raises(SystemExit) as ended:
        learning.main()
    assert ended.value.code == 2
    assert "NONSENSE" in capsys.readouterr().err
