"""Checks of policies and their paths (FAN-4). Yields (path, message)."""

from collections.abc import Hashable, Iterable, Iterator

from fcn.contract.constants import PATH_REPORTER_CELLS, PATH_REPORTERS, POLICY_CELLS
from fcn.contract.paths import entries_of
from fcn.contract.pipeline import Pipeline
from fcn.controller.config.addressing import tunnel_numbers
from fcn.controller.config.document import KeyPath, listed
from fcn.controller.config.model import Config, Node
from fcn.controller.config.paths import COMPUTED, Plan, Planner, path_number, used_policies
from fcn.controller.config.policies import Policy, PolicyPath
from fcn.controller.config.reporters import reporting_ends
from fcn.controller.config.transport import Finding


def check_policies(planner: Planner, config: Config, node: Node) -> Iterator[Finding]:
    """What is wrong with each policy of a node, up to its paths."""
    if not node.policies:
        return
    name = next(each for each, other in config.nodes.items() if other is node)
    wrong = False
    for policy_name, policy in node.policies.items():
        path: KeyPath = ("policies", policy_name)
        for sub, message in _check_policy(config, planner, name, policy):
            wrong = True
            yield (*path, *sub), message
    if wrong or len(node.policies) > POLICY_CELLS:
        return
    plans = planner.plans(name)
    yield from _check_reporters(plans, name)
    for plan in plans:
        if plan.exposed and node.policies[plan.policy].disjoint:
            yield (
                ("policies", plan.policy, "disjoint"),
                f"one failure can end all of its paths: {plan.exposed}",
            )


def _check_policy(config: Config, planner: Planner, name: str, policy: Policy) -> Iterator[Finding]:
    node, far = config.nodes[name], config.nodes.get(policy.to)
    if far is None or far is node or far.role != "pe":
        known = listed(
            each for each, other in config.nodes.items() if other.role == "pe" and each != name
        )
        yield ("to",), f"{policy.to} is not another PE; those are: {known}"
        return
    seen: dict[Hashable, str] = {}
    for where, path in _paths(policy):
        tunnel = node.tunnels.get(path.tunnel)
        here = (*where, "tunnel")
        if tunnel is None:
            known = listed(node.tunnels)
            yield here, f"the node has no tunnel {path.tunnel}; it has: {known}"
            continue
        if tunnel.to != policy.to:
            yield here, f"{path.tunnel} ends at {tunnel.to or 'no node of this file'}, not there"
            continue
        unknown = next((each for each in tunnel.via if each not in config.nodes), None)
        if unknown is not None:
            yield here, f"{path.tunnel} visits {unknown}, and there is no such node"
            continue
        trace = planner.trace(name, tunnel)
        if trace is None and config.links and not node.underlay and tunnel.sr_label is None:
            way = ", ".join((*tunnel.via, policy.to))
            yield here, f"the links do not lead from {name} to {way}"
        if trace is not None and trace.repeated is not None:
            yield here, f"{path.tunnel} has a loop: it passes {trace.repeated} twice"
        key: Hashable = (trace.nodes, trace.links) if trace else (tunnel.via, tunnel.sr_label)
        if key not in seen:
            seen[key] = path.tunnel
        elif seen[key] == path.tunnel:
            yield here, f"{path.tunnel} is one of its paths already"
        else:
            yield here, f"{path.tunnel} takes the same way as {seen[key]}"


def _paths(policy: Policy) -> Iterator[tuple[KeyPath, PolicyPath]]:
    for key, paths in (("paths", policy.paths), ("backup", policy.backup or ())):
        for index, path in enumerate(paths):
            yield (key, index), path


def check_path_numbers(config: Config) -> Iterator[Finding]:
    """IDs are unique in the domain, for which messages have them."""
    first: dict[int, tuple[str, PolicyPath]] = {}
    for name, node in config.nodes.items():
        for policy_name, policy in node.policies.items():
            for where, path in _paths(policy):
                here: KeyPath = ("nodes", name, "policies", policy_name, *where)
                number = path_number(name, policy_name, path)
                owner, other = first.setdefault(number, (".".join(map(str, here)), path))
                if other is not path and path.id is not None:
                    yield (*here, "id"), f"{number} is already that of {owner}"
                elif other is not path and other.tunnel != path.tunnel:
                    yield here, f"its derived ID {number} is that of {owner}; give it another `id`"


def check_fantel_port(config: Config) -> Iterator[Finding]:
    """One port, one kind of notification."""
    for key, port in (
        ("fast_cnp_port", config.fast_cnp_port),
        ("holding.udp_port", config.holding.udp_port),
    ):
        if config.fantel_port == port:
            yield ("fantel_port",), f"{port} is {key}; choose another"


def _check_reporters(plans: Iterable[Plan], name: str) -> Iterator[Finding]:
    """How many links and nodes speak of paths."""
    total = 0
    for plan in plans:
        for path in plan.paths:
            count = len(tuple(reporting_ends(name, path)))
            total += count
            if count > PATH_REPORTERS:
                told = "say by `via` which way it takes"
                if path.name == COMPUTED:
                    told = "give a backup with `via`, or `backup: []` for none"
                yield (
                    ("policies", plan.policy),
                    f"{path.name} may pass {count} nodes and ends of links, and a switch listens "
                    f"to {PATH_REPORTERS} of a path; {told}",
                )
    if total > PATH_REPORTER_CELLS:
        yield (
            ("policies",),
            f"their paths pass {total} nodes and ends of links, and a switch listens to "
            f"{PATH_REPORTER_CELLS}",
        )


def check_room(config: Config, name: str, program: Pipeline) -> Iterator[Finding]:
    """Limits of the node's program."""
    node = config.nodes[name]
    path: KeyPath = ("nodes", name, "policies")
    if node.role != "pe" or not node.policies:
        return
    if len(node.policies) > POLICY_CELLS:
        yield path, f"the program has room for {POLICY_CELLS} policies"
        return
    # Of each policy one more than given: a computed backup.
    counts = {
        name: len(policy.paths) + (1 if policy.backup is None else len(policy.backup))
        for name, policy in node.policies.items()
    }
    remedy = "give the node fewer policies or paths"
    if any(policy.backup is None for policy in node.policies.values()):
        remedy = "write `backup: []` in those that need no computed backup, which is counted, too"
    used = [policy for policy, _ in used_policies(node)]
    tunnels = sum(counts.get(policy, 0) for policy in used)
    for table, needed in (
        ("path", sum(map(entries_of, counts.values()))),
        ("path_by_id", sum(counts.values())),
        ("policy", len(used)),
        ("tunnel", len(tunnel_numbers(node)) + tunnels),
    ):
        size = program.table_size(table)
        if needed > size:
            yield path, f"they take {needed} entries of table {table}, which has {size}; {remedy}"
