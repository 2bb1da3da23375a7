"""BMv2 and the softswitch send the same octets for the same entries and packets.

FCN_DIFFERENTIAL_PACKETS sets the number of packets per program and FCN_DIFFERENTIAL_SEED the seed.
"""

import os
import time
from collections import defaultdict

import engine_bmv2
import engine_veth
import pytest
from engine_fcn_scenarios import FCN_SCENARIOS
from engine_scenarios import SCENARIOS, Scenario

from fcn.softswitch.engine import MemoryEngine, load_program

PACKETS = int(os.environ.get("FCN_DIFFERENTIAL_PACKETS", "600"))
SEED = int(os.environ.get("FCN_DIFFERENTIAL_SEED", "1"))
BATCH = 16
PATIENCE = 30.0

Cells = dict[tuple[str, int], tuple[int, int]]

REASON = engine_bmv2.missing() or engine_veth.usable()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))


@pytest.mark.parametrize("scenario", [*SCENARIOS, *FCN_SCENARIOS], ids=lambda s: s.name)
def test_same_octets_out(scenario: Scenario) -> None:
    if scenario.thrift and (without := engine_bmv2.missing_thrift()) is not None:
        pytest.skip(without)
    engine = MemoryEngine(load_program(scenario.path))
    try:
        with (
            engine_veth.VethPorts("df", scenario.ports) as ports,
            engine_bmv2.Bmv2(scenario.path, ports) as bmv2,
        ):
            scenario.setup(engine)
            scenario.setup(bmv2)
            # BMv2 keeps the order of packets only within a port.
            for port, batch in scenario.batches(SEED, PACKETS, BATCH):
                _compare(engine, bmv2, ports, port, batch)
            cells = [(c, i) for c, size in scenario.counters for i in range(size)]
            expected = {cell: _ours(engine, *cell) for cell in cells}
            deadline = time.monotonic() + PATIENCE
            while (got := {cell: bmv2.counter_read(*cell) for cell in cells}) != expected:
                # BMv2 may still process packets it will drop after its last output.
                assert time.monotonic() < deadline, _differences(got, expected)
    finally:
        engine.close()


def _ours(engine: MemoryEngine, counter: str, index: int) -> tuple[int, int]:
    value = engine.counter_read(counter, index)
    return value.packets, value.octets


def _differences(got: Cells, expected: Cells) -> str:
    wrong = {cell: (got[cell], expected[cell]) for cell in got if got[cell] != expected[cell]}
    return f"counter cells (BMv2, softswitch): {wrong}"


def _compare(
    engine: MemoryEngine,
    bmv2: engine_bmv2.Bmv2,
    ports: engine_veth.VethPorts,
    port: int,
    batch: list[bytes],
) -> None:
    expected: dict[int, list[bytes]] = defaultdict(list)
    for data in batch:
        engine.inject(port, data)
        engine.advance(1_000_000)
        for out in engine.outputs():
            # An interface carries no frame shorter than an Ethernet header.
            if out.port in ports.ports and len(out.data) >= 14:
                expected[out.port].append(out.data)
        ports.send(port, data)
    got = ports.receive({p: len(frames) for p, frames in expected.items()}, PATIENCE)
    assert bmv2.alive, f"BMv2 crashed on one of {[d.hex() for d in batch]}"
    assert _text(got) == _text(expected), f"port {port}: {[d.hex() for d in batch]}"


def _text(frames: dict[int, list[bytes]]) -> dict[int, list[str]]:
    return {p: sorted(f.hex() for f in fs) for p, fs in sorted(frames.items())}
