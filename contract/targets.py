"""What differs between the chips one controller drives; everything else is the P4Info contract.

BMv2 and softswitch run the v1model programs, Tofino the TNA programs. Tables, keys, actions and
parameters are the same on all of them (tests/contract/test_contract.py); the differences are here.
Owners ask the target of their node's pipeline, and it is known from the P4Info (`target_of`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from finsy.proto import p4i

from fcn.contract.constants import PipelineError

CORE_PORTS = "core_ports"
"""Value set of a chip's PE parser: the ports that face the WAN."""

MAX_TICKS = (1 << 32) - 1
"""Time parameters of the programs have 32 bits."""


@dataclass(frozen=True)
class Target:
    """How a target departs from the contract.

    counter_parts: per counter of the contract, the counters of the program that add up to it.
    renamed_actions: per table and action of the contract, the action's name in the program.
    extra_actions: actions the program has beyond the contract; none of them is ever written.
    extra_value_sets: parser value sets the program has and v1model cannot have.
    tick: nanoseconds of one unit of the program's time parameters.
    clone_session: whether copies are steered by a P4Runtime clone session; a chip's mirror sessions
        belong to its driver.
    """

    name: str
    counter_parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    renamed_actions: Mapping[tuple[str, str], str] = field(default_factory=dict)
    extra_actions: tuple[str, ...] = ()
    extra_value_sets: tuple[str, ...] = ()
    tick: int = 1000
    clone_session: bool = True

    def counters(self, contract_name: str) -> tuple[str, ...]:
        """The program's counters whose cells add up to those of a counter of the contract."""
        return self.counter_parts.get(contract_name, (contract_name,))

    def action(self, table: str, contract_name: str) -> str:
        """What the program calls an action of a table of the contract."""
        return self.renamed_actions.get((table, contract_name), contract_name)

    def ticks(self, microseconds: int) -> int:
        """A duration as a time parameter: never shorter, but for what 32 bits cannot hold."""
        return min(-(-microseconds * 1000 // self.tick), MAX_TICKS)


V1MODEL = Target("v1model")

# A counter of Tofino is met once per packet, so what may happen to one packet on top of another
# event is counted beside it. CORE_PORTS holds the ports port_role gives set_core_port.
TNA = Target(
    "tna",
    counter_parts={
        "events": ("events", "arrival_events", "report_events"),
        "egress_events": ("egress_events", "mark_events"),
    },
    # Counting is done by actions, so each table of flows, with its own counter, has its own.
    renamed_actions={
        ("flow_ipv6", "set_flow_label"): "set_flow_label_ipv6",
        ("flow_ipv6", "set_flow_label_watched"): "set_flow_label_watched_ipv6",
        ("flow_by_label_ipv6", "source_qp_unknown"): "source_qp_unknown_ipv6",
    },
    # A selector table of BMv2 has no default action; here it is the one that drops.
    extra_actions=("underlay_no_route",),
    extra_value_sets=(CORE_PORTS,),
    # Bits 8 to 39 of the chip's nanosecond clock.
    tick=256,
    clone_session=False,
)

# Tofino 2 runs the TNA programs as `t2na`.
_ARCHITECTURES = {"v1model": V1MODEL, "tna": TNA, "t2na": TNA}


def target_of(p4info: p4i.P4Info) -> Target:
    """The target a program was compiled for. Raises PipelineError."""
    arch = p4info.pkg_info.arch
    if arch not in _ARCHITECTURES:
        raise PipelineError(
            f"the P4Info is of a program for architecture {arch!r}; "
            f"the controller drives {', '.join(_ARCHITECTURES)}"
        )
    return _ARCHITECTURES[arch]
