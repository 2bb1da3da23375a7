"""The flow service of a small domain."""

from typing import Any

import pytest
from flow_network import Network, network_of


@pytest.fixture
def net(network: dict[str, Any]) -> Network:
    """The domain of the example, with edges of memory."""
    return network_of(network)
