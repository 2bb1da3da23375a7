"""Validates the hosts' reports and finds the queue pair that sends a flow (FCN-3 a).

A host knows the numbers of its queue pairs and of their peers, not the peers' addresses. So a
report determines the sender of a flow when exactly one queue pair of the device with the flow's
source address has the flow's destination QP as its peer; where there are several, the report of the
destination host, if any, decides. A report is used only for flows that were seen before its
snapshot was taken: the queue pair of a newer flow may be missing in it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from math import inf
from typing import Any

from fcn.controller.config.notation import Address
from fcn.controller.config.tls import AgentHost
from fcn.controller.flows.key import FlowKey

MAX_QUEUE_PAIRS = 65536
"""Queue pairs per host, at most."""

MAX_DEVICES, MAX_ADDRESSES = 1024, 16384
"""RDMA devices and their addresses per host, at most."""

MIN_INTERVAL = 0.2
"""Seconds between reports of one host, at least, refused ones included."""

REST = 4
"""Times as long as a report took no other of its host is looked at: a host can report all its flows
anew each time, and what that takes is kept from others."""

DATA_QPNS = range(2, 1 << 24)
"""Queue pairs 0 and 1 carry management datagrams."""


class HostRefusal(Enum):
    """Why a report is refused."""

    UNKNOWN_HOST = "unknown host"
    REVOKED = "revoked certificate"
    FOREIGN_ADDRESS = "address of another host"
    NONSENSE = "nonsense"
    TOO_OFTEN = "too often"


class ReportRefusedError(Exception):
    """A report was not accepted; the message says why."""

    def __init__(self, reason: HostRefusal, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Device:
    """An RDMA device: its RoCEv2 addresses, and (own QPN, peer's QPN) of connected queue pairs."""

    name: str
    addresses: tuple[Address, ...]
    queue_pairs: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """A device as reported, in a snapshot taken later than `after` (seconds since the epoch)."""

    after: float
    peer_of: Mapping[int, int]
    own_of: Mapping[int, frozenset[int]]


@dataclass(slots=True)
class _Host:
    """`due`: when a report may be looked at again; `heard`: when one was accepted last."""

    due: float = -inf
    heard: float | None = None
    addresses: set[tuple[str, Address]] = field(default_factory=set)


class Ambiguous(Enum):
    """More than one queue pair may send the flow, or the reports of both hosts are inconsistent."""

    AMBIGUOUS = "ambiguous"


class HostReports:
    """What all agents have reported. `clock` returns seconds since the epoch, and never goes back,
    as what flows are dated with: else a report could be taken for one that came after a flow."""

    def __init__(self, hosts: Mapping[str, AgentHost], clock: Callable[[], float]) -> None:
        self._configured = hosts
        self._clock = clock
        self._hosts = {name: _Host() for name in hosts}
        self._devices: dict[tuple[str, Address], _Snapshot] = {}
        self.accepted: Counter[str] = Counter()
        self.refused: Counter[HostRefusal] = Counter()

    def move_to(self, hosts: Mapping[str, AgentHost]) -> None:
        """These are the hosts from now on; what others have reported, or what these have under
        other addresses, counts no more."""
        for name, state in self._hosts.items():
            if hosts.get(name) != self._configured[name]:
                for key in state.addresses:
                    del self._devices[key]
                state.addresses.clear()
        self._hosts = {name: self._hosts.get(name) or _Host() for name in hosts}
        self._configured = hosts

    def identify(self, identities: Iterable[str]) -> str:
        """The configured host among a certificate's names. Raises ReportRefusedError."""
        names = set(identities)
        known = names & self._configured.keys()
        if len(known) != 1:
            shown = ", ".join(sorted(names)) or "no name"
            raise self.refusal(
                HostRefusal.UNKNOWN_HOST,
                f"the certificate has {shown}; it must name one host of host_agents.hosts",
            )
        return known.pop()

    @contextmanager
    def admitted(self, host: str) -> Iterator[None]:
        """A report of a host is looked at, if it may be now. Raises ReportRefusedError."""
        now, state = self._clock(), self._hosts[host]
        if now < state.due:
            raise self.refusal(
                HostRefusal.TOO_OFTEN,
                f"{host} reports more than once in {MIN_INTERVAL} s, or while its last report is "
                f"looked at, or in {REST} times as long as that took",
            )
        state.due = inf
        try:
            yield
        finally:
            end = self._clock()
            state.due = max(now + MIN_INTERVAL, end + REST * (end - now))

    def check_size(self, devices: Sequence[Any]) -> None:
        """Whether a report, as a message, has no more than a host has: before each part is looked
        at. Raises ReportRefusedError."""
        if len(devices) > MAX_DEVICES:
            raise self.refusal(HostRefusal.NONSENSE, f"more than {MAX_DEVICES} devices")
        for what, most, count in (
            ("addresses", MAX_ADDRESSES, sum(len(each.addresses) for each in devices)),
            ("queue pairs", MAX_QUEUE_PAIRS, sum(len(each.queue_pairs) for each in devices)),
        ):
            if count > most:
                raise self.refusal(HostRefusal.NONSENSE, f"more than {most} {what}")

    def accept(self, host: str, devices: Sequence[Device]) -> frozenset[tuple[str, Address]]:
        """Replace the report of a host, which was admitted; returns the (VRF, address) pairs of its
        devices.

        Raises ReportRefusedError.
        """
        now, state = self._clock(), self._hosts[host]
        self._check(host, devices)
        vrf = self._configured[host].vrf
        for key in state.addresses:
            del self._devices[key]
        state.addresses = {(vrf, address) for each in devices for address in each.addresses}
        taken_after = float("-inf") if state.heard is None else state.heard
        for device in devices:
            snapshot = _snapshot(taken_after, device)
            for address in device.addresses:
                self._devices[vrf, address] = snapshot
        state.heard = now
        self.accepted[host] += 1
        return frozenset(state.addresses)

    def sender(self, flow: FlowKey, seen: float) -> int | Ambiguous | None:
        """The queue pair that sends a flow first seen at `seen` (seconds since the epoch).

        None when no report determines it.
        """
        source = self._devices.get((flow.vrf, flow.src))
        if source is None or source.after < seen:
            return None
        candidates = source.own_of.get(flow.dest_qp, frozenset())
        peer = self._devices.get((flow.vrf, flow.dst))
        if peer is not None and peer.after >= seen:
            claimed = peer.peer_of.get(flow.dest_qp)
            candidates &= {claimed}
            if not candidates:
                return Ambiguous.AMBIGUOUS if claimed is not None else None
        if len(candidates) > 1:
            return Ambiguous.AMBIGUOUS
        return next(iter(candidates), None)

    def vrf(self, host: str) -> str:
        return self._configured[host].vrf if host in self._configured else ""

    def _check(self, host: str, devices: Sequence[Device]) -> None:
        own = set(self._configured[host].addresses)
        addresses = [address for device in devices for address in device.addresses]
        for address in addresses:
            if address not in own:
                raise self.refusal(
                    HostRefusal.FOREIGN_ADDRESS,
                    f"{address} is not among the addresses of {host} in the configuration",
                )
        if len(set(addresses)) != len(addresses):
            raise self.refusal(HostRefusal.NONSENSE, "an address is reported twice")
        for device in devices:
            for pair in device.queue_pairs:
                if not all(number in DATA_QPNS for number in pair):
                    raise self.refusal(
                        HostRefusal.NONSENSE,
                        f"{device.name}: QP {pair[0]} with peer {pair[1]} is not a data queue pair "
                        "(2 to 0xffffff)",
                    )
            if len({own for own, _ in device.queue_pairs}) != len(device.queue_pairs):
                raise self.refusal(HostRefusal.NONSENSE, f"{device.name}: a QP is reported twice")

    def refusal(self, reason: HostRefusal, message: str) -> ReportRefusedError:
        """The error to raise for a refused report; counts the refusal."""
        self.refused[reason] += 1
        return ReportRefusedError(reason, message)


def _snapshot(after: float, device: Device) -> _Snapshot:
    own_of: dict[int, set[int]] = {}
    for own, peer in device.queue_pairs:
        own_of.setdefault(peer, set()).add(own)
    return _Snapshot(
        after, dict(device.queue_pairs), {peer: frozenset(owns) for peer, owns in own_of.items()}
    )
