"""What happens to neighbours while the controller waits for a solicitation to be sent."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import finsy as fy
import pytest
import yaml
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from switches import until
from tenants import BLUE, DC_PORT, RED, two_tenants
from virtual import virtual_plane

from fcn.contract.constants import PuntReason
from fcn.controller.config import parse_config
from fcn.controller.neighbors import room
from fcn.controller.neighbors.service import NeighborService, Refused

pytestmark = pytest.mark.virtual_time

HOST, ROUTER = "10.1.0.10", "10.1.0.254"
MAC = "52:54:00:00:00:01"


class Wire:
    """Where solicitations go: `asked` has their targets. `meanwhile` happens before a sender hears
    that his is sent."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.meanwhile: Callable[[str], Awaitable[None]] | None = None

    async def send(self, _port: int, frame: bytes) -> bool:
        packet = Ether(frame)
        if ARP in packet:
            self.asked.append(packet[ARP].pdst)
            if self.meanwhile is not None:
                await self.meanwhile(packet[ARP].pdst)
        return True


def service_of(network: dict[str, Any], wire: Wire) -> NeighborService:
    service = virtual_plane(parse_config(yaml.safe_dump(network))).neighbors["pe1"]
    service._send = wire.send
    return service


@asynccontextmanager
async def running(service: NeighborService) -> AsyncIterator["asyncio.Task[None]"]:
    task = asyncio.create_task(service.run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


def punted(reason: PuntReason, port: int, vrf: int, frame: bytes) -> fy.P4PacketIn:
    metadata = {"reason": int(reason), "ingress_port": port, "vlan_id": 0, "vrf": vrf}
    return fy.P4PacketIn(frame, metadata=metadata)


def miss(vrf: int, dst: str) -> fy.P4PacketIn:
    frame = bytes(Ether() / IP(src="10.2.0.20", dst=dst) / UDP(dport=4791))
    return punted(PuntReason.NEIGHBOR_MISS, 2, vrf, frame)


def reply(address: str) -> fy.P4PacketIn:
    frame = bytes(Ether(src=MAC, dst=MAC) / ARP(op=2, hwsrc=MAC, psrc=address, pdst="10.1.0.1"))
    return punted(PuntReason.ARP, DC_PORT, BLUE, frame)


async def test_one_that_was_displaced_meanwhile_is_left_alone(
    network: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the router is asked again another tenant takes the place of one that is next in the
    same round, and would be given up in it."""
    monkeypatch.setattr(room, "MAX_UNRESOLVED", 2)
    network["neighbors"] = {"retry": "100ms", "attempts": 2, "refresh": "900ms"}
    route = {"prefix": "10.9.0.0/16", "via": ROUTER}
    network["nodes"]["pe1"]["vrfs"]["blue"]["routes"].append(route)
    wire = Wire()
    service = service_of(two_tenants(network), wire)

    async def take_a_place(target: str) -> None:
        if target == ROUTER and wire.asked.count(ROUTER) == 3:
            await service.handle(miss(BLUE, HOST))

    wire.meanwhile = take_a_place
    async with running(service) as task:
        # The router was asked in vain, and is asked again in the seventh round.
        await until(lambda: service.rounds == 5)
        for address in ("10.1.0.2", "10.1.0.3"):
            await service.handle(miss(RED, address))
        await until(lambda: task.done() or service.rounds == 7)
        assert not task.done(), task.exception()
        assert wire.asked.count(ROUTER) == 3
        assert wire.asked.count("10.1.0.3") == 2, "both attempts were made"
        assert service.asking == 2, "the router and the one that was missed last"


async def test_an_answer_that_comes_meanwhile_is_one(network: dict[str, Any]) -> None:
    """A solicitation that is answered before it counts as sent leaves all attempts to the next."""
    network["neighbors"] = {"retry": "100ms", "attempts": 1, "refresh": "1s"}
    wire = Wire()
    service = service_of(network, wire)

    async def answer(target: str) -> None:
        await service.handle(reply(target))

    wire.meanwhile = answer
    await service.handle(miss(BLUE, HOST))
    async with running(service):
        await until(lambda: service.rounds == 20)
    assert len(service) == 1
    assert wire.asked.count(HOST) > 3


async def test_silence_is_judged_by_what_the_switch_sent_until_then(
    network: dict[str, Any],
) -> None:
    """Answers wait behind reports: a host whose answer may be on its way is kept."""
    network["neighbors"] = {"retry": "100ms", "attempts": 2, "refresh": "1s"}
    wire = Wire()
    service = service_of(network, wire)
    now, heard = asyncio.get_running_loop().time, [0.0]
    service._heard_until = lambda: heard[0] or now()
    service._refused = lambda _vrf: Refused(0, now())
    await service.handle(miss(BLUE, HOST))
    await service.handle(reply(HOST))
    async with running(service):
        await until(lambda: wire.asked.count(HOST) == 2)
        heard[0] = now()
        rounds = service.rounds
        await until(lambda: service.rounds == rounds + 40)
        assert len(service) == 1
        assert wire.asked.count(HOST) == 2, "nor is it asked again meanwhile"
        heard[0] = 0.0
        await until(lambda: not len(service))
        assert wire.asked.count(HOST) == 3
