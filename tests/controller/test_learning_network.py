"""Learning without CM on real switches: queue pairs from the reverse path (FCN-3 b)."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from lab import IPV4, IPV6, Lab, wait_for

from fcn.controller.config.model import FlowSettings
from fcn.controller.flows.inference import connection_port
from fcn.controller.northbound.client import FcnClient
from fcn.controller.proto import fcn_pb2 as pb

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")

WRITE, ACK = 0x0A, 0x11
QPS = 16

COMMON = """
import json, socket, sys, time
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
        pass  # the other host's kernel has no RoCE and says so
"""
SEND = (
    COMMON
    + """
start = time.monotonic()
sent = 0
while time.monotonic() - start < spec["seconds"]:
    for qp, link in links.items():
        send(spec["opcode"], link, qp, sent % (1 << 24))
    sent += 1
    time.sleep(spec["pause"])
print(json.dumps({"sent": sent, "seconds": time.monotonic() - start}))
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


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    network = Lab(tmp_path_factory.mktemp("lab"))
    try:
        network.set_up()
        for name in ("pe1", "p1", "pe2"):
            network.start_switch(name)
        network.start_controller()
        wait_for(network.up, "all switches to be up")
        yield network
    finally:
        network.tear_down()


def _start(lab: Lab, host: str, script: str, spec: dict[str, object]) -> "subprocess.Popen[str]":
    command = lab.inside(host, sys.executable, "-c", script, json.dumps(spec))
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@contextmanager
def answering(
    lab: Lab, host: str, to: str, answers: dict[int, int], ports: dict[int, int]
) -> Iterator[None]:
    """A host that acknowledges requests to its queue pairs: `answers` has the peer of each."""
    spec = {"to": to, "opcode": ACK, "answers": answers, "ports": ports}
    with _start(lab, host, ANSWER, spec) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield
        finally:
            process.terminate()


class Sending:
    """A host that sends packets to queue pairs, from a UDP port each, for a while."""

    def __init__(
        self,
        lab: Lab,
        host: str,
        to: str,
        ports: dict[int, int],
        opcode: int,
        seconds: float,
        pause: float,
    ) -> None:
        spec = {"to": to, "opcode": opcode, "ports": ports, "seconds": seconds, "pause": pause}
        self._process = _start(lab, host, SEND, spec)

    def finish(self) -> dict[str, float]:
        """Packets sent to each queue pair, and in how many seconds."""
        output, _ = self._process.communicate()
        assert self._process.returncode == 0
        report: dict[str, float] = json.loads(output)
        return report


def flows(lab: Lab) -> list[pb.Flow]:
    with FcnClient(lab.api) as client:
        return client.flows()


def new_flow_reports(lab: Lab, node: str) -> int:
    """NEW_FLOW events a PE has counted."""
    with FcnClient(lab.api) as client:
        return sum(
            each.packets
            for each in client.counters(node)
            if (each.counter, each.name) == ("events", "NEW_FLOW")
        )


def forget_all(lab: Lab) -> None:
    with FcnClient(lab.api) as client:
        for name in ("pe1", "pe2"):
            client.set_features(name, False)
            client.set_features(name, True)
    wait_for(lambda: flows(lab) == [], "all labels to be released", 20)


@pytest.mark.parametrize("addresses", [IPV4, IPV6], ids=["ipv4", "ipv6"])
def test_queue_pairs_of_many_connections_are_inferred(lab: Lab, addresses: dict[str, str]) -> None:
    """Equal first PSNs, as NCCL has them; the port tells them apart."""
    wait_for(lambda: lab.ping("h1", addresses["h2"]), "the hosts to reach each other", 30)
    qps = {0x100 + i: 0x200 + 3 * i for i in range(QPS)}
    ports = {a: connection_port(a, b) for a, b in qps.items()}
    answers = {b: a for a, b in qps.items()}
    forth = {b: ports[a] for b, a in answers.items()}
    with answering(lab, "h2", addresses["h1"], answers, ports):
        sending = Sending(lab, "h1", addresses["h2"], forth, WRITE, 4, 0.005)
        wait_for(
            lambda: sum(flow.HasField("source_qp") for flow in flows(lab)) == 2 * QPS,
            "every queue pair to be inferred",
            20,
        )
        settled = [new_flow_reports(lab, node) for node in ("pe1", "pe2")]
        sending.finish()
    found = {(flow.node, flow.key.dest_qp): flow for flow in flows(lab)}
    for a, b in qps.items():
        assert (found["pe1", b].source_qp, found["pe1", b].origin) == (a, "inferred")
        assert (found["pe2", a].source_qp, found["pe2", a].origin) == (b, "inferred")
    assert [new_flow_reports(lab, node) for node in ("pe1", "pe2")] == settled
    forget_all(lab)


def test_reports_of_reverse_traffic_are_bounded_by_the_learning_window(lab: Lab) -> None:
    """Responses to nothing stay unknown and watched; a storm of them is a report per window."""
    before = new_flow_reports(lab, "pe2")
    storm = Sending(lab, "h2", IPV4["h1"], {0x42: 0xC042}, ACK, 2, 0.0)
    report = storm.finish()
    wait_for(lambda: len(flows(lab)) == 1, "the flow to be learned", 20)
    assert not flows(lab)[0].HasField("source_qp")
    windows = report["seconds"] * 1e6 / FlowSettings().learning_window
    reports = new_flow_reports(lab, "pe2") - before
    assert report["sent"] > 10 * windows
    assert 1 < reports <= windows + 1
    forget_all(lab)
