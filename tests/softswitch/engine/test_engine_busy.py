"""A switch that always has frames to forward, through real interfaces."""

import copy
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import engine_veth
import pytest
from engine_mutations import programs
from engine_scenarios import MAC, PROGRAMS, ethernet, pack
from engine_veth import VethPorts
from test_engine_tables import keys

from fcn.softswitch.api import ActionCall, Exact, PortQueue
from fcn.softswitch.engine import RealEngine, load_program, make_program

REASON = engine_veth.usable()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))
PATIENCE = 20.0
FRAMES = 200


def _until(reached: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < deadline, what
        time.sleep(0.001)


@pytest.fixture
def ports() -> Iterator[VethPorts]:
    with VethPorts("bz", (1, 2)) as made:
        yield made


@pytest.fixture
def engine(ports: VethPorts) -> Iterator[RealEngine]:
    """kitchen.p4 on both ends of a cable, which frames never leave, and a port beside it."""
    names = {1: ports.switch(1), 2: ports.host(1), 3: ports.switch(2)}
    made = RealEngine(load_program(PROGRAMS / "kitchen.json"), names)
    for port in (1, 2):
        made.table_insert(
            "I.l2", [Exact(MAC), Exact(port)], 0, ActionCall("I.forward", (3 - port, MAC))
        )
    made.start()
    yield made
    made.close()


def test_links_are_heeded_while_frames_never_end(ports: VethPorts, engine: RealEngine) -> None:
    """A link that goes down, and one that comes back, while no turn of the loop is without work."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as first:
        first.bind((ports.switch(1), 0))
        for _ in range(FRAMES):
            first.send(ethernet(0x9999) + bytes(46))
    _until(lambda: engine.port_counters(2).rx_packets > 100 * FRAMES, "frames go round")
    for state, up in (("down", False), ("up", True)):
        subprocess.run(["ip", "link", "set", ports.host(2), state], check=True)
        _until(lambda up=up: engine.port_up(3) is up, f"the link is {state}")  # type: ignore[misc]
    seen = engine.port_counters(2).rx_packets
    _until(lambda: engine.port_counters(2).rx_packets > seen + 100 * FRAMES, "still go round")


TIMEOUT_NS = 300_000_000
STOPPABLE = f"""
import asyncio, sys
from fcn.softswitch.api import ActionCall, EngineEvents, Exact
from fcn.softswitch.engine import RealEngine, load_program

async def main():
    engine = RealEngine(load_program("{PROGRAMS}/match.json"), {{1: sys.argv[1], 2: sys.argv[2]}})
    nothing = lambda *_: None
    told = lambda *_: print("idle", flush=True)
    engine.set_events(EngineEvents(digest=nothing, packet_in=nothing, idle=told))
    match = [Exact(1), Exact(0), Exact(0)]
    engine.table_insert("I.exact_t", match, 0, ActionCall("NoAction"), {TIMEOUT_NS})
    engine.start()
    await asyncio.Event().wait()

asyncio.run(main())
"""


def _stop(switch: subprocess.Popen[bytes]) -> None:
    os.kill(switch.pid, signal.SIGSTOP)
    os.waitpid(switch.pid, os.WUNTRACED)


def test_what_waits_at_the_interfaces_of_a_switch_that_stood_still_is_no_silence(
    ports: VethPorts,
) -> None:
    """A frame comes while the switch is stopped for longer than the timeout: the entry is idle a
    timeout after the switch has met it, and not before."""
    command = [sys.executable, "-c", STOPPABLE, ports.switch(1), ports.switch(2)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as switch:
        assert switch.stdout is not None
        told = select.poll()
        told.register(switch.stdout, select.POLLIN)
        try:
            while True:
                assert switch.stdout.readline() == b"idle\n"
                ports.send(1, keys(a=1))
                assert len(ports.receive({2: 1}, PATIENCE)[2]) == 1
                _stop(switch)
                if not told.poll(0):
                    break
                os.kill(switch.pid, signal.SIGCONT)
            ports.send(1, keys(a=1))
            stopped = time.monotonic_ns()
            _until(lambda: time.monotonic_ns() > stopped + 2 * TIMEOUT_NS, "time goes on")
            continued = time.monotonic_ns()
            os.kill(switch.pid, signal.SIGCONT)
            assert len(ports.receive({2: 1}, PATIENCE)[2]) == 1
            assert switch.stdout.readline() == b"idle\n"
            assert time.monotonic_ns() - continued > TIMEOUT_NS
        finally:
            switch.kill()


INNER, OUTER = 2, 4
"""Ports of replicate.p4."""
EXIT = 512
"""Bit of its header that sends a frame to OUTER."""
ROUNDS_PER_SECOND = 50_000_000
"""More than any processor has time for."""


def _for_ever() -> bytes:
    """replicate.p4 where every frame of its header with group 0 is recirculated."""
    root: dict[str, Any] = copy.deepcopy(programs(PROGRAMS / "replicate.json")[0])
    found = [
        condition
        for pipeline in root["pipelines"]
        for condition in pipeline["conditionals"]
        if all(word in json.dumps(condition["expression"]) for word in ('"pass"', "0x1000"))
    ]
    (condition,) = found
    group = {"type": "field", "value": ["op", "group"]}
    nothing = {"type": "hexstr", "value": "0x0000"}
    condition["expression"]["value"] = {"op": "==", "left": group, "right": nothing}
    return json.dumps(root).encode()


def _frame(ops: int, group: int) -> bytes:
    fields = ((ops, 16), (0, 8), (0, 8), (0, 16), (group, 16), (0, 16), (0, 16), (0, 16), (0, 8))
    return ethernet(0x7778) + pack(*fields) + bytes(40)


@pytest.fixture
def circling(ports: VethPorts) -> Iterator[RealEngine]:
    """Frames that come round faster than there is time for, and a port that leads outside."""
    names = {1: ports.switch(1), OUTER: ports.switch(2)}
    made = RealEngine(make_program(_for_ever()), names)
    made.port_queue_set(INNER, PortQueue(depth=1000, rate_pps=ROUNDS_PER_SECOND))
    made.start()
    yield made
    made.close()


def test_others_pass_what_comes_round_too_fast(ports: VethPorts, circling: RealEngine) -> None:
    """Frames that wait for ever take all of the processor, and leave others their turn."""
    for _ in range(100):
        ports.send(1, _frame(0, 0))
    _until(lambda: circling.port_counters(INNER).queue_depth > 50, "frames go round")
    for _ in range(30):
        ports.send(1, _frame(EXIT, 1))
        assert len(ports.receive({2: 1}, PATIENCE)[2]) == 1
