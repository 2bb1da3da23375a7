"""Work that grows with the number of flows leaves turns of the event loop to others."""

import asyncio.events
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

import pytest
import yaml
from switches import MemorySwitch
from virtual import virtual_plane_up

from fcn.controller.config import parse_config
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.labelling import Labelling
from fcn.controller.node import edge, synchronization
from fcn.controller.node.edge import NodeEdge
from fcn.controller.pace import TURN

FLOWS = 8 * TURN
A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")


class Turns:
    """Counts how often a function is called in one turn of the event loop."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.most: dict[str, int] = {}
        self._now: dict[str, int] = {}
        self._patch = patch
        run = asyncio.events.Handle._run

        def turn(handle: asyncio.Handle) -> None:
            self._now.clear()
            run(handle)

        patch.setattr(asyncio.events.Handle, "_run", turn)

    def count(self, owner: Any, name: str) -> None:  # noqa: ANN401
        real: Callable[..., Any] = getattr(owner, name)

        def counted(*given: Any, **named: Any) -> Any:  # noqa: ANN401
            self._now[name] = self._now.get(name, 0) + 1
            self.most[name] = max(self.most.get(name, 0), self._now[name])
            return real(*given, **named)

        self._patch.setattr(owner, name, counted)


@pytest.mark.virtual_time
async def test_a_reload_takes_turns(
    network: dict[str, Any], switches: dict[str, MemorySwitch], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with virtual_plane_up(parse_config(yaml.safe_dump(network))) as plane:
        for number in range(FLOWS):
            plane.flows.seen("pe1", 1, FlowKey("blue", A, B, 100 + number))
        assert await plane.nodes["pe1"].settled()
        turns = Turns(monkeypatch)
        turns.count(NodeEdge, "entries")
        turns.count(Labelling, "restate")
        turns.count(edge, "Flow")
        turns.count(synchronization, "entity_key")
        routes = network["nodes"]["pe1"]["vrfs"]["blue"]["routes"]
        routes.append({"prefix": "10.66.0.0/16", "discard": True})
        (applied,) = await plane.apply(yaml.safe_dump(network), "network.yaml")
        assert (applied.added, applied.state) == (1, "up")
        assert len(plane.flows.on_node("pe1")) == FLOWS
    assert turns.most.keys() == {"entries", "restate", "Flow", "entity_key"}
    assert max(turns.most.values()) <= 2 * TURN, "those of two configurations"
