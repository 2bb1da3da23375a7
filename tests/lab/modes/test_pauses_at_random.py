"""A data centre that sends MAC control frames of any kind, at random, to an egress PE that heeds
them, while packets for it and for another one come from two neighbours (SRF-9)."""

from collections import Counter
from random import Random

import pytest
import yaml
from domain_modes import DC_PORTS, PAUSED_PORT, host_address, network

from fcn.contract.constants import compiled_programs
from fcn.contract.names import COUNTERS, named_cells
from fcn.contract.targets import V1MODEL
from fcn.controller.config import parse_config
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.notation import format_mac
from fcn.lab.entries import provision_of, write_entries
from fcn.ptf_tests.lib.packets import Ecn, ethernet, roce, srv6
from fcn.ptf_tests.lib.paused_dc import PAUSE_MAC
from fcn.softswitch.api import PortQueue
from fcn.softswitch.engine import MemoryEngine, load_program

STEPS = 1_500
CORE_PORTS = (2, 3)
MARK = b"numbered"
PARKING_PPS = 200_000
OVER_NS = 200_000_000
"""After which all holds have ended and what waited has left."""


def _control(rng: Random) -> bytes:
    """A PAUSE frame, or nearly one."""
    opcode = rng.choice((*[b"\x01\x01"] * 8, b"\x00\x01", rng.randbytes(2)))
    vector = rng.choice((0xFF, 1 << rng.randrange(8), rng.getrandbits(8), rng.getrandbits(16)))
    times = (rng.choice((0, 0, 1, 0xFFFF, rng.getrandbits(16))) for _ in range(8))
    words = b"".join(value.to_bytes(2) for value in (vector, *times))
    frame = ethernet(opcode + words, src="02:00:00:00:00:04", dst=PAUSE_MAC, ether_type=0x8808)
    frame = frame.ljust(60, b"\0")
    return frame if rng.random() < 0.9 else frame[: rng.randrange(14, 60)]


def _counts(engine: MemoryEngine) -> Counter[str]:
    """What the program counted."""
    return Counter(
        {
            cell: engine.counter_read(full, index).packets
            for full in engine.program.counters
            if (alias := full.rpartition(".")[2]) in COUNTERS
            for index, cell in named_cells(alias).items()
        }
    )


@pytest.mark.parametrize("mode", ["service", "flow", "priority"])
def test_nothing_is_lost_uncounted_or_out_of_order(mode: str) -> None:
    modes = {"notification": "fcn", "flow_control": mode, "heed_pause": "on"}
    config = parse_config(yaml.safe_dump(network(modes)))
    engine = MemoryEngine(load_program(compiled_programs() / "pe.json"))
    write_entries(provision_of(config, "pe2"), engine)
    assert V1MODEL.ports.parking is not None
    engine.port_queue_set(V1MODEL.ports.parking, PortQueue(depth=STEPS, rate_pps=PARKING_PPS))
    node, rng = config.nodes["pe2"], Random(mode)
    flows = [(priority, port) for priority in range(8) for port in DC_PORTS]
    frames = {}
    for core in CORE_PORTS:
        port = node.port(core)
        assert port is not None
        for priority, host in flows:
            inner = roce(
                host_address(1, host), host_address(2, host), 0x1000,
                dscp=priority << 3, payload=MARK + bytes(4),
            )  # fmt: skip
            outer = srv6(
                inner, "2001:db8:0:ff::1", "2001:db8:0:2::d46",
                flow_label=0x80001, traffic_class=Ecn.ECT0,
            )  # fmt: skip
            mac = format_mac(port_mac("pe2", node, port))
            frames[core, priority, host] = ethernet(outer, src="02:00:00:00:00:01", dst=mac)
    flow_of: list[tuple[int, int]] = []
    arrived: list[int] = []

    def take() -> None:
        for output in engine.outputs():
            at = output.data.find(MARK)
            if output.port in DC_PORTS and at >= 0:
                arrived.append(int.from_bytes(output.data[at + len(MARK) :][:4]))

    for _ in range(STEPS):
        if rng.random() < 0.15:
            engine.inject(PAUSED_PORT, _control(rng))
        else:
            flow, core = rng.choice(flows), rng.choice(CORE_PORTS)
            head, _, tail = frames[core, *flow].partition(MARK)
            engine.inject(core, head + MARK + len(flow_of).to_bytes(4) + tail[4:])
            flow_of.append(flow)
        engine.advance(rng.choice((0, 1_000, 5_000, 50_000)))
        take()
    engine.advance(OVER_NS)
    take()
    counts = _counts(engine)
    engine.close()
    assert len(set(arrived)) == len(arrived) == len(flow_of) - counts["HOLD_NO_ROOM"]
    for flow in flows:
        numbers = [number for number in arrived if flow_of[number] == flow]
        assert numbers == sorted(numbers), flow
    assert counts["HOLD_PARKED"] == counts["HOLD_LEFT"] > 100
    assert counts["HOLD_SKIPPED"] == 0
    assert counts["ARN_SENT"] > 0
