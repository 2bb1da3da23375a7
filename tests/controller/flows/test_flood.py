"""One tenant's flood does not keep another tenant's connection from being learned."""

from collections.abc import Mapping
from functools import partial
from ipaddress import ip_address
from typing import Any

import pytest
import yaml
from switches import MemorySwitch, plane_up, until
from tenants import BLUE, DC_PORT, RED, RED_PORT, two_tenants

from fcn.contract.constants import CmAttribute
from fcn.controller import app
from fcn.controller.app import ControlPlane
from fcn.controller.config import Config, parse_config
from fcn.controller.node.inbox import Inbox

A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")
HANDSHAKES = 2000


def handshake(vrf: int, number: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """REQ and REP of a connection, as digests."""
    qp, comm_id = 0x100 + number, 1 + number
    port = {BLUE: DC_PORT, RED: RED_PORT}[vrf]
    request = (vrf, int(A), int(B), CmAttribute.REQ, comm_id, 0, qp, port)
    reply = (vrf, int(B), int(A), CmAttribute.REP, 0x80000000 + number, comm_id, qp, port)
    return request, reply


@pytest.fixture
def network(network: dict[str, Any]) -> dict[str, Any]:
    """The example with a second tenant."""
    return two_tenants(network)


def known(plane: ControlPlane, vrf: str) -> int:
    return sum(flow.key.vrf == vrf for flow in plane.flows.on_node("pe1").values())


@pytest.fixture
def config(network: dict[str, Any], switches: Mapping[str, MemorySwitch]) -> Config:
    return parse_config(yaml.safe_dump(network))


async def test_a_connection_is_learned_during_the_flood_of_another_tenant(
    config: Config, switches: Mapping[str, MemorySwitch]
) -> None:
    async with plane_up(config) as plane:
        requests, replies = zip(*(handshake(RED, n) for n in range(HANDSHAKES)), strict=True)
        request, reply = handshake(BLUE, 0)
        switches["pe1"].engine.digest("cm_ipv4_t", *requests, request)
        switches["pe2"].engine.digest("cm_ipv4_t", *replies, reply)
        await until(lambda: known(plane, "blue"))
        assert known(plane, "red") < HANDSHAKES / 2
        await until(lambda: known(plane, "red") == HANDSHAKES)
        assert await plane.nodes["pe1"].settled()
        assert switches["pe1"].engine.size("flow_ipv4") == HANDSHAKES + 1
        assert not plane.flows.refusals.counts


async def test_what_does_not_fit_the_queue_is_counted_for_whoever_sent_it(
    config: Config, switches: Mapping[str, MemorySwitch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "Inbox", partial(Inbox, limit=64))
    async with plane_up(config) as plane:
        requests, replies = zip(*(handshake(RED, n) for n in range(1000)), strict=True)
        request, reply = handshake(BLUE, 0)
        switches["pe1"].engine.digest("cm_ipv4_t", *requests, request)
        switches["pe2"].engine.digest("cm_ipv4_t", *replies, reply)
        await until(lambda: known(plane, "blue"))
        assert set(plane.flows.refusals.counts) == {("red", "too-many-reports")}
