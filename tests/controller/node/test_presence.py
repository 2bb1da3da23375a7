"""What the controller makes of a PE's silence: of flows, and of the PE itself."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest
from finsy.proto import p4r
from switches import all_up, packet_to, until
from tenants import BLUE, DC_PORT
from virtual import VirtualSwitch, virtual_plane, virtual_plane_up

from fcn.controller.app import HOUSEKEEPING
from fcn.controller.config import Config
from fcn.controller.flows.watch import WATCH
from fcn.controller.node.messages import IDLE_PAGE
from fcn.softswitch.api import CounterValue

pytestmark = pytest.mark.virtual_time

Switches = dict[str, VirtualSwitch]


async def test_flows_whose_notification_was_lost_are_found_a_few_at_a_time(
    config: Config, switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No request is for a whole table: others would wait for the answer."""
    plane = virtual_plane(config)
    flows, silent = 3 * IDLE_PAGE + 1, {40, 200}
    asked: list[int] = []
    async with plane.running():
        await all_up(plane)
        switch = switches["pe1"]
        switch.engine.digest("new_flow_ipv4_t", *(packet_to(33 + n) for n in range(flows)))
        await until(lambda: len(plane.flows.on_node("pe1")) == flows)
        assert await plane.nodes["pe1"].settled()
        handles = list(switch.engine.tables)
        idle = {handle for handle in handles if switch.engine.tables[handle].endswith("flow_ipv4")}
        of_flow = dict(zip(range(33, 33 + flows), sorted(idle), strict=True))
        overdue = {of_flow[qp] for qp in silent}
        timeout = config.flows.timeout * 1000
        monkeypatch.setattr(
            switch.engine,
            "entry_idle_ns",
            lambda _table, handle: 3 * timeout if handle in overdue else timeout,
        )
        switch.hear_reads(lambda request: asked.append(len(request.entities)))
        await plane.nodes["pe1"].check_idle()
        assert asked == [IDLE_PAGE, IDLE_PAGE, IDLE_PAGE, 1]
        await until(lambda: len(plane.flows.on_node("pe1")) == flows - 2)
        assert silent.isdisjoint(key.dest_qp for key in plane.flows.on_node("pe1"))


async def test_silent_flows_are_found_where_changes_count_as_packets(
    config: Config, switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On BMv2 each change of an entry begins its idle time anew; its counter goes on."""
    async with virtual_plane_up(config) as plane:
        switch = switches["pe1"]
        monkeypatch.setattr(switch.engine, "entry_idle_ns", lambda _table, _handle: 0)
        counts: dict[int, int] = {}
        monkeypatch.setattr(
            switch.engine,
            "direct_counter_read",
            lambda _table, handle: CounterValue(counts.get(handle, 7)),
        )
        switch.engine.digest("new_flow_ipv4_t", packet_to(33), packet_to(34))
        await until(lambda: len(plane.flows.on_node("pe1")) == 2)
        assert await plane.nodes["pe1"].settled()
        tables = switch.engine.tables
        busy = min(handle for handle in tables if tables[handle].endswith("flow_ipv4"))
        labels = {flow.key.dest_qp: flow.label for flow in plane.flows.all()}
        for number in range(4):
            counts[busy] = number
            await asyncio.sleep(config.flows.timeout / 1e6)
            await plane.nodes["pe1"].check_idle()
        await until(lambda: len(plane.flows.on_node("pe1")) == 1)
        assert {flow.key.dest_qp: flow.label for flow in plane.flows.all()} == {33: labels[33]}


@pytest.mark.parametrize("broken", ["late", "wrong"])
async def test_a_switch_that_answers_late_or_wrong_hides_no_idle_flow_of_others(
    config: Config, switches: Switches, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """Each is asked for itself."""
    packet_back = (BLUE, 0x0A020014, 0x0A01000A, 33, 0xFFFF, 5, 50000, 4, DC_PORT)

    async def answer(request: p4r.ReadRequest) -> AsyncIterator[p4r.ReadResponse]:
        if broken == "late" and any(each.table_entry.match for each in request.entities):
            await asyncio.Event().wait()
        if any(each.table_entry.match for each in request.entities):
            entry = p4r.TableEntry(table_id=1)
            yield p4r.ReadResponse(entities=[p4r.Entity(table_entry=entry)])
        else:
            async for each in read(request):
                yield each

    async with virtual_plane_up(config) as plane:
        for name, report in (("pe1", packet_to(33)), ("pe2", packet_back)):
            switches[name].engine.digest("new_flow_ipv4_t", report)
            await until(partial(plane.flows.on_node, name))
            assert await plane.nodes[name].settled()
        device = switches["pe1"]._device
        assert device is not None
        read = device.read
        monkeypatch.setattr(device, "read", answer)
        timeout = config.flows.timeout * 1000
        monkeypatch.setattr(
            switches["pe2"].engine, "entry_idle_ns", lambda _table, _handle: 3 * timeout
        )
        wait = max(HOUSEKEEPING, config.flows.timeout / 1e6)
        await until(lambda: not plane.flows.on_node("pe2"), seconds=wait + 0.5)
        assert plane.flows.on_node("pe1")


async def test_a_pe_is_heard_since_it_is_back(config: Config, switches: Switches) -> None:
    """Inference asks how long everything was reported."""
    plane = virtual_plane(config)
    edge = plane.edges["pe1"]
    assert edge.heard_for() == 0
    async with plane.running():
        for _ in range(2):
            await all_up(plane)
            begun = asyncio.get_running_loop().time()
            await until(lambda: edge.heard_for() >= WATCH)
            assert asyncio.get_running_loop().time() - begun >= WATCH - 0.1
            await switches["pe1"].stop()
            await until(lambda: edge.heard_for() == 0)
            await switches["pe1"].start()
