"""The entries of a PE's policies: which paths flows take, who may speak of them (FAN-4)."""

from collections.abc import Mapping, Sequence

from fcn.controller.config.arrivals import arrival_ports
from fcn.controller.config.balancing import SETTLING_ROUNDS
from fcn.controller.config.paths import Plan, first_tunnels, policy_numbers
from fcn.controller.config.reporters import Reporter
from fcn.controller.config.watching import congestion_interval
from fcn.controller.owners.path_reporters import PathReporters
from fcn.controller.owners.path_selection import PathSelection
from fcn.controller.provision.node_intent import NodeIntent


def select_paths(
    to: NodeIntent, plans: Sequence[Plan], reporters: Mapping[int, Sequence[Reporter]]
) -> None:
    """What a PE does with traffic whose routes name policies. reporters: those who may speak of a
    path, by its ID."""
    selection = PathSelection(to.intent)
    for plan in plans:
        selection.distribute(plan.cell, plan.shares)
        selection.name(plan.cell, [path.number for path in plan.paths])
    if plans:
        _believe(to, reporters)
    by_name = {plan.policy: plan for plan in plans}
    cnp_interval = congestion_interval(to.config)
    numbers = policy_numbers(to.node)
    times = to.config.failure_detection
    # How long loads take to show what has moved, in microseconds.
    settling = SETTLING_ROUNDS * times.interval if times else 0
    for pair, first in first_tunnels(to.node, plans).items():
        plan = by_name[pair[0]]
        balancing = to.config.load_balancing if plan.compared else None
        selection.use(
            numbers[pair],
            plan,
            first,
            balancing,
            settle=settling if balancing else 0,
            cnp_interval=cnp_interval,
        )


def _believe(to: NodeIntent, reporters: Mapping[int, Sequence[Reporter]]) -> None:
    """Messages of these nodes, by the ports by which they come (FAN-8)."""
    owner = PathReporters(to.intent)
    for number, found in reporters.items():
        owner.believe(number, found)
    nodes = sorted({each.node for found in reporters.values() for each in found})
    for name, ports in arrival_ports(to.config, to.name, nodes).items():
        owner.expect(to.config.nodes[name].underlay_address, ports)
