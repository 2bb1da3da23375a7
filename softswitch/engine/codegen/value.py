"""C values of exact integers.

simple_switch computes with integers of any size and truncates them when they are stored. Here every
expression carries the range its value can have, and is computed in the narrowest C type that holds
that range; where only the low bits matter (`demand`), modulo a power of two.
"""

from dataclasses import dataclass

from fcn.softswitch.engine.errors import UnsupportedError

# In order of preference; "w" is the multi-limb type of sw_wide.h.
_KINDS = ("u64", "s64", "u128", "s128")
_CTYPE = {"u64": "uint64_t", "s64": "int64_t", "u128": "u128", "s128": "s128", "w": "sw_w"}
MAX_BITS = 4096


@dataclass(frozen=True)
class Value:
    """A C expression; exact values are in [low, high], others are correct in `demand` low bits."""

    code: str
    kind: str
    low: int
    high: int
    demand: int | None = None


def bits_of(low: int, high: int) -> int:
    """Width in two's complement of every integer in [low, high]."""
    return max(high.bit_length(), (-low - 1).bit_length() if low < 0 else 0) + 1


def kind_of(low: int, high: int) -> str:
    """The narrowest kind that holds [low, high]."""
    if low >= 0:
        if high < 1 << 64:
            return "u64"
        if high < 1 << 128:
            return "u128"
    elif bits_of(low, high) <= 64:
        return "s64"
    elif bits_of(low, high) <= 128:
        return "s128"
    if bits_of(low, high) > MAX_BITS:
        raise UnsupportedError(f"an intermediate result of more than {MAX_BITS} bits")
    return "w"


def modular_kind(demand: int) -> str:
    """The kind for arithmetic modulo 2**demand."""
    return "u64" if demand <= 64 else "u128" if demand <= 128 else "w"


def common_kind(a: Value, b: Value) -> str:
    """A kind that holds the ranges of both."""
    return kind_of(min(a.low, b.low), max(a.high, b.high))


def ctype(kind: str) -> str:
    return _CTYPE[kind]


def convert(v: Value, kind: str) -> str:
    """v's code in another kind, equal modulo the width of the narrower one."""
    if v.kind == kind:
        return v.code
    if kind == "w":
        signed = v.kind.startswith("s")
        return f"sw_w_{'s' if signed else 'u'}({v.code})"
    if v.kind == "w":
        return f"(({ctype(kind)})sw_w_low({v.code}))"
    return f"(({ctype(kind)})({v.code}))"


def constant(value: int, kind: str | None = None) -> Value:
    """An integer literal."""
    kind = kind or kind_of(value, value)
    if kind == "w":
        size = max(1, (bits_of(value, value) + 7) // 8)
        data = ", ".join(str(b) for b in value.to_bytes(size, "big", signed=True))
        load = f"sw_w_ld((const uint8_t[]){{{data}}}, {size})"
        if value < 0:
            load = f"sw_w_sext({load}, {8 * size})"
        return Value(load, kind, value, value)
    if kind in ("u64", "s64"):
        word = value & (1 << 64) - 1
        code = f"{word:#x}ULL" if kind == "u64" else f"((int64_t){word:#x}ULL)"
    else:
        word = value & (1 << 128) - 1
        code = f"((u128){word >> 64:#x}ULL << 64 | {word & (1 << 64) - 1:#x}ULL)"
        if kind == "s128":
            code = f"((s128){code})"
    return Value(code, kind, value, value)


def cut(v: Value, width: int) -> Value:
    """The low `width` bits as an unsigned number."""
    high = (1 << width) - 1
    if v.demand is None and v.low >= 0 and v.high <= high:
        return v
    kind = modular_kind(width)
    code = convert(v, kind)
    if kind == "w":
        return Value(f"sw_w_cut({code}, {width})", kind, 0, high)
    if width in (64, 128):
        return Value(code, kind, 0, high)
    mask = constant(high, kind).code
    return Value(f"({code} & {mask})", kind, 0, high)


def sign_extend(v: Value, width: int) -> Value:
    """The low `width` bits read in two's complement."""
    low, high = -(1 << width - 1), (1 << width - 1) - 1
    if v.demand is None and v.low >= low and v.high <= high:
        return v
    kind = modular_kind(width)
    code = convert(v, kind)
    if kind == "w":
        return Value(f"sw_w_sext({code}, {width})", "w", low, high)
    if kind == "u64":
        return Value(f"sw_sext64({code}, {width})", "s64", low, high)
    return Value(f"sw_sext128({code}, {width})", "s128", low, high)
