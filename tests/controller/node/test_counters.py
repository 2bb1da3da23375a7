"""Counters of a switch are polled in one request for all who need them."""

import logging
from functools import partial
from math import inf
from typing import Any

import pytest
import yaml
from finsy.proto import p4r
from switches import all_up, until
from virtual import VirtualSwitch, virtual_plane, virtual_plane_up

from fcn.contract.constants import enum_members
from fcn.contract.names import COUNTERS, PORT_COUNTERS, VRF_COUNTERS
from fcn.controller import app
from fcn.controller.app import ControlPlane
from fcn.controller.config import parse_config
from fcn.controller.node import counters
from fcn.controller.owners.rate_limits import cell_of
from fcn.softswitch.api import CounterValue

pytestmark = pytest.mark.virtual_time

FRESH = counters.INTERVAL + app.METRICS + 0.1
"""Seconds until metrics show what a switch counted, with the way there."""


@pytest.fixture
def network(network: dict[str, Any]) -> dict[str, Any]:
    """The example, with links that are watched, and metrics."""
    return network | {"failure_detection": {}, "metrics": "127.0.0.1:0"}


def shown(plane: ControlPlane) -> dict[tuple[str, str], float]:
    """What metrics say of p1's packets, by counter and cell."""
    return {
        (sample.labels["counter"], sample.labels["name"]): sample.value
        for metric in plane.metrics.collect()
        for sample in metric.samples
        if sample.name == "fcn_switch_packets_total" and sample.labels["node"] == "p1"
    }


async def test_metrics_are_fresh_though_nobody_asks_for_counters(
    network: dict[str, Any], switches: dict[str, VirtualSwitch]
) -> None:
    plane = virtual_plane(parse_config(yaml.safe_dump(network)))
    cells = {
        ("port_tx", "port 1"): ("port_tx", 1),
        ("vrf_refused", "underlay"): ("vrf_refused", 0),
        ("drops", "NO_ROUTE"): ("drops", enum_members("DropReason")["NO_ROUTE"]),
    }

    def are_shown(packets: int) -> bool:
        return shown(plane).items() >= dict.fromkeys(cells, float(packets)).items()

    async with plane.running():
        await all_up(plane)
        for packets in (3, 9):
            for cell in cells.values():
                switches["p1"].engine.counter_write(*cell, CounterValue(packets, 0))
            await until(partial(are_shown, packets), seconds=FRESH)


async def test_one_request_reads_all_counters_in_the_order_of_the_contract(
    network: dict[str, Any], switches: dict[str, VirtualSwitch]
) -> None:
    """Whatever seed Python hashes names with."""
    plane = virtual_plane(parse_config(yaml.safe_dump(network)))
    asked: list[p4r.ReadRequest] = []
    async with plane.running():
        await all_up(plane)
        switches["p1"].hear_reads(asked.append)
        await until(lambda: sum(map(is_poll, asked)) == 3, seconds=3 * FRESH)
        first, *others = filter(is_poll, asked)
        assert all(each == first for each in others)
        pipeline = plane.nodes["p1"].provision.pipeline
        ids = {counter.id: counter.alias for counter in pipeline.schema.counters}
        found = dict.fromkeys(ids[each.counter_entry.counter_id] for each in first.entities)
        listed = [*PORT_COUNTERS, *VRF_COUNTERS, *COUNTERS]
        links = ["clock_rounds", "links_up", "links_down"]
        assert list(found) == [name for name in listed if name in pipeline.counters] + links
        assert list(await plane.nodes["p1"].counters.read()) == list(found)[:-3]


def is_poll(request: p4r.ReadRequest) -> bool:
    """Whether the request is for counters."""
    return request.entities[0].HasField("counter_entry")


async def test_a_switch_that_vanishes_has_no_counters_and_no_more_is_said(
    network: dict[str, Any], switches: dict[str, VirtualSwitch], caplog: pytest.LogCaptureFixture
) -> None:
    async with virtual_plane_up(parse_config(yaml.safe_dump(network))) as plane:
        await until(lambda: shown(plane), seconds=FRESH)
        caplog.clear()
        switches["p1"].freeze()
        await until(lambda: switches["p1"].frozen, seconds=FRESH)
        await switches["p1"].stop()

        def mine() -> set[str]:
            return {
                getattr(record, "event", record.message)
                for record in caplog.records
                if record.levelno >= logging.WARNING and getattr(record, "node", "p1") == "p1"
            }

        await until(lambda: not shown(plane) and bool(mine()), seconds=FRESH)
        assert mine() == {"node-down"}
        await switches["p1"].start()
        await all_up(plane)
        await until(lambda: shown(plane), seconds=FRESH)


async def test_of_what_a_switch_keeps_back_reports_are_missing(
    network: dict[str, Any], switches: dict[str, VirtualSwitch]
) -> None:
    """Of that VRF at that PE, from the time when it is counted."""
    config = parse_config(yaml.safe_dump(network))
    plane = virtual_plane(config)
    refusals, cell = plane.flows.refusals, cell_of(config.vrfs["blue"].id)
    async with plane.running():
        await all_up(plane)
        await until(lambda: plane.nodes["pe1"].counters.last)
        assert refusals.complete_for("pe1", "blue") == inf
        switches["pe1"].engine.counter_write("vrf_refused", cell, CounterValue(3, 0))
        await until(lambda: refusals.complete_for("pe1", "blue") < FRESH, seconds=FRESH)
        assert refusals.complete_for("pe2", "blue") == inf
        await until(lambda: refusals.complete_for("pe1", "blue") > 3 * FRESH)
