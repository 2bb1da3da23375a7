"""Frames of the laboratory that leave the zeros of their payloads out, against whole ones."""

import random
from collections import defaultdict
from dataclasses import replace

import pytest
from engine_fcn_scenarios import FCN_SCENARIOS
from engine_scenarios import SCENARIOS, Scenario, Target

from fcn.lab.core import Simulation
from fcn.lab.hosts import HostNode
from fcn.softswitch.api import Replica
from fcn.softswitch.engine import MemoryEngine, load_program

STEP = 1_000_000
HEAD = 160
"""Octets of a frame that are never left out."""

Frames = dict[int, list[bytes]]


def stretched(rng: random.Random, data: bytes) -> bytes:
    """The packet, with zeros behind it, and other octets in the end."""
    zeros = rng.choice((0, 40, 100, 900, 8000))
    return data[:HEAD] + bytes(HEAD - len(data[:HEAD]) + zeros) + rng.randbytes(16)


def of_memory(scenario: Scenario, traffic: list[tuple[int, bytes]]) -> Frames:
    engine = MemoryEngine(load_program(scenario.path))
    scenario.setup(engine)
    out = defaultdict(list)
    engine.advance(STEP)
    for port, frame in traffic:
        engine.inject(port, frame)
        engine.advance(STEP)
        for each in engine.outputs():
            out[each.port].append(each.data)
    engine.close()
    return {port: out[port] for port in scenario.ports}


def of_laboratory(scenario: Scenario, traffic: list[tuple[int, bytes]]) -> Frames:
    with Simulation() as simulation:
        switch = simulation.add_switch("switch", load_program(scenario.path))
        hosts: dict[int, HostNode] = {}
        for port in scenario.ports:
            hosts[port] = simulation.add_host(f"host{port}")
            link = simulation.connect(
                hosts[port], 0, switch, port, rate_bps=None, delay_ns=0, buffer=1024
            )
            link.tap(1)
        scenario.setup(switch.engine)
        simulation.run_until(STEP)
        for port, frame in traffic:
            hosts[port].send(frame)
            simulation.run_until(simulation.now_ns + STEP)
        out = defaultdict(list)
        for tapped in simulation.tapped():
            out[scenario.ports[tapped.link]].append(tapped.data)
        return {port: out[port] for port in scenario.ports}


def cut(target: Target) -> None:
    """Copies end within what frames leave out, behind it, and not at all."""
    target.clone_session_set(7, [Replica(3, 5)], 0, 400)
    target.clone_session_set(8, [Replica(3, 1), Replica(4, 2)], 0, 1070)
    target.multicast_group_set(1, [Replica(1, 1), Replica(2, 1), Replica(3, 2)])


_REPLICATE = next(each for each in SCENARIOS if each.name == "replicate")
CUT = replace(_REPLICATE, name="cut", setup=cut, json=_REPLICATE.path)


@pytest.mark.parametrize("scenario", [*SCENARIOS, CUT, *FCN_SCENARIOS], ids=lambda s: s.name)
def test_programs_send_the_same_octets(scenario: Scenario) -> None:
    rng = random.Random(7)
    traffic = [(port, stretched(rng, data)) for port, data in scenario.packets(3, 300)]
    expected = of_memory(scenario, traffic)
    assert sum(len(frames) for frames in expected.values()) > 20
    assert of_laboratory(scenario, traffic) == expected
