"""What an operator said, after the controller was killed (SIGKILL) and a switch lost everything."""

import asyncio
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from signal import Signals
from typing import Any

import pytest
from run_process import Controller
from switches import WAIT, MemorySwitch, packet_to, until
from tenants import BLUE, DC_PORT

from fcn.contract.constants import CmAttribute
from fcn.contract.depth import Depth
from fcn.controller.flows.key import FlowKey
from fcn.controller.northbound.client import FcnClient
from fcn.controller.proto import fcn_pb2 as pb

A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")
STAYS, SILENT, GONE = (FlowKey("blue", A, B, qp) for qp in (33, 34, 35))


@pytest.fixture
def controller(
    network: dict[str, Any], switches: dict[str, MemorySwitch], tmp_path: Path
) -> Iterator[Controller]:
    """Not yet started."""
    found = Controller(network, tmp_path)
    yield found
    found.close()


def _features(status: pb.GetStatusResponse) -> dict[str, list[str]]:
    return {node.name: list(node.features) for node in status.nodes}


def _known(client: FcnClient) -> dict[int, tuple[int, str, int]]:
    return {
        flow.key.dest_qp: (flow.source_qp, flow.origin, flow.timeout)
        for flow in client.flows(unlabelled=True)
    }


def _depths(client: FcnClient) -> list[int]:
    (found,) = (queue for queue in client.thresholds("p1").queues if queue.port == 2)
    return list(found.depths)


async def test_everything_is_as_it_was_said(
    controller: Controller, switches: dict[str, MemorySwitch]
) -> None:
    pe1 = switches["pe1"]
    await controller.start()

    def command(client: FcnClient) -> None:
        for key, source_qp, timeout in ((STAYS, 17, 0), (SILENT, 18, None), (GONE, 19, None)):
            assert client.add_flow(key, source_qp, timeout).lasting
        assert client.set_features("pe1", False, ["translation"]).lasting
        client.set_features("p2", False)
        assert client.set_thresholds("p1", 2, 0, (Depth(5), Depth(7))).lasting
        client.delete_flow(GONE)

    await controller.ask(command)
    pe1.engine.digest("new_flow_ipv4_t", packet_to(40))
    await until(lambda: pe1.engine.size("flow_ipv4") == 3)
    before = await controller.ask(lambda client: client.status())
    assert (before.labels_in_use, before.labels_resting) == (3, 1)
    known, depths = await controller.ask(_known), await controller.ask(_depths)
    assert known.keys() == {33, 34, 40}
    assert depths == [5, 7]

    await controller.kill()
    await pe1.stop()
    await pe1.start()
    await controller.start()
    after = await controller.ask(lambda client: client.status())
    assert _features(after) == _features(before)
    assert _features(after)["pe1"] == ["learning", "notification"]
    assert after.labels_resting == 1
    del known[40]
    assert await controller.ask(_known) == known, "what the switch alone knew is gone with it"
    assert pe1.engine.size("flow_ipv4") == 2, "they are labelled before they send"
    assert await controller.ask(_depths) == [5, 7]


async def test_handshakes_meanwhile_are_known_afterwards(
    controller: Controller, switches: dict[str, MemorySwitch]
) -> None:
    """Those of the last moment, too, which it did not acknowledge any more."""
    pe1, pe2 = switches["pe1"], switches["pe2"]

    def shake_hands(number: int) -> None:
        a, b = int(A), int(B)
        request = (BLUE, a, b, CmAttribute.REQ, number, 0, 100 + number, DC_PORT)
        reply = (BLUE, b, a, CmAttribute.REP, 1000 + number, number, 200 + number, DC_PORT)
        pe1.engine.digest("cm_ipv4_t", request)
        pe2.engine.digest("cm_ipv4_t", reply)

    await controller.start()
    controller.send(Signals.SIGSTOP)
    shake_hands(1)
    await until(lambda: pe1.kept == pe2.kept == 1)
    await controller.kill()
    await until(lambda: not pe1.is_led and not pe2.is_led)
    shake_hands(2)
    await controller.start()
    async with asyncio.timeout(WAIT):
        while set(await controller.ask(_known)) != {101, 102, 201, 202}:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@pytest.mark.exhaustive
async def test_the_last_word_counts(
    controller: Controller, switches: dict[str, MemorySwitch]
) -> None:
    """What the file says after a command is in force."""
    await controller.start()
    await controller.ask(lambda client: client.set_features("pe1", False, ["translation"]))
    await controller.ask(lambda client: client.set_features("pe2", False, ["translation"]))
    await controller.kill()
    controller.network["nodes"]["pe1"]["features"] = ["translation", "learning"]
    await controller.start()
    features = _features(await controller.ask(lambda client: client.status()))
    assert features["pe1"] == ["learning", "translation"]
    assert features["pe2"] == ["learning", "notification"]
    assert "features of pe1 set by command (learning,notification) are in force no longer" in (
        controller.log
    )
    await controller.kill()
    await controller.start()
    assert "no longer" not in controller.log
