"""What a leader was told, the controller that follows it knows."""

from collections.abc import Iterator
from copy import deepcopy
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from run_process import Controller
from switches import MemorySwitch, packet_to, until

from fcn.controller.flows.key import FlowKey
from fcn.controller.node.connection import State
from fcn.controller.northbound.client import ControllerError, FcnClient

SAID, GONE = (
    FlowKey("blue", ip_address("10.1.0.10"), ip_address("10.2.0.20"), qp) for qp in (3, 4)
)


@pytest.fixture
def controllers(
    network: dict[str, Any], switches: dict[str, MemorySwitch], tmp_path: Path
) -> Iterator[tuple[Controller, Controller]]:
    """Two that are not started yet."""
    del network["api"]
    names = ("one", "two")
    network["controllers"] = {name: f"unix:{tmp_path}/{name}/api" for name in names}
    found = []
    for name in names:
        (tmp_path / name).mkdir()
        found.append(Controller(deepcopy(network), tmp_path / name, name))
    yield found[0], found[1]
    for each in found:
        each.close()


def _state(client: FcnClient) -> tuple[object, ...]:
    """What it says was said, and the states of the switches."""
    status = client.status()
    flows = {flow.key.dest_qp: flow.source_qp for flow in client.flows(unlabelled=True)}
    return flows, [list(node.features) for node in status.nodes], status.labels_resting


async def test_the_next_leader_knows_it(
    controllers: tuple[Controller, Controller], switches: dict[str, MemorySwitch]
) -> None:
    one, two = controllers
    await one.start()
    await two.start()

    def command(client: FcnClient) -> None:
        client.add_flow(SAID, 17)
        client.add_flow(GONE, 18)
        client.set_features("p2", False)
        client.delete_flow(GONE)

    await one.ask(command)
    said = await one.ask(_state)
    assert said[0] == {3: 17}
    with pytest.raises(ControllerError, match="controller one leads; this one takes over when"):
        await two.ask(command)
    while (known := await two.ask(_state)) != said:
        assert known[0] in ({}, {3: 17}, {3: 17, 4: 18})

    await one.kill()
    await switches["pe2"].stop()
    await switches["pe2"].start()
    await until(lambda: two.log.count("event=node-up") == len(switches))
    assert await two.ask(_state) == said
    # A label that rests is given to nobody, and what is learned goes on being learned.
    switches["pe1"].engine.digest("new_flow_ipv4_t", packet_to(40))
    await until(lambda: switches["pe1"].engine.size("flow_ipv4") == 2)
    await two.ask(lambda client: client.delete_flow(SAID))

    await one.start()
    states = await one.ask(lambda client: {node.state for node in client.status().nodes})
    assert states == {State.BACKUP}
    while (await one.ask(_state))[0] != {}:
        pass
