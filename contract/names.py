"""Names of the P4Info contract, and where a target's program has others.

Tables, keys, actions and parameters are the same on all targets (tests/contract/test_contract.py)
but for what a `Names` lists.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

FLOW_TABLES = {4: "flow_ipv4", 6: "flow_ipv6"}
LABEL_TABLES = {4: "flow_by_label_ipv4", 6: "flow_by_label_ipv6"}
ROUTE_TABLES = {4: "route_ipv4", 6: "route_ipv6"}
"""Tables by IP version."""

NEW_FLOW_DIGESTS = {4: "new_flow_ipv4_t", 6: "new_flow_ipv6_t"}
CM_DIGESTS = {4: "cm_ipv4_t", 6: "cm_ipv6_t"}
"""Digests by IP version."""

COUNTER_ENUMS = {"drops": "DropReason", "events": "Event", "egress_events": "Event"}
"""Counters indexed by an enum of the programs, in which 0 stands for nothing."""

EVENT_COUNTERS = tuple(name for name, enum in COUNTER_ENUMS.items() if enum == "Event")
"""Ingress and egress count different events, so the two never share a name."""

PORT_COUNTERS = ("port_rx", "port_tx")
"""Counters indexed by port number."""

CORE_PORTS = "core_ports"
"""Value set of a chip's PE parser: the ports that face the WAN."""


@dataclass(frozen=True)
class Names:
    """How the names of a target's programs depart from the contract.

    counter_parts: per counter of the contract, the counters of the program that add up to it.
    renamed_actions: per table and action of the contract, the action's name in the program.
    extra_actions: actions the program has beyond the contract; none of them is ever written.
    """

    counter_parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    renamed_actions: Mapping[tuple[str, str], str] = field(default_factory=dict)
    extra_actions: tuple[str, ...] = ()

    def counters(self, contract_name: str) -> tuple[str, ...]:
        """The program's counters whose cells add up to those of a counter of the contract."""
        return self.counter_parts.get(contract_name, (contract_name,))

    def action(self, table: str, contract_name: str) -> str:
        """What the program calls an action of a table of the contract."""
        return self.renamed_actions.get((table, contract_name), contract_name)

    def contract_action(self, table: str, name: str) -> str:
        """What the contract calls an action of the program's table."""
        for (renamed, contract_name), own in self.renamed_actions.items():
            if (renamed, own) == (table, name):
                return contract_name
        return name
