"""Names of the P4Info contract; they are the same on all targets (tests/contract)."""

from dataclasses import dataclass

from fcn.contract.constants import enum_members

FLOW_TABLES = {4: "flow_ipv4", 6: "flow_ipv6"}
LABEL_TABLES = {4: "flow_by_label_ipv4", 6: "flow_by_label_ipv6"}
ROUTE_TABLES = {4: "route_ipv4", 6: "route_ipv6"}
GATEWAY_TABLES = {4: "gateway_ipv4", 6: "gateway_ipv6"}
"""Tables by IP version."""

NEW_FLOW_DIGESTS = {4: "new_flow_ipv4_t", 6: "new_flow_ipv6_t"}
CM_DIGESTS = {4: "cm_ipv4_t", 6: "cm_ipv6_t"}
NEIGHBOR_DIGESTS = {4: "neighbor_ipv4_t", 6: "neighbor_ipv6_t"}
"""Digests by IP version."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The meaning of a counter's cells: the index is a member of an enum of the programs, except 0.

    `name`: name of a cell, unique over all counters; `{}` is replaced by the member.
    """

    enum: str
    name: str = "{}"


COUNTERS = {
    "drops": Counted("DropReason"),
    "punts": Counted("PuntReason", "PUNTED_{}"),
    "events": Counted("Event"),
    "reports": Counted("ReportKind"),
    "holds": Counted("HoldEvent", "HOLD_{}"),
    "ecn_marked": Counted("Ecn", "{}_MARKED"),
    "notifications_received": Counted("NotificationKind", "{}_RECEIVED"),
    "notifications_sent": Counted("NotificationKind", "{}_SENT"),
    "notifications_triggered": Counted("NotificationKind", "{}_TRIGGERED"),
    "flow_interval_suppressed": Counted("NotificationKind", "{}_INTERVAL_SUPPRESSED"),
    "node_rate_suppressed": Counted("NotificationKind", "{}_RATE_SUPPRESSED"),
}
"""Counters indexed by an enum; the names of their cells are unique."""

EVENT_COUNTERS = tuple(counter for counter in COUNTERS if counter != "drops")
"""Counters of events, as opposed to drop reasons."""

PORT_COUNTERS = ("port_rx", "port_tx")
"""Counters indexed by port number."""

VRF_COUNTERS = ("vrf_refused",)
"""Counters of packets and reports a VRF's limits kept from the controller, by the VRF's cell."""

PATH_COUNTERS = ("path_reports", "path_traffic", "reporter_reports")
"""Counters by path: what was said of it that was news, what it took, and what each link or node on
it said (contract/paths.py)."""

LOAD_COUNTERS = ("path_loads", "path_flowlets")
"""Counters by path: how often its load was said, and flows that were moved to it because of load
(FAN-7)."""

CORE_PATH_TABLES = frozenset({"core_path", "fantel_profile"})
"""Of a P that tells PEs of their paths (FAN-4)."""

EGRESS_PE_TABLES = frozenset({"fast_cnp_profile"})
"""Of a PE that tells other PEs of its congested ports to data centres (FCN-18)."""

LINK_COUNTERS = ("links_up", "links_down", "clock_rounds")
"""By port, how often a link came up and went down: a link that was never up has neither, and one
that is up came up once more. Rounds of the clock: while they stand still, it is lost."""

LIGHT_POLICY = "light_policy"
"""Table of a PE that treats lightly congested flows (PEC-3)."""

HOLD_PARTS = frozenset({"arn_arrival", "arn_neighbor", "hold_budget", "holds", "notification_sid"})
"""Tables and a counter of a P that holds what its neighbours ask it to (SRF-7)."""

BFD_TABLES = frozenset({"bfd_session"})
"""Of a node that watches links (FAN-4); without, it says what is congested only."""

NOT_ON_CHIPS = {
    "p": HOLD_PARTS
    | BFD_TABLES
    | {"alternate", "links_down", "links_up", "watch_link", "watch_path", "watch_path_load"}
    | {"bfd_machine", "events", "notifications_received", "NoAction"},
    "pe": EGRESS_PE_TABLES | {"node_rate_suppressed", LIGHT_POLICY, "NoAction"},
}
"""By role, tables, counters and actions that programs for chips may lack: of END.CON (SRF-4),
of an egress PE's congested ports (FCN-18), of flows that are treated, of traffic that is held, of
links that are watched (Tofino 2 has those), and of a miss in `underlay`."""

CORE_PORTS = "core_ports"
"""Value set of a chip's PE parser: the ports that face the WAN."""


def named_cells(counter: str) -> dict[int, str]:
    """The name of every cell of a counter indexed by an enum. Raises PipelineError."""
    counted = COUNTERS[counter]
    return {
        index: counted.name.format(member)
        for member, index in enum_members(counted.enum).items()
        if index
    }
