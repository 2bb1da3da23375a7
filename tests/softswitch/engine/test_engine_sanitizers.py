"""Generated code and runtime under AddressSanitizer and UndefinedBehaviorSanitizer.

The calls an ordinary engine makes are recorded and repeated by an instrumented executable: both
must send the same frames, and the sanitizers must report nothing.
"""

import random
import subprocess
import zlib
from dataclasses import replace
from pathlib import Path

import engine_veth
import pytest
from engine_fcn_scenarios import COMPILED, FCN_SCENARIOS
from engine_recorder import Recorder
from engine_scenarios import SCENARIOS, Scenario

from fcn.softswitch.api import PortQueue
from fcn.softswitch.engine import MemoryEngine, handle, load_program
from fcn.softswitch.engine.build import build_harness, load_library
from fcn.softswitch.engine.codegen.unit import generate
from fcn.softswitch.engine.loader import parse_json

HARNESS = (Path(__file__).parent / "harness.c").read_text()
PACKETS = 300
NO_VETH = engine_veth.usable()
ENVIRONMENT = {"UBSAN_OPTIONS": "print_stacktrace=1", "ASAN_OPTIONS": "detect_leaks=1"}


def _random_frame(rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice((0, 1, 13, 14, 15, 60, 200, 1514, 1537, 9000, 10241)))


def _drive(scenario: Scenario, engine: MemoryEngine) -> None:
    rng = random.Random(7)
    handles: list[tuple[str, int]] = []
    insert = engine.table_insert

    def remember(table: str, *args: object) -> None:
        handles.append((table, insert(table, *args)))  # type: ignore[arg-type]

    engine.table_insert = remember  # type: ignore[assignment,method-assign]
    scenario.setup(engine)
    for port in (2, 3):
        engine.port_queue_set(port, PortQueue(depth=3, rate_bps=1_000_000_000, delay_ns=700))
    for port, data in scenario.packets(9, PACKETS):
        engine.inject(port, data)
        if rng.randrange(4) == 0:
            engine.inject(rng.choice((1, 2, 510, 511, 600)), _random_frame(rng))
        if rng.randrange(3) == 0:
            engine.advance(rng.randrange(20_000))
    for table, entry in handles:
        if rng.randrange(2):
            engine.table_delete(table, entry)
    for port, data in scenario.packets(10, PACKETS // 4):
        engine.inject(port, data)
    engine.advance(1_000_000_000)


def _run(harness: Path, commands: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(harness)], input=commands, capture_output=True, text=True, check=False, timeout=300,
        env=ENVIRONMENT,
    )  # fmt: skip


# Of the P the compiler needs ten seconds, of the PE fifteen; of a P with one mode one.
QUICK = [
    *SCENARIOS,
    *(
        replace(s, name="p-fcn", json=COMPILED / "fcn/p.json")
        for s in FCN_SCENARIOS
        if s.name == "p"
    ),
]


@pytest.mark.parametrize(
    "scenario",
    [*QUICK, *(pytest.param(s, marks=pytest.mark.exhaustive) for s in FCN_SCENARIOS)],
    ids=lambda s: s.name,
)
def test_nothing_to_report(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = load_program(scenario.path)
    recorder = Recorder(load_library(program.library))
    monkeypatch.setattr(handle, "load_library", lambda _: recorder)
    engine = MemoryEngine(program)
    try:
        _drive(scenario, engine)
        expected = [
            f"{o.port} {o.time_ns} {len(o.data)} {zlib.crc32(o.data):08x}" for o in engine.outputs()
        ]
    finally:
        engine.close()
    assert len(expected) > PACKETS // 10, "the scenario must have output"

    harness = tmp_path / "harness"
    build_harness(generate(parse_json(scenario.path.read_bytes())), HARNESS, harness)
    result = _run(harness, "\n".join(recorder.commands))
    assert result.returncode == 0, result.stderr[:4000]
    assert result.stdout.splitlines() == expected


@pytest.mark.skipif(NO_VETH is not None, reason=str(NO_VETH))
@pytest.mark.parametrize("limited", [False, True])
def test_interfaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limited: bool) -> None:
    """The packet thread on real interfaces, with VLAN tags, jumbo frames and truncated frames."""
    scenario = next(s for s in SCENARIOS if s.name == "match")
    program = load_program(scenario.path)
    recorder = Recorder(load_library(program.library))
    monkeypatch.setattr(handle, "load_library", lambda _: recorder)
    engine = MemoryEngine(program)
    scenario.setup(engine)
    engine.port_queue_set(2, PortQueue(depth=1000))
    setup = [*recorder.commands, "!"]
    rng = random.Random(3)
    frames = [data for _, data in scenario.packets(4, 200)]
    frames += [f[:12] + b"\x81\x00\x00\x07" + f[12:] for f in frames[:50]]
    frames += [f + rng.randbytes(rng.choice((1400, 4000, 8000))) for f in frames[:50]]
    rng.shuffle(frames)
    for frame in frames:
        engine.inject(1, frame)
    expected = [o.data for o in engine.outputs()]
    engine.close()

    harness = tmp_path / "harness"
    build_harness(generate(parse_json(scenario.path.read_bytes())), HARNESS, harness)
    with engine_veth.VethPorts("sn", (1, 2)) as ports:
        if limited:
            ports.limit(2, "20mbit")
        process = subprocess.Popen(
            [str(harness), ports.switch(1), ports.switch(2)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=ENVIRONMENT,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join(setup) + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == "ready\n"
        for frame in frames:
            ports.send(1, frame)
        got = ports.receive({2: len(expected)}, 20.0)
        _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors[:4000]
    assert got.get(2, []) == expected


def test_a_defect_is_reported(tmp_path: Path) -> None:
    """Self-test of the harness: an access beyond a buffer ends it with ASan's report."""
    harness = tmp_path / "harness"
    broken = HARNESS.replace(
        "        print_outputs(e);\n", "        print_outputs(e);\n        octets(0)[(int)c] = 1;\n"
    )
    assert broken != HARNESS
    build_harness(generate(parse_json(SCENARIOS[0].path.read_bytes())), broken, harness)
    result = _run(harness, "A 1")
    assert result.returncode != 0
    assert "AddressSanitizer" in result.stderr
