"""Typed options of `fcn-roce`, rendered to its command line."""

from dataclasses import dataclass, field, fields
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Dcqcn:
    """DCQCN reaction point (SIGCOMM 2015, section 3): rates in bit/s, times in microseconds.

    The defaults are those of 40 Gb/s NICs; a demo on a slow path scales them down.
    """

    rate_bps: float = 1e7
    min_rate_bps: float = 1e5
    g: float = 1 / 256
    ai_bps: float = 5e6
    hai_bps: float = 5e7
    alpha_us: int = 55
    increase_us: int = 300
    byte_counter: int = 10 << 20
    fast_recovery: int = 5
    cut_interval_us: int = 0


@dataclass(frozen=True, slots=True)
class QpPair:
    """A queue pair known in advance, as exchanged out of band (no CM)."""

    local: int
    remote: int

    def __str__(self) -> str:
        return f"{self.local}:{self.remote}"


@dataclass(frozen=True, slots=True)
class Receiver:
    """Receiver role: DCQCN notification point; `cnp_interval_us` is per queue pair."""

    local: str
    log: Path
    log_interval_ms: int = 10
    cnp_interval_us: int = 50
    first_qp: int = 0x11
    pairs: tuple[QpPair, ...] = ()

    def arguments(self) -> list[str]:
        return ["recv", *_options(self)]


@dataclass(frozen=True, slots=True)
class Sender:
    """Sender role. `mtu` is RDMA payload in octets, `start_at_ns` CLOCK_MONOTONIC (0: at once).
    After `timeout_ms` without progress all that was not acknowledged is sent again.

    With `link_rate_bps`, the rate of its link in bit/s, it heeds PAUSE frames (IEEE 802.1Qbb) for
    the priority of its packets; with 0 it does not.

    With `round_ms`, traffic comes in rounds from the first packet on: messages begin in the first
    `sending_ms` of each, and `reset_ms` after it begins reaction points are as new (line rate,
    alpha 1), which event `reset` says.

    After `duration_ms` of sending it stays connected for `hold_ms` or until SIGINT.
    """

    local: str
    remote: str
    log: Path
    log_interval_ms: int = 10
    qps: int = 1
    first_qp: int = 0x11
    mtu: int = 1024
    ecn: str = "ect0"
    message_packets: int = 16
    timeout_ms: int = 500
    start_at_ns: int = 0
    duration_ms: int = 10_000
    hold_ms: int = 0
    round_ms: int = 0
    sending_ms: int = 0
    reset_ms: int = 0
    link_rate_bps: int = 0
    pairs: tuple[QpPair, ...] = ()
    dcqcn: Dcqcn = field(default_factory=Dcqcn)

    def arguments(self) -> list[str]:
        return ["send", *_options(self), *_options(self.dcqcn)]


def _options(value: Sender | Receiver | Dcqcn) -> list[str]:
    arguments: list[str] = []
    for each in fields(value):
        content = getattr(value, each.name)
        if each.name == "pairs":
            arguments += [part for pair in content for part in ("--qp", str(pair))]
        elif not isinstance(content, Dcqcn):
            arguments += [f"--{each.name.replace('_', '-')}", str(content)]
    return arguments
