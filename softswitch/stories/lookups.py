"""What tables were asked and found."""

import struct
from dataclasses import dataclass
from functools import lru_cache

from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.program import Program, TableInfo
from fcn.softswitch.stories.story import Key, Lookup
from fcn.softswitch.stories.words import value

_LOOKUP = struct.Struct("=IIIiIIII")
_HAS_ENTRY, _HAS_MASK, _HAS_HIGH, _OF_MEMBER, _OF_GROUP = 1, 2, 4, 8, 16
_NONE = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class _Entry:
    key: bytes
    mask: bytes | None
    high: bytes | None
    prefix_len: int


class Lookups:
    """Reads SW_T_TABLE records of a program."""

    def __init__(self, program: Program) -> None:
        self._tables = program.tables
        self._actions = program.model.actions

    @staticmethod
    def action_id(record: bytes) -> int:
        """The action that was taken; of none, one that there is not."""
        number: int = _LOOKUP.unpack_from(record)[1]
        return number

    @lru_cache(maxsize=1 << 12)  # noqa: B019 - there is one for each trace
    def read(self, table: str, hit: bool, action: str, record: bytes) -> Lookup:
        n, number, _, priority, prefix_len, has, _, _ = _LOOKUP.unpack_from(record)
        octets, at = n * 8, _LOOKUP.size

        def take(present: bool) -> bytes | None:
            nonlocal at
            if not present:
                return None
            at += octets
            return record[at - octets : at]

        asked = take(True) or b""
        key, mask, high = (take(bool(has & part)) for part in (_HAS_ENTRY, _HAS_MASK, _HAS_HIGH))
        info = self._tables[table]
        entry = None if key is None else _Entry(key, mask, high, prefix_len)
        ranked = entry is not None and mask is not None
        return Lookup(
            hit=hit,
            keys=self._keys(info, asked, entry),
            action=action,
            arguments=self._arguments(number, record[at:]),
            # Const entries of a program come before those with a lower number.
            priority=abs(priority) if ranked else None,
            chosen=_chosen(has),
        )

    @staticmethod
    def _keys(info: TableInfo, asked: bytes, entry: _Entry | None) -> list[Key]:
        keys = []
        at = 0
        for field in info.table.keys:
            place = slice(at, at + field.size)
            text = "" if entry is None else _match(field, entry, place)
            bits = int.from_bytes(asked[place], "big")
            keys.append(Key(field.name, value(field.name, bits, field.width), text))
            at += field.size
        return keys

    def _arguments(self, action: int, octets: bytes) -> dict[str, str]:
        if action == _NONE or action not in self._actions:
            return {}
        found, at = {}, 0
        for p in self._actions[action].params:
            size = (p.width + 7) // 8
            if at + size > len(octets):
                break
            found[p.name] = value(p.name, int.from_bytes(octets[at : at + size], "big"), p.width)
            at += size
        return found


def _match(field: m.Key, entry: _Entry, place: slice) -> str:
    """What an entry has for a key field."""

    def of(octets: bytes) -> int:
        return int.from_bytes(octets[place], "big")

    text = value(field.name, of(entry.key), field.width)
    if field.kind == "lpm":
        return f"{text}/{entry.prefix_len}"
    if field.kind == "range" and entry.high is not None:
        return f"{text}..{value(field.name, of(entry.high), field.width)}"
    if entry.mask is None:
        return text
    mask = of(entry.mask)
    if mask == 0:
        return "any"
    return text if mask == (1 << field.width) - 1 else f"{text} &&& {mask:#x}"


def _chosen(has: int) -> str:
    """By what an entry of a table with an action profile has an action."""
    return "member" if has & _OF_MEMBER else "group" if has & _OF_GROUP else ""
