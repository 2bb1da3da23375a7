"""Runs transfers: the scripts of both ends, and the mapping while they run."""

import time
from dataclasses import dataclass, replace

from fcn.hosts.guest.channel import GuestError, Result
from fcn.hosts.processes import holds_within, wait_until
from fcn.topologies.guest_host import GuestHost
from fcn.topologies.interop.mapping import Comparison, compare, mapped
from fcn.topologies.interop.sniffer import Sniffer
from fcn.topologies.interop.transfers import TOOLS, Transfer

LISTEN_TIMEOUT_S = 30.0
TRANSFER_TIMEOUT_S = 90.0
POLL_S = 0.1
# With CM, perftest listens again for its data connections after the first; a client that connects
# earlier is rejected and gives up. The network has no part in it: the transfer is tried again.
ATTEMPTS = 4
REJECTED = "RDMA_CM_EVENT_REJECTED"
RELEASE_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """One transfer: results of both ends, and the best comparison of the mapping while it ran."""

    transfer: Transfer
    client: Result
    server: Result
    comparison: Comparison
    released: bool
    cnps: int
    attempts: int = 1

    @property
    def succeeded(self) -> bool:
        """Whether both ends succeeded."""
        return self.client.status == 0 and self.server.status == 0

    @property
    def mapping_right(self) -> bool:
        """With CM: exactly the reported pairs. Without: all have labels, none a wrong QP."""
        # perftest has one more queue pair with CM, over which it exchanges parameters.
        complete = len(self.comparison.reported) >= 2 * self.transfer.queue_pairs
        if self.transfer.cm:
            return complete and self.comparison.exact and self.released
        return complete and not self.comparison.missing and not self.comparison.wrong


def start(near: GuestHost, far: GuestHost, transfer: Transfer) -> tuple[int, int]:
    """Start the server, wait until it listens, start the client; returns their script numbers."""
    server = far.channel.start(transfer.server)

    def listening() -> bool:
        if far.channel.done(server):
            raise GuestError(
                f"{transfer.server}: ended early: {far.channel.wait(server, 1).output.strip()}"
            )
        return far.channel.wait(far.channel.start(transfer.listening)).status == 0

    wait_until(listening, LISTEN_TIMEOUT_S, f"{transfer.name} does not listen")
    return near.channel.start(transfer.client), server


def carry_out(
    near: GuestHost,
    far: GuestHost,
    transfer: Transfer,
    sniffer: Sniffer,
    queue_pairs: dict[int, set[int]],
) -> Outcome:
    """Run a transfer in up to ATTEMPTS attempts; add its queue pairs to those of its family."""
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
    """Run one attempt; also returns all queue pairs the near guest reported meanwhile."""
    cnps_before = len(sniffer.cnps)
    deadline = time.monotonic() + TRANSFER_TIMEOUT_S
    client, server = start(near, far, transfer)
    near_address = near.address(transfer.family)
    queue_pairs: set[int] = set()
    best = Comparison(frozenset(), frozenset())
    while not near.channel.done(client) and time.monotonic() < deadline:
        seen = compare(near, far, transfer.family)
        queue_pairs |= seen.sources(near_address)
        if (len(seen.reported), len(seen.right)) > (len(best.reported), len(best.right)):
            best = seen
    results = [ended(host, number, deadline) for host, number in ((near, client), (far, server))]
    released = all_released(RELEASE_TIMEOUT_S) if transfer.cm else True
    cnps = len(sniffer.cnps) - cnps_before
    return Outcome(transfer, results[0], results[1], best, released, cnps), queue_pairs


def ended(host: GuestHost, number: int, deadline: float) -> Result:
    """The result of a script; one that has not ended by `deadline` is killed."""
    while not host.channel.done(number):
        if time.monotonic() > deadline:
            host.channel.run(f"killall {' '.join(TOOLS)} || true")
            killed = host.channel.wait(number)
            return Result(killed.status or 1, f"{killed.output}\nkilled: did not end in time\n")
        time.sleep(POLL_S)
    return host.channel.wait(number)


def all_released(timeout_s: float) -> bool:
    """Whether the controller releases every flow in time."""
    return holds_within(lambda: not mapped(), timeout_s)


def connected(host: GuestHost, number: int) -> tuple[int, int]:
    """(own QPN, peer's QPN) of some queue pair of a guest that runs the script `number`."""
    found: list[tuple[int, int]] = []

    def has_one() -> bool:
        if host.channel.done(number):
            raise GuestError(f"{host.name}: ended early: {host.channel.wait(number, 1).output}")
        found.extend(host.queue_pairs())
        return bool(found)

    wait_until(has_one, LISTEN_TIMEOUT_S, f"{host.name} has no queue pair")
    return found[0]
