"""A neighbour that may ask a P to hold says anything, at random, while another one has the P hold
something for it (SRF-7)."""

from collections import Counter
from dataclasses import dataclass
from random import Random

import pytest
import yaml
from domain_modes import HOLDING, LINKS, network

from fcn.contract.constants import compiled_programs
from fcn.contract.names import COUNTERS, named_cells
from fcn.contract.targets import V1MODEL
from fcn.controller.config import parse_config
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.notation import format_mac
from fcn.lab.entries import provision_of, write_entries
from fcn.packets.arn import Arn, ArnType, Parameter
from fcn.ptf_tests.lib.packets import Ecn, arn, ethernet, roce, srv6
from fcn.ptf_tests.lib.tunnels import customer_label
from fcn.softswitch.api import PortQueue
from fcn.softswitch.engine import MemoryEngine, load_program

NODE, HONEST, HOSTILE = "p1", "pe1", "p2"
PORTS = {HONEST: 1, HOSTILE: 2}
PES = {HONEST: "2001:db8:0:ff::1", HOSTILE: "2001:db8:0:ff::2"}
"""Behind each of them."""
STEPS = 1_000
AGAIN = 20
"""Steps until the honest one asks again, for longer than these take."""
MARK = b"numbered"
PARKING_PPS = 1_000_000
OVER_NS = 200_000_000
"""After which all holds have ended and what waited has left."""
MAX_TIME = 0xFFFFFFFF


@dataclass(frozen=True)
class Flow:
    """Of a customer of its own, with a priority of its own, on its way to a neighbour."""

    to: str
    number: int

    @property
    def ends(self) -> tuple[str, str]:
        """Addresses of the tunnel."""
        (near,) = (pe for name, pe in PES.items() if name != self.to)
        return near, f"2001:db8:0:{PORTS[self.to]}::{0x40 + self.number:x}"

    def datagram(self, number: int) -> bytes:
        """One of its packets."""
        payload = MARK + number.to_bytes(4)
        inner = roce("10.0.0.1", "10.0.0.2", 0x100 + self.number, payload=payload)
        return srv6(inner, *self.ends, traffic_class=self.number << 5 | Ecn.ECT0)

    def arn(self, mode: str, kind: ArnType, time: int) -> Arn:
        """A message about it, in this mode."""
        src, dst = self.ends
        if mode == "priority":
            what = Parameter.PRIORITY | Parameter.TIME
            return Arn(type=kind, para_type=int(what), priority=self.number, time=time)
        what = Parameter.FIVE_TUPLE | Parameter.TIME
        if mode == "service":
            return Arn(
                type=kind, para_type=int(what), ip_version=6, protocol=0, src6=src, dst6=dst,
                time=time,
            )  # fmt: skip
        udp = self.datagram(0)[60:64]
        return Arn(
            type=kind, para_type=int(what), ip_version=4, label=customer_label(dst), protocol=17,
            src4="10.0.0.1", dst4="10.0.0.2", sport=int.from_bytes(udp[:2]),
            dport=int.from_bytes(udp[2:]), time=time,
        )  # fmt: skip


FLOWS = [Flow(to, number) for to in PORTS for number in range(8)]
HELD = Flow(HONEST, 0)


def _anything(rng: Random, mode: str) -> Arn:
    """Of a flow that there is, one way or the other, or of one of thousands."""
    kind = rng.choice(list(ArnType)[:2])
    time = rng.choice((0, 1, 1_000, MAX_TIME, MAX_TIME, rng.getrandbits(32)))
    flow = rng.choice((*FLOWS, HELD, HELD))
    if rng.random() < 0.2:
        flow = Flow(HOSTILE, rng.randrange(1 << 15))
    return flow.arn(rng.choice((mode,) * 8 + ("service", "flow", "priority")), kind, time)


@pytest.mark.parametrize("mode", ["service", "flow", "priority"])
def test_only_what_goes_to_it_waits(mode: str) -> None:
    assert [f"{NODE}:{PORTS[HOSTILE]}", f"{HOSTILE}:1"] in LINKS
    config = parse_config(yaml.safe_dump(network({"notification": "none", "flow_control": mode})))
    engine = MemoryEngine(load_program(compiled_programs() / "p.json"))
    write_entries(provision_of(config, NODE), engine)
    assert V1MODEL.ports.parking is not None
    engine.port_queue_set(V1MODEL.ports.parking, PortQueue(depth=STEPS, rate_pps=PARKING_PPS))
    node, rng = config.nodes[NODE], Random(mode)
    own = str(node.underlay_address)
    flow_of: list[Flow] = []
    left: list[int] = []
    waiting: Counter[Flow] = Counter()

    def send(neighbour: str, datagram: bytes) -> None:
        port = node.port(PORTS[neighbour])
        assert port is not None
        mac = format_mac(port_mac(NODE, node, port))
        engine.inject(port.number, ethernet(datagram, src="02:00:00:00:00:01", dst=mac))

    def ask(neighbour: str, message: Arn) -> None:
        send(neighbour, arn(str(config.nodes[neighbour].underlay_address), own, message))

    def go_on(ns: int) -> None:
        engine.advance(ns)
        for output in engine.outputs():
            at = output.data.find(MARK)
            if at >= 0:
                left.append(int.from_bytes(output.data[at + len(MARK) :][:4]))
                flow = flow_of[left[-1]]
                assert output.port == PORTS[flow.to]
                waiting[flow] -= 1

    for step in range(STEPS):
        if step % AGAIN == 0:
            ask(HONEST, HELD.arn(mode, ArnType.DETECTED, 5_000))
        if rng.random() < 0.6:
            message = _anything(rng, mode)
            for _ in range(rng.choice((1, 1, 1, 30))):
                ask(HOSTILE, message)
        else:
            flow = rng.choice(FLOWS)
            flow_of.append(flow)
            waiting[flow] += 1
            source = HOSTILE if flow.to == HONEST else HONEST
            send(source, flow.datagram(len(flow_of) - 1))
        go_on(rng.choice((20_000, 50_000, 200_000)))
        assert {flow for flow, count in waiting.items() if count and flow.to == HONEST} <= {HELD}
        assert sum(waiting.values()) <= HOLDING["packets"]
    assert waiting[HELD] == flow_of.count(HELD) > 10
    waiting_at_the_end = sum(waiting.values())
    go_on(OVER_NS)
    counts = Counter(
        {
            cell: engine.counter_read(full, index).packets
            for full in engine.program.counters
            if (alias := full.rpartition(".")[2]) in COUNTERS
            for index, cell in named_cells(alias).items()
        }
    )
    engine.close()
    assert sorted(left) == list(range(len(flow_of)))
    for flow in FLOWS:
        numbers = [number for number in left if flow_of[number] == flow]
        assert numbers == sorted(numbers), flow
    assert counts["HOLD_PARKED"] == counts["HOLD_LEFT"] > waiting_at_the_end
    assert counts["HOLD_SKIPPED"] == 0
    assert counts["HOLD_LIMIT"] > 0
