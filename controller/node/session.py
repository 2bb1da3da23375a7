"""Sessions with one switch, one after another: each begins in time or is tried anew, and a switch
that falls silent ends it. Within a session finsy keeps stream, arbitration and pipeline."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import finsy as fy
import grpc
from finsy.grpcutil import GRPCStatusCode
from finsy.p4client import P4ClientError

from fcn.controller.finsy_adapter import TIMEOUT, NoHandshakeError
from fcn.controller.node.readback import read

BEGIN_TIMEOUT = 10.0
"""Seconds for connection and arbitration; as long as finsy waits for the answer to a request."""

PROBE_INTERVAL = 5.0
"""Seconds between two looks whether an idle switch still answers."""

OWN_PAUSE = 1.0
"""Seconds by which a request ends too late where this process itself has stood still, so that an
answer may have come that it could not read."""

FIRST_RETRY, LAST_RETRY = 0.25, 1.0
"""Seconds until the next session, twice as long after each that was short. A switch that is back,
and answers, is synchronized within 2 s however often it failed before."""

SHORT = 2.0
"""Seconds; a session that lasted longer does not delay the next."""


class NoSessionError(Exception):
    """A session did not begin; the message says why."""


class ReportedError(Exception):
    """A job failed because of the switch, and that is told: finsy logs no error of this code."""

    code = GRPCStatusCode.UNAVAILABLE


class SwitchAwayError(Exception):
    """A request was not answered because the switch is away; the message says so."""


CLOSED = (AssertionError, asyncio.InvalidStateError, grpc.aio.UsageError)
"""What a request raises in a session that has ended: finsy asserts that it has a client, gRPC that
its stream and channel are open."""


async def keep_session(
    switch: fy.Switch, failed: Callable[[NoSessionError], None], clock: Callable[[], float]
) -> None:
    """Begin a session whenever there is none, until cancelled. `failed` hears why one did not
    begin; of one that ends after it had begun finsy tells (SwitchEvent.CHANNEL_DOWN). `clock` is
    monotonic, in seconds."""
    retry = FIRST_RETRY
    while True:
        begun = clock()
        try:
            await _session(switch)
        except NoSessionError as error:
            failed(error)
        if clock() - begun > SHORT:
            retry = FIRST_RETRY
        await asyncio.sleep(retry)
        retry = min(2 * retry, LAST_RETRY)


async def _session(switch: fy.Switch) -> None:
    """Begin a session and wait for its end. Raises NoSessionError."""
    ended = asyncio.Event()
    up = False

    def channel_up(_switch: fy.Switch) -> None:
        nonlocal up
        up = True
        limit.reschedule(None)

    def channel_down(_switch: fy.Switch) -> None:
        ended.set()

    lasting = set(switch.ee.listeners(fy.SwitchEvent.CHANNEL_READY))
    switch.ee.add_listener(fy.SwitchEvent.CHANNEL_UP, channel_up)
    switch.ee.add_listener(fy.SwitchEvent.CHANNEL_DOWN, channel_down)
    try:
        async with asyncio.timeout(BEGIN_TIMEOUT) as limit:
            with _foreign_cancellation():
                async with switch:
                    await ended.wait()
    except TimeoutError:
        raise NoSessionError("nobody answers") from None
    except Exception as error:
        if not up:
            raise NoSessionError(explained(error)) from None
        # A failure after the session had begun is told by whose job it was.
    finally:
        switch.ee.remove_listener(fy.SwitchEvent.CHANNEL_UP, channel_up)
        switch.ee.remove_listener(fy.SwitchEvent.CHANNEL_DOWN, channel_down)
        # finsy leaves the one it waits with where a session does not begin.
        for left in set(switch.ee.listeners(fy.SwitchEvent.CHANNEL_READY)) - lasting:
            switch.ee.remove_listener(fy.SwitchEvent.CHANNEL_READY, left)


async def probe(switch: fy.Switch, clock: Callable[[], float]) -> None:
    """Ask again and again, so that a switch that falls silent is noticed. `clock` is monotonic, in
    seconds. Raises P4ClientError."""
    while True:
        await asyncio.sleep(PROBE_INTERVAL)
        asked = clock()
        try:
            async for _group in read(switch, fy.P4MulticastGroupEntry(1)):
                pass
        except P4ClientError as error:
            # Any other is an answer, if only that there is no such group, or no pipeline.
            if error.code == GRPCStatusCode.UNAVAILABLE:
                raise
            is_silent = error.code == GRPCStatusCode.DEADLINE_EXCEEDED
            if is_silent and clock() - asked < TIMEOUT + OWN_PAUSE:
                raise


def explained(error: Exception) -> str:
    """Why a request or a job failed, in one line."""
    if isinstance(error, NoHandshakeError) and isinstance(error.__cause__, Exception):
        return explained(error.__cause__)
    if isinstance(error, P4ClientError):
        if error.code == GRPCStatusCode.DEADLINE_EXCEEDED:
            return "the switch does not answer: it is stopped, or overloaded"
        said = error.message.partition("\n")[0]
        if error.code == GRPCStatusCode.UNAVAILABLE:
            return _unreachable(said)
        return f"{said or 'no reason given'} ({error.code.name})"
    return str(error).partition("\n")[0] or type(error).__name__


_TIMES = {
    "certificate has expired": "renew it",
    "certificate is not yet valid": "are the clocks right?",
}
"""What TLS says of the time in a certificate, and what to do."""


def _unreachable(said: str) -> str:
    """The last part of what gRPC says; it ends with ": OK" where TLS failed."""
    reason = said.removesuffix(": OK").rpartition(": ")[2]
    if (remedy := _TIMES.get(reason)) is not None:
        return f"{reason}: the switch's, or that of the CA in `tls`; {remedy}"
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return f"the switch's certificate is not one of the CA in `tls` ({reason})"
    if "Hostname Verification" in said:
        return "the switch's certificate has another name; `name` in `tls` says which"
    if reason == "Socket closed":
        return f"{reason}; if it asks for a certificate, is this controller's of its CA, and valid?"
    return reason or "the connection ended"


@contextmanager
def answering(name: str) -> Iterator[None]:
    """Raise SwitchAwayError for what a request of a job outside of the session raises when the
    session ends: gRPC cancels whoever waits for an answer on a channel that is closed."""
    try:
        with _foreign_cancellation():
            yield
    except (P4ClientError, _CancelledByGrpcError) as error:
        raise SwitchAwayError(f"{name}: {explained(error)}") from None
    except CLOSED:
        raise SwitchAwayError(f"{name} is not connected") from None


class _CancelledByGrpcError(Exception):
    """Nobody cancelled this task; what it waited for was."""


@contextmanager
def _foreign_cancellation() -> Iterator[None]:
    """Raise _CancelledByGrpcError for a CancelledError that is none of this task."""
    task = asyncio.current_task()
    assert task is not None
    before = task.cancelling()
    try:
        yield
    except asyncio.CancelledError:
        if task.cancelling() > before:
            raise
        raise _CancelledByGrpcError("the connection ended") from None
