"""Which nodes may speak of a path in notifications, and of which of their links (FAN-4, FAN-8)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address

from fcn.contract.constants import PATH_REPORTER_CELLS
from fcn.controller.config.cells import hashed, spread
from fcn.controller.config.model import Config
from fcn.controller.config.paths import Path, Plan

WHOLE_NODE = 0
"""In the place of a port: the node itself."""


@dataclass(frozen=True, slots=True)
class Reporter:
    """A link of a node, or the node itself (port WHOLE_NODE), that a path passes.

    cell: index among all of one PE; bit: among those of the path.
    """

    node: str
    address: IPv6Address
    port: int
    cell: int
    bit: int

    @property
    def name(self) -> str:
        """As in `links`, or the node."""
        return self.node if self.port == WHOLE_NODE else f"{self.node}:{self.port}"


def node_number(name: str) -> int:
    """The number of a node in messages: a hash, so that what is added to the file changes none."""
    return hashed("node", name)


def reporters(config: Config, node_name: str, plans: Sequence[Plan]) -> dict[int, list[Reporter]]:
    """Who may speak of each path of a PE, by the path's ID: both ends of each link that it may
    pass, but those of the PE, and each node on it; nobody where links do not show the path."""
    found_by_path = {
        path.number: tuple(reporting_ends(node_name, path)) for plan in plans for path in plan.paths
    }
    cells = _cells(found_by_path)
    return {
        number: [
            Reporter(
                node,
                config.nodes[node].underlay_address,
                port,
                cells[number, node, port],
                1 << position,
            )
            for position, (node, port) in enumerate(found)
        ]
        for number, found in found_by_path.items()
    }


def reporting_ends(node_name: str, path: Path) -> Iterator[tuple[str, int]]:
    """Node and port of each that may speak of a path of `node_name`."""
    if path.trace is None:
        return
    for node in sorted(path.trace.nodes):
        yield node, WHOLE_NODE
    for end in sorted({end for link in path.trace.links for end in link}):
        if end[0] != node_name:
            yield end


def _cells(
    found_by_path: Mapping[int, Sequence[tuple[str, int]]],
) -> dict[tuple[int, str, int], int]:
    """An index for each, a hash: the switch keeps what was said last when the file changes."""
    each_of = (
        (number, node, port)
        for number, found in sorted(found_by_path.items())
        for node, port in found
    )
    return spread(((each, hashed(*each)) for each in each_of), PATH_REPORTER_CELLS)
