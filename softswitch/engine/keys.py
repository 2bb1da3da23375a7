"""Encodes match keys as the octets that tables compare."""

from collections.abc import Sequence
from typing import NamedTuple

from fcn.softswitch.api import EngineError, Exact, Lpm, MatchKey, Range, Ternary
from fcn.softswitch.engine.model import Key
from fcn.softswitch.engine.program import TableInfo


class NativeKey(NamedTuple):
    """`octets` are key, mask and upper bound, each as long as the table's key words; `prefix_len`
    is of LPM tables."""

    octets: bytes
    prefix_len: int


def encode(info: TableInfo, match: Sequence[MatchKey]) -> NativeKey:
    """Octets of a match; raises EngineError when it does not fit the table's key."""
    if len(match) != len(info.table.keys):
        raise EngineError(
            f"{info.table.name} has {len(info.table.keys)} key fields, {len(match)} are given"
        )
    if info.exact_mask and (exact := _exact(info, match)) is not None:
        return NativeKey(exact + info.exact_mask + exact, 0)
    key = mask = high = b""
    prefix_len = 0
    for k, x in zip(info.table.keys, match, strict=True):
        value, bits, top, length = _field(info, k, x)
        if length is not None:
            prefix_len = length
        if k.mask is not None:
            value &= k.mask
        key += value.to_bytes(k.size, "big")
        mask += bits.to_bytes(k.size, "big")
        high += top.to_bytes(k.size, "big")
    size = info.words * 8
    octets = key.ljust(size, b"\0") + mask.ljust(size, b"\0") + high.ljust(size, b"\0")
    return NativeKey(octets, prefix_len)


def _exact(info: TableInfo, match: Sequence[MatchKey]) -> bytes | None:
    """The key where nothing is wrong with it."""
    key = b""
    for k, x in zip(info.table.keys, match, strict=True):
        if not isinstance(x, Exact) or x.value >> k.width:
            return None
        key += x.value.to_bytes(k.size)
    return key.ljust(info.words * 8, b"\0")


def _field(info: TableInfo, k: Key, x: MatchKey) -> tuple[int, int, int, int | None]:
    """Value, mask, upper bound and prefix length of one field."""
    full = (1 << k.width) - 1
    if isinstance(x, Exact) and k.kind in ("exact", "optional", "ternary"):
        _check(info, k, x.value, full)
        return x.value, full, x.value, None
    if isinstance(x, Lpm) and k.kind == "lpm":
        if not 0 <= x.prefix_len <= k.width:
            raise EngineError(f"{_place(info, k)}: prefix length {x.prefix_len} of {k.width} bits")
        _check(info, k, x.value, full)
        bits = full >> (k.width - x.prefix_len) << (k.width - x.prefix_len)
        return x.value & bits, bits, 0, x.prefix_len
    if isinstance(x, Ternary) and k.kind in ("ternary", "optional"):
        _check(info, k, x.value, full)
        _check(info, k, x.mask, full)
        return x.value & x.mask, x.mask, 0, None
    if isinstance(x, Range) and k.kind == "range":
        _check(info, k, x.low, full)
        _check(info, k, x.high, full)
        if x.low > x.high:
            raise EngineError(f"{_place(info, k)}: empty range {x.low}..{x.high}")
        return x.low, 0, x.high, None
    raise EngineError(f"{_place(info, k)}: cannot match {type(x).__name__}")


def _check(info: TableInfo, k: Key, value: int, full: int) -> None:
    if not 0 <= value <= full:
        raise EngineError(f"{_place(info, k)}: {value} does not fit {full.bit_length()} bits")


def _place(info: TableInfo, k: Key) -> str:
    return f"{info.table.name}, key {k.name} ({k.kind})"
