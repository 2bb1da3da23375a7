"""The modes the demo compares: ways to tell a sender of congestion.

A new one is an entry of `MODES`; nothing else of the demo names a mode. Modes of the same
configuration run one after the other on one network, others on networks of their own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fcn.controller.config.modes import FlowControlMode

# The first tolerates the bursts of a loaded machine that does not send packets evenly paced.
DEPTHS = (8, 12, 16, 24, 32, 48, 64)

Teller = Literal["receiver", "ingress PE"]


@dataclass(frozen=True, slots=True)
class Notice:
    """What a congested P node or egress PE sends to the ingress PE. kind: as counters name it."""

    kind: str
    title: str


FAST_CNPS = Notice("FAST_CNP", "Fast CNPs")
END_CON_CNPS = Notice("END_CON_CNP", "CNPs to END.CON")
FANTELS = Notice("FANTEL", "FANTEL messages")
HELLO = "HELLO"
"""What nodes that watch their links send each other, as counters name it."""

ARNS = Notice("ARN", "ARN messages")
"""What a congested node sends to its upstream neighbour in the modes of flow control."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to tell senders.

    name: as in the laboratory, too. told_by: whose CNP makes a sender cut its rate first, None
    where nobody's does. spares: senders are not told of light congestion. marks: switches mark CE.
    notifies: switches' own notifications are enabled (FCN-16), of P nodes by `notice`. depths: of
    the congested queue, in packets, at which its levels begin. cnp_source: whose address the CNPs
    of switches have. holds: upstream neighbours hold traffic, and the ingress PE pauses the senders
    (SRF-5 to SRF-8). watches: nodes watch links and paths (FAN-4); packets of their own are always
    under way, so that what one counts never is what another one does. domain: keys of the
    controller's configuration that make the mode.
    """

    name: str
    title: str
    colour: str
    told_by: Teller | None
    spares: bool = False
    marks: bool = True
    notifies: bool = False
    notice: Notice = FAST_CNPS
    depths: tuple[int, ...] = DEPTHS
    cnp_source: Literal["pe", "peer"] = "pe"
    holds: bool = False
    watches: bool = False
    domain: Mapping[str, Any] = field(default_factory=dict)


# The queue is longest after a release, when what two nodes hold reaches it at once; it has room for
# most of that. `release_at` is above what it serves in the round trip to the node that holds, 4 ms.
HOLDING: Mapping[str, Any] = {
    "hold_at": DEPTHS[0],
    "release_at": 6,
    "time": "40ms",
    "repeat": "8ms",
    "longest": "100ms",
    "packets": 60,
    "pass_on_at": 40,
    "pass_off_at": 10,
    "relief_repeat": "10ms",
}


def _of_flow_control(held: FlowControlMode, title: str, colour: str) -> Mode:
    return Mode(
        held.value,
        title,
        colour,
        told_by=None,
        marks=False,
        notice=ARNS,
        holds=True,
        domain={"flow_control": held.value, "holding": HOLDING},
    )


MODES: Mapping[str, Mode] = {
    mode.name: mode
    for mode in (
        Mode("none", "No marking", "#7f7f7f", told_by=None, marks=False),
        Mode("ecn", "ECN only", "#b2182b", told_by="receiver"),
        Mode("fcn", "FCN", "#1b7837", told_by="ingress PE", notifies=True),
        Mode(
            "end-con",
            "END.CON",
            "#2166ac",
            told_by="ingress PE",
            notifies=True,
            notice=END_CON_CNPS,
            cnp_source="peer",
            domain={"notification": "end-con"},
        ),
        Mode(
            "two-threshold",
            "Two thresholds",
            "#762a83",
            told_by="ingress PE",
            notifies=True,
            spares=True,
            depths=(8, 24, 64),
            domain={
                "notification": "two-threshold",
                "two_threshold": {
                    "light_interval": "20ms",
                    "heavy_interval": "4ms",
                    "treatment": "slow",
                    "rate": {"rate": 200, "burst": 16},
                    "hold": "40ms",
                    "round_trip": "16ms",
                },
            },
        ),
        Mode(
            "fantel",
            "FANTEL",
            "#8c510a",
            told_by="ingress PE",
            notifies=True,
            notice=FANTELS,
            watches=True,
            domain={
                "notification": "fantel",
                # A path is relieved after about a round trip: until then the PE tells its senders.
                # A busy machine may not run a switch for 300 ms. What is no news would be under way
                # while counters are compared.
                "failure_detection": {
                    "interval": "10ms",
                    "multiplier": 30,
                    "refresh": "1h",
                    "relief": "10ms",
                },
            },
        ),
        _of_flow_control(FlowControlMode.SERVICE, "Hold service", "#e08214"),
        _of_flow_control(FlowControlMode.FLOW, "Hold flow", "#c51b7d"),
        _of_flow_control(FlowControlMode.PRIORITY, "Hold priority", "#35978f"),
    )
}

DEFAULT_MODES = ("ecn", "fcn")


def modes_named(names: Iterable[str]) -> tuple[Mode, ...]:
    """The modes of these names, each once, in their order. Raises ValueError."""
    chosen = tuple(dict.fromkeys(names))
    unknown = [name for name in chosen if name not in MODES]
    if unknown:
        raise ValueError(f"no mode {', '.join(unknown)}; there are {', '.join(MODES)}")
    if not chosen:
        raise ValueError(f"no mode is named; there are {', '.join(MODES)}")
    return tuple(MODES[name] for name in chosen)
