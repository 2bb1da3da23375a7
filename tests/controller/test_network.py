"""`fcn run` and `fcn` on real switches with hosts in namespaces, including restarts."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml
from network_lab import IPV4, IPV6, TARGETS, Lab, wait_for

from fcn.contract.constants import FCN_LABEL_BIT, CmAttribute
from fcn.controller.northbound.client import FcnClient
from fcn.controller.proto import fcn_pb2 as pb

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")

A_QP, B_QP = 0x11, 0x22


@pytest.fixture(scope="module", params=TARGETS)
def lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    if request.param == "bmv2" and shutil.which("simple_switch_grpc") is None:
        pytest.skip("BMv2 (simple_switch_grpc) is not installed")
    network = Lab(tmp_path_factory.mktemp("lab"), request.param)
    try:
        network.set_up()
        for name in ("pe1", "p1", "pe2"):
            network.start_switch(name)
        network.start_controller()
        wait_for(network.up, "all switches to be up")
        yield network
    finally:
        network.tear_down()


def bth(opcode: int, dest_qp: int) -> bytes:
    """BTH with P_Key 0xffff and PSN 1."""
    return bytes([opcode, 0, 0xFF, 0xFF, 0]) + dest_qp.to_bytes(3, "big") + b"\0\0\0\1"


def cm(attribute: int, local_id: int, remote_id: int, qpn: int) -> bytes:
    """A connection manager message on QP1 (offsets: IBTA volume 1, chapter 12)."""
    message = bytearray(280)
    message[:12] = bth(0x64, 1)
    message[12:16] = (0x80010000).to_bytes(4, "big")
    message[17:20] = (1).to_bytes(3, "big")
    message[20:24] = bytes([1, 7, 2, 3])
    message[36:38] = attribute.to_bytes(2, "big")
    message[44:48] = local_id.to_bytes(4, "big")
    message[48:52] = remote_id.to_bytes(4, "big")
    at = {CmAttribute.REQ: 76, CmAttribute.REP: 56, CmAttribute.DREQ: 52}[CmAttribute(attribute)]
    message[at : at + 3] = qpn.to_bytes(3, "big")
    return bytes(message)


def write_only(dest_qp: int) -> bytes:
    """An RC RDMA WRITE only of 32 octets."""
    return bth(0x0A, dest_qp) + bytes(16) + bytes(32) + bytes(4)


def connect(lab: Lab, addresses: dict[str, str]) -> None:
    """Set up a connection; wait until it is learned and written to the switches."""
    wait_for(partial(lab.ping, "h1", addresses["h2"]), "the hosts to reach each other")
    with FcnClient(lab.api) as client:
        # The messages enter at different PEs; their digests can arrive in another order.
        messages = (event for event in client.events() if event.kind == "cm-message")
        lab.send_roce("h1", addresses["h2"], cm(CmAttribute.REQ, 0xA, 0, A_QP))
        assert next(messages).fields["attribute"] == "REQ"
        lab.send_roce("h2", addresses["h1"], cm(CmAttribute.REP, 0xB, 0xA, B_QP))
        assert next(messages).fields["attribute"] == "REP"
    wait_for(lambda: len(flows(lab)) == 2 and lab.settled(), "both directions to be learned")


def flows(lab: Lab) -> list[pb.Flow]:
    with FcnClient(lab.api) as client:
        return client.flows(counters=True)


def test_hosts_reach_gateways_and_each_other(lab: Lab) -> None:
    """ARP, neighbour discovery, echo; then across SRv6 (IPv4) and VXLAN (IPv6) tunnels."""
    for target in ("10.1.0.1", "2001:db8:1::1", IPV4["h2"], IPV6["h2"]):
        wait_for(partial(lab.ping, "h1", target), f"{target} to answer")
    wait_for(partial(lab.ping, "h2", IPV4["h1"]), "the way back")


@pytest.mark.parametrize("addresses", [IPV4, IPV6], ids=["ipv4", "ipv6"])
def test_connection_is_learned_labelled_and_released(lab: Lab, addresses: dict[str, str]) -> None:
    assert flows(lab) == []
    connect(lab, addresses)
    by_node = {flow.node: flow for flow in flows(lab)}
    forth, back = by_node["pe1"], by_node["pe2"]
    assert (forth.key.dest_qp, forth.source_qp) == (B_QP, A_QP)
    assert (back.key.dest_qp, back.source_qp) == (A_QP, B_QP)
    assert forth.label & FCN_LABEL_BIT
    assert back.label & FCN_LABEL_BIT
    lab.send_roce("h1", addresses["h2"], *[write_only(B_QP)] * 5)
    wait_for(
        lambda: any(flow.packets == 5 for flow in flows(lab) if flow.node == "pe1"),
        "the flow's packets to be counted under its label",
    )
    lab.send_roce("h1", addresses["h2"], cm(CmAttribute.DREQ, 0xA, 0xB, B_QP))
    wait_for(lambda: flows(lab) == [], "the disconnect to release both labels")


def test_flow_without_set_up_has_an_unknown_source(lab: Lab) -> None:
    lab.send_roce("h1", IPV4["h2"], write_only(0x99))
    wait_for(lambda: len(flows(lab)) == 1, "the flow to be learned")
    assert not flows(lab)[0].HasField("source_qp")
    assert "unknown" in lab.fcn("flows", "list").stdout
    (listed,) = json.loads(lab.fcn("flows", "list", "--json").stdout)
    assert (listed["key"]["dest_qp"], listed["origin"]) == (0x99, "data")
    assert "source_qp" not in listed
    done = lab.fcn("flows", "add", "blue", IPV4["h1"], IPV4["h2"], "0x99", "0x77")
    assert done.exit_code == 0, done.stderr
    assert "0x77" in done.stdout
    assert flows(lab)[0].source_qp == 0x77
    assert "0x77" in lab.fcn("flows", "show", hex(flows(lab)[0].label)).stdout
    assert lab.fcn("flows", "del", "blue", IPV4["h1"], IPV4["h2"], "0x99").exit_code == 0
    assert flows(lab) == []


def test_restarted_switch_is_synchronized_and_restarted_controller_keeps_flows(lab: Lab) -> None:
    connect(lab, IPV4)
    labels = {flow.node: flow.label for flow in flows(lab)}
    lab.stop("pe1")
    wait_for(lambda: not lab.up("pe1"), "the controller to miss pe1")
    status = lab.fcn("status")
    assert "away" in status.stdout
    assert status.exit_code == 5
    assert lab.up("p1", "pe2")
    lab.start_switch("pe1")
    wait_for(lab.up, "pe1 to be synchronized")
    assert lab.fcn("status").exit_code == 0
    wait_for(lambda: lab.ping("h1", IPV4["h2"]), "traffic over the restarted switch")
    assert {flow.node: flow.label for flow in flows(lab)} == labels

    assert lab.stop("controller") == 0
    assert lab.fcn("status").exit_code == 4
    wait_for(lambda: lab.ping("h1", IPV4["h2"]), "traffic without a controller")
    lab.start_controller()
    wait_for(lab.up, "the new controller")
    restored = {flow.node: flow for flow in flows(lab)}
    assert {node: flow.label for node, flow in restored.items()} == labels
    assert restored["pe1"].source_qp == A_QP
    assert restored["pe1"].origin == "cm"
    lab.send_roce("h1", IPV4["h2"], cm(CmAttribute.DREQ, 0xA, 0xB, B_QP))
    wait_for(lambda: flows(lab) == [], "the disconnect to release both labels")


def test_commands_for_people_and_scripts(lab: Lab) -> None:
    wait_for(partial(lab.ping, "h1", "10.1.0.1"), "the gateway to answer")
    status = json.loads(lab.fcn("status", "--json").stdout)
    assert {node["name"]: node["state"] for node in status["nodes"]} == dict.fromkeys(
        ("pe1", "p1", "pe2"), "up"
    )
    counters = json.loads(lab.fcn("counters", "pe1", "--json").stdout)
    assert counters["pe1"]["port_rx"]["port 1"]["packets"] > 0
    assert counters["pe1"]["drops"]["FLOW_INTERVAL"]["packets"] == 0
    assert "port_rx" in lab.fcn("counters").stdout

    assert lab.fcn("thresholds", "set", "p1", "2", "4,8,16").exit_code == 0
    shown = json.loads(lab.fcn("thresholds", "show", "p1", "--json").stdout)
    assert {tuple(queue["depths"]) for queue in shown["queues"] if queue["port"] == 2} == {
        (4, 8, 16)
    }

    assert lab.fcn("feature", "disable", "p1").exit_code == 0
    assert "off" in lab.fcn("status").stdout
    assert lab.fcn("feature", "enable", "p1").exit_code == 0
    done = lab.fcn("feature", "disable", "pe1", "translation", "notification")
    assert "put `features: [learning]` into the configuration of pe1" in done.stderr
    status = json.loads(lab.fcn("status", "--json").stdout)
    assert {node["name"]: node["features"] for node in status["nodes"]} == {
        "pe1": ["learning"],
        "p1": ["notification"],
        "pe2": ["learning", "translation", "notification"],
    }
    assert lab.fcn("feature", "enable", "pe1").exit_code == 0
    assert "learning, translation, notification" in lab.fcn("status").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("counters", "pe9"), 1, "the nodes are: pe1, p1, pe2"),
        (("feature", "enable", "pe9"), 1, "there is no node 'pe9'"),
        (("feature", "enable", "p1", "learning"), 1, "a p node, which has: notification"),
        (("feature", "enable", "p1", "everything"), 2, "'learning', 'translation'"),
        (("thresholds", "set", "p1", "2", "8,4"), 1, "rise from level to level"),
        (("thresholds", "set", "p1", "7", "8"), 1, "has no port 7"),
        (("thresholds", "set", "p1", "2", "many"), 2, "is not a queue depth"),
        (("flows", "add", "blue", "10.9.9.9", "10.2.0.20", "5", "6"), 1, "behind no DC port"),
        (("flows", "add", "blue", "no", "10.2.0.20", "5", "6"), 2, "IPv4 or IPv6"),
        (("flows", "del", "blue", "10.1.0.10", "10.2.0.20", "5"), 1, "fcn flows list"),
        (("flows", "show", "0x1"), 1, "no flow has 0x1"),
        (("status", "--api", "127.0.0.1:1"), 4, "fcn run -c network.yaml"),
        (("check", "-c", "/nonexistent.yaml"), 3, "cannot read"),
    ],
)
def test_errors_say_what_to_do(
    lab: Lab, arguments: tuple[str, ...], code: int, reason: str
) -> None:
    done = lab.fcn(*arguments)
    assert done.exit_code == code, done.stderr
    assert reason in " ".join(done.stderr.split())


def test_events_are_shown_as_they_happen(lab: Lab) -> None:
    with FcnClient(lab.api) as client:
        events = client.events()
        lab.fcn("feature", "disable", "p1")
        event = next(event for event in events if event.kind == "features")
        assert (event.node, event.fields["features"]) == ("p1", "")
    lab.fcn("feature", "enable", "p1")


def test_second_controller_is_told_why_it_cannot_start(lab: Lab, tmp_path: Path) -> None:
    other = tmp_path / "network.yaml"
    text = lab.config_file.read_text()
    other.write_text(text.replace(lab.api, "unix:/nonexistent/api"))
    command = [sys.executable, "-m", "fcn.controller.cli.main", "run", "-c", str(other)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "cannot listen on unix:/nonexistent/api" in done.stderr


def test_what_was_learned_is_kept_by_the_next_profile(lab: Lab) -> None:
    """With flow control the nodes get another program, whose modes change by entries alone, and
    without it again that of before."""
    connect(lab, IPV4)
    known = [(flow.node, flow.label, flow.source_qp, flow.origin) for flow in flows(lab)]
    assert len(known) == 2
    for mode in ("service", "flow", "off"):
        config = yaml.safe_load(lab.config_file.read_text())
        lab.config_file.write_text(yaml.safe_dump(config | {"flow_control": mode}))
        assert lab.stop("controller") == 0
        lab.start_controller()
        wait_for(lab.settled, f"all switches to hold mode {mode}")
        assert known == [
            (flow.node, flow.label, flow.source_qp, flow.origin) for flow in flows(lab)
        ]
        wait_for(partial(lab.ping, "h1", IPV4["h2"]), f"traffic in mode {mode}")
    lab.send_roce("h1", IPV4["h2"], cm(CmAttribute.DREQ, 0xA, 0xB, B_QP))
    wait_for(lambda: flows(lab) == [], "the disconnect to release both labels")
