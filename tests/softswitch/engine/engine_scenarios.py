"""Entries and packets, valid and malformed, of each test program, generated from a seed.

A scenario's entries are written through methods of the names and arguments of softswitch.api, so
the same function configures the softswitch and BMv2.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fcn.softswitch.api import (
    ActionCall,
    Exact,
    GroupMember,
    GroupRef,
    Lpm,
    MatchKey,
    MemberRef,
    Range,
    Replica,
    TableAction,
    Ternary,
)

PROGRAMS = Path(__file__).parent.parent / "p4"
PORTS = (1, 2, 3, 4)
RECIRCULATE_PORT = 509


class Target(Protocol):
    """A switch under test; see softswitch.api.Engine."""

    def table_insert(
        self, table: str, match: Sequence[MatchKey], priority: int, action: TableAction
    ) -> object: ...
    def table_set_default(self, table: str, action: ActionCall) -> None: ...
    def value_set_write(self, value_set: str, values: Sequence[int]) -> None: ...
    def member_insert(self, profile: str, member_id: int, action: ActionCall) -> None: ...
    def group_set(self, profile: str, group_id: int, members: Sequence[GroupMember]) -> None: ...
    def clone_session_set(
        self, session_id: int, replicas: Sequence[Replica], class_of_service: int, truncate: int
    ) -> None: ...
    def multicast_group_set(self, group_id: int, replicas: Sequence[Replica]) -> None: ...


@dataclass(frozen=True)
class Scenario:
    """A program with its entries and its traffic."""

    name: str
    setup: Callable[[Target], None]
    packet: Callable[[random.Random, int], bytes]
    ports: tuple[int, ...] = PORTS
    json: Path | None = None
    counters: tuple[tuple[str, int], ...] = ()
    thrift: bool = False
    """Whether BMv2 has no P4Runtime for a part of the setup."""

    @property
    def path(self) -> Path:
        """The compiled program."""
        return self.json or PROGRAMS / f"{self.name}.json"

    def batches(self, seed: int, count: int, size: int) -> Iterator[tuple[int, list[bytes]]]:
        """Traffic: ports, each with packets that arrive there; one packet in four is malformed."""
        rng = random.Random(seed)
        while count > 0:
            port = rng.choice(self.ports)
            n = min(size, count)
            count -= n
            yield port, [mutate(rng, self.packet(rng, port)) for _ in range(n)]

    def packets(self, seed: int, count: int) -> Iterator[tuple[int, bytes]]:
        """The same traffic, packet by packet."""
        for port, (data,) in self.batches(seed, count, 1):
            yield port, data


def mutate(rng: random.Random, data: bytes) -> bytes:
    """The packet, in a quarter of all cases cut short, lengthened or with bits flipped."""
    kind = rng.randrange(12)
    if kind == 0:
        # Shorter frames do not pass an interface: Linux parses VLAN tags itself.
        shortest = 20 if data[12:14] == b"\x81\x00" else 14
        return data[: rng.randrange(shortest, max(shortest + 1, len(data)))]
    if kind == 1:
        out = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
        return bytes(out)
    if kind == 2:
        return data + rng.randbytes(rng.randrange(1, 600))
    return data


def interesting(rng: random.Random, width: int) -> int:
    """A number of `width` bits: small, near a bound, or anything."""
    full = (1 << width) - 1
    pick = rng.randrange(6)
    if pick == 0:
        return rng.randrange(min(full, 8) + 1)
    if pick == 1:
        return full - rng.randrange(min(full, 8) + 1)
    if pick == 2:
        return 1 << rng.randrange(width)
    return rng.randrange(full + 1)


def pack(*fields: tuple[int, int]) -> bytes:
    """(value, width) pairs to octets."""
    value = bits = 0
    for x, width in fields:
        value = value << width | x & (1 << width) - 1
        bits += width
    return value.to_bytes(bits // 8, "big")


MAC = 0x112233445566


def ethernet(ethertype: int, dst: int = MAC, src: int = 0x0A0000000001) -> bytes:
    """An Ethernet header."""
    return pack((dst, 48), (src, 48), (ethertype, 16))


# kitchen


def _kitchen_setup(t: Target) -> None:
    for port in PORTS:
        t.table_insert(
            "I.l2", [Exact(MAC), Exact(port)], 0,
            ActionCall("I.forward", (port % 4 + 1, 0xAABBCCDDEE00 + port)),
        )  # fmt: skip


def _kitchen_ip(rng: random.Random) -> bytes:
    ihl = rng.choice((5, 5, 5, 6, 10, 15, 4, 0))
    body = pack(
        (rng.choice((4, 4, 4, 4, 6)), 4), (ihl, 4), (rng.randrange(16), 8), (100, 16), (7, 16),
        (2, 3), (0, 13), (rng.choice((64, 2, 1, 0)), 8), (17, 8), (rng.randrange(1 << 16), 16),
        (rng.randrange(4), 32), (rng.randrange(4), 32),
    )  # fmt: skip
    return body + rng.randbytes(max(0, ihl - 5) * 4)


def _kitchen(rng: random.Random, _port: int) -> bytes:
    src = rng.choice((1, 0x800000, 0x7FFFFF, rng.randrange(1 << 48)))
    kind = rng.randrange(4)
    if kind == 0:
        out = ethernet(0x8847, src=src)
        n = rng.randrange(1, 7)
        for i in range(n):
            out += pack((rng.randrange(99), 20), (rng.choice((0, 7)), 3), (i == n - 1, 1),
                        (rng.randrange(4), 8))  # fmt: skip
        return out + rng.choice((b"", _kitchen_ip(rng), b"\x42", b"\x61"))
    if kind == 1:
        return ethernet(0x0800, src=src) + _kitchen_ip(rng) + rng.randbytes(20)
    if kind == 2:
        wide = pack(
            (interesting(rng, 256), 256),
            (interesting(rng, 128), 128),
            (interesting(rng, 16), 16),
            (rng.choice((0, 3, 7, 100, 127)), 7),
            (0, 9),
        )
        return ethernet(rng.choice((0x1200, 0x12FF)), src=src) + wide + rng.randbytes(100)
    return ethernet(rng.randrange(1 << 16), dst=MAC ^ rng.randrange(2), src=src) + rng.randbytes(9)


# match


def match_entries(rng: random.Random) -> Iterator[tuple[str, list[MatchKey], int, ActionCall]]:
    """Entries of match.p4; small numbers, so that packets hit them."""

    def add(n: int) -> ActionCall:
        return ActionCall("I.add", (n,))

    for i in range(24):
        yield (
            "I.exact_t", [Exact(i % 3), Exact(i % 4), Exact(i // 12)], 0,
            ActionCall("I.add_exact", (i + 1,)),
        )  # fmt: skip
    for vrf in range(3):
        for length in (0, 1, 8, 9, 24, 31, 32):
            prefix = 0x0A000000 >> (32 - length) << (32 - length)
            yield "I.lpm4", [Exact(vrf), Lpm(prefix, length)], 0, add(40 + vrf * 40 + length)
    for length in (0, 3, 64, 65, 127, 128):
        prefix = (0x20010DB8 << 96 | 5) >> (128 - length) << (128 - length)
        call = ActionCall("I.set_spare", (length,)) if length == 65 else add(length * 3)
        yield "I.lpm6", [Lpm(prefix, length)], 0, call
    for i in range(30):
        mask = rng.choice((0, 1, 3, (1 << 128) - 1, 0xFF << 96))
        yield (
            "I.ternary_t",
            [
                Ternary(interesting(rng, 128) & mask, mask),
                Ternary(i & 3, rng.choice((0, 3, 31)) & 31 if i & 1 else 3),
                Lpm(0x0A000000 if i & 4 else 0, 8 if i & 4 else 0),
                Ternary(0, i & 8 and 1),
            ],
            i + 1,
            add(i * 64) if i % 3 else ActionCall("I.set_spare", (i * 5,)),
        )
    for i in range(20):
        low = interesting(rng, 20)
        yield (
            "I.range_t",
            [
                Range(low, max(low, interesting(rng, 20))) if i % 4 else Range(0, (1 << 20) - 1),
                Range(i % 8, 31 - i % 5),
                Ternary(i & 1, 1),
                Exact(i % 3),
            ],
            100 - i,
            add(i * 128 + 1),
        )
    for i in range(12):
        yield (
            "I.optional_t",
            [
                Ternary(i % 3, 0xFF) if i % 2 else Ternary(0, 0),
                Ternary(i % 4, 7) if i % 3 else Ternary(0, 0),
                Exact(i % 3),
            ],
            i + 1,
            add(7 + i * 512),
        )


def _match_setup(t: Target) -> None:
    seen = set()
    for table, match, priority, action in match_entries(random.Random(5)):
        key = (table, tuple(match), priority)
        if key not in seen:
            seen.add(key)
            t.table_insert(table, match, priority, action)


def _match(rng: random.Random, _port: int) -> bytes:
    keys = pack(
        (rng.randrange(4), 16),
        (rng.choice((0, 1, 2, 0x0A000000, 0x0A000001, 0x0AFF0000, interesting(rng, 32))), 32),
        (rng.choice((0x20010DB8 << 96 | 5, 0x20010DB8 << 96 | 4, interesting(rng, 128))), 128),
        (rng.choice((0, 1, 2, 3, 0xABCDE, 0xABC00, interesting(rng, 20))), 20),
        (rng.randrange(3), 4), (rng.randrange(4), 8), (rng.randrange(32), 5), (rng.randrange(4), 3),
        (0, 16),
    )  # fmt: skip
    return ethernet(rng.choice((0x7777,) * 9 + (1,))) + keys + rng.randbytes(rng.randrange(40))


# selector


def _selector_setup(t: Target) -> None:
    for i in range(5):
        t.member_insert("I.ap", i + 1, ActionCall("I.first", (i * 11,)))
    for i in range(6):
        t.table_insert("I.indirect", [Exact(i)], 0, MemberRef(i % 5 + 1))
    for i in range(8):
        t.member_insert("I.sel16", i + 1, ActionCall("I.second", (i + 100,)))
    groups = {
        1: [(1, 1), (2, 1), (3, 1)], 2: [(4, 3), (5, 1), (6, 2)], 3: [(2, 5)],
        4: [(8, 1), (1, 2), (7, 1)],
    }  # fmt: skip
    for number, members in groups.items():
        t.group_set("I.sel16", number, [GroupMember(m, w) for m, w in members])
    for i in range(4):
        t.table_insert("I.ecmp", [Lpm(i << 30, 2)], 0, GroupRef(i + 1))
    t.table_insert("I.ecmp", [Lpm(0x55000000, 8)], 0, MemberRef(3))
    for i in range(7):
        call = ActionCall("I.third", (i % 4 + 1, 200 + i)) if i else ActionCall("I.first", (999,))
        t.member_insert("I.sel32", i + 1, call)
    t.group_set("I.sel32", 1, [GroupMember(i + 1, 1) for i in range(7)])
    for i in range(6):
        t.table_insert("I.ecmp2", [Exact(i)], 0, GroupRef(1))


def _selector(rng: random.Random, _port: int) -> bytes:
    flow = pack((rng.randrange(1 << 32), 32), (rng.randrange(1 << 128), 128),
                (rng.randrange(1 << 20), 20), (3, 4), (rng.randrange(256), 8), (0, 48))  # fmt: skip
    return ethernet(rng.randrange(8), src=rng.randrange(1 << 48)) + flow + rng.randbytes(8)


# replicate


def _replicate_setup(t: Target) -> None:
    t.clone_session_set(7, [Replica(3, 5)], 0, 0)
    t.clone_session_set(8, [Replica(3, 1), Replica(4, 2)], 0, 0)
    t.multicast_group_set(1, [Replica(1, 1), Replica(2, 1), Replica(3, 2)])
    t.multicast_group_set(2, [Replica(4, 9)])


def _replicate(rng: random.Random, _port: int) -> bytes:
    ops = 0
    for _ in range(rng.randrange(4)):
        ops |= 1 << rng.randrange(16)
    tail = rng.choice((0, 0xEE))
    op = pack((ops, 16), (0, 8), (0, 8), (0, 16), (rng.choice((0, 1, 2, 3, 5, 60)), 16), (0, 16),
              (0, 16), (rng.randrange(1 << 16), 16), (tail, 8))  # fmt: skip
    return ethernet(rng.choice((0x7778,) * 9 + (2,))) + op + rng.randbytes(rng.randrange(90))


# hashes, stacks, arith


def _hashes(rng: random.Random, _port: int) -> bytes:
    fields = pack(
        (rng.randrange(1 << 32), 32), (rng.randrange(1 << 20), 20), (rng.randrange(6), 4),
        (interesting(rng, 128), 128), (rng.choice((1, 1, 0, 5)), 7), (rng.randrange(2), 1),
        (0, 48), (0, 16), (0, 16), (3, 8),
    )  # fmt: skip
    return ethernet(1, src=rng.randrange(1 << 48)) + fields + rng.randbytes(rng.randrange(70))


def _stacks(rng: random.Random, _port: int) -> bytes:
    out = ethernet(1) + pack((rng.randrange(16), 4), (rng.randrange(7), 4), (0, 16))
    n = rng.randrange(1, 9)
    for i in range(n):
        kind = rng.choice((0, 1, 2, 0x55, 0x10, 0x21, 0x22, rng.randrange(128)))
        out += pack((kind, 7), (i == n - 1, 1), (interesting(rng, 16), 16),
                    (interesting(rng, 128), 128))  # fmt: skip
        if kind & 0x70 == 0x10 and i < n - 1:
            out += b"\xab\xcd"
    return out + rng.randbytes(rng.randrange(30))


_ARITH = (8, 8, 13, 3, 32, 32, 64, 64, 128, 128, 8, 32, 64, 200, 200, 120)


def _arith(rng: random.Random, _port: int) -> bytes:
    return ethernet(1) + pack(*((interesting(rng, w), w) for w in _ARITH))


# state


def _state_setup(t: Target) -> None:
    t.table_insert("I.t", [Exact(MAC)], 0, ActionCall("I.keep"))


def _state(rng: random.Random, _port: int) -> bytes:
    op = pack((rng.randrange(256), 8), (7, 8), (7, 8), (interesting(rng, 16), 16),
              (interesting(rng, 64), 64), (rng.randrange(16), 4), (0, 4), (0, 16))  # fmt: skip
    return ethernet(1, dst=rng.choice((MAC, MAC + 1))) + op + rng.randbytes(rng.randrange(60))


# unions


def _union(rng: random.Random) -> bytes:
    """A header whose first two bits tell which one it is."""
    kind = rng.randrange(3)
    first = (kind << 6 | rng.randrange(64)).to_bytes(1, "big")
    return first + rng.randbytes((1, 4, 7)[kind])


def _unions(rng: random.Random, _port: int) -> bytes:
    n = rng.randrange(7)
    out = ethernet(1) + pack((rng.randrange(16), 4), (n, 4), (0, 16))
    out += _union(rng)
    for _ in range(max(0, n + rng.choice((0, 0, 0, 1, -1)))):
        out += _union(rng)
    return out + rng.randbytes(rng.randrange(20))


# valuesets

_WIDE = (0x1234 << 184 | 5, (1 << 200) - 1)


def _valuesets_setup(t: Target) -> None:
    t.value_set_write("P.types", [2, 0x8001])
    t.value_set_write("P.pairs", [a << 4 | c for a, c in ((1, 1), (1, 9), (2, 3), (7, 15))])
    t.value_set_write("P.wides", _WIDE)


def _valuesets(rng: random.Random, _port: int) -> bytes:
    wide = rng.choice((*_WIDE, _WIDE[0] ^ 1, rng.randrange(1 << 200)))
    a, c = rng.choice(((1, 1), (1, 9), (2, 3), (2, 4), (7, 15), (0, 0), (7, 7)))
    ctl = pack((a, 3), (rng.randrange(32), 5), (c, 4), (0, 4), (wide, 200))
    return ethernet(rng.choice((1, 2, 0x8001, 3))) + ctl + rng.randbytes(rng.randrange(40))


# varbits


def _varbits(rng: random.Random, _port: int) -> bytes:
    n = rng.choice((*range(9), 9))
    k = rng.choice((n, *range(9)))
    number = rng.choice((0, 5, rng.randrange(256)))

    def varbit(size: int) -> bytes:
        value = number if rng.randrange(3) else rng.randrange(1 << 64)
        return (value % (1 << 8 * size)).to_bytes(size, "big")

    ctl = pack((rng.choice((0, 1, 2, 3, 9)), 8), (n, 8), (k, 8), (0, 16))
    first = rng.randrange(2).to_bytes(1, "big")
    fields = first + varbit(n) + b"\1" + varbit(k) + varbit(k) + rng.randbytes(2 + n)
    return ethernet(1) + ctl + fields + rng.randbytes(rng.randrange(40))


def _nothing(_: Target) -> None:
    return None


SCENARIOS = (
    Scenario("kitchen", _kitchen_setup, _kitchen),
    Scenario("match", _match_setup, _match),
    Scenario("selector", _selector_setup, _selector),
    Scenario("replicate", _replicate_setup, _replicate),
    Scenario("hashes", _nothing, _hashes),
    Scenario("stacks", _nothing, _stacks),
    Scenario("arith", _nothing, _arith),
    Scenario("unions", _nothing, _unions),
    Scenario("valuesets", _valuesets_setup, _valuesets, thrift=True),
    Scenario("varbits", _nothing, _varbits),
    Scenario("state", _state_setup, _state, counters=(("I.seen", 16),)),
)
