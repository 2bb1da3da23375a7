"""One network, all transfers: what succeeded, what was mapped, what CNPs arrived."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from controller.client import FcnClient
from topologies.controller_config import API_ENDPOINT
from topologies.guest.channel import GuestError, Result
from topologies.guest.host import GuestHost
from topologies.guest.image import Image
from topologies.interop.evidence import Evidence, collect, watch
from topologies.interop.mapping import Comparison, compare, mapped
from topologies.interop.sniffer import Cnp, Sniffer
from topologies.interop.topology import (
    FAR,
    FLOW_TIMEOUT_S,
    NEAR,
    interop,
    settings,
)
from topologies.interop.transfers import TOOLS, Transfer, long_write, rping, transfers
from topologies.model import TunnelType
from topologies.network import Network, Target
from topologies.processes import ProcessError, wait_until

LISTEN_TIMEOUT_S = 30.0
TRANSFER_TIMEOUT_S = 90.0
POLL_S = 0.1
# With CM perftest listens anew for its data connections after the first; a client that is faster
# is rejected and gives up. That is between the two of them; the transfer is tried again.
ATTEMPTS = 4
REJECTED = "RDMA_CM_EVENT_REJECTED"
KILLED_AFTER_S = 5.0
RELEASE_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """One transfer: how both ends ended and the best look at the mapping while it ran."""

    transfer: Transfer
    client: Result
    server: Result
    comparison: Comparison
    released: bool
    cnps: int
    attempts: int = 1

    @property
    def succeeded(self) -> bool:
        """Whether both ends say so."""
        return self.client.status == 0 and self.server.status == 0

    @property
    def mapping_right(self) -> bool:
        """With CM: exactly the reported pairs. Without: all labelled, none bound wrong."""
        # perftest has one more queue pair with CM, over which it exchanges parameters.
        complete = len(self.comparison.reported) >= 2 * self.transfer.queue_pairs
        if self.transfer.cm:
            return complete and self.comparison.exact and self.released
        return complete and not self.comparison.missing and not self.comparison.wrong


@dataclass
class Report:
    """Everything of one kind of tunnel."""

    tunnel: TunnelType
    outcomes: list[Outcome] = field(default_factory=list)
    cnps: list[Cnp] = field(default_factory=list)
    queue_pairs: dict[int, set[int]] = field(default_factory=lambda: {4: set(), 6: set()})
    own_checked: int = 0
    own_valid: int = 0
    evidence: Evidence | None = None
    death: dict[str, bool] = field(default_factory=dict)
    seconds: float = 0.0


def run(
    tunnel: TunnelType,
    target: Target,
    image: Image,
    directory: Path,
    progress: Callable[[str], None],
) -> Report:
    """Boot, transfer, congest, kill a guest; raises ProcessError, GuestError, ControllerError.

    `progress` is called with what begins.
    """
    begun = time.monotonic()
    report = Report(tunnel)
    make_host = partial(GuestHost, image=image, directory=directory)
    with Network(interop(tunnel), target, settings(), directory, make_host) as network:
        near, far = network.host(NEAR), network.host(FAR)
        if not isinstance(near, GuestHost) or not isinstance(far, GuestHost):
            raise TypeError("the hosts of this network are guests")
        progress("guests boot")
        for host in (near, far):
            host.wait_ready()
        network.wait_for_ping(NEAR, FAR)
        before = watch(near)
        with Sniffer(near) as sniffer:
            for transfer in transfers(near, far):
                progress(str(transfer))
                report.outcomes.append(_carry_out(near, far, transfer, sniffer, report.queue_pairs))
                network.check()
        report.cnps = list(sniffer.cnps)
        report.own_checked, report.own_valid = sniffer.own_checked, sniffer.own_valid
        report.evidence = collect(near).since(before)
        progress("a guest dies in the middle of a transfer")
        report.death = _death(network, near, far)
        network.check()
    report.seconds = time.monotonic() - begun
    return report


def _start(near: GuestHost, far: GuestHost, transfer: Transfer) -> tuple[int, int]:
    """Start the server, wait until it listens, start the client; their numbers."""
    server = far.channel.start(transfer.server)

    def listening() -> bool:
        if far.channel.done(server):
            raise GuestError(
                f"{transfer.server}: ended early: {far.channel.wait(server, 1).output.strip()}"
            )
        return far.channel.wait(far.channel.start(transfer.listening)).status == 0

    wait_until(listening, LISTEN_TIMEOUT_S, f"{transfer.name} does not listen")
    return near.channel.start(transfer.client), server


def _carry_out(
    near: GuestHost,
    far: GuestHost,
    transfer: Transfer,
    sniffer: Sniffer,
    queue_pairs: dict[int, set[int]],
) -> Outcome:
    """One transfer in up to ATTEMPTS attempts; its queue pairs are added to those by family."""
    attempts = 0
    while True:
        attempts += 1
        outcome, used = _transfer(near, far, transfer, sniffer)
        queue_pairs[transfer.family] |= used
        if REJECTED not in outcome.client.output or attempts == ATTEMPTS:
            return replace(outcome, attempts=attempts)


def _transfer(
    near: GuestHost, far: GuestHost, transfer: Transfer, sniffer: Sniffer
) -> tuple[Outcome, set[int]]:
    """Carry one out; also all queue pairs the near guest was seen to have meanwhile."""
    cnps_before = len(sniffer.cnps)
    deadline = time.monotonic() + TRANSFER_TIMEOUT_S
    client, server = _start(near, far, transfer)
    near_address = near.address(transfer.family)
    queue_pairs: set[int] = set()
    best = Comparison(frozenset(), frozenset())
    while not near.channel.done(client) and time.monotonic() < deadline:
        seen = compare(near, far, transfer.family)
        queue_pairs |= seen.sources(near_address)
        if (len(seen.reported), len(seen.right)) > (len(best.reported), len(best.right)):
            best = seen
    results = [_ended(host, number, deadline) for host, number in ((near, client), (far, server))]
    released = _released(RELEASE_TIMEOUT_S) if transfer.cm else True
    cnps = len(sniffer.cnps) - cnps_before
    return Outcome(transfer, results[0], results[1], best, released, cnps), queue_pairs


def _ended(host: GuestHost, number: int, deadline: float) -> Result:
    """The result of a script; one that has not ended by `deadline` is killed."""
    while not host.channel.done(number):
        if time.monotonic() > deadline:
            host.channel.run(f"killall {' '.join(TOOLS)} || true")
            killed = host.channel.wait(number)
            return Result(killed.status or 1, f"{killed.output}\nkilled: did not end in time\n")
        time.sleep(POLL_S)
    return host.channel.wait(number)


def _released(timeout_s: float) -> bool:
    """Whether the controller forgets every flow in time."""
    return _within(lambda: not mapped(), timeout_s)


def _within(condition: Callable[[], bool], timeout_s: float) -> bool:
    """Whether `condition` comes to hold in time."""
    try:
        wait_until(condition, timeout_s, "")
    except ProcessError:
        return False
    return True


def _start_doomed(near: GuestHost, far: GuestHost, transfer: Transfer) -> int:
    """Start a transfer; the client's number once it is under way and mapped."""
    for _ in range(ATTEMPTS):
        client, server = _start(near, far, transfer)
        while not near.channel.done(client):
            seen = compare(near, far, transfer.family)
            if len(seen.reported) >= 2 * transfer.queue_pairs and not seen.missing:
                return client
        _ended(far, server, time.monotonic())
    raise GuestError(f"{transfer} ended in all of {ATTEMPTS} attempts, before a guest could die")


def _death(network: Network, near: GuestHost, far: GuestHost) -> dict[str, bool]:
    """Cut the receiver's power in the middle of a transfer; what has to happen, and did it."""
    client = _start_doomed(near, far, long_write(near, far))
    far.kill_guest()
    # Debian's rdma_rxe was seen to keep such queue pairs in RTS for minutes; the user gives up.
    failed = _ended(near, client, time.monotonic()).status != 0
    # Nobody disconnected, so it is the flow timeout that counts (FCN-4).
    released = _released(4 * FLOW_TIMEOUT_S)
    far.boot()
    far.wait_ready()
    network.wait_for_ping(NEAR, FAR)
    again = rping(4, far.address(4), count=10)
    client, server = _start(near, far, again)
    deadline = time.monotonic() + TRANSFER_TIMEOUT_S
    ended = [
        _ended(host, number, deadline).status for host, number in ((near, client), (far, server))
    ]
    with FcnClient(API_ENDPOINT) as controller:
        states = [node.state for node in controller.status().nodes]
    return {
        "the sender's transfer fails": failed,
        "its mappings are removed": released,
        "after a reboot, with the same QP numbers, rping succeeds": ended == [0, 0],
        "controller and switches are up": states == ["up"] * len(network.topology.nodes),
    }
