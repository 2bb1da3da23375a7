"""Where the addresses of customers are: at which PEs, and behind which of their ports."""

from functools import lru_cache

from fcn.controller.config import Config
from fcn.controller.config.addressing import attachment, locate
from fcn.controller.config.notation import Address

REMEMBERED = 65536
"""Addresses of which it is kept where they are, so that a report need not search for it."""


class Places:
    """Where addresses of a configuration are; what was asked for is remembered."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self.nodes = lru_cache(REMEMBERED)(self._nodes)
        self.port = lru_cache(REMEMBERED)(self._port)

    def _nodes(self, vrf: str, address: Address) -> list[str]:
        """The PEs that an address of a VRF is attached to, most specific prefix first."""
        return locate(self._config, vrf, address)

    def _port(self, node: str, vrf: str, address: Address) -> int | None:
        """The port of a PE that an address of a VRF is behind; None where it is elsewhere."""
        found = attachment(self._config.nodes[node], vrf, address)
        return found.port.number if found is not None else None
