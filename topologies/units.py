"""Lengths of time and cable, and rates, as descriptions of networks write them."""

from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator

from fcn.contract.units import NANOSECONDS, OCTETS, parse_rate, read_amount

NS_PER_KM = 5000
"""Propagation in fibre, refractive index 1.5."""

MAX_DELAY_NS = 10 * 10**9
MAX_TIME_NS = 1000 * 10**9

_LENGTHS = {"m": Fraction(NS_PER_KM, 1000), "km": Fraction(NS_PER_KM)}
_PACKETS = {"pps": 1, "packets/s": 1, "kpps": 10**3, "Mpps": 10**6}


def parse_delay(value: Any) -> int:  # noqa: ANN401
    """Nanoseconds of one way, from a time (`1ms`, `250 us`) or a length of fibre (`200 km`)."""
    units: dict[str, int | Fraction] = {**NANOSECONDS, **_LENGTHS}
    delay = read_amount(value, units, "a delay or a length of fibre; write 1ms, 250us or 200km")
    if delay > MAX_DELAY_NS:
        raise ValueError(f"{value!r} is longer than {MAX_DELAY_NS // 10**9} s")
    return round(delay)


def parse_time(value: Any) -> int:  # noqa: ANN401
    """Nanoseconds from `10us`, `2.5 ms` or `1s`."""
    time = round(read_amount(value, NANOSECONDS, "a time; write 10us, 2.5 ms or 1s"))
    if time > MAX_TIME_NS:
        raise ValueError(f"{value!r} is longer than {MAX_TIME_NS // 10**9} s")
    return time


def parse_packet_rate(value: Any) -> int:  # noqa: ANN401
    """Packets per second from `1000 packets/s`, `1000 pps` or `2.5 kpps`."""
    rate = round(read_amount(value, _PACKETS, "a packet rate; write 1000 packets/s or 2.5 kpps"))
    if not 0 < rate <= 10**9:
        raise ValueError(f"{value!r} is not above 0 and at most 1000 Mpps")
    return rate


def parse_size(value: Any) -> int:  # noqa: ANN401
    """Octets from `1500B`, `64kB` (of 1000), `64KiB` (of 1024), MB, MiB, GB or GiB."""
    return round(read_amount(value, OCTETS, "a size; write 1500B, 64kB, 64KiB or 1MB"))


Delay = Annotated[int, BeforeValidator(parse_delay)]
Time = Annotated[int, BeforeValidator(parse_time)]
Rate = Annotated[int, BeforeValidator(parse_rate)]
PacketRate = Annotated[int, BeforeValidator(parse_packet_rate)]
