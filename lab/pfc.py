"""Flow control by priority (IEEE 802.1Qbb): PAUSE frames, and the memory they protect."""

from collections.abc import Mapping
from dataclasses import dataclass

from fcn.lab.errors import LabError
from fcn.lab.hosts import MAX_FRAME
from fcn.lab.native_handle import NativeLab

PRIORITIES = 8
MOST_PAUSES = 1 << 20
PAUSE_OCTETS = 60
_MOST_OCTETS = (1 << 32) - 1
_MOST_QUANTA = (1 << 16) - 1
_QUANTUM_BITS = 512


@dataclass(frozen=True, slots=True)
class Pfc:
    """Flow control of a port. It honours PAUSE frames of its priorities.

    A switch sends them, too: it counts what it received from the port and has not sent on yet, for
    each priority; above `xoff` octets it tells the sender to pause, at `xon` to go on. What comes
    in between finds room in `headroom` octets more (None: as headroom_octets() says); beyond those
    it is lost. Such packets are not dropped by the limits of queues. A frame's priority is that of
    its 802.1Q tag, or the three high bits of its DSCP. queue: in which queue of a switch packets of
    these priorities wait: it is held as a whole while one of them is paused. The FCN programs use
    queue 0 only, and their tunnels the priority 0.

    A host sends PAUSE frames when it has a drain_bps: the rate at which it takes what it received
    from its memory, of the same size; without, it takes it at once.

    quanta: time in a PAUSE frame, in 512 bit times; it is repeated after half of it.
    longest_frame: octets, for the headroom.
    """

    priorities: frozenset[int] = frozenset({3})
    xoff: int = 200_000
    xon: int = 100_000
    headroom: int | None = None
    queue: int = 0
    quanta: int = _MOST_QUANTA
    drain_bps: int | None = None
    longest_frame: int = MAX_FRAME

    def size(self, rate_bps: int, delay_ns: int, overhead: int) -> int:
        """Octets of memory per priority, on a link like this."""
        headroom = self.headroom
        if headroom is None:
            line = rate_bps, delay_ns, self.longest_frame, overhead
            headroom = headroom_octets(*line, priorities=len(self.priorities))
        return self.xoff + headroom


@dataclass(frozen=True, slots=True)
class PfcCounters:
    """PAUSE frames sent and received; octets in memory now (of all priorities) and the most so far
    (of one), frames that found no room there. The engine's part begins anew with each engine."""

    sent: int
    received: int
    octets: int
    peak: int
    dropped: int


@dataclass(frozen=True, slots=True)
class Pause:
    """A PAUSE for one priority that a port sent, or received and honours; of 0 ns: it ends one."""

    time_ns: int
    node: str
    port: int
    priority: int
    sent: bool
    duration_ns: int


def headroom_octets(
    rate_bps: int, delay_ns: int, longest_frame: int, overhead: int, *, priorities: int = 1
) -> int:
    """What still arrives after a port decided to pause its sender (IEEE 802.1Qbb-2011, annex O).

    The frame that exceeded the limit; a frame that the PAUSE waits for; the PAUSE itself, behind
    one for each other priority; what is on the link in both directions; a frame the sender had
    begun. Nodes take no time to react, but for a nanosecond, because times are whole ones.
    """
    on_the_link = -(-(2 * delay_ns + 1) * rate_bps // (8 * 10**9))
    pauses = priorities * (PAUSE_OCTETS + overhead)
    return on_the_link + 3 * (longest_frame + overhead) + pauses


def set_pfc(
    native: NativeLab, node: int, port: int, pfc: Pfc, line: tuple[int, int, int], *, counts: bool
) -> None:
    """Set a port's flow control; line: rate, delay and overhead of its link; counts: it has memory
    to protect. Raises LabError for what cannot be."""
    _check(pfc)
    rate_bps, delay_ns, overhead = line
    if pfc.quanta * _QUANTUM_BITS * 10**9 < 2 * rate_bps:
        raise LabError(f"a PAUSE of {pfc.quanta} quanta lasts less than 2 ns there; give more")
    size = pfc.size(rate_bps, delay_ns, overhead) if counts else 0
    if size > _MOST_OCTETS:
        raise LabError(f"xoff and headroom of {size} octets exceed {_MOST_OCTETS}")
    options = native.ffi.new("lab_pfc_options *")
    options.rate_bps = rate_bps
    options.drain_bps = pfc.drain_bps or 0
    options.xoff, options.xon, options.size = pfc.xoff, pfc.xon, size
    options.quanta = pfc.quanta
    options.priorities = sum(1 << priority for priority in pfc.priorities)
    options.queue = pfc.queue
    native.call("set_pfc", node, port, options)


def pfc_counters(native: NativeLab, node: int, port: int) -> PfcCounters:
    """Raises LabError when the port has no flow control."""
    return PfcCounters(**native.read("lab_pfc_stats", "pfc_stats_of", node, port))


def take_pauses(native: NativeLab, names: Mapping[int, str]) -> list[Pause]:
    """Those since the last call, in order; names: of nodes by their numbers."""
    return [
        Pause(p.time, names[p.node], p.port, p.priority, bool(p.sent), p.duration)
        for p in native.take("lab_pause", "pauses")
    ]


def _check(pfc: Pfc) -> None:
    if not pfc.priorities or not all(0 <= p < PRIORITIES for p in pfc.priorities):
        raise LabError(
            f"flow control for the priorities {sorted(pfc.priorities)}: give some of 0-7"
        )
    if not 0 <= pfc.xon <= pfc.xoff <= _MOST_OCTETS:
        raise LabError(f"flow control that pauses at {pfc.xoff} octets and goes on at {pfc.xon}")
    if pfc.headroom is not None and pfc.headroom < 0:
        raise LabError(f"a headroom of {pfc.headroom} octets; give 0 or more")
    if not 2 <= pfc.quanta <= _MOST_QUANTA:
        raise LabError(f"a PAUSE of {pfc.quanta} quanta is not one of 2 to {_MOST_QUANTA}")
    if not 0 <= pfc.queue < PRIORITIES:
        raise LabError(f"a switch has no queue {pfc.queue}; 0 to 7")
    if pfc.drain_bps is not None and pfc.drain_bps < 1:
        raise LabError(f"a host that drains {pfc.drain_bps} bit/s takes nothing; give 1 or more")
