"""RoCEv2 hosts: reliable connections with go-back-N or selective repeat, and congestion control;
the protocol code of `fcn-roce`."""

from dataclasses import dataclass, field
from enum import IntEnum
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Literal

from fcn.lab.controls import CONTROLS, MAX_WINDOW, ControlName, Dcqcn, Swift, Timely
from fcn.lab.core import Simulation
from fcn.lab.errors import LabError
from fcn.lab.hosts import HostNode

MAX_MTU = 4096
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


RetransmissionName = Literal["go-back-n", "selective-repeat"]


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
        params.dcqcn = options.dcqcn.parameters
        params.delay.timely = options.timely.model_dump()
        params.delay.swift = options.swift.model_dump()
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
