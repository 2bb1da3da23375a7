"""Amounts as people read them: `1.25 ms`, `92.4 Gb/s`, `1.2 MB`, `1,234`."""

import math
from typing import Literal

Unit = Literal["ns", "bps", "octets", "count", "ratio", "share"]

NOTHING = "–"  # noqa: RUF001 - an en dash, in the place of a number

_SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")),
    "bps": ((1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1, "b/s")),
    "octets": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")),
}


def scale(largest: float, unit: Unit) -> tuple[float, str]:
    """What one of the unit's multiples is, and its name, for amounts up to the largest."""
    scales = _SCALES[unit]
    return next((each for each in scales if largest >= each[0]), scales[-1])


def show(value: object, unit: Unit) -> str:
    """A value in a unit, with four significant digits; counts are whole; a dash for nothing."""
    if not isinstance(value, int | float) or math.isnan(value):
        return NOTHING
    if unit == "share":
        return f"{100 * value:.2f} %"
    if unit == "ratio":
        return f"{value:.4f}"
    if unit == "count":
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
    one, name = scale(abs(value), unit)
    number = f"{value / one:.4g}" if abs(value) / one < 1e4 else f"{value / one:,.0f}"
    return f"{number} {name}"
