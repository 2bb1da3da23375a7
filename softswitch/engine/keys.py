"""Encodes match keys as the octets that tables compare."""

from collections.abc import Sequence
from dataclasses import dataclass

from fcn.softswitch.api import EngineError, Exact, Lpm, MatchKey, Range, Ternary
from fcn.softswitch.engine.program import KeyField, TableInfo


@dataclass(frozen=True, slots=True)
class NativeKey:
    """key, mask and high each fill the table's key words; prefix_len counts for LPM tables."""

    key: bytes
    mask: bytes
    high: bytes
    prefix_len: int


def encode(info: TableInfo, match: Sequence[MatchKey]) -> NativeKey:
    """Octets of a match; raises EngineError when it does not fit the table's key."""
    if len(match) != len(info.keys):
        raise EngineError(
            f"{info.table.name} has {len(info.keys)} key fields, {len(match)} are given"
        )
    key, mask, high = (bytearray(info.words * 8) for _ in range(3))
    prefix_len = 0
    for k, x in zip(info.keys, match, strict=True):
        value, bits, top, length = _field(info, k, x)
        if length is not None:
            prefix_len = length
        if k.mask is not None:
            value &= k.mask
        at = slice(k.offset, k.offset + k.size)
        key[at] = value.to_bytes(k.size, "big")
        mask[at] = bits.to_bytes(k.size, "big")
        high[at] = top.to_bytes(k.size, "big")
    return NativeKey(bytes(key), bytes(mask), bytes(high), prefix_len)


def _field(info: TableInfo, k: KeyField, x: MatchKey) -> tuple[int, int, int, int | None]:
    """Value, mask, upper bound and prefix length of one field."""
    full = (1 << k.width) - 1
    where = f"{info.table.name}, key {k.name} ({k.kind})"
    if isinstance(x, Exact) and k.kind in ("exact", "optional", "ternary"):
        _check(where, x.value, full)
        return x.value, full, x.value, None
    if isinstance(x, Lpm) and k.kind == "lpm":
        if not 0 <= x.prefix_len <= k.width:
            raise EngineError(f"{where}: prefix length {x.prefix_len} of {k.width} bits")
        _check(where, x.value, full)
        bits = full >> (k.width - x.prefix_len) << (k.width - x.prefix_len)
        return x.value & bits, bits, 0, x.prefix_len
    if isinstance(x, Ternary) and k.kind in ("ternary", "optional"):
        _check(where, x.value, full)
        _check(where, x.mask, full)
        return x.value & x.mask, x.mask, 0, None
    if isinstance(x, Range) and k.kind == "range":
        _check(where, x.low, full)
        _check(where, x.high, full)
        if x.low > x.high:
            raise EngineError(f"{where}: empty range {x.low}..{x.high}")
        return x.low, 0, x.high, None
    raise EngineError(f"{where}: cannot match {type(x).__name__}")


def _check(where: str, value: int, full: int) -> None:
    if not 0 <= value <= full:
        raise EngineError(f"{where}: {value} does not fit {full.bit_length()} bits")
