"""Amounts with their unit, as files and command lines write them; rates of links."""

import re
from collections.abc import Mapping
from fractions import Fraction

MAX_RATE_BPS = 4 * 10**12
"""Bits per second of a link: the programs have kilobits per second in 32 bits."""

NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
OCTETS = {
    "GB": 10**9, "GiB": 1 << 30, "MB": 10**6, "MiB": 1 << 20, "kB": 10**3, "KB": 10**3,
    "KiB": 1 << 10, "B": 1,
}  # fmt: skip
"""As everywhere in networks k and M are powers of 10; KB is read as kB. Ki and Mi are of 1024."""

_AMOUNT = re.compile(r"([0-9]{1,30}(?:\.[0-9]{1,30})?) ?([A-Za-z/]+)")
_BITS = {"Tb/s": 10**12, "Gb/s": 10**9, "Mb/s": 10**6, "kb/s": 10**3, "b/s": 1}


def read_amount(value: object, units: Mapping[str, int | Fraction], what: str) -> Fraction:
    """A number and one of the units. Raises ValueError, which says that it is not `what`."""
    found = _AMOUNT.fullmatch(value) if isinstance(value, str) else None
    if not found or found[2] not in units:
        raise ValueError(f"{value!r} is not {what}")
    return Fraction(found[1]) * units[found[2]]


def parse_rate(value: object) -> int:
    """Bits per second from `100 Gb/s` or `2.5Mb/s`. Raises ValueError."""
    rate = round(read_amount(value, _BITS, "a rate; write 100 Gb/s or 2.5 Mb/s"))
    if not 0 < rate <= MAX_RATE_BPS:
        raise ValueError(f"{value!r} is not above 0 and at most {MAX_RATE_BPS // 10**12} Tb/s")
    return rate


def format_rate(rate: int) -> str:
    """The shortest notation that parse_rate() reads as the same bits per second."""
    unit = next(name for name, bits in _BITS.items() if rate % bits == 0)
    return f"{rate // _BITS[unit]} {unit}"
