"""Entries of every kind: matches, priorities, rejected entries."""

from contextlib import suppress
from random import Random

import pytest
from engine_making import MakeEngine
from engine_scenarios import MAC, ethernet, pack

from fcn.softswitch.api import (
    ActionCall,
    CounterValue,
    EngineError,
    Exact,
    Lpm,
    MatchKey,
    Range,
    TableFullError,
    Ternary,
)
from fcn.softswitch.engine import MemoryEngine


def keys(
    vrf: int = 0, a: int = 0, b: int = 0, c: int = 0, d: int = 0, e: int = 0, f: int = 0, g: int = 0
) -> bytes:
    """A packet of match.p4 whose result field is zero."""
    return ethernet(0x7777) + pack(
        (vrf, 16), (a, 32), (b, 128), (c, 20), (d, 4), (e, 8), (f, 5), (g, 3), (0, 16)
    )


def result(engine: MemoryEngine, packet: bytes) -> int:
    """The result field after the pipeline, without the constants added on hits and misses."""
    engine.inject(1, packet)
    (out,) = engine.outputs()
    return int.from_bytes(out.data[-2:], "big")


def add(n: int) -> ActionCall:
    return ActionCall("I.add", (n,))


BASE = 0x200 + 3 + 0x400
"""match.p4 with empty tables: lpm4 misses (0x200), lpm6's default is add(3) (0x400)."""


def test_empty_tables_take_their_defaults(make_engine: MakeEngine) -> None:
    assert result(make_engine("match"), keys()) == BASE


def test_exact(make_engine: MakeEngine) -> None:
    engine = make_engine("match")
    call = ActionCall("I.add_exact", (5,))
    handle = engine.table_insert("I.exact_t", [Exact(1), Exact(2), Exact(3)], 0, call)
    packet = keys(a=1, c=2, d=3)
    assert result(engine, packet) == BASE + 5 + 0x100
    assert result(engine, keys(a=1, c=2, d=4)) == BASE
    assert engine.direct_counter_read("I.exact_t", handle) == CounterValue(1, len(packet))
    assert engine.direct_counter_read("I.exact_t", None).packets == 1
    engine.table_modify("I.exact_t", handle, ActionCall("NoAction"))
    assert result(engine, packet) == BASE + 0x100
    engine.table_delete("I.exact_t", handle)
    assert result(engine, packet) == BASE


def test_many_exact_entries_come_and_go(make_engine: MakeEngine) -> None:
    """64 entries at a time, each replaced several times: growth, deletion and reuse of handles."""
    engine = make_engine("match")
    handles: dict[int, int] = {}
    for i in range(300):
        if i >= 64:
            engine.table_delete("I.exact_t", handles.pop(i - 64))
        match = [Exact(i * 7919), Exact(i), Exact(i % 16)]
        handles[i] = engine.table_insert("I.exact_t", match, 0, ActionCall("I.add_exact", (i,)))
        assert handles[i] < 64
    for i in range(300):
        expected = BASE + (0x100 + i if i in handles else 0)
        assert result(engine, keys(a=i * 7919, c=i, d=i % 16)) == expected


def test_a_full_table_refuses(make_engine: MakeEngine) -> None:
    engine = make_engine("match")
    for i in range(64):
        engine.table_insert("I.lpm6", [Lpm(i << 64, 128)], 0, add(1))
    with pytest.raises(TableFullError, match=r"I\.lpm6"):
        engine.table_insert("I.lpm6", [Lpm(99, 128)], 0, add(1))


def test_longest_prefix_wins(make_engine: MakeEngine) -> None:
    engine = make_engine("match")
    for length in (0, 8, 16, 32):
        prefix = 0x0A010203 >> (32 - length) << (32 - length)
        engine.table_insert("I.lpm4", [Exact(7), Lpm(prefix, length)], 0, add(length))
    base = BASE - 0x200
    for address, length in ((0x0A010203, 32), (0x0A0102FF, 16), (0x0AFF0000, 8), (1, 0)):
        assert result(engine, keys(vrf=7, a=address)) == base + length
    assert result(engine, keys(vrf=8, a=0x0A010203)) == BASE


@pytest.mark.parametrize("length", [1, 4, 12, 19, 20])
def test_prefix_of_a_width_that_is_no_whole_octets(make_engine: MakeEngine, length: int) -> None:
    engine = make_engine("match")
    prefix = 0xABCDE >> (20 - length) << (20 - length)
    engine.table_insert("I.lpm20", [Lpm(prefix, length), Exact(2)], 0, add(9))
    assert result(engine, keys(c=prefix, d=2)) == BASE + 9
    assert result(engine, keys(c=prefix ^ 1 << (20 - length), d=2)) == BASE
    if length < 20:
        assert result(engine, keys(c=prefix | 1, d=2)) == BASE + 9


def test_ternary_priority(make_engine: MakeEngine) -> None:
    engine = make_engine("match")
    any_rest: list[MatchKey] = [Ternary(0, 0), Lpm(0, 0), Ternary(0, 0)]
    handles = [
        engine.table_insert("I.ternary_t", [Ternary(5, mask), *any_rest], priority, add(n))
        for mask, priority, n in ((0, 1, 10), (7, 3, 20), (1, 2, 30))
    ]
    assert result(engine, keys(b=5)) == BASE + 20
    assert result(engine, keys(b=1)) == BASE + 30
    assert result(engine, keys(b=2)) == BASE + 10
    engine.table_delete("I.ternary_t", handles[1])
    assert result(engine, keys(b=5)) == BASE + 30


def test_what_the_same_packet_finds_follows_changes(make_engine: MakeEngine) -> None:
    engine = make_engine("match")
    cases: tuple[tuple[str, bytes, int, tuple[tuple[list[MatchKey], int], ...]], ...] = (
        (
            "I.lpm4",
            keys(vrf=7, a=0x0A010203),
            BASE - 0x200,
            (([Exact(7), Lpm(0x0A000000, 8)], 0), ([Exact(7), Lpm(0x0A010203, 32)], 0)),
        ),
        (
            "I.ternary_t",
            keys(b=5),
            BASE,
            tuple(([Ternary(5, n), Ternary(0, 0), Lpm(0, 0), Ternary(0, 0)], n) for n in (1, 5)),
        ),
    )
    for table, packet, base, entries in cases:
        assert result(engine, packet) == BASE
        handles = []
        for n, (match, priority) in enumerate(entries, 1):
            handles.append(engine.table_insert(table, match, priority, add(n)))
            assert result(engine, packet) == base + n
        engine.table_delete(table, handles.pop())
        assert result(engine, packet) == base + 1
        engine.table_delete(table, handles.pop())
        assert result(engine, packet) == BASE


def test_ranges_are_inclusive(make_engine: MakeEngine) -> None:
    engine = make_engine("match")
    match: list[MatchKey] = [Range(0x100, 0xABC), Range(3, 3), Ternary(0, 0), Exact(1)]
    engine.table_insert("I.range_t", match, 1, add(2))
    for c, hit in ((0xFF, 0), (0x100, 1), (0x101, 1), (0xABC, 1), (0xABD, 0), (0xFFFFF, 0)):
        assert result(engine, keys(c=c, f=3, g=1)) == BASE + 2 * hit
    assert result(engine, keys(c=0x200, f=4, g=1)) == BASE


def test_the_best_of_many_entries_that_come_and_go(make_engine: MakeEngine) -> None:
    """As a look at each of them says; of the same priority it is the one with the lower handle."""
    engine, rng = make_engine("match"), Random(1)
    entries: dict[int, tuple[int, int, int, int, int, int]] = {}
    numbers: dict[int, int] = {}
    for n in range(400):
        if len(entries) > 100 or (entries and rng.random() < 0.4):
            handle = rng.choice(list(entries))
            engine.table_delete("I.range_t", handle)
            del entries[handle]
        else:
            low, high = sorted(rng.choices(range(64), k=2))
            e, mask, g = rng.randrange(4), rng.choice((0, 1, 3)), rng.randrange(3)
            match: list[MatchKey] = [Range(low, high), Range(0, 31), Ternary(e, mask), Exact(g)]
            with suppress(EngineError):  # it is there already
                handle = engine.table_insert("I.range_t", match, n % 5 + 1, add(n))
                entries[handle] = (low, high, e & mask, mask, g, n % 5 + 1)
                numbers[handle] = n
        c, e, g = rng.randrange(64), rng.randrange(4), rng.randrange(3)
        found = [
            (-each[5], handle)
            for handle, each in entries.items()
            if each[0] <= c <= each[1] and e & each[3] == each[2] and g == each[4]
        ]
        expected = BASE + (numbers[min(found)[1]] if found else 0)
        assert result(engine, keys(c=c, e=e, g=g)) == expected


def test_optional(make_engine: MakeEngine) -> None:
    engine = make_engine("match")
    engine.table_insert("I.optional_t", [Exact(4), Ternary(0, 0), Exact(0)], 1, add(2))
    assert result(engine, keys(e=4, g=6)) == BASE + 2
    assert result(engine, keys(e=5)) == BASE


def test_fields_of_invalid_headers_match_zero_and_masks_apply(make_engine: MakeEngine) -> None:
    engine = make_engine("match")
    engine.table_insert("I.masked", [Exact(0x340012), Exact(0)], 0, add(4))
    assert result(engine, keys(b=0xFF56_7834_9912)) == BASE + 4


def test_const_entries(make_engine: MakeEngine) -> None:
    """Table `choose` of kitchen.p4: the first of two matching entries wins; none can be added."""
    engine = make_engine("kitchen")
    wide = ethernet(0x12FF, src=15) + bytes(32) + bytes(16) + b"\x00\x05" + b"\x06\x00"
    engine.inject(1, wide)
    (out,) = engine.outputs()
    assert out.data[14 : 14 + 32] == bytes(30) + b"\x05\x05"
    with pytest.raises(EngineError, match="const"):
        engine.table_insert(
            "I.choose", [Ternary(0, 0), Exact(1), Range(0, 1)], 9, ActionCall("NoAction")
        )


def test_default_entry_set_and_restored(make_engine: MakeEngine) -> None:
    engine = make_engine("match")
    engine.table_set_default("I.lpm6", ActionCall("I.set_spare", (0,)))
    assert result(engine, keys()) == 0x200
    engine.table_set_default("I.lpm6", None)
    assert result(engine, keys()) == BASE


@pytest.mark.parametrize(
    ("table", "match", "action", "words"),
    [
        ("I.none", [], ActionCall("NoAction"), "no table 'I.none'"),
        ("I.lpm6", [], ActionCall("NoAction"), "1 key fields, 0 are given"),
        ("I.lpm6", [Exact(0)], ActionCall("NoAction"), r"lpm\): cannot match Exact"),
        ("I.lpm6", [Lpm(0, 129)], ActionCall("NoAction"), "prefix length 129 of 128"),
        ("I.lpm6", [Lpm(1 << 128, 1)], ActionCall("NoAction"), "does not fit 128 bits"),
        ("I.lpm6", [Lpm(0, 0)], ActionCall("I.nope"), "no action 'I.nope'"),
        ("I.lpm6", [Lpm(0, 0)], ActionCall("I.add"), "takes 1 arguments, 0 are given"),
        ("I.lpm6", [Lpm(0, 0)], ActionCall("I.add", (65536,)), "n=65536 does not fit 16 bits"),
        (
            "I.range_t",
            [Range(2, 1), Range(0, 1), Ternary(0, 0), Exact(0)],
            ActionCall("NoAction"),
            r"empty range 2\.\.1",
        ),
    ],
)
def test_wrong_requests_are_refused(
    make_engine: MakeEngine, table: str, match: list[object], action: ActionCall, words: str
) -> None:
    engine = make_engine("match")
    with pytest.raises(EngineError, match=words):
        engine.table_insert(table, match, 1, action)  # type: ignore[arg-type]


def test_the_same_match_twice_is_refused(make_engine: MakeEngine) -> None:
    engine = make_engine("kitchen")
    match = [Exact(MAC), Exact(1)]
    engine.table_insert("I.l2", match, 0, ActionCall("I.drop"))
    with pytest.raises(EngineError, match="exists already"):
        engine.table_insert("I.l2", match, 0, ActionCall("I.drop"))
    with pytest.raises(EngineError, match="does not exist"):
        engine.table_delete("I.l2", 77)


def test_a_closed_engine_says_so(make_engine: MakeEngine) -> None:
    engine = make_engine("kitchen")
    engine.close()
    engine.close()
    with pytest.raises(EngineError, match="closed"):
        engine.inject(1, bytes(60))
