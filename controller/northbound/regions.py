"""Half of a handshake between two regions is told by the controllers of the other one."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from ipaddress import ip_address
from itertools import islice
from pathlib import Path

import grpc

from fcn.contract.certificates import TlsFileError
from fcn.contract.rpc import Stub
from fcn.controller.flows.connections import CmMessage
from fcn.controller.flows.regions import CmReport, Regions
from fcn.controller.northbound.following import channel_to
from fcn.controller.pace import Pace
from fcn.controller.patience import patience
from fcn.controller.proto import fcn_pb2 as pb

LOG = logging.getLogger("fcn")

RETRY = 0.5
"""Seconds until a controller is asked again."""

ANSWER = 10.0
"""Seconds for a controller to answer."""

PAUSE = 0.02
"""Seconds between two pages: what comes meanwhile is one."""

KNOWN = 64
"""Halves of connections that are known already in a page: less than is handled in its time."""

PAGE = 1024
"""Messages."""

LARGEST = 1 << 20
"""Octets of a page."""


async def pages(regions: Regions, region: str) -> AsyncGenerator[pb.FollowConnectionsResponse]:
    """What a controller of this region has to know: of connections that are known, and then of
    each as it is reported. Raises OutboxFullError."""
    with regions.told(region) as outbox:
        known = regions.known(region)
        while True:
            some = list(islice(known, KNOWN))
            if not some:
                await outbox.filled()
            reports = [*outbox.take(PAGE), *filter(None, some)]
            if reports:
                yield pb.FollowConnectionsResponse(messages=map(_message, reports))
            await asyncio.sleep(PAUSE)


async def hear(
    controller: str,
    address: str,
    tls: Path | None,
    region: str,
    take: Callable[[CmReport], None],
    silent: Callable[[str], None],
) -> None:
    """Call `take` with what a controller of another region has to tell this `region`, and `silent`
    with why it does not; with nothing when it does. Runs until cancelled."""
    told, request, pace = "", pb.FollowConnectionsRequest(region=region), Pace()
    silent("it has not answered yet")
    while True:
        reason = "it has ended the call"
        try:
            async with channel_to(address, tls, LARGEST) as channel:
                stub = Stub(channel, pb.DESCRIPTOR.services_by_name["Fcn"])
                call = stub.FollowConnections(request)
                # One that is stopped takes calls all the same.
                async with patience(ANSWER):
                    await call.wait_for_connection()
                LOG.info("connections to the region of %s are known", controller)
                silent("")
                told = ""
                async for page in call:
                    # A page may have more than another of these controllers would say at once.
                    for report in _reports(page.messages):
                        take(report)
                        await pace.step()
        except grpc.RpcError as error:
            reason = error.details()
        except TimeoutError:
            reason = f"it takes calls, and does not answer within {ANSWER:g} s"
        except (TlsFileError, ValueError) as error:
            reason = str(error)
        silent(reason)
        # Once, not with every attempt.
        if reason != told:
            LOG.warning(
                "%s (%s) is not heard: %s; connections to its region that are set up now may have "
                "no sender, unless another controller there says so",
                controller,
                address,
                reason,
            )
        told = reason
        await asyncio.sleep(RETRY)


def _message(report: CmReport) -> pb.ConnectionMessage:
    node, port, message = report
    return pb.ConnectionMessage(
        node=node,
        port=port,
        vrf=message.vrf,
        src=message.src.packed,
        dst=message.dst.packed,
        attribute=message.attribute,
        local_comm_id=message.local_comm_id,
        remote_comm_id=message.remote_comm_id,
        qpn=message.qpn,
    )


def _reports(messages: Iterable[pb.ConnectionMessage]) -> Iterator[CmReport]:
    """Without what is none."""
    for each in messages:
        try:
            src, dst = ip_address(each.src), ip_address(each.dst)
        except ValueError:
            continue
        if src.version == dst.version and each.qpn < 1 << 24:
            ids = each.local_comm_id, each.remote_comm_id
            message = CmMessage(each.vrf, src, dst, each.attribute, *ids, each.qpn)
            yield CmReport(each.node, each.port, message)
