"""A scenario as frozen, strict pydantic models with the defaults. `example.yaml` explains each key.

Times are in nanoseconds, rates in bits per second, sizes in octets.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    model_validator,
)

from fcn.contract.depth import DEFAULT_THRESHOLDS, LEVELS, Depth, DepthUnit
from fcn.controller.config.model import Depths
from fcn.controller.config.types import Duration, Items, QueueDepth
from fcn.lab.controls import MAX_WINDOW, ControlName, Dcqcn, Model, Swift, Timely
from fcn.lab.impairment import LEAST_BIT_ERRORS, MOST_BIT_ERRORS
from fcn.lab.modes import Mode
from fcn.lab.pfc import PRIORITIES, Pfc
from fcn.lab.roce import (
    MAX_MESSAGE,
    MAX_MTU,
    PSNS,
    QPS,
    RetransmissionName,
    RoceOptions,
)
from fcn.lab.scenario.dcqcn import ProfileName, profile_of
from fcn.lab.scenario.sizes import DistributionName
from fcn.topologies.data_centre import MAX_HOSTS
from fcn.topologies.description import NodeName
from fcn.topologies.units import Delay, Rate, Time, parse_size

PatternName = Literal["messages", "incast", "permutation", "all-to-all", "poisson", "tcp"]
JobName = Literal["ring", "tree", "all-to-all", "pipeline"]

MIN_LOAD = 1e-9
"""Below, the time to a message is longer than any run."""

Size = Annotated[int, BeforeValidator(parse_size), Field(ge=1, le=MAX_MESSAGE)]
"""Octets of a message, written as `64kB`, `1MiB`."""


class PfcSettings(Model):
    """Flow control by priority at both ends of a link, as `fcn.lab.pfc.Pfc`: hosts send with
    priority 3, tunnels have priority 0."""

    priorities: Annotated[Items[Annotated[int, Field(ge=0, lt=PRIORITIES)]], Field(min_length=1)]
    xoff: Size
    xon: Size
    headroom: Size | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.xon > self.xoff:
            raise ValueError(f"goes on at xon: {self.xon} octets, above xoff: {self.xoff}")
        return self

    @property
    def of_port(self) -> Pfc:
        """What each end of the link is told."""
        return Pfc(frozenset(self.priorities), self.xoff, self.xon, self.headroom)


def _that_fits(depth: Depth) -> Depth:
    most = MAX_BUFFER[depth.unit]
    if depth.amount > most:
        raise ValueError(f"a queue holds {most} {depth.unit} at most; write less than {depth}")
    return depth


MAX_BUFFER = {DepthUnit.PACKETS: (1 << 32) - 2, DepthUnit.OCTETS: (1 << 63) - 1}
"""What a queue of the engine can be given."""

Buffer = Annotated[QueueDepth, AfterValidator(_that_fits)]


class RedSettings(Model):
    """Random early detection in the queues of switches, as `fcn.lab.red.Red`, in mode ecn."""

    kmin: Size
    kmax: Size
    pmax: Annotated[float, Field(ge=0, le=1)]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.kmin > self.kmax:
            raise ValueError(f"marks all from kmax on: {self.kmax} octets, below kmin: {self.kmin}")
        return self


def _number(value: object) -> object:
    """YAML takes 1e-9, without a point, for a text."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _possible(errors: float) -> float:
    if 0 < errors < LEAST_BIT_ERRORS:
        raise ValueError(f"give 0, or {LEAST_BIT_ERRORS} at least: no run has so many bits")
    return errors


BitErrors = Annotated[
    float, BeforeValidator(_number), Field(ge=0, le=MOST_BIT_ERRORS), AfterValidator(_possible)
]


class LinkDefaults(Model):
    """Of links for which the network says nothing. `buffer`: what each queue of a switch holds.
    `jitter`, `bit_errors`: as `fcn.lab.impairment.Impairment`."""

    pfc: PfcSettings | None = None
    red: RedSettings | None = None
    rate: Rate | None = None
    delay: Delay = 0
    buffer: Buffer | None = None
    jitter: Delay = 0
    bit_errors: BitErrors = 0.0


class LinkSettings(Model):
    """One link, whatever the network says of it."""

    between: Items[NodeName] = Field(min_length=2, max_length=2)
    rate: Rate | None = None
    delay: Delay | None = None
    buffer: Buffer | None = None
    jitter: Delay | None = None
    bit_errors: BitErrors | None = None
    pfc: PfcSettings | None = None
    red: RedSettings | None = None


class Links(Model):
    """`core`: between nodes. `hosts`: of hosts, those of data centres too. `gateways`: between
    gateways and PEs, without a limit where no rate is given. `packet_rates`: whether the queues
    that the network limits in packets per second are limited here."""

    core: LinkDefaults = LinkDefaults()
    gateways: LinkDefaults = LinkDefaults()
    hosts: LinkDefaults = LinkDefaults()
    only: Items[LinkSettings] = ()
    packet_rates: bool = False


class Switches(Model):
    """`memory`: octets that all queues of a switch share, without a limit where left out; `only`:
    of some switches."""

    memory: Size | None = None
    only: dict[NodeName, Size] = Field(default_factory=dict)


class DcqcnSettings(Dcqcn):
    """`profile`: what is not given has this one's value (`fcn.lab.scenario.dcqcn`)."""

    profile: ProfileName | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_profile(cls, data: Any) -> Any:  # noqa: ANN401 - whatever YAML holds
        profile = profile_of(data)
        return data if profile is None else profile.reaction_point | data


EcnField = Literal["not-ect", "ect0", "ect1"]


class HostSettings(Model):
    """Of a host. `mtu`: payload of a packet. `window`: packets that are not acknowledged yet.
    `ecn`: of its data packets; switches neither mark what is not-ect nor notify its sender.
    `cnp_interval`: where left out that of DCQCN's profile. `first_psn`: of every connection, at
    random where left out; `first_qp`, `first_accepted_qp`: queue pairs of the first connection that
    it opens or accepts. `retransmission`: the same of hosts that send to each other. `control`:
    what rates follow; where it is not `dcqcn`, that still has the highest and the least rate."""

    ip: Literal[4, 6] = 4
    mtu: Annotated[int, Field(ge=4, le=MAX_MTU, multiple_of=4)] = 1024
    ack_every: Annotated[int, Field(ge=1, le=MAX_WINDOW)] = 32
    window: Annotated[int, Field(ge=1, le=MAX_WINDOW)] = MAX_WINDOW
    timeout: Annotated[Time, Field(ge=1)] = 67_000_000
    retries: Annotated[int, Field(ge=0, le=1000)] = 7
    retransmission: RetransmissionName = "go-back-n"
    cnp_interval: Time = 50_000
    ecn: EcnField = "ect0"
    first_psn: Annotated[int, Field(ge=0, lt=PSNS)] | None = None
    first_qp: Annotated[int, Field(ge=QPS.start, lt=QPS.stop)] = RoceOptions().first_qp
    first_accepted_qp: Annotated[int, Field(ge=QPS.start, lt=QPS.stop)] = (
        RoceOptions().first_accepted_qp
    )
    control: ControlName = "dcqcn"
    dcqcn: DcqcnSettings = DcqcnSettings()
    timely: Timely = Timely()
    swift: Swift = Swift()

    @model_validator(mode="before")
    @classmethod
    def _of_profile(cls, data: Any) -> Any:  # noqa: ANN401 - whatever YAML holds
        profile = profile_of(data.get("dcqcn")) if isinstance(data, dict) else None
        return data if profile is None else {"cnp_interval": profile.cnp_interval} | data


class SomeHosts(Model):
    """Hosts that differ from the others: what is given here."""

    names: Annotated[Items[str], Field(min_length=1)]
    settings: HostSettings


class Hosts(HostSettings):
    """Every host, and `only` some of them; where several are for a host the last counts."""

    only: Items[SomeHosts] = ()


class QueueThresholds(Model):
    """The depths of one queue at which levels 1, 2, … begin."""

    node: NodeName
    towards: NodeName
    depths: Depths


class Controller(Model):
    """The controller. `delay`: one way to each switch; `delays`: to some. `thresholds`: of every
    core port; `queues`: of some. `intervals`: between notifications of a flow, by level.
    `two_threshold`: its section of the configuration file in that mode; `two_threshold_nodes`: what
    the file has for nodes in that mode only. `failure_detection`: its section in mode fantel.
    `holding`: its section in modes service, flow and priority. `cnp_interval`: between CNPs of a
    flow at a PE. `configuration`: parts of its configuration file, as they are. `ready_within`:
    virtual time it has to provision and learn."""

    delay: Time = 1_000_000
    delays: dict[NodeName, Time] = Field(default_factory=dict)
    thresholds: Depths = DEFAULT_THRESHOLDS
    queues: Items[QueueThresholds] = ()
    intervals: Annotated[Items[Duration], Field(max_length=len(LEVELS))] = ()
    cnp_interval: Duration = 50
    cnp_source: Literal["pe", "peer"] = "pe"
    two_threshold: dict[str, Any] = Field(default_factory=dict)
    two_threshold_nodes: dict[NodeName, dict[str, Any]] = Field(default_factory=dict)
    failure_detection: dict[str, Any] = Field(default_factory=dict)
    holding: dict[str, Any] = Field(default_factory=dict)
    configuration: dict[str, Any] = Field(default_factory=dict)
    ready_within: Time = 60 * 10**9


class Pattern(Model):
    """Messages that hosts send each other; what is sent by whom is said by `traffic.py`.

    `from`, `to`: names of hosts, of a PE or gateway for all hosts behind it, with `*` and `?`.
    """

    pattern: PatternName
    from_: Annotated[Items[str], Field(alias="from", min_length=1)]
    to: Annotated[Items[str], Field(min_length=1)]
    size: Size | None = None
    sizes: Items[Annotated[Items[Any], Field(min_length=2, max_length=2)]] = ()
    distribution: DistributionName | None = None
    count: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    interval: Time = 0
    start: Time = 0
    load: Annotated[float, Field(ge=MIN_LOAD, le=2)] | None = None
    peers: Annotated[int, Field(ge=1)] | None = None
    qps: Annotated[int, Field(ge=1, le=1024)] = 1


class Job(Model):
    """Messages that wait for others; `jobs.py` says of each kind who sends what and when. `ranks`:
    hosts, named as in a pattern, in this order. `size`: of an all-reduce (ring, tree) what is
    reduced, of an all-to-all and a pipeline each message. `compute`: before a rank sends, in each
    iteration; of a pipeline what a stage takes for a microbatch, and `backward` on the way back,
    twice that where left out."""

    job: JobName
    ranks: Annotated[Items[str], Field(min_length=1)]
    size: Size
    iterations: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    compute: Time = 0
    backward: Time | None = None
    microbatches: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    start: Time = 0

    @property
    def back(self) -> int:
        """What a stage of a pipeline takes for a microbatch on the way back."""
        return 2 * self.compute if self.backward is None else self.backward


class Event(Model):
    """Something that happens `at` a time: a link goes down or up, the controller goes away or comes
    back (at one node, or at all), thresholds of a queue change."""

    at: Time
    link: Annotated[Items[NodeName], Field(min_length=2, max_length=2)] | None = None
    state: Literal["down", "up"] | None = None
    controller: Literal["away", "back"] | None = None
    node: NodeName | None = None
    thresholds: QueueThresholds | None = None


Ends = Annotated[Items[NodeName], Field(min_length=2, max_length=2)]
"""A direction of a link, or a queue: node, and its neighbour."""


class Measure(Model):
    """`interval`: between samples. `queues`: which are sampled (all core queues, where left out).
    `crossings`: links on which marked packets and notifications are noted (all core links, where
    left out). `pcap`: links of which all frames are kept. `snap`: octets kept of each. `closely`:
    between looks at links and paths for `close_time` after an event of a link, where links are
    watched."""

    interval: Annotated[Time, Field(ge=100)] = 10_000
    queues: Items[Ends] | None = None
    crossings: Items[Ends] | None = None
    pcap: Items[Ends] = ()
    snap: Annotated[int, Field(ge=64, le=65535)] = 65535
    closely: Annotated[Time, Field(ge=100)] = 10_000
    close_time: Time = 250_000_000


class Recovery(Model):
    """How traffic leaves a link that failed, where the network has `failure_detection`. data-plane:
    nodes send packets round it and tell PEs, which take another path. messages: without the way
    round. controller: only the controller acts; it reads what nodes count every `poll`. igp: nodes
    change their routes as a link-state protocol would: after `flooding` a hop from the node that
    knows, `spf_delay`, and `fib` for the new routes; writing takes no time besides. The others do
    without what is not named."""

    by: Literal["data-plane", "messages", "controller", "igp"] = "data-plane"
    poll: Annotated[Time, Field(ge=1)] = 10_000_000
    flooding: Time = 1_000_000
    spf_delay: Time = 50_000_000
    fib: Time = 10_000_000


class Scenario(Model):
    """The whole file."""

    title: str = ""
    network: str
    hosts_per_data_centre: Annotated[int, Field(ge=1, le=MAX_HOSTS)] | None = None
    mode: Mode = "fcn"
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 1
    duration: Annotated[Time, Field(ge=1)]
    links: Links = Links()
    switches: Switches = Switches()
    hosts: Hosts = Hosts()
    controller: Controller = Controller()
    traffic: Items[Pattern] = ()
    jobs: Items[Job] = ()
    events: Items[Event] = ()
    recovery: Recovery = Recovery()
    measure: Measure = Measure()
