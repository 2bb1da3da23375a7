"""The picture of a network, from its nodes and links in the file."""

from collections.abc import Sequence

from fcn.controller.proto import fcn_pb2 as pb
from fcn.page.layout import layout
from fcn.page.model import CENTRE, Line, Picture, Place

MOST_NAMED = 3
"""Ports to data centres that are named; of more there is their number."""


def picture_of(network: pb.GetNetworkResponse) -> Picture:
    """The links of the file first, in its order, then one to the hosts behind each PE."""
    centres = {
        node.name: [port.name for port in node.ports if port.role == "dc"] for node in network.nodes
    }
    lines = [
        Line((link.node, link.peer), (link.port, link.peer_port))
        for link in network.links
        if link.node in centres and link.peer in centres
    ]
    lines += [Line((name, name + CENTRE), (None, None)) for name, ports in centres.items() if ports]
    roles = {node.name: node.role for node in network.nodes}
    roles |= {name + CENTRE: "dc" for name, ports in centres.items() if ports}
    points, height = layout(list(roles), [line.ends for line in lines])
    return Picture(
        tuple(
            Place(name, role, *points[name], _note(centres[name.removesuffix(CENTRE)], role))
            for name, role in roles.items()
        ),
        tuple(lines),
        height,
    )


def _note(ports: Sequence[str], role: str) -> str:
    if role != "dc":
        return ""
    return ", ".join(ports) if len(ports) <= MOST_NAMED else f"{len(ports)} ports"
