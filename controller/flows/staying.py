"""Which flows another configuration leaves where they are."""

from collections.abc import Callable, Mapping
from functools import cache

from fcn.controller.config import Config
from fcn.controller.config.addressing import attachment
from fcn.controller.config.notation import Address
from fcn.controller.flows.flow import Edge, Flow


def staying(config: Config, edges: Mapping[str, Edge]) -> Callable[[Flow], bool]:
    """Whether a flow stays under another configuration, whose PEs are `edges`."""

    @cache
    def is_at(node: str, vrf: str, source: Address) -> bool:
        return attachment(config.nodes[node], vrf, source) is not None

    learning = {name for name, edge in edges.items() if edge.learning}

    def stays(flow: Flow) -> bool:
        key = flow.key
        return (
            flow.node in learning and key.vrf in config.vrfs and is_at(flow.node, key.vrf, key.src)
        )

    return stays
