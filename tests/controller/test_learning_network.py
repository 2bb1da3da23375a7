"""Learning without CM on real switches: queue pairs from the reverse path (FCN-3 b). That it works
there; tests/lab/control/test_inferred_sources.py says more, in virtual time."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from network_lab import IPV4, Lab, wait_for

from fcn.controller.flows.trail import connection_port
from fcn.controller.northbound.client import FcnClient
from fcn.controller.proto import fcn_pb2 as pb

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
    pytest.mark.exhaustive,
]

WRITE, ACK = 0x0A, 0x11
QPS = 16

COMMON = """
import json, socket, sys
spec = json.loads(sys.argv[1])
family = socket.AF_INET6 if ":" in spec["to"] else socket.AF_INET
def link(port):
    made = socket.socket(family, socket.SOCK_DGRAM)
    made.bind(("", port))
    made.connect((spec["to"], 4791))
    return made
links = {int(qp): link(port) for qp, port in spec["ports"].items()}
def send(opcode, link, qp, psn):
    head = bytes([opcode, 0, 0xFF, 0xFF, 0]) + qp.to_bytes(3, "big") + psn.to_bytes(4, "big")
    try:
        link.send(head + bytes(20))
    except ConnectionRefusedError:
        pass  # ICMP port unreachable: the other host's kernel has no RoCE
"""
SEND = (
    COMMON
    + """
import select
sent = 0
while not select.select([sys.stdin], [], [], spec["pause"])[0]:
    for qp, link in links.items():
        send(spec["opcode"], link, qp, sent % (1 << 24))
    sent += 1
"""
)
ANSWER = (
    COMMON
    + """
requests = socket.socket(family, socket.SOCK_DGRAM)
requests.bind(("", 4791))
print("ready", flush=True)
while True:
    packet, _ = requests.recvfrom(2048)
    qp = spec["answers"][str(int.from_bytes(packet[5:8], "big"))]
    send(spec["opcode"], links[qp], qp, int.from_bytes(packet[9:12], "big"))
"""
)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """The network, with reachable hosts."""
    network = Lab(tmp_path)
    try:
        network.set_up()
        for name in ("pe1", "p1", "pe2"):
            network.start_switch(name)
        network.start_controller()
        wait_for(network.up, "all switches to be up")
        wait_for(partial(network.ping, "h1", IPV4["h2"]), "h1 to reach h2")
        yield network
    finally:
        network.tear_down()


def _start(lab: Lab, host: str, script: str, spec: dict[str, object]) -> "subprocess.Popen[str]":
    command = lab.inside(host, sys.executable, "-c", script, json.dumps(spec))
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@contextmanager
def answering(
    lab: Lab, host: str, to: str, answers: dict[int, int], ports: dict[int, int]
) -> Iterator[None]:
    """A host that acknowledges requests to its queue pairs: `answers` maps each to its peer."""
    spec = {"to": to, "opcode": ACK, "answers": answers, "ports": ports}
    with _start(lab, host, ANSWER, spec) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield
        finally:
            process.terminate()


@contextmanager
def sending(
    lab: Lab, host: str, to: str, ports: dict[int, int], opcode: int, pause: float
) -> Iterator[None]:
    """A host that sends packets to queue pairs, from a UDP port each, `pause` seconds apart."""
    spec = {"to": to, "opcode": opcode, "ports": ports, "pause": pause}
    with _start(lab, host, SEND, spec) as process:
        try:
            yield
            assert process.poll() is None, "the sender ended early"
        finally:
            process.terminate()


def flows(lab: Lab, *, counters: bool = False) -> list[pb.Flow]:
    with FcnClient(lab.api) as client:
        return client.flows(counters=counters)


def packets(lab: Lab, dest_qp: int) -> int:
    """Packets a PE has counted under the label of a flow."""
    return sum(each.packets for each in flows(lab, counters=True) if each.key.dest_qp == dest_qp)


def test_queue_pairs_of_many_connections_are_inferred(lab: Lab) -> None:
    """Equal first PSNs, as with NCCL; the UDP source port distinguishes the connections."""
    qps = {0x100 + i: 0x200 + 3 * i for i in range(QPS)}
    ports = {a: connection_port(a, b) for a, b in qps.items()}
    answers = {b: a for a, b in qps.items()}
    forth = {b: ports[a] for b, a in answers.items()}
    with (
        answering(lab, "h2", IPV4["h1"], answers, ports),
        sending(lab, "h1", IPV4["h2"], forth, WRITE, 0.005),
    ):
        # A controller that lags by more than half a second may not tell answers apart, concludes
        # nothing and looks again later: traffic has to go on until then.
        wait_for(
            lambda: sum(flow.HasField("source_qp") for flow in flows(lab)) == 2 * QPS,
            "every queue pair to be inferred",
        )
        wait_for(lab.settled, "the switches to have the queue pairs")
        last = max(qps.values())
        counted = packets(lab, last)
        wait_for(lambda: packets(lab, last) >= counted + 100, "traffic to go on")
    found = {(flow.node, flow.key.dest_qp): flow for flow in flows(lab)}
    for a, b in qps.items():
        assert (found["pe1", b].source_qp, found["pe1", b].origin) == (a, "inferred")
        assert (found["pe2", a].source_qp, found["pe2", a].origin) == (b, "inferred")
