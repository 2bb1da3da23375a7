"""A controller that waits keeps what the leader keeps, so that it knows that when it takes over."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import grpc

from fcn.contract.certificates import TlsFileError
from fcn.contract.transport import is_socket
from fcn.controller.leadership.leadership import Leadership
from fcn.controller.northbound.client import client_credentials
from fcn.controller.proto import fcn_pb2 as pb
from fcn.controller.rpc import Stub
from fcn.controller.store import StoreError

LOG = logging.getLogger("fcn")

RETRY = 0.5
"""Seconds until the leader is asked again."""

MAX_IMAGE = 1 << 28
"""Octets."""


async def follow(
    leadership: Leadership,
    addresses: Mapping[int, str],
    tls: Path | None,
    keep: Callable[[bytes], None],
) -> None:
    """Call `keep` with what the leader keeps whenever that changes, while another one leads.
    `addresses`: of the controllers' APIs, by number; `tls`: the folder of this one's certificate
    at those that are reached over TCP. Runs until cancelled."""
    told = ""
    while True:
        leader = await leadership.other_leads()
        try:
            await _follow(leadership, leader, _channel(addresses[leader], tls), keep)
        except (grpc.RpcError, StoreError, TlsFileError, KeyError) as error:
            reason = error.details() if isinstance(error, grpc.RpcError) else str(error)
            # Once, not with every attempt.
            if reason != told:
                LOG.warning(
                    "what the leader keeps is not known (%s: %s); what was said there by command "
                    "would be lost if this one took over now",
                    addresses.get(leader, "no address"),
                    reason,
                )
            told = reason
        await asyncio.sleep(RETRY)


def _channel(address: str, tls: Path | None) -> grpc.aio.Channel:
    """The files are read for every connection, so that renewed ones are taken. Raises
    TlsFileError."""
    options = [("grpc.max_receive_message_length", MAX_IMAGE)]
    if tls is None or is_socket(address):
        return grpc.aio.insecure_channel(address, options)
    return grpc.aio.secure_channel(address, client_credentials(tls), options)


async def _follow(
    leadership: Leadership, leader: int, channel: grpc.aio.Channel, keep: Callable[[bytes], None]
) -> None:
    async with channel:
        stub = Stub(channel, pb.DESCRIPTOR.services_by_name["Fcn"])
        async for state in stub.FollowState(pb.FollowStateRequest()):
            if leadership.leader_number() != leader:
                return
            keep(state.image)
