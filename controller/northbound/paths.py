"""Policies, paths and watched links as messages of the API."""

from collections.abc import Iterable, Iterator, Set

from fcn.controller.config.paths import COMPUTED, Path
from fcn.controller.node.agent import NodeAgent
from fcn.controller.node.paths import PathState
from fcn.controller.proto import fcn_pb2 as pb


def links_down(agents: Iterable[NodeAgent]) -> frozenset[str]:
    """Ends of links that are down, as these nodes see them."""
    return frozenset(
        f"{agent.name}:{link.port}"
        for agent in agents
        for link in agent.links.links
        if agent.is_up and (state := agent.links.state(link.port)) and state.state == "down"
    )


def policy_messages(agent: NodeAgent, down: Set[str]) -> Iterator[pb.Policy]:
    """The policies of a node; of one that is away, states are unknown. down: ends of links."""
    for plan in agent.paths.plans:
        balanced = agent.paths.balances(plan)
        paths = [
            _message(
                path,
                agent.paths.state(plan.policy, slot) if agent.is_up else None,
                [each.name for each in agent.provision.reporters[path.number] if each.name in down],
                balanced=balanced,
            )
            for slot, path in enumerate(plan.paths)
        ]
        to = agent.provision.node.policies[plan.policy].to
        yield pb.Policy(node=agent.name, name=plan.policy, to=to, exposed=plan.exposed, paths=paths)


def _message(path: Path, state: PathState | None, down: list[str], *, balanced: bool) -> pb.Path:
    message = pb.Path(
        tunnel=path.name,
        id=path.number,
        weight=path.share.weight,
        backup=path.share.is_backup,
        computed=path.name == COMPUTED,
        via=path.trace.certain if path.trace else path.tunnel.via,
        state="unknown",
    )
    if state is not None:
        message.state = "failed" if state.failed else "congested" if state.congested else "up"
        message.since, message.source = state.since, state.source
        if down and not state.failed:
            # Its nodes are not heard, or one of them lies.
            message.source = ", ".join(
                filter(None, [state.source, *(f"not {end}" for end in down)])
            )
        message.packets, message.octets, message.rate = state.packets, state.octets, state.rate
        if balanced:
            message.loads, message.flowlets = state.loads, state.flowlets
    return message


def link_messages(agent: NodeAgent) -> Iterator[pb.Link]:
    """The links that a node watches; of one that is away, states are unknown."""
    for link in agent.links.links:
        message = pb.Link(
            node=agent.name,
            port=link.port,
            peer=link.peer,
            peer_port=link.peer_port,
            state="unknown",
        )
        rate = agent.links.rate(link.port)
        if rate is not None:
            message.rate = rate
        state = agent.links.state(link.port) if agent.is_up else None
        if state is not None:
            message.state, message.since = state.state, state.since
            message.ups, message.downs = state.ups, state.downs
            if state.utilization is not None:
                message.utilization = state.utilization
        yield message
