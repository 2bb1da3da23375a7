"""`fcn flows list`: any number of flows, in pages between which the controller goes on."""

import asyncio
import json
from collections.abc import Iterator
from ipaddress import IPv4Address
from itertools import pairwise
from typing import Any

import grpc
import pytest
import yaml
from typer.testing import CliRunner, Result

from fcn.contract.constants import FCN_LABEL_BIT
from fcn.contract.rpc import handler_of
from fcn.controller.app import ControlPlane
from fcn.controller.cli.commands import app
from fcn.controller.config import parse_config
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import Origin
from fcn.controller.northbound.access import RefusedError
from fcn.controller.northbound.api import FcnService
from fcn.controller.northbound.client import ControllerError, FcnClient
from fcn.controller.northbound.flows import PAGE
from fcn.controller.northbound.serving import serving
from fcn.controller.proto import fcn_pb2 as pb

MANY = 100_000
HOSTS = 200


def plane_with(network: dict[str, Any], number: int) -> ControlPlane:
    """A control plane whose provider edges label this many flows between them, half each."""
    plane = ControlPlane(parse_config(yaml.safe_dump(network)))
    for site, far in ((1, 2), (2, 1)):
        list(plane.flows.adopt(f"pe{site}", flows_from(site, far, number // 2)))
    assert len(plane.flows.all()) == number
    return plane


def flows_from(site: int, far: int, number: int) -> Iterator[Flow]:
    ends = [
        (IPv4Address(f"10.{site}.0.{host}"), IPv4Address(f"10.{far}.0.{host}"))
        for host in range(2, 2 + HOSTS)
    ]
    for each in range(number):
        src, dst = ends[each % HOSTS]
        key = FlowKey("blue", src, dst, 0x100 + each // HOSTS)
        label = FCN_LABEL_BIT | (2 * each + site)
        yield Flow(key, f"pe{site}", label, 0, Origin.AGENT, 0x55, since=1.0)


class Turns:
    """Counts how often a job that never waits for anything else has had its turn."""

    def __init__(self) -> None:
        self.number = 0
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while True:
            self.number += 1
            await asyncio.sleep(0)

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])


@pytest.mark.parametrize("many", [10 * PAGE, pytest.param(MANY, marks=pytest.mark.exhaustive)])
async def test_flows_through_a_channel_with_default_limits(
    network: dict[str, Any], many: int
) -> None:
    """Any number of them: the next test shows how large a page is at most."""
    plane = plane_with(network, many)
    async with serving(plane.network, "127.0.0.1:0") as api:
        with FcnClient(api) as client:
            found = await asyncio.to_thread(client.flows)
    assert len(found) == many
    assert {flow.label for flow in found} == {flow.label for flow in plane.flows.all()}


async def test_others_have_their_turn_between_pages(network: dict[str, Any]) -> None:
    """Also while a filter finds nothing; no page has more flows than one."""
    plane = plane_with(network, 10 * PAGE)
    service = FcnService(plane.network)
    for address, pages in (("", 10), ("10.9.9.9", 0)):
        request = pb.ListFlowsRequest(address=address, with_unlabelled=True)
        turns = Turns()
        before: list[int] = []
        async for page in service.ListFlows(request):
            assert 0 < len(page.flows) <= PAGE
            before.append(turns.number)
        assert len(before) == pages
        assert all(earlier < later for earlier, later in pairwise(before))
        assert turns.number >= 10
        await turns.stop()


async def test_pages_show_one_moment(network: dict[str, Any]) -> None:
    """A flow that ends while pages are sent is listed, one that is added then is not."""
    plane = plane_with(network, 4 * PAGE)
    expected = {flow.key for flow in plane.flows.all()}
    last = plane.flows.all()[-1].key
    listed: list[tuple[str, str, int]] = []
    async for page in FcnService(plane.network).ListFlows(pb.ListFlowsRequest()):
        if not listed:
            plane.flows.delete(last)
            plane.flows.add(FlowKey("blue", last.src, last.dst, 0xABCDEF), 0x77)
        listed += [(flow.key.src, flow.key.dst, flow.key.dest_qp) for flow in page.flows]
    assert last not in {flow.key for flow in plane.flows.all()}
    assert len(listed) == len(set(listed))
    assert set(listed) == {(str(key.src), str(key.dst), key.dest_qp) for key in expected}


async def run(plane: ControlPlane, *arguments: str) -> Result:
    async with serving(plane.network, "127.0.0.1:0") as api:
        command = ["flows", *arguments, "--api", api]
        return await asyncio.to_thread(CliRunner().invoke, app, command)


async def test_json_of_several_pages_is_one_document(network: dict[str, Any]) -> None:
    plane = plane_with(network, 3 * PAGE + 2)
    shown = await run(plane, "list", "--json")
    flows = json.loads(shown.stdout)
    assert len(flows) == 3 * PAGE + 2
    assert shown.stdout == json.dumps(flows, indent=2, ensure_ascii=False) + "\n"
    nothing = await run(plane, "list", "--json", "--address", "10.9.9.9")
    assert nothing.stdout == "[]\n"


async def test_a_table_of_several_pages_is_one_table(network: dict[str, Any]) -> None:
    """One line of names, columns in one place, and the number below all of them."""
    plane = plane_with(network, 2 * PAGE)
    head, *rows, total = (await run(plane, "list")).stdout.splitlines()
    assert total == f"{2 * PAGE} flows"
    assert len(rows) == 2 * PAGE
    assert {row.index("blue") for row in rows} == {head.index("vrf")}
    mine = await run(plane, "list", "--node", "pe1", "--address", "10.1.0.3")
    _, *rows, total = mine.stdout.splitlines()
    assert {row.split()[2] for row in rows} == {"10.1.0.3"}
    assert total == f"{len(rows)} flows"


async def test_what_was_received_is_shown_before_the_rest_comes(
    network: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list ends with the reason, and the command with its code, where the controller fails in
    the middle."""

    async def half(_self: FcnService, _request: pb.ListFlowsRequest) -> Any:  # noqa: ANN401
        flow = pb.Flow(key=pb.FlowKey(vrf="blue", src="10.1.0.2", dst="10.2.0.2"), node="pe1")
        yield pb.ListFlowsResponse(flows=[flow])
        raise RefusedError(grpc.StatusCode.UNAVAILABLE, "the controller ends")

    monkeypatch.setattr(FcnService, "ListFlows", half)
    shown = await run(plane_with(network, 0), "list")
    assert shown.exit_code == 1
    assert "10.1.0.2" in shown.stdout
    assert "flows" not in shown.stdout
    assert "the controller ends" in shown.stderr


async def test_a_controller_that_falls_silent_is_noticed(network: dict[str, Any]) -> None:
    """The time allowed is for each page: whoever reads slowly is not cut off."""

    class Silent:
        async def ListFlows(  # noqa: N802
            self, _request: pb.ListFlowsRequest, _context: grpc.aio.ServicerContext
        ) -> Any:  # noqa: ANN401 - the messages are untyped
            yield pb.ListFlowsResponse(flows=[pb.Flow(node="pe1")])
            await asyncio.Event().wait()

    server = grpc.aio.server()
    service = pb.DESCRIPTOR.services_by_name["Fcn"]
    server.add_generic_rpc_handlers((handler_of(service, Silent()),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()

    def read() -> list[pb.Flow]:
        with FcnClient(f"127.0.0.1:{port}", timeout=0.2) as client:
            pages = client.flow_pages()
            first = list(next(pages))
            with pytest.raises(ControllerError, match="does not answer"):
                next(pages)
            return first

    assert len(await asyncio.to_thread(read)) == 1
    await server.stop(0)
