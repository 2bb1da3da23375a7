"""Hosts of a simulation."""

from collections.abc import Sequence
from dataclasses import dataclass

from fcn.lab.errors import LabError
from fcn.lab.native_handle import NativeLab

MAX_FRAME = 10_240
"""Octets; that of the softswitch."""

_PS_PER_S = 10**12


@dataclass(frozen=True, slots=True)
class HostCounters:
    """Frames of a host since the start: made = sent + queued.

    overflowed: received ones that its memory had no room for (see Pfc). unlinked: sent while it had
    no link. timed: received ones that a host sent and no switch
    generated; with the sum, the least and the greatest time from a host's order to send until the
    last bit arrived.
    """

    made: int
    sent: int
    sent_octets: int
    queued: int
    received: int
    received_octets: int
    overflowed: int
    unlinked: int
    timed: int
    delay_sum_ns: int
    delay_min_ns: int
    delay_max_ns: int


class HostNode:
    """A host: one port, and what it is told to send. It receives everything."""

    def __init__(self, native: NativeLab, name: str) -> None:
        self.name = name
        self.number = native.call("add_host")
        self.native = native

    def set_line(self, rate_bps: int, overhead: int) -> None:
        """The rate of its port (0: unlimited) and octets of a frame on the wire beyond its own."""
        self.native.call("set_line", self.number, rate_bps, overhead)

    def send(self, frame: bytes) -> None:
        """Send one frame now. Raises LabError when it is too long."""
        self._check([frame])
        self.native.call("send_frame", self.number, len(frame), frame)

    def send_series(
        self,
        frames: Sequence[bytes],
        *,
        per_second: float,
        count: int | None = None,
        start_ns: int = 0,
        poisson: bool = False,
    ) -> None:
        """Send frames in turn from `start_ns` on, `count` in all (None: for ever).

        per_second: frames per second, at a constant rate or as a Poisson process; the time between
        frames is rounded to picoseconds. Replaces an earlier series. Raises LabError.
        """
        if not frames or not per_second > 0 or (count is not None and count < 1):
            raise LabError("a series has frames, a rate above 0 and a number of frames above 0")
        self._check(frames)
        self.native.call(
            "send_series",
            self.number,
            start_ns,
            round(_PS_PER_S / per_second),
            poisson,
            count or 0,
            *self.native.frames(frames),
        )

    def counters(self) -> HostCounters:
        return HostCounters(**self.native.read("lab_host_stats", "host_stats_of", self.number))

    def reset_delays(self) -> None:
        """Measure delays from now on."""
        self.native.call("reset_delays", self.number)

    def _check(self, frames: Sequence[bytes]) -> None:
        longest = max(len(frame) for frame in frames)
        if longest > MAX_FRAME:
            raise LabError(
                f"{self.name}: a frame of {longest} octets is longer than {MAX_FRAME}, the longest"
            )
