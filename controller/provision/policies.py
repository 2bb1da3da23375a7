"""The entries of a PE's policies: which paths flows take, who may speak of them (FAN-4)."""

from collections.abc import Mapping, Sequence

from fcn.contract.paths import distributions, paths_in_use
from fcn.controller.config.arrivals import arrival_ports
from fcn.controller.config.balancing import SETTLING_ROUNDS
from fcn.controller.config.paths import Plan, first_tunnels, policy_numbers
from fcn.controller.config.reporters import Reporter, node_number
from fcn.controller.config.watching import congestion_interval
from fcn.controller.provision.node_intent import NodeIntent

MARGIN_UNIT = 8
"""Permille: the PE compares loads in this unit, and moves flows at a difference of more units."""


def select_paths(
    to: NodeIntent, plans: Sequence[Plan], reporters: Mapping[int, Sequence[Reporter]]
) -> None:
    """What a PE does with traffic whose routes name policies. reporters: those who may speak of a
    path, by its ID."""
    for plan in plans:
        _distribute(to, plan)
    if plans:
        _believe(to, reporters)
    by_name = {plan.policy: plan for plan in plans}
    # How often the sender of a flow on a congested path gets a CNP; None: never (FAN-6).
    cnp_interval = congestion_interval(to.config)
    numbers = policy_numbers(to.node)
    times, ticks = to.config.failure_detection, to.tables.ticks
    # How long loads take to show what has moved, in microseconds.
    settling = SETTLING_ROUNDS * times.interval if times else 0
    for pair, first in first_tunnels(to.node, plans).items():
        plan = by_name[pair[0]]
        balancing = to.config.load_balancing if plan.compared else None
        # In the place of a tunnel; those of the paths have numbers from `first` on.
        to.tables.put(
            "policy",
            {"tunnel": numbers[pair]},
            "to_policy",
            number=plan.cell,
            first=first,
            hold=ticks(plan.hold_down),
            flowlet_gap=ticks(balancing.flowlet) if balancing else 0,
            margin=balancing.margin // MARGIN_UNIT if balancing else 0,
            settle=ticks(settling) if balancing else 0,
            cnp_interval=0 if cnp_interval is None else max(1, ticks(cnp_interval)),
            paths=(1 << len(plan.paths)) - 1,
        )


def _distribute(to: NodeIntent, plan: Plan) -> None:
    """Which path a flow takes: an entry for each set of paths to avoid and each bucket, so that the
    switch needs nobody then; and the IDs by which messages name the paths."""
    for avoided, slots in distributions(plan.shares):
        used = sum(1 << slot for slot in paths_in_use(plan.shares, avoided))
        for bucket, slot in enumerate(slots):
            match = {"policy": plan.cell, "avoided": avoided, "bucket": bucket}
            to.tables.put("path", match, "take_path", path=slot, in_use=used)
    for slot, path in enumerate(plan.paths):
        to.tables.put(
            "path_by_id",
            {"path_id": path.number},
            "set_path",
            number=plan.cell,
            path_slot=slot,
            path_bit=1 << slot,
            policy_paths=(1 << len(plan.paths)) - 1,
        )


def _believe(to: NodeIntent, reporters: Mapping[int, Sequence[Reporter]]) -> None:
    """Messages of these nodes, by the ports by which they come (FAN-8)."""
    for number, found in reporters.items():
        for each in found:
            to.tables.put(
                "path_reporter",
                {
                    "source": each.address,
                    "node": node_number(each.node),
                    "link": each.port,
                    "path_id": number,
                },
                "set_reporter",
                reporter_cell=each.cell,
                bit_of_path=each.bit,
            )
    nodes = sorted({each.node for found in reporters.values() for each in found})
    for name, ports in arrival_ports(to.config, to.name, nodes).items():
        source = to.config.nodes[name].underlay_address
        for port in ports:
            match = {"source": source, "ingress_port": port}
            to.tables.put("reporter_port", match, "comes_this_way")
