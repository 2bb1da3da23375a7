"""TCP between hosts, beside RoCEv2: traffic of others, which reacts to loss and marks.

NewReno (RFC 5681, 6582) with a timer (RFC 6298) and ECN (RFC 3168).
"""

from dataclasses import dataclass

from fcn.lab.core import Simulation
from fcn.lab.errors import LabError
from fcn.lab.roce import RoceHost

MOST_IN_FLIGHT = (1 << 31) - 1
"""Octets: beyond, a sequence number could be an old one or a new one."""
MOST_SEGMENTS = 1 << 20
MAX_MSS = 9000


@dataclass(frozen=True, slots=True)
class TcpOptions:
    """Of a flow. mss: octets of each segment. window: that the receiver gives, in segments (less
    where sequence numbers do not tell so many apart). first_window: in segments (RFC 6928).
    min_rto: the least timeout, in ns, as Linux has it. ecn: whether segments are ECN-capable."""

    mss: int = 1448
    window: int = 1 << 16
    first_window: int = 10
    min_rto: int = 200_000_000
    ecn: bool = True
    dscp: int = 0


@dataclass(frozen=True, slots=True)
class TcpCounters:
    """Of a flow, in segments. window: congestion window. resent: more than once. marked: arrived
    with CE. cuts: halved, for loss, marks and timeouts. completed: when all was acknowledged, in
    ns; 0: not yet."""

    window: float
    sent: int
    resent: int
    acknowledged: int
    marked: int
    cuts: int
    timeouts: int
    completed: int


class TcpFlow:
    """`size` octets, rounded up to whole segments, from `start_ns` on; without connection setup."""

    def __init__(
        self,
        simulation: Simulation,
        sender: RoceHost,
        receiver: RoceHost,
        size: int,
        *,
        start_ns: int = 0,
        options: TcpOptions | None = None,
    ) -> None:
        """Raises LabError."""
        options = options or TcpOptions()
        if sender.host is receiver.host or sender.address.version != receiver.address.version:
            raise LabError(f"{sender.host.name} has no TCP with {receiver.host.name}")
        if not 1 <= options.mss <= MAX_MSS:
            raise LabError(f"segments of {options.mss} octets; give 1 to {MAX_MSS}")
        if options.window < 1:
            raise LabError(f"a window of {options.window} segments; give 1 or more")
        if size < 1:
            raise LabError(f"{size} octets are nothing to send")
        self.sender, self.receiver = sender, receiver
        self._native = simulation.native
        flow = self._native.ffi.new("lab_tcp_flow *")
        for end, host in ((flow.source, sender), (flow.target, receiver)):
            end.mac, end.gateway_mac = host.macs
            end.address = host.address.packed.ljust(16, b"\0")
        flow.version, flow.dscp = sender.address.version, options.dscp
        flow.ecn, flow.mss, flow.min_rto = options.ecn, options.mss, options.min_rto
        flow.window = min(options.window, MOST_IN_FLIGHT // options.mss, MOST_SEGMENTS)
        flow.first_window = min(options.first_window, flow.window)
        flow.segments, flow.start = -(-size // options.mss), start_ns
        self.mss = options.mss
        self._number = self._native.call("tcp_add", sender.host.number, receiver.host.number, flow)

    def counters(self) -> TcpCounters:
        """What became of it so far."""
        return TcpCounters(**self._native.read("lab_tcp_stats", "tcp_stats_of", self._number))
