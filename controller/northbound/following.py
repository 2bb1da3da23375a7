"""A controller that waits keeps what the leader keeps, so that it knows that when it takes over."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import grpc

from fcn.contract.certificates import TlsFileError
from fcn.contract.rpc import KEEPALIVE, Stub
from fcn.contract.transport import is_socket
from fcn.controller.leadership.ids import name_of
from fcn.controller.leadership.leadership import Leadership
from fcn.controller.northbound.client import client_credentials
from fcn.controller.patience import patience
from fcn.controller.proto import fcn_pb2 as pb
from fcn.controller.store import StoreError

LOG = logging.getLogger("fcn")

RETRY = 0.5
"""Seconds until the leader is asked again."""

MAX_IMAGE = 1 << 28
"""Octets."""

SIGN_OF_LIFE = 1.0
"""Seconds after which a leader that has nothing to say says that it is there."""

SILENCE = 5.0
"""Seconds without a word from a leader that was followed, until another one may lead. No event loop
of a leader is late for so long."""


async def follow(
    leadership: Leadership,
    addresses: Mapping[int, str],
    tls: Path | None,
    keep: Callable[[bytes], None],
) -> None:
    """Call `keep` with what the leader keeps whenever that changes, while another one leads.
    `addresses`: of the other controllers' APIs, by number of their names; `tls`: the folder of this
    one's certificate at those that are reached over TCP. Runs until cancelled."""
    told = ""
    while True:
        leader = await leadership.other_leads()
        address = addresses.get(name_of(leader), "")
        try:
            if not address:
                raise StoreError(f"{leadership.leader()} is no other of `controllers` here")
            await _follow(leadership, leader, channel_to(address, tls, MAX_IMAGE), keep)
        except (grpc.RpcError, StoreError, TlsFileError, ValueError) as error:
            reason = error.details() if isinstance(error, grpc.RpcError) else str(error)
            # Once, not with every attempt.
            if reason != told:
                LOG.warning(
                    "what the leader keeps is not known (%s: %s); what was said there by command "
                    "would be lost if this one took over now",
                    address or "no address",
                    reason,
                )
            told = reason
        await asyncio.sleep(RETRY)


def channel_to(address: str, tls: Path | None, largest: int) -> grpc.aio.Channel:
    """To the API of another controller, for answers of so many octets. The files are read for every
    connection, so that renewed ones are taken. Raises TlsFileError."""
    options = [("grpc.max_receive_message_length", largest), *KEEPALIVE]
    if tls is None or is_socket(address):
        return grpc.aio.insecure_channel(address, options)
    return grpc.aio.secure_channel(address, client_credentials(tls), options)


async def _follow(
    leadership: Leadership, leader: int, channel: grpc.aio.Channel, keep: Callable[[bytes], None]
) -> None:
    async with channel:
        jobs = [
            asyncio.create_task(_read(channel, leadership, leader, keep)),
            asyncio.create_task(leadership.leads_no_more(leader)),
        ]
        try:
            # One that is stopped, or cut off, says nothing of that.
            await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for job in jobs:
                job.cancel()
            found = (await asyncio.gather(*jobs, return_exceptions=True))[0]
    if isinstance(found, Exception):
        raise found


async def _read(
    channel: grpc.aio.Channel, leadership: Leadership, leader: int, keep: Callable[[bytes], None]
) -> None:
    stub = Stub(channel, pb.DESCRIPTOR.services_by_name["Fcn"])
    states = aiter(stub.FollowState(pb.FollowStateRequest()))
    state = await anext(states, None)
    try:
        while state is not None:
            leadership.speaks(leader)
            if state.HasField("image"):
                keep(state.image)
            async with patience(SILENCE):
                state = await anext(states, None)
    except TimeoutError:
        leadership.fell_silent(leader)
        raise StoreError(f"it has said nothing for {SILENCE:.0f} s") from None
