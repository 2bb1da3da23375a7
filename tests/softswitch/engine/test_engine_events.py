"""Digests, packets to and from the CPU port, idle timeouts."""

import asyncio
import gc
import json
import weakref
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from engine_making import MakeEngine
from engine_scenarios import MAC, PROGRAMS, ethernet, pack
from test_engine_tables import keys

from fcn.softswitch.api import ActionCall, EngineError, EngineEvents, Exact
from fcn.softswitch.engine import MemoryEngine, load_program, make_program

CPU = 510


class Log:
    """Keeps what the engine reports."""

    def __init__(self, engine: MemoryEngine) -> None:
        self.digests: list[tuple[str, list[tuple[int, ...]]]] = []
        self.packets: list[bytes] = []
        self.idle: list[tuple[str, int]] = []
        self.arrived = asyncio.Event()
        engine.set_events(
            EngineEvents(
                digest=self._digest,
                packet_in=self.packets.append,
                idle=lambda table, handle: self.idle.append((table, handle)),
            )
        )

    def _digest(self, name: str, messages: Sequence[tuple[int, ...]]) -> None:
        self.digests.append((name, list(messages)))
        self.arrived.set()


def digest_packet(src: int) -> bytes:
    return ethernet(0x7778, src=src) + pack((16, 16), (0, 96), (0, 8))


def test_digest(make_engine: MakeEngine) -> None:
    engine = make_engine("replicate")
    log = Log(engine)
    engine.inject(3, digest_packet(0xABC))
    engine.inject(4, digest_packet(0xDEF))
    assert log.digests == [("digest_t", [(0xABC, 16, 3)]), ("digest_t", [(0xDEF, 16, 4)])]


def test_packet_in_and_out(make_engine: MakeEngine) -> None:
    engine = make_engine("kitchen")
    log = Log(engine)
    engine.table_insert("I.l2", [Exact(MAC), Exact(1)], 0, ActionCall("I.forward", (CPU, 7)))
    engine.table_insert("I.l2", [Exact(MAC), Exact(CPU)], 0, ActionCall("I.forward", (2, 8)))
    engine.inject(1, ethernet(2) + b"up")
    assert log.packets == [ethernet(2, dst=7) + b"up"]
    assert engine.outputs() == []
    engine.packet_out(ethernet(2) + b"down")
    (out,) = engine.outputs()
    assert (out.port, out.data) == (2, ethernet(2, dst=8) + b"down")


def test_idle_timeout(make_engine: MakeEngine) -> None:
    engine = make_engine("match")
    log = Log(engine)
    match = [Exact(1), Exact(0), Exact(0)]
    second = 1_000_000_000
    handle = engine.table_insert("I.exact_t", match, 0, ActionCall("NoAction"), second)
    engine.advance(second * 9 // 10)
    engine.inject(1, keys(a=1))
    assert engine.entry_idle_ns("I.exact_t", handle) == 0
    engine.advance(second * 9 // 10)
    assert log.idle == []
    assert engine.entry_idle_ns("I.exact_t", handle) == second * 9 // 10
    engine.advance(second)
    assert log.idle == [("I.exact_t", handle)]
    assert engine.entry_idle_ns("I.exact_t", handle) == second * 19 // 10, "no packet came"
    engine.inject(1, keys(a=1))
    engine.advance(second * 9 // 10)
    assert len(log.idle) == 1, "a hit starts a new period"
    engine.advance(second // 5)
    assert len(log.idle) == 2


def test_an_entry_that_stays_idle_is_told_again_each_time_its_timeout_passes(
    make_engine: MakeEngine,
) -> None:
    """P4Runtime 1.4, Table Idle Timeout Notification: the timer is reset after each."""
    engine = make_engine("match")
    log = Log(engine)
    second = 1_000_000_000
    match = [Exact(1), Exact(0), Exact(0)]
    handle = engine.table_insert("I.exact_t", match, 0, ActionCall("NoAction"), second)
    for told in range(1, 6):
        engine.advance(second)
        assert log.idle == [("I.exact_t", handle)] * told


def test_many_idle_entries_are_told_again_at_a_rate_the_control_plane_can_take() -> None:
    millisecond, entries = 1_000_000, 1000
    program = json.loads((Path(__file__).parents[1] / "p4" / "match.json").read_text())
    (table,) = [t for t in program["pipelines"][0]["tables"] if t["name"] == "I.exact_t"]
    table["max_size"] = entries
    engine = MemoryEngine(make_program(json.dumps(program).encode()))
    log = Log(engine)
    for number in range(entries):
        match = [Exact(number), Exact(0), Exact(0)]
        engine.table_insert("I.exact_t", match, 0, ActionCall("NoAction"), millisecond)
    engine.advance(20 * millisecond)
    assert len(log.idle) == entries, "the first time nothing is held back"
    engine.advance(1000 * millisecond)
    told = Counter(handle for _, handle in log.idle)
    assert set(told.values()) <= {9, 10, 11}
    assert len(told) == entries
    engine.close()


async def test_events_that_never_end_leave_the_loop_to_others(make_engine: MakeEngine) -> None:
    engine = make_engine("replicate")
    delivered = 0

    def another(_name: str, _messages: Sequence[tuple[int, ...]]) -> None:
        nonlocal delivered
        delivered += 1
        if delivered < 1000:
            engine.inject(3, digest_packet(delivered))

    engine.set_events(
        EngineEvents(digest=another, packet_in=lambda _data: None, idle=lambda _t, _h: None)
    )
    engine.inject(3, digest_packet(0))
    for turn in range(10):
        await asyncio.sleep(0)
        assert delivered <= turn + 1
    assert delivered


def test_a_change_of_an_entry_is_no_packet(make_engine: MakeEngine) -> None:
    engine = make_engine("match")
    log = Log(engine)
    second = 1_000_000_000
    match = [Exact(1), Exact(0), Exact(0)]
    handle = engine.table_insert("I.exact_t", match, 0, ActionCall("NoAction"), second)
    engine.advance(second // 2)
    engine.table_modify("I.exact_t", handle, ActionCall("NoAction"), second)
    assert engine.entry_idle_ns("I.exact_t", handle) == second // 2
    engine.advance(second * 6 // 10)
    assert log.idle == [("I.exact_t", handle)]
    engine.table_modify("I.exact_t", handle, ActionCall("NoAction"), 2 * second)
    engine.advance(second // 2)
    assert len(log.idle) == 1, "the longer time is not over"
    engine.advance(second // 2)
    assert len(log.idle) == 2, "whoever changed the entry is told that it is still idle"


def test_idle_timeout_needs_a_table_that_has_it(make_engine: MakeEngine) -> None:
    engine = make_engine("kitchen")
    with pytest.raises(EngineError, match="idle timeouts"):
        engine.table_insert("I.l2", [Exact(1), Exact(1)], 0, ActionCall("I.drop"), 5)


async def test_on_an_event_loop_events_come_later_and_in_order(make_engine: MakeEngine) -> None:
    engine = make_engine("replicate")
    log = Log(engine)
    for src in range(1, 6):
        engine.inject(1, digest_packet(src))
    assert log.digests == []
    async with asyncio.timeout(60):
        await log.arrived.wait()
    assert log.digests == [("digest_t", [(src, 16, 1) for src in range(1, 6)])]


def test_a_callback_may_use_the_engine(make_engine: MakeEngine) -> None:
    """Events caused within a callback are delivered after it, not inside."""
    engine = make_engine("replicate")
    seen: list[int] = []
    depth = 0

    def digest(_: str, messages: Sequence[tuple[int, ...]]) -> None:
        nonlocal depth
        depth += 1
        assert depth == 1
        for message in messages:
            seen.append(message[0])
            if message[0] < 4:
                engine.inject(1, digest_packet(message[0] + 1))
        depth -= 1

    engine.set_events(EngineEvents(digest, lambda _: None, lambda _t, _h: None))
    engine.inject(1, digest_packet(1))
    assert seen == [1, 2, 3, 4]


def test_closed_engine_leaves_nothing_to_the_collector() -> None:
    """A switch that is sent program after program would keep what it made of each for an hour."""
    engine = MemoryEngine(load_program(PROGRAMS / "selector.json"))
    log = Log(engine)
    left = weakref.ref(engine), weakref.ref(log)
    engine.close()
    gc.disable()
    try:
        del engine, log
        assert [each() for each in left] == [None, None]
    finally:
        gc.enable()
