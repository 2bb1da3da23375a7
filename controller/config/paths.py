"""The paths of policies as the switches and messages know them, with the computed backups."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from fcn.contract.constants import POLICY_BIT, POLICY_CELLS
from fcn.contract.paths import PathShare, compared, path_tag
from fcn.controller.config.addressing import tunnel_numbers
from fcn.controller.config.cells import hashed, spread
from fcn.controller.config.model import MAX_SIDS, Config, Node, Tunnel
from fcn.controller.config.policies import DERIVED_ID, Policy, PolicyPath
from fcn.controller.config.topology import Topology, Trace, common

COMPUTED = "(disjoint)"
"""Stands for the name of a tunnel that no file names."""


@dataclass(frozen=True, slots=True)
class Path:
    """A path of a policy. number: its ID in messages. trace: None where links do not show it."""

    name: str
    number: int
    tunnel: Tunnel
    share: PathShare
    trace: Trace | None


@dataclass(frozen=True, slots=True)
class Plan:
    """A policy of a node: the index of its state in the switch, and its paths by slot.

    hold_down in microseconds. exposed: why one failure of a link or transit node may end all paths;
    empty where none can, where links do not show it, or where the policy says `backup: []`.
    """

    policy: str
    cell: int
    paths: tuple[Path, ...]
    hold_down: int
    exposed: str = ""

    @property
    def shares(self) -> tuple[PathShare, ...]:
        return tuple(path.share for path in self.paths)

    @property
    def compared(self) -> tuple[int, ...]:
        """Slots of the paths whose loads matter (FAN-7)."""
        return compared(self.shares)


@dataclass(frozen=True, slots=True)
class NumberedTunnel:
    """A tunnel of a VRF, and its number in table `tunnel`. name: COMPUTED where no file has it.
    tag: that of its SRH, by which transit nodes know the path; 0 for a tunnel that is none."""

    number: int
    name: str
    tunnel: Tunnel
    vrf: str
    tag: int = 0


class Planner:
    """Derives the paths of a valid configuration, each node's once."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._topology = Topology(config)
        self._planned = cache(self._plan)

    def plans(self, node_name: str) -> tuple[Plan, ...]:
        """The policies of a node, in the order of the file."""
        return self._planned(node_name)

    def warnings(self) -> Iterator[tuple[str, str, str]]:
        """Node, policy and reason where one failure may end all paths of a policy."""
        for name in self._config.nodes:
            for plan in self.plans(name):
                if plan.exposed:
                    yield name, plan.policy, plan.exposed

    def trace(self, node_name: str, tunnel: Tunnel) -> Trace | None:
        """Where a tunnel of a node leads; None where links do not show it."""
        if tunnel.to is None or tunnel.sr_label is not None:
            return None
        return self._topology.trace(node_name, (*tunnel.via, tunnel.to))

    def _plan(self, node_name: str) -> tuple[Plan, ...]:
        found: dict[str, tuple[tuple[Path, ...], str]] = {}
        policies = self._config.nodes[node_name].policies
        for name, policy in policies.items():
            paths = self._given(node_name, name, policy)
            exposed = _exposed(paths)
            if policy.backup is None and exposed:
                spare, exposed = self._spare(node_name, name, policy, paths)
                paths += spare
            unprotected = policy.backup == () and not policy.disjoint
            found[name] = paths, "" if unprotected else exposed
        cells = _cells(
            {name: [path.number for path in paths] for name, (paths, _) in found.items()}
        )
        return tuple(
            Plan(name, cells[name], paths, policies[name].hold_down, exposed)
            for name, (paths, exposed) in found.items()
        )

    def _given(self, node_name: str, name: str, policy: Policy) -> tuple[Path, ...]:
        tunnels = self._config.nodes[node_name].tunnels
        return tuple(
            Path(
                path.tunnel,
                path_number(node_name, name, path),
                tunnels[path.tunnel],
                PathShare(path.weight, is_backup),
                self.trace(node_name, tunnels[path.tunnel]),
            )
            for is_backup, paths in ((False, policy.paths), (True, policy.backup or ()))
            for path in paths
        )

    def _spare(
        self, node_name: str, name: str, policy: Policy, paths: Sequence[Path]
    ) -> tuple[tuple[Path, ...], str]:
        """A backup that shares nothing with the paths, or at least not what they share with each
        other; or none, and why."""
        exposed = _exposed(paths)
        far = self._config.nodes[policy.to]
        for used, vrf in sorted(used_policies(self._config.nodes[node_name])):
            if used == name and vrf in far.vrfs and far.vrfs[vrf].service_sid is None:
                sid = f"nodes.{policy.to}.vrfs.{vrf}.service_sid"
                return (), f"{exposed}, and an SRv6 tunnel by another way needs {sid}"
        traces = [path.trace for path in paths if path.trace is not None]
        everything = (
            frozenset[str]().union(*(each.nodes for each in traces)),
            frozenset(link for each in traces for link in each.links),
        )
        for avoid in (everything, common(traces)):
            via = self._topology.other_way(node_name, policy.to, avoid, MAX_SIDS - 1)
            if via is not None:
                like = paths[0].tunnel
                tunnel = Tunnel(
                    type="srv6", to=policy.to, via=via, ecn=like.ecn, source=like.source
                )
                number = _derived(node_name, name, COMPUTED)
                share = PathShare(1, is_backup=True)
                return (Path(COMPUTED, number, tunnel, share, self.trace(node_name, tunnel)),), ""
        return (), f"{exposed}, and there is no other way that END SIDs can lead"


def first_tunnels(node: Node, plans: Sequence[Plan]) -> dict[tuple[str, str], int]:
    """The number of the tunnel of slot 0, by policy and VRF with routes that name it; the others
    follow. They are behind those of tunnel_numbers()."""
    paths = {plan.policy: len(plan.paths) for plan in plans}
    number = len(tunnel_numbers(node)) + 1
    found = {}
    for policy, vrf in sorted(used_policies(node)):
        found[policy, vrf] = number
        number += paths[policy]
    return found


def numbered_tunnels(node: Node, plans: Sequence[Plan]) -> Iterator[NumberedTunnel]:
    """What table `tunnel` has. Each path of a policy has a number of its own in each VRF, so that
    these follow each other."""
    for (name, vrf), number in tunnel_numbers(node).items():
        yield NumberedTunnel(number, name, node.tunnels[name], vrf)
    by_name = {plan.policy: plan for plan in plans}
    for (policy, vrf), first in first_tunnels(node, plans).items():
        plan = by_name[policy]
        for slot, path in enumerate(plan.paths):
            tag = path_tag(plan.cell, slot)
            yield NumberedTunnel(first + slot, path.name, path.tunnel, vrf, tag)


def policy_numbers(node: Node) -> dict[tuple[str, str], int]:
    """The number of each (policy, VRF) in the place of a tunnel's."""
    return {pair: POLICY_BIT | number for number, pair in enumerate(sorted(used_policies(node)), 1)}


def used_policies(node: Node) -> set[tuple[str, str]]:
    """Policies that routes name, with their VRF."""
    return {
        (route.policy, vrf)
        for vrf, local in node.vrfs.items()
        for route in local.routes
        if route.policy is not None
    }


def path_number(node: str, policy: str, path: PolicyPath) -> int:
    """The ID of a path: as given, or a hash of its names, so that what is added to the file changes
    no other path's."""
    return path.id if path.id is not None else _derived(node, policy, path.tunnel)


def _derived(*names: str) -> int:
    return hashed(*names) | DERIVED_ID


def _exposed(paths: Sequence[Path]) -> str:
    """What all paths may pass, as text."""
    traces = [path.trace for path in paths if path.trace is not None]
    if len(traces) < len(paths):
        return ""
    nodes, links = common(traces)
    names = [f"node {name}" for name in sorted(nodes)]
    names += [
        "link " + " - ".join(f"{end}:{port}" for end, port in link)
        for link in sorted(links)
        if not nodes.intersection(end for end, _ in link)
    ]
    return f"all its paths pass {' and '.join(names)}" if names else ""


def _cells(policies: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """The index of each policy's state, a hash of its paths: the switch keeps what it knows of
    paths when the file changes, and another policy must not inherit it."""
    wanted = ((name, hashed(name, *numbers)) for name, numbers in sorted(policies.items()))
    return spread(wanted, POLICY_CELLS)
