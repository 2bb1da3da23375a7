"""RoCEv2 hosts: reliable connections with go-back-N or selective repeat, and congestion control;
the protocol code of `fcn-roce`."""

from dataclasses import asdict, dataclass, field
from enum import IntEnum
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Literal

from fcn.lab.core import Simulation
from fcn.lab.errors import LabError
from fcn.lab.hosts import HostNode

MAX_MTU = 4096
MAX_WINDOW = (1 << 23) - 1
MAX_MESSAGE = (1 << 32) - 1
MAX_TIMEOUT = (1 << 63) - 1
PSNS = 1 << 24
QPS = range(2, 1 << 24)
"""Queue pair numbers of data: 0 and 1 are those of management (IBTA volume 1, 3.9)."""

Address = IPv4Address | IPv6Address
_SENDING = (
    "mtu", "ack_every", "window", "timeout", "retries", "cm_timeout", "cm_retries", "max_lag",
    "service_id", "dscp", "ecn",
)  # fmt: skip
"""Options that `struct requester_params` has by these names."""


@dataclass(frozen=True, slots=True)
class Dcqcn:
    """DCQCN (SIGCOMM 2015, section 3): rates in bit/s, times in nanoseconds, counter in octets.

    line_rate: that of each connection, with which it begins; 0 is that of the host's link.
    byte_counter: 0 is none. fast_recovery_steps: the step of timer or counter from which on the
    target rises. cut_interval: CNPs so soon after a cut do not cut. cut_period: a CNP cuts at the
    end of the period it is in, counted from the first one; 0: at once. alpha_by_timer: alpha rises
    or falls once in alpha_period, as a CNP came in it or not; otherwise it rises at each cut and
    falls alpha_period after one. clamp_target: the target is the rate before each cut, also when
    the timer has not raised it since the cut before. Defaults: the paper's rules, with the timer
    of NICs.
    """

    line_rate: float = 0
    min_rate: float = 1e8
    g: float = 1 / 256
    initial_alpha: float = 1.0
    additive_increase: float = 4e7
    hyper_increase: float = 4e8
    alpha_period: int = 55_000
    increase_period: int = 300_000
    byte_counter: int = 10_000_000
    fast_recovery_steps: int = 5
    cut_interval: int = 0
    cut_period: int = 0
    alpha_by_timer: bool = False
    clamp_target: bool = True


CONTROLS = ("dcqcn", "timely", "swift")
"""Congestion control of a host, by name; in the order of `enum delay_kind`."""

ControlName = Literal["dcqcn", "timely", "swift"]
RetransmissionName = Literal["go-back-n", "selective-repeat"]


@dataclass(frozen=True, slots=True)
class Timely:
    """TIMELY (SIGCOMM 2015, algorithm 1): rates in bit/s, times in nanoseconds.

    ewma: alpha, the weight of a new difference of round trips. low, high: below the first the rate
    rises, above the second it falls, by `beta` at most. least_rtt: what a gradient is normalised
    by. hyper_after: gradients in a row not above 0, from which on the rate rises by hyper_factor
    increases. A round trip counts each time that an ACK comes. Defaults: the paper's numbers, of a
    data centre at 10 Gb/s, and the least round trip of HPCC's simulator.
    """

    ewma: float = 0.875
    beta: float = 0.8
    additive_increase: float = 1e7
    low: int = 50_000
    high: int = 500_000
    least_rtt: int = 20_000
    hyper_after: int = 5
    hyper_factor: int = 5


@dataclass(frozen=True, slots=True)
class Swift:
    """Swift (SIGCOMM 2020, algorithm 1 and section 3.5): windows in packets, times in nanoseconds.

    base_target: the delay aimed at, with what the paper adds for each hop. scaling, scaling_least,
    scaling_most: fs_range, fs_min_cwnd and fs_max_cwnd, what the target has more for small windows.
    beta, max_decrease: how much a window falls, once in a round trip. It begins with most_window.
    Delays at hosts take no time here, so there is one window for both. Defaults: those of htsim,
    for the paper says few.
    """

    window_increase: float = 1.0
    beta: float = 0.8
    max_decrease: float = 0.5
    least_window: float = 0.01
    most_window: float = 1000.0
    base_target: int = 25_000
    scaling: int = 100_000
    scaling_least: float = 0.1
    scaling_most: float = 100.0


@dataclass(frozen=True, slots=True)
class RoceOptions:
    """How a host behaves; times in nanoseconds.

    mtu: payload of a packet, a multiple of 4 up to 4096. ack_every: packets of a message after
    which an ACK is asked for; its last packet always asks. window: packets sent and not
    acknowledged. timeout: without progress until all is sent again; after `retries` in a row the
    connection fails. retransmission: of what it sends and receives, so both ends of a connection
    need the same; with selective-repeat (IRN, SIGCOMM 2018) a receiver keeps what comes behind a
    gap, up to `window` packets, and only what is missing is sent again. max_lag: what a QP
    makes up for when the line was busy at its time. cnp_interval: least time between CNPs of one
    connection. first_psn: of connections it opens, None: at random. first_qp, first_accepted_qp:
    queue pair numbers of the first connection that it opens, and that it accepts; the others have
    those that follow. control: what rates follow; line and least rate are DCQCN's in any case.
    """

    mtu: int = 1024
    ack_every: int = 32
    window: int = MAX_WINDOW
    timeout: int = 67_000_000
    retries: int = 7
    retransmission: RetransmissionName = "go-back-n"
    cm_timeout: int = 1_000_000_000
    cm_retries: int = 15
    max_lag: int = 2_000
    cnp_interval: int = 50_000
    service_id: int = 0x1066A1B2
    dscp: int = 26
    ecn: int = 2
    first_psn: int | None = None
    first_qp: int = 0x100
    first_accepted_qp: int = 0x800000
    control: ControlName = "dcqcn"
    dcqcn: Dcqcn = field(default_factory=Dcqcn)
    timely: Timely = field(default_factory=Timely)
    swift: Swift = field(default_factory=Swift)


class State(IntEnum):
    """Of a connection."""

    UNCONNECTED = 0
    CONNECTING = 1
    CONNECTED = 2
    DISCONNECTING = 3
    CLOSED = 4
    FAILED = 5


@dataclass(frozen=True, slots=True)
class SenderCounters:
    """A connection at the host that opened it. Rates in bit/s; packets are those of data.

    acknowledged, highest: packets of data that arrived, and that were sent at least once.
    """

    state: State
    local_qp: int
    remote_qp: int
    rate_bps: float
    target_bps: float
    alpha: float
    packets: int
    octets: int
    retransmitted: int
    acknowledged: int
    highest: int
    acks: int
    naks: int
    timeouts: int
    cnps: int
    cuts: int


@dataclass(frozen=True, slots=True)
class ReceiverCounters:
    """A connection at the host that accepted it.

    packets, octets (of IP packets), payload: taken. marked: with CE. beyond_gap,
    repeated: not taken, because packets before them are missing or they were there already.
    """

    local_qp: int
    remote_qp: int
    packets: int
    octets: int
    payload: int
    messages: int
    marked: int
    cnps: int
    naks: int
    beyond_gap: int
    repeated: int


@dataclass(frozen=True, slots=True)
class Completion:
    """A message all of which was acknowledged: `start_ns` is when it could be sent."""

    host: str
    connection: int
    id: int
    size: int
    start_ns: int
    completed_ns: int


class RoceHost:
    """RoCEv2 on a host, whose link exists already and has a rate."""

    def __init__(
        self,
        host: HostNode,
        address: Address,
        mac: str,
        gateway_mac: str,
        options: RoceOptions | None = None,
    ) -> None:
        """mac, gateway_mac: as `02:00:00:00:00:01`; nothing is resolved. Raises LabError."""
        options = options or RoceOptions()
        if options.mtu % 4 or not 4 <= options.mtu <= MAX_MTU:
            raise LabError(f"{host.name}: an MTU of {options.mtu} is no multiple of 4 up to 4096")
        if not 1 <= options.window <= MAX_WINDOW:
            raise LabError(f"{host.name}: a window of {options.window} is not 1 to {MAX_WINDOW}")
        for timeout in (options.timeout, options.cm_timeout):
            if not 0 <= timeout <= MAX_TIMEOUT:
                raise LabError(f"{host.name}: a timeout of {timeout} ns is not 0 to 2^63 - 1")
        if options.first_psn is not None and not 0 <= options.first_psn < PSNS:
            raise LabError(f"{host.name}: {options.first_psn} is no PSN; those have 24 bits")
        for number in (options.first_qp, options.first_accepted_qp):
            if number not in QPS:
                raise LabError(f"{host.name}: {number} is no queue pair; data has 2 to 2^24 - 1")
        if options.first_qp == options.first_accepted_qp:
            raise LabError(f"{host.name}: queue pair {options.first_qp} cannot be two")
        self.host = host
        self.address = address
        self.gateway_mac = gateway_mac
        self.options = options
        self._native = host.native
        native = self._native.ffi.new("lab_roce_options *")
        self.macs = tuple(bytes.fromhex(each.replace(":", "")) for each in (mac, gateway_mac))
        native.mac, native.gateway_mac = self.macs
        native.cnp_interval = options.cnp_interval
        native.first_psn = -1 if options.first_psn is None else options.first_psn
        native.first_qp, native.first_accepted_qp = options.first_qp, options.first_accepted_qp
        params = native.params
        params.local.version = address.version
        params.local.octets = address.packed.ljust(16, b"\0")
        params.delay.kind = CONTROLS.index(options.control)
        params.selective = options.retransmission == "selective-repeat"
        for name in _SENDING:
            setattr(params, name, getattr(options, name))
        params.dcqcn = asdict(options.dcqcn)
        params.delay.timely = asdict(options.timely)
        params.delay.swift = asdict(options.swift)
        self._call("roce", native)

    def connect(self, remote: Address, *, at_ns: int = 0) -> int:
        """Open a connection through the connection manager; its number here. Raises LabError."""
        if remote.version != self.address.version:
            raise LabError(f"{self.address} cannot reach {remote}: another version of IP")
        return self._call("roce_connect", remote.packed.ljust(16, b"\0"), at_ns)

    def write(self, connection: int, size: int, *, start_ns: int = 0, message_id: int = 0) -> None:
        """Send a message of `size` octets by RDMA WRITE, not before `start_ns` and after the
        messages given before. Raises LabError."""
        if not 1 <= size <= MAX_MESSAGE:
            raise LabError(f"a message of {size} octets is not one of 1 to 2^32 - 1")
        self._call("roce_post", connection, message_id, size, start_ns)

    def disconnect(self, connection: int) -> None:
        """Disconnect now; what was not acknowledged is given up."""
        self._call("roce_disconnect", connection)

    def sender(self, connection: int) -> SenderCounters:
        """A connection it opened, by its number."""
        values = self._read("lab_requester_stats", "roce_requester", connection)
        return SenderCounters(**{**values, "state": State(values["state"])})

    def receiver(self, connection: int) -> ReceiverCounters:
        """A connection it accepted, by their order."""
        return ReceiverCounters(**self._read("lab_responder_stats", "roce_responder", connection))

    def refused(self) -> dict[str, int]:
        """Packets that no connection took, by reason."""
        return self._read("lab_roce_refused", "roce_refused_of")

    def _call(self, function: str, *arguments: object) -> int:
        return self._native.call(function, self.host.number, *arguments)

    def _read(self, struct: str, function: str, *arguments: object) -> dict[str, Any]:
        return self._native.read(struct, function, self.host.number, *arguments)


def completions(simulation: Simulation) -> list[Completion]:
    """Messages completed since the last call, on all hosts, in order of time."""
    native = simulation.native
    names = {host.number: host.name for host in simulation.hosts.values()}
    return [
        Completion(names[c.node], c.connection, c.id, c.size, c.start, c.completed)
        for c in native.take("lab_completion", "completions")
    ]
