"""Counters, meters, registers, profiles and clone sessions through the control-plane interface."""

import pytest
from engine_making import MakeEngine
from engine_scenarios import MAC, ethernet, pack

from fcn.softswitch.api import (
    ActionCall,
    CounterValue,
    EngineError,
    Exact,
    GroupMember,
    GroupRef,
    Lpm,
    MemberRef,
    MeterRates,
    Replica,
)
from fcn.softswitch.engine import MemoryEngine

GREEN, YELLOW, RED = 0, 1, 2


def packet(index: int = 0, value: int = 0, extra: int = 0) -> bytes:
    """A packet of state.p4."""
    op = pack((index, 8), (9, 8), (9, 8), (value, 16), (0, 64), (0, 4), (0, 4), (0, 16))
    return ethernet(1) + op + bytes(extra)


def colours(engine: MemoryEngine, n: int, at: int, data: bytes) -> list[int]:
    """The octet at offset `at` of the output packets for n equal input packets."""
    for _ in range(n):
        engine.inject(1, data)
    return [o.data[at] for o in engine.outputs()]


def test_counter(make_engine: MakeEngine) -> None:
    engine = make_engine("state")
    for index in (3, 3, 19, 4):
        engine.inject(1, packet(index))
    size = len(packet())
    assert engine.counter_read("I.seen", 3) == CounterValue(3, 3 * size)
    assert engine.counter_read("I.seen", 4) == CounterValue(1, size)
    engine.counter_write("I.seen", 3, CounterValue(100, 1000))
    engine.inject(1, packet(3))
    assert engine.counter_read("I.seen", 3) == CounterValue(101, 1000 + size)
    with pytest.raises(EngineError, match="no such index"):
        engine.counter_read("I.seen", 16)
    with pytest.raises(EngineError, match=r"no counter 'I\.lost'"):
        engine.counter_read("I.lost", 0)


def test_packet_meter(make_engine: MakeEngine) -> None:
    engine = make_engine("state")
    assert colours(engine, 3, 15, packet()) == [GREEN] * 3
    engine.meter_set("I.policer", 0, MeterRates(1000, 2, 2000, 4))
    assert colours(engine, 6, 15, packet()) == [GREEN, GREEN, YELLOW, YELLOW, RED, RED]
    engine.advance(1_000_000)
    assert colours(engine, 3, 15, packet()) == [GREEN, YELLOW, RED]
    assert colours(engine, 1, 15, packet(1)) == [GREEN], "other cells are not configured"
    engine.meter_set("I.policer", 0, None)
    assert colours(engine, 3, 15, packet()) == [GREEN] * 3
    with pytest.raises(EngineError, match="above the peak"):
        engine.meter_set("I.policer", 0, MeterRates(2, 1, 1, 1))


def test_byte_meter(make_engine: MakeEngine) -> None:
    engine = make_engine("state")
    size = len(packet())
    engine.meter_set("I.bytes_policer", 0, MeterRates(size * 1000, size, size * 1000, 2 * size))
    assert colours(engine, 3, 16, packet()) == [GREEN, YELLOW, RED]
    engine.advance(1_000_000)
    assert colours(engine, 2, 16, packet(extra=size)) == [RED, RED], "twice the size"


def test_direct_meter_and_counter(make_engine: MakeEngine) -> None:
    engine = make_engine("state")
    handle = engine.table_insert("I.t", [Exact(MAC)], 0, ActionCall("I.keep"))
    engine.direct_meter_set("I.t", handle, MeterRates(1, 1, 1, 2))
    assert [c & 15 for c in colours(engine, 3, 27, packet())] == [GREEN, YELLOW, RED]
    assert engine.direct_counter_read("I.t", handle).packets == 3
    engine.direct_counter_write("I.t", handle, CounterValue(7, 8))
    assert engine.direct_counter_read("I.t", handle) == CounterValue(7, 8)
    engine.direct_meter_set("I.t", handle, None)
    assert [c & 15 for c in colours(engine, 2, 27, packet())] == [GREEN, GREEN]


def test_registers(make_engine: MakeEngine) -> None:
    engine = make_engine("state")
    engine.register_write("I.r16", 5, 0xFFFE)
    engine.inject(1, packet(5, 3))
    assert engine.register_read("I.r16", 5) == 1, "16 bits wrap"
    wide = (1 << 128) - 2
    engine.register_write("I.r128", 1, wide)
    assert engine.register_read("I.r128", 1) == wide
    engine.inject(1, packet(1))
    assert engine.register_read("I.r128", 1) == (wide + MAC * 3) % (1 << 128)
    with pytest.raises(EngineError, match="does not fit 4 bits"):
        engine.register_write("I.r4", 0, 16)


def flow(a: int, b: int = 0) -> bytes:
    """A packet of selector.p4."""
    return ethernet(1) + pack((a, 32), (b, 128), (0, 20), (0, 4), (0, 8), (0, 48))


def chosen(engine: MemoryEngine, n: int = 64) -> set[int]:
    """The values written by the members selected for n flows."""
    for b in range(n):
        engine.inject(1, flow(0, b))
    return {int.from_bytes(o.data[-4:-2], "big") for o in engine.outputs()}


def with_group(make_engine: MakeEngine) -> MemoryEngine:
    engine = make_engine("selector")
    for i in (1, 2, 3):
        engine.member_insert("I.sel16", i, ActionCall("I.second", (i,)))
    engine.group_set("I.sel16", 1, [GroupMember(1), GroupMember(2, 3), GroupMember(3, 1, 9)])
    engine.table_insert("I.ecmp", [Lpm(0, 0)], 0, GroupRef(1))
    return engine


def test_group_changes_take_effect(make_engine: MakeEngine) -> None:
    engine = with_group(make_engine)
    assert chosen(engine) == {1, 2, 3}
    engine.member_modify("I.sel16", 2, ActionCall("I.second", (22,)))
    assert chosen(engine) == {1, 22, 3}
    engine.group_set("I.sel16", 1, [GroupMember(3)])
    assert chosen(engine) == {3}


def test_members_behind_a_port_that_is_down_are_skipped(make_engine: MakeEngine) -> None:
    engine = with_group(make_engine)
    engine._port_changed(9, False)
    assert chosen(engine) == {1, 2}
    engine._port_changed(9, True)
    assert chosen(engine) == {1, 2, 3}


def test_an_empty_group_ends_ingress(make_engine: MakeEngine) -> None:
    engine = with_group(make_engine)
    engine.group_set("I.sel16", 1, [])
    assert chosen(engine) == {0}


def test_what_is_in_use_stays(make_engine: MakeEngine) -> None:
    engine = with_group(make_engine)
    with pytest.raises(EngineError, match="in group 1"):
        engine.member_delete("I.sel16", 2)
    with pytest.raises(EngineError, match="in use"):
        engine.group_delete("I.sel16", 1)
    handle = engine.table_insert("I.ecmp", [Lpm(0x80000000, 1)], 0, MemberRef(1))
    engine.group_set("I.sel16", 1, [GroupMember(3)])
    with pytest.raises(EngineError, match="in use"):
        engine.member_delete("I.sel16", 1)
    engine.table_delete("I.ecmp", handle)
    engine.member_delete("I.sel16", 1)
    with pytest.raises(EngineError, match="no member 1"):
        engine.group_set("I.sel16", 2, [GroupMember(1)])
    with pytest.raises(EngineError, match=r"no table of I\.sel16"):
        engine.member_insert("I.sel16", 9, ActionCall("I.first", (1,)))


def replicate(ops: int, group: int = 0, payload: bytes = b"") -> bytes:
    """A packet of replicate.p4."""
    fields = pack((ops, 16), (0, 8), (0, 8), (0, 16), (group, 16), (0, 64), (0, 8))
    return ethernet(0x7778) + fields + payload


def test_clone_session_truncates(make_engine: MakeEngine) -> None:
    engine = make_engine("replicate")
    engine.clone_session_set(7, [Replica(3, 1)], 0, 40)
    engine.inject(1, replicate(1, payload=bytes(100)))
    sizes = {o.port: len(o.data) for o in engine.outputs()}
    assert sizes == {2: len(replicate(0)) + 100, 3: 40}
    engine.clone_session_delete(7)
    engine.inject(1, replicate(1))
    assert [o.port for o in engine.outputs()] == [2]
    with pytest.raises(EngineError, match="does not exist"):
        engine.clone_session_delete(7)


def test_multicast(make_engine: MakeEngine) -> None:
    engine = make_engine("replicate")
    engine.multicast_group_set(5, [Replica(1, 10), Replica(1, 11), Replica(4, 12)])
    engine.inject(2, replicate(8, group=5))
    rids = [(o.port, int.from_bytes(o.data[22:24], "big")) for o in engine.outputs()]
    assert rids == [(1, 10), (1, 11), (4, 12)]
    engine.multicast_group_delete(5)
    engine.inject(2, replicate(8, group=5))
    assert engine.outputs() == [], "a group that does not exist has no members"
