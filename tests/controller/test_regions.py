"""Two regions, each with a controller process: connections between them are joined over both."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from copy import deepcopy
from ipaddress import ip_address
from pathlib import Path
from signal import Signals
from typing import Any

import pytest
from run_process import Controller
from switches import WAIT, MemorySwitch, until
from tenants import BLUE, DC_PORT

from fcn.contract.constants import CmAttribute
from fcn.controller.flows.key import FlowKey
from fcn.controller.northbound.client import ControllerError, FcnClient

H1, H2 = "10.1.0.10", "10.2.0.20"
REGIONS = {"west": ("pe1", "p1"), "east": ("pe2", "p2")}
"""Their nodes; each controller has the name of its region."""


@asynccontextmanager
async def wire(here: Path, there: Path) -> AsyncIterator[None]:
    """What comes to one socket goes to another one, until it is cut."""
    ends = list[asyncio.StreamWriter]()

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while octets := await reader.read(1 << 16):
                writer.write(octets)
                await writer.drain()
        writer.close()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            answers, asked = await asyncio.open_unix_connection(there)
            ends.extend((writer, asked))
            await asyncio.gather(copy(reader, asked), copy(answers, writer))
        writer.close()

    server = await asyncio.start_unix_server(carry, here)
    yield
    server.close()
    for each in ends:
        each.transport.abort()


class Pair:
    """The controllers by name, and hosts that set up connections: number n from queue pair 100 + n
    of H1 to 200 + n of H2."""

    def __init__(
        self, switches: dict[str, MemorySwitch], controllers: list[Controller], folder: Path
    ) -> None:
        self.switches = switches
        self.west, self.east = controllers
        self._folder = folder
        self._wires = AsyncExitStack()

    async def join(self) -> None:
        """Each controller reaches the other."""
        for name in REGIONS:
            here, there = (self._folder / name / socket for socket in ("wire", "api"))
            await self._wires.enter_async_context(wire(here, there))

    async def cut(self) -> None:
        """No more."""
        await self._wires.aclose()

    async def hear(self, number: int) -> None:
        """Wait until both halves of this handshake have been reported."""
        for each, half in ((self.west, f"qpn={100 + number}"), (self.east, f"qpn={200 + number}")):
            await until(lambda: half in each.log, half)  # noqa: B023

    def request(self, number: int) -> None:
        self._send("pe1", H1, H2, CmAttribute.REQ, number, 0, 100 + number)

    def reply(self, number: int) -> None:
        self._send("pe2", H2, H1, CmAttribute.REP, 1000 + number, number, 200 + number)

    def disconnect(self, number: int) -> None:
        """H2 does."""
        self._send("pe2", H2, H1, CmAttribute.DREQ, 1000 + number, number, 100 + number)

    def _send(self, node: str, src: str, dst: str, *fields: int) -> None:
        ends = (int(ip_address(src)), int(ip_address(dst)))
        self.switches[node].engine.digest("cm_ipv4_t", (BLUE, *ends, *fields, DC_PORT))

    async def know(self, *numbers: int) -> None:
        """Wait until each controller knows the senders of these connections, and of no others."""
        wanted = (
            {(H1, 200 + n, 100 + n) for n in numbers},
            {(H2, 100 + n, 200 + n) for n in numbers},
        )
        for controller, flows in zip((self.west, self.east), wanted, strict=True):
            await self.until(controller, lambda known: known == flows)  # noqa: B023

    async def until(
        self, controller: Controller, holds: Callable[[set[tuple[str, int, int]]], bool]
    ) -> None:
        """Wait until this holds of the flows that a controller knows: source, queue pairs."""
        async with asyncio.timeout(WAIT):
            while not holds(await controller.ask(_known)):  # noqa: ASYNC110
                await asyncio.sleep(0.05)


def _known(client: FcnClient) -> set[tuple[str, int, int]]:
    return {(flow.key.src, flow.key.dest_qp, flow.source_qp) for flow in client.flows()}


@pytest.fixture
async def pair(
    network: dict[str, Any], switches: dict[str, MemorySwitch], tmp_path: Path
) -> AsyncIterator[Pair]:
    del network["api"]
    network["controllers"] = {name: f"unix:{tmp_path}/{name}/api" for name in REGIONS}
    network["regions"] = {name: [name] for name in REGIONS}
    for region, nodes in REGIONS.items():
        (tmp_path / region).mkdir()
        for node in nodes:
            network["nodes"][node]["region"] = region
    found = [Controller(deepcopy(network), tmp_path / name, name) for name in REGIONS]
    for each, other in zip(found, reversed(REGIONS), strict=True):
        each.network["controllers"][other] = f"unix:{tmp_path}/{other}/wire"
    made = Pair(switches, found, tmp_path)
    await made.join()
    for each in found:
        await each.start()
    yield made
    for each in found:
        each.close()
    await made.cut()


async def test_a_connection_is_joined_over_both(pair: Pair) -> None:
    pair.request(1)
    pair.reply(1)
    # In the other order.
    pair.reply(2)
    pair.request(2)
    await pair.know(1, 2)
    pair.disconnect(1)
    await pair.know(2)
    status = await pair.west.ask(lambda client: client.status())
    assert {node.name for node in status.nodes} == {"pe1", "p1"}
    with pytest.raises(ControllerError, match="pe2 is of region east; ask a controller of that"):
        await pair.west.ask(lambda client: client.set_features("pe2", False))
    back = FlowKey("blue", ip_address(H2), ip_address(H1), 7)
    with pytest.raises(ControllerError, match="is of region east; ask a controller of"):
        await pair.west.ask(lambda client: client.add_flow(back, 8))


@pytest.mark.exhaustive
async def test_half_a_handshake_outlives_the_other_controller(pair: Pair) -> None:
    """Of which none says how far it was when it was killed, or could not be reached."""
    pair.request(1)
    pair.reply(1)
    await pair.know(1)
    pair.request(2)
    await pair.east.kill()
    pair.request(3)
    await pair.east.start()
    for number in (2, 3):
        pair.reply(number)
    await pair.know(1, 2, 3)
    # What both know is said again, and nothing follows from it.
    await pair.west.kill()
    pair.disconnect(2)
    await pair.west.start()
    pair.request(4)
    pair.reply(4)
    await pair.until(pair.east, lambda known: (H2, 104, 204) in known)
    assert (H2, 102, 202) not in await pair.east.ask(_known)


async def test_halves_that_come_during_a_cut_are_joined_after_it(pair: Pair) -> None:
    """And what was joined before is known all the time."""
    pair.request(1)
    pair.reply(1)
    await pair.know(1)
    await pair.cut()
    for each in (pair.west, pair.east):
        await until(lambda: "is not heard" in each.log, "that it is cut off")  # noqa: B023
    pair.request(2)
    pair.reply(2)
    await pair.hear(2)
    await pair.know(1)
    await pair.join()
    await pair.know(1, 2)
    # A controller that stands still hears it when it goes on.
    pair.east.send(Signals.SIGSTOP)
    pair.request(3)
    pair.reply(3)
    await until(lambda: "qpn=103" in pair.west.log, "the request")
    pair.east.send(Signals.SIGCONT)
    await pair.know(1, 2, 3)


@pytest.mark.exhaustive
async def test_both_are_started_anew_at_once(pair: Pair) -> None:
    pair.request(1)
    pair.reply(1)
    await pair.know(1)
    await asyncio.gather(pair.west.kill(), pair.east.kill())
    await asyncio.gather(pair.west.start(), pair.east.start())
    pair.request(2)
    pair.reply(2)
    await pair.know(1, 2)


async def test_a_file_with_a_switch_of_another_region_takes_it_from_nobody(pair: Pair) -> None:
    pair.request(1)
    pair.reply(1)
    await pair.know(1)
    await pair.west.kill()
    pair.west.network["nodes"]["pe2"]["region"] = "west"
    pair.west.begin()
    await until(lambda: "event=node-backup node=pe2" in pair.west.log, "that it has another one")
    status = await pair.west.ask(lambda client: client.status())
    (node,) = (node for node in status.nodes if node.name == "pe2")
    assert (node.state, "another region" in node.detail) == ("backup", True)
    back = FlowKey("blue", ip_address(H2), ip_address(H1), 7)
    assert (await pair.east.ask(lambda client: client.add_flow(back, 8))).written
    await pair.east.ask(lambda client: client.delete_flow(back))
    await pair.west.kill()
    pair.west.network["nodes"]["pe2"]["region"] = "east"
    await pair.west.start()
    pair.request(2)
    pair.reply(2)
    await pair.know(1, 2)
