"""A result: what was run, and its tables as data frames."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Literal, get_args

import pandas as pd
from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt

from fcn.lab.modes import Mode
from fcn.lab.result.tables import TableName, conform, frame

FORMAT = 5
"""Changes when an older reader would misunderstand a result."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class NodeInfo(_Part):
    """A switch: its role is pe, p or fabric. address: source of its notifications."""

    name: str
    role: str
    address: str = ""


class HostInfo(_Part):
    """A host, and the provider edge behind which it is. mtu: payload of its packets (0: not known);
    ip: the version it uses."""

    name: str
    addresses: tuple[str, ...]
    pe: str
    mtu: NonNegativeInt = 0
    ip: Literal[4, 6] = 4


class LinkInfo(_Part):
    """A link, of hosts too: delay of one way, and rate of each direction (0: not limited)."""

    a: str
    b: str
    delay_ns: NonNegativeInt
    rate_bps: NonNegativeInt


class RedInfo(_Part):
    """Random early detection: octets from which on some and all packets are marked, and how likely
    one is at the latter."""

    kmin: NonNegativeInt
    kmax: NonNegativeInt
    pmax: NonNegativeFloat


class QueueInfo(_Part):
    """The queue of `node` towards its neighbour: depths in packets at which the levels of
    congestion begin, at the start of the run, or `red` in their place, and what it holds (None: not
    limited by it)."""

    node: str
    towards: str
    thresholds: tuple[NonNegativeInt, ...] = ()
    red: RedInfo | None = None
    packets: NonNegativeInt | None = None
    octets: NonNegativeInt | None = None


class DcqcnInfo(_Part):
    """Congestion control of some hosts: its name; of DCQCN the profile the scenario names (None:
    none) and every parameter of the reaction point (`fcn.lab.controls`), of another one the line
    and the least rate and those of its own; and the time between CNPs of a connection."""

    hosts: tuple[str, ...]
    control: str = "dcqcn"
    profile: str | None
    parameters: Mapping[str, int | float | bool]
    cnp_interval_ns: NonNegativeInt


class NetworkInfo(_Part):
    """The network that was run. held_back_ns: for how long, at most, a switch, a receiver or a
    sender does not notify or slow a flow again. tunnel_octets: what a tunnel adds to a packet."""

    name: str
    nodes: tuple[NodeInfo, ...]
    links: tuple[LinkInfo, ...]
    hosts: tuple[HostInfo, ...]
    queues: tuple[QueueInfo, ...] = ()
    dcqcn: tuple[DcqcnInfo, ...] = ()
    held_back_ns: NonNegativeInt = 0
    tunnel_octets: NonNegativeInt = 0


class EventInfo(_Part):
    """An event of the scenario that took place, in words: `link p1-p2 down`."""

    time_ns: NonNegativeInt
    text: str


class BalanceInfo(_Part):
    """Where every frame is or why it is no more, as `fcn.lab.balance` says."""

    sources: Mapping[str, int]
    ends: Mapping[str, int]
    places: Mapping[str, int]


class About(_Part):
    """What a result is about: `result.json`, without the format.

    scenario, text: its name and its YAML; network_text: that of its network, where that is none of
    the catalog (empty in a result of an earlier version, too). reached_ns: how far it ran; less
    than `duration_ns` when it was stopped (`finished` is false). warm_up_ns: what was before is not
    measured. digest: of all frames delivered and their times, hexadecimal. wall_s: seconds it took;
    the only value that differs between two runs.
    """

    fcn: str
    scenario: str
    text: str
    network_text: str = ""
    mode: Mode
    seed: NonNegativeInt
    duration_ns: NonNegativeInt
    warm_up_ns: NonNegativeInt = 0
    reached_ns: NonNegativeInt
    finished: bool
    wall_s: NonNegativeFloat
    digest: str
    hops: NonNegativeInt
    balance: BalanceInfo
    network: NetworkInfo
    events: tuple[EventInfo, ...] = ()

    @property
    def label(self) -> str:
        """How reports and folders name the run: scenario, mode, seed."""
        return f"{self.scenario}-{self.mode}-{self.seed}"


@dataclass(frozen=True, eq=False)
class Result:
    """What a run leaves. Tables that are not given are empty; `fcn.lab.result.tables` says what
    their columns are. captures: pcap files by their names, without suffix.

    Raises ResultError when a table does not have its columns.
    """

    about: About
    messages: pd.DataFrame = field(default_factory=partial(frame, "messages"))
    connections: pd.DataFrame = field(default_factory=partial(frame, "connections"))
    rates: pd.DataFrame = field(default_factory=partial(frame, "rates"))
    queues: pd.DataFrame = field(default_factory=partial(frame, "queues"))
    links: pd.DataFrame = field(default_factory=partial(frame, "links"))
    counters: pd.DataFrame = field(default_factory=partial(frame, "counters"))
    notices: pd.DataFrame = field(default_factory=partial(frame, "notices"))
    crossings: pd.DataFrame = field(default_factory=partial(frame, "crossings"))
    controller: pd.DataFrame = field(default_factory=partial(frame, "controller"))
    pauses: pd.DataFrame = field(default_factory=partial(frame, "pauses"))
    jobs: pd.DataFrame = field(default_factory=partial(frame, "jobs"))
    depths: pd.DataFrame = field(default_factory=partial(frame, "depths"))
    tcp: pd.DataFrame = field(default_factory=partial(frame, "tcp"))
    captures: Mapping[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, data in self.tables().items():
            object.__setattr__(self, name, conform(name, data))

    def tables(self) -> dict[TableName, pd.DataFrame]:
        """All its tables by name."""
        return {name: getattr(self, name) for name in get_args(TableName)}


assert {each.name for each in fields(Result)} == {"about", "captures", *get_args(TableName)}
