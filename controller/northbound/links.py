"""Watched links as messages of the API."""

from collections.abc import Iterator

from fcn.controller.node.agent import NodeAgent
from fcn.controller.proto import fcn_pb2 as pb


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
