"""`fcn flows list --counters`: what switches are asked for, by however many."""

import asyncio
from ipaddress import ip_address

import pytest
from finsy.proto import p4r
from switches import MemorySwitch, all_up
from virtual import virtual_plane

from fcn.controller.app import ControlPlane
from fcn.controller.config import Config
from fcn.controller.flows.key import FlowKey
from fcn.controller.northbound.api import FcnService
from fcn.controller.northbound.flows import PAGE
from fcn.controller.proto import fcn_pb2 as pb

pytestmark = pytest.mark.virtual_time

A, B, C = map(ip_address, ("10.1.0.10", "10.2.0.20", "10.2.0.21"))
FIRST = 0x100


async def _with_flows(plane: ControlPlane, number: int) -> None:
    """So many from A to B, and one to C."""
    await all_up(plane)
    for each in range(number):
        plane.flows.add(FlowKey("blue", A, B, FIRST + each), 17)
    plane.flows.add(FlowKey("blue", A, C, FIRST), 17)
    assert await plane.nodes["pe1"].settled()


async def _listed(plane: ControlPlane, address: str = "") -> list[list[pb.Flow]]:
    request = pb.ListFlowsRequest(with_counters=True, address=address)
    return [list(page.flows) async for page in FcnService(plane.network).ListFlows(request)]


async def test_counts_are_read_of_the_flows_of_a_page(
    config: Config, switches: dict[str, MemorySwitch]
) -> None:
    """However many the switch has; of those that a filter leaves only."""
    reads = list[p4r.ReadRequest]()
    plane = virtual_plane(config)
    async with plane.running():
        await _with_flows(plane, 2 * PAGE)
        switches["pe1"].hear_reads(reads.append)
        pages = await _listed(plane)
        sizes = [len(read.entities) for read in reads if _of_flows(read)]
        assert sizes == [2 * len(page) for page in pages] == [2 * PAGE, 2 * PAGE, 2]
        assert all(flow.HasField("packets") for page in pages for flow in page)
        reads.clear()
        ((flow,),) = await _listed(plane, str(C))
        assert (flow.packets, flow.notifications) == (0, 0)
        assert [len(read.entities) for read in reads if _of_flows(read)] == [2]


async def test_one_reads_a_switch_at_a_time(
    config: Config, switches: dict[str, MemorySwitch]
) -> None:
    plane = virtual_plane(config)
    async with plane.running():
        await _with_flows(plane, PAGE)
        thawed = switches["pe1"].freeze()
        asked = [asyncio.create_task(_listed(plane)) for _ in range(10)]
        await asyncio.sleep(1)
        # The other is the poll of all counters.
        assert switches["pe1"].frozen <= 2
        thawed.set()
        assert {len(pages) for pages in await asyncio.gather(*asked)} == {2}


def _of_flows(read: p4r.ReadRequest) -> bool:
    return any(entity.table_entry.match for entity in read.entities)
