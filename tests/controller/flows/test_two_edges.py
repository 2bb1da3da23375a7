"""A host behind two PEs: what is known of a flow holds, and ends, at both of them."""

import random
from dataclasses import replace
from typing import Any

import pytest
import yaml
from flow_network import ACK, BACK, FORTH, WRITE, A, B, Network
from tenants import DC_PORT

from fcn.contract.constants import CmAttribute
from fcn.controller.config import parse_config
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import Origin
from fcn.controller.flows.trail import Sample, connection_port


def _maybe_older(flow: Flow, rng: random.Random) -> Flow:
    if rng.random() < 0.8:
        return flow
    return replace(flow, source_qp=None, comm_ids=None, origin=Origin.RESTORED)


class BehindTwo(Network):
    """A is behind both PEs, B behind one."""

    def read_some(self, rng: random.Random) -> None:
        """A new controller, which finds what the PEs have, some of it as if never written."""
        held = {name: list(edge.flows.values()) for name, edge in self.edges.items()}
        for edge in self.edges.values():
            edge.clear()
        self.service = self.controller()
        for name in rng.sample(list(held), 2):
            list(self.service.adopt(name, [_maybe_older(flow, rng) for flow in held[name]]))

    def see_forth(self) -> None:
        for node in self.edges:
            self.service.seen(node, DC_PORT, FORTH)

    def at_each(self) -> dict[str, int | None]:
        """The source queue pair of A's flow, at each PE that labels it."""
        return {
            name: edge.flows[FORTH].source_qp
            for name, edge in self.edges.items()
            if FORTH in edge.flows
        }


@pytest.fixture
def net(network: dict[str, Any]) -> BehindTwo:
    pe2 = network["nodes"]["pe2"]
    pe2["ports"][0]["addresses"].append("10.1.0.1/24")
    routes = pe2["vrfs"]["blue"]["routes"]
    routes[:] = [route for route in routes if route["prefix"] != "10.1.0.0/24"]
    return BehindTwo(parse_config(yaml.safe_dump(network)), room=64)


def test_a_sender_is_learned_at_both(net: BehindTwo) -> None:
    net.see_forth()
    net.connect()
    assert net.at_each() == {"pe1": 17, "pe2": 17}
    net.connect(18, ids=(0xA2, 0xB2))
    net.see_forth()
    net.connect(19, ids=(0xA3, 0xB3))
    assert set(net.at_each().values()) == {19}


def test_an_agent_replaces_a_sender_at_both(net: BehindTwo) -> None:
    net.see_forth()
    net.connect()
    net.see_forth()
    assert net.service.reported(FORTH, 18)
    assert net.at_each() == {"pe1": 18, "pe2": 18}


def test_a_flow_that_falls_silent_at_one_stays_known_at_the_other(net: BehindTwo) -> None:
    net.see_forth()
    port = connection_port(17, 33)
    for psn in range(3):
        for node, key, opcode in (("pe1", FORTH, WRITE), ("pe2", BACK, ACK)):
            net.now += 0.3
            net.service.seen(node, DC_PORT, key, 0xFFFF, Sample(opcode, psn, port))
            net.service.infer()
    assert net.at_each() == {"pe1": 17, "pe2": 17}
    net.service.idle("pe1", FORTH)
    assert net.at_each() == {"pe2": 17}
    assert net.edges["pe2"].flows[BACK].source_qp == 33
    net.service.idle("pe2", BACK)
    assert net.at_each() == {"pe2": None}
    assert net.edges["pe2"].flows[FORTH].origin is Origin.DATA


def test_what_was_inferred_of_a_flow_that_gives_way_is_not_written_again(net: BehindTwo) -> None:
    """In a full table A's flow takes the place of the flow back, of which its sender was drawn."""
    port = connection_port(17, 33)
    for dest_qp in range(100, 163):
        net.service.seen("pe2", DC_PORT, FlowKey("blue", B, A, dest_qp))
        assert net.service.reported(FlowKey("blue", B, A, dest_qp), 1000 + dest_qp)
    for node, key, opcode in (("pe1", FORTH, WRITE), ("pe2", BACK, ACK)):
        net.service.seen(node, DC_PORT, key, sample=Sample(opcode, 5, port))
    net.now += 0.3
    net.service.infer()
    assert net.at_each() == {"pe1": 17}
    net.service.seen("pe2", DC_PORT, FORTH)
    assert BACK not in net.edges["pe2"].flows
    assert net.at_each() == {"pe1": None, "pe2": None}


def test_whatever_happens_both_have_the_same_sender(net: BehindTwo) -> None:
    rng = random.Random(3)
    for _ in range(2000):
        net.now += rng.choice((0.01, 0.3, 5.0))
        node, (src, dst) = rng.choice(("pe1", "pe2")), rng.sample((A, B), 2)
        key = FlowKey("blue", src, dst, rng.randrange(2, 6))
        match rng.randrange(8):
            case 0 | 1:
                sample = Sample(rng.choice((WRITE, ACK)), int(100 * net.now) % 1000, 0xC000)
                net.service.seen(node, DC_PORT, key, 0xFFFF, sample)
            case 2 | 3 | 4:
                attribute = rng.choice((CmAttribute.REQ, CmAttribute.REP, CmAttribute.DREQ))
                net.cm(node, src, dst, attribute, *rng.choices(range(2), k=2), key.dest_qp)
            case 5:
                net.service.reported(key, rng.randrange(2, 6))
            case 6:
                net.service.idle(node, key)
            case _ if rng.random() < 0.1:
                net.read_some(rng)
        net.service.infer()
        one, other = (edge.flows for edge in net.edges.values())
        for both in one.keys() & other.keys():
            assert one[both].source_qp == other[both].source_qp
            assert one[both].watched == other[both].watched
