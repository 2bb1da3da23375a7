"""Flows from digests, CM messages and manual registration, on a P4Runtime server (FCN-2 to 4)."""

from ipaddress import ip_address
from typing import Any

import pytest
import yaml
from switches import MemorySwitch, QuietEngine, until
from tenants import DC_PORT
from virtual import virtual_plane_up

from fcn.contract.constants import FCN_LABEL_BIT, CmAttribute
from fcn.controller.app import ControlPlane
from fcn.controller.config import Config, parse_config
from fcn.controller.config.features import Feature
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.service import FlowError
from fcn.controller.node.connection import State

pytestmark = pytest.mark.virtual_time

Switches = dict[str, MemorySwitch]

VRF = 1
A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")
A6, B6 = ip_address("2001:db8:1::10"), ip_address("2001:db8:2::20")
FORTH, BACK = FlowKey("blue", A, B, 33), FlowKey("blue", B, A, 17)
P_KEY = 0xFFFF

REQ = (VRF, int(A), int(B), CmAttribute.REQ, 0xA1, 0, 17, DC_PORT)
REP = (VRF, int(B), int(A), CmAttribute.REP, 0xB1, 0xA1, 33, DC_PORT)
DREQ = (VRF, int(A), int(B), CmAttribute.DREQ, 0xA1, 0xB1, 33, DC_PORT)


def data(key: FlowKey, p_key: int = P_KEY) -> tuple[int, ...]:
    """A new-flow digest: PSN 5, UDP source port 50000, RC SEND only (0x04)."""
    return (VRF, int(key.src), int(key.dst), key.dest_qp, p_key, 5, 50000, 0x04, DC_PORT)


async def flow(plane: ControlPlane, node: str, key: FlowKey) -> Flow:
    await until(lambda: key in plane.flows.on_node(node))
    assert await plane.nodes[node].settled()
    return plane.flows.on_node(node)[key]


async def test_new_flow_is_labelled_with_source_unknown(config: Config, switches: Switches) -> None:
    async with virtual_plane_up(config) as plane:
        switches["pe1"].engine.digest("new_flow_ipv4_t", data(FORTH))
        switches["pe2"].engine.digest("new_flow_ipv6_t", data(FlowKey("blue", B6, A6, 9)))
        found = await flow(plane, "pe1", FORTH)
        assert found.label & FCN_LABEL_BIT
        assert found.source_qp is None
        await flow(plane, "pe2", FlowKey("blue", B6, A6, 9))
        assert switches["pe1"].engine.size("flow_ipv4") == 1
        assert switches["pe1"].engine.size("flow_by_label_ipv4") == 1
        assert switches["pe2"].engine.size("flow_ipv6") == 1


async def test_handshake_seen_at_two_switches_gives_both_flows(
    config: Config, switches: Switches
) -> None:
    """REQ at PE1, REP at PE2: each direction is labelled at its own ingress PE, before any data."""
    async with virtual_plane_up(config) as plane:
        switches["pe2"].engine.digest("cm_ipv4_t", REP)
        switches["pe1"].engine.digest("cm_ipv4_t", REQ)
        forth, back = await flow(plane, "pe1", FORTH), await flow(plane, "pe2", BACK)
        assert (forth.source_qp, back.source_qp) == (17, 33)
        assert forth.label != back.label
        switches["pe1"].engine.digest("new_flow_ipv4_t", data(FORTH, p_key=0x8001))
        await until(lambda: plane.flows.on_node("pe1")[FORTH].p_key == 0x8001)
        assert plane.flows.on_node("pe1")[FORTH].label == forth.label


async def test_data_before_the_handshake_is_brought_up_to_date(
    config: Config, switches: Switches
) -> None:
    async with virtual_plane_up(config) as plane:
        switches["pe1"].engine.digest("new_flow_ipv4_t", data(FORTH))
        before = await flow(plane, "pe1", FORTH)
        switches["pe1"].engine.digest("cm_ipv4_t", REQ)
        switches["pe2"].engine.digest("cm_ipv4_t", REP)
        await until(lambda: plane.flows.on_node("pe1")[FORTH].source_qp == 17)
        assert plane.flows.on_node("pe1")[FORTH].label == before.label


async def test_disconnect_releases_at_once(config: Config, switches: Switches) -> None:
    async with virtual_plane_up(config) as plane:
        switches["pe1"].engine.digest("cm_ipv4_t", REQ)
        switches["pe2"].engine.digest("cm_ipv4_t", REP)
        await flow(plane, "pe1", FORTH)
        await flow(plane, "pe2", BACK)
        switches["pe1"].engine.digest("cm_ipv4_t", DREQ)
        await until(lambda: not plane.flows.all())
        for node in ("pe1", "pe2"):
            assert await plane.nodes[node].settled()
            assert switches[node].engine.size("flow_ipv4") == 0
            assert switches[node].engine.size("flow_by_label_ipv4") == 0
        assert plane.flows.labels.resting == 2
        assert not plane.flows.waiting()


async def test_disconnect_after_a_restart_releases_both_flows(
    config: Config, switches: Switches
) -> None:
    """The new controller has the flows from the tables, but no communication IDs."""
    async with virtual_plane_up(config) as plane:
        switches["pe1"].engine.digest("cm_ipv4_t", REQ)
        switches["pe2"].engine.digest("cm_ipv4_t", REP)
        forth = await flow(plane, "pe1", FORTH)
        await flow(plane, "pe2", BACK)
    async with virtual_plane_up(config) as plane:
        restored = await flow(plane, "pe1", FORTH)
        assert (restored.label, restored.source_qp) == (forth.label, 17)
        assert restored.timeout == forth.timeout
        switches["pe1"].engine.digest("cm_ipv4_t", DREQ)
        await until(lambda: not plane.flows.all())


async def test_restart_writes_nothing_to_the_flow_tables(
    config: Config, switches: Switches
) -> None:
    async with virtual_plane_up(config) as plane:
        for qp in range(100, 150):
            switches["pe1"].engine.digest("new_flow_ipv4_t", data(FlowKey("blue", A, B, qp)))
        await until(lambda: len(plane.flows.all()) == 50)
        labels = {found.key: found.label for found in plane.flows.all()}
        assert await plane.nodes["pe1"].settled()
    before = switches["pe1"].engine.writes
    async with virtual_plane_up(config) as plane:
        assert {found.key: found.label for found in plane.flows.all()} == labels
        assert switches["pe1"].engine.writes == before
        switches["pe1"].engine.digest("new_flow_ipv4_t", data(FORTH))
        assert (await flow(plane, "pe1", FORTH)).label not in labels.values()


async def test_idle_flow_loses_label_and_is_remembered(config: Config, switches: Switches) -> None:
    async with virtual_plane_up(config) as plane:
        switches["pe1"].engine.digest("cm_ipv4_t", REQ)
        switches["pe2"].engine.digest("cm_ipv4_t", REP)
        await flow(plane, "pe1", FORTH)
        switches["pe1"].engine.fall_idle("flow_ipv4")
        await until(lambda: not plane.flows.on_node("pe1"))
        assert await plane.nodes["pe1"].settled()
        assert switches["pe1"].engine.size("flow_by_label_ipv4") == 0
        assert [key for key, *_ in plane.flows.waiting()] == [FORTH]
        switches["pe1"].engine.digest("new_flow_ipv4_t", data(FORTH))
        assert (await flow(plane, "pe1", FORTH)).source_qp == 17


async def test_flow_that_fell_idle_during_an_outage_is_released(
    config: Config, switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its notification went to nobody; the new controller reads how long flows are idle."""
    async with virtual_plane_up(config) as plane:
        switches["pe1"].engine.digest("new_flow_ipv4_t", data(FORTH))
        timeout = (await flow(plane, "pe1", FORTH)).timeout
        assert await plane.nodes["pe1"].settled()
    monkeypatch.setattr(QuietEngine, "entry_idle_ns", lambda *_: 3 * timeout * 1000)
    async with virtual_plane_up(config) as plane:
        assert FORTH in plane.flows.on_node("pe1")
        await plane.nodes["pe1"].check_idle()
        # What it found is handled in its turn, with the reports of others.
        await until(lambda: FORTH not in plane.flows.on_node("pe1"))


async def test_burst_of_new_flows_is_written_in_batches(config: Config, switches: Switches) -> None:
    # A watch ends after ten seconds, which this may take, and is written.
    flows = config.flows.model_copy(update={"watched": 0})
    async with virtual_plane_up(config.model_copy(update={"flows": flows})) as plane:
        engine = switches["pe1"].engine
        before = engine.writes
        keys = [FlowKey("blue", A, B, qp) for qp in range(2, 5002)]
        for first in range(0, len(keys), 250):
            engine.digest("new_flow_ipv4_t", *(data(key) for key in keys[first : first + 250]))
        await until(lambda: len(plane.flows.on_node("pe1")) == 5000)
        assert await plane.nodes["pe1"].settled()
        assert engine.size("flow_ipv4") == engine.size("flow_by_label_ipv4") == 5000
        assert engine.writes == before + 10_000
        labels = [found.label for found in plane.flows.all()]
        assert len({label & 0xFFFF for label in labels}) == 5000


async def test_full_table_leaves_flows_unlabelled(
    config: Config, switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with virtual_plane_up(config) as plane:
        monkeypatch.setattr(type(plane.edges["pe1"]), "capacity", lambda *_: 1)
        switches["pe1"].engine.digest("new_flow_ipv4_t", data(FORTH))
        await flow(plane, "pe1", FORTH)
        switches["pe1"].engine.digest("new_flow_ipv4_t", data(FlowKey("blue", A, B, 34)))
        assert [flow.key for flow in plane.flows.all()] == [FORTH]
        stated = plane.flows.add(FlowKey("blue", A, B, 35), 5)
        with pytest.raises(FlowError, match="no room"):
            plane.flows.add(FlowKey("blue", A, B, 36), 6)
        assert plane.flows.all() == [stated]


async def test_switch_restart_brings_flows_back(config: Config, switches: Switches) -> None:
    async with virtual_plane_up(config) as plane:
        switches["pe1"].engine.digest("new_flow_ipv4_t", data(FORTH))
        label = (await flow(plane, "pe1", FORTH)).label
        await switches["pe1"].stop()
        await until(lambda: plane.nodes["pe1"].status.state is State.AWAY)
        await switches["pe1"].start()
        await until(lambda: plane.nodes["pe1"].status.state is State.UP)
        assert switches["pe1"].engine.size("flow_ipv4") == 1
        assert plane.flows.on_node("pe1")[FORTH].label == label


async def test_registration_by_hand(config: Config, switches: Switches) -> None:
    async with virtual_plane_up(config) as plane:
        found = plane.flows.add(FORTH, 77, timeout=0)
        assert (found.node, found.source_qp, found.timeout) == ("pe1", 77, 0)
        assert plane.flows.add(FORTH, 78).label == found.label
        assert plane.flows.on_node("pe1")[FORTH].source_qp == 78
        plane.flows.delete(FORTH)
        with pytest.raises(FlowError, match="no flow"):
            plane.flows.delete(FORTH)
        assert await plane.nodes["pe1"].settled()
        assert switches["pe1"].engine.size("flow_ipv4") == 0


@pytest.mark.parametrize(
    ("key", "source_qp", "reason"),
    [
        (FlowKey("red", A, B, 33), 17, "no VRF red; configured are: blue"),
        (FlowKey("blue", A, B6, 33), 17, "different IP versions"),
        (FlowKey("blue", A, B, 1), 17, "destination QP 1 is out of range"),
        (FlowKey("blue", A, B, 1 << 24), 17, "destination QP"),
        (FlowKey("blue", A, B, 33), 0, "source QP 0 is out of range"),
        (FlowKey("blue", ip_address("10.9.0.1"), B, 33), 17, "behind no DC port"),
    ],
)
async def test_wrong_registration_is_refused(
    config: Config, switches: Switches, key: FlowKey, source_qp: int, reason: str
) -> None:
    plane = ControlPlane(config)
    with pytest.raises(FlowError, match=reason):
        plane.flows.add(key, source_qp)


async def test_node_that_does_not_learn_labels_no_flow(
    network: dict[str, Any], switches: Switches
) -> None:
    network["nodes"]["pe1"]["features"] = ["translation", "notification"]
    async with virtual_plane_up(parse_config(yaml.safe_dump(network))) as plane:
        switches["pe1"].engine.digest("new_flow_ipv4_t", data(FORTH))
        switches["pe1"].engine.digest("cm_ipv4_t", REQ)
        switches["pe2"].engine.digest("cm_ipv4_t", REP)
        assert (await flow(plane, "pe2", BACK)).source_qp == 33
        assert not plane.flows.on_node("pe1")
        with pytest.raises(FlowError, match="fcn feature enable pe1 learning"):
            plane.flows.add(FORTH, 17)
        plane.nodes["pe1"].set_features(frozenset({Feature.LEARNING}))
        switches["pe1"].engine.digest("new_flow_ipv4_t", data(FORTH))
        assert (await flow(plane, "pe1", FORTH)).source_qp == 17
        plane.nodes["pe1"].set_features(frozenset(Feature) - {Feature.LEARNING})
        assert not plane.flows.on_node("pe1")
        assert await plane.nodes["pe1"].settled()
        assert switches["pe1"].engine.size("flow_ipv4") == 0
