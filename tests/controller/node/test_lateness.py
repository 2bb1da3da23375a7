"""Reports that had to wait are no evidence of what two PEs saw at a time."""

import asyncio
from collections.abc import Container
from functools import partial
from ipaddress import ip_address
from typing import Any

import pytest
from switches import MemorySwitch, until
from tenants import BLUE, DC_PORT
from virtual import VirtualSwitch, virtual_plane_up

from fcn.controller.config import Config
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.refusals import RefusalReason
from fcn.controller.flows.reports import REST
from fcn.controller.flows.trail import SKEW, connection_port
from fcn.controller.node.lateness import DRIFT, NOTHING_WAITS, Lateness
from fcn.controller.owners.gateway import Asker

A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")
FORTH, BACK = FlowKey("blue", A, B, 33), FlowKey("blue", B, A, 17)
OTHER = FlowKey("blue", B, A, 18)
WRITE, ACK, PORT = 0x0A, 0x11, connection_port(17, 33)
SECOND = 1_000_000_000


def test_lateness_is_what_a_message_waited_longer_than_others() -> None:
    now = 1000.0
    lateness = Lateness(lambda: now)
    assert lateness.of(7 * SECOND) == 0.0
    now += 1.0
    assert lateness.of(8 * SECOND) < 2 * DRIFT
    now += 1.0
    assert lateness.of(8 * SECOND) == pytest.approx(1.0, abs=0.01)
    assert lateness.of(9 * SECOND + SECOND // 2) == 0.0
    assert lateness.of(0) == 0.0


def test_a_slow_clock_is_not_taken_for_lateness_and_a_backlog_is_not_taken_for_the_clock() -> None:
    now = sent = 0.0
    lateness = Lateness(lambda: now)
    for _ in range(3600):
        now += 1.0
        sent += 1.0 - DRIFT / 2
        assert lateness.of(int(sent * SECOND)) < 0.01
    for _ in range(3600):
        now += 1.0
        late = lateness.of(int((now - 3.0) * SECOND))
    assert late > SKEW


def report(switch: MemorySwitch, key: FlowKey, opcode: int, psn: int) -> None:
    """A new-flow digest with the UDP port that follows from the queue pairs 17 and 33."""
    ends, port = (int(key.src), int(key.dst)), 50000 if key == OTHER else PORT
    packet = (0xFFFF, psn, port, opcode, DC_PORT)
    switch.engine.digest("new_flow_ipv4_t", (BLUE, *ends, key.dest_qp, *packet))


def _has(found: Container[FlowKey], key: FlowKey) -> bool:
    return key in found


@pytest.mark.virtual_time
async def test_a_report_that_waited_labels_its_flow_and_is_no_evidence(
    config: Config, switches: dict[str, VirtualSwitch]
) -> None:
    async with virtual_plane_up(config) as plane:
        found = plane.flows.on_node
        for node, key in (("pe1", FORTH), ("pe2", OTHER)):
            report(switches[node], key, WRITE, 5)
            await until(partial(_has, found(node), key))
        prompt = switches["pe2"].wall_clock
        switches["pe2"].wall_clock = lambda: prompt() - 2 * SECOND
        report(switches["pe2"], BACK, ACK, 5)
        await until(lambda: BACK in found("pe2"))
        assert plane.flows.refusals.counts["blue", RefusalReason.LATE]
        assert found("pe2")[BACK].source_qp is None
        switches["pe2"].wall_clock = prompt
        for psn in range(6, 600):
            report(switches["pe1"], FORTH, WRITE, psn)
            report(switches["pe2"], BACK, ACK, psn)
            await asyncio.sleep(0.05)
            if found("pe2")[BACK].source_qp is not None:
                break
        assert found("pe1")[FORTH].source_qp == 17
        assert found("pe2")[BACK].source_qp == 33


@pytest.mark.virtual_time
async def test_no_flow_is_watched_where_reports_are_late(
    config: Config, switches: dict[str, VirtualSwitch]
) -> None:
    """Its reports would be no evidence, and connections of others would wait behind them."""
    async with virtual_plane_up(config) as plane:
        for node, key in (("pe1", FORTH), ("pe2", BACK)):
            report(switches[node], key, WRITE, 5)
            await until(partial(_has, plane.flows.on_node(node), key))

        def watched(node: str, key: FlowKey) -> bool:
            return plane.flows.on_node(node)[key].watched

        assert watched("pe1", FORTH)
        assert watched("pe2", BACK)
        prompt = switches["pe2"].wall_clock
        switches["pe2"].wall_clock = lambda: prompt() - 2 * SECOND
        report(switches["pe2"], BACK, WRITE, 6)
        await until(lambda: not watched("pe2", BACK))
        assert watched("pe1", FORTH), "it is prompt"
        switches["pe2"].wall_clock = prompt
        now = asyncio.get_running_loop().time
        since = now()
        await until(lambda: watched("pe2", BACK))
        assert now() - since > REST - 1.0


def test_a_clock_that_is_set_is_no_wait() -> None:
    """By a day, in either direction; what is late after that is."""
    now = 0.0
    lateness = Lateness(lambda: now)
    for second, ahead in enumerate((0, 86_400, 86_400, 0, 0)):
        now = float(second)
        assert lateness.of((1_000_000 + second + ahead) * SECOND) == 0.0
    assert lateness.of((1_000_000 + 4 - 2) * SECOND) == 2.0


def test_what_was_heard_ends_with_a_late_message_until_nothing_follows_it() -> None:
    now = 1000.0
    lateness = Lateness(lambda: now)
    assert lateness.heard_until() == now
    lateness.of(7 * SECOND)
    now += 10.0
    assert lateness.heard_until() == now
    lateness.of(9 * SECOND)
    assert lateness.heard_until() == pytest.approx(1002.0, abs=0.01)
    now += NOTHING_WAITS / 2
    assert lateness.heard_until() == pytest.approx(1002.0, abs=0.01)
    now += NOTHING_WAITS / 2
    assert lateness.heard_until() == now


@pytest.fixture
def impatient_neighbors(network: dict[str, Any]) -> None:
    network["neighbors"] = {"retry": "100ms", "attempts": 2, "refresh": "2s"}


@pytest.mark.virtual_time
async def test_no_host_is_given_up_while_its_answer_may_wait_behind_reports(
    impatient_neighbors: None, config: Config, switches: dict[str, VirtualSwitch]
) -> None:
    pe1 = switches["pe1"]
    async with virtual_plane_up(config) as plane:
        neighbors = plane.neighbors["pe1"]
        await neighbors.asked(Asker(DC_PORT, 0, A, 0x020000000001))
        prompt = pe1.wall_clock
        report(pe1, FORTH, WRITE, 5)
        await until(partial(_has, plane.flows.on_node("pe1"), FORTH))
        pe1.wall_clock = lambda: prompt() - 60 * SECOND
        for psn in range(6, 26):
            report(pe1, FORTH, WRITE, psn)
            await asyncio.sleep(0.5)
        assert len(neighbors) == 1
        await until(lambda: not len(neighbors))
