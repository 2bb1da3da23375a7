"""What the page shows: a picture that stays, a frame a second, and the flows now and then."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """Kinds of messages that are seen to travel, by their names in NotificationKind."""

    FAST_CNP = "FAST_CNP"
    END_CON_CNP = "END_CON_CNP"
    CNP = "CNP"
    ARN = "ARN"
    FANTEL = "FANTEL"
    PAUSE = "PAUSE"


@dataclass(frozen=True, slots=True)
class Place:
    """A node, or the hosts behind a PE, which have its name and CENTRE. x, y: in the picture, whose
    width is 1. note: the ports to data centres."""

    name: str
    role: str
    x: float
    y: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A link between two places. ports: of both ends, None at hosts."""

    ends: tuple[str, str]
    ports: tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Picture:
    """The network as the file has it; height: of the picture, whose width is 1. virtual: whether
    all frames are there from the beginning, of a time that is not that of clocks. stories: whether
    packets can be asked for theirs."""

    places: tuple[Place, ...]
    lines: tuple[Line, ...]
    height: float
    virtual: bool = False
    stories: bool = False


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node between two looks at its counters. sent, received: messages by kind. marked: packets
    marked CE. suppressed, drops: by reason. flows: labelled ones. no_queues: why nobody knows what
    waits there."""

    name: str
    state: str
    detail: str
    features: tuple[str, ...]
    flows: int
    sent: Mapping[str, int] = field(default_factory=dict)
    received: Mapping[str, int] = field(default_factory=dict)
    marked: int = 0
    suppressed: Mapping[str, int] = field(default_factory=dict)
    drops: Mapping[str, int] = field(default_factory=dict)
    no_queues: str = ""


@dataclass(frozen=True, slots=True)
class Load:
    """What is sent in one direction: bits per second, and the part of the rate where that is
    known; None where nobody has looked twice."""

    bps: float | None = None
    utilization: float | None = None


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue at its fullest since the last look. full: the part of its highest threshold."""

    packets: int
    level: int
    full: float


@dataclass(frozen=True, slots=True)
class LineView:
    """A link of the picture, in its order. loads, queues: of the first end and of the second; None
    where nobody knows the queue. state: down, up, unknown, or unwatched;
    where the ends differ, down before up."""

    loads: tuple[Load, Load]
    state: str
    queues: tuple[Queue | None, Queue | None] = (None, None)


@dataclass(frozen=True, slots=True)
class PathView:
    """A path of a policy. route: nodes that it passes, those between them by shortest paths.
    takes_over: whether it carries packets while another of the policy is avoided."""

    node: str
    policy: str
    to: str
    name: str
    backup: bool
    state: str
    source: str
    packets_per_s: float
    route: tuple[str, ...]
    takes_over: bool


@dataclass(frozen=True, slots=True)
class Travel:
    """Messages of a kind that went the same way since the last look. route: places; one alone where
    nobody knows whom they reached. frame: the number of one, in a run of the laboratory; run: which
    of those that are shown."""

    kind: Kind
    route: tuple[str, ...]
    count: int
    frame: int | None = None
    run: int = 0


@dataclass(frozen=True, slots=True)
class EventView:
    """An event; warns: whether something is wrong. time: in seconds since the epoch."""

    time: float
    kind: str
    node: str
    message: str
    warns: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """The network at a time, in seconds since the epoch. problem: why nothing is known; the rest is
    empty then. no_flows: why there are none."""

    time: float
    problem: str = ""
    no_flows: str = ""
    notification: str = ""
    nodes: tuple[NodeView, ...] = ()
    lines: tuple[LineView, ...] = ()
    paths: tuple[PathView, ...] = ()
    travels: tuple[Travel, ...] = ()
    events: tuple[EventView, ...] = ()


@dataclass(frozen=True, slots=True)
class FlowView:
    """A flow; notified: notifications that came for it since the flows were listed before. story:
    sentences."""

    vrf: str
    source: str
    destination: str
    dest_qp: int
    label: str
    node: str
    source_qp: str
    notifications: int
    notified: int
    packets: int
    story: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Flows:
    """Those with the most notifications, of `total`."""

    time: float
    total: int
    rows: tuple[FlowView, ...]


CENTRE = "/dc"
"""Behind the name of a PE, in which there is no slash: the hosts at its ports."""
